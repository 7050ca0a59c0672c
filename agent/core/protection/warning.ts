// The warning output: sounds before a cut with ignition on (edge-agents 2.3 rule 13), acknowledges code entry, and is
// silent otherwise. Pure. It counts as sounding only after it was read back, and a fault of it must never block a
// restore.
import { type StatusName, statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Evidence } from '../evidence/testimony.ts';
import type { EventDraft } from './command-record.ts';

const warningLimits = {
  /** Failed orders before a fault is reported. */
  tries: 3,
  betweenTriesMs: 2000,
  /** A faulty output is tried again this often. */
  faultyTriesMs: 10_000,
  /** A read-back older than this proves no sound. */
  readingMs: 15_000,
} as const;

/** Short answers to a person: a digit was taken, the code was wrong, the code was right. */
export const chirpMs = { taken: 300, wrong: 1000, right: 3000 } as const;

export interface WarningState {
  /** Since when a cut has wanted it to sound; null while none does. */
  readonly wantedSinceMs: number | null;
  /** A short answer sounds until then. */
  readonly chirpUntilMs: number;
  readonly reading: { readonly on: boolean; readonly atMs: number } | null;
  /** Since the first reading of an unbroken row of them that showed it on. */
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

/** A short sound of `ms` from now on, where the output is fitted. */
export function chirp(state: WarningState, ms: number, nowMs: number): WarningState {
  return { ...state, chirpUntilMs: nowMs + ms, nextTryMs: nowMs };
}

/** A reading of the board; `on` null = unknown, so that the sound is no longer proven. */
export function recordWarningRead(state: WarningState, on: boolean | null, atMs: number): WarningState {
  if (on === null) return { ...state, reading: null, onSinceMs: null };
  return { ...state, reading: { on, atMs }, onSinceMs: on ? (state.onSinceMs ?? atMs) : null };
}

/** An order has ended; its only result is what was read back. */
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
  /** Switch the output so; null = leave it. */
  readonly order: boolean | null;
  /** The fault began or ended. */
  readonly draft: EventDraft | null;
}

function alarm(name: StatusName, reason: string): EventDraft {
  return { statusCode: statusCodes[name].code, attributes: { output: 'warning', reason } };
}

/** What to do now. @param wants a cut wants it to sound: all but the warning is proven. */
export function stepWarning(before: WarningState, wants: boolean, nowMs: number): WarningStep {
  const hasChanged = wants !== (before.wantedSinceMs !== null);
  const state: WarningState = hasChanged
    ? { ...before, wantedSinceMs: wants ? nowMs : null, tries: 0, nextTryMs: nowMs }
    : before;
  const { reading } = state;
  // It is not written before it was read; the board's first reading arrives within seconds.
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

/** When a step is due by time alone, as far as a short sound has to end. */
export function warningWakeMs(state: WarningState): number {
  const { chirpUntilMs, reading } = state;
  return reading?.on === true && !state.isOrdered && state.wantedSinceMs === null && state.tries === 0
    ? chirpUntilMs
    : Number.POSITIVE_INFINITY;
}

/** What the interlock may know of it. */
export function warningEvidence(state: WarningState, nowMs: number): NonNullable<Evidence['warning']> {
  const { wantedSinceMs, onSinceMs, reading, hasFault } = state;
  const isFresh = reading !== null && nowMs - reading.atMs <= warningLimits.readingMs;
  const soundsForMs =
    wantedSinceMs === null || onSinceMs === null || !isFresh
      ? null
      : nowMs - Math.max(wantedSinceMs, onSinceMs);
  return { soundsForMs, hasFault };
}
