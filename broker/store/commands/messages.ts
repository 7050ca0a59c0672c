// Statements on messages. A message to a vehicle is kept until the vehicle confirms it; a message from a vehicle is an event.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import type { UserKey } from '../accounts/accounts.ts';
import { notRoutine } from '../base/routine-codes.ts';
import { jsonObjectOrNull, numberOf, numberOrNull, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { readSlice, runsWithin } from '../slices/slices.ts';

export const messageLimits = {
  text: 500,
  /** Vehicles per call. */
  devices: 100,
  /** Undelivered messages per vehicle. */
  waiting: 50,
  /** Messages kept per vehicle. */
  kept: 1000,
  /** Lifetime of an undelivered message. */
  lifeMs: 7 * 86_400_000,
  /** Messages from vehicles are listed for this long. */
  shownMs: 30 * 86_400_000,
} as const;

export interface MessageRow extends DeviceRef {
  readonly messageNo: number;
  readonly messageID: string;
  readonly text: string;
  readonly sender: string;
  readonly sentMs: number;
  readonly expiresMs: number;
  /** Null until the vehicle has confirmed it. */
  readonly deliveredMs: number | null;
}

function toMessage(row: Row): MessageRow {
  return {
    accountID: textOf(row, 'account_id'),
    deviceID: textOf(row, 'device_id'),
    deviceNo: numberOf(row, 'device_no'),
    messageNo: numberOf(row, 'message_no'),
    messageID: textOf(row, 'message_id'),
    text: textOf(row, 'text'),
    sender: textOf(row, 'sender'),
    sentMs: numberOf(row, 'sent_ms'),
    expiresMs: numberOf(row, 'expires_ms'),
    deliveredMs: numberOrNull(row, 'delivered_ms'),
  };
}

const selectMessage = sql`SELECT m.*, d.account_id, d.device_id FROM messages m
  JOIN devices d ON d.device_no = m.device_no`;

export interface NewMessage {
  readonly messageID: string;
  readonly deviceNo: number;
  readonly text: string;
  readonly sender: string;
  readonly sentMs: number;
}

/** Records a message; changes 0 rows when the device was deleted or too many are undelivered. */
export function insertMessage(message: NewMessage): Statement {
  const { messageID, deviceNo, text, sender, sentMs } = message;
  return sql`INSERT INTO messages (message_id, device_no, text, sender, sent_ms, expires_ms)
    SELECT ${messageID}, device_no, ${text}, ${sender}, ${sentMs}, ${sentMs + messageLimits.lifeMs}
    FROM devices WHERE device_no = ${deviceNo} AND (SELECT COUNT(*) FROM messages w
      WHERE w.device_no = ${deviceNo} AND w.delivered_ms IS NULL AND w.expires_ms > ${sentMs}) < ${messageLimits.waiting}`;
}

/** Deletes all but the newest messages of a vehicle. */
export function trimMessages(deviceNo: number): Statement {
  return sql`DELETE FROM messages WHERE device_no = ${deviceNo} AND message_no <= (SELECT o.message_no FROM messages o
    WHERE o.device_no = ${deviceNo} ORDER BY o.message_no DESC LIMIT 1 OFFSET ${messageLimits.kept})`;
}

/** Condition: the message is recorded. */
export function isWritten(messageID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM messages WHERE message_id = ${messageID})`;
}

/** Undelivered messages of a device, oldest first. */
export async function undeliveredOf(
  db: Database,
  deviceNo: number,
  nowMs: number,
): Promise<readonly MessageRow[]> {
  const rows = await db.read(sql`${selectMessage}
    WHERE m.device_no = ${deviceNo} AND m.delivered_ms IS NULL AND m.expires_ms > ${nowMs}
    ORDER BY m.message_no LIMIT ${messageLimits.waiting}`);
  return rows.map(toMessage);
}

/** Marks a message as delivered to this device; a repeat changes nothing. */
export function markDelivered(report: {
  readonly deviceNo: number;
  readonly messageID: string;
  readonly atMs: number;
}): Statement {
  return sql`UPDATE messages SET delivered_ms = ${report.atMs}
    WHERE message_id = ${report.messageID} AND device_no = ${report.deviceNo} AND delivered_ms IS NULL`;
}

/** Messages to one device, newest first. */
export async function listMessages(
  db: Database,
  of: { readonly deviceNo: number; readonly before: number | null; readonly limit: number },
): Promise<readonly MessageRow[]> {
  const older = of.before === null ? sql`` : sql` AND m.message_no < ${of.before}`;
  const rows = await db.read(sql`${selectMessage} WHERE m.device_no = ${of.deviceNo}${older}
    ORDER BY m.message_no DESC LIMIT ${of.limit}`);
  return rows.map(toMessage);
}

/** A message from a vehicle. */
export interface VehicleMessage {
  readonly eventNo: number;
  readonly deviceID: string;
  readonly text: string;
  readonly timestampMs: number;
}

const notRoutineCode: Statement = { sql: notRoutine, params: [] };

function toVehicleMessage(row: Row): VehicleMessage {
  const text = jsonObjectOrNull(row, 'attributes')?.['message'];
  return {
    eventNo: numberOf(row, 'event_no'),
    deviceID: textOf(row, 'device_id'),
    text: typeof text === 'string' ? text.slice(0, messageLimits.text) : '',
    timestampMs: numberOf(row, 'timestamp_ms'),
  };
}

/** Messages of vehicles that the user has not read, oldest first. */
export async function unreadMessages(
  db: Database,
  of: { readonly user: UserKey; readonly scope: Scope; readonly sinceMs: number; readonly limit: number },
): Promise<readonly VehicleMessage[]> {
  const { user, scope, sinceMs, limit } = of;
  const [read] = await db.read(sql`SELECT read_up_to FROM message_reads
    WHERE account_id = ${user.accountID} AND user_id = ${user.userID}`);
  const after = read === undefined ? 0 : numberOf(read, 'read_up_to');
  const found: VehicleMessage[] = [];
  const runs = await runsWithin(db, { fromMs: sinceMs, toMs: Number.MAX_SAFE_INTEGER });
  // In the order of event numbers.
  const slices = [...new Map(runs.map((run) => [run.sliceNo, run])).values()];
  slices.sort((one, other) => one.sliceNo - other.sliceNo);
  for (const { sliceNo, table } of slices) {
    if (found.length >= limit) break;
    const rows = await readSlice(
      db,
      sliceNo,
      sql`SELECT e.event_no, e.timestamp_ms, e.attributes, d.device_id
        FROM (SELECT event_no, device_no, timestamp_ms, attributes FROM ${table}
          WHERE ${notRoutineCode} AND account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
            AND status_code = ${statusCodes.MESSAGE.code} AND timestamp_ms >= ${sinceMs} AND event_no > ${after}) e
        JOIN devices d ON d.device_no = e.device_no
        WHERE ${visible(scope)} ORDER BY e.event_no LIMIT ${limit - found.length}`,
    );
    found.push(...rows.map(toVehicleMessage));
  }
  return found;
}

/** Marks messages up to this number as read; it never decreases, nor exceeds the stored `lastNo`. */
export function markRead(user: UserKey, upTo: number, lastNo: number): Statement {
  return sql`INSERT INTO message_reads (account_id, user_id, read_up_to)
    VALUES (${user.accountID}, ${user.userID}, ${Math.min(upTo, lastNo)})
    ON CONFLICT (account_id, user_id) DO UPDATE SET read_up_to = excluded.read_up_to
    WHERE message_reads.read_up_to < excluded.read_up_to`;
}
