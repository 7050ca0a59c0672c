// Entry of a code with one push button, the service input. Hold it for three seconds to begin. Then, for each digit, press it as often as the digit's
// value (ten times for 0) and pause for two seconds. Pure; it collects digits and checks none.
import type { SensorReading } from '../board/inputs.ts';
import { serviceLimits } from './service-code.ts';

const entryLimits = {
  /** Time held that begins an entry and discards earlier digits. */
  beginMs: 3000,
  /** Pause that ends a digit. */
  digitMs: 2000,
  /** Time after which an unfinished entry is discarded; it does not count as a try. */
  idleMs: 30_000,
  presses: 10,
} as const;

export interface EntryState {
  readonly reading: SensorReading;
  /** Monotonic time at which the button last went down or up, ms. */
  readonly changedMs: number;
  /** Null: no entry in progress. */
  readonly digits: string | null;
  readonly presses: number;
}

export function createEntry(): EntryState {
  return { reading: 'unknown', changedMs: Number.NEGATIVE_INFINITY, digits: null, presses: 0 };
}

export type EntryResult =
  /** The entry began or a digit was accepted. Acknowledge it, so that the person can go on. */
  | { readonly kind: 'taken' }
  /** The entry was too slow, or a digit had too many presses. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'code'; readonly code: string };

interface EntryStep {
  readonly state: EntryState;
  readonly result: EntryResult | null;
}

const idle = { digits: null, presses: 0 } as const;

function released(state: EntryState, heldMs: number): EntryStep {
  if (heldMs >= entryLimits.beginMs)
    return { state: { ...state, digits: '', presses: 0 }, result: { kind: 'taken' } };
  if (state.digits === null) return { state, result: null };
  const presses = state.presses + 1;
  return presses > entryLimits.presses
    ? { state: { ...state, ...idle }, result: { kind: 'dropped' } }
    : { state: { ...state, presses }, result: null };
}

/** Processes the present state of the button, `reading` since `sinceMs`. Call it with every step of time. */
export function stepEntry(
  before: EntryState,
  button: { readonly reading: SensorReading; readonly sinceMs: number },
  nowMs: number,
): EntryStep {
  const { reading, sinceMs } = button;
  if (reading === 'unknown') {
    const result = before.digits === null ? null : ({ kind: 'dropped' } as const);
    return { state: { ...createEntry() }, result };
  }
  if (reading !== before.reading) {
    const state = { ...before, reading, changedMs: sinceMs };
    const isRelease = before.reading === 'on' && reading === 'off';
    return isRelease ? released(state, sinceMs - before.changedMs) : { state, result: null };
  }
  if (before.digits === null || reading === 'on') return { state: before, result: null };
  const pauseMs = nowMs - before.changedMs;
  if (before.presses > 0 && pauseMs >= entryLimits.digitMs) {
    const digits = `${before.digits}${before.presses % 10}`;
    return digits.length < serviceLimits.digits
      ? { state: { ...before, digits, presses: 0 }, result: { kind: 'taken' } }
      : { state: { ...before, ...idle }, result: { kind: 'code', code: digits } };
  }
  return pauseMs >= entryLimits.idleMs
    ? { state: { ...before, ...idle }, result: { kind: 'dropped' } }
    : { state: before, result: null };
}
