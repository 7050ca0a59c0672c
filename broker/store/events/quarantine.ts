// Unreadable payloads and events: kept as received, counted and listed, removed only by age or by a person. Number and bytes of a
// device are bounded; beyond that nothing is kept, so nothing may be acknowledged.
import type { Database, Row, Statement, WriteResult } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { bytesOf, numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';

/** Payloads kept per device. */
export const quarantineMost = 1000;

/** Bytes of payloads kept per device; the last one may go beyond it. */
export const quarantineBytesMost = 4 * 1024 * 1024;

/** Longest reason kept, in characters. */
const reasonMost = 500;

export interface QuarantineRow {
  readonly quarantineNo: number;
  readonly topic: string;
  readonly receivedMs: number;
  readonly reason: string;
  readonly payload: Uint8Array;
}

/** Between two occurrences about one device, in ms. */
const noticeRestMs = 3_600_000;

/** A payload to keep. */
export interface QuarantineDraft extends Omit<QuarantineRow, 'quarantineNo'> {
  /** True: it was acknowledged already, and is kept whatever the limits. */
  readonly isForced?: boolean;
}

/**
 * Keeps one payload; the same bytes of the same device are kept once, and a full quarantine takes nothing. The statements belong
 * in one batch, see `isKept`.
 */
export function insertQuarantine(deviceNo: number, entry: QuarantineDraft): readonly Statement[] {
  const { payload, receivedMs } = entry;
  const same = sql`device_no = ${deviceNo} AND bytes = ${payload.length} AND payload = ${payload}`;
  const isFull = sql`(SELECT COUNT(*) FROM quarantine WHERE device_no = ${deviceNo}) > ${quarantineMost}
    OR (SELECT SUM(bytes) FROM quarantine WHERE device_no = ${deviceNo}) - ${payload.length} >= ${quarantineBytesMost}`;
  const isSurplus = sql`(SELECT COUNT(*) FROM quarantine WHERE ${same}) > 1`;
  return [
    sql`INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
      VALUES (${deviceNo}, ${entry.topic}, ${receivedMs}, ${entry.reason.slice(0, reasonMost)},
        ${payload.length}, ${payload})`,
    // Not a condition of the insert: in the list of a SELECT a server does not know the type of the bytes.
    sql`DELETE FROM quarantine WHERE quarantine_no = (SELECT MAX(quarantine_no) FROM quarantine WHERE ${same})
      AND (${isSurplus}${entry.isForced === true ? sql`` : sql` OR ${isFull}`})`,
    sql`UPDATE quarantine SET bytes = bytes WHERE ${same}`,
    sql`UPDATE devices SET unreadable_ms = ${receivedMs}
      WHERE device_no = ${deviceNo} AND unreadable_ms <= ${receivedMs - noticeRestMs}`,
  ];
}

/** True when the payload is on disk. @param results of `insertQuarantine`. */
export const isKept = (results: readonly WriteResult[]): boolean => (results[2]?.changes ?? 0) > 0;

/** The kept payloads of a device, newest first. */
export async function listQuarantine(
  db: Database,
  key: DeviceKey & { readonly limit: number },
): Promise<readonly QuarantineRow[]> {
  const rows = await db.read(sql`
    SELECT q.* FROM quarantine q JOIN devices d ON d.device_no = q.device_no
    WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}
    ORDER BY q.quarantine_no DESC LIMIT ${key.limit}`);
  return rows.map((row) => ({
    quarantineNo: numberOf(row, 'quarantine_no'),
    topic: textOf(row, 'topic'),
    receivedMs: numberOf(row, 'received_ms'),
    reason: textOf(row, 'reason'),
    payload: bytesOf(row, 'payload'),
  }));
}

/** A kept payload without its bytes. */
export interface QuarantineEntry {
  readonly quarantineNo: number;
  readonly deviceID: string;
  readonly topic: string;
  readonly receivedMs: number;
  readonly reason: string;
  /** Length of the payload. */
  readonly bytes: number;
}

const toEntry = (row: Row): QuarantineEntry => ({
  quarantineNo: numberOf(row, 'quarantine_no'),
  deviceID: textOf(row, 'device_id'),
  topic: textOf(row, 'topic'),
  receivedMs: numberOf(row, 'received_ms'),
  reason: textOf(row, 'reason'),
  bytes: numberOf(row, 'bytes'),
});

/** Entries of the devices that the scope shows, newest first, with numbers below `before`. */
export async function listEntries(
  db: Database,
  scope: Scope,
  page: { readonly deviceID: string | null; readonly before: number; readonly limit: number },
): Promise<readonly QuarantineEntry[]> {
  const ofDevice = page.deviceID === null ? sql`` : sql` AND d.device_id = ${page.deviceID}`;
  const rows = await db.read(sql`
    SELECT q.quarantine_no, d.device_id, q.topic, q.received_ms, q.reason, q.bytes
    FROM devices d JOIN quarantine q ON q.device_no = d.device_no
    WHERE ${visible(scope)}${ofDevice} AND q.quarantine_no < ${page.before}
    ORDER BY q.quarantine_no DESC LIMIT ${page.limit}`);
  return rows.map(toEntry);
}

/** One entry with its payload, or null, also when the scope does not show its device. */
export async function findEntry(
  db: Database,
  scope: Scope,
  quarantineNo: number,
): Promise<(QuarantineEntry & { readonly payload: Uint8Array }) | null> {
  const [row] = await db.read(sql`SELECT q.*, d.device_id FROM quarantine q
    JOIN devices d ON d.device_no = q.device_no WHERE ${visible(scope)} AND q.quarantine_no = ${quarantineNo}`);
  return row === undefined ? null : { ...toEntry(row), payload: bytesOf(row, 'payload') };
}

/** Entries to drop: one of a device, or with null all of them. */
export interface Drop extends DeviceKey {
  readonly quarantineNo: number | null;
}

function isDropped({ accountID, deviceID, quarantineNo }: Drop): Statement {
  const one = quarantineNo === null ? sql`` : sql` AND quarantine_no = ${quarantineNo}`;
  return sql`device_no IN (SELECT device_no FROM devices
    WHERE account_id = ${accountID} AND device_id = ${deviceID})${one}`;
}

/** Condition: there is something to drop. */
export function holdsEntries(drop: Drop): Statement {
  return sql`EXISTS (SELECT 1 FROM quarantine WHERE ${isDropped(drop)})`;
}

/** Drops it; changes as many rows as there were. */
export function dropEntries(drop: Drop): Statement {
  return sql`DELETE FROM quarantine WHERE ${isDropped(drop)}`;
}

/** Totals of all accounts, from an index without payloads. */
export async function quarantineTotals(
  db: Database,
): Promise<{ readonly payloads: number; readonly bytes: number }> {
  const [row] = await db.read(
    sql`SELECT COUNT(*) AS payloads, COALESCE(SUM(bytes), 0) AS bytes FROM quarantine`,
  );
  return {
    payloads: row === undefined ? 0 : numberOf(row, 'payloads'),
    bytes: row === undefined ? 0 : numberOf(row, 'bytes'),
  };
}
