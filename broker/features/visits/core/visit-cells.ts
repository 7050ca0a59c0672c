// Cells of the index: 0.01 degrees of latitude by 0.01 of longitude, as one number. The store computes the same in SQL.
import { earthRadiusM, type Point, radians } from '../../../../src/core/geo/geo.ts';

/** Cells of a degree. */
export const cellsPerDegree = 100;
/** Numbers of a row of cells; the 180th meridian has a cell of its own, so it has one more than 360 degrees hold. */
export const cellsPerRow = 40_000;

/** Longitudes, both ends included, west to east. */
export interface Band {
  readonly west: number;
  readonly east: number;
}

export interface Cover {
  readonly south: number;
  readonly north: number;
  /** One, or two where the 180th meridian lies between. */
  readonly bands: readonly Band[];
}

/** Numbers of cells, both ends included. */
export interface CellRange {
  readonly first: number;
  readonly last: number;
}

/** Rounding of the store and of the projection, m. */
const marginM = 1;
const degrees = (angle: number): number => (angle * 180) / Math.PI;
const allAround: readonly Band[] = [{ west: -180, east: 180 }];

function bandsOf(longitude: number, width: number): readonly Band[] {
  if (width >= 180) return allAround;
  const [west, east] = [longitude - width, longitude + width];
  // A place on the meridian may be stored as 180 or as -180.
  if (west <= -180) {
    return [
      { west: west + 360, east: 180 },
      { west: -180, east },
    ];
  }
  if (east >= 180) {
    return [
      { west, east: 180 },
      { west: -180, east: east - 360 },
    ];
  }
  return [{ west, east }];
}

/** Latitudes and longitudes that hold every place within `radiusM` of the point. */
export function coverOf({ latitude, longitude }: Point, radiusM: number): Cover {
  const angle = (radiusM + marginM) / earthRadiusM;
  const [south, north] = [latitude - degrees(angle), latitude + degrees(angle)];
  if (south <= -90 || north >= 90)
    return { south: Math.max(-90, south), north: Math.min(90, north), bands: allAround };
  const width = degrees(Math.asin(Math.min(1, Math.sin(angle) / Math.cos(radians(latitude)))));
  return { south, north, bands: bandsOf(longitude, width) };
}

const rowOf = (latitude: number): number => Math.floor((latitude + 90) * cellsPerDegree);
const columnOf = (longitude: number): number => Math.floor((longitude + 180) * cellsPerDegree);

/** The cell of a place. */
export const cellOf = ({ latitude, longitude }: Point): number =>
  rowOf(latitude) * cellsPerRow + columnOf(longitude);

/** The cells of a cover, one or two ranges for each row. */
export function cellsOf({ south, north, bands }: Cover): readonly CellRange[] {
  const ranges: CellRange[] = [];
  for (let row = rowOf(south); row <= rowOf(north); row++) {
    for (const { west, east } of bands)
      ranges.push({ first: row * cellsPerRow + columnOf(west), last: row * cellsPerRow + columnOf(east) });
  }
  return ranges;
}
