// Releases of the units' program, staged by groups of devices.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { column, type Infer, table } from '../../store/base/table.ts';

export const releases = table('releases', {
  releaseNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
  releaseID: 'TEXT NOT NULL UNIQUE',
  accountID: 'TEXT NOT NULL REFERENCES accounts (account_id)',
  version: 'TEXT NOT NULL',
  url: 'TEXT NOT NULL',
  sha256: 'TEXT NOT NULL',
  note: 'TEXT NOT NULL',
  ttlS: 'INTEGER NOT NULL',
  /** Failed units that stop it. */
  stopAfter: 'INTEGER NOT NULL',
  /** `ready` before its first stage, `stopping` while its jobs are withdrawn, `done` when every job of the last stage has ended. */
  releaseState: "TEXT NOT NULL CHECK (release_state IN ('ready', 'running', 'stopping', 'stopped', 'done'))",
  createdBy: 'TEXT NOT NULL',
  createdMs: 'BIGINT NOT NULL',
  /** User; '' for the service itself, null while it goes on. */
  stoppedBy: 'TEXT',
  stopReason: "TEXT NOT NULL DEFAULT ''",
  endedMs: 'BIGINT NOT NULL DEFAULT 0',
});
export type ReleaseRow = Infer<typeof releases>;

/** One group each, in this order. The devices are those that the group has when it begins. */
export const releaseStages = table(
  'release_stages',
  {
    releaseNo: 'INTEGER NOT NULL REFERENCES releases (release_no) ON DELETE CASCADE',
    stage: 'INTEGER NOT NULL',
    groupID: 'TEXT NOT NULL',
    startedBy: 'TEXT',
    startedFrom: column("TEXT NOT NULL DEFAULT ''", 'hidden'),
    /** 0: it has not begun. */
    startedMs: 'BIGINT NOT NULL DEFAULT 0',
  },
  'PRIMARY KEY (release_no, stage)',
);

export const releaseTables: readonly Statement[] = [
  releases.create,
  ddl('CREATE INDEX releases_by_account ON releases (account_id, release_no)'),
  ddl("CREATE INDEX releases_open ON releases (release_no) WHERE release_state IN ('running', 'stopping')"),
  releaseStages.create,
  // `unit_state`: 'waiting' for its job, 'ordered', or 'current' when it ran the version already. `command_id`: its job.
  ddl(`CREATE TABLE release_units (
    release_no INTEGER NOT NULL REFERENCES releases (release_no) ON DELETE CASCADE,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    stage INTEGER NOT NULL,
    unit_state TEXT NOT NULL CHECK (unit_state IN ('waiting', 'ordered', 'current')),
    command_id TEXT UNIQUE,
    changed_ms BIGINT NOT NULL,
    PRIMARY KEY (release_no, device_no))`),
  ddl('CREATE INDEX release_units_by_device ON release_units (device_no)'),
  ddl("CREATE INDEX release_units_waiting ON release_units (release_no, stage) WHERE unit_state = 'waiting'"),
];
