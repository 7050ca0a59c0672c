// Statements that delete a device. The device itself goes at once, with its secret, states and finished commands, so that
// nothing can find it or write to it any more; its events and notifications, which may be millions, are cleared away afterwards in small
// batches. Its number is never used again.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { cutOffCertificates } from './certificates.ts';
import type { DeviceRef } from './devices.ts';
import { numberOf } from './row.ts';
import { type Scope, visible } from './scope.ts';
import { readSlice, tableOf, wholeSlices } from './slices.ts';

/** What must not be true of a device that is deleted: the truck would stay cut off with nobody to release it. */
export interface Hindrance {
  readonly isCutOff: boolean;
  readonly hasPendingCommand: boolean;
}

const isCutOff = sql`EXISTS (SELECT 1 FROM device_states s
  WHERE s.device_no = d.device_no AND s.name = 'enginecutoff' AND s.state = '1')`;
const hasPendingCommand = sql`EXISTS (SELECT 1 FROM commands c
  WHERE c.device_no = d.device_no AND c.is_final = 0)`;

/**
 * Deletes a device that the caller may see. One batch, which fails with a fault of the data when the device is gone
 * already, is cut off, or has a command that has not ended.
 */
export function deleteDevice(device: DeviceRef, scope: Scope, atS: number): readonly Statement[] {
  const { deviceNo, accountID, deviceID } = device;
  return [
    // First of all it takes the row: who reports for this device at the same time comes before all of this, or after it.
    sql`UPDATE devices SET secret_hash = NULL WHERE device_no = ${deviceNo}`,
    // The second is not over: what was issued within it is old as well.
    cutOffCertificates(deviceNo, (atS + 1) * 1000),
    // No row gives NULL, which the column refuses, and the batch with it. Not so the key: SQLite would make one up.
    sql`INSERT INTO deleted_devices (device_no, account_id, device_id, deleted_s)
      VALUES (${deviceNo}, ${accountID}, ${deviceID}, (SELECT CAST(${atS} AS BIGINT) FROM devices d
        WHERE d.device_no = ${deviceNo} AND ${visible(scope)} AND NOT ${isCutOff} AND NOT ${hasPendingCommand}))`,
    // A command that came in meanwhile is not final, stays, and holds the device by its reference.
    sql`DELETE FROM commands WHERE device_no = ${deviceNo} AND is_final = 1`,
    sql`DELETE FROM devices WHERE device_no = ${deviceNo}`,
  ];
}

/** What stands against deleting the device; null when it is gone. */
export async function hindranceOf(db: Database, deviceNo: number): Promise<Hindrance | null> {
  const [row] = await db.read(sql`
    SELECT CASE WHEN ${isCutOff} THEN 1 ELSE 0 END AS is_cut_off,
      CASE WHEN ${hasPendingCommand} THEN 1 ELSE 0 END AS has_pending
    FROM devices d WHERE d.device_no = ${deviceNo}`);
  if (row === undefined) return null;
  return {
    isCutOff: numberOf(row, 'is_cut_off') === 1,
    hasPendingCommand: numberOf(row, 'has_pending') === 1,
  };
}

/** The device that was deleted first of those whose events are still there; null when there is none. */
export async function nextToPurge(db: Database): Promise<number | null> {
  const [row] = await db.read(sql`
    SELECT device_no FROM deleted_devices WHERE is_purged = 0 ORDER BY deleted_s, device_no LIMIT 1`);
  return row === undefined ? null : numberOf(row, 'device_no');
}

// Rows outlive their device for a while: too many to go with it in one batch, so they are no references.

/** Never true of a device that is there. */
const isDeleted = (deviceNo: number): Statement =>
  sql`NOT EXISTS (SELECT 1 FROM devices WHERE device_no = ${deviceNo})`;

/** A slice that still has events of the device; null when none has. */
async function sliceWithEvents(db: Database, deviceNo: number): Promise<Statement | null> {
  for (const { sliceNo } of await wholeSlices(db)) {
    const table = tableOf(sliceNo);
    const rows = await readSlice(
      db,
      sliceNo,
      sql`SELECT 1 AS there FROM ${table} WHERE device_no = ${deviceNo} LIMIT 1`,
    );
    if (rows.length > 0) return table;
  }
  return null;
}

/**
 * Statements that delete up to `count` rows of each kind of a deleted device, events of one slice at a time; each changes 0
 * rows when none is left.
 */
export async function purgeRows(
  db: Database,
  deviceNo: number,
  count: number,
): Promise<readonly Statement[]> {
  const table = await sliceWithEvents(db, deviceNo);
  const events =
    table === null
      ? []
      : [
          sql`DELETE FROM ${table} WHERE event_no IN (SELECT event_no FROM ${table}
            WHERE device_no = ${deviceNo} LIMIT ${count}) AND ${isDeleted(deviceNo)}`,
        ];
  return [
    ...events,
    sql`DELETE FROM notifications WHERE notification_no IN (SELECT notification_no FROM notifications
      WHERE device_no = ${deviceNo} LIMIT ${count}) AND ${isDeleted(deviceNo)}`,
    sql`DELETE FROM notification_episodes WHERE device_no = ${deviceNo} AND ${isDeleted(deviceNo)}`,
  ];
}

/** Notes that nothing of the device is left. */
export async function endPurge(db: Database, deviceNo: number): Promise<Statement> {
  let isEmpty = sql`NOT EXISTS (SELECT 1 FROM notifications WHERE device_no = ${deviceNo})`;
  for (const { sliceNo } of await wholeSlices(db)) {
    isEmpty = sql`${isEmpty}
      AND NOT EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} WHERE device_no = ${deviceNo})`;
  }
  return sql`UPDATE deleted_devices SET is_purged = 1 WHERE device_no = ${deviceNo} AND ${isEmpty}`;
}

/** Forgets deletions before `beforeS` that are done. */
export function forgetPurged(beforeS: number): Statement {
  return sql`DELETE FROM deleted_devices WHERE is_purged = 1 AND deleted_s < ${beforeS}`;
}
