// Limits on long reads, so that no caller fills the database's queue or the event loop for the others. Pages of long answers and views of a fleet are
// built a few at a time, in fair turns. Exports and reports run a few at a time.
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import { createRates, type RateLimit, type Rates } from '../core/scheduling/rate.ts';
import { createFairQueue } from './fair-queue.ts';
import { createShares, createSlots, type Owner, ownerText, type SlotLimits } from './slots.ts';

export const pageLimits = {
  /** Pages built at a time: a user leaves one slot to the others of the account. */
  atOnce: { token: 2, user: 2, account: 3, process: 256 },
  /** Maximum number of queued pages of one user. */
  waiting: 128,
  /** Long answers in progress, each with a page in memory. */
  answers: { token: 6, user: 8, account: 24, process: 256 },
  /** A client that reads nothing of a page for this long loses its answer and its connection, ms. */
  stalledMs: 60_000,
} as const;

/** A view of a fleet only uses CPU of this process: one is made at a time. */
const viewsAtOnce: SlotLimits = { token: 1, user: 1, account: 1, process: 1 };

export interface PageLimit {
  /** Number of long answers in progress. */
  count(): number;
  /**
   * Builds one page in its turn; the slot is free again before the client reads the page.
   * @param until aborts when the answer has ended; its page then leaves the queue.
   * @throws AppError `throttled` when too many pages wait; `unavailable` when the answer ended before its turn.
   */
  run<T>(owner: Owner, until: AbortSignal, buildPage: () => Promise<T>): Promise<T>;
  /** The same for work that keeps the event loop busy. */
  runBusy<T>(owner: Owner, until: AbortSignal, work: () => Promise<T>): Promise<T>;
  /** Counts a long answer until the signal aborts. @throws AppError `throttled` when too many are in progress. */
  begin(owner: Owner, until: AbortSignal): void;
}

/** How often a key may do something; `refusal` says that it was too often. */
export interface TurnLimit extends RateLimit {
  readonly refusal: string;
}

/** Takes a turn of a key. @throws AppError `throttled`. */
export type TakeTurn = (limit: TurnLimit, key: string) => void;

export function createTakeTurn(clock: Clock): TakeTurn {
  const rates = new Map<TurnLimit, Rates>();
  return (limit, key) => {
    const turns = rates.get(limit) ?? createRates(limit);
    rates.set(limit, turns);
    const nowMs = clock.monoMs();
    if (turns.take(key, nowMs)) return;
    const retryAfterS = Math.ceil(turns.stateOf(key, nowMs).waitMs / 1000);
    throw new AppError('throttled', limit.refusal, { retryAfterS });
  };
}

/** Error of work for an answer that has ended: it reaches no client and is no fault. */
export function answerEnded(): AppError {
  return new AppError('unavailable', 'The client has disconnected');
}

type InTurn = PageLimit['run'];

function createTurns(atOnce: SlotLimits): InTurn {
  const queue = createFairQueue();
  const running = createShares(atOnce);
  /** Resolves with the slot taken. */
  const enter = (owner: Owner, until: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const remove = queue.add(owner, () => {
        until.removeEventListener('abort', leave);
        running.change(owner, 1);
        resolve();
      });
      const leave = (): void => {
        remove();
        reject(answerEnded());
      };
      until.addEventListener('abort', leave, { once: true });
    });
  const mayEnter = (owner: Owner): boolean => running.full(owner) === null;
  return async (owner, until, work) => {
    if (until.aborted) throw answerEnded();
    if (queue.countOf(owner) >= pageLimits.waiting) {
      const message = `${pageLimits.waiting} answers of this user wait for their turn`;
      throw new AppError('throttled', message, { retryAfterS: 1 });
    }
    if (mayEnter(owner)) running.change(owner, 1);
    else await enter(owner, until);
    try {
      return await work();
    } finally {
      // Lets other events of the loop run before the next page.
      await nextLoopTurn();
      running.change(owner, -1);
      while (queue.next(mayEnter));
    }
  };
}

export function createPageLimit(): PageLimit {
  const answers = createSlots(pageLimits.answers);
  return {
    count: () => answers.count(),
    run: createTurns(pageLimits.atOnce),
    runBusy: createTurns(viewsAtOnce),
    begin(owner, until) {
      const full = answers.take(owner, until);
      if (full === null) return;
      const message = `${pageLimits.answers[full]} long answers of ${ownerText[full]} are under way`;
      throw new AppError('throttled', message, { retryAfterS: 2, hint: 'Ask for pages with ?limit.' });
    },
  };
}

/** Limits of open live streams. */
export const liveSlotLimits = { token: 5, user: 5, account: 100, process: 2000 } as const;

export const exportLimits = { token: 3, user: 4, account: 8, process: 48 } as const;

export interface ExportLimit {
  /** Number of exports and reports in progress. */
  count(): number;
  /** Counts an export or report until the signal aborts. @throws AppError `throttled`. */
  begin(owner: Owner, until: AbortSignal): void;
}

export function createExportLimit(): ExportLimit {
  const slots = createSlots(exportLimits);
  return {
    count: () => slots.count(),
    begin(owner, until) {
      const full = slots.take(owner, until);
      if (full === null) return;
      const message = `${exportLimits[full]} exports and reports of ${ownerText[full]} run already`;
      throw new AppError('throttled', message, {
        hint: 'Wait until one of them has ended.',
        retryAfterS: 10,
      });
    },
  };
}
