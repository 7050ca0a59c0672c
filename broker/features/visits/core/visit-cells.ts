// Cells of the index: squares on the Earth in four sizes, each with a number. A straight way lies in cells of at least twice its length, so that it
// meets few of them, however far the positions of a vehicle are apart.
import { distanceM, earthRadiusM, type Point, radians } from '../../../../src/core/geo/geo.ts';
import { vectorOf } from './visit.ts';

/** Rows of the smallest cells, 500 m high; each further size is twice the one before. */
const smallestRows = 40_000;
const smallestM = (Math.PI * earthRadiusM) / smallestRows;
const sizes = [0, 1, 2, 3] as const;
type Size = (typeof sizes)[number];
/** Numbers that a row and a size have; at the equator a row of the smallest cells uses all of them. */
const numbersOfRow = 2 * smallestRows;
const numbersOfSize = smallestRows * numbersOfRow;

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
  if (west > -180 && east < 180) return [{ west, east }];
  // A place on the meridian may be stored as 180 or as -180.
  const over = west <= -180 ? 360 : 0;
  return [
    { west: west + over, east: 180 },
    { west: -180, east: east + over - 360 },
  ];
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

/** The cells of one size in a cover: one or two ranges for each row. */
function cellsOfSize({ south, north, bands }: Cover, size: Size): readonly CellRange[] {
  const rows = smallestRows / 2 ** size;
  const rowOf = (latitude: number): number => Math.min(rows - 1, Math.floor(((latitude + 90) * rows) / 180));
  const ranges: CellRange[] = [];
  for (let row = rowOf(south); row <= rowOf(north); row++) {
    // As wide as high at the end of the row that is nearer to a pole.
    const narrowest = Math.max(Math.abs(row - rows / 2), Math.abs(row + 1 - rows / 2)) / rows;
    const columns = Math.max(1, Math.floor(2 * rows * Math.cos(Math.PI * narrowest)));
    const numberOf = (longitude: number): number =>
      size * numbersOfSize +
      row * numbersOfRow +
      Math.min(columns - 1, Math.floor(((longitude + 180) * columns) / 360));
    for (const { west, east } of bands) ranges.push({ first: numberOf(west), last: numberOf(east) });
  }
  return ranges;
}

/** The cells of every size in a cover. */
export const cellsOf = (cover: Cover): readonly CellRange[] =>
  sizes.flatMap((size) => cellsOfSize(cover, size));

function middleOf(from: Point, to: Point): Point {
  const [one, other] = [vectorOf(from), vectorOf(to)];
  const [x, y, z] = [one[0] + other[0], one[1] + other[1], one[2] + other[2]];
  return { latitude: degrees(Math.atan2(z, Math.hypot(x, y))), longitude: degrees(Math.atan2(y, x)) };
}

/** The cells that a straight way of some kilometres meets, and perhaps some beside it: every place of it is within half its length of its middle. */
export function cellsOfWay(from: Point, to: Point): readonly number[] {
  const farM = distanceM(from, to);
  const size = sizes.find((one) => smallestM * 2 ** one >= 2 * farM) ?? 3;
  return cellsOfSize(coverOf(middleOf(from, to), farM / 2), size).flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_unused, at) => first + at),
  );
}
