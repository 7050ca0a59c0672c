// Payloads that could not be understood: kept as they came, counted and shown to people, never thrown away unseen and
// never bounced (a refusal would make the device send the same bytes for ever). At most 100 a device are kept.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { DeviceKey } from './devices.ts';
import { bytesOf, numberOf, textOf } from './row.ts';

/** Payloads kept per device; the newest. */
const quarantineMost = 100;

/** Longest reason kept, in characters. */
const reasonMost = 500;

export interface QuarantineRow {
  readonly quarantineNo: number;
  readonly topic: string;
  readonly receivedMs: number;
  readonly reason: string;
  readonly payload: Uint8Array;
}

/** Keeps one payload and drops what is over the limit; both statements belong in one batch. */
export function insertQuarantine(
  deviceNo: number,
  entry: Omit<QuarantineRow, 'quarantineNo'>,
): readonly Statement[] {
  return [
    sql`INSERT INTO quarantine (device_no, topic, received_ms, reason, payload)
      VALUES (${deviceNo}, ${entry.topic}, ${entry.receivedMs}, ${entry.reason.slice(0, reasonMost)},
        ${entry.payload})`,
    sql`DELETE FROM quarantine WHERE device_no = ${deviceNo} AND quarantine_no <= (
      SELECT quarantine_no FROM quarantine WHERE device_no = ${deviceNo}
      ORDER BY quarantine_no DESC LIMIT 1 OFFSET ${quarantineMost})`,
  ];
}

/** How many payloads of a device are kept. */
export async function countQuarantine(db: Database, key: DeviceKey): Promise<number> {
  const [row] = await db.read(sql`
    SELECT COUNT(*) AS kept FROM quarantine q JOIN devices d ON d.device_no = q.device_no
    WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}`);
  return row === undefined ? 0 : numberOf(row, 'kept');
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
