// Statements that remove events past the retention of their account, in small batches by number. Removed events stay known as
// stored in `boots.up_to` and `stored_ranges`, which these statements never change.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { touchRemoved } from '../base/record-revision.ts';
import { numberOf, readNumber, textOf } from '../base/row.ts';
import { changeRevision } from '../devices/fleet.ts';
import { tableOf } from '../slices/slices.ts';

/** An account with limited retention. */
export interface RetainingAccount {
  readonly accountID: string;
  readonly days: number;
}

/** The accounts with a limit: the lower of their own and the operator's. */
export async function retainingAccounts(db: Database): Promise<readonly RetainingAccount[]> {
  const rows = await db.read(sql`SELECT account_id, CASE
      WHEN retained_days IS NULL THEN retained_most_days
      WHEN retained_most_days IS NULL OR retained_days < retained_most_days THEN retained_days
      ELSE retained_most_days END AS days
    FROM accounts WHERE retained_days IS NOT NULL OR retained_most_days IS NOT NULL ORDER BY account_id`);
  return rows.map((row) => ({ accountID: textOf(row, 'account_id'), days: numberOf(row, 'days') }));
}

/** Numbers of some devices of an account, in order, after `afterNo`. */
export async function deviceNosAfter(
  db: Database,
  page: { readonly accountID: string; readonly afterNo: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await db.read(sql`SELECT device_no FROM devices
    WHERE account_id = ${page.accountID} AND device_no > ${page.afterNo} ORDER BY device_no LIMIT ${page.limit}`);
  return rows.map((row) => numberOf(row, 'device_no'));
}

/** An event that may be past its retention. */
export interface OldEvent {
  readonly eventNo: number;
  readonly timestampMs: number;
  readonly receivedMs: number;
}

/** Cursor in a device's events of a slice by time: after that one, and before `beforeMs`. */
export interface OldSpan {
  readonly sliceNo: number;
  readonly deviceNo: number;
  readonly after: { readonly timestampMs: number; readonly eventNo: number };
  readonly beforeMs: number;
  readonly limit: number;
}

const toOldEvent = (row: Row): OldEvent => ({
  eventNo: numberOf(row, 'event_no'),
  timestampMs: numberOf(row, 'timestamp_ms'),
  receivedMs: numberOf(row, 'received_ms'),
});

/** The next events of a device by event time. */
export async function oldEvents(db: Database, span: OldSpan): Promise<readonly OldEvent[]> {
  const { sliceNo, deviceNo, after, beforeMs, limit } = span;
  const rows = await db.read(sql`SELECT e.event_no, e.timestamp_ms, e.received_ms FROM ${tableOf(sliceNo)} e
    WHERE e.device_no = ${deviceNo} AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
      AND e.timestamp_ms < ${beforeMs}
    ORDER BY e.timestamp_ms, e.event_no LIMIT ${limit}`);
  return rows.map(toOldEvent);
}

/** Most events removed by one batch. */
export const removedAtOnce = 100;

const isRemoved = `device_no = $1 AND event_no IN (${Array.from(
  { length: removedAtOnce },
  (_unused, at) => `$${at + 2}`,
).join(', ')})`;

/** The device, and the slice. */
export interface OldOf {
  readonly sliceNo: number;
  readonly deviceNo: number;
}

/** Removes at most `removedAtOnce` events of a device; one batch. */
export function removeEvents(
  { sliceNo, deviceNo }: OldOf,
  events: readonly OldEvent[],
): readonly Statement[] {
  const [first] = events;
  if (first === undefined) return [];
  // One text whatever the count: padded with the first number.
  const numbers = Array.from({ length: removedAtOnce }, (_unused, at) => (events[at] ?? first).eventNo);
  return [
    { sql: `DELETE FROM ${tableOf(sliceNo).sql} WHERE ${isRemoved}`, params: [deviceNo, ...numbers] },
    changeRevision(deviceNo),
    touchRemoved(deviceNo),
  ];
}

/** Number of unreadable payloads of a device received before `beforeMs`. */
export async function countOldPayloads(db: Database, deviceNo: number, beforeMs: number): Promise<number> {
  return (
    (await readNumber(db)(sql`SELECT COUNT(*) AS old FROM quarantine
    WHERE device_no = ${deviceNo} AND received_ms < ${beforeMs}`)) ?? 0
  );
}

/** Removes them. */
export function removePayloads(deviceNo: number, beforeMs: number): Statement {
  return sql`DELETE FROM quarantine WHERE device_no = ${deviceNo} AND received_ms < ${beforeMs}`;
}
