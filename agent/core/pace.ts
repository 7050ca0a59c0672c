// How fast the vehicle goes, as well as it is known, for reports, odometer and alarms: by the speed that the receiver
// states; shortly after one, still by that; else by its places. It must never reach the evidence (DESIGN 8).
import { distanceM } from '../../src/core/geo/geo.ts';
import { gnssLimits } from './evidence/gnss-standing.ts';
import type { Fix } from './gnss/epochs.ts';
import { plausibilityLimits, scatterM } from './gnss/plausibility.ts';

const paceLimits = {
  /** A speed holds for this long: some receivers send every third RMC, or lose it on the line. */
  holdMs: 5_000,
  /** By place it moves where it goes further than the scatter of two fixes within this, twice: 5 km/h at HDOP 1. */
  windowMs: 20_000,
  /** Between fixes further apart than this the way is unknown. */
  gapMs: 60_000,
} as const;

export interface Pace {
  /** Null: not known. */
  readonly kmh: number | null;
  /** Way to this fix that was not counted yet; 0 while it stands. */
  readonly wayM: number;
  /** Up to here the way is counted; by place, the speed is that from here. */
  readonly mark: Fix | null;
  /** The mark before, while one stretch alone lies between the two: it may be a jump. */
  readonly before: Fix | null;
  readonly lastMs: number;
  /** When a sentence last stated a speed. */
  readonly statedMs: number;
}

export const unknownPace: Pace = {
  kmh: null,
  wayM: 0,
  mark: null,
  before: null,
  lastMs: Number.NEGATIVE_INFINITY,
  statedMs: Number.NEGATIVE_INFINITY,
};

/** It is known to move. */
export const moves = (kmh: number | null): boolean => kmh !== null && kmh > gnssLimits.standstillKmh;

const isAway = (from: Fix, to: Fix): boolean => distanceM(from, to) > scatterM(from, to, plausibilityLimits);

/** By its places alone, where no speed has been stated for a while. */
function paceByPlace(state: Pace, mark: Fix, fix: Fix): Pace {
  const stepMs = fix.atMonoMs - mark.atMonoMs;
  const stepM = distanceM(mark, fix);
  const to = { ...state, mark: fix, before: null, lastMs: fix.atMonoMs, wayM: 0 };
  if (isAway(mark, fix)) {
    const wayM = stepM + (state.before === null ? 0 : distanceM(state.before, mark));
    const isGoing = moves(state.kmh) || (state.before !== null && isAway(state.before, fix));
    return isGoing ? { ...to, kmh: (stepM / stepMs) * 3600, wayM } : { ...to, before: mark };
  }
  // The last stretch before a stop is of the way.
  return stepMs >= paceLimits.windowMs
    ? { ...to, kmh: 0, wayM: moves(state.kmh) ? stepM : 0 }
    : { ...state, lastMs: fix.atMonoMs, wayM: 0 };
}

/** The pace after one more plausible fix. */
export function paceAfter(state: Pace, fix: Fix): Pace {
  const { atMonoMs: lastMs, speedKmh } = fix;
  const { mark } = state;
  const isStated = speedKmh !== null;
  const to = { mark: fix, before: null, lastMs, statedMs: isStated ? lastMs : state.statedMs };
  if (mark === null || lastMs - state.lastMs > paceLimits.gapMs) return { ...to, kmh: speedKmh, wayM: 0 };
  const isMoving = moves(isStated ? speedKmh : state.kmh);
  const wayM = isMoving ? distanceM(mark, fix) : 0;
  if (isStated) return { ...to, kmh: speedKmh, wayM };
  if (lastMs - state.statedMs > paceLimits.holdMs) return paceByPlace(state, mark, fix);
  // Where it stood the way waits for the next speed: it may have moved off by then.
  return isMoving ? { ...to, kmh: state.kmh, wayM } : { ...state, lastMs, wayM: 0 };
}
