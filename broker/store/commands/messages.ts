// Messages to vehicles, kept until the vehicle confirms them. A feature writes them.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { numberOf, numberOrNull, textOf } from '../base/row.ts';
import { deviceRef, type Infer, shape } from '../base/table.ts';

/** Undelivered messages per vehicle. */
export const waitingMost = 50;

export const messages = shape({
  ...deviceRef,
  messageNo: numberOf,
  messageID: textOf,
  text: textOf,
  sender: textOf,
  sentMs: numberOf,
  expiresMs: numberOf,
  /** Null until the vehicle has confirmed it. */
  deliveredMs: numberOrNull,
});
export type MessageRow = Infer<typeof messages>;

export const selectMessage = sql`SELECT m.*, d.account_id, d.device_id FROM messages m
  JOIN devices d ON d.device_no = m.device_no`;

/** Undelivered messages of a device, oldest first. */
export function undeliveredOf(db: Database, deviceNo: number, nowMs: number): Promise<readonly MessageRow[]> {
  return messages.all(db)(sql`${selectMessage}
    WHERE m.device_no = ${deviceNo} AND m.delivered_ms IS NULL AND m.expires_ms > ${nowMs}
    ORDER BY m.message_no LIMIT ${waitingMost}`);
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
