// Statements of users on messages. A message to a vehicle is kept until the vehicle confirms it; a message from a vehicle is an event.
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { notRoutine } from '../../store/base/routine-codes.ts';
import { jsonObjectOrNull, numberOf, readNumber, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { type MessageRow, messages, selectMessage, waitingMost } from '../../store/commands/messages.ts';
import { readSlice, runsWithin } from '../../store/slices/slices.ts';

export const messageLimits = {
  text: 500,
  /** Vehicles per call. */
  devices: 100,
  /** Messages kept per vehicle. */
  kept: 1000,
  /** Lifetime of an undelivered message. */
  lifeMs: 7 * 86_400_000,
  /** Messages from vehicles are listed for this long. */
  shownMs: 30 * 86_400_000,
} as const;

/** Records a message; changes 0 rows when the device was deleted or too many are undelivered. */
export function insertMessage(
  message: Pick<MessageRow, 'messageID' | 'deviceNo' | 'text' | 'sender' | 'sentMs'>,
): Statement {
  const { messageID, deviceNo, text, sender, sentMs } = message;
  return sql`INSERT INTO messages (message_id, device_no, text, sender, sent_ms, expires_ms)
    SELECT ${messageID}, device_no, ${text}, ${sender}, ${sentMs}, ${sentMs + messageLimits.lifeMs}
    FROM devices WHERE device_no = ${deviceNo} AND (SELECT COUNT(*) FROM messages w
      WHERE w.device_no = ${deviceNo} AND w.delivered_ms IS NULL AND w.expires_ms > ${sentMs}) < ${waitingMost}`;
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

/** Messages to one device, newest first. */
export function listMessages(
  db: Database,
  of: { readonly deviceNo: number; readonly before: number | null; readonly limit: number },
): Promise<readonly MessageRow[]> {
  const older = of.before === null ? sql`` : sql` AND m.message_no < ${of.before}`;
  return messages.all(db)(sql`${selectMessage} WHERE m.device_no = ${of.deviceNo}${older}
    ORDER BY m.message_no DESC LIMIT ${of.limit}`);
}

const notRoutineCode: Statement = { sql: notRoutine, params: [] };

/** A message from a vehicle, as answers show it. */
function viewMessage(row: Row) {
  const text = jsonObjectOrNull(row, 'attributes')?.['message'];
  return {
    messageNo: numberOf(row, 'event_no'),
    deviceID: textOf(row, 'device_id'),
    message: typeof text === 'string' ? text.slice(0, messageLimits.text) : '',
    timestamp: epochSeconds(numberOf(row, 'timestamp_ms')),
  };
}

/** Messages of vehicles that the user has not read, oldest first. */
export async function unreadMessages(
  db: Database,
  of: { readonly user: UserKey; readonly scope: Scope; readonly sinceMs: number; readonly limit: number },
): Promise<readonly ReturnType<typeof viewMessage>[]> {
  const { user, scope, sinceMs, limit } = of;
  const read = await readNumber(db)(sql`SELECT read_up_to FROM message_reads
    WHERE account_id = ${user.accountID} AND user_id = ${user.userID}`);
  const found: ReturnType<typeof viewMessage>[] = [];
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
            AND status_code = ${statusCodes.MESSAGE.code} AND timestamp_ms >= ${sinceMs} AND event_no > ${read ?? 0}) e
        JOIN devices d ON d.device_no = e.device_no
        WHERE ${visible(scope)} ORDER BY e.event_no LIMIT ${limit - found.length}`,
    );
    found.push(...rows.map(viewMessage));
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
