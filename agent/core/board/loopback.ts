// The loop-back: a spare output that is wired to a spare input. The agent switches the output on and off and expects
// the input to follow, which a board that repeats its last bits cannot do. Pure. It must never call a board alive by an
// edge that it did not order, by an answer that came too late, or by one from before a loss of the board.
import type { RelayOutcome } from './relay-order.ts';

const loopbackLimits = {
  /** From one toggle to the next. */
  periodMs: 5000,
  /** From the confirmation of an order until the input shows it. */
  followMs: 2000,
  /** Without a sample of the input for this long nothing is known of it. */
  silenceMs: 2000,
  /** From a failed order back to rest until the next one. */
  retryMs: 2000,
} as const;

interface Reading {
  readonly on: boolean;
  readonly atMs: number;
}

/** Half a toggle. */
interface Edge {
  /** What was ordered. */
  readonly on: boolean;
  /** When the output was read back so; null: not yet. */
  readonly confirmedMs: number | null;
  /** When the input was sampled so after that; null: not yet. */
  readonly followedMs: number | null;
}

export interface LoopbackState {
  /** The output as read back; null: not known. */
  readonly output: Reading | null;
  /** The input as sampled; null: not known. */
  readonly input: Reading | null;
  /** Null: no toggle is under way. */
  readonly edge: Edge | null;
  /** An order is with the board. */
  readonly isOrdered: boolean;
  /** When the input was last seen to follow both edges of a toggle; null: not since the last loss or mismatch. */
  readonly answeredMs: number | null;
  readonly nextToggleMs: number;
  /** When an output that is on without a toggle is next ordered off. */
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

/** The toggle under way proves nothing, nor does any before it. */
const failed = (state: LoopbackState): LoopbackState => ({ ...state, edge: null, answeredMs: null });

/** A reading of the output; null = unknown, as when its unit is lost. */
export function recordLoopbackOutput(state: LoopbackState, on: boolean | null, atMs: number): LoopbackState {
  if (on === null) return { ...failed(state), output: null };
  const next = { ...state, output: { on, atMs } };
  if (state.isOrdered) return next;
  return on === (state.edge?.on ?? false) ? next : failed(next);
}

/** An order has ended. */
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

/** A sample of the input; null = unknown, as when its unit is lost. */
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
  // The input shows what nothing has ordered.
  return !isOrdered && output?.on === false && on ? failed(next) : next;
}

interface LoopbackStep {
  readonly state: LoopbackState;
  /** Switch the output so; null = leave it. */
  readonly order: boolean | null;
}

/** What to do now. @param isWanted a restrictive change waits for the answer. */
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

/** No toggle is under way: the output is off, and a new toggle begins where one is wanted and due. */
function rest(state: LoopbackState, isWanted: boolean, nowMs: number): LoopbackStep {
  const { output, input, nextToggleMs, nextRestMs } = state;
  const { periodMs, retryMs } = loopbackLimits;
  // It is not written before it was read; the board's first reading arrives within seconds.
  if (output === null) return { state, order: null };
  if (output.on) {
    if (nowMs < nextRestMs) return { state, order: null };
    return { state: { ...state, isOrdered: true, nextRestMs: nowMs + retryMs }, order: false };
  }
  if (!isWanted || nowMs < nextToggleMs || input?.on !== false) return { state, order: null };
  return begin({ ...state, nextToggleMs: nowMs + periodMs }, true);
}

/** When the board last answered a loop-back, monotonic; null: it did not, or it was lost or wrong since. */
export function boardAnsweredMs(state: LoopbackState): number | null {
  return state.answeredMs;
}
