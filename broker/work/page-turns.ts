// Whose turn it is to read and build a page of a long answer: a few of one account at a time, in the order in which they
// came. Without it one caller with many long answers would fill the queue of the database, and everybody else's short
// questions would stand behind them. A turn is given back between two pages, so a client that reads slowly holds none; and
// an account has a bounded number of long answers under way, for each holds a page in memory.
import { setImmediate as turn } from 'node:timers/promises';
import { AppError } from '../../src/core/errors.ts';
import type { Cancel } from '../../src/ports.ts';

/** Pages of one account that are made at a time. */
const atOnceMost = 2;
/** Long answers of one account under way. */
const answersMost = 16;

interface Line {
  running: number;
  readonly waiting: (() => void)[];
}

export interface PageTurns {
  /** Does the work when it is the account's turn. */
  take<T>(accountID: string, work: () => Promise<T>): Promise<T>;
  /** Begins a long answer; gives the way to end it. @throws AppError `throttled` when too many are under way. */
  begin(accountID: string): Cancel;
}

/** Nobody waits yet. */
export function createPageTurns(): PageTurns {
  const lines = new Map<string, Line>();
  const answers = new Map<string, number>();
  const giveBack = (accountID: string, line: Line): void => {
    const next = line.waiting.shift();
    if (next !== undefined) return next();
    line.running -= 1;
    if (line.running === 0) lines.delete(accountID);
  };
  const count = (accountID: string, change: 1 | -1): void => {
    const left = (answers.get(accountID) ?? 0) + change;
    if (left > 0) answers.set(accountID, left);
    else answers.delete(accountID);
  };
  return {
    begin(accountID) {
      if ((answers.get(accountID) ?? 0) >= answersMost) {
        const message = `${answersMost} long answers of this account are under way`;
        throw new AppError('throttled', message, { retryAfterS: 2, hint: 'Ask for pages with ?limit.' });
      }
      count(accountID, 1);
      let isOpen = true;
      return () => {
        if (isOpen) count(accountID, -1);
        isOpen = false;
      };
    },
    async take(accountID, work) {
      const line = lines.get(accountID) ?? { running: 0, waiting: [] };
      lines.set(accountID, line);
      // The place of one that ends goes to the next in line.
      if (line.running >= atOnceMost) await new Promise<void>((resolve) => void line.waiting.push(resolve));
      else line.running += 1;
      try {
        return await work();
      } finally {
        // What else came meanwhile is looked at before the next page is begun.
        await turn();
        giveBack(accountID, line);
      }
    },
  };
}
