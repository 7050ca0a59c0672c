// Devices, their last known states and boots, and the groups that limit who sees them.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const deviceMigrations: readonly Migration[] = [
  {
    name: '0002-devices',
    statements: [
      // `secret_hash`: SHA-256 of the device's random MQTT secret (256 bits need no slow hash); null = none issued.
      // `device_no` is never used again after a deletion: a connection that still holds it must not write to another's rows.
      // `edited_ms`: when people last changed something. `boot` .. `time_quality`: as the device said in its last hello. `command_counter`: last one used in an envelope.
      ddl(`CREATE TABLE devices (
        device_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        account_no INTEGER NOT NULL,
        account_id TEXT NOT NULL REFERENCES accounts (account_id),
        device_id TEXT NOT NULL,
        unique_id TEXT NOT NULL DEFAULT '',
        sms TEXT NOT NULL DEFAULT '',
        type TEXT NOT NULL DEFAULT '',
        description TEXT NOT NULL DEFAULT '',
        display_name TEXT NOT NULL DEFAULT '',
        driver TEXT NOT NULL DEFAULT '',
        notify_email TEXT NOT NULL DEFAULT '',
        pin_color TEXT NOT NULL DEFAULT '1f77b4',
        pin_tag TEXT NOT NULL DEFAULT '',
        additional_pin_display TEXT NOT NULL DEFAULT '',
        equipment_type_id TEXT NOT NULL DEFAULT '',
        equipment_type_desc TEXT NOT NULL DEFAULT '',
        created_s BIGINT NOT NULL,
        edited_ms BIGINT NOT NULL DEFAULT 0,
        secret_hash TEXT,
        secret_issued_s BIGINT,
        boot TEXT,
        nonce TEXT,
        agent_version TEXT NOT NULL DEFAULT '',
        features TEXT NOT NULL DEFAULT '[]',
        sensors TEXT NOT NULL DEFAULT '[]',
        witnesses TEXT,
        config_version BIGINT NOT NULL DEFAULT 0,
        time_quality TEXT NOT NULL DEFAULT 'none',
        hello_ms BIGINT NOT NULL DEFAULT 0,
        is_online INTEGER NOT NULL DEFAULT 0,
        command_counter BIGINT NOT NULL DEFAULT 0,
        heartbeat_ms BIGINT NOT NULL DEFAULT 0,
        fix_ms BIGINT NOT NULL DEFAULT 0,
        latitude DOUBLE PRECISION NOT NULL DEFAULT 0,
        longitude DOUBLE PRECISION NOT NULL DEFAULT 0,
        speed DOUBLE PRECISION NOT NULL DEFAULT 0,
        heading DOUBLE PRECISION NOT NULL DEFAULT 0,
        altitude DOUBLE PRECISION NOT NULL DEFAULT 0,
        address TEXT NOT NULL DEFAULT '',
        geozone_id TEXT NOT NULL DEFAULT '',
        fix_tie TEXT NOT NULL DEFAULT '',
        odometer DOUBLE PRECISION,
        odometer_ms BIGINT NOT NULL DEFAULT 0,
        odometer_tie TEXT NOT NULL DEFAULT '',
        fuel_level DOUBLE PRECISION,
        fuel_ms BIGINT NOT NULL DEFAULT 0,
        fuel_tie TEXT NOT NULL DEFAULT '',
        passengers INTEGER,
        passengers_ms BIGINT NOT NULL DEFAULT 0,
        passengers_tie TEXT NOT NULL DEFAULT '',
        max_passengers INTEGER,
        diagnostic TEXT,
        diagnostic_ms BIGINT NOT NULL DEFAULT 0,
        diagnostic_tie TEXT NOT NULL DEFAULT '',
        UNIQUE (account_id, device_id))`),
      ddl("CREATE UNIQUE INDEX devices_unique_id ON devices (account_id, unique_id) WHERE unique_id <> ''"),
      // Last known state of every sensor and feature; `state` is '0' or '1' (fuel: the level as decimal text).
      // `changed_ms`: event time of the newest report. `*_tie` decides between events of the same millisecond, so that
      // any order of arrival ends in the same state.
      ddl(`CREATE TABLE device_states (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        changed_ms BIGINT NOT NULL,
        changed_tie TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (device_no, name))`),
      // `up_to`: every event of this boot from 1 to here is committed.
      ddl(`CREATE TABLE boots (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        boot TEXT NOT NULL,
        first_seen_ms BIGINT NOT NULL,
        up_to BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (device_no, boot))`),
    ],
  },
  {
    name: '0002-groups',
    statements: [
      ddl(`CREATE TABLE device_groups (
        group_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        account_id TEXT NOT NULL REFERENCES accounts (account_id),
        group_id TEXT NOT NULL,
        display_name TEXT NOT NULL DEFAULT '',
        description TEXT NOT NULL DEFAULT '',
        UNIQUE (account_id, group_id))`),
      ddl(`CREATE TABLE group_devices (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        group_no INTEGER NOT NULL REFERENCES device_groups (group_no),
        PRIMARY KEY (device_no, group_no))`),
      ddl('CREATE INDEX group_devices_by_group ON group_devices (group_no)'),
      ddl(`CREATE TABLE group_users (
        account_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        group_no INTEGER NOT NULL REFERENCES device_groups (group_no),
        PRIMARY KEY (account_id, user_id, group_no),
        FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id))`),
      ddl('CREATE INDEX group_users_by_group ON group_users (group_no)'),
    ],
  },
  {
    name: '0005-deleted-devices',
    statements: [
      // A deleted device has no row in `devices` any more; what hangs on it went with it (ON DELETE CASCADE), but for its
      // events, which are cleared away in small batches afterwards and belong to nobody until then. `is_purged` 1: done.
      ddl(`CREATE TABLE deleted_devices (
        device_no INTEGER NOT NULL PRIMARY KEY,
        account_id TEXT NOT NULL,
        device_id TEXT NOT NULL,
        deleted_s BIGINT NOT NULL,
        is_purged INTEGER NOT NULL DEFAULT 0)`),
      ddl('CREATE INDEX deleted_devices_by_time ON deleted_devices (deleted_s)'),
    ],
  },
  {
    name: '0006-service-codes',
    statements: [
      // How many one-time codes were shown for a device since it got the secret with this hash; each is shown once.
      ddl(`CREATE TABLE service_codes (
        device_no INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE,
        secret_hash TEXT NOT NULL,
        shown BIGINT NOT NULL)`),
    ],
  },
];
