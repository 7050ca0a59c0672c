// Claim of the GNSS receiver at one moment, from its fixes so far: the vehicle stands, moves, or neither is known, and why.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import { ageLimitMs, type GnssFault, type GnssState, gnssLimits } from './gnss-standing.ts';

/** Knowledge of this standstill from other sources. */
export interface KnownPlace {
  /** Place of the proven standstill; null after evidence of movement. */
  readonly at: Point | null;
  /** Monotonic time at which the engine was last switched on, ms. A fix that has not varied since proves nothing. */
  readonly engineOnMs: number;
  /** Monotonic time at which fixes resumed after a supply dip, or the unit was switched on, ms; absent: neither. Rest from before is not believed. */
  readonly resumedMs?: number;
}

export type GnssClaim =
  /**
   * `arrivedMs`: first sentence of the newest fix was read. `fixMs`: that fix would have been recorded at the least latency. Both monotonic.
   * `speedKmh`: of that fix. `beforeKmh`: least speed in the second before it.
   */
  | {
      readonly kind: 'still';
      readonly forMs: number;
      readonly at: Point;
      readonly arrivedMs: number;
      readonly fixMs: number;
      readonly speedKmh: number;
      readonly beforeKmh: number;
    }
  /** `fixes`: good fixes in a row above `standstillKmh`, capped. */
  | { readonly kind: 'moving'; readonly speedKmh: number; readonly fixes: number }
  /** `heldMs`: time at one place so far, if only the rest of `holdMs` is missing. `saidKmh`: a recent speed from an epoch of any quality. */
  | {
      readonly kind: 'unknown';
      readonly fault: GnssFault;
      readonly heldMs?: number;
      readonly saidKmh?: number;
    };

/** The claim at `nowMs` (monotonic). */
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

/** True when a doubtful or moving position arrived within `suspectMs`. */
export function wasSuspectAt(state: GnssState, nowMs: number): boolean {
  return state.suspectMs !== null && nowMs - state.suspectMs < gnssLimits.suspectMs;
}
