// Feeds the events of accounts into brokers of others: by their number, in order, each until it is acknowledged (MQTT QoS 1), and only
// then is the place stored. So nothing is lost while a target or this service is down. After a crash at most one page is sent again, in
// the same order: `eventNo` grows, so a receiver drops what it has by one comparison. A feed never delays an event, nor another feed.

import { AppError, messageOf } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import { retryDelayMs } from '../../../src/core/retry-delay.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { counter, gauge } from '../../metrics/families.ts';
import type { FeedFormatName, FeedTarget } from '../../ports/feed-targets.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import type { FeedFormat, FeedPlace } from './core/feed-format.ts';
import { homeAssistantFormat } from './core/home-assistant.ts';
import { jsonFormat } from './core/json-format.ts';
import { thingsBoardFormat } from './core/thingsboard.ts';
import { type Behind, behindOf, createFeedPages, type FeedPages } from './feed-pages.ts';
import { type FeedSession, openFeedSession, sendAll } from './feed-session.ts';
import { type FeedRow, findFeed, insertFeed } from './feed-statements.ts';
import { createFeedStates, type FeedStates } from './feed-states.ts';

const limits = {
  firstMs: 1000,
  pollMs: 1000,
  /** While another bridge feeds, the account is closed, or vehicles wait for the disk. */
  idleMs: 5000,
  lagMostMs: 2000,
  /** Then states have their turn. */
  pagesAtOnce: 50,
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
  readonly behind: Behind;
}

interface Connection {
  readonly session: FeedSession;
  readonly pages: FeedPages;
  readonly states: FeedStates;
  /** When it was opened, by the monotonic clock. */
  readonly sinceMs: number;
}

interface Feeder extends FeatureService {
  standing(): FeedStanding;
  /** Sends what is there now, for tests. */
  runNow(): Promise<void>;
}

/** Begins a feed at its first call. Null: there is no such account. */
async function readFeed({ db, clock, entropy }: Kernel, target: FeedTarget): Promise<FeedRow | null> {
  const nowMs = Math.round(clock.utcMs());
  const found = await findFeed(db, target, Math.floor(nowMs / 1000));
  if (found !== null) return found;
  const sentNo = target.history ? 0 : await lastEventNo(db);
  const clientID = `fleetward-${hexId(entropy.bytes(6))}`;
  await db.write([insertFeed(target, { clientID, sentNo, sentMs: nowMs })]);
  return findFeed(db, target, Math.floor(nowMs / 1000));
}

function createFeeder(kernel: Kernel, target: FeedTarget): Feeder {
  const { clock, db, entropy, leases, log, lagMs } = kernel;
  const { accountID, feedID, host } = target;
  const format = formats[target.format](target);
  const ending = new AbortController();
  let connection: Connection | null = null;
  let standing: FeedStanding = { target, state: 'elsewhere', fault: '', events: 0, behind: null };
  let failures = 0;

  const onSent = (count: number): void => {
    standing = { ...standing, events: standing.events + count };
    if (count > 0) failures = 0;
  };
  const disconnect = (reason: string): void => {
    connection?.session.end(reason);
    connection = null;
  };
  const rest = (state: 'elsewhere' | 'closed', reason: string): number => {
    disconnect(reason);
    standing = { ...standing, state, fault: '', behind: null };
    return limits.idleMs;
  };
  const connect = async (feed: FeedRow): Promise<Connection> => {
    const ports = { target, clock, until: ending.signal };
    const session = await openFeedSession(ports, { clientID: feed.clientID, offline: format.offline });
    if (format.online !== null) await sendAll(session, [format.online]);
    const pages = createFeedPages(kernel, { target, format, session, feed, onSent });
    return { session, pages, states: createFeedStates(kernel, target, format), sinceMs: clock.monoMs() };
  };
  const mayFeed = (): boolean => !ending.signal.aborted && leases.holds('notifications');
  const sendEvents = async ({ pages }: Connection, retainedDays: number | null): Promise<boolean> => {
    for (let count = 0; count < limits.pagesAtOnce && mayFeed() && lagMs() <= limits.lagMostMs; count++) {
      standing = { ...standing, behind: await pages.behind() };
      if (!(await pages.send(retainedDays))) break;
    }
    standing = { ...standing, behind: await pages.behind() };
    return standing.behind !== null;
  };
  const feedOnce = async (): Promise<number> => {
    const feed = await readFeed(kernel, target);
    if (feed?.isOpen !== true) return rest('closed', 'the account is closed');
    if (connection?.session.isUp() === false) throw new AppError('unavailable', 'the connection was closed');
    if (connection === null) {
      const behind = await behindOf(db, { after: feed.sentNo, sinceMs: feed.sentMs });
      standing = { ...standing, behind };
    }
    const to = (connection ??= await connect(feed));
    if (standing.fault !== '') log.info('feed_resumed', { accountID, feedID });
    standing = { ...standing, state: 'connected', fault: '' };
    const hasMore = await sendEvents(to, feed.retainedDays);
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
      if (reason !== standing.fault) log.warn('feed_retries', { accountID, feedID, host, reason });
      standing = { ...standing, state: 'retrying', fault: reason };
      failures += 1;
      return retryDelayMs(backoff, { attempt: failures - 1, fraction: entropy.fraction() });
    }
  };
  const task = createPeriodicTask({ clock, firstMs: limits.firstMs, run });
  return {
    standing: () => standing,
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
