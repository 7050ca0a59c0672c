// The warning output: sounds before a cut with ignition on (edge-agents 2.3 rule 13), acknowledges code entry, and is otherwise silent. Pure. It
// counts as sounding only after it was read back. Its fault must never block a restore.
import { type StatusName, statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { EventDraft } from './command-record.ts';

const warningLimits = {
  /** Number of failed orders before a fault is reported. */
  tries: 3,
  betweenTriesMs: 2000,
  /** Interval of the tries of a faulty output. */
  faultyTriesMs: 10_000,
  /** Maximum age of a read-back that proves sound. */
  readingMs: 15_000,
} as const;

/** Duration of the short answers to a person: digit accepted, wrong code, right code. */
export const chirpMs = { taken: 300, wrong: 1000, right: 3000 } as const;

export interface WarningState {
  /** Monotonic start of the demand of a cut for sound, ms; null: no demand. */
  readonly wantedSinceMs: number | null;
  /** Monotonic end of a short answer, ms. */
  readonly chirpUntilMs: number;
  readonly reading: { readonly on: boolean; readonly atMs: number } | null;
  /** Monotonic time of the first reading in an unbroken row that showed it on, ms; null: it is off or unknown. */
  readonly onSinceMs: number | null;
  readonly isOrdered: boolean;
  readonly tries: number;
  readonly nextTryMs: number;
  readonly hasFault: boolean;
}

export function createWarning(): WarningState {
  return {
    wantedSinceMs: null,
    chirpUntilMs: Number.NEGATIVE_INFINITY,
    reading: null,
    onSinceMs: null,
    isOrdered: false,
    tries: 0,
    nextTryMs: Number.NEGATIVE_INFINITY,
    hasFault: false,
  };
}

/** Starts a short sound of `ms`, if the output is fitted. */
export function chirp(state: WarningState, ms: number, nowMs: number): WarningState {
  return { ...state, chirpUntilMs: nowMs + ms, nextTryMs: nowMs };
}

/** Records a reading of the board; `on` null: unknown, so the sound is no longer proven. */
export function recordWarningRead(state: WarningState, on: boolean | null, atMs: number): WarningState {
  if (on === null) return { ...state, reading: null, onSinceMs: null };
  return { ...state, reading: { on, atMs }, onSinceMs: on ? (state.onSinceMs ?? atMs) : null };
}

/** Records the end of an order. Only its read-back counts. */
export function recordWarningOrder(
  state: WarningState,
  readBack: boolean | null,
  atMs: number,
): WarningState {
  return recordWarningRead({ ...state, isOrdered: false }, readBack, atMs);
}

const isWanted = (state: WarningState, nowMs: number): boolean =>
  state.wantedSinceMs !== null || nowMs < state.chirpUntilMs;

interface WarningStep {
  readonly state: WarningState;
  /** State to switch the output to; null: no change. */
  readonly order: boolean | null;
  /** Event at the start or the end of a fault; null: neither. */
  readonly draft: EventDraft | null;
}

function alarm(name: StatusName, reason: string): EventDraft {
  return { statusCode: statusCodes[name].code, attributes: { output: 'warning', reason } };
}

/** One step. @param wants a cut demands sound: everything but the warning is proven. */
export function stepWarning(before: WarningState, wants: boolean, nowMs: number): WarningStep {
  const hasChanged = wants !== (before.wantedSinceMs !== null);
  const state: WarningState = hasChanged
    ? { ...before, wantedSinceMs: wants ? nowMs : null, tries: 0, nextTryMs: nowMs }
    : before;
  const { reading } = state;
  // It is never written before it was read; the board's first reading arrives within seconds.
  if (reading === null || state.isOrdered) return { state, order: null, draft: null };
  const target = isWanted(state, nowMs);
  if (reading.on === target) {
    const draft = state.hasFault ? alarm('RELAY_RESTORED', 'the warning output follows again') : null;
    const isAtRest = state.tries === 0 && !state.hasFault;
    return { state: isAtRest ? state : { ...state, tries: 0, hasFault: false }, order: null, draft };
  }
  if (nowMs < state.nextTryMs) return { state, order: null, draft: null };
  const isNewFault = !state.hasFault && state.tries >= warningLimits.tries;
  const hasFault = state.hasFault || isNewFault;
  const pauseMs = hasFault ? warningLimits.faultyTriesMs : warningLimits.betweenTriesMs;
  return {
    state: { ...state, isOrdered: true, tries: state.tries + 1, nextTryMs: nowMs + pauseMs, hasFault },
    order: target,
    draft: isNewFault ? alarm('RELAY_FAULT', `the warning output did not follow ${state.tries} times`) : null,
  };
}

/** Monotonic time of the next step that only the end of a short sound demands, ms. */
export function warningWakeMs(state: WarningState): number {
  const { chirpUntilMs, reading } = state;
  return reading?.on === true && !state.isOrdered && state.wantedSinceMs === null && state.tries === 0
    ? chirpUntilMs
    : Number.POSITIVE_INFINITY;
}

export function warningEvidence(state: WarningState, nowMs: number): NonNullable<Evidence['warning']> {
  const { wantedSinceMs, onSinceMs, reading, hasFault } = state;
  const isFresh = reading !== null && nowMs - reading.atMs <= warningLimits.readingMs;
  const soundsForMs =
    wantedSinceMs === null || onSinceMs === null || !isFresh
      ? null
      : nowMs - Math.max(wantedSinceMs, onSinceMs);
  return { soundsForMs, hasFault };
}
