// State of one unit on the bus in the RTU master: its response time, and the pauses after a fault. Pure. The pause that keeps a late answer from
// matching the next request must never be shortened.

export interface RtuTiming {
  /** Time-out limits without the time of the bytes on the wire. */
  readonly timeoutMinMs: number;
  readonly timeoutMaxMs: number;
  readonly timeoutInitialMs: number;
  /** Maximum delay of an answer after its request; the same unit is not asked anything else before. */
  readonly lateGuardMs: number;
}

export interface RtuUnit {
  /** High-water mark of the turn-around, ms, decaying slowly: close to the 99th percentile; null: no answer yet. */
  readonly turnaroundMs: number | null;
  readonly failures: number;
  /** Monotonic time before which nothing is sent to the unit, ms: answers to earlier requests may still arrive. */
  readonly holdUntilMs: number;
  /** Monotonic time until which polls and configuration wait, ms, while the unit is dead and another is alive (circuit breaker). */
  readonly pollsHeldUntilMs: number;
  readonly breakerMs: number;
  readonly lastOkMs: number | null;
}

const failuresToBreak = 5;
const breakerFirstMs = 500;
const breakerLastMs = 10_000;
const marginMinMs = 60;

export const newRtuUnit: RtuUnit = {
  turnaroundMs: null,
  failures: 0,
  holdUntilMs: -Infinity,
  pollsHeldUntilMs: -Infinity,
  breakerMs: 0,
  lastOkMs: null,
};

/** Time to wait for an answer, ms; `wireMs` is the time of request and longest answer together on the wire. */
export function unitTimeoutMs(unit: RtuUnit, timing: RtuTiming & { readonly wireMs: number }): number {
  const estimate = unit.turnaroundMs;
  const wanted =
    estimate === null ? timing.timeoutInitialMs : estimate + Math.max(marginMinMs, estimate * 0.5);
  return Math.min(timing.timeoutMaxMs, Math.max(timing.timeoutMinMs, wanted)) + timing.wireMs;
}

/**
 * Adds one observed turn-around to the estimate, late answers included: otherwise a slow board would time out for ever. Rises at once, falls by 1 %
 * per sample.
 */
export function withTurnaround(unit: RtuUnit, sampleMs: number): RtuUnit {
  const sample = Math.max(0, sampleMs);
  const before = unit.turnaroundMs;
  const turnaroundMs = before === null || sample > before ? sample : before - (before - sample) * 0.01;
  return { ...unit, turnaroundMs };
}

/** Handles an answer that matches, exceptions included: the unit is alive. */
export function withAnswer(unit: RtuUnit, atMs: number): RtuUnit {
  return { ...unit, failures: 0, breakerMs: 0, pollsHeldUntilMs: -Infinity, lastOkMs: atMs };
}

/**
 * Handles a failed exchange. The breaker opens only when another unit answers. On a bus without a live unit polling costs nothing and finds the board
 * again at once.
 */
export function withFailure(
  unit: RtuUnit,
  fault: { readonly atMs: number; readonly holdUntilMs: number; readonly isOtherAlive: boolean },
): RtuUnit {
  const failures = unit.failures + 1;
  const isBroken = fault.isOtherAlive && failures >= failuresToBreak;
  const breakerMs = isBroken ? Math.min(breakerLastMs, Math.max(breakerFirstMs, unit.breakerMs * 2)) : 0;
  return {
    ...unit,
    failures,
    holdUntilMs: Math.max(unit.holdUntilMs, fault.holdUntilMs),
    breakerMs,
    pollsHeldUntilMs: isBroken ? fault.atMs + breakerMs : -Infinity,
  };
}
