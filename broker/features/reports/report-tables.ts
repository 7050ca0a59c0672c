// Reports that are mailed: their schedules, and the mails that wait for their deliveries.
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { textOf } from '../../store/base/row.ts';
import { column, table } from '../../store/base/table.ts';
import { trigger } from '../../store/schema/trigger.ts';
import type { CutReason, MissReason, ScheduleDefinition, StopReason } from './core/report-schedule.ts';

/** Only the statements of schedules write it. */
const as =
  <T>() =>
  (row: Row, name: string): T =>
    textOf(row, name) as T;

export const reportSchedules = table(
  'report_schedules',
  {
    scheduleNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id)',
    scheduleID: 'TEXT NOT NULL',
    /** User whose rights decide what it contains; no reference, so that a deleted user's schedule can say why it stopped. */
    owner: 'TEXT NOT NULL',
    /** What users set, as JSON. */
    definition: column('TEXT NOT NULL', (row, name) => JSON.parse(textOf(row, name)) as ScheduleDefinition),
    changedMs: 'BIGINT NOT NULL',
    /** The next due time; null: off or stopped. */
    nextMs: 'BIGINT',
    /** Since when a user wants one sent now; null: none does. */
    askedMs: 'BIGINT',
    /** When there is something to do, a try after a failure included; null: nothing. */
    attemptMs: 'BIGINT',
    /** Failed tries of what is due. */
    failures: 'INTEGER NOT NULL DEFAULT 0',
    /** Why the service stopped it; '' when it did not. */
    stopped: column("TEXT NOT NULL DEFAULT ''", as<StopReason | ''>()),
    /** When the last one was mailed or given up; null before the first. */
    lastMs: 'BIGINT',
    lastDueMs: 'BIGINT',
    /** Why the last one was not mailed; '' when it was. */
    lastFault: column("TEXT NOT NULL DEFAULT ''", as<StopReason | MissReason | ''>()),
    lastMailNo: 'BIGINT',
    lastRows: 'BIGINT NOT NULL DEFAULT 0',
    /** Why no file was attached to the last one. */
    lastCut: column("TEXT NOT NULL DEFAULT ''", as<CutReason>()),
  },
  'UNIQUE (account_id, schedule_id)',
);

export const reportTables: readonly Statement[] = [
  reportSchedules.create,
  ddl('CREATE INDEX report_schedules_due ON report_schedules (attempt_ms) WHERE attempt_ms IS NOT NULL'),
  ddl('CREATE INDEX report_schedules_by_owner ON report_schedules (account_id, owner)'),
  // One row for each due time or request of a schedule. `sight`: what its owner could see when it was read; with another one it is not
  // delivered. `csv`: the attached file, packed with gzip; NULL without one. Of an old one `body` is '' and `csv` NULL: it is kept to name
  // the schedule of its deliveries.
  ddl(`CREATE TABLE report_mails (
    mail_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL,
    schedule_no INTEGER NOT NULL,
    due_ms BIGINT NOT NULL,
    is_asked INTEGER NOT NULL,
    owner TEXT NOT NULL,
    sight TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    file_name TEXT NOT NULL,
    csv BLOB,
    created_ms BIGINT NOT NULL,
    UNIQUE (schedule_no, due_ms, is_asked))`),
  ddl('CREATE INDEX report_mails_by_age ON report_mails (created_ms)'),
  // At once: a later user of the same name must not come into its reports. What of them waits to be delivered ends when it is tried.
  trigger({
    name: 'report_schedules_orphaned',
    after: 'DELETE ON users',
    run: [
      `UPDATE report_schedules SET stopped = '${'owner_gone' satisfies StopReason}', next_ms = NULL, asked_ms = NULL, attempt_ms = NULL
        WHERE account_id = OLD.account_id AND owner = OLD.user_id;`,
    ],
  }),
];
