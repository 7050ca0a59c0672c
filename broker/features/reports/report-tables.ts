// Reports that are mailed: their schedules, and the mails that wait for their deliveries.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { trigger } from '../../store/schema/trigger.ts';
import type { StopReason } from './core/report-schedule.ts';

export const reportTables: readonly Statement[] = [
  // `owner`: the user who made it, whose rights decide what it contains; no reference, so that a deleted user's schedule can say why it
  // stopped. `definition`: what users set, as JSON. `next_ms`: the next due time; NULL: off or stopped. `asked_ms`: a user wants one sent
  // now, since then. `attempt_ms`: when there is something to do, a try after a failure included; NULL: nothing. `stopped`: why the
  // service stopped it; '' when it did not. `last_*`: the last report that was due or asked for. `last_fault`: why it was not mailed;
  // '' when it was. `last_cut`: why no file was attached.
  ddl(`CREATE TABLE report_schedules (
    schedule_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL REFERENCES accounts (account_id),
    schedule_id TEXT NOT NULL,
    owner TEXT NOT NULL,
    definition TEXT NOT NULL,
    changed_ms BIGINT NOT NULL,
    next_ms BIGINT,
    asked_ms BIGINT,
    attempt_ms BIGINT,
    failures INTEGER NOT NULL DEFAULT 0,
    stopped TEXT NOT NULL DEFAULT '',
    last_ms BIGINT,
    last_due_ms BIGINT,
    last_fault TEXT NOT NULL DEFAULT '',
    last_mail_no BIGINT,
    last_rows BIGINT NOT NULL DEFAULT 0,
    last_cut TEXT NOT NULL DEFAULT '',
    UNIQUE (account_id, schedule_id))`),
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
