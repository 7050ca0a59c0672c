// Tiles of Web Mercator, and the cells of a tile that ways are thinned by. Places are degrees times 1e5; a longitude may lie
// beyond 180 degrees, so that a line over the antimeridian has no leap.

import { radians } from '../../../../src/core/geo/geo.ts';
import { metresPerDegree } from '../../../../src/core/geo/geo-edge.ts';
import { mercatorOf } from '../../../../src/core/geo/mercator.ts';

export type Place = readonly [longitude: number, latitude: number];

export const unitsPerDegree = 1e5;
const turn = 360 * unitsPerDegree;
const metresPerUnit = metresPerDegree / unitsPerDegree;

/** `cellM`: ways nearer than that, or in the next cell, are the same. `leastSteps`: less beside a known way is the error of fixes. */
export const zooms = { 8: { cellM: 400, leastSteps: 1 }, 12: { cellM: 25, leastSteps: 3 } } as const;
export type Zoom = keyof typeof zooms;
export const zoomList: readonly Zoom[] = [8, 12];

export interface Tile {
  readonly zoom: Zoom;
  readonly x: number;
  readonly y: number;
}

/** Metres east and north, on a flat map about `from`. */
export function metresBetween([lonA, latA]: Place, [lonB, latB]: Place): readonly [number, number] {
  const scale = Math.cos(radians(latA / unitsPerDegree));
  return [(lonB - lonA) * metresPerUnit * scale, (latB - latA) * metresPerUnit];
}

/** The same place at the longitude that is the nearest to another's. */
export const besideLongitude = (near: number, [longitude, latitude]: Place): Place => [
  longitude + turn * Math.round((near - longitude) / turn),
  latitude,
];

/** Where a place is on the map of that zoom, in tiles from its north-west corner. */
function onMap(zoom: Zoom, [longitude, latitude]: Place): readonly [x: number, y: number] {
  const { x, y } = mercatorOf({
    latitude: latitude / unitsPerDegree,
    longitude: longitude / unitsPerDegree,
  });
  return [x * 2 ** zoom, y * 2 ** zoom];
}

/** The tile of a place; null beyond 85 degrees of latitude, where the map ends. */
export function tileOf(zoom: Zoom, place: Place): Tile | null {
  const tiles = 2 ** zoom;
  const [east, south] = onMap(zoom, place);
  const [x, y] = [((Math.floor(east) % tiles) + tiles) % tiles, Math.floor(south)];
  return y >= 0 && y < tiles ? { zoom, x, y } : null;
}

/** The longitude of the middle of a tile. */
export const middleOf = ({ zoom, x }: Tile): number => ((x + 0.5) / 2 ** zoom - 0.5) * turn;

export interface Grid {
  /** The number of the cell of a place in the tile, or a little beside it. */
  cellOf(longitude: number, latitude: number): number;
}

/** Cells of one row: more than a tile has. */
const row = 2 ** 16;
/** Of a cell to itself and its neighbours. */
export const around: readonly number[] = [-1, 0, 1].flatMap((down) =>
  [-1, 0, 1].map((right) => down * row + right),
);

/** Cells of `cellM` metres about the middle of the tile, by small numbers, which a map finds fastest; without the map's projection, which would cost more than all else. */
export function gridOf(tile: Tile, cellM: number): Grid {
  const northOf = Math.PI * (1 - (2 * (tile.y + 0.5)) / 2 ** tile.zoom);
  const [middle, middleLatitude] = [middleOf(tile), Math.atan(Math.sinh(northOf))];
  const middleUnits = (middleLatitude * unitsPerDegree) / radians(1);
  const down = metresPerUnit / cellM;
  const right = down * Math.cos(middleLatitude);
  return {
    cellOf(longitude, latitude) {
      const east = longitude - middle;
      const nearest = Math.abs(east) > turn / 2 ? east - turn * Math.round(east / turn) : east;
      return Math.floor((latitude - middleUnits) * down) * row + Math.floor(nearest * right);
    },
  };
}
