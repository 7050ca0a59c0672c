// Statements on mails with reports: written with their deliveries in the batch that ends a due time, so that each due time has one mail,
// over several processes and crashes.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { DeliveryFault } from '../../core/notifications/delivery-fault.ts';
import { fixedList } from '../../store/base/fixed-list.ts';
import { bytesOf, numberOf, numberOrNull, textOf, textOrNull } from '../../store/base/row.ts';
import { type Infer, shape } from '../../store/base/table.ts';
import type { ScheduleKey, ScheduleRow } from './report-schedules.ts';
import { type Owner, owners, scopeOfOwner } from './report-sight.ts';

export interface NewReportMail {
  readonly schedule: ScheduleRow;
  readonly dueMs: number;
  readonly isAsked: boolean;
  readonly sight: string;
  readonly subject: string;
  readonly body: string;
  readonly fileName: string;
  /** Packed with gzip; null: no file. */
  readonly csv: Uint8Array | null;
  readonly nowMs: number;
  readonly onlyIf: Statement;
}

/** Writes a mail and one delivery for each recipient. */
export function insertReportMail(mail: NewReportMail, recipients: readonly string[]): readonly Statement[] {
  const { schedule, dueMs, nowMs, onlyIf } = mail;
  const { accountID, scheduleID, scheduleNo, owner } = schedule;
  const isAsked = mail.isAsked ? 1 : 0;
  const now = sql`CAST(${nowMs} AS BIGINT)`;
  const isMail = sql`m.schedule_no = ${scheduleNo} AND m.due_ms = ${dueMs} AND m.is_asked = ${isAsked}`;
  return [
    sql`INSERT INTO report_mails (account_id, schedule_no, due_ms, is_asked, owner, sight, subject, body, file_name,
        created_ms)
      SELECT a.account_id, CAST(${scheduleNo} AS INTEGER), CAST(${dueMs} AS BIGINT), CAST(${isAsked} AS INTEGER),
        CAST(${owner} AS TEXT), CAST(${mail.sight} AS TEXT), CAST(${mail.subject} AS TEXT), CAST(${mail.body} AS TEXT),
        CAST(${mail.fileName} AS TEXT), ${now}
      FROM accounts a WHERE a.account_id = ${accountID} AND ${onlyIf}
      ON CONFLICT (schedule_no, due_ms, is_asked) DO NOTHING`,
    sql`UPDATE report_mails AS m SET csv = ${mail.csv} WHERE ${isMail} AND ${onlyIf}`,
    ...recipients.map(
      (target) => sql`
      INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, escalation, lane, state, next_ms, created_ms,
        since_ms, mail_no, mail_of)
      SELECT m.account_id, m.mail_no - 9007199254740992, 0, 'email', CAST(${target} AS TEXT), 0,
        CAST(${`email:${accountID}:${target.toLowerCase()}`} AS TEXT), 'pending', ${now}, ${now}, ${now}, m.mail_no, CAST(${scheduleID} AS TEXT)
      FROM report_mails m WHERE ${isMail} AND ${onlyIf}
      ON CONFLICT (event_no, rule_no, channel, target, escalation) DO NOTHING`,
    ),
  ];
}

/** A mail as its delivery carries it. */
export interface ReportMailContent {
  readonly target: string;
  /** The same at every attempt and for every process. */
  readonly id: string;
  readonly subject: string;
  readonly body: string;
  readonly fileName: string;
  readonly csv: Uint8Array | null;
  /** What its owner saw when it was read. */
  readonly sight: string;
  /** What its owner may see now; null: nothing. */
  readonly scope: Scope | null;
}

/** The content of a delivery; null when the schedule was deleted or the content is no longer kept. */
export async function reportMailOf(db: Database, deliveryNo: number): Promise<ReportMailContent | null> {
  const [row] = await db.read(sql`SELECT y.target, m.*, u.role, u.sees_all, u.is_active
    FROM deliveries y JOIN report_mails m ON m.mail_no = y.mail_no
      JOIN report_schedules s ON s.schedule_no = m.schedule_no
      LEFT JOIN users u ON u.account_id = m.account_id AND u.user_id = m.owner
    WHERE y.delivery_no = ${deliveryNo} AND m.body <> ''`);
  if (row === undefined) return null;
  const owner: Owner | null = textOrNull(row, 'role') === null ? null : owners.toRecord(row);
  const accountID = textOf(row, 'account_id');
  const kind = numberOf(row, 'is_asked') === 1 ? 'asked' : 'due';
  return {
    target: textOf(row, 'target'),
    id: `report-${textOf(row, 'schedule_no')}-${kind}-${textOf(row, 'due_ms')}`,
    subject: textOf(row, 'subject'),
    body: textOf(row, 'body'),
    fileName: textOf(row, 'file_name'),
    csv: row['csv'] === null ? null : bytesOf(row, 'csv'),
    sight: textOf(row, 'sight'),
    scope: scopeOfOwner({ accountID, userID: textOf(row, 'owner') }, owner),
  };
}

/** Deletes a schedule with its mails and cancels their open deliveries; the last result has its count. */
export function deleteSchedule(
  { accountID, scheduleID }: ScheduleKey,
  { nowMs, onlyIf }: { readonly nowMs: number; readonly onlyIf: Statement },
): readonly Statement[] {
  const scheduleNo = sql`(SELECT s.schedule_no FROM report_schedules s
    WHERE s.account_id = ${accountID} AND s.schedule_id = ${scheduleID})`;
  const isOfIt = sql`account_id = ${accountID} AND ${onlyIf}
    AND mail_no IN (SELECT m.mail_no FROM report_mails m WHERE m.schedule_no = ${scheduleNo})`;
  return [
    sql`UPDATE deliveries SET mail_of = '' WHERE ${isOfIt}`,
    sql`UPDATE deliveries SET state = 'dead', ended_ms = ${nowMs}, fault = ${'report_deleted' satisfies DeliveryFault}
      WHERE state = 'pending' AND ${isOfIt}`,
    sql`UPDATE report_mails SET body = '', csv = NULL WHERE schedule_no = ${scheduleNo} AND ${onlyIf}`,
    sql`DELETE FROM report_schedules WHERE account_id = ${accountID} AND schedule_id = ${scheduleID} AND ${onlyIf}`,
  ];
}

const keptRows = 200;

/** Empties the oldest mails from before `emptyBeforeMs` and deletes those from before `dropBeforeMs`, some of them. */
export function dropOldMails(emptyBeforeMs: number, dropBeforeMs: number): readonly Statement[] {
  return [
    sql`UPDATE report_mails SET body = '', csv = NULL WHERE mail_no IN (SELECT mail_no FROM report_mails
      WHERE created_ms < ${emptyBeforeMs} AND created_ms >= ${dropBeforeMs} AND body <> ''
      ORDER BY created_ms LIMIT ${keptRows})`,
    sql`DELETE FROM report_mails WHERE mail_no IN (SELECT mail_no FROM report_mails
      WHERE created_ms < ${dropBeforeMs} ORDER BY created_ms LIMIT ${keptRows})`,
  ];
}

const mailDeliveries = shape({
  mailNo: numberOf,
  target: textOf,
  state: (row) => textOf(row, 'state') as 'pending' | 'sent' | 'dead',
  endedMs: numberOrNull,
  fault: textOf,
});
/** How the mail to one recipient stands. */
export type MailDelivery = Infer<typeof mailDeliveries>;

/** Deliveries of the mails (at most 100), in the order of their recipients. */
export async function deliveriesOfMails(
  db: Database,
  mailNos: readonly number[],
): Promise<readonly MailDelivery[]> {
  if (mailNos.length === 0) return [];
  return mailDeliveries.all(db)(sql`SELECT mail_no, target, state, ended_ms, fault FROM deliveries
    WHERE mail_no IN (${fixedList(mailNos)}) ORDER BY delivery_no`);
}
