// What stands around the command ledger: approvals by a second user, and messages to and from vehicles.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const ledgerMigrations: readonly Migration[] = [
  {
    name: '0005-approvals',
    statements: [
      // A cut that waits for a second user; nothing is signed before `approval_state` is 'approved', which one batch sets
      // together with the command. `expires_ms` ends the waiting, `command_expires_ms` the command that may come of it.
      // At most one waits for each device. `decided_by`: who approved, refused or withdrew it; null while it waits.
      ddl(`CREATE TABLE approvals (
        approval_id TEXT NOT NULL PRIMARY KEY,
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        approval_state TEXT NOT NULL
          CHECK (approval_state IN ('pending', 'approved', 'refused', 'withdrawn', 'expired')),
        reason TEXT NOT NULL,
        requested_by TEXT NOT NULL,
        requested_ms BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL,
        command_expires_ms BIGINT NOT NULL,
        decided_by TEXT,
        decided_ms BIGINT,
        command_id TEXT)`),
      ddl("CREATE UNIQUE INDEX approvals_pending ON approvals (device_no) WHERE approval_state = 'pending'"),
      ddl('CREATE INDEX approvals_by_device ON approvals (device_no, requested_ms)'),
      ddl('CREATE INDEX approvals_by_time ON approvals (requested_ms)'),
    ],
  },
  {
    name: '0005-messages',
    statements: [
      // From people to a vehicle. `delivered_ms`: when the broker was told that the vehicle has it; null until then.
      // Messages from vehicles are events.
      ddl(`CREATE TABLE messages (
        message_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        message_id TEXT NOT NULL UNIQUE,
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        text TEXT NOT NULL,
        sender TEXT NOT NULL,
        sent_ms BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL,
        delivered_ms BIGINT)`),
      ddl('CREATE INDEX messages_by_device ON messages (device_no, message_no)'),
      // Messages of vehicles up to this event number count as read by the user.
      ddl(`CREATE TABLE message_reads (
        account_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        read_up_to BIGINT NOT NULL,
        PRIMARY KEY (account_id, user_id),
        FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE)`),
    ],
  },
];
