// Statements on report schedules. Each change by the service carries the condition that the schedule is as it was read, so that of two
// processes, or of a user and the service, the second one changes nothing.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Infer } from '../../store/base/table.ts';
import {
  type CutReason,
  type MissReason,
  type ScheduleDefinition,
  type StopReason,
  scheduleLimits,
} from './core/report-schedule.ts';
import { reportSchedules } from './report-tables.ts';

export type ScheduleRow = Infer<typeof reportSchedules>;
export type ScheduleKey = Pick<ScheduleRow, 'accountID' | 'scheduleID'>;

/** Schedules of the account in the order of their ids. @param owner only those of this user; null: all. */
export function listSchedules(
  db: Database,
  accountID: string,
  owner: string | null,
): Promise<readonly ScheduleRow[]> {
  const own = owner === null ? sql`` : sql` AND owner = ${owner}`;
  return reportSchedules.all(db)(sql`SELECT * FROM report_schedules WHERE account_id = ${accountID}${own}
    ORDER BY schedule_id`);
}

/** One schedule, or null. */
export function findSchedule(db: Database, key: ScheduleKey): Promise<ScheduleRow | null> {
  return reportSchedules.first(db)(sql`SELECT * FROM report_schedules
    WHERE account_id = ${key.accountID} AND schedule_id = ${key.scheduleID}`);
}

type OwnedKey = Pick<ScheduleRow, 'accountID' | 'scheduleID' | 'owner'>;

/** Condition: the schedule is there and belongs to that user. @param owner null: to any user. */
export function isOwned({
  accountID,
  scheduleID,
  owner,
}: ScheduleKey & { readonly owner: string | null }): Statement {
  const own = owner === null ? sql`` : sql` AND owner = ${owner}`;
  return sql`EXISTS (SELECT 1 FROM report_schedules
    WHERE account_id = ${accountID} AND schedule_id = ${scheduleID}${own})`;
}

/** Condition under which `putSchedule` changes something: the user's own one, or a new one of an account that has too few. */
export function mayPut(key: OwnedKey): Statement {
  const { accountID, scheduleID } = key;
  return sql`(${isOwned(key)} OR (NOT ${isOwned({ accountID, scheduleID, owner: null })}
    AND (SELECT COUNT(*) FROM report_schedules WHERE account_id = ${accountID}) < ${scheduleLimits.ofAccount}))`;
}

/** Creates a schedule, or replaces the whole of the user's own one, which goes on if it was stopped. */
export function putSchedule(
  key: OwnedKey,
  to: { readonly definition: ScheduleDefinition; readonly nextMs: number | null; readonly nowMs: number },
): Statement {
  const next = sql`CAST(${to.nextMs} AS BIGINT)`;
  return sql`
    INSERT INTO report_schedules (account_id, schedule_id, owner, definition, changed_ms, next_ms, attempt_ms)
    SELECT a.account_id, CAST(${key.scheduleID} AS TEXT), CAST(${key.owner} AS TEXT),
      CAST(${JSON.stringify(to.definition)} AS TEXT), CAST(${to.nowMs} AS BIGINT), ${next}, ${next}
    FROM accounts a WHERE a.account_id = ${key.accountID} AND ${mayPut(key)}
    ON CONFLICT (account_id, schedule_id) DO UPDATE SET definition = excluded.definition,
      changed_ms = excluded.changed_ms, next_ms = excluded.next_ms, attempt_ms = excluded.attempt_ms,
      asked_ms = NULL, failures = 0, stopped = ''
    WHERE report_schedules.owner = excluded.owner`;
}

/** Asks for one report now. */
export function askSchedule(
  { accountID, scheduleID }: ScheduleKey,
  { nowMs, onlyIf }: { readonly nowMs: number; readonly onlyIf: Statement },
): Statement {
  return sql`UPDATE report_schedules SET asked_ms = ${nowMs}, attempt_ms = ${nowMs}, failures = 0
    WHERE account_id = ${accountID} AND schedule_id = ${scheduleID} AND ${onlyIf}`;
}

/** Schedules with something to do, the longest due first; those of accounts that are closed wait. */
export function dueSchedules(db: Database, nowMs: number, limit: number): Promise<readonly ScheduleRow[]> {
  return reportSchedules.all(
    db,
  )(sql`SELECT s.* FROM report_schedules s JOIN accounts a ON a.account_id = s.account_id
    WHERE s.attempt_ms <= ${nowMs} AND a.is_active = 1 AND (a.expires_s IS NULL OR a.expires_s * 1000 > ${nowMs})
    ORDER BY s.attempt_ms, s.schedule_no LIMIT ${limit}`);
}

const isSame = ({ scheduleNo, changedMs, attemptMs }: ScheduleRow): Statement =>
  sql`schedule_no = ${scheduleNo} AND changed_ms = ${changedMs} AND attempt_ms = ${attemptMs}`;

/** Condition: the schedule is as it was read. */
export function isAsRead(row: ScheduleRow): Statement {
  return sql`EXISTS (SELECT 1 FROM report_schedules WHERE ${isSame(row)})`;
}

/** Tries again later. */
export function postponeSchedule(row: ScheduleRow, untilMs: number): Statement {
  return sql`UPDATE report_schedules SET attempt_ms = ${untilMs}, failures = failures + 1 WHERE ${isSame(row)}`;
}

export interface Outcome {
  readonly nowMs: number;
  readonly dueMs: number;
  /** Due time after this one; null: none. */
  readonly nextMs: number | null;
  readonly fault: MissReason | '';
  readonly rows: number;
  readonly cut: CutReason;
}

/** Ends one due time or request; the mail, if there is one, was written before in the batch. */
export function endSchedule(row: ScheduleRow, outcome: Outcome): Statement {
  const { nowMs, dueMs, nextMs, fault, rows, cut } = outcome;
  const isAsked = row.askedMs === null ? 0 : 1;
  return sql`UPDATE report_schedules SET next_ms = CAST(${nextMs} AS BIGINT), attempt_ms = CAST(${nextMs} AS BIGINT),
      asked_ms = NULL, failures = 0, last_ms = ${nowMs}, last_due_ms = ${dueMs}, last_fault = ${fault},
      last_rows = ${rows}, last_cut = ${cut}, last_mail_no = (SELECT m.mail_no FROM report_mails m
        WHERE m.schedule_no = ${row.scheduleNo} AND m.due_ms = ${dueMs} AND m.is_asked = ${isAsked})
    WHERE ${isSame(row)}`;
}

/** Stops a schedule until its owner saves it again. */
export function stopSchedule(
  row: ScheduleRow,
  stop: { readonly reason: StopReason; readonly nowMs: number; readonly dueMs: number },
): Statement {
  return sql`UPDATE report_schedules SET stopped = ${stop.reason}, next_ms = NULL, asked_ms = NULL, attempt_ms = NULL,
      failures = 0, last_ms = ${stop.nowMs}, last_due_ms = ${stop.dueMs}, last_fault = ${stop.reason}, last_mail_no = NULL,
      last_rows = 0, last_cut = ''
    WHERE ${isSame(row)}`;
}
