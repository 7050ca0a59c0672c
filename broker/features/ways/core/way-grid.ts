// Tiles of Web Mercator, and the cells of a tile that ways are thinned by. Places are degrees times 1e5; a longitude may lie
// beyond 180 degrees, so that a line over the antimeridian has no leap.

import { earthRadiusM, radians } from '../../../../src/core/geo/geo.ts';
import { metresPerDegree } from '../../../../src/core/geo/geo-edge.ts';

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
  const tiles = 2 ** zoom;
  const north = Math.asinh(Math.tan(radians(latitude / unitsPerDegree)));
  return [(longitude / turn + 0.5) * tiles, (0.5 - north / (2 * Math.PI)) * tiles];
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
  cellOf(place: Place): number;
  /** A cell and its neighbours. */
  around(cell: number): readonly number[];
}

/** Cells of about `cellM` metres. */
export function gridOf(tile: Tile, cellM: number): Grid {
  const tiles = 2 ** tile.zoom;
  const middleScale = 1 / Math.cosh(Math.PI * (1 - (2 * (tile.y + 0.5)) / tiles));
  const count = Math.max(1, Math.round((2 * Math.PI * earthRadiusM * middleScale) / tiles / cellM));
  const middle = middleOf(tile);
  // A row has cells to spare on either side.
  const row = 3 * count + 4;
  const offsets = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => down * row + right));
  return {
    cellOf(place) {
      const [east, south] = onMap(tile.zoom, besideLongitude(middle, place));
      const right = Math.floor((east - tile.x) * count);
      return Math.floor((south - tile.y) * count) * row + Math.min(2 * count, Math.max(-count, right));
    },
    around: (cell) => offsets.map((offset) => cell + offset),
  };
}
