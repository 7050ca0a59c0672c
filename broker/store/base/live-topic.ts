// Topic of commits that change anything other than events on live streams. Every such statement must carry it, so all processes
// send the change at once. A lost notification costs a second.
import type { CommitNotice, Statement } from '../../../src/ports.ts';

const liveTopic = 'live';

/** The statement, whose commit live streams are notified of. */
export const followed = (statement: Statement): Statement => ({ ...statement, topic: liveTopic });

/** True as well when notifications may have been lost. */
export const mentionsLive = (topics: CommitNotice['topics']): boolean => topics?.includes(liveTopic) ?? true;
