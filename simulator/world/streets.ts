// Streets on a bent grid around a city's centre. Same seed, same streets.
import type { Point } from '../../src/core/geo/geo.ts';
import type { SeededEntropy } from '../core/random.ts';

/** A street corner by its place in the grid; between corners there are fractions. */
export interface Crossing {
  readonly column: number;
  readonly row: number;
}

/** Which crossings of the grid vehicles use. */
export interface Layout {
  /** Whether there are streets at a crossing; everywhere unless given. Any two such have a way along streets between them. */
  isInside?(crossing: Crossing): boolean;
  /** Whether a vehicle may have its depot or a stop there; everywhere unless given. */
  isStop?(crossing: Crossing): boolean;
  /** A river flows between this row and the next, under the streets of these columns; absent: none does. */
  readonly river?: { readonly row: number; readonly bridges: readonly number[] };
}

export interface Streets extends Layout {
  at(crossing: Crossing): Point;
}

/** Columns and rows. */
export const gridSize = 26;
export const blockM = 150;
const avenueEvery = 4;
const metresPerDegree = 111_195;

/** Whether the street along this column or row is an avenue. */
export const isAvenueLine = (line: number): boolean => line % avenueEvery === 0;

/** Bends and turns the grid so that no street is straight or points north. */
export function createStreetGrid(centre: Point, entropy: SeededEntropy): Streets['at'] {
  const turn = entropy.fraction() * Math.PI;
  const [bendA, bendB, phaseA, phaseB] = [
    20 + entropy.fraction() * 40,
    20 + entropy.fraction() * 40,
    entropy.fraction() * 6.3,
    entropy.fraction() * 6.3,
  ];
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const eastDegree = metresPerDegree * Math.cos((centre.latitude * Math.PI) / 180);
  return ({ column, row }) => {
    const x = (column - gridSize / 2) * blockM + bendA * Math.sin(row / 3 + phaseA);
    const y = (row - gridSize / 2) * blockM + bendB * Math.sin(column / 3.5 + phaseB);
    return {
      latitude: centre.latitude + (x * sin + y * cos) / metresPerDegree,
      longitude: centre.longitude + (x * cos - y * sin) / eastDegree,
    };
  };
}
