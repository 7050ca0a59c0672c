// Releases of the units' program, staged by groups of devices.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

export const releaseTables: readonly Statement[] = [
  // `release_state`: 'ready' before its first stage, 'running', 'stopping' while its jobs are withdrawn, then 'stopped'; 'done' when every
  // job of the last stage has ended. `stop_after`: failed units that stop it. `stopped_by`: user; '' for the service itself, null while it goes on.
  ddl(`CREATE TABLE releases (
    release_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    release_id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (account_id),
    version TEXT NOT NULL,
    url TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    note TEXT NOT NULL,
    ttl_s INTEGER NOT NULL,
    stop_after INTEGER NOT NULL,
    release_state TEXT NOT NULL CHECK (release_state IN ('ready', 'running', 'stopping', 'stopped', 'done')),
    created_by TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    stopped_by TEXT,
    stop_reason TEXT NOT NULL DEFAULT '',
    ended_ms BIGINT NOT NULL DEFAULT 0)`),
  ddl('CREATE INDEX releases_by_account ON releases (account_id, release_no)'),
  ddl("CREATE INDEX releases_open ON releases (release_no) WHERE release_state IN ('running', 'stopping')"),
  // One group each, in this order. `started_ms` 0: it has not begun. The devices are those that the group has when it begins.
  ddl(`CREATE TABLE release_stages (
    release_no INTEGER NOT NULL REFERENCES releases (release_no) ON DELETE CASCADE,
    stage INTEGER NOT NULL,
    group_id TEXT NOT NULL,
    started_by TEXT,
    started_from TEXT NOT NULL DEFAULT '',
    started_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (release_no, stage))`),
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
