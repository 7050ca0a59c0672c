// What is proven about the vehicle at this moment: ignition, standstill, motion. Unknown is a value of its own and
// is never taken for zero. Rules: edge-agents 2.3 rules 1 to 3; nothing here decides, it only testifies.
import { distanceM, type Point } from '../../../src/core/geo.ts';
import type { Fix } from '../gnss/epochs.ts';

export const evidenceLimits = {
  /** Above this a vehicle moves. */
  standstillKmh: 3,
  /** A fix older than this says nothing about now. */
  fixAgeMs: 2000,
  /** Good fixes in a row before speed counts as known. */
  fixes: 5,
  hdop: 5,
  /** How far a standing vehicle's fixes may wander within the standstill: catches a position walk with Doppler 0. */
  wanderM: 25,
  /** For this long after a suspect position, "no position" is not taken for an honest absence of one. */
  suspectMs: 60_000,
} as const;

/** Mode indicators of RMC that are real measurements: autonomous, differential, precise, RTK fixed and float. */
const measuredModes: readonly string[] = ['A', 'D', 'P', 'R', 'F'];

export interface SpeedState {
  /** Good fixes in a row, capped. */
  readonly goodFixes: number;
  readonly lastGoodMs: number | null;
  readonly speedKmh: number;
  /** Since when and where every good fix stood; null while moving or unknown. */
  readonly standing: { readonly sinceMs: number; readonly at: Point } | null;
  /** Why the last epoch was no evidence; null when it was. */
  readonly fault: string | null;
  /** When a position last came that is doubtful or moves without being evidence; null if never. */
  readonly suspectMs: number | null;
  /** Since when every good fix was below the limit of `FixRules.belowKmh`; null after one that was not. */
  readonly belowSinceMs: number | null;
}

/** What the installer's rules ask of a fix. */
export interface FixRules {
  readonly hdopMost: number;
  readonly belowKmh: number;
}

export function createSpeedState(): SpeedState {
  return {
    goodFixes: 0,
    lastGoodMs: null,
    speedKmh: 0,
    standing: null,
    fault: 'no position yet',
    suspectMs: null,
    belowSinceMs: null,
  };
}

const standardFixRules: FixRules = { hdopMost: evidenceLimits.hdop, belowKmh: 0 };

function faultOf(fix: Fix, hdopMost: number): string | null {
  if (!fix.rmcValid) return 'the receiver says void';
  if (fix.mode === null || !measuredModes.includes(fix.mode))
    return `mode ${fix.mode ?? 'unknown'} is no measurement`;
  // Without a time nobody can tell a new fix from one that is repeated for ever.
  if (fix.utcMs === null) return 'the receiver gives no time';
  if (fix.speedKmh === null) return 'the receiver gives no speed';
  if (fix.hdop === null || fix.hdop > hdopMost) return `HDOP ${fix.hdop ?? 'unknown'}`;
  return fix.doubts.length > 0 ? `suspect position: ${fix.doubts.join(', ')}` : null;
}

/** Takes in one judged fix. */
export function noteFix(state: SpeedState, fix: Fix, rules: FixRules = standardFixRules): SpeedState {
  const fault = faultOf(fix, Math.min(rules.hdopMost, evidenceLimits.hdop));
  if (fault !== null || fix.speedKmh === null) {
    const mayMove = fix.speedKmh === null || fix.speedKmh > evidenceLimits.standstillKmh;
    const suspect = mayMove || fix.doubts.length > 0;
    return { ...createSpeedState(), fault, suspectMs: suspect ? fix.atMonoMs : state.suspectMs };
  }
  const gap = state.lastGoodMs !== null && fix.atMonoMs - state.lastGoodMs > evidenceLimits.fixAgeMs;
  const before = gap ? { ...createSpeedState(), suspectMs: state.suspectMs } : state;
  const stands = fix.speedKmh <= evidenceLimits.standstillKmh;
  const here = { latitude: fix.latitude, longitude: fix.longitude };
  const wandered = before.standing !== null && distanceM(before.standing.at, here) > evidenceLimits.wanderM;
  const restart = { sinceMs: fix.atMonoMs, at: here };
  return {
    goodFixes: Math.min(before.goodFixes + 1, evidenceLimits.fixes),
    lastGoodMs: fix.atMonoMs,
    speedKmh: fix.speedKmh,
    standing: stands ? (before.standing === null || wandered ? restart : before.standing) : null,
    fault: null,
    suspectMs: before.suspectMs,
    belowSinceMs: fix.speedKmh < rules.belowKmh ? (before.belowSinceMs ?? fix.atMonoMs) : null,
  };
}

/** Takes in an epoch without a fix: speed is unknown from now on. */
export function noteVoid(state: SpeedState): SpeedState {
  return { ...createSpeedState(), fault: 'no position', suspectMs: state.suspectMs };
}

export type Speed =
  | { readonly kind: 'standing'; readonly forMs: number }
  | { readonly kind: 'moving'; readonly speedKmh: number }
  | {
      readonly kind: 'unknown';
      readonly why: string;
      /** A doubtful or moving position came lately: this is not simply a vehicle without a view of the sky. */
      readonly suspect: boolean;
    };

/** True when a doubtful or moving position came lately. */
export function wasSuspectAt(state: SpeedState, nowMs: number): boolean {
  return state.suspectMs !== null && nowMs - state.suspectMs < evidenceLimits.suspectMs;
}

/** What is known about the speed at `nowMs`. */
export function speedAt(state: SpeedState, nowMs: number): Speed {
  const suspect = wasSuspectAt(state, nowMs);
  const unknown = (why: string): Speed => ({ kind: 'unknown', why, suspect });
  if (state.lastGoodMs === null || state.fault !== null) return unknown(state.fault ?? 'no position');
  if (nowMs - state.lastGoodMs > evidenceLimits.fixAgeMs) return unknown('the last position is too old');
  if (state.standing === null) return { kind: 'moving', speedKmh: state.speedKmh };
  if (state.goodFixes < evidenceLimits.fixes) return unknown('too few positions in a row');
  return { kind: 'standing', forMs: state.lastGoodMs - state.standing.sinceMs };
}

/** Speed as measured lately, for modes that may meet a moving vehicle. */
export interface Pace {
  readonly speedKmh: number;
  /** Since the first byte of that fix came. */
  readonly ageMs: number;
  /** How long every good fix has been below the limit; null when the last was not. */
  readonly belowForMs: number | null;
}

/** The pace at `nowMs`, from at least five good fixes in a row, the last of them fresh; else null. */
export function paceAt(state: SpeedState, nowMs: number): Pace | null {
  const { lastGoodMs, speedKmh, belowSinceMs } = state;
  if (lastGoodMs === null || state.fault !== null || state.goodFixes < evidenceLimits.fixes) return null;
  const ageMs = nowMs - lastGoodMs;
  if (ageMs > evidenceLimits.fixAgeMs) return null;
  return { speedKmh, ageMs, belowForMs: belowSinceMs === null ? null : lastGoodMs - belowSinceMs };
}

/** A digital input as known now. */
export interface Sensed {
  /** Null: not fitted, never read, or the board is silent. */
  readonly value: boolean | null;
  /** Monotonic time since which `value` has held. */
  readonly sinceMs: number;
}

export interface Evidence {
  readonly nowMs: number;
  readonly ignition: Sensed;
  readonly panic: Sensed;
  /** Accelerometer or wheel input where one is fitted. */
  readonly motion: Sensed;
  readonly speed: Speed;
  /** UTC by a source that can be trusted; null while unknown. */
  readonly trustedUtcMs: number | null;
  /** The latest that it can be now, which expiry is judged by; null exactly when `trustedUtcMs` is. */
  readonly latestUtcMs: number | null;
  /** The board answered its last read-back. */
  readonly boardAlive: boolean;
  /** Null: not known well enough. */
  readonly pace?: Pace | null;
  /** A doubtful or moving position came lately, although the present ones may be good. */
  readonly wasSuspect?: boolean;
  /** The warning output; absent where none is fitted. */
  readonly warning?: {
    /** How long it has been wanted and was read back as sounding, without a break; null when it does not sound. */
    readonly soundsForMs: number | null;
    /** It was told to sound and does not. */
    readonly hasFault: boolean;
  };
  /** Inside a zone that allows to unlock the cargo, by a believable fix. */
  readonly zone?: boolean;
}

/** Milliseconds for which a sensed value has been exactly `wanted`; null when it is not. */
export function heldMs(sensed: Sensed, wanted: boolean, nowMs: number): number | null {
  return sensed.value === wanted ? nowMs - sensed.sinceMs : null;
}
