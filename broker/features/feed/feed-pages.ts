// The events of one connection of a feed, page by page: read by number, sent, and the place stored once they are acknowledged.
import { dayMs } from '../../../src/core/durations.ts';
import type { Database } from '../../../src/ports.ts';
import type { Kernel } from '../../api/base/api-services.ts';
import type { FeedTarget } from '../../ports/feed-targets.ts';
import type { EventRow } from '../../store/events/events.ts';
import { lastEventNo, nextUpTo } from '../../store/slices/slices.ts';
import type { FeedFormat, Publication } from './core/feed-format.ts';
import type { FeedSession } from './feed-session.ts';
import { countMissing, type FeedRow, moveFeed, readFeedPage } from './feed-statements.ts';

const limits = {
  /** Events that are under way, and their bytes: after a crash they may come twice. */
  eventsAtOnce: 200,
  bytesAtOnce: 1_000_000,
  /** Event numbers looked through by one read. */
  spanMost: 50_000,
  /** Period of writes of a place that nothing was sent for. */
  saveMs: 60_000,
} as const;

/** Event numbers that were not looked through yet, and since when, UTC ms; null: all were. */
export type Behind = { readonly numbers: number; readonly sinceMs: number } | null;

/** How far a place is behind the newest event of all accounts. */
export async function behindOf(
  db: Database,
  { after, sinceMs }: { readonly after: number; readonly sinceMs: number },
): Promise<Behind> {
  const newestNo = await lastEventNo(db);
  return newestNo <= after ? null : { numbers: newestNo - after, sinceMs };
}

/** The first of the events that may be under way at once, as publications. */
function cutToBytes(events: readonly EventRow[], format: FeedFormat): readonly Publication[] {
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

export interface FeedPages {
  /** How far it is behind. */
  behind(): Promise<Behind>;
  /**
   * Sends one page; true when there is more.
   * @param retainedDays of the account now; null: for ever.
   * @throws AppError `unavailable`, `storage`; Error when another bridge has moved the feed.
   */
  send(retainedDays: number | null): Promise<boolean>;
}

interface PagesOptions {
  readonly target: FeedTarget;
  readonly format: FeedFormat;
  readonly session: FeedSession;
  /** As it is stored. */
  readonly feed: FeedRow;
  /** Called with the number of events that were acknowledged. */
  readonly onSent: (count: number) => void;
}

export function createFeedPages(kernel: Kernel, options: PagesOptions): FeedPages {
  const { archive, clock, db, log } = kernel;
  const { target, format, session, onSent } = options;
  const { accountID, feedID } = target;
  let { feed } = options;
  /** Looked through up to this number. */
  let scannedNo = feed.sentNo;
  let savedMs = clock.monoMs();
  const nowMs = (): number => Math.round(clock.utcMs());

  const save = async (sentMs: number, lost: number): Promise<void> => {
    const [moved] = await db.write([moveFeed(feed, { eventNo: scannedNo, ms: sentMs, lost })]);
    if (moved?.changes !== 1) throw new Error('another bridge feeds too');
    feed = { ...feed, sentNo: scannedNo, sentMs };
    savedMs = clock.monoMs();
  };
  /** Events that retention may have removed before they were sent: only of what was received so long ago that it may. */
  const lostIn = async (after: number, retainedDays: number | null): Promise<number> => {
    if (retainedDays === null || feed.sentMs >= nowMs() - Math.max(1, retainedDays) * dayMs) return 0;
    const atMost = await countMissing(archive, { after, upTo: scannedNo });
    if (atMost > 0) log.warn('feed_events_removed', { accountID, feedID, atMost, after, upTo: scannedNo });
    return atMost;
  };
  const pause = async (ms: number): Promise<void> => {
    if (ms > 1) await new Promise<void>((resolve) => void clock.after(ms, resolve));
  };
  return {
    behind: () => behindOf(db, { after: scannedNo, sinceMs: feed.sentMs }),
    async send(retainedDays) {
      const after = scannedNo;
      const newestNo = await lastEventNo(db);
      if (newestNo <= after) {
        if (feed.sentNo < after && clock.monoMs() - savedMs >= limits.saveMs) await save(nowMs(), 0);
        return false;
      }
      const upTo = await nextUpTo(db, { after, upTo: newestNo }, limits.spanMost);
      const limit = Math.min(limits.eventsAtOnce, target.eventsPerS);
      const page = await readFeedPage(archive, accountID, { after, upTo, limit });
      const beganMs = clock.monoMs();
      const { count, fault } = await session.send(cutToBytes(page.events, format));
      const last = page.events[count - 1];
      scannedNo = count === page.events.length ? page.upTo : (last?.eventNo ?? after);
      const lost = await lostIn(after, retainedDays);
      if (last !== undefined || lost > 0) await save(last?.receivedMs ?? feed.sentMs, lost);
      onSent(count);
      if (fault !== null) throw fault;
      await pause((count / target.eventsPerS) * 1000 - (clock.monoMs() - beganMs));
      return scannedNo < newestNo;
    },
  };
}
