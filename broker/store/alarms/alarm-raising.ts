// Statements that raise, repeat and end alarms. They are part of the notifier's batch and its condition that no other process has
// decided these events. So an event counts once, over failures and restarts.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { alarmLimits } from '../../core/alarms/alarm.ts';
import { type AlarmPriority, closesItself } from '../../core/notifications/alarm-kinds.ts';
import { fixedList } from '../base/fixed-list.ts';
import { followed } from '../base/live-topic.ts';
import { numberOf, numberOrNull, textOf } from '../base/row.ts';
import { readSlice, runsWithin, tableOf } from '../slices/slices.ts';
import { rankOf } from './alarms.ts';

/** Accounts (at most 100 are asked about) with as many open alarms as they may have. */
export async function accountsFull(
  db: Database,
  accountIDs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (accountIDs.length === 0) return new Set();
  const rows = await db.read(sql`SELECT account_id, COUNT(*) AS open FROM alarms
    WHERE account_id IN (${fixedList(accountIDs)}) AND state <> 'closed' GROUP BY account_id`);
  const full = rows.filter((row) => numberOf(row, 'open') >= alarmLimits.openOfAccount);
  return new Set(full.map((row) => textOf(row, 'account_id')));
}

/** Values that all statements of one event share. */
interface OfEvent {
  readonly eventNo: number;
  readonly sliceNo: number;
  readonly deviceNo: number;
  /** Geozone that the kind is about; '' for most. */
  readonly subject: string;
  /** Event time, or that of receipt when the vehicle's clock cannot be right. */
  readonly atMs: number;
  readonly nowMs: number;
  readonly onlyIf: Statement;
}

interface Raised extends OfEvent {
  readonly statusCode: number;
  readonly priority: AlarmPriority;
  readonly isLate: boolean;
  /** The account has as many open alarms as it may have. */
  readonly isFull: boolean;
}

const kindOf = ({ deviceNo, statusCode, subject }: Raised): Statement =>
  sql`device_no = ${deviceNo} AND status_code = ${statusCode} AND subject = ${subject} AND state <> 'closed'`;

/**
 * Condition: a further alarm may be opened, or the event repeats an open one. Critical alarms without a geozone always may: such
 * kinds are few, and a vehicle that invents zones must not hide its panic button.
 */
function hasPlace(raised: Raised): Statement {
  if (raised.priority === 'critical' && raised.subject === '') return sql`1 = 1`;
  const repeats = sql`EXISTS (SELECT 1 FROM alarms WHERE ${kindOf(raised)})`;
  if (raised.isFull) return repeats;
  return sql`(${repeats} OR (SELECT COUNT(*) FROM alarms WHERE device_no = ${raised.deviceNo} AND state <> 'closed')
    < ${alarmLimits.openOfDevice})`;
}

/** Latest possible time of an event: its receipt, as vehicles' clocks can be ahead. */
const atMost = (last: Statement, received: Statement): Statement =>
  sql`CASE WHEN ${last} > ${received} THEN ${received} ELSE ${last} END`;
/** The newest event of the row that is to be inserted, and of the one that is there. */
const newestAt = {
  excluded: atMost(sql`excluded.last_ms`, sql`excluded.received_ms`),
  known: atMost(sql`alarms.last_ms`, sql`alarms.received_ms`),
};

/** Opens the alarm of the event's kind, or counts the event in the open one, and links the event. */
export function raiseAlarm(raised: Raised): readonly Statement[] {
  const { eventNo, sliceNo, deviceNo, statusCode, subject, priority, atMs, nowMs, onlyIf } = raised;
  const now = sql`CAST(${nowMs} AS BIGINT)`;
  const at = sql`CAST(${atMs} AS BIGINT)`;
  const eventID = sql`e.boot || ':' || CAST(e.seq AS TEXT)`;
  const closes = closesItself(statusCode, priority) ? 1 : 0;
  const isNewer = sql`${newestAt.excluded} >= ${newestAt.known}`;
  const isOlder = sql`(excluded.first_ms < alarms.first_ms AND alarms.first_ms <= alarms.opened_ms)`;
  const newer = (column: string): Statement => {
    const name = { sql: column, params: [] };
    return sql`${name} = CASE WHEN ${isNewer} THEN excluded.${name} ELSE alarms.${name} END`;
  };
  const open = sql`
    INSERT INTO alarms (account_id, device_no, status_code, subject, priority, closes_itself, state, changed_ms,
      opened_ms, untaken_ms, first_event_no, first_event_id, first_ms, last_event_no, last_event_id, last_ms,
      received_ms, latitude, longitude, geozone_id, command_id, command_state, is_late)
    SELECT d.account_id, e.device_no, e.status_code, CAST(${subject} AS TEXT), CAST(${rankOf(priority)} AS BIGINT),
      CAST(${closes} AS BIGINT), 'new', ${now}, ${now}, ${now}, e.event_no, ${eventID}, ${at}, e.event_no,
      ${eventID}, ${at}, e.received_ms, e.latitude, e.longitude, e.geozone_id, e.command_id, e.command_state,
      CAST(${raised.isLate ? 1 : 0} AS BIGINT)
    FROM ${tableOf(sliceNo)} e JOIN devices d ON d.device_no = e.device_no
    WHERE e.event_no = ${eventNo} AND ${onlyIf} AND ${hasPlace(raised)}
    ON CONFLICT (device_no, status_code, subject) WHERE state <> 'closed' DO UPDATE SET
      count = alarms.count + 1, changed_ms = excluded.changed_ms,
      priority = CASE WHEN excluded.priority < alarms.priority THEN excluded.priority ELSE alarms.priority END,
      closes_itself = alarms.closes_itself * excluded.closes_itself,
      ended_ms = CASE WHEN alarms.ended_ms < ${newestAt.excluded} THEN NULL ELSE alarms.ended_ms END,
      first_event_id = CASE WHEN ${isOlder} THEN excluded.first_event_id ELSE alarms.first_event_id END,
      first_ms = CASE WHEN ${isOlder} THEN excluded.first_ms ELSE alarms.first_ms END,
      ${newer('last_event_id')}, ${newer('last_ms')}, ${newer('received_ms')}, ${newer('latitude')},
      ${newer('longitude')}, ${newer('geozone_id')}, ${newer('command_id')}, ${newer('command_state')},
      ${newer('is_late')}, last_event_no = excluded.last_event_no
    WHERE alarms.last_event_no < excluded.last_event_no`;
  const ofAlarm = sql`${kindOf(raised)} AND last_event_no = ${eventNo}`;
  const alarmNo = sql`(SELECT alarm_no FROM alarms WHERE ${ofAlarm})`;
  return [
    followed(open),
    sql`INSERT INTO alarm_events (event_no, alarm_no, event_id, timestamp_ms)
      SELECT e.event_no, a.alarm_no, ${eventID}, e.timestamp_ms
      FROM ${tableOf(sliceNo)} e JOIN alarms a ON a.device_no = ${deviceNo} AND a.status_code = ${statusCode}
        AND a.subject = ${subject} AND a.state <> 'closed' AND a.last_event_no = e.event_no
      WHERE e.event_no = ${eventNo} AND ${onlyIf}
      ON CONFLICT (event_no) DO NOTHING`,
    sql`DELETE FROM alarm_events WHERE alarm_no = ${alarmNo} AND event_no <= (SELECT event_no FROM alarm_events
      WHERE alarm_no = ${alarmNo} ORDER BY event_no DESC LIMIT 1 OFFSET ${alarmLimits.events})`,
  ];
}

/**
 * End of an event's condition by an event that arrived earlier; null: none. Within a boot the vehicle's numbers decide.
 * @param of.atMs not after the receipt of the event.
 */
export async function earlierEndMs(
  db: Database,
  {
    eventNo,
    sliceNo,
    deviceNo,
    subject,
    atMs,
    ends,
  }: Pick<OfEvent, 'eventNo' | 'sliceNo' | 'deviceNo' | 'subject' | 'atMs'> & {
    readonly ends: readonly number[];
  },
): Promise<number | null> {
  let endMs: number | null = null;
  for (const run of await runsWithin(db, { fromMs: atMs, toMs: Number.MAX_SAFE_INTEGER })) {
    const [row] = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT MAX(${atMost(sql`o.timestamp_ms`, sql`o.received_ms`)}) AS end_ms FROM ${run.table} o
        WHERE o.device_no = ${deviceNo} AND o.timestamp_ms >= ${atMs} AND o.event_no < ${eventNo}
          AND o.status_code IN (${fixedList(ends)}) AND (o.geozone_id = ${subject} OR ${subject} = '')
          AND ((o.timestamp_ms > ${atMs} AND o.received_ms > ${atMs}) OR EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} b
            WHERE b.event_no = ${eventNo} AND b.boot = o.boot AND b.seq < o.seq))`,
    );
    const foundMs = row === undefined ? null : numberOrNull(row, 'end_ms');
    if (foundMs !== null) endMs = Math.max(endMs ?? foundMs, foundMs);
  }
  return endMs;
}

/**
 * Records that the condition of open alarms of these kinds (1 to 100) has ended by this event.
 * @param ended.atMs not after the receipt of the event.
 */
export function endAlarms(ended: OfEvent & { readonly statusCodes: readonly number[] }): Statement {
  const { deviceNo, statusCodes, subject, atMs, nowMs, onlyIf } = ended;
  return followed(sql`UPDATE alarms SET ended_ms = ${atMs}, changed_ms = ${nowMs}
    WHERE device_no = ${deviceNo} AND status_code IN (${fixedList(statusCodes)}) AND subject = ${subject}
      AND state <> 'closed' AND ${newestAt.known} <= ${atMs} AND (ended_ms IS NULL OR ended_ms < ${atMs}) AND ${onlyIf}`);
}
