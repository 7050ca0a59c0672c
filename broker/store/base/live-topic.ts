// Topic of commits that change what live streams send beside events: every such statement must carry it, so that streams of all
// processes send it at once. A lost notification costs a second.
import type { CommitNotice, Statement } from '../../../src/ports.ts';

const liveTopic = 'live';

/** The statement, whose commit live streams are notified of. */
export const followed = (statement: Statement): Statement => ({ ...statement, topic: liveTopic });

/** True as well when notifications may have been lost. */
export const mentionsLive = (topics: CommitNotice['topics']): boolean => topics?.includes(liveTopic) ?? true;
