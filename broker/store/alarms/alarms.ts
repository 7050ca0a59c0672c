// Reads of alarms. Each joins the device, so that a user never sees an alarm of a device outside of its groups, and the
// alarms of a deleted device disappear with it.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Alarm, AlarmState } from '../../core/alarms/alarm.ts';
import { type AlarmPriority, alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import { fixedList } from '../base/fixed-list.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { type Scope, visible } from '../base/scope.ts';

/** The number that a priority is kept as, for sorting: 0 is the most urgent. */
export const rankOf = (priority: AlarmPriority): number => alarmPriorities.indexOf(priority);

const priorityAt = (rank: number): AlarmPriority => alarmPriorities[rank] ?? 'low';

/** The alarm of a row of `alarms` with `device_id`, `display_name` and `notify_email` of its device. */
export function toAlarm(row: Row): Alarm {
  const deviceID = textOf(row, 'device_id');
  return {
    alarmNo: numberOf(row, 'alarm_no'),
    accountID: textOf(row, 'account_id'),
    deviceNo: numberOf(row, 'device_no'),
    deviceID,
    deviceName: textOf(row, 'display_name') || deviceID,
    notifyEmail: textOf(row, 'notify_email'),
    statusCode: numberOf(row, 'status_code'),
    priority: priorityAt(numberOf(row, 'priority')),
    closesItself: numberOf(row, 'closes_itself') === 1,
    // The table's CHECK.
    state: textOf(row, 'state') as AlarmState,
    owner: textOf(row, 'owner'),
    version: numberOf(row, 'version'),
    changedMs: numberOf(row, 'changed_ms'),
    openedMs: numberOf(row, 'opened_ms'),
    firstTakenMs: numberOrNull(row, 'first_taken_ms'),
    untakenMs: numberOf(row, 'untaken_ms'),
    untakenRound: numberOf(row, 'untaken_round'),
    count: numberOf(row, 'count'),
    firstEventID: textOf(row, 'first_event_id'),
    firstMs: numberOf(row, 'first_ms'),
    lastEventNo: numberOf(row, 'last_event_no'),
    lastEventID: textOf(row, 'last_event_id'),
    lastMs: numberOf(row, 'last_ms'),
    receivedMs: numberOf(row, 'received_ms'),
    latitude: numberOrNull(row, 'latitude'),
    longitude: numberOrNull(row, 'longitude'),
    geozoneID: textOf(row, 'geozone_id'),
    commandID: textOrNull(row, 'command_id'),
    commandState: textOrNull(row, 'command_state'),
    isLate: numberOf(row, 'is_late') === 1,
    endedMs: numberOrNull(row, 'ended_ms'),
    shelvedUntilMs: numberOrNull(row, 'shelved_until_ms'),
    shelvedBy: textOf(row, 'shelved_by'),
    closedMs: numberOrNull(row, 'closed_ms'),
    closedBy: textOf(row, 'closed_by'),
    closeReason: textOf(row, 'close_reason'),
    note: textOf(row, 'note'),
    notes: numberOf(row, 'notes'),
    escalations: numberOf(row, 'escalations'),
    escalatedMs: numberOrNull(row, 'escalated_ms'),
  };
}

/** Every alarm with its device; aliases `a` and `d`. */
export const selectAlarm = sql`SELECT a.*, d.device_id, d.display_name, d.notify_email
  FROM alarms a JOIN devices d ON d.device_no = a.device_no`;

/** Alarms by conditions on the aliases `a` and `d`. */
export async function readAlarms(db: Database, rest: Statement): Promise<readonly Alarm[]> {
  return (await db.read(sql`${selectAlarm} ${rest}`)).map(toAlarm);
}

/** One alarm that the scope shows; null without it. */
export async function findAlarm(db: Database, scope: Scope, alarmNo: number): Promise<Alarm | null> {
  const [alarm] = await readAlarms(db, sql`WHERE a.alarm_no = ${alarmNo} AND ${visible(scope)}`);
  return alarm ?? null;
}

/** The alarms of these numbers (1 to 100) that the scope shows. */
export async function findAlarms(
  db: Database,
  scope: Scope,
  alarmNos: readonly number[],
): Promise<readonly Alarm[]> {
  return readAlarms(db, sql`WHERE a.alarm_no IN (${fixedList(alarmNos)}) AND ${visible(scope)}`);
}

/** What a listing is limited to; null and empty lists: no limit. */
export interface AlarmFilter {
  readonly scope: Scope;
  readonly states: readonly AlarmState[];
  readonly deviceID: string | null;
  readonly statusCodes: readonly number[];
  readonly priorities: readonly AlarmPriority[];
  /** '': without an owner. */
  readonly owner: string | null;
  /** Opened at or after, and at or before. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

function filterOf(filter: AlarmFilter): Statement {
  const { scope, states, deviceID, statusCodes, priorities, owner, fromMs, toMs } = filter;
  const ranks = priorities.map(rankOf);
  // Written out where it holds, so that a listing of what is open walks the small index.
  const isOpen = states.length > 0 && !states.includes('closed') ? sql` AND a.state <> 'closed'` : sql``;
  const conditions = [
    isOpen,
    states.length === 0 ? sql`` : sql` AND a.state IN (${fixedList(states)})`,
    deviceID === null ? sql`` : sql` AND d.device_id = ${deviceID}`,
    statusCodes.length === 0 ? sql`` : sql` AND a.status_code IN (${fixedList(statusCodes)})`,
    ranks.length === 0 ? sql`` : sql` AND a.priority IN (${fixedList(ranks)})`,
    owner === null ? sql`` : sql` AND a.owner = ${owner}`,
    fromMs === null ? sql`` : sql` AND a.opened_ms >= ${fromMs}`,
    toMs === null ? sql`` : sql` AND a.opened_ms <= ${toMs}`,
  ];
  return conditions.reduce(
    (all, one) => sql`${all}${one}`,
    sql`a.account_id = ${scope.accountID} AND ${visible(scope)}`,
  );
}

/** A page of alarms, the newest first, with numbers below `before`. */
export function listNewestAlarms(
  db: Database,
  filter: AlarmFilter,
  page: { readonly before: number; readonly limit: number },
): Promise<readonly Alarm[]> {
  return readAlarms(
    db,
    sql`WHERE ${filterOf(filter)} AND a.alarm_no < ${page.before} ORDER BY a.alarm_no DESC LIMIT ${page.limit}`,
  );
}

/** Place of an alarm in the queue: priority, then new before taken before shelved, then its age. */
const queueRank = sql`(a.priority * 4 + CASE a.state WHEN 'new' THEN 0 WHEN 'taken' THEN 1 WHEN 'shelved' THEN 2 ELSE 3 END)`;

export function queueRankOf({ priority, state }: Pick<Alarm, 'priority' | 'state'>): number {
  return rankOf(priority) * 4 + ['new', 'taken', 'shelved', 'closed'].indexOf(state);
}

/** A page of alarms in the order of the queue, after the alarm at that place. */
export function listQueue(
  db: Database,
  filter: AlarmFilter,
  page: { readonly after: { readonly rank: number; readonly alarmNo: number }; readonly limit: number },
): Promise<readonly Alarm[]> {
  const { after, limit } = page;
  return readAlarms(
    db,
    sql`WHERE ${filterOf(filter)} AND (${queueRank} > ${after.rank} OR (${queueRank} = ${after.rank} AND a.alarm_no > ${after.alarmNo}))
      ORDER BY ${queueRank}, a.alarm_no LIMIT ${limit}`,
  );
}

export interface AlarmEvent {
  readonly eventID: string;
  readonly timestampMs: number;
}

/** The events that are linked to an alarm, newest first. */
export async function listAlarmEvents(db: Database, alarmNo: number): Promise<readonly AlarmEvent[]> {
  const rows = await db.read(sql`SELECT event_id, timestamp_ms FROM alarm_events
    WHERE alarm_no = ${alarmNo} ORDER BY event_no DESC LIMIT 200`);
  return rows.map((row) => ({
    eventID: textOf(row, 'event_id'),
    timestampMs: numberOf(row, 'timestamp_ms'),
  }));
}

export interface Activity {
  readonly atMs: number;
  readonly actor: string;
  readonly action: string;
  readonly other: string;
  readonly text: string;
}

/** What was done with an alarm, oldest first. */
export async function listActivity(db: Database, alarmNo: number): Promise<readonly Activity[]> {
  const rows = await db.read(sql`SELECT at_ms, actor, action, other, text FROM alarm_activity
    WHERE alarm_no = ${alarmNo} ORDER BY activity_no LIMIT 1000`);
  return rows.map((row) => ({
    atMs: numberOf(row, 'at_ms'),
    actor: textOf(row, 'actor'),
    action: textOf(row, 'action'),
    other: textOf(row, 'other'),
    text: textOf(row, 'text'),
  }));
}
