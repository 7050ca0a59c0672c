// Alarms, their activity, their events, and which rules have escalated them.
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { type AlarmPriority, alarmPriorities } from '../../core/notifications/alarm-kinds.ts';
import { flagOf, numberOf } from '../base/row.ts';
import { column, table } from '../base/table.ts';

const priorityOf = (row: Row, name: string): AlarmPriority => alarmPriorities[numberOf(row, name)] ?? 'low';

// One row from the first event of its kind until it is closed; a later event of that kind begins another. The kind is a
// code and, for crossings of geozones, the zone in `subject`. `device_no` is no reference: rows of a deleted device are
// purged in batches, and reads join the device. `priority`: 0 critical, 1 high, 2 low. `version` counts changes of the
// handling, not repeats: an optimistic lock for people. `changed_ms` is that of every change, for live streams.
// `untaken_ms`: since when it has had no owner; `untaken_round` grows each time that it becomes new again, so that rules
// escalate it again. `shelved_event_no`: the newest event when it was shelved. `ended_ms`: event time of the report that
// the condition has ended. The position and the command are those of the newest event.
export const alarms = table('alarms', {
  alarmNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
  accountID: 'TEXT NOT NULL',
  deviceNo: 'INTEGER NOT NULL',
  statusCode: 'INTEGER NOT NULL',
  subject: column('TEXT NOT NULL', 'hidden'),
  priority: column('INTEGER NOT NULL', priorityOf),
  closesItself: column('INTEGER NOT NULL', flagOf),
  state: "TEXT NOT NULL CHECK (state IN ('new', 'taken', 'shelved', 'closed'))",
  owner: "TEXT NOT NULL DEFAULT ''",
  version: 'BIGINT NOT NULL DEFAULT 1',
  changedMs: 'BIGINT NOT NULL',
  openedMs: 'BIGINT NOT NULL',
  firstTakenMs: 'BIGINT',
  untakenMs: 'BIGINT NOT NULL',
  untakenRound: 'BIGINT NOT NULL DEFAULT 1',
  count: 'BIGINT NOT NULL DEFAULT 1',
  firstEventNo: column('BIGINT NOT NULL', 'hidden'),
  firstEventID: 'TEXT NOT NULL',
  firstMs: 'BIGINT NOT NULL',
  lastEventNo: 'BIGINT NOT NULL',
  lastEventID: 'TEXT NOT NULL',
  lastMs: 'BIGINT NOT NULL',
  receivedMs: 'BIGINT NOT NULL',
  latitude: 'DOUBLE PRECISION',
  longitude: 'DOUBLE PRECISION',
  geozoneID: 'TEXT NOT NULL',
  commandID: 'TEXT',
  commandState: 'TEXT',
  isLate: column('INTEGER NOT NULL', flagOf),
  endedMs: 'BIGINT',
  shelvedUntilMs: 'BIGINT',
  shelvedBy: "TEXT NOT NULL DEFAULT ''",
  shelvedEventNo: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  closedMs: 'BIGINT',
  closedBy: "TEXT NOT NULL DEFAULT ''",
  closeReason: "TEXT NOT NULL DEFAULT ''",
  note: "TEXT NOT NULL DEFAULT ''",
  notes: 'BIGINT NOT NULL DEFAULT 0',
  escalations: 'BIGINT NOT NULL DEFAULT 0',
  escalatedMs: 'BIGINT',
});

export const alarmTables: readonly Statement[] = [
  alarms.create,
  ddl(
    `CREATE UNIQUE INDEX alarms_open_kind ON alarms (device_no, status_code, subject) WHERE state <> 'closed'`,
  ),
  ddl("CREATE INDEX alarms_open ON alarms (account_id, priority) WHERE state <> 'closed'"),
  ddl("CREATE INDEX alarms_by_state ON alarms (state, alarm_no) WHERE state <> 'closed'"),
  ddl("CREATE INDEX alarms_ended ON alarms (alarm_no) WHERE ended_ms IS NOT NULL AND state <> 'closed'"),
  ddl("CREATE INDEX alarms_closed ON alarms (closed_ms) WHERE state = 'closed'"),
  ddl("CREATE INDEX alarms_closed_of_account ON alarms (account_id, closed_ms) WHERE state = 'closed'"),
  ddl('CREATE INDEX alarms_by_account ON alarms (account_id, alarm_no)'),
  ddl('CREATE INDEX alarms_by_opening ON alarms (account_id, opened_ms)'),
  ddl('CREATE INDEX alarms_by_device ON alarms (device_no, alarm_no)'),
  ddl('CREATE INDEX alarms_by_change ON alarms (changed_ms, alarm_no)'),
  // The newest events of an alarm; an event belongs to one alarm at most.
  ddl(`CREATE TABLE alarm_events (
    event_no BIGINT NOT NULL PRIMARY KEY,
    alarm_no BIGINT NOT NULL REFERENCES alarms (alarm_no) ON DELETE CASCADE,
    event_id TEXT NOT NULL,
    timestamp_ms BIGINT NOT NULL)`),
  ddl('CREATE INDEX alarm_events_by_alarm ON alarm_events (alarm_no, event_no)'),
  // Actions on an alarm, and notes; `actor` 'service': the broker itself. `other`: the user or rule that it names.
  ddl(`CREATE TABLE alarm_activity (
    activity_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    alarm_no BIGINT NOT NULL REFERENCES alarms (alarm_no) ON DELETE CASCADE,
    at_ms BIGINT NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    other TEXT NOT NULL,
    text TEXT NOT NULL)`),
  ddl('CREATE INDEX alarm_activity_by_alarm ON alarm_activity (alarm_no, activity_no)'),
  // A row: the rule has decided about this round of the alarm, whether it notified or not.
  ddl(`CREATE TABLE alarm_escalations (
    alarm_no BIGINT NOT NULL REFERENCES alarms (alarm_no) ON DELETE CASCADE,
    rule_no BIGINT NOT NULL,
    untaken_round BIGINT NOT NULL,
    PRIMARY KEY (alarm_no, rule_no, untaken_round))`),
];
