// Chosen settings, the configuration of each vehicle, requests to units, and geozones.

import { type ZoneSwitch, zoneSwitches } from '../../../src/core/geo/geozone.ts';
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { flagOf, textListOf } from '../base/row.ts';
import { column, table } from '../base/table.ts';

export function switchesOf(row: Row, name: string): readonly ZoneSwitch[] {
  const on = textListOf(row, name);
  return zoneSwitches.filter((one) => on.includes(one));
}

// `version` and `sha256`: the wanted configuration, made of the revisions beside; version 0: none was ever
// chosen. `held_*`: what it said that it holds. `failed_*`: the newest version that it could not take; `failed_retry` 0:
// it need not be sent again to that version of the agent. `fault`: why nothing could be made; '' when all is well.
export const deviceConfigs = table('device_configs', {
  deviceNo: column('INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE', 'hidden'),
  /** Wanted version; 0: no settings were ever chosen. */
  version: 'BIGINT NOT NULL DEFAULT 0',
  sha256: "TEXT NOT NULL DEFAULT ''",
  /** Revisions of the account and of the device that it was made from. */
  accountRevision: 'BIGINT NOT NULL DEFAULT 0',
  deviceRevision: 'BIGINT NOT NULL DEFAULT 0',
  sentMs: 'BIGINT NOT NULL DEFAULT 0',
  heldVersion: 'BIGINT NOT NULL DEFAULT 0',
  heldSha256: "TEXT NOT NULL DEFAULT ''",
  heldMs: 'BIGINT NOT NULL DEFAULT 0',
  failedVersion: 'BIGINT NOT NULL DEFAULT 0',
  failedMs: 'BIGINT NOT NULL DEFAULT 0',
  failedReason: "TEXT NOT NULL DEFAULT ''",
  failedRetry: column('INTEGER NOT NULL DEFAULT 0', flagOf),
  /** Version of the agent that refused it. */
  failedAgent: "TEXT NOT NULL DEFAULT ''",
  /** Why none could be made; '' without a fault. */
  fault: "TEXT NOT NULL DEFAULT ''",
});

// `points`: JSON list of eight [latitude, longitude], unset ones as [0, 0]. `switches`: JSON list of the names of the
// automations and alerts that are on. `south` .. `east`: box that holds everything in the zone; `west` > `east` when
// it crosses the antimeridian; null while nothing can be in it. `version` grows with every change.
export const geozones = table(
  'geozones',
  {
    accountID: column('TEXT NOT NULL REFERENCES accounts (account_id)', 'hidden'),
    geozoneID: 'TEXT NOT NULL',
    displayName: 'TEXT NOT NULL',
    description: 'TEXT NOT NULL',
    type: column('INTEGER NOT NULL', 'hidden'),
    radiusM: column('INTEGER NOT NULL', 'hidden'),
    points: column('TEXT NOT NULL', 'hidden'),
    switches: column('TEXT NOT NULL', switchesOf),
    south: column('DOUBLE PRECISION', 'hidden'),
    north: column('DOUBLE PRECISION', 'hidden'),
    west: column('DOUBLE PRECISION', 'hidden'),
    east: column('DOUBLE PRECISION', 'hidden'),
    /** Grows with every change. */
    version: 'BIGINT NOT NULL',
    changedMs: column('BIGINT NOT NULL', 'hidden'),
  },
  'PRIMARY KEY (account_id, geozone_id)',
);

export const configTables: readonly Statement[] = [
  // `settings`: JSON of the tables that were chosen for all vehicles of the account; `settings_revision` grows with each
  // change of them. `revision` grows with everything that may change what vehicles are sent: settings and geozones.
  ddl(`CREATE TABLE account_configs (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (account_id),
    settings TEXT NOT NULL,
    settings_revision BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL)`),
  ddl('CREATE INDEX account_configs_by_change ON account_configs (changed_ms)'),
  // The same for one vehicle; laid over those of the account.
  ddl(`CREATE TABLE device_settings (
    device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
    settings TEXT NOT NULL,
    revision BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL)`),
  ddl('CREATE INDEX device_settings_by_change ON device_settings (changed_ms)'),
  deviceConfigs.create,
  // What live streams missed.
  ddl('CREATE INDEX device_configs_by_held ON device_configs (held_ms)'),
  ddl('CREATE INDEX device_configs_by_failed ON device_configs (failed_ms)'),
  // `lane`: a device has at most one open request in each: 'report' for health and log, else that of the kind. `is_open` 0: it has
  // ended. `sent_boot`: boot that the newest envelope was bound to; null while none left. `parts`: of the answer, 0 while
  // unknown. An answer that comes after the end by time is still taken: what the unit says is the truth.
  ddl(`CREATE TABLE device_requests (
    request_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    request_id TEXT NOT NULL UNIQUE,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('diagnostic', 'log', 'position', 'interlock', 'interlock_cargo')),
    lane TEXT NOT NULL CHECK (lane IN ('report', 'position', 'interlock', 'interlock_cargo')),
    issuer TEXT NOT NULL,
    issued_ms BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    request_state TEXT NOT NULL
      CHECK (request_state IN ('requested', 'sent', 'answering', 'answered', 'refused', 'expired')),
    is_open INTEGER NOT NULL DEFAULT 1,
    detail TEXT NOT NULL DEFAULT '',
    parts INTEGER NOT NULL DEFAULT 0,
    answered_ms BIGINT NOT NULL DEFAULT 0,
    sent_boot TEXT)`),
  ddl('CREATE UNIQUE INDEX device_requests_open ON device_requests (device_no, lane) WHERE is_open = 1'),
  ddl('CREATE INDEX device_requests_by_device ON device_requests (device_no, request_no)'),
  ddl('CREATE INDEX device_requests_by_end ON device_requests (expires_ms) WHERE is_open = 1'),
  ddl('CREATE INDEX device_requests_by_time ON device_requests (issued_ms)'),
  // `content`: JSON of the attributes as the unit sent them. Bounded in number and size by what an answer may be.
  ddl(`CREATE TABLE device_answers (
    request_no INTEGER NOT NULL REFERENCES device_requests (request_no) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (request_no, part))`),
  geozones.create,
  // Answers "which zones may hold this point" without touching the table.
  ddl('CREATE INDEX geozones_by_box ON geozones (account_id, south, north, west, east, geozone_id)'),
  // Geozone watch of a device without an agent: zones that it is in (JSON list of ids), the fingerprint of the compared zones,
  // and the number of recorded crossings. `revision`: an optimistic lock.
  ddl(`CREATE TABLE zone_watches (
    device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
    revision BIGINT NOT NULL,
    compared TEXT NOT NULL,
    inside TEXT NOT NULL,
    crossings BIGINT NOT NULL)`),
];
