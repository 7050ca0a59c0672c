// Escalates alarms that had no owner for a rule's waiting time. Inbox entry, deliveries, activity and decision are one batch,
// conditional on no earlier decision. So neither a restart nor two processes lose or repeat one.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log, Statement } from '../../src/ports.ts';
import { type Alarm, serviceActor } from '../core/alarms/alarm.ts';
import { escalates, escalationChannels } from '../core/notifications/notification-rules.ts';
import { isUrgent } from '../core/notifications/status-episodes.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import { insertAudit } from '../store/accounts/audit.ts';
import {
  countEscalation,
  decidedRules,
  dueEscalations,
  escalationsAtOnce,
  insertAlarmNotification,
  isUndecided,
  recordDecision,
} from '../store/alarms/escalations.ts';
import { countWaiting, waitingMost } from '../store/notifications/deliveries.ts';
import { groupsOf, listRules, type RuleRow } from '../store/notifications/rules.ts';
import { deliveriesOf } from './rule-deliveries.ts';

export interface EscalationOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
  /** Called after deliveries were written. */
  readonly onDeliveries: () => void;
}

export interface Escalation {
  /** Decides everything that is due; for tests. */
  runAll(): Promise<void>;
  close(): Promise<void>;
}

const periodMs = 1000;
/** The search reads every alarm without an owner: at most a quarter of the reading thread's time. */
const restFactor = 3;

interface Due {
  readonly alarm: Alarm;
  readonly groups: readonly string[];
  /** The account has as many deliveries waiting as it may have. */
  readonly isFull: boolean;
  readonly nowMs: number;
}

/** One decision of a rule about an alarm: whether it notifies, and that it was made. */
function statementsOf(rule: RuleRow, { alarm, groups, isFull, nowMs }: Due): readonly Statement[] {
  const { ruleNo, ruleID } = rule;
  const decision = { alarm, ruleNo };
  const channels = escalates(rule, alarm, groups) ? escalationChannels(rule, alarm, nowMs) : [];
  if (channels.length === 0) return [recordDecision(decision)];
  const { accountID, alarmNo, lastEventNo, untakenRound, deviceID, statusCode } = alarm;
  const onlyIf = isUndecided(decision);
  const context = {
    accountID,
    eventNo: lastEventNo,
    ruleNo,
    escalation: untakenRound,
    isUrgent: isUrgent(statusCode),
    // Late or not, the alarm waits for an owner now.
    isLate: false,
    nowMs,
    isFull,
    onlyIf,
  };
  const audited = {
    accountID,
    atMs: nowMs,
    actor: serviceActor,
    source: '',
    action: 'alarm.escalate',
    object: String(alarmNo),
    detail: { deviceID, statusCode, ruleID },
  };
  return [
    insertAudit(audited, onlyIf),
    insertAlarmNotification(alarm, onlyIf),
    ...deliveriesOf({ rule, channels }, alarm, context),
    ...countEscalation(decision, { ruleID, nowMs }),
    recordDecision(decision),
  ];
}

const isDue = (rule: RuleRow, { accountID, untakenMs }: Alarm, nowMs: number): boolean =>
  rule.accountID === accountID &&
  rule.isActive &&
  rule.escalatesAfterS !== null &&
  untakenMs + rule.escalatesAfterS * 1000 <= nowMs;

/** Decides about some of what is due; true when there may be more. */
async function decideSome({ db, clock, onDeliveries }: EscalationOptions): Promise<boolean> {
  const nowMs = Math.round(clock.utcMs());
  const alarms = await dueEscalations(db, nowMs);
  if (alarms.length === 0) return false;
  const accountIDs = [...new Set(alarms.map(({ accountID }) => accountID))];
  const [rules, groups, decided, waiting] = await Promise.all([
    listRules(db, accountIDs),
    groupsOf(db, [...new Set(alarms.map(({ deviceNo }) => deviceNo))]),
    decidedRules(
      db,
      alarms.map(({ alarmNo }) => alarmNo),
    ),
    countWaiting(db, accountIDs),
  ]);
  const statements = alarms.flatMap((alarm) => {
    const isFull = (waiting.get(alarm.accountID) ?? 0) >= waitingMost;
    const due = { alarm, groups: groups.get(alarm.deviceNo) ?? [], isFull, nowMs };
    return rules
      .filter((rule) => isDue(rule, alarm, nowMs) && decided.get(alarm.alarmNo)?.has(rule.ruleNo) !== true)
      .flatMap((rule) => statementsOf(rule, due));
  });
  if (statements.length === 0) return false;
  await db.write(statements);
  onDeliveries();
  return alarms.length === escalationsAtOnce;
}

/** Starts to escalate, until `close`. */
export function createEscalation(options: EscalationOptions): Escalation {
  const { clock, log, isOurs } = options;
  const state = { isClosed: false };
  const mayGoOn = (): boolean => !state.isClosed && isOurs?.() !== false;
  const run = async (): Promise<number> => {
    try {
      while (mayGoOn() && (await decideSome(options)));
    } catch (thrown) {
      log.error('escalation_failed', { reason: messageOf(thrown) });
    }
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs: periodMs, pauseFactor: restFactor, run });
  return {
    runAll: () => task.runNow(),
    async close() {
      state.isClosed = true;
      await task.close();
    },
  };
}
