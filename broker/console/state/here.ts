// A place where the marks of several vehicles lie on each other, as text in the address: `latitude,longitude,metres`. Every
// report updates the vehicles there. Pure.
import { distanceM } from '../../../src/core/geo/geo.ts';
import type { Vehicle } from './fleet.ts';
import { worstFirst } from './worst-first.ts';

export type Place = readonly [longitude: number, latitude: number];

export interface Here {
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusM: number;
}

/** Marks farther apart than this never lie on each other. */
const radiusMostM = 1000;

/** @returns null for what is no such place. */
export function parseHere(text: string | undefined): Here | null {
  const numbers = (text ?? '').split(',').map(Number);
  const [latitude, longitude, radiusM] = numbers;
  if (numbers.length !== 3 || latitude === undefined || longitude === undefined || radiusM === undefined)
    return null;
  const isPlace =
    Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && radiusM > 0 && radiusM <= radiusMostM;
  return isPlace ? { latitude, longitude, radiusM } : null;
}

export const hereText = ({ latitude, longitude, radiusM }: Here): string =>
  `${latitude.toFixed(6)},${longitude.toFixed(6)},${radiusM}`;

/** The circle about these places; null without one. */
export function hereOf(places: readonly Place[]): Here | null {
  const [first] = places;
  if (first === undefined) return null;
  const mean = (at: 0 | 1): number => places.reduce((sum, place) => sum + place[at], 0) / places.length;
  const [longitude, latitude] = [mean(0), mean(1)];
  const farthest = Math.max(
    ...places.map(([x, y]) => distanceM({ latitude, longitude }, { latitude: y, longitude: x })),
  );
  // Above the rounding of the address, and of MapLibre's tiles.
  return { latitude, longitude, radiusM: Math.min(radiusMostM, Math.ceil(farthest) + 2) };
}

/** Vehicles at the place, worst first. */
export function vehiclesHere(
  all: readonly Vehicle[],
  { latitude, longitude, radiusM }: Here,
): readonly Vehicle[] {
  const isHere = ({ place }: Vehicle): boolean =>
    place !== null &&
    distanceM({ latitude, longitude }, { latitude: place[1], longitude: place[0] }) <= radiusM;
  return worstFirst(all.filter(isHere));
}

/** Number of a square of some metre, so that counting 10,000 vehicles makes no texts. */
const cellOf = ([longitude, latitude]: Place): number =>
  Math.round((longitude + 180) * 1e5) * 2e7 + Math.round((latitude + 90) * 1e5);

/** Counts vehicles at a place, to a metre or so. It sorts numbers: a map with an entry for each place takes ten times as long. */
export function placeCounts(all: readonly Vehicle[]): (place: Place) => number {
  const cells = new Float64Array(all.length);
  let length = 0;
  for (const { place } of all) {
    if (place === null) continue;
    cells[length] = cellOf(place);
    length += 1;
  }
  const several = new Map<number, number>();
  let before = Number.NaN;
  for (const cell of cells.subarray(0, length).sort()) {
    if (cell === before) several.set(cell, (several.get(cell) ?? 1) + 1);
    before = cell;
  }
  return (place) => several.get(cellOf(place)) ?? 1;
}
