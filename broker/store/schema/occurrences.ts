// Occurrences in the service, for rules: failed commands, approvals, enrolments, absences, clones, unreadable data, expiring
// certificates. Triggers record them in the batch of the change: no statement can omit one, and a failed batch leaves none. They
// run for these changes only, never for an event. The notifier decides in the order of the numbers and removes a row in the batch
// of its decision.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { trigger } from './trigger.ts';

/** SQL of each value; the others are as the table has them. */
interface Recorded {
  readonly kind: string;
  readonly timestamp: string;
  /** Absent: the same. */
  readonly noted?: string;
  readonly more?: Readonly<Record<string, string>>;
}

/** Inserts an occurrence of the device of the changed row. */
function record({ kind, timestamp, noted = timestamp, more = {} }: Recorded): string {
  const columns = ['device_no', 'kind', 'timestamp_ms', 'noted_ms', ...Object.keys(more)];
  const values = ['NEW.device_no', kind, timestamp, noted, ...Object.values(more)];
  return `INSERT INTO occurrences (${columns.join(', ')}) VALUES (${values.join(', ')});`;
}

// A command that a user replaced or withdrew, or asked to withdraw, is expected to end without effect.
const commandTrigger = trigger({
  name: 'commands_failed',
  after: 'UPDATE OF command_state ON commands',
  when: `NEW.command_state IN ('expired', 'refused') AND OLD.command_state <> NEW.command_state
    AND OLD.command_state NOT IN ('superseded', 'cancelled') AND NEW.cancel_by IS NULL`,
  run: [
    record({
      kind: `CASE WHEN NEW.feature = 'firmware' THEN 'update_failed' WHEN NEW.command_state = 'expired'
        THEN 'command_expired' ELSE 'command_refused' END`,
      timestamp: 'NEW.updated_ms',
      more: {
        command_id: 'NEW.command_id',
        command_state: 'NEW.command_state',
        user_id: 'NEW.issuer',
      },
    }),
  ],
});

const approvalTriggers = [
  trigger({
    name: 'approvals_requested',
    after: 'INSERT ON approvals',
    when: "NEW.approval_state = 'pending'",
    run: [
      record({
        kind: "'approval_requested'",
        timestamp: 'NEW.requested_ms',
        more: { user_id: 'NEW.requested_by', object_id: 'NEW.approval_id', ends_ms: 'NEW.expires_ms' },
      }),
    ],
  }),
  trigger({
    name: 'approvals_decided',
    after: 'UPDATE OF approval_state ON approvals',
    when: `OLD.approval_state = 'pending' AND NEW.approval_state IN ('approved', 'refused', 'expired', 'void')`,
    run: [
      record({
        kind: `CASE NEW.approval_state WHEN 'approved' THEN 'approval_granted' WHEN 'refused' THEN 'approval_refused'
        ELSE 'approval_expired' END`,
        timestamp: 'COALESCE(NEW.decided_ms, NEW.requested_ms)',
        more: {
          user_id: 'COALESCE(NEW.decided_by, NEW.requested_by)',
          object_id: 'NEW.approval_id',
          command_id: 'NEW.command_id',
        },
      }),
    ],
  }),
];

const enrolmentTrigger = trigger({
  name: 'enrolment_codes_used',
  after: 'UPDATE OF used_ms ON enrolment_codes',
  when: 'OLD.used_ms IS NULL AND NEW.used_ms IS NOT NULL',
  run: [
    record({
      kind: "'device_enrolled'",
      timestamp: 'NEW.used_ms',
      more: { user_id: 'NEW.created_by', object_id: 'NEW.code_id' },
    }),
  ],
});

const absenceTriggers = [
  trigger({
    name: 'absences_noted',
    after: 'INSERT ON absences',
    run: [
      record({
        kind: "'device_offline'",
        timestamp: 'NEW.since_ms',
        noted: 'NEW.noted_ms',
        more: { after_s: 'NEW.after_s' },
      }),
      'UPDATE devices SET has_absence = 1 WHERE device_no = NEW.device_no;',
    ],
  }),
  trigger({
    name: 'absences_ended',
    after: 'UPDATE OF is_online ON devices',
    when: 'NEW.is_online = 1 AND OLD.is_online = 0 AND OLD.has_absence = 1',
    run: [
      `INSERT INTO occurrences (device_no, kind, timestamp_ms, noted_ms, after_s)
        SELECT a.device_no, 'device_online', NEW.presence_ms, NEW.presence_ms, a.after_s FROM absences a
        WHERE a.device_no = NEW.device_no;`,
      'DELETE FROM absences WHERE device_no = NEW.device_no;',
      'UPDATE devices SET has_absence = 0 WHERE device_no = NEW.device_no;',
    ],
  }),
];

const cloneTrigger = trigger({
  name: 'devices_cloned',
  after: 'UPDATE OF clone_ms ON devices',
  when: 'NEW.clone_ms > OLD.clone_ms',
  run: [record({ kind: "'clone_suspected'", timestamp: 'NEW.clone_ms' })],
});

const unreadableTrigger = trigger({
  name: 'devices_unreadable',
  after: 'UPDATE OF unreadable_ms ON devices',
  when: 'NEW.unreadable_ms > OLD.unreadable_ms',
  run: [record({ kind: "'data_unreadable'", timestamp: 'NEW.unreadable_ms' })],
});

const certificateTrigger = trigger({
  name: 'device_certificates_expiring',
  after: 'UPDATE OF expiry_noted_ms ON device_certificates',
  when: 'OLD.expiry_noted_ms IS NULL AND NEW.expiry_noted_ms IS NOT NULL',
  run: [
    record({
      kind: "'certificate_expiring'",
      timestamp: 'NEW.expiry_noted_ms',
      more: { object_id: 'NEW.serial', ends_ms: 'NEW.until_ms' },
    }),
  ],
});

export const occurrenceTables: readonly Statement[] = [
  // Occurrences that rules have not decided; at most 100,000, see `dropOccurrencesBeyond`. Numbers are given under the lock of
  // all batches, so a lower one never appears later. `timestamp_ms`: when it happened; of a device that is offline since when.
  // `noted_ms`: when the service knew it. `object_id`: approval, enrolment code, or serial of the certificate; `user_id`: who
  // asked for it or decided. `ends_ms`: when the approval's waiting or the certificate ends. `after_s`: of an absence, see there.
  ddl(`CREATE TABLE occurrences (
    occurrence_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    timestamp_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    command_id TEXT,
    command_state TEXT,
    user_id TEXT NOT NULL DEFAULT '',
    object_id TEXT NOT NULL DEFAULT '',
    ends_ms BIGINT,
    after_s BIGINT)`),
  ddl('CREATE INDEX occurrences_by_device ON occurrences (device_no)'),
  // A device that has been offline since `since_ms`, for longer than the `after_s` seconds that rules of its account wait. The
  // row stays until the device is back or no rule waits that long: each absence is recorded once, over several processes.
  ddl(`CREATE TABLE absences (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    after_s BIGINT NOT NULL,
    since_ms BIGINT NOT NULL,
    noted_ms BIGINT NOT NULL,
    PRIMARY KEY (device_no, after_s))`),
  commandTrigger,
  ...approvalTriggers,
  enrolmentTrigger,
  ...absenceTriggers,
  cloneTrigger,
  unreadableTrigger,
  certificateTrigger,
];
