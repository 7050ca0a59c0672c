// Feeds events to live streams, in the order of their numbers and each once, whichever process committed them. A commit of this
// process is passed on at once if it is next in order; everything else is read from the store. A lost wake costs a second and
// never an event.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, CommitNotice, Database, Log } from '../../src/ports.ts';
import type { LiveEvent } from '../core/live/live-message.ts';
import type { Presence } from '../core/live/live-presence.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { listMost } from '../store/base/fixed-list.ts';
import { mentionsEvents } from '../store/events/event-topic.ts';
import { eventsByNumber, presencesWithin } from '../store/events/events-by-number.ts';
import { lastEventNo, nextUpTo } from '../store/slices/slices.ts';

export interface FollowerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** False: every event is committed by this process. */
  readonly isShared: boolean;
  onCommit(listener: (commit: CommitNotice) => void): Cancel;
  hasReaders(): boolean;
  /** Events of all accounts that are not routine, each once, in the order of numbers. */
  offer(events: readonly LiveEvent[]): void;
}

export interface Follower {
  /** Everything up to here was passed on, or came before the first of the present readers. */
  sentUpTo(): number;
  /**
   * This process committed events of these numbers, routine ones too.
   * @param makeEvents makes the events to pass on; called at most once, and synchronously.
   */
  handleCommit(eventNos: readonly number[], makeEvents: () => readonly LiveEvent[]): void;
  /** Call after a reader was added: once this resolves, every later commit is passed on. @throws AppError `storage`. */
  attend(): Promise<void>;
  /** The present of devices of these accounts that sent something since the last call; for several processes only. */
  presences(accountIDs: readonly string[]): AsyncGenerator<readonly Presence[], void, undefined>;
  close(): void;
}

/** Period without a wake: for lost notifications. */
const pollMs = 1000;
/** Delay after a wake, so that several make one read. */
const gatherMs = 5;
/** Event numbers in one read. */
const spanMost = 50_000;

/** Read cursor; replaced on restart. */
interface Position {
  eventNo: number;
  /** Cursor of the device states. */
  presentNo: number;
}

function isNext(afterNo: number, eventNos: readonly number[]): boolean {
  return eventNos.every((eventNo, index) => eventNo === afterNo + 1 + index);
}

/** For one process alone: its commits arrive in order. */
function createOwnFollower({ offer }: FollowerOptions): Follower {
  let lastNo = 0;
  return {
    sentUpTo: () => lastNo,
    handleCommit(eventNos, makeEvents) {
      for (const eventNo of eventNos) lastNo = Math.max(lastNo, eventNo);
      offer(makeEvents());
    },
    attend: async () => undefined,
    async *presences() {
      // They are known from the commits themselves.
    },
    close: () => undefined,
  };
}

interface Reading extends Pick<FollowerOptions, 'db' | 'offer'> {
  /** False once the cursor was replaced. */
  isNow(from: Position): boolean;
}

/** Reads and passes on everything up to the newest event. */
async function readOn({ db, offer, isNow }: Reading, from: Position): Promise<void> {
  for (;;) {
    const newestNo = await lastEventNo(db);
    if (!isNow(from) || newestNo <= from.eventNo) return;
    const upTo = await nextUpTo(db, { after: from.eventNo, upTo: newestNo }, spanMost);
    for await (const page of eventsByNumber(db, { scope: null, after: from.eventNo, upTo })) {
      if (!isNow(from)) return;
      from.eventNo = page.at(-1)?.eventNo ?? from.eventNo;
      offer(page);
    }
    if (!isNow(from)) return;
    from.eventNo = upTo;
  }
}

function createSharedFollower({ db, clock, log, hasReaders, offer, onCommit }: FollowerOptions): Follower {
  /** Null: there are no readers. */
  let position: Promise<Position> | null = null;
  let at: Position | null = null;
  let isReading = false;
  /** Something was committed that the pass which runs may not have seen. */
  let isBehind = false;

  const isNow = (from: Position): boolean => at === from;
  const pass = async (): Promise<void> => {
    if (!hasReaders()) {
      position = null;
      at = null;
    }
    const from = at;
    if (from === null) return;
    isReading = true;
    try {
      isBehind = true;
      // A commit that is notified meanwhile may be newer than what was read.
      while (isBehind) {
        isBehind = false;
        await readOn({ db, offer, isNow }, from);
      }
    } catch (thrown) {
      log.error('live_events_unreadable', { reason: messageOf(thrown) });
    } finally {
      isReading = false;
    }
  };
  const loop = createPeriodicTask({
    clock,
    firstMs: gatherMs,
    gatherMs,
    run: () => pass().then(() => pollMs),
  });
  const stopListening = onCommit(({ topics, isOwn }) => {
    if (!isOwn && mentionsEvents(topics)) loop.wake();
  });
  const begin = async (): Promise<Position> => {
    const eventNo = await lastEventNo(db);
    at = { eventNo, presentNo: eventNo };
    loop.wake();
    return at;
  };
  return {
    sentUpTo: () => at?.eventNo ?? 0,
    handleCommit(eventNos, makeEvents) {
      const lastNo = Math.max(...eventNos);
      if (at === null || eventNos.length === 0 || lastNo <= at.eventNo) return;
      if (!isReading && isNext(at.eventNo, eventNos)) {
        at.eventNo = lastNo;
        return offer(makeEvents());
      }
      isBehind = true;
      if (!isReading) loop.wake();
    },
    async attend() {
      position ??= begin();
      const begun = position;
      await begun.catch((thrown: unknown) => {
        if (position === begun) position = null;
        throw thrown;
      });
    },
    async *presences(accountIDs) {
      const from = at;
      if (from === null) return;
      const upTo = await nextUpTo(db, { after: from.presentNo, upTo: from.eventNo }, spanMost);
      if (upTo === from.presentNo) return;
      for (let start = 0; start < accountIDs.length; start += listMost) {
        const some = accountIDs.slice(start, start + listMost);
        yield* presencesWithin(db, { accountIDs: some, after: from.presentNo, upTo });
      }
      from.presentNo = upTo;
    },
    close() {
      stopListening();
      void loop.close();
    },
  };
}

export function createFollower(options: FollowerOptions): Follower {
  return options.isShared ? createSharedFollower(options) : createOwnFollower(options);
}
