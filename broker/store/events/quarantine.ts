// Unreadable payloads: kept as received, counted and listed, never dropped without an operator and never refused (a refusal
// would make the device send the same bytes for ever). Bounded for each device in number and in bytes.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { bytesOf, numberOf, textOf } from '../base/row.ts';
import { type Scope, visible } from '../base/scope.ts';
import { type DeviceKey } from '../devices/device-key.ts';

/** Payloads kept per device; the newest. */
export const quarantineMost = 100;

/** Bytes of payloads kept per device; the newest is kept whatever its length. */
export const quarantineBytesMost = 1024 * 1024;

/** Longest reason kept, in characters. */
const reasonMost = 500;

export interface QuarantineRow {
  readonly quarantineNo: number;
  readonly topic: string;
  readonly receivedMs: number;
  readonly reason: string;
  readonly payload: Uint8Array;
}

/** Stores one payload and drops the oldest over the limits; both statements belong in one batch. */
export function insertQuarantine(
  deviceNo: number,
  entry: Omit<QuarantineRow, 'quarantineNo'>,
): readonly Statement[] {
  return [
    sql`INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
      VALUES (${deviceNo}, ${entry.topic}, ${entry.receivedMs}, ${entry.reason.slice(0, reasonMost)},
        ${entry.payload.length}, ${entry.payload})`,
    sql`DELETE FROM quarantine WHERE device_no = ${deviceNo} AND quarantine_no IN (
      SELECT k.quarantine_no FROM (
        SELECT quarantine_no, ROW_NUMBER() OVER newest AS place, SUM(bytes) OVER newest AS total
        FROM quarantine WHERE device_no = ${deviceNo} WINDOW newest AS (ORDER BY quarantine_no DESC)) k
      WHERE k.place > 1 AND (k.place > ${quarantineMost} OR k.total > ${quarantineBytesMost}))`,
  ];
}

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

/** What to drop: one entry of a device, or with null all of them. */
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
