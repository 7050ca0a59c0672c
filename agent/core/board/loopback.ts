// The loop-back: a spare output wired to a spare input. The agent switches the output on and off and expects the input to follow, which a board that
// repeats its last bits cannot do. Pure. Three things never prove a live board: an edge that the agent did not order, a late answer, and an answer
// from before a loss of the board.
import type { RelayOutcome } from './relay-order.ts';

const loopbackLimits = {
  /** Minimum time from one toggle to the next. */
  periodMs: 5000,
  /** Maximum time from the confirmation of an order until the input shows it. */
  followMs: 2000,
  /** Time without a sample of the input after which its state is unknown. */
  silenceMs: 2000,
  /** Pause after a failed order back to rest. */
  retryMs: 2000,
} as const;

interface Reading {
  readonly on: boolean;
  readonly atMs: number;
}

/** Half of a toggle. */
interface Edge {
  readonly on: boolean;
  /** Monotonic time of the read-back of the output in this state, ms; null: not yet. */
  readonly confirmedMs: number | null;
  /** Monotonic time of the first sample of the input in this state after that, ms; null: not yet. */
  readonly followedMs: number | null;
}

export interface LoopbackState {
  /** Output as read back; null: unknown. */
  readonly output: Reading | null;
  /** Input as sampled; null: unknown. */
  readonly input: Reading | null;
  /** Null: no toggle in progress. */
  readonly edge: Edge | null;
  /** An order is at the board. */
  readonly isOrdered: boolean;
  /** Monotonic time at which the input last followed both edges of a toggle, ms; null: not since the last loss or mismatch. */
  readonly answeredMs: number | null;
  readonly nextToggleMs: number;
  /** Monotonic time of the next "off" order to an output that is on without a toggle, ms. */
  readonly nextRestMs: number;
}

export function createLoopback(): LoopbackState {
  return {
    output: null,
    input: null,
    edge: null,
    isOrdered: false,
    answeredMs: null,
    nextToggleMs: Number.NEGATIVE_INFINITY,
    nextRestMs: Number.NEGATIVE_INFINITY,
  };
}

/** Voids the toggle in progress and the proof before it. */
const failed = (state: LoopbackState): LoopbackState => ({ ...state, edge: null, answeredMs: null });

/** Records a reading of the output; null: unknown, as after the loss of its unit. */
export function recordLoopbackOutput(state: LoopbackState, on: boolean | null, atMs: number): LoopbackState {
  if (on === null) return { ...failed(state), output: null };
  const next = { ...state, output: { on, atMs } };
  if (state.isOrdered) return next;
  return on === (state.edge?.on ?? false) ? next : failed(next);
}

export function recordLoopbackOrder(
  state: LoopbackState,
  result: { readonly outcome: RelayOutcome; readonly readBack: boolean | null },
  atMs: number,
): LoopbackState {
  const { outcome, readBack } = result;
  const output = readBack === null ? null : { on: readBack, atMs };
  const next = { ...state, output, isOrdered: false };
  if (state.edge === null) return next;
  if (outcome !== 'confirmed' || readBack !== state.edge.on) return failed(next);
  return { ...next, edge: { ...state.edge, confirmedMs: atMs } };
}

/** Records a sample of the input; null: unknown, as after the loss of its unit. */
export function recordLoopbackInput(state: LoopbackState, on: boolean | null, atMs: number): LoopbackState {
  if (on === null) return { ...failed(state), input: null };
  const { edge, output, isOrdered } = state;
  const next = { ...state, input: { on, atMs } };
  if (edge !== null) {
    const isAfter = edge.confirmedMs !== null && atMs > edge.confirmedMs;
    return isAfter && edge.followedMs === null && on === edge.on
      ? { ...next, edge: { ...edge, followedMs: atMs } }
      : next;
  }
  // The input shows a state that nothing has ordered.
  return !isOrdered && output?.on === false && on ? failed(next) : next;
}

interface LoopbackStep {
  readonly state: LoopbackState;
  /** State to switch the output to; null: no change. */
  readonly order: boolean | null;
}

/** One step. @param isWanted a restrictive change waits for the answer. */
export function stepLoopback(before: LoopbackState, isWanted: boolean, nowMs: number): LoopbackStep {
  const { silenceMs, followMs } = loopbackLimits;
  const isSilent = before.input !== null && nowMs - before.input.atMs > silenceMs;
  const state = isSilent ? { ...failed(before), input: null } : before;
  const { edge } = state;
  if (state.isOrdered) return { state, order: null };
  if (edge === null) return rest(state, isWanted, nowMs);
  const { confirmedMs, followedMs } = edge;
  if (confirmedMs === null) return { state: failed(state), order: null };
  if (followedMs === null)
    return { state: nowMs - confirmedMs > followMs ? failed(state) : state, order: null };
  if (followedMs - confirmedMs > followMs) return { state: failed(state), order: null };
  if (!edge.on) return { state: { ...state, edge: null, answeredMs: followedMs }, order: null };
  // The second edge counts only from an input that still shows the first.
  return state.input?.on === true ? begin(state, false) : { state: failed(state), order: null };
}

function begin(state: LoopbackState, on: boolean): LoopbackStep {
  return {
    state: { ...state, isOrdered: true, edge: { on, confirmedMs: null, followedMs: null } },
    order: on,
  };
}

/** Without a toggle in progress, the output is off, and a new toggle begins if it is wanted and due. */
function rest(state: LoopbackState, isWanted: boolean, nowMs: number): LoopbackStep {
  const { output, input, nextToggleMs, nextRestMs } = state;
  const { periodMs, retryMs } = loopbackLimits;
  // It is never written before it was read; the board's first reading arrives within seconds.
  if (output === null) return { state, order: null };
  if (output.on) {
    if (nowMs < nextRestMs) return { state, order: null };
    return { state: { ...state, isOrdered: true, nextRestMs: nowMs + retryMs }, order: false };
  }
  if (!isWanted || nowMs < nextToggleMs || input?.on !== false) return { state, order: null };
  return begin({ ...state, nextToggleMs: nowMs + periodMs }, true);
}

/** Monotonic time of the last answer to a loop-back, ms; null: none, or the board was lost or wrong since. */
export function boardAnsweredMs(state: LoopbackState): number | null {
  return state.answeredMs;
}
