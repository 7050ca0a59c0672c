// The broker's tables, as an ordered list of migrations. Every tenant's rows hang on `account_id`; rows of a device
// hang on `device_no`, which belongs to one account. Times: `_s` epoch seconds, `_ms` epoch milliseconds.
import { ddl, type Migration } from '../../src/migrate.ts';

export const migrations: readonly Migration[] = [
  {
    name: '0001-accounts',
    statements: [
      ddl(`CREATE TABLE accounts (
        account_id TEXT NOT NULL PRIMARY KEY,
        display_name TEXT NOT NULL,
        is_active INTEGER NOT NULL DEFAULT 1,
        created_s BIGINT NOT NULL)`),
      ddl(`CREATE TABLE users (
        account_id TEXT NOT NULL REFERENCES accounts (account_id),
        user_id TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('admin', 'operator', 'viewer')),
        display_name TEXT NOT NULL,
        is_active INTEGER NOT NULL DEFAULT 1,
        created_s BIGINT NOT NULL,
        PRIMARY KEY (account_id, user_id))`),
      ddl(`CREATE TABLE sessions (
        token_hash TEXT NOT NULL PRIMARY KEY,
        account_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        created_s BIGINT NOT NULL,
        last_used_s BIGINT NOT NULL,
        FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id))`),
    ],
  },
  {
    name: '0002-devices',
    statements: [
      // `secret_hash`: SHA-256 of the device's random MQTT secret (256 bits need no slow hash); null = none issued.
      // `device_no` is never used again after a deletion: a connection that still holds it must not write to another's rows.
      // `boot` .. `time_quality`: as the device said in its last hello. `command_counter`: last one used in an envelope.
      ddl(`CREATE TABLE devices (
        device_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
        secret_hash TEXT,
        secret_issued_s BIGINT,
        boot TEXT,
        nonce TEXT,
        agent_version TEXT NOT NULL DEFAULT '',
        features TEXT NOT NULL DEFAULT '[]',
        sensors TEXT NOT NULL DEFAULT '[]',
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
        UNIQUE (account_id, device_id))`),
      ddl("CREATE UNIQUE INDEX devices_unique_id ON devices (account_id, unique_id) WHERE unique_id <> ''"),
      // Last known state of every sensor and feature; `state` is '0' or '1' (fuel: the level as decimal text).
      // `changed_ms`: event time of the newest report. `*_tie` decides between events of the same millisecond, so that
      // any order of arrival ends in the same state.
      ddl(`CREATE TABLE device_states (
        device_no INTEGER NOT NULL REFERENCES devices (device_no),
        name TEXT NOT NULL,
        state TEXT NOT NULL,
        changed_ms BIGINT NOT NULL,
        changed_tie TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (device_no, name))`),
      // `up_to`: every event of this boot from 1 to here is committed.
      ddl(`CREATE TABLE boots (
        device_no INTEGER NOT NULL REFERENCES devices (device_no),
        boot TEXT NOT NULL,
        first_seen_ms BIGINT NOT NULL,
        up_to BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (device_no, boot))`),
    ],
  },
  {
    name: '0003-events',
    statements: [
      // A bare JSON event without a boot gets boot '@<timestamp in ms>' and seq = status code, which no boot id can be:
      // that is its de-duplication by (device, timestamp, statusCode). `event_no` only grows: the resume point of streams.
      ddl(`CREATE TABLE events (
        event_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        device_no INTEGER NOT NULL REFERENCES devices (device_no),
        boot TEXT NOT NULL,
        seq BIGINT NOT NULL,
        timestamp_ms BIGINT NOT NULL,
        received_ms BIGINT NOT NULL,
        up_ms BIGINT,
        time_quality TEXT NOT NULL,
        status_code INTEGER NOT NULL,
        latitude DOUBLE PRECISION,
        longitude DOUBLE PRECISION,
        altitude DOUBLE PRECISION,
        speed DOUBLE PRECISION,
        heading DOUBLE PRECISION,
        hdop DOUBLE PRECISION,
        satellites INTEGER,
        odometer DOUBLE PRECISION,
        fuel_level DOUBLE PRECISION,
        inputs TEXT,
        outputs TEXT,
        geozone_id TEXT NOT NULL DEFAULT '',
        command_id TEXT,
        command_state TEXT,
        attributes TEXT,
        UNIQUE (device_no, boot, seq))`),
      ddl('CREATE INDEX events_by_time ON events (device_no, timestamp_ms, event_no)'),
      ddl(`CREATE TABLE quarantine (
        quarantine_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        device_no INTEGER NOT NULL REFERENCES devices (device_no),
        topic TEXT NOT NULL,
        received_ms BIGINT NOT NULL,
        reason TEXT NOT NULL,
        payload BLOB NOT NULL)`),
      ddl('CREATE INDEX quarantine_by_device ON quarantine (device_no, quarantine_no)'),
    ],
  },
  {
    name: '0004-commands',
    statements: [
      // The ledger. `state_rank` orders the states so that a late report cannot turn the clock back; `is_final` 1 ends
      // the command. At most one unfinished command per feature of a device: the newest replaces an older one.
      // Rank 5 is an end that the broker presumes, 6 one that the device reported, which is the truth. `reported_ms` and
      // `reported_tie` belong to the newest report of the present rank. `cancel_by`: who asked to withdraw it.
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
        is_final INTEGER NOT NULL DEFAULT 0,
        updated_ms BIGINT NOT NULL,
        reported_ms BIGINT NOT NULL DEFAULT 0,
        reported_tie TEXT NOT NULL DEFAULT '',
        cancel_by TEXT,
        sent_boot TEXT,
        sent_counter BIGINT)`),
      ddl('CREATE UNIQUE INDEX commands_unfinished ON commands (device_no, feature) WHERE is_final = 0'),
      ddl('CREATE INDEX commands_by_device ON commands (device_no, issued_ms)'),
    ],
  },
];
