// Feeds the events of accounts into brokers of others: by their number, in order, each until it is acknowledged (MQTT QoS 1), and only
// then is the place stored. So nothing is lost while a target or this service is down. After a crash at most one page is sent again, in
// the same order: `eventNo` grows, so a receiver drops what it has by one comparison. A feed never delays an event, nor another feed.

import { dayMs } from '../../../src/core/durations.ts';
import { AppError, messageOf } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { counter, gauge } from '../../metrics/families.ts';
import type { FeedFormatName, FeedTarget } from '../../ports/feed-targets.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import type { EventRow } from '../../store/events/events.ts';
import { lastEventNo, nextUpTo } from '../../store/slices/slices.ts';
import type { FeedFormat, FeedPlace, Publication } from './core/feed-format.ts';
import { homeAssistantFormat } from './core/home-assistant.ts';
import { jsonFormat } from './core/json-format.ts';
import { thingsBoardFormat } from './core/thingsboard.ts';
import { type FeedSession, openFeedSession, sendAll } from './feed-session.ts';
import {
  countMissing,
  type FeedRow,
  findFeed,
  insertFeed,
  moveFeed,
  readFeedPage,
} from './feed-statements.ts';
import { createFeedStates, type FeedStates } from './feed-states.ts';

const limits = {
  firstMs: 1000,
  pollMs: 1000,
  /** While another bridge feeds, the account is closed, or vehicles wait for the disk. */
  idleMs: 5000,
  lagMostMs: 2000,
  /** Events that are under way, and their bytes: after a crash they may come twice. */
  eventsAtOnce: 200,
  bytesAtOnce: 1_000_000,
  /** Then states have their turn. */
  pagesAtOnce: 50,
  /** Event numbers looked through by one read. */
  spanMost: 50_000,
  /** Period of writes of a place that nothing was sent for. */
  saveMs: 60_000,
} as const;
const backoff = { baseMs: 1000, capMs: 60_000, floorMs: 500 } as const;

const formats: Readonly<Record<FeedFormatName, (place: FeedPlace) => FeedFormat>> = {
  json: jsonFormat,
  homeassistant: homeAssistantFormat,
  thingsboard: () => thingsBoardFormat,
};

/** `elsewhere`: another bridge feeds; `closed`: its account is not there, suspended or over. */
export const feedStates = ['connected', 'retrying', 'elsewhere', 'closed'] as const;
type FeedState = (typeof feedStates)[number];

interface FeedStanding {
  readonly target: FeedTarget;
  readonly state: FeedState;
  /** Why it is retrying; empty otherwise. */
  readonly fault: string;
  /** Since the start of this process. */
  readonly events: number;
  /** Event numbers that were not looked through yet, and since when, UTC ms; null: all were. */
  readonly behind: { readonly numbers: number; readonly sinceMs: number } | null;
}

interface Connection {
  readonly session: FeedSession;
  readonly states: FeedStates;
  /** As stored. */
  feed: FeedRow;
  /** Looked through up to this number. */
  scannedNo: number;
  savedMs: number;
  /** When it was opened, by the monotonic clock. */
  readonly sinceMs: number;
}

interface Feeder extends FeatureService {
  standing(): FeedStanding;
  /** Sends what is there now, for tests. */
  runNow(): Promise<void>;
}

/** The first of the events that may be under way at once, as publications. */
function cutToBytes(events: readonly EventRow[], format: FeedFormat) {
  const publications: Publication[] = [];
  let bytes = 0;
  for (const event of events) {
    const publication = format.event(event);
    bytes += Buffer.byteLength(publication.payload) + publication.topic.length;
    if (publications.length > 0 && bytes > limits.bytesAtOnce) break;
    publications.push(publication);
  }
  return publications;
}

function createFeeder(kernel: Kernel, target: FeedTarget): Feeder {
  const { archive, clock, db, entropy, leases, log, lagMs } = kernel;
  const { accountID, feedID } = target;
  const named = { accountID, feedID };
  const format = formats[target.format](target);
  let connection: Connection | null = null;
  let state: FeedState = 'elsewhere';
  let fault = '';
  let failures = 0;
  let events = 0;
  let behind: FeedStanding['behind'] = null;
  const ending = new AbortController();
  const nowMs = (): number => Math.round(clock.utcMs());

  const readFeed = async (): Promise<FeedRow | null> => {
    const nowS = Math.floor(nowMs() / 1000);
    const found = await findFeed(db, target, nowS);
    if (found !== null) return found;
    const sentNo = target.history ? 0 : await lastEventNo(db);
    await db.write([
      insertFeed(target, { clientID: `fleetward-${hexId(entropy.bytes(6))}`, sentNo, sentMs: nowMs() }),
    ]);
    return findFeed(db, target, nowS);
  };
  const disconnect = (reason: string): void => {
    connection?.session.end(reason);
    connection = null;
  };
  const rest = (as: 'elsewhere' | 'closed', reason: string): number => {
    disconnect(reason);
    state = as;
    behind = null;
    return limits.idleMs;
  };
  const connect = async (feed: FeedRow): Promise<Connection> => {
    const session = await openFeedSession(
      { target, clock, until: ending.signal },
      { clientID: feed.clientID, offline: format.offline },
    );
    if (format.online !== null) await sendAll(session, [format.online]);
    return {
      session,
      states: createFeedStates(kernel, target, format),
      feed,
      scannedNo: feed.sentNo,
      savedMs: clock.monoMs(),
      sinceMs: clock.monoMs(),
    };
  };
  /** @throws Error when another bridge has moved it. */
  const save = async (
    to: Connection,
    { ms, lost }: { readonly ms: number; readonly lost: number },
  ): Promise<void> => {
    const { feed, scannedNo } = to;
    const [moved] = await db.write([moveFeed(feed, { eventNo: scannedNo, ms, lost })]);
    if (moved?.changes !== 1) throw new Error('another bridge feeds too');
    to.feed = { ...feed, sentNo: scannedNo, sentMs: ms, lost: feed.lost + lost };
    to.savedMs = clock.monoMs();
  };
  /** Events that retention may have removed before they were sent: only of what was received so long ago that it may. */
  const lostIn = async ({ feed }: Connection, span: { readonly after: number; readonly upTo: number }) => {
    const { retainedDays, sentMs } = feed;
    if (retainedDays === null || sentMs >= nowMs() - Math.max(1, retainedDays) * dayMs) return 0;
    const atMost = await countMissing(archive, span);
    if (atMost > 0) log.warn('feed_events_removed', { ...named, atMost, after: span.after, upTo: span.upTo });
    return atMost;
  };
  /** The number of the newest event. */
  const newestAfter = async ({ sentMs }: FeedRow, after: number): Promise<number> => {
    const newestNo = await lastEventNo(db);
    behind = newestNo <= after ? null : { numbers: newestNo - after, sinceMs: sentMs };
    return newestNo;
  };
  /** Sends one page; true when there is more. */
  const sendPage = async (to: Connection): Promise<boolean> => {
    const after = to.scannedNo;
    const newestNo = await newestAfter(to.feed, after);
    if (newestNo <= after) {
      if (to.feed.sentNo < after && clock.monoMs() - to.savedMs >= limits.saveMs)
        await save(to, { ms: nowMs(), lost: 0 });
      return false;
    }
    const upTo = await nextUpTo(db, { after, upTo: newestNo }, limits.spanMost);
    const limit = Math.min(limits.eventsAtOnce, target.eventsPerS);
    const page = await readFeedPage(archive, accountID, { after, upTo, limit });
    const beganMs = clock.monoMs();
    const publications = cutToBytes(page.events, format);
    const { count, fault: ended } = await to.session.send(publications);
    const last = page.events[count - 1];
    to.scannedNo = count === page.events.length ? page.upTo : (last?.eventNo ?? after);
    const lost = await lostIn(to, { after, upTo: to.scannedNo });
    if (last !== undefined || lost > 0) await save(to, { ms: last?.receivedMs ?? to.feed.sentMs, lost });
    events += count;
    if (count > 0) failures = 0;
    if (ended !== null) throw ended;
    if (to.scannedNo >= newestNo) behind = null;
    const restMs = (publications.length / target.eventsPerS) * 1000 - (clock.monoMs() - beganMs);
    if (restMs > 1) await new Promise<void>((resolve) => void clock.after(restMs, resolve));
    return to.scannedNo < newestNo;
  };
  const mayFeed = (): boolean => !ending.signal.aborted && leases.holds('notifications');
  const feedOnce = async (): Promise<number> => {
    const feed = await readFeed();
    if (feed?.isOpen !== true) return rest('closed', 'the account is closed');
    if (connection?.session.isUp() === false) throw new AppError('unavailable', 'the connection was closed');
    if (connection === null) await newestAfter(feed, feed.sentNo);
    const to = (connection ??= await connect(feed));
    // Retention may have changed.
    to.feed = { ...to.feed, retainedDays: feed.retainedDays };
    if (fault !== '') log.info('feed_resumed', named);
    state = 'connected';
    fault = '';
    let hasMore = true;
    for (let pages = 0; hasMore && pages < limits.pagesAtOnce && mayFeed(); pages++)
      hasMore = lagMs() <= limits.lagMostMs && (await sendPage(to));
    await to.states.sendChanged((publications) => sendAll(to.session, publications));
    // A target that takes a login and closes is one that fails.
    if (clock.monoMs() - to.sinceMs > backoff.capMs) failures = 0;
    if (lagMs() > limits.lagMostMs) return limits.idleMs;
    return hasMore ? 0 : limits.pollMs;
  };
  const run = async (): Promise<number> => {
    if (!mayFeed()) return rest('elsewhere', 'another bridge feeds');
    try {
      return await feedOnce();
    } catch (thrown) {
      disconnect('it begins again');
      if (ending.signal.aborted) return limits.idleMs;
      const reason = messageOf(thrown);
      if (reason !== fault) log.warn('feed_retries', { ...named, host: target.host, reason });
      state = 'retrying';
      fault = reason;
      failures += 1;
      return retryDelayMs(backoff, { attempt: failures - 1, fraction: entropy.fraction() });
    }
  };
  const task = createPeriodicTask({ clock, firstMs: limits.firstMs, run });
  return {
    standing: () => ({ target, state, fault, events, behind }),
    runNow: () => task.runNow(),
    close() {
      // What is under way would hold up the end; it is sent again by the next start.
      ending.abort();
      return task.close();
    },
  };
}

interface Feeders extends FeatureService {
  readonly list: readonly Feeder[];
}

export const feeders: Slice<Feeders> = {
  create(kernel) {
    const list = kernel.feeds.map((target) => createFeeder(kernel, target));
    const lagS = ({ behind }: FeedStanding): number =>
      behind === null ? 0 : Math.max(0, kernel.clock.utcMs() - behind.sinceMs) / 1000;
    return {
      list,
      families() {
        const standings = list.map((one) => one.standing()).filter(({ state }) => state !== 'elsewhere');
        const series = (of: (one: FeedStanding) => number) =>
          standings.map((one) => ({ labels: { feed: one.target.feedID }, value: of(one) }));
        return [
          gauge(
            'feed_up',
            '1 while a feed is connected to its target',
            series(({ state }) => Number(state === 'connected')),
          ),
          gauge(
            'feed_lag_seconds',
            'Age of the oldest event that a feed has not sent, at most',
            series(lagS),
          ),
          counter(
            'feed_events',
            'Events that the target of a feed acknowledged',
            series(({ events }) => events),
          ),
        ];
      },
      queues() {
        if (list.length === 0) return [];
        const waiting = list.map((one) => one.standing()).filter(({ behind }) => behind !== null);
        const numbers = waiting.reduce((sum, { behind }) => sum + (behind?.numbers ?? 0), 0);
        return [{ name: 'feeds', waiting: numbers, oldestS: Math.max(0, ...waiting.map(lagS)) }];
      },
      close: async () => void (await Promise.all(list.map((one) => one.close()))),
    };
  },
};
