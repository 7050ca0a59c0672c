// Statements on deliveries: made in the deciding batch, claimed by a lease, ended once. A delivery is never lost between two
// states: after its lease expires it is due again, and its attempts include the lost one.

import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import { lateGatherMs } from '../../core/notifications/digest.ts';
import type { Notice } from '../../core/notifications/notice.ts';
import { fixedList } from '../base/fixed-list.ts';
import { numberOf, numberOrNull, textOf, textOrEmpty } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';
import { deliveries } from '../schema/notifications.ts';
import { entryColumns } from './notifications.ts';

/** Deliveries of one account that may wait; further ones are given up at once. */
export const waitingMost = 10_000;

/** The delivery of one event by one rule. */
export interface DeliveryContext {
  readonly accountID: string;
  readonly eventNo: number;
  readonly ruleNo: number;
  /** Round of the alarm that the rule escalates; 0: the rule notifies of the event. */
  readonly escalation: number;
  readonly isUrgent: boolean;
  /** It waits for others, to become a digest with them; webhooks never do. */
  readonly isLate: boolean;
  readonly nowMs: number;
  /** The account has `waitingMost` deliveries that wait. */
  readonly isFull: boolean;
  /** Without it nothing is written. */
  readonly onlyIf: Statement;
}

const columns: Statement = {
  sql: `account_id, event_no, rule_no, channel, target, escalation, lane, state, next_ms, created_ms, since_ms, ended_ms, fault, digest_no`,
  params: [],
};

/** Maximum wait of an urgent delivery for a failed target, which may be back before its next turn. */
const urgentWaitMs = 30_000;

/**
 * `state` .. `digest_no`: waiting, unless the account has too many waiting. Behind a failing target it waits with its lane, an
 * urgent one only briefly.
 */
function initialState(
  { isFull, isUrgent, nowMs }: DeliveryContext,
  lane: Statement,
  isGathered: boolean,
): Statement {
  const now = sql`CAST(${nowMs} AS BIGINT)`;
  if (isFull) return sql`'dead', ${now}, ${now}, ${now}, ${now}, ${'too_many' satisfies DeliveryFault}, NULL`;
  const first = isGathered ? sql`CAST(${nowMs + lateGatherMs} AS BIGINT)` : now;
  const digestNo = isGathered ? sql`0` : sql`NULL`;
  const latest = isUrgent ? sql`CAST(${nowMs + urgentWaitMs} AS BIGINT)` : sql`w.next_ms`;
  const laneTime = sql`(SELECT CASE WHEN w.next_ms < ${latest} THEN w.next_ms ELSE ${latest} END
    FROM deliveries w WHERE w.lane = ${lane} AND w.state = 'pending' AND w.fault <> '' ORDER BY w.next_ms LIMIT 1)`;
  return sql`'pending', COALESCE(${laneTime}, ${first}), ${now}, ${now}, NULL, '', ${digestNo}`;
}

/** Condition on pending deliveries: they count to `waitingMost`. A digest of any size costs one message, and must not keep a live one out. */
export const countsAsWaiting: Statement = sql`(digest_no IS NULL OR digest_no = delivery_no)`;

/** Deliveries that wait, of each of the accounts (at most 100) that has some. */
export async function countWaiting(
  db: Database,
  accountIDs: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (accountIDs.length === 0) return new Map();
  const rows = await db.read(sql`SELECT account_id, COUNT(*) AS waiting FROM deliveries
    WHERE account_id IN (${fixedList(accountIDs)}) AND state = 'pending' AND ${countsAsWaiting} GROUP BY account_id`);
  return new Map(rows.map((row) => [textOf(row, 'account_id'), numberOf(row, 'waiting')]));
}

/** Inserts the delivery to the rule's webhook or to one mailbox. */
export function insertDelivery(
  context: DeliveryContext,
  to: { readonly channel: 'webhook' | 'email'; readonly target: string; readonly lane: string },
): Statement {
  const { accountID, eventNo, ruleNo, escalation, onlyIf } = context;
  return sql`
    INSERT INTO deliveries (${columns})
    SELECT r.account_id, CAST(${eventNo} AS BIGINT), r.rule_no, CAST(${to.channel} AS TEXT),
      CAST(${to.target} AS TEXT), CAST(${escalation} AS BIGINT), CAST(${to.lane} AS TEXT),
      ${initialState(context, sql`${to.lane}`, context.isLate && to.channel !== 'webhook')}
    FROM notification_rules r
    WHERE r.rule_no = ${ruleNo} AND r.account_id = ${accountID} AND ${onlyIf}
    ON CONFLICT (event_no, rule_no, channel, target, escalation) DO NOTHING`;
}

/** Inserts deliveries to the push registrations of active users who may see the device. */
export function insertPushDeliveries(
  context: DeliveryContext,
  to: { readonly deviceNo: number; readonly userIDs: 'all' | readonly string[] },
): Statement {
  const { accountID, eventNo, ruleNo, escalation, onlyIf } = context;
  const lane = sql`'push:' || CAST(p.registration_no AS TEXT)`;
  const named = to.userIDs === 'all' ? sql`1 = 1` : sql`u.user_id IN (${fixedList(to.userIDs)})`;
  return sql`
    INSERT INTO deliveries (${columns})
    SELECT r.account_id, CAST(${eventNo} AS BIGINT), r.rule_no, 'push', CAST(p.registration_no AS TEXT),
      CAST(${escalation} AS BIGINT), ${lane}, ${initialState(context, lane, context.isLate)}
    FROM notification_rules r JOIN push_registrations p ON p.account_id = r.account_id
      JOIN users u ON u.account_id = p.account_id AND u.user_id = p.user_id
    WHERE r.rule_no = ${ruleNo} AND r.account_id = ${accountID} AND p.endpoint <> '' AND p.is_registered = 1
      AND u.is_active = 1 AND ${named} AND (u.sees_all = 1 OR u.role = 'admin' OR EXISTS (
        SELECT 1 FROM group_devices gd JOIN group_users gu ON gu.group_no = gd.group_no
        WHERE gd.device_no = ${to.deviceNo} AND gu.account_id = u.account_id AND gu.user_id = u.user_id))
      AND ${onlyIf}
    ON CONFLICT (event_no, rule_no, channel, target, escalation) DO NOTHING`;
}

/** Condition on `deliveries d`: no other delivery leads it. */
const leadsItself: Statement = sql`(d.digest_no IS NULL OR d.digest_no IN (0, d.delivery_no) OR NOT EXISTS (
  SELECT 1 FROM deliveries l WHERE l.delivery_no = d.digest_no AND l.state = 'pending'))`;

const isReport = (row: Row): boolean => numberOrNull(row, 'mail_no') !== null;

const dueColumns = shape({
  deliveryNo: numberOf,
  accountID: textOf,
  channel: deliveries.columns.channel,
  lane: textOf,
  nextMs: numberOf,
  /** Attempts so far. */
  attempts: numberOf,
  createdMs: numberOf,
  /** Start of the attempts: the creation, or a requested retry. */
  sinceMs: numberOf,
  /** Its place in the row of its account and channel, from 1. */
  ofAccount: numberOf,
  /** It carries a mail with a report instead of a notification. */
  isReport,
  /** See `digests.ts`; null: it is sent by itself. */
  digestNo: numberOrNull,
});
/** A delivery that is due. */
export type DueRow = Infer<typeof dueColumns>;

/**
 * Due deliveries, fairly: limited by lane and account, so a crowd for one target hides no other. Every account's first comes
 * before any account's second.
 */
export function dueDeliveries(
  db: Database,
  due: {
    readonly nowMs: number;
    readonly perLane: number;
    readonly perAccount: number;
    readonly limit: number;
  },
): Promise<readonly DueRow[]> {
  return dueColumns.all(db)(sql`SELECT * FROM (
      SELECT x.*, ROW_NUMBER() OVER (PARTITION BY x.channel, x.account_id ORDER BY x.next_ms, x.delivery_no)
        AS of_account
      FROM (
        SELECT delivery_no, account_id, channel, lane, next_ms, attempts, created_ms, since_ms, mail_no, digest_no,
          ROW_NUMBER() OVER (PARTITION BY lane ORDER BY next_ms, delivery_no) AS of_lane
        FROM deliveries d WHERE state = 'pending' AND next_ms <= ${due.nowMs} AND ${leadsItself}) x
      WHERE x.of_lane <= ${due.perLane}) y
    WHERE y.of_account <= ${due.perAccount} ORDER BY y.of_account, y.next_ms, y.delivery_no LIMIT ${due.limit}`);
}

/**
 * Leases a delivery until `untilMs`; changes 0 rows when another process has it, or another digest. A late one becomes a digest
 * with all that waits for the same recipient. Once only: a repeat carries the same under the same id.
 */
export function leaseDelivery(
  { deliveryNo, nextMs, digestNo, lane }: DueRow,
  untilMs: number,
): readonly Statement[] {
  const mine = sql`delivery_no = ${deliveryNo} AND state = 'pending' AND next_ms = ${nextMs}`;
  if (digestNo === null || digestNo === deliveryNo)
    return [sql`UPDATE deliveries SET next_ms = ${untilMs}, attempts = attempts + 1 WHERE ${mine}`];
  return [
    sql`UPDATE deliveries SET next_ms = ${untilMs}, attempts = attempts + 1, digest_no = delivery_no
      WHERE ${mine} AND digest_no = ${digestNo}`,
    sql`UPDATE deliveries SET digest_no = ${deliveryNo}
      WHERE lane = ${lane} AND state = 'pending' AND digest_no = ${digestNo} AND EXISTS (SELECT 1 FROM deliveries l
        WHERE l.delivery_no = ${deliveryNo} AND l.digest_no = ${deliveryNo} AND l.next_ms = ${untilMs})`,
  ];
}

/** Ends a delivery, and what is in the digest that it leads. */
export function endDelivery(
  deliveryNo: number,
  end: { readonly state: 'sent' | 'dead'; readonly nowMs: number; readonly fault: DeliveryFault | '' },
): Statement {
  return sql`UPDATE deliveries SET state = ${end.state}, ended_ms = ${end.nowMs}, fault = ${end.fault}
    WHERE (delivery_no = ${deliveryNo} OR digest_no = ${deliveryNo}) AND state = 'pending'`;
}

/** Puts a delivery off, and with it what waits for the same target. */
export function postponeDelivery(
  { deliveryNo, lane }: DueRow,
  until: { readonly nextMs: number; readonly fault: DeliveryFault },
): readonly Statement[] {
  return [
    sql`UPDATE deliveries SET next_ms = ${until.nextMs}, fault = ${until.fault}
      WHERE delivery_no = ${deliveryNo} AND state = 'pending'`,
    sql`UPDATE deliveries SET next_ms = ${until.nextMs}
      WHERE lane = ${lane} AND state = 'pending' AND next_ms < ${until.nextMs}`,
  ];
}

/** Gives up everything that has been tried since before `beforeMs`. */
export function expireDeliveries(beforeMs: number, nowMs: number): Statement {
  return sql`UPDATE deliveries SET state = 'dead', ended_ms = ${nowMs},
      fault = CASE WHEN fault = '' THEN ${'late' satisfies DeliveryFault} ELSE fault END
    WHERE state = 'pending' AND since_ms < ${beforeMs}`;
}

/** What one delivery carries and where to. */
export interface DeliveryContent {
  readonly notice: Notice;
  readonly target: string;
  /** Of the rule, as it is kept; '' without one. */
  readonly definition: string;
  readonly secret: string;
  /** Of the account; '' when it was deleted. */
  readonly timeZone: string;
  /** Null on another channel, or when its registration was removed. */
  readonly push: {
    readonly registrationNo: number;
    readonly endpoint: string;
    readonly p256dh: string;
    readonly auth: string;
  } | null;
}

export const contentColumns = sql`y.target, y.escalation, r.rule_id, r.definition, r.webhook_secret, a.time_zone, d.device_id,
  d.display_name, n.*, l.alarm_no, p.registration_no, p.endpoint, p.p256dh, p.auth`;

export const contentTables = sql`deliveries y LEFT JOIN notification_rules r ON r.rule_no = y.rule_no
  JOIN notifications n ON n.event_no = y.event_no LEFT JOIN devices d ON d.device_no = n.device_no
  LEFT JOIN accounts a ON a.account_id = y.account_id
  LEFT JOIN alarm_events l ON l.event_no = y.event_no
  LEFT JOIN push_registrations p ON y.channel = 'push' AND p.account_id = y.account_id
    AND CAST(p.registration_no AS TEXT) = y.target`;

/** The content of a delivery; null when rule, notification or device were deleted. */
export async function contentOf(db: Database, deliveryNo: number): Promise<DeliveryContent | null> {
  const [row] = await db.read(sql`
    SELECT ${contentColumns} FROM ${contentTables}
    WHERE y.delivery_no = ${deliveryNo}
      AND ((r.rule_no IS NOT NULL AND d.device_no IS NOT NULL) OR (y.rule_no = 0 AND n.device_no = 0))`);
  return row === undefined ? null : toContent(row);
}

const notices = shape({ ...entryColumns, accountID: textOf, ruleID: textOrEmpty, escalation: numberOf });

export function toContent(row: Row): DeliveryContent {
  const registrationNo = numberOrNull(row, 'registration_no');
  return {
    target: textOf(row, 'target'),
    // Null in a notice about a user, which has no rule.
    definition: textOrEmpty(row, 'definition'),
    secret: textOrEmpty(row, 'webhook_secret'),
    timeZone: textOrEmpty(row, 'time_zone'),
    push:
      registrationNo === null
        ? null
        : {
            registrationNo,
            endpoint: textOf(row, 'endpoint'),
            p256dh: textOf(row, 'p256dh'),
            auth: textOf(row, 'auth'),
          },
    notice: notices.toRecord(row),
  };
}

const listed = shape({
  ...deliveries.columns,
  /** '' when the rule was deleted, and for a report. */
  ruleID: textOrEmpty,
  /** '' when the rule was deleted, and for a report. */
  definition: textOrEmpty,
  /** The schedule of the report that it carries; '' without one, or when it was deleted. */
  scheduleID: textOrEmpty,
  isReport,
  /** Null when the notification is no longer kept. */
  notificationNo: numberOrNull,
  /** Of a push registration; '' without one. */
  userID: textOrEmpty,
});
export type DeliveryRow = Infer<typeof listed>;
export type DeliveryState = DeliveryRow['state'];

/** Deliveries with their rule, notification and push registration, by conditions on the alias `y`; newest first. */
function readDeliveries(db: Database, where: Statement, limit: number): Promise<readonly DeliveryRow[]> {
  return listed.all(
    db,
  )(sql`SELECT y.*, r.rule_id, r.definition, n.notification_no, p.user_id, y.mail_of AS schedule_id FROM deliveries y
        LEFT JOIN notification_rules r ON r.rule_no = y.rule_no
        LEFT JOIN notifications n ON n.event_no = y.event_no
        LEFT JOIN push_registrations p ON y.channel = 'push' AND p.account_id = y.account_id
          AND CAST(p.registration_no AS TEXT) = y.target
      WHERE ${where} ORDER BY y.delivery_no DESC LIMIT ${limit}`);
}

/** A page of an account's deliveries, newest first. */
export function listDeliveries(
  db: Database,
  query: {
    readonly accountID: string;
    readonly state: DeliveryState | null;
    readonly before: number;
    readonly limit: number;
  },
): Promise<readonly DeliveryRow[]> {
  const inState = query.state === null ? sql`` : sql` AND y.state = ${query.state}`;
  const where = sql`y.account_id = ${query.accountID} AND y.delivery_no < ${query.before}${inState}`;
  return readDeliveries(db, where, query.limit);
}

/** Deliveries of the events that are linked to an alarm of the account, newest first. */
export function listAlarmDeliveries(
  db: Database,
  query: { readonly accountID: string; readonly alarmNo: number; readonly limit: number },
): Promise<readonly DeliveryRow[]> {
  const linked = sql`SELECT event_no FROM alarm_events WHERE alarm_no = ${query.alarmNo}`;
  return readDeliveries(
    db,
    sql`y.account_id = ${query.accountID} AND y.event_no IN (${linked})`,
    query.limit,
  );
}

/** Condition that a delivery of the account has that state. */
export function isInState(key: { accountID: string; deliveryNo: number }, state: DeliveryState): Statement {
  return sql`EXISTS (SELECT 1 FROM deliveries WHERE account_id = ${key.accountID}
    AND delivery_no = ${key.deliveryNo} AND state = ${state})`;
}

/** Begins again with a dead delivery of the account; changes 0 rows when it is not dead. */
export function retryDelivery(key: { accountID: string; deliveryNo: number }, nowMs: number): Statement {
  return sql`UPDATE deliveries SET state = 'pending', attempts = 0, next_ms = ${nowMs}, since_ms = ${nowMs},
      ended_ms = NULL
    WHERE account_id = ${key.accountID} AND delivery_no = ${key.deliveryNo} AND state = 'dead'`;
}
