// Statements on escalations: alarms without an owner for a rule's waiting time. Each decision of a rule about a round of
// an alarm is a row, inserted once in the batch of its deliveries.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Alarm } from '../../core/alarms/alarm.ts';
import { fixedList } from '../base/fixed-list.ts';
import { followed } from '../base/live-topic.ts';
import { numberOf } from '../base/row.ts';
import { readAlarms } from './alarms.ts';

/** Alarms decided by one batch. */
export const escalationsAtOnce = 50;

/** Alarms that at least one rule of their account has to decide about. */
export function dueEscalations(db: Database, nowMs: number): Promise<readonly Alarm[]> {
  return readAlarms(
    db,
    sql`WHERE a.state = 'new' AND EXISTS (SELECT 1 FROM notification_rules r
        WHERE r.account_id = a.account_id AND r.escalates_after_s IS NOT NULL
          AND a.untaken_ms + r.escalates_after_s * 1000 <= ${nowMs}
          AND NOT EXISTS (SELECT 1 FROM alarm_escalations x WHERE x.alarm_no = a.alarm_no AND x.rule_no = r.rule_no
            AND x.untaken_round = a.untaken_round))
      ORDER BY a.alarm_no LIMIT ${escalationsAtOnce}`,
  );
}

/** Rules that have decided about the present round of these alarms (1 to 100): alarm number -> rule numbers. */
export async function decidedRules(
  db: Database,
  alarmNos: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = await db.read(sql`SELECT x.alarm_no, x.rule_no FROM alarm_escalations x
    JOIN alarms a ON a.alarm_no = x.alarm_no AND a.untaken_round = x.untaken_round
    WHERE x.alarm_no IN (${fixedList(alarmNos)})`);
  const found = new Map<number, Set<number>>();
  for (const row of rows) {
    const alarmNo = numberOf(row, 'alarm_no');
    found.set(alarmNo, (found.get(alarmNo) ?? new Set()).add(numberOf(row, 'rule_no')));
  }
  return found;
}

interface Decision {
  readonly alarm: Pick<Alarm, 'alarmNo' | 'untakenRound'>;
  readonly ruleNo: number;
}

/** Condition: the alarm still has no owner, of the same round, and the rule has not decided about it. */
export function isUndecided({ alarm, ruleNo }: Decision): Statement {
  const { alarmNo, untakenRound } = alarm;
  return sql`EXISTS (SELECT 1 FROM alarms a WHERE a.alarm_no = ${alarmNo} AND a.state = 'new'
      AND a.untaken_round = ${untakenRound})
    AND NOT EXISTS (SELECT 1 FROM alarm_escalations x WHERE x.alarm_no = ${alarmNo} AND x.rule_no = ${ruleNo}
      AND x.untaken_round = ${untakenRound})`;
}

/** Puts this event of an alarm into the inbox, unless it is there: what is delivered is an entry of the inbox. */
export function insertAlarmNotification(
  { alarmNo, lastEventNo }: Pick<Alarm, 'alarmNo' | 'lastEventNo'>,
  onlyIf: Statement,
): Statement {
  return sql`
    INSERT INTO notifications (account_id, device_no, event_no, status_code, timestamp_ms, received_ms, latitude,
      longitude, geozone_id, command_id, command_state, is_late)
    SELECT a.account_id, a.device_no, CAST(${lastEventNo} AS BIGINT), a.status_code, a.last_ms, a.received_ms, a.latitude, a.longitude,
      a.geozone_id, a.command_id, a.command_state, a.is_late
    FROM alarms a WHERE a.alarm_no = ${alarmNo} AND ${onlyIf}
    ON CONFLICT (event_no) DO NOTHING`;
}

/** Counts an escalation in the alarm and its activity; before `recordDecision`. */
export function countEscalation(
  { alarm, ruleNo }: Decision,
  at: { readonly ruleID: string; readonly nowMs: number },
): readonly Statement[] {
  const onlyIf = isUndecided({ alarm, ruleNo });
  const update = sql`UPDATE alarms SET escalations = escalations + 1, escalated_ms = ${at.nowMs},
    changed_ms = ${at.nowMs} WHERE alarm_no = ${alarm.alarmNo} AND ${onlyIf}`;
  return [
    sql`INSERT INTO alarm_activity (alarm_no, at_ms, actor, action, other, text)
      SELECT alarm_no, CAST(${at.nowMs} AS BIGINT), 'service', 'escalate', CAST(${at.ruleID} AS TEXT), ''
      FROM alarms WHERE alarm_no = ${alarm.alarmNo} AND ${onlyIf}`,
    followed(update),
  ];
}

/** Records that the rule has decided; the last statement of the decision. */
export function recordDecision({ alarm, ruleNo }: Decision): Statement {
  return sql`INSERT INTO alarm_escalations (alarm_no, rule_no, untaken_round)
    SELECT CAST(${alarm.alarmNo} AS BIGINT), CAST(${ruleNo} AS BIGINT), CAST(${alarm.untakenRound} AS BIGINT)
    WHERE ${isUndecided({ alarm, ruleNo })}`;
}
