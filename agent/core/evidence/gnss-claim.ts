// The claim of the GNSS receiver at one moment, from what its fixes have shown: it stands, it moves, or neither is known, and why.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import { ageLimitMs, type GnssFault, type GnssState, gnssLimits } from './gnss-standing.ts';

/** What else is known of this standstill. */
export interface KnownPlace {
  /** Where the vehicle was proven to stand; null once there was evidence of movement. */
  readonly at: Point | null;
  /** When the engine was last switched on, monotonic: a fix that has not varied since proves nothing. */
  readonly engineOnMs: number;
  /** When fixes came again after a dip of the supply, or the unit was switched on, monotonic; absent without one. Rest from before it is not believed. */
  readonly resumedMs?: number;
}

/** The receiver's claim at this moment. */
export type GnssClaim =
  /** `arrivedMs`: when the first sentence of the newest fix was read. `fixMs`: when it would have been taken in at the least latency, monotonic. `speedKmh`: of that fix; `beforeKmh`: the least of the second before it. */
  | {
      readonly kind: 'still';
      readonly forMs: number;
      readonly at: Point;
      readonly arrivedMs: number;
      readonly fixMs: number;
      readonly speedKmh: number;
      readonly beforeKmh: number;
    }
  /** `fixes`: good ones in a row above `standstillKmh`, capped. */
  | { readonly kind: 'moving'; readonly speedKmh: number; readonly fixes: number }
  /** `heldMs`: for how long it has held its place, where only that lacks. `saidKmh`: a speed that it states all the same. */
  | {
      readonly kind: 'unknown';
      readonly fault: GnssFault;
      readonly heldMs?: number;
      readonly saidKmh?: number;
    };

/** The claim at `nowMs`, monotonic. */
export function gnssClaim(state: GnssState, known: KnownPlace, nowMs: number): GnssClaim {
  const { lastGoodMs, fault, restSinceMs, speedKmh, said } = state;
  const isSaid = said !== null && nowMs - said.atMs <= ageLimitMs(state);
  const unknown = (why: GnssFault) =>
    isSaid
      ? ({ kind: 'unknown', fault: why, saidKmh: said.speedKmh } as const)
      : ({ kind: 'unknown', fault: why } as const);
  if (lastGoodMs === null || fault !== null) return unknown(fault ?? 'no_fix');
  if (nowMs - lastGoodMs > ageLimitMs(state)) return unknown('fix_old');
  if (speedKmh > gnssLimits.standstillKmh) {
    return { kind: 'moving', speedKmh, fixes: state.approach.moved };
  }
  if (state.goodFixes < gnssLimits.fixes) return unknown('few_fixes');
  const at = state.restPlace;
  if (restSinceMs === null || at === null) return unknown('moving');
  if (state.drift.isAway) return unknown('unsteady');
  if (state.variedMs < known.engineOnMs || nowMs - state.variedMs > gnssLimits.variedMs)
    return unknown('frozen');
  if (state.unheldMs <= restSinceMs || lastGoodMs - state.unheldMs > gnssLimits.unheldMs)
    return unknown('frozen');
  const forMs = lastGoodMs - restSinceMs;
  const { takenMs: fixMs, beforeKmh } = state;
  const still = { kind: 'still', forMs, at, arrivedMs: lastGoodMs, fixMs, speedKmh, beforeKmh } as const;
  if (forMs >= gnssLimits.windowMs && !state.drift.isClear) return unknown('unsteady');
  const never = Number.NEGATIVE_INFINITY;
  const { resumedMs = never } = known;
  const isDoubted = lastGoodMs - resumedMs < gnssLimits.holdMs && (state.stopMs ?? never) <= resumedMs;
  if (isDoubted) return { ...unknown('no_stop_seen'), heldMs: Math.min(forMs, lastGoodMs - resumedMs) };
  if (state.stopMs !== null) return still;
  if (known.at !== null && distanceM(known.at, at) <= gnssLimits.samePlaceM) return still;
  return forMs >= gnssLimits.holdMs ? still : { ...unknown('no_stop_seen'), heldMs: forMs };
}

/** True when a doubtful or moving position arrived within the last minute. */
export function wasSuspectAt(state: GnssState, nowMs: number): boolean {
  return state.suspectMs !== null && nowMs - state.suspectMs < gnssLimits.suspectMs;
}
