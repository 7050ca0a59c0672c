// Who wants to hear of commits, and what a commit has to tell: the words of those of its statements that changed rows. It
// knows no database and must never hold up, nor fail, the write that it tells of.
import type { Cancel, Database, News, Statement, Wakes, WriteResult } from '../ports.ts';

export interface NewsBoard extends Wakes {
  tell(news: News): void;
}

/** Nobody listens yet. */
export function createNewsBoard(): NewsBoard {
  const listeners = new Set<(news: News) => void>();
  return {
    onNews(listener): Cancel {
      // One function may listen twice.
      const own = (news: News): void => listener(news);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell(news) {
      for (const listener of listeners) {
        try {
          listener(news);
        } catch {
          // What is committed stays committed, whoever cannot bear to hear of it.
        }
      }
    },
  };
}

/** The words of a batch, each once. */
export function newsIn(batch: readonly Statement[], results: readonly WriteResult[]): readonly string[] {
  const kinds = new Set<string>();
  for (const [at, { news }] of batch.entries()) {
    if (news !== undefined && (results[at]?.changes ?? 0) > 0) kinds.add(news);
  }
  return [...kinds];
}

/** Tells listeners in this process of what it wrote itself. */
export function telling(board: NewsBoard, write: Database['write']): Database['write'] {
  return async (batch) => {
    const results = await write(batch);
    const kinds = newsIn(batch, results);
    if (kinds.length > 0) board.tell({ kinds, isOwn: true });
    return results;
  };
}
