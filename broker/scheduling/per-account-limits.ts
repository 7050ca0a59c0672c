// Limits of one account on reads that take long, so that no account fills the database's queue for the others: pages of long
// answers, of which a few are built at a time in order of arrival, and exports and reports, of which a few run at once.
import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import { createSlots } from './slots.ts';

export const pageLimits = {
  /** Pages of one account that are built at a time. */
  atOnce: 2,
  /** Pages of one account that may be queued. */
  waiting: 256,
  /** Long answers under way, each with a page in memory: of one account, and of the process. */
  answers: { account: 16, process: 256 },
  /** A client that reads nothing of a page for this long loses its answer and its connection, in ms. */
  stalledMs: 60_000,
} as const;

/** Pages of one account: being built, and queued. */
interface PageQueue {
  running: number;
  waiting: (() => void)[];
}

export interface PageLimit {
  /** Long answers under way. */
  count(): number;
  /**
   * Builds one page when the account may; the slot is free again before the client reads the page.
   * @param until aborts when the answer has ended; its page then leaves the queue.
   * @throws AppError `throttled` when too many pages wait; `unavailable` when the answer ended before its turn.
   */
  run<T>(accountID: string, until: AbortSignal, buildPage: () => Promise<T>): Promise<T>;
  /** Counts a long answer until the signal aborts. @throws AppError `throttled` when too many are under way. */
  begin(accountID: string, until: AbortSignal): void;
}

/** The error of work for an answer that has ended: it reaches no client and is no fault. */
export function answerEnded(): AppError {
  return new AppError('unavailable', 'The client has disconnected');
}

/** Resolves when a page that ended passes its slot on. */
function slotFree(queue: PageQueue, until: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const enter = (): void => {
      until.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      queue.waiting = queue.waiting.filter((one) => one !== enter);
      reject(answerEnded());
    };
    queue.waiting.push(enter);
    until.addEventListener('abort', leave, { once: true });
  });
}

export function createPageLimit(): PageLimit {
  const queues = new Map<string, PageQueue>();
  const answers = createSlots(pageLimits.answers);
  const release = (accountID: string, queue: PageQueue): void => {
    const next = queue.waiting.shift();
    if (next !== undefined) return next();
    queue.running -= 1;
    if (queue.running === 0) queues.delete(accountID);
  };
  return {
    count: () => answers.count(),
    begin(accountID, until) {
      const full = answers.take(accountID, until);
      if (full === null) return;
      const whose = full === 'account' ? 'this account' : 'the service';
      const message = `${pageLimits.answers[full]} long answers of ${whose} are under way`;
      throw new AppError('throttled', message, { retryAfterS: 2, hint: 'Ask for pages with ?limit.' });
    },
    async run(accountID, until, buildPage) {
      if (until.aborted) throw answerEnded();
      const queue = queues.get(accountID) ?? { running: 0, waiting: [] };
      queues.set(accountID, queue);
      if (queue.waiting.length >= pageLimits.waiting) {
        const message = `${pageLimits.waiting} answers of this account wait for their turn`;
        throw new AppError('throttled', message, { retryAfterS: 1 });
      }
      if (queue.running >= pageLimits.atOnce) await slotFree(queue, until);
      else queue.running += 1;
      try {
        return await buildPage();
      } finally {
        // Other events of the loop come before the next page.
        await nextLoopTurn();
        release(accountID, queue);
      }
    },
  };
}

export const exportLimits = { account: 4, process: 32 } as const;

export interface ExportLimit {
  /** Exports and reports under way. */
  count(): number;
  /** Counts an export or report until the signal aborts. @throws AppError `throttled`. */
  begin(accountID: string, until: AbortSignal): void;
}

export function createExportLimit(): ExportLimit {
  const slots = createSlots(exportLimits);
  return {
    count: () => slots.count(),
    begin(accountID, until) {
      const full = slots.take(accountID, until);
      if (full === null) return;
      const whose = full === 'account' ? 'the account' : 'the service';
      throw new AppError('throttled', `${exportLimits[full]} exports and reports of ${whose} run already`, {
        hint: 'Wait until one of them has ended.',
        retryAfterS: 10,
      });
    },
  };
}
