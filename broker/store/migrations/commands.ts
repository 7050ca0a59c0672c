// The command ledger.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const commandMigrations: readonly Migration[] = [
  {
    name: '0004-commands',
    statements: [
      // The ledger. `state_rank` orders the states so that a late report cannot turn the clock back; `is_final` 1 ends
      // the command. At most one unfinished command per feature of a device: the newest replaces an older one.
      // Rank 5 is an end that the broker presumes, 6 one that the device reported, which is the truth. `reported_ms` and
      // `reported_tie` belong to the newest report of the present rank. `cancel_by`: who asked to withdraw it.
      // `detail`: the vehicle's own words in that report. `verdict`: the rules of the interlock in it as JSON, see
      // `src/core/verdict.ts`; null when it sent none. `approval_id`, `approver`: the approval that a cut came from, and who gave it. A firmware job stands here too, with
      // the feature `firmware`; `content` then says as JSON what it is about, and is null for all others.
      ddl(`CREATE TABLE commands (
        command_id TEXT NOT NULL PRIMARY KEY,
        device_no INTEGER NOT NULL REFERENCES devices (device_no),
        feature TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('0', '1')),
        reason TEXT NOT NULL,
        issuer TEXT NOT NULL,
        issued_ms BIGINT NOT NULL,
        expires_ms BIGINT NOT NULL,
        command_state TEXT NOT NULL,
        state_rank INTEGER NOT NULL,
        detail TEXT NOT NULL DEFAULT '',
        verdict TEXT,
        is_final INTEGER NOT NULL DEFAULT 0,
        updated_ms BIGINT NOT NULL,
        reported_ms BIGINT NOT NULL DEFAULT 0,
        reported_tie TEXT NOT NULL DEFAULT '',
        cancel_by TEXT,
        approval_id TEXT UNIQUE,
        approver TEXT,
        content TEXT,
        sent_boot TEXT,
        sent_counter BIGINT)`),
      ddl('CREATE UNIQUE INDEX commands_unfinished ON commands (device_no, feature) WHERE is_final = 0'),
      ddl('CREATE INDEX commands_by_device ON commands (device_no, issued_ms)'),
      // What is limited in number is counted by time.
      ddl("CREATE INDEX commands_limited ON commands (issued_ms) WHERE state = '1'"),
    ],
  },
];
