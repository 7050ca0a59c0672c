// Statements of feeds. Events are read by their numbers, so none that was committed late is passed over.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import { flagOf, numberOf, numberOrNull, readTexts, textOrNull } from '../../store/base/row.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import { isOpen } from '../../store/devices/credentials.ts';
import { type EventRow, toEvent } from '../../store/events/events.ts';
import { type NumberSpan, readSlice, slicesOfNumbers } from '../../store/slices/slices.ts';
import { feeds } from './feed-tables.ts';

export interface FeedKey {
  readonly accountID: string;
  readonly feedID: string;
}

const rows = shape({ ...feeds.columns, isOpen: flagOf, retainedDays: numberOrNull });
export type FeedRow = Infer<typeof rows>;

const isFeed = ({ accountID, feedID }: FeedKey): Statement =>
  sql`account_id = ${accountID} AND feed_id = ${feedID}`;

/** Begins a feed, once. */
export const insertFeed = (
  { accountID, feedID }: FeedKey,
  { clientID, sentNo, sentMs }: Pick<FeedRow, 'clientID' | 'sentNo' | 'sentMs'>,
): Statement => sql`INSERT INTO feeds (account_id, feed_id, client_id, sent_no, sent_ms)
  SELECT account_id, ${feedID}, ${clientID}, CAST(${sentNo} AS BIGINT), CAST(${sentMs} AS BIGINT) FROM accounts
  WHERE account_id = ${accountID} ON CONFLICT DO NOTHING`;

/** A feed with what its account says now; null: it has not begun. */
export const findFeed = (db: Database, key: FeedKey, nowS: number): Promise<FeedRow | null> =>
  rows.first(db)(sql`SELECT f.*, CASE WHEN ${isOpen(nowS)} THEN 1 ELSE 0 END AS is_open,
      CASE WHEN a.retained_days IS NULL OR a.retained_most_days < a.retained_days THEN a.retained_most_days
        ELSE a.retained_days END AS retained_days
    FROM feeds f JOIN accounts a ON a.account_id = f.account_id
    WHERE f.account_id = ${key.accountID} AND f.feed_id = ${key.feedID}`);

/** Moves it on; changes 0 rows when another process has. */
export const moveFeed = (
  { sentNo, ...key }: FeedKey & Pick<FeedRow, 'sentNo'>,
  to: { readonly eventNo: number; readonly ms: number; readonly lost: number },
): Statement => sql`UPDATE feeds SET sent_no = ${to.eventNo}, sent_ms = ${to.ms}, lost = lost + ${to.lost}
  WHERE ${isFeed(key)} AND sent_no = ${sentNo}`;

/** Events of an account in a span of numbers, in their order. */
export interface FeedPage {
  readonly events: readonly EventRow[];
  /** The span was read up to this number. */
  readonly upTo: number;
}

/** The first events of a span; those of deleted devices are left out. */
export async function readFeedPage(
  db: Database,
  accountID: string,
  span: NumberSpan & { readonly limit: number },
): Promise<FeedPage> {
  const slices = await slicesOfNumbers(db, span);
  for (const [at, { sliceNo, table }] of slices.entries()) {
    const found = await readSlice(
      db,
      sliceNo,
      sql`SELECT e.*, d.device_id FROM (SELECT * FROM ${table}
          WHERE event_no > ${span.after} AND event_no <= ${span.upTo}
            AND account_no = (SELECT account_no FROM accounts WHERE account_id = ${accountID})
          ORDER BY event_no LIMIT ${span.limit}) e LEFT JOIN devices d ON d.device_no = e.device_no
        ORDER BY e.event_no`,
    );
    const last = found.at(-1);
    if (last === undefined) continue;
    const events = found.filter((row) => textOrNull(row, 'device_id') !== null).map(toEvent);
    if (found.length >= span.limit) return { events, upTo: numberOf(last, 'event_no') };
    return { events, upTo: Math.min(span.upTo, (slices[at + 1]?.firstNo ?? Number.POSITIVE_INFINITY) - 1) };
  }
  return { events: [], upTo: span.upTo };
}

/** Numbers of a span that no event has any more: as many events of all accounts were removed, at most. */
export async function countMissing(db: Database, span: NumberSpan): Promise<number> {
  let missing = span.upTo - span.after;
  for (const { sliceNo, table } of await slicesOfNumbers(db, span)) {
    const [row] = await readSlice(
      db,
      sliceNo,
      sql`SELECT COUNT(*) AS kept FROM ${table} WHERE event_no > ${span.after} AND event_no <= ${span.upTo}`,
    );
    missing -= row === undefined ? 0 : numberOf(row, 'kept');
  }
  return missing;
}

/** Open alarms by device number; a device without any is absent. At least one device. */
export async function openAlarmsOf(
  db: Database,
  deviceNos: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const found = await db.read(sql`SELECT device_no, COUNT(*) AS alarms FROM alarms
    WHERE state <> 'closed' AND device_no IN (${valueList(deviceNos)}) GROUP BY device_no`);
  return new Map(found.map((row) => [numberOf(row, 'device_no'), numberOf(row, 'alarms')]));
}

/** Devices of which the target keeps messages. */
export const knownDevices = (db: Database, key: FeedKey): Promise<readonly string[]> =>
  readTexts(db)(sql`SELECT device_id FROM feed_devices WHERE ${isFeed(key)}`);

export const addKnownDevice = ({ accountID, feedID }: FeedKey, deviceID: string): Statement =>
  sql`INSERT INTO feed_devices (account_id, feed_id, device_id) VALUES (${accountID}, ${feedID}, ${deviceID})
    ON CONFLICT DO NOTHING`;

export const dropKnownDevice = (key: FeedKey, deviceID: string): Statement =>
  sql`DELETE FROM feed_devices WHERE ${isFeed(key)} AND device_id = ${deviceID}`;
