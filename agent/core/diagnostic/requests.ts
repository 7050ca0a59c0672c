// Decides which requests of the broker a unit answers: meant for this boot, not expired, not answered before, and not too frequent. Pure. No request
// is ever answered twice, over replays and crashes.
import type { RequestBody, RequestKind } from '../../../src/core/wire/device-request.ts';

export const requestRules = {
  /** Number of answered requests remembered over restarts. Requests older than all of them are no longer answered. */
  remembered: 32,
  /** Number of answers at once after a rest, and the time in which one more is allowed. */
  rates: {
    position: { burst: 6, everyMs: 20_000 },
    diagnostic: { burst: 4, everyMs: 120_000 },
    log: { burst: 2, everyMs: 900_000 },
    interlock: { burst: 6, everyMs: 20_000 },
    interlock_cargo: { burst: 6, everyMs: 20_000 },
  } satisfies Record<RequestKind, Rate>,
  /** Rate of reports that the rate limit was reached; beyond it the vehicle is silent. */
  refusals: { burst: 5, everyMs: 60_000 } satisfies Rate,
  /** A reading that takes this long is abandoned; the next envelope may try again. */
  readingMs: 30_000,
} as const;

interface Rate {
  readonly burst: number;
  readonly everyMs: number;
}

interface Answered {
  readonly requestID: string;
  /** By the broker's clock. */
  readonly issuedMs: number;
}

/** Survives restarts; written together with the events that answer. */
export interface RequestRecord {
  /** Newest last. */
  readonly answered: readonly Answered[];
  /** Requests issued at or before this time were answered or refused, and removed since. */
  readonly floorMs: number;
}

interface Allowance {
  readonly count: number;
  readonly atMs: number;
}

type Lane = RequestKind | 'refusals';

export interface RequestsState {
  readonly record: RequestRecord;
  /** Running readings by request; `sinceMs` is monotonic. */
  readonly reading: Readonly<Record<string, { readonly sinceMs: number; readonly issuedMs: number }>>;
  readonly allowances: Readonly<Partial<Record<Lane, Allowance>>>;
}

export function createRequestRecord(): RequestRecord {
  return { answered: [], floorMs: 0 };
}

function isAnswered(value: unknown): value is Answered {
  if (typeof value !== 'object' || value === null) return false;
  const { requestID, issuedMs } = value as Partial<Record<keyof Answered, unknown>>;
  return typeof requestID === 'string' && Number.isSafeInteger(issuedMs);
}

/** A record from disk; an empty one if it is damaged. */
export function parseRequestRecord(value: unknown): RequestRecord {
  if (typeof value !== 'object' || value === null) return createRequestRecord();
  const { answered, floorMs } = value as Partial<Record<keyof RequestRecord, unknown>>;
  return {
    answered: Array.isArray(answered) ? answered.filter(isAnswered).slice(-requestRules.remembered) : [],
    floorMs: typeof floorMs === 'number' && Number.isSafeInteger(floorMs) ? floorMs : 0,
  };
}

export function createRequests(record: RequestRecord): RequestsState {
  return { record, reading: {}, allowances: {} };
}

const rateOf = (lane: Lane): Rate => (lane === 'refusals' ? requestRules.refusals : requestRules.rates[lane]);

/** Uses one token of a lane; null: none is left. */
function spend(state: RequestsState, lane: Lane, monoMs: number): RequestsState | null {
  const { burst, everyMs } = rateOf(lane);
  const known = state.allowances[lane] ?? { count: burst, atMs: monoMs };
  const count = Math.min(burst, known.count + (monoMs - known.atMs) / everyMs);
  const left = { ...state.allowances, [lane]: { count: count - (count >= 1 ? 1 : 0), atMs: monoMs } };
  return count >= 1 ? { ...state, allowances: left } : null;
}

/** Records an answered request. The oldest of too many raises the floor. */
export function recordAnswered(state: RequestsState, { requestID, issuedMs }: Answered): RequestsState {
  const { [requestID]: _done, ...reading } = state.reading;
  const all = [...state.record.answered, { requestID, issuedMs }];
  const answered = all.slice(-requestRules.remembered);
  const forgotten = all.slice(0, all.length - answered.length);
  const floorMs = Math.max(state.record.floorMs, ...forgotten.map((one) => one.issuedMs));
  return { ...state, reading, record: { answered, floorMs } };
}

export type RequestVerdict =
  /** `reading` is recorded: the caller reads and answers. */
  | { readonly kind: 'answer'; readonly state: RequestsState }
  /** Recorded as answered: the caller reports the reason. */
  | { readonly kind: 'refuse'; readonly state: RequestsState; readonly reason: string }
  | { readonly kind: 'ignore'; readonly reason: string };

/**
 * Decides on a verified request for this vehicle and boot.
 * @param now `latestUtcMs`: latest possible time; null: unknown (research 2.3 rule 3, as for commands).
 */
export function judgeRequest(
  state: RequestsState,
  body: Pick<RequestBody, 'requestID' | 'kind' | 'issuedMs' | 'expiresMs'>,
  now: { readonly monoMs: number; readonly latestUtcMs: number | null },
): RequestVerdict {
  const { requestID, kind, issuedMs, expiresMs } = body;
  const { record } = state;
  if (record.answered.some((one) => one.requestID === requestID))
    return { kind: 'ignore', reason: 'answered before' };
  if (issuedMs <= record.floorMs) return { kind: 'ignore', reason: 'older than what is remembered' };
  if (now.latestUtcMs !== null && now.latestUtcMs > expiresMs) return { kind: 'ignore', reason: 'expired' };
  const under = state.reading[requestID];
  if (under !== undefined && now.monoMs - under.sinceMs < requestRules.readingMs)
    return { kind: 'ignore', reason: 'being answered' };
  const taken = spend(state, kind, now.monoMs);
  if (taken !== null) {
    const alive = Object.entries(taken.reading).filter(
      ([, { sinceMs }]) => now.monoMs - sinceMs < requestRules.readingMs,
    );
    const reading = { ...Object.fromEntries(alive), [requestID]: { sinceMs: now.monoMs, issuedMs } };
    return { kind: 'answer', state: { ...taken, reading } };
  }
  const refused = spend(state, 'refusals', now.monoMs);
  if (refused === null) return { kind: 'ignore', reason: 'asked too often' };
  const seconds = Math.round(rateOf(kind).everyMs / 1000);
  const reason = `asked too often: one every ${seconds} s`;
  return { kind: 'refuse', state: recordAnswered(refused, { requestID, issuedMs }), reason };
}
