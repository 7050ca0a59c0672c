// Statements on sending to a device: the next counter, and the record that a command is about to be sent. Several processes may
// try to send the same command for the same reason; the conditions let one of them succeed.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { followed } from '../base/live-topic.ts';
import { type CommandRow, isRecorded, presumedRank, type Reserved, ranks, readCommands } from './commands.ts';

export interface Sending {
  readonly deviceNo: number;
  readonly commandID: string;
  readonly boot: string;
  readonly atMs: number;
  /** True: the envelope withdraws a replaced command. */
  readonly isReplaced: boolean;
  /** Of a signed order; null or absent: the next counter, in any boot. */
  readonly reserved?: Reserved | null;
  readonly occasion: SendingReason;
}

/**
 * Why an envelope is sent. Of several processes with the same reason, one succeeds.
 */
export type SendingReason =
  /** The command was just recorded and not sent yet. */
  | { readonly kind: 'first' }
  /** The device sent a hello, and no process has sent the command since. @param counter of the device at the hello. */
  | { readonly kind: 'hello'; readonly counter: number }
  /** The device has not reported, and no process has sent the command since it was read. */
  | { readonly kind: 'again'; readonly counter: number | null }
  /** The command is being withdrawn. */
  | { readonly kind: 'withdrawal' };

function isDueFor(occasion: SendingReason): Statement {
  switch (occasion.kind) {
    case 'first':
      return sql`state_rank = 0`;
    case 'hello':
      return sql`(sent_counter IS NULL OR sent_counter <= ${occasion.counter})`;
    case 'again':
      return sql`COALESCE(sent_counter, 0) = ${occasion.counter ?? 0}`;
    case 'withdrawal':
      return sql`1 = 1`;
  }
}

/**
 * Takes the device's next counter, or the reserved one, and records that an envelope bound to `boot` is about to leave. They are one batch, or the
 * end of the batch that records the command. The second statement returns a row (`sent_counter`, `cancel_by`) only if the
 * command may still be sent and the device is in that boot. No other process may have sent it for the same reason. A signed order goes out again
 * with the same counter as long as it is the newest one.
 */
export function recordSending(sending: Sending): readonly Statement[] {
  const isOpen = sending.isReplaced
    ? sql`command_state IN ('superseded', 'refused') AND state_rank = ${presumedRank}`
    : sql`is_final = 0`;
  const reserved = sending.reserved ?? null;
  const next = reserved === null ? sql`command_counter + 1` : sql`${reserved.counter}`;
  const isFree =
    reserved === null ? sql`` : sql` AND boot = ${reserved.boot} AND command_counter < ${reserved.counter}`;
  const isReserved =
    reserved === null
      ? sql``
      : sql` AND d.boot = ${reserved.boot} AND d.command_counter = ${reserved.counter}`;
  return [
    sql`UPDATE devices SET command_counter = ${next} WHERE device_no = ${sending.deviceNo}
        AND ${isRecorded(sending.commandID)}${isFree}
      RETURNING command_counter`,
    followed(sql`UPDATE commands SET
        command_state = CASE WHEN state_rank < ${ranks.sent} THEN 'sent' ELSE command_state END,
        state_rank = CASE WHEN state_rank < ${ranks.sent} THEN ${ranks.sent} ELSE state_rank END,
        sent_boot = ${sending.boot}, updated_ms = ${sending.atMs},
        sent_counter = (SELECT command_counter FROM devices WHERE device_no = ${sending.deviceNo})
      WHERE command_id = ${sending.commandID} AND device_no = ${sending.deviceNo} AND ${isOpen}
        AND expires_ms > ${sending.atMs} AND ${isDueFor(sending.occasion)}
        AND EXISTS (SELECT 1 FROM devices d WHERE d.device_no = ${sending.deviceNo} AND d.boot = ${sending.boot}${isReserved})
      RETURNING sent_counter, cancel_by`),
  ];
}

/** First delay until a command without a report of its device is sent again, in ms. */
const unansweredMs = 5000;
/** Longest delay; a restore always uses the first. */
const unansweredMostMs = 60_000;
/** Age at which a recorded, unsent command counts as abandoned by its process. */
const unsentMs = 2000;
const unansweredMost = 100;

/**
 * Commands to connected devices without a report: never sent, as the process that recorded them ended; or sent or withdrawn
 * and lost on the way. The delay doubles each time, up to a minute; a restore is sent every 5 s. A signed order whose counter was overtaken cannot go
 * out again.
 */
export function unansweredCommands(db: Database, nowMs: number): Promise<readonly CommandRow[]> {
  const silentMs = sql`CASE WHEN c.updated_ms - c.issued_ms <= ${unansweredMs} THEN ${unansweredMs}
    WHEN c.feature = 'enginecutoff' AND c.state = '0' THEN ${unansweredMs}
    WHEN c.updated_ms - c.issued_ms > ${unansweredMostMs} THEN ${unansweredMostMs}
    ELSE c.updated_ms - c.issued_ms END`;
  return readCommands(
    db,
    sql`WHERE c.is_final = 0 AND d.is_online = 1 AND d.boot IS NOT NULL AND c.expires_ms > ${nowMs}
      AND (c.reserved_counter IS NULL OR c.cancel_by IS NOT NULL OR d.command_counter <= c.reserved_counter)
      AND ((c.state_rank = ${ranks.requested} AND c.issued_ms <= ${nowMs - unsentMs})
        OR ((c.state_rank = ${ranks.sent} OR (c.cancel_by IS NOT NULL AND c.state_rank IN (${ranks.received}, ${ranks.armed})))
          AND c.updated_ms + ${silentMs} <= ${nowMs}))
    ORDER BY c.issued_ms, c.command_id LIMIT ${unansweredMost}`,
  );
}
