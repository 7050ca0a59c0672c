// Reads of alarms. Each joins the device: a user never sees alarms of devices outside its groups, and a deleted
// device's alarms disappear with it.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { Alarm, AlarmState } from '../../core/alarms/alarm.ts';
import { type AlarmPriority, alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import { fixedList } from '../base/fixed-list.ts';
import { numberOf, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type Infer, shape } from '../base/table.ts';
import { alarms } from '../schema/alarms.ts';

/** The number that a priority is kept as, for sorting: 0 is the most urgent. */
export const rankOf = (priority: AlarmPriority): number => alarmPriorities.indexOf(priority);

const ofDevice = shape({ ...alarms.columns, deviceID: textOf, deviceName: textOf, notifyEmail: textOf });
/** The alarm of a row of `selectAlarm`. */
export const toAlarm = ofDevice.toRecord;

/** Every alarm with its device; aliases `a` and `d`. */
export const selectAlarm = sql`SELECT a.*, d.device_id, d.notify_email,
    CASE WHEN d.display_name = '' THEN d.device_id ELSE d.display_name END AS device_name
  FROM alarms a JOIN devices d ON d.device_no = a.device_no`;

/** Alarms by conditions on the aliases `a` and `d`. */
export function readAlarms(db: Database, rest: Statement): Promise<readonly Alarm[]> {
  return ofDevice.all(db)(sql`${selectAlarm} ${rest}`);
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

/** Filter of a listing; null and empty lists: no limit. */
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
  // Written out, so a listing of open alarms walks the small index.
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

const alarmEvents = shape({ eventID: textOf, timestampMs: numberOf });
export type AlarmEvent = Infer<typeof alarmEvents>;

/** The events that are linked to an alarm, newest first. */
export function listAlarmEvents(db: Database, alarmNo: number): Promise<readonly AlarmEvent[]> {
  return alarmEvents.all(db)(sql`SELECT event_id, timestamp_ms FROM alarm_events
      WHERE alarm_no = ${alarmNo} ORDER BY event_no DESC LIMIT 200`);
}

const activities = shape({ atMs: numberOf, actor: textOf, action: textOf, other: textOf, text: textOf });
export type Activity = Infer<typeof activities>;

/** What was done with an alarm, oldest first. */
export function listActivity(db: Database, alarmNo: number): Promise<readonly Activity[]> {
  return activities.all(db)(sql`SELECT at_ms, actor, action, other, text FROM alarm_activity
      WHERE alarm_no = ${alarmNo} ORDER BY activity_no LIMIT 1000`);
}
