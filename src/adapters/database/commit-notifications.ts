// Notifies listeners of commits by topic: the topics of a batch are those of its statements that changed rows. A listener must
// never delay or fail the write.
import type {
  Cancel,
  CommitNotice,
  CommitNotifications,
  Database,
  Statement,
  WriteResult,
} from '../../ports.ts';

export interface NotificationBoard extends CommitNotifications {
  notify(commit: CommitNotice): void;
}

export function createNotificationBoard(): NotificationBoard {
  const listeners = new Set<(commit: CommitNotice) => void>();
  return {
    onCommit(listener): Cancel {
      // The same function may be registered twice.
      const own = (commit: CommitNotice): void => listener(commit);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    notify(commit) {
      for (const listener of listeners) {
        try {
          listener(commit);
        } catch {
          // The commit is done; a failing listener must not turn it into an error.
        }
      }
    },
  };
}

/** Topics of a batch, each once. */
export function changedTopics(
  batch: readonly Statement[],
  results: readonly WriteResult[],
): readonly string[] {
  const topics = new Set<string>();
  for (const [at, { topic }] of batch.entries()) {
    if (topic !== undefined && (results[at]?.changes ?? 0) > 0) topics.add(topic);
  }
  return [...topics];
}

/** A write function that notifies this process's listeners of its own commits. */
export function notifying(board: NotificationBoard, write: Database['write']): Database['write'] {
  return async (batch) => {
    const results = await write(batch);
    const topics = changedTopics(batch, results);
    if (topics.length > 0) board.notify({ topics, isOwn: true });
    return results;
  };
}
