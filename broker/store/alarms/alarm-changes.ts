// Statements by which people, and the service itself, change an alarm. Every change carries its condition: of two at once
// the first counts, and the other changes nothing. The audit entry and the alarm's activity are written with it.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { type AlarmAction, alarmLimits, type CloseReason } from '../../core/alarms/alarm.ts';
import { followed } from '../base/live-topic.ts';
import { visible } from '../base/scope.ts';

/** Who changes an alarm. */
export interface AlarmActor {
  readonly userID: string;
  /** Null: the service itself. */
  readonly scope: Scope | null;
  /** May change what another user has taken. */
  readonly isAdmin: boolean;
}

export interface AlarmTarget {
  readonly alarmNo: number;
  /** The version that the decision was made on; null: whatever it is now. */
  readonly version: number | null;
}

/** What becomes of an alarm, as statements. Alias `a` is the alarm. */
export interface Change {
  readonly action: AlarmAction;
  /** The states and owners from which it may be done. */
  readonly from: Statement;
  readonly set: Statement;
  /** The user or rule that it names; '' for none. */
  readonly other?: string;
  readonly text?: string;
}

/** Condition that a user (alias `u`) is active, may change alarms, and sees the device of the alarm (alias `a`). */
const mayHandle = sql`u.account_id = a.account_id AND u.is_active = 1 AND u.role IN ('operator', 'admin')
  AND (u.sees_all = 1 OR u.role = 'admin' OR EXISTS (SELECT 1 FROM group_devices gd
    JOIN group_users gu ON gu.group_no = gd.group_no
    WHERE gd.device_no = a.device_no AND gu.account_id = u.account_id AND gu.user_id = u.user_id))`;

/** Condition that the owner of the alarm (alias `a`) can no longer handle it. */
export const isAbandoned = sql`a.owner <> '' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.user_id = a.owner AND ${mayHandle})`;

const isOwn = ({ userID, isAdmin }: AlarmActor): Statement =>
  isAdmin ? sql`1 = 1` : sql`a.owner = ${userID}`;

/** From the queue, or one's own. */
const isFree = (actor: AlarmActor): Statement =>
  sql`(a.state IN ('new', 'shelved') OR (a.state = 'taken' AND ${isOwn(actor)}))`;

/** Without an owner it waits again, and rules escalate it again. */
const backToQueue = (nowMs: number): Statement =>
  sql`state = 'new', owner = '', untaken_ms = ${nowMs}, untaken_round = untaken_round + 1,
    shelved_until_ms = NULL, shelved_by = ''`;

const takenBy = (owner: string, nowMs: number): Statement =>
  sql`state = 'taken', owner = ${owner}, first_taken_ms = COALESCE(first_taken_ms, ${nowMs}),
    shelved_until_ms = NULL, shelved_by = ''`;

/** Takes an alarm; `takesOver`: also from another user who has it. */
export function take(actor: AlarmActor, nowMs: number, takesOver: boolean): Change {
  const another = takesOver ? sql` OR (a.state = 'taken' AND a.owner <> ${actor.userID})` : sql``;
  return {
    action: 'take',
    from: sql`(a.state = 'new'${another})`,
    set: takenBy(actor.userID, nowMs),
  };
}

export function release(actor: AlarmActor, nowMs: number): Change {
  return { action: 'release', from: sql`a.state = 'taken' AND ${isOwn(actor)}`, set: backToQueue(nowMs) };
}

/** Gives an alarm to a user who may handle it. */
export function assign(actor: AlarmActor, nowMs: number, to: string): Change {
  return {
    action: 'assign',
    from: sql`(a.state = 'new' OR (a.state = 'taken' AND ${isOwn(actor)})) AND a.owner <> ${to}
      AND EXISTS (SELECT 1 FROM users u WHERE u.user_id = ${to} AND ${mayHandle})`,
    set: takenBy(to, nowMs),
    other: to,
  };
}

/** Puts an alarm on the shelf, or leaves it there longer or shorter. */
export function shelve(
  actor: AlarmActor,
  shelf: { readonly untilMs: number; readonly text: string },
): Change {
  return {
    action: 'shelve',
    from: isFree(actor),
    set: sql`state = 'shelved', shelved_until_ms = ${shelf.untilMs}, shelved_by = ${actor.userID},
      shelved_event_no = last_event_no, note = ${shelf.text}`,
    text: shelf.text,
  };
}

/** Takes an alarm from the shelf: back to its owner, or into the queue. @param why of the service. */
export function unshelve(nowMs: number, why = ''): Change {
  return {
    action: 'unshelve',
    from: sql`a.state = 'shelved'`,
    set: sql`state = CASE WHEN owner = '' THEN 'new' ELSE 'taken' END,
      untaken_ms = CASE WHEN owner = '' THEN ${nowMs} ELSE untaken_ms END,
      untaken_round = untaken_round + CASE WHEN owner = '' THEN 1 ELSE 0 END, shelved_until_ms = NULL, shelved_by = ''`,
    text: why,
  };
}

export interface Closing {
  readonly reason: CloseReason;
  readonly text: string;
  readonly nowMs: number;
}

export function close(actor: AlarmActor, { reason, text, nowMs }: Closing): Change {
  return {
    action: 'close',
    from: isFree(actor),
    set: sql`state = 'closed', closed_ms = ${nowMs}, closed_by = ${actor.userID}, close_reason = ${reason},
      shelved_until_ms = NULL, shelved_by = '', note = CASE WHEN ${text} = '' THEN note ELSE ${text} END`,
    other: reason,
    text,
  };
}

/** Closes an alarm without an owner whose condition has ended. */
export function closeEnded(actor: AlarmActor, nowMs: number): Change {
  const closed = close(actor, { reason: 'ended', text: '', nowMs });
  return {
    ...closed,
    from: sql`a.closes_itself = 1 AND a.ended_ms IS NOT NULL AND a.owner = '' AND a.state IN ('new', 'shelved')`,
  };
}

export function addNote(text: string): Change {
  return {
    action: 'note',
    from: sql`a.notes < ${alarmLimits.notes}`,
    set: sql`note = ${text}, notes = notes + 1`,
    text,
  };
}

/** Puts an alarm back into the queue whose owner can no longer handle it. */
export function abandon(nowMs: number, owner: string): Change {
  return {
    action: 'removed_owner',
    from: sql`a.state IN ('taken', 'shelved') AND a.owner = ${owner} AND ${isAbandoned}`,
    // On the shelf it stays there, without an owner.
    set: sql`untaken_ms = ${nowMs}, untaken_round = untaken_round + 1, owner = '',
      state = CASE WHEN state = 'taken' THEN 'new' ELSE state END`,
    other: owner,
  };
}

/** Condition: the alarm is there for the actor, of that version, in a state from which the change may be made. */
function may({ alarmNo, version }: AlarmTarget, { scope }: AlarmActor, { from }: Change): Statement {
  const seen = scope === null ? sql`` : sql` AND ${visible(scope)}`;
  const same = version === null ? sql`` : sql` AND a.version = ${version}`;
  return sql`EXISTS (SELECT 1 FROM alarms a JOIN devices d ON d.device_no = a.device_no
    WHERE a.alarm_no = ${alarmNo}${seen}${same} AND ${from})`;
}

/**
 * The statements of one change; the last one changes 1 row, or 0 when it may not be made (any more).
 * @param audit the audit entry, written on that condition.
 */
export function changeAlarm(
  target: AlarmTarget,
  made: { readonly actor: AlarmActor; readonly change: Change; readonly nowMs: number },
  audit: (onlyIf: Statement) => Statement,
): readonly Statement[] {
  const { alarmNo } = target;
  const { actor, change, nowMs } = made;
  const { action, set, other = '', text = '' } = change;
  const onlyIf = may(target, actor, change);
  const update = sql`UPDATE alarms SET ${set}, version = version + 1, changed_ms = ${nowMs}
    WHERE alarm_no = ${alarmNo} AND ${onlyIf}`;
  return [
    audit(onlyIf),
    sql`INSERT INTO alarm_activity (alarm_no, at_ms, actor, action, other, text)
      SELECT alarm_no, CAST(${nowMs} AS BIGINT), CAST(${actor.userID} AS TEXT), CAST(${action} AS TEXT),
        CAST(${other} AS TEXT), CAST(${text} AS TEXT)
      FROM alarms WHERE alarm_no = ${alarmNo} AND ${onlyIf}`,
    sql`DELETE FROM alarm_activity WHERE alarm_no = ${alarmNo} AND action <> 'note' AND activity_no <= (
      SELECT activity_no FROM alarm_activity WHERE alarm_no = ${alarmNo} AND action <> 'note'
      ORDER BY activity_no DESC LIMIT 1 OFFSET ${alarmLimits.activity})`,
    followed(update),
  ];
}

/** How many statements `changeAlarm` makes. */
export const statementsOfChange = 4;
