// The dialogue with one adapter, from its reset to its end, as a pure machine: answers and time in, at most one command out. A command is
// written only after the prompt of the one before. The exception is ATZ after a silence: none of its ends is a request, whatever of it is lost.
import type { ElmKind, ObdRefusal } from '../bus/obd-facts.ts';
import { type EcuMessage, type ElmReading, readElm } from './elm-answer.ts';
import type { ElmAnswer } from './elm-lines.ts';
import type { ObdCommand, Protocol } from './obd-commands.ts';
import { type PollRecord } from './obd-schedule.ts';

export const obdTiming = {
  /** How long an answer may take, ms: of the adapter itself, of a request, and of the search for the protocol. */
  resetMs: 3000,
  setupMs: 2000,
  requestMs: 5000,
  searchMs: 20_000,
  /** After the supply dipped: a starter turns. */
  dipMs: 5000,
  /** Between two requests while the vehicle drives, and while it stands: at most four and one a second. */
  drivingGapMs: 250,
  standingGapMs: 1000,
  /** A speed above 0 counts as driving for this long. */
  drivingMs: 5000,
  /** Restarts of the adapter in a row, within which a minute of polling counts as none. */
  restartsMost: 3,
  soundMs: 60_000,
  /** Errors of the bus within a minute: nothing is asked until the ignition was off. */
  errorsMost: 3,
  errorsMs: 60_000,
  /** Requests in a row without data: the control units sleep. */
  silentMost: 5,
  /** Low readings of the supply in a row. */
  lowMost: 2,
} as const;

/** What was read of the car. */
export type ObdReading =
  | { readonly kind: 'answers'; readonly messages: readonly EcuMessage[] }
  | { readonly kind: 'volts'; readonly volts: number }
  | { readonly kind: 'vin'; readonly source: number; readonly vin: string }
  | {
      readonly kind: 'codes';
      readonly mode: 3 | 7 | 10;
      readonly isCounted: boolean;
      readonly messages: readonly EcuMessage[];
    };

/** Identifiers that one control unit offers: of mode 01, and of mode 09. */
export interface ObdUnit {
  readonly source: number;
  readonly pids: readonly number[];
  readonly infos: readonly number[];
}

export interface ObdSession {
  readonly phase: 'reset' | 'setup' | 'search' | 'learn' | 'poll' | 'ended';
  /** Why it ended; null while it has not. */
  readonly end: ObdRefusal | null;
  /** The command whose answer is awaited; null: the prompt is there. */
  readonly asked: { readonly command: ObdCommand; readonly atMs: number } | null;
  readonly notBeforeMs: number;
  /** Restarts in a row, and since when requests are polled. */
  readonly restarts: number;
  readonly polledSinceMs: number;
  /** Place in the plan of the setup. */
  readonly step: number;
  readonly kind: ElmKind | null;
  readonly version: string | null;
  readonly device: string | null;
  readonly failedProbes: readonly string[];
  readonly volts: number | null;
  readonly lowReadings: number;
  readonly protocol: Protocol | null;
  /** The protocol that is tried before all are searched; null: none. */
  readonly known: Protocol | null;
  readonly units: readonly ObdUnit[];
  /** Requests of the learning that were answered, or failed. */
  readonly learnt: readonly ObdCommand[];
  readonly hasLongRequests: boolean;
  readonly hasAnswerCount: boolean;
  readonly polls: Readonly<Partial<Record<ObdCommand, PollRecord>>>;
  readonly movedMs: number;
  readonly codeCount: number | null;
  readonly silent: number;
  /** When errors came, newest last, and how many in all. */
  readonly errorsMs: readonly number[];
  readonly errors: number;
}

export type ObdInput = { readonly kind: 'time' } | { readonly kind: 'answer'; readonly answer: ElmAnswer };

/** What an answer leads to: the next state, and what was read. */
export interface ObdStep {
  readonly state: ObdSession;
  readonly readings: readonly ObdReading[];
}

/** A session that has written nothing. @param known the protocol of the last session; null: none. */
export function createObdSession(nowMs: number, known: Protocol | null): ObdSession {
  return {
    phase: 'reset',
    end: null,
    asked: null,
    notBeforeMs: nowMs,
    restarts: 0,
    polledSinceMs: Number.POSITIVE_INFINITY,
    step: 0,
    kind: null,
    version: null,
    device: null,
    failedProbes: [],
    volts: null,
    lowReadings: 0,
    protocol: null,
    known,
    units: [],
    learnt: [],
    hasLongRequests: false,
    hasAnswerCount: false,
    polls: {},
    movedMs: Number.NEGATIVE_INFINITY,
    codeCount: null,
    silent: 0,
    errorsMs: [],
    errors: 0,
  };
}

export const endSession = (state: ObdSession, end: ObdRefusal): ObdSession => ({
  ...state,
  phase: 'ended',
  end,
  asked: null,
});

/** The adapter begins anew: it has lost its settings, or does not answer. */
export function restartSession(state: ObdSession, nowMs: number, pauseMs: number): ObdSession {
  const isSound = nowMs - state.polledSinceMs >= obdTiming.soundMs;
  const restarts = isSound ? 1 : state.restarts + 1;
  if (restarts > obdTiming.restartsMost) return endSession(state, 'silent_adapter');
  return {
    ...createObdSession(nowMs + pauseMs, state.protocol ?? state.known),
    restarts,
    errors: state.errors,
    errorsMs: state.errorsMs,
  };
}

/** Counts one error of the bus. */
export function recordError(state: ObdSession, nowMs: number): ObdSession {
  const { errorsMost, errorsMs: withinMs } = obdTiming;
  const errorsMs = [...state.errorsMs.filter((atMs) => nowMs - atMs <= withinMs), nowMs];
  const next = { ...state, errorsMs, errors: state.errors + 1 };
  return errorsMs.length >= errorsMost ? endSession(next, 'bus_errors') : next;
}

/** How long the answer to what was asked may take. */
export function answerMs({ phase, known, protocol }: ObdSession, command: ObdCommand): number {
  if (command === 'ATZ') return obdTiming.resetMs;
  if (command.startsWith('AT') || command.startsWith('ST')) return obdTiming.setupMs;
  return phase === 'search' && (protocol === null || protocol === known)
    ? obdTiming.searchMs
    : obdTiming.requestMs;
}

export const readingOf = (state: ObdSession, answer: ElmAnswer, command: ObdCommand): ElmReading =>
  readElm(answer, { command, protocol: state.protocol });
