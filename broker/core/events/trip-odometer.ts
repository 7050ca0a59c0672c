// The vehicle's own odometer beside the way between its positions. It counts from the first to the last reading of a way, however
// few there are; the way before the first and after the last one is that of the positions. Pure.
import { reachM } from './belief.ts';

const odometerLimits = {
  /** A reading counts as that of a place that is no further away on the way, m. */
  nearM: 200,
  /** Resolution of an odometer that counts whole km; below `coarseM` such a one says less than the positions. */
  stepM: 1100,
  coarseM: 5000,
  /** Faster than this over a time without positions an odometer was set, not driven, km/h. */
  unseenKmh: 130,
} as const;

export interface Reading {
  readonly km: number;
  readonly atMs: number;
  /** Way between the positions up to it, since the vehicle last stood. */
  readonly drivenM: number;
}

/** Readings since the vehicle last stood. */
export interface Odometer {
  readonly first: Reading | null;
  readonly last: Reading | null;
  /** It never went back or leapt. */
  readonly isSound: boolean;
}

export const noOdometer: Odometer = { first: null, last: null, isSound: true };

export function withReading({ first, last, isSound }: Odometer, reading: Reading): Odometer {
  if (first === null || last === null) return { first: reading, last: reading, isSound };
  const grownM = (reading.km - last.km) * 1000;
  const isPossible =
    grownM >= -odometerLimits.nearM && grownM <= reachM(reading.atMs - last.atMs) + odometerLimits.stepM;
  return { first, last: reading, isSound: isSound && isPossible };
}

/** For a way that begins where the vehicle has stood since `sinceMs`: an older reading is not that of its beginning. */
export function odometerFrom({ last }: Odometer, sinceMs: number): Odometer {
  if (last === null || last.atMs < sinceMs) return noOdometer;
  const reading = { ...last, drivenM: 0 };
  return { first: reading, last: reading, isSound: true };
}

interface DrivenWay {
  /** Between its positions. */
  readonly drivenM: number;
  /** Furthest from its beginning. */
  readonly reachedM: number;
}

/** Length of a way in m: as the vehicle counts where that fits its positions, else the way between them. */
export function lengthM({ first, last, isSound }: Odometer, { drivenM, reachedM }: DrivenWay): number {
  if (first === null || last === null || !isSound) return drivenM;
  const countedM = (last.km - first.km) * 1000;
  const isCoarse = Number.isInteger(first.km) && Number.isInteger(last.km);
  if (isCoarse && countedM < odometerLimits.coarseM) return drivenM;
  const beforeM = Math.min(first.drivenM, drivenM);
  const afterM = Math.max(0, drivenM - last.drivenM);
  const totalM = beforeM + countedM + afterM;
  const coveredM = drivenM - beforeM - afterM;
  return totalM >= reachedM * 0.9 - 200 && countedM <= coveredM * 2 + 1000 ? totalM : drivenM;
}

/** The readings at the beginning and at the end of a way, km; null: there was none near. */
export function odometerEnds({ first, last }: Odometer, { drivenM }: DrivenWay) {
  return {
    odometerStart: first !== null && first.drivenM <= odometerLimits.nearM ? first.km : null,
    odometerEnd: last !== null && drivenM - last.drivenM <= odometerLimits.nearM ? last.km : null,
  };
}

/** The reading at the present end of a way; null: there was none near. */
export const endReading = ({ last }: Odometer, drivenM: number): Reading | null =>
  last !== null && drivenM - last.drivenM <= odometerLimits.nearM ? last : null;

/** What the vehicle counted between two readings while it was not seen, m; null: nothing that a trip could have been. */
export function unseenM(before: Reading, after: Reading, unseenMs: number): number | null {
  if (after.drivenM > odometerLimits.nearM) return null;
  const countedM = (after.km - before.km) * 1000;
  const mostM = (odometerLimits.unseenKmh * unseenMs) / 3600;
  return countedM > odometerLimits.nearM && countedM <= mostM ? countedM : null;
}
