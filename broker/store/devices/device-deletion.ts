// Statements that delete a device. The device, its secret, states and finished commands are deleted at once, so no statement can
// find it or write to it. Its events, notifications and alarms, possibly millions, are removed later in small batches. Its
// number is never used again.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { flagOf, readNumber } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { readSlice, tableOf, wholeSlices } from '../slices/slices.ts';
import { cutOffCertificates } from './certificates.ts';

const deletionBlockers = shape({
  isCutOff: flagOf,
  hasPendingCommand: (row) => flagOf(row, 'has_pending'),
});
/** Conditions that prevent a deletion: the engine would stay cut off without a way to restore it. */
export type DeletionBlocker = Infer<typeof deletionBlockers>;

const isCutOff = sql`EXISTS (SELECT 1 FROM device_states s
  WHERE s.device_no = d.device_no AND s.name = 'enginecutoff' AND s.state = '1')`;
const hasPendingCommand = sql`EXISTS (SELECT 1 FROM commands c
  WHERE c.device_no = d.device_no AND c.is_final = 0)`;

/**
 * Deletes a device that the caller may see. One batch, which fails with a fault of the data when the device is deleted
 * already, is cut off, or has an unfinished command.
 */
export function deleteDevice(device: DeviceRef, scope: Scope, atS: number): readonly Statement[] {
  const { deviceNo, accountID, deviceID } = device;
  return [
    // Locks the row first, so that concurrent writers for this device come before all of this, or after it.
    sql`UPDATE devices SET secret_hash = NULL WHERE device_no = ${deviceNo}`,
    // Includes the current second: what was issued within it is revoked as well.
    cutOffCertificates(deviceNo, (atS + 1) * 1000),
    // Without a row this is NULL, which the column refuses, and so the batch. The key would not do: SQLite would generate one.
    sql`INSERT INTO deleted_devices (device_no, account_id, device_id, deleted_s)
      VALUES (${deviceNo}, ${accountID}, ${deviceID}, (SELECT CAST(${atS} AS BIGINT) FROM devices d
        WHERE d.device_no = ${deviceNo} AND ${visible(scope)} AND NOT ${isCutOff} AND NOT ${hasPendingCommand}))`,
    // A command that was recorded meanwhile is not final, stays, and blocks the deletion by its reference.
    sql`DELETE FROM commands WHERE device_no = ${deviceNo} AND is_final = 1`,
    sql`DELETE FROM devices WHERE device_no = ${deviceNo}`,
  ];
}

/** Reason against the deletion; null when the device is already deleted. */
export function deletionBlockerOf(db: Database, deviceNo: number): Promise<DeletionBlocker | null> {
  return deletionBlockers.first(db)(sql`
    SELECT CASE WHEN ${isCutOff} THEN 1 ELSE 0 END AS is_cut_off,
      CASE WHEN ${hasPendingCommand} THEN 1 ELSE 0 END AS has_pending
    FROM devices d WHERE d.device_no = ${deviceNo}`);
}

/** The earliest deleted device with history left; null when there is none. */
export function nextToPurge(db: Database): Promise<number | null> {
  return readNumber(db)(sql`
    SELECT device_no FROM deleted_devices WHERE is_purged = 0 ORDER BY deleted_s, device_no LIMIT 1`);
}

// Too many rows to delete in one batch, so these tables have no foreign key to the device.

/** Never true of an existing device. */
const isDeleted = (deviceNo: number): Statement =>
  sql`NOT EXISTS (SELECT 1 FROM devices WHERE device_no = ${deviceNo})`;

/** Each has up to some hundred rows of its own, which go with it. */
const alarmsAtOnce = 20;

/** A slice with events of the device; null when none has. */
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
    sql`DELETE FROM alarms WHERE alarm_no IN (SELECT alarm_no FROM alarms
      WHERE device_no = ${deviceNo} LIMIT ${alarmsAtOnce}) AND ${isDeleted(deviceNo)}`,
  ];
}

/** Records that no history of the device is left. */
export async function endPurge(db: Database, deviceNo: number): Promise<Statement> {
  let isEmpty = sql`NOT EXISTS (SELECT 1 FROM notifications WHERE device_no = ${deviceNo})
    AND NOT EXISTS (SELECT 1 FROM alarms WHERE device_no = ${deviceNo})`;
  for (const { sliceNo } of await wholeSlices(db)) {
    isEmpty = sql`${isEmpty}
      AND NOT EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} WHERE device_no = ${deviceNo})`;
  }
  return sql`UPDATE deleted_devices SET is_purged = 1 WHERE device_no = ${deviceNo} AND ${isEmpty}`;
}

/** Deletes the records of finished purges before `beforeS`. */
export function forgetPurged(beforeS: number): Statement {
  return sql`DELETE FROM deleted_devices WHERE is_purged = 1 AND deleted_s < ${beforeS}`;
}
