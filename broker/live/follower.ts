// What live streams are told of events, in the order of their numbers and each once, whichever process committed it. What this
// process committed is told at once when nothing stands before it; anything else is read from the store, from the number up to
// which everything was told. A lost wake-up costs a second and never an event.
import { messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, News } from '../../src/ports.ts';
import type { LiveEvent } from '../core/live-message.ts';
import type { Presence } from '../core/live-presence.ts';
import { createWakeLoop } from '../notify/wake-loop.ts';
import { tellsOfEvents } from '../store/event-news.ts';
import { eventsByNumber, presencesWithin } from '../store/events-by-number.ts';
import { listMost } from '../store/fixed-list.ts';
import { lastEventNo } from '../store/slices.ts';

export interface FollowerOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** False: every event is committed by this process. */
  readonly isShared: boolean;
  onNews(listener: (news: News) => void): Cancel;
  hasReaders(): boolean;
  /** Events of all accounts that are not routine, each once, in the order of numbers. */
  offer(events: readonly LiveEvent[]): void;
}

export interface Follower {
  /** Everything up to here was told, or came before the first of the present readers. */
  toldUpTo(): number;
  /**
   * This process committed events of these numbers, routine ones too.
   * @param told makes those that are to be told; called at most once, and at once.
   */
  take(eventNos: readonly number[], told: () => readonly LiveEvent[]): void;
  /** Once a reader was entered: from when this resolves, everything that is committed is told. @throws AppError `storage`. */
  attend(): Promise<void>;
  /** The present of devices of these accounts that sent something since the last call; for several processes only. */
  presences(accountIDs: readonly string[]): AsyncGenerator<readonly Presence[], void, undefined>;
  close(): void;
}

/** Looks by itself so often: for what nobody told. */
const lookMs = 1000;
/** Waits for company. */
const gatherMs = 5;
/** Numbers that are looked through at a time. */
const spanMost = 50_000;

/** Where the telling stands; another object when it begins anew. */
interface Position {
  eventNo: number;
  /** The present of devices was told up to here. */
  presentNo: number;
}

function isNext(afterNo: number, eventNos: readonly number[]): boolean {
  return eventNos.every((eventNo, index) => eventNo === afterNo + 1 + index);
}

/** Follows this process alone: what it commits it hears of in order. */
function createOwnFollower({ offer }: FollowerOptions): Follower {
  let lastNo = 0;
  return {
    toldUpTo: () => lastNo,
    take(eventNos, told) {
      for (const eventNo of eventNos) lastNo = Math.max(lastNo, eventNo);
      offer(told());
    },
    attend: async () => undefined,
    async *presences() {
      // They are known from the commits themselves.
    },
    close: () => undefined,
  };
}

interface Reading extends Pick<FollowerOptions, 'db' | 'offer'> {
  /** False once the telling began anew. */
  isNow(from: Position): boolean;
}

/** Tells everything up to the newest event. */
async function readOn({ db, offer, isNow }: Reading, from: Position): Promise<void> {
  for (;;) {
    const newestNo = await lastEventNo(db);
    if (!isNow(from) || newestNo <= from.eventNo) return;
    const upTo = Math.min(newestNo, from.eventNo + spanMost);
    for await (const page of eventsByNumber(db, { scope: null, after: from.eventNo, upTo })) {
      if (!isNow(from)) return;
      from.eventNo = page.at(-1)?.eventNo ?? from.eventNo;
      offer(page);
    }
    if (!isNow(from)) return;
    from.eventNo = upTo;
  }
}

function createSharedFollower({ db, clock, log, hasReaders, offer, onNews }: FollowerOptions): Follower {
  /** Null: nobody reads. */
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
      // A commit that is told of meanwhile may be newer than what was read.
      while (isBehind) {
        isBehind = false;
        await readOn({ db, offer, isNow }, from);
      }
    } catch (thrown) {
      log.error('live-events-unread', { reason: messageOf(thrown) });
    } finally {
      isReading = false;
    }
  };
  const loop = createWakeLoop({ clock, everyMs: lookMs, gatherMs, run: pass });
  const stopListening = onNews(({ kinds, isOwn }) => {
    if (!isOwn && tellsOfEvents(kinds)) loop.wake();
  });
  const begin = async (): Promise<Position> => {
    const eventNo = await lastEventNo(db);
    at = { eventNo, presentNo: eventNo };
    loop.wake();
    return at;
  };
  return {
    toldUpTo: () => at?.eventNo ?? 0,
    take(eventNos, told) {
      const lastNo = Math.max(...eventNos);
      if (at === null || eventNos.length === 0 || lastNo <= at.eventNo) return;
      if (!isReading && isNext(at.eventNo, eventNos)) {
        at.eventNo = lastNo;
        return offer(told());
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
      const upTo = Math.min(from.eventNo, from.presentNo + spanMost);
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

/** Starts to follow. */
export function createFollower(options: FollowerOptions): Follower {
  return options.isShared ? createSharedFollower(options) : createOwnFollower(options);
}
