// What people chose for vehicles, and which configuration each vehicle is to hold and holds.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const configMigrations: readonly Migration[] = [
  {
    name: '0010-configs',
    statements: [
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
      // `version` and `sha256`: what the vehicle is to hold, made of the revisions beside; version 0: nothing was ever
      // chosen. `held_*`: what it said that it holds. `failed_*`: the newest version that it could not take; `failed_retry` 0:
      // it need not be sent again to that version of the agent. `fault`: why nothing could be made; '' when all is well.
      ddl(`CREATE TABLE device_configs (
        device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
        version BIGINT NOT NULL DEFAULT 0,
        sha256 TEXT NOT NULL DEFAULT '',
        account_revision BIGINT NOT NULL DEFAULT 0,
        device_revision BIGINT NOT NULL DEFAULT 0,
        sent_ms BIGINT NOT NULL DEFAULT 0,
        held_version BIGINT NOT NULL DEFAULT 0,
        held_sha256 TEXT NOT NULL DEFAULT '',
        held_ms BIGINT NOT NULL DEFAULT 0,
        failed_version BIGINT NOT NULL DEFAULT 0,
        failed_ms BIGINT NOT NULL DEFAULT 0,
        failed_reason TEXT NOT NULL DEFAULT '',
        failed_retry INTEGER NOT NULL DEFAULT 0,
        failed_agent TEXT NOT NULL DEFAULT '',
        fault TEXT NOT NULL DEFAULT '')`),
    ],
  },
];
