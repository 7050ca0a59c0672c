// Topic of commits that insert events: every such statement must carry it, so that other processes are notified.
import type { CommitNotice } from '../../../src/ports.ts';

export const eventTopic = 'events';

/** True as well when notifications may have been lost. */
export const mentionsEvents = (topics: CommitNotice['topics']): boolean =>
  topics?.includes(eventTopic) ?? true;
