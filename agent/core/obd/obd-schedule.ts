// What is asked of a car, and how often: the request that is the latest by its own interval. Only what a control unit offers is asked, and a
// request without an answer is given up. Pure.
import type { ObdCommand, RequestCommand } from './obd-commands.ts';

/** What is known of one request. */
export interface PollRecord {
  readonly askedMs: number;
  /** Without an answer, in a row. */
  readonly failures: number;
}

/** A request is given up after so many failures in a row. */
export const failuresMost = 3;

interface Poll {
  readonly command: RequestCommand | 'ATRV';
  /** Identifiers of mode 01 that it needs; empty: it is no request of mode 01. */
  readonly pids: readonly number[];
  /** While the vehicle drives, and while it stands, ms. */
  readonly drivingMs: number;
  readonly standingMs: number;
}

const always = (command: Poll['command'], pid: number | null, everyMs: number): Poll => ({
  command,
  pids: pid === null ? [] : [pid],
  drivingMs: everyMs,
  standingMs: everyMs,
});

const both: Poll = { command: '010D0C', pids: [0x0d, 0x0c], drivingMs: 500, standingMs: 2000 };
const motion: readonly Poll[] = [
  { command: '010D', pids: [0x0d], drivingMs: 500, standingMs: 2000 },
  { command: '010C', pids: [0x0c], drivingMs: 1000, standingMs: 3000 },
];

const others: readonly Poll[] = [
  always('ATRV', null, 10_000),
  always('015E', 0x5e, 10_000),
  always('01A6', 0xa6, 10_000),
  always('0142', 0x42, 15_000),
  always('0105', 0x05, 30_000),
  always('011F', 0x1f, 30_000),
  always('012F', 0x2f, 30_000),
  always('0101', 0x01, 60_000),
  always('03', null, 600_000),
  always('07', null, 600_000),
  always('0A', null, 600_000),
];

/** With the number of answers to wait for, where that is known. */
const counted = { '010D': '010D1', '010C': '010C1', '010D0C': '010D0C1' } as const;

export interface ScheduleFacts {
  readonly polls: Readonly<Partial<Record<ObdCommand, PollRecord>>>;
  readonly hasLongRequests: boolean;
  readonly isDriving: boolean;
  /** Whether a unit offers an identifier of mode 01. */
  offers(pid: number): boolean;
  /** Whether exactly one does, and the adapter takes a count of answers. */
  isCounted(pids: readonly number[]): boolean;
}

/** What can be asked now. */
function pollsOf({ polls, hasLongRequests, offers }: ScheduleFacts): readonly Poll[] {
  return [...(hasLongRequests ? [both] : motion), ...others].filter(
    ({ command, pids }) => pids.every(offers) && (polls[command]?.failures ?? 0) < failuresMost,
  );
}

export interface NextPoll {
  /** Under this name its record is kept. */
  readonly name: ObdCommand;
  /** As it is written. */
  readonly command: ObdCommand;
  readonly dueMs: number;
}

/** The request whose turn is next, and when; null: there is none. */
export function nextPoll(facts: ScheduleFacts, nowMs: number): NextPoll | null {
  let best: { readonly poll: Poll; readonly late: number; readonly dueMs: number } | null = null;
  for (const poll of pollsOf(facts)) {
    const everyMs = facts.isDriving ? poll.drivingMs : poll.standingMs;
    const askedMs = facts.polls[poll.command]?.askedMs ?? Number.NEGATIVE_INFINITY;
    const late = (nowMs - askedMs) / everyMs;
    if (best === null || late > best.late) best = { poll, late, dueMs: askedMs + everyMs };
  }
  if (best === null) return null;
  const { command: name, pids } = best.poll;
  const isCounted = name in counted && facts.isCounted(pids);
  return { name, command: isCounted ? counted[name as keyof typeof counted] : name, dueMs: best.dueMs };
}

/** Requests that were given up. */
export function givenUp(polls: ScheduleFacts['polls']): readonly string[] {
  return Object.entries(polls)
    .filter(([, record]) => record.failures >= failuresMost)
    .map(([command]) => command);
}
