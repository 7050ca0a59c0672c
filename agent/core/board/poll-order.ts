// Order of the polls on the bus: the poll that reads the panic button never waits for more than one other exchange. Others go directly after it, or
// into a gap that is long enough. Pure. A silent unit must never delay the others.
import { exchangeMs, urgentPoll } from './board-profile.ts';
import type { BoardState } from './board-types.ts';

/** Assumed processing time of a unit, ms. */
const turnaroundMs = 5;
/** Assumed time of a set-up exchange, ms: it reads or writes a handful of registers. */
const setupMs = 60;

/** Time until the urgent poll is due, ms; null: no poll has to wait for it. */
function untilUrgentMs(state: BoardState, atMs: number): number | null {
  const { profile } = state;
  const urgent = urgentPoll(profile);
  const poll = urgent === null ? undefined : profile.polls[urgent];
  const progress = urgent === null ? undefined : state.polls[urgent];
  if (poll === undefined || progress === undefined) return null;
  const untilMs = progress.nextAtMs - atMs;
  // Its unit is silent, or it was refused and postponed: it must not starve the others.
  if (state.units[poll.unit]?.isUp !== true || untilMs > poll.periodMs) return null;
  return progress.isPending ? 0 : untilMs;
}

/** True while this poll must wait for the urgent one. */
export function waitsForUrgent(state: BoardState, name: string, atMs: number): boolean {
  if (name === urgentPoll(state.profile) || state.mayInterpose) return false;
  const untilMs = untilUrgentMs(state, atMs);
  return untilMs !== null && exchangeMs(state.profile, name, turnaroundMs) > untilMs;
}

/** The same for set-up registers. */
export function setupWaitsForUrgent(state: BoardState, atMs: number): boolean {
  const untilMs = untilUrgentMs(state, atMs);
  return untilMs !== null && !state.mayInterpose && setupMs > untilMs;
}

/** The same for an exchange with the loop-back output, whose length is unknown here. */
export function loopbackWaitsForUrgent(state: BoardState, atMs: number): boolean {
  return !state.mayInterpose && untilUrgentMs(state, atMs) !== null;
}

/** Due polls: the urgent one first, then by due time. */
export function duePolls(state: BoardState, atMs: number): readonly string[] {
  const due = Object.entries(state.polls).filter(
    ([, { isPending, nextAtMs }]) => !isPending && nextAtMs <= atMs,
  );
  if (due.length < 2) return due.map(([name]) => name);
  const urgent = urgentPoll(state.profile);
  const rank = ([name, { nextAtMs }]: (typeof due)[number]): number =>
    name === urgent && state.units[state.profile.polls[name]?.unit ?? '']?.isUp === true
      ? Number.NEGATIVE_INFINITY
      : nextAtMs;
  return due.sort((one, other) => rank(one) - rank(other)).map(([name]) => name);
}
