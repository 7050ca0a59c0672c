// How many long answers (exports, reports) are made at once: each is read page by page, so many at once would only make each
// other slow and hold connections. Whoever is over the limit is told to come back; nothing waits here.
import { AppError } from '../../src/core/errors.ts';

/** At once, for one account. */
const perAccount = 4;
/** At once, for the whole service. */
const inAll = 32;

export interface LongReads {
  /** Long answers that are being made now. */
  count(): number;
  /**
   * The same parts; the place is taken with the first one and given back at the end, however it comes.
   * @throws AppError `throttled` with the first part.
   */
  limit<T>(accountID: string, parts: AsyncIterable<T>): AsyncGenerator<T, void, undefined>;
}

/** Counts for the life of the service. */
export function createLongReads(): LongReads {
  const running = new Map<string, number>();
  let total = 0;
  const change = (accountID: string, by: 1 | -1): void => {
    const count = (running.get(accountID) ?? 0) + by;
    if (count > 0) running.set(accountID, count);
    else running.delete(accountID);
    total += by;
  };
  return {
    count: () => total,
    async *limit(accountID, parts) {
      if ((running.get(accountID) ?? 0) >= perAccount || total >= inAll) {
        throw new AppError('throttled', `${perAccount} exports and reports of the account run already`, {
          hint: 'Wait until one of them has ended.',
          retryAfterS: 10,
        });
      }
      change(accountID, 1);
      try {
        yield* parts;
      } finally {
        change(accountID, -1);
      }
    },
  };
}
