// One order to a relay, from the first write to the proof: decides the next move from the board's answers. Pure. An order is confirmed only after the
// board has shown it twice. A restrictive order is written again only after a reading showed that the relay is not as ordered (edge-agents 2.3 rule
// 6). An order to the safe state needs no answer: it is written repeatedly until a reading is understood.
// Two readings, because CRC-16 accepts 1 of 65 536 random frames. A reading that disagrees with the one before restarts the count, so a false
// confirmation needs two such frames in a row with the same bit.
import type { RtuResult } from './rtu-types.ts';

export type RelayOutcome = 'confirmed' | 'mismatch' | 'unknown' | 'refused';

export interface RelayOrder {
  readonly token: string;
  readonly energised: boolean;
  /** De-energises a relay of the vehicle: written before any reading, and repeated while there is none. */
  readonly isSafe: boolean;
  /** The board opens the relay by itself after this time, ms. */
  readonly holdMs?: number;
  /** Monotonic time after which the write is not sent, ms. */
  readonly deadlineMs: number;
  readonly writes: number;
  readonly wroteAtMs: number;
  /** Result of the last write; text: the board refused it. */
  readonly lastWrite: 'none' | 'ok' | 'unknown' | { readonly refused: string };
  /** Last reading since the last write, and the length of its row of equal readings. */
  readonly seen: { readonly on: boolean; readonly times: number } | null;
}

export type RelayMove =
  | { readonly kind: 'write' }
  | { readonly kind: 'read' }
  | {
      readonly kind: 'end';
      readonly outcome: RelayOutcome;
      readonly reason: string | null;
      readonly readBack: boolean | null;
    };

const readingsToAgree = 2;
const maxWrites = 3;
/** Maximum time in which a relay and its firmware show a written state. */
const settleMs = 300;
/**
 * Time after a restrictive write for which a silent board is still polled for the relay state. Before a write, and for the safe state, the limit is
 * the deadline.
 */
const askMs = 3000;
/** Minimum time between two writes to the safe state without a reading in between. */
const againMs = 500;

export function newOrder(
  order: Pick<RelayOrder, 'token' | 'energised' | 'isSafe' | 'holdMs' | 'deadlineMs'>,
): RelayOrder {
  return { ...order, writes: 0, wroteAtMs: -Infinity, lastWrite: 'none', seen: null };
}

/** The order at the moment its write is queued. */
export function withWriteQueued(order: RelayOrder): RelayOrder {
  return { ...order, seen: null };
}

interface Judged {
  readonly order: RelayOrder;
  readonly move: RelayMove;
}

function end(outcome: RelayOutcome, reason: string | null, readBack: boolean | null): RelayMove {
  return { kind: 'end', outcome, reason, readBack };
}

/** Handles the result of a write. `describe` formats an exception. */
export function afterWrite(
  order: RelayOrder,
  result: RtuResult,
  now: { readonly atMs: number; readonly describe: (code: number) => string },
): Judged {
  const wrote = (lastWrite: RelayOrder['lastWrite']): Judged => ({
    order: { ...order, lastWrite, writes: order.writes + 1, wroteAtMs: now.atMs },
    move: { kind: 'read' },
  });
  switch (result.kind) {
    case 'ok':
      return wrote('ok');
    case 'exception':
      return wrote({ refused: now.describe(result.code) });
    case 'unknown':
      return result.reason === 'linkDown'
        ? { order, move: end('unknown', 'the link went down', null) }
        : wrote('unknown');
    case 'timeout':
    case 'invalid':
      return wrote('unknown');
    case 'unanswered':
      // Reads first and writes after an answer: a write into a line that stalls may arrive when the vehicle drives.
      return { order, move: { kind: 'read' } };
    case 'linkDown':
    case 'queueFull':
    case 'expired':
    case 'refused':
      break;
  }
  // This write was never sent; an earlier one may have been.
  const reason = result.kind === 'refused' ? result.reason : unsent[result.kind];
  return { order, move: end(order.writes > 0 ? 'unknown' : 'refused', reason, null) };
}

const unsent = {
  linkDown: 'the link to the board is down',
  queueFull: 'too many requests wait for the board',
  expired: 'the deadline passed before it could be sent',
} as const;

/** Handles a reading of the relay; `on` null: the register means neither on nor off. */
export function afterReading(
  order: RelayOrder,
  reading: { readonly on: boolean | null; readonly atMs: number },
): Judged {
  const { on, atMs } = reading;
  if (on === null) return afterNoReading(order, { reason: 'the reading means neither on nor off', atMs });
  const times = order.seen?.on === on ? order.seen.times + 1 : 1;
  const next = { ...order, seen: { on, times } };
  return { order: next, move: judge(next, atMs) };
}

function judge(order: RelayOrder, atMs: number): RelayMove {
  const { seen, lastWrite } = order;
  const canWrite = atMs <= order.deadlineMs;
  if (lastWrite === 'none') {
    return canWrite ? { kind: 'write' } : end('refused', unsent.expired, seen?.on ?? null);
  }
  if (seen === null || seen.times < readingsToAgree) return { kind: 'read' };
  if (seen.on === order.energised) return end('confirmed', null, seen.on);
  if (typeof lastWrite === 'object') return end('refused', lastWrite.refused, seen.on);
  if (atMs - order.wroteAtMs < settleMs) return { kind: 'read' };
  const mayRepeat = order.isSafe || order.writes < maxWrites;
  if (lastWrite === 'unknown' && canWrite && mayRepeat) return { kind: 'write' };
  const reason =
    lastWrite === 'ok'
      ? 'the board accepted the order, but the relay still reads the other state'
      : 'no write was acknowledged';
  return end('mismatch', reason, seen.on);
}

/** Handles a failed reading: retries for a while, including the write to the safe state, then reports the outcome as unknown. */
export function afterNoReading(
  order: RelayOrder,
  fault: { readonly reason: string; readonly atMs: number },
): Judged {
  const { isSafe, writes, wroteAtMs, deadlineMs } = order;
  const giveUpAtMs = writes > 0 && !isSafe ? wroteAtMs + askMs : deadlineMs;
  if (fault.atMs > giveUpAtMs)
    return { order, move: end(writes > 0 ? 'unknown' : 'refused', fault.reason, null) };
  return { order, move: { kind: isSafe && fault.atMs - wroteAtMs >= againMs ? 'write' : 'read' } };
}
