// Events and the payloads that could not be read.
import { ddl, type Migration } from '../../../src/migrate.ts';
import { notRoutine } from '../routine-codes.ts';

export const eventMigrations: readonly Migration[] = [
  {
    name: '0003-events',
    statements: [
      // A bare JSON event without a boot gets boot '@<timestamp in ms>' and seq = status code, which no boot id can be:
      // that is its de-duplication by (device, timestamp, statusCode). `event_no` only grows: the resume point of streams.
      // `address`: what people looked up for the position; null until then, and never sent by a vehicle.
      // `device_no` is no reference: the events of a deleted device are cleared away after it, and hidden until then because
      // every reader joins through `devices`. The insert itself asks for the device.
      ddl(`CREATE TABLE events (
        event_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        account_no INTEGER NOT NULL,
        device_no INTEGER NOT NULL,
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
        address TEXT,
        UNIQUE (device_no, boot, seq))`),
      ddl('CREATE INDEX events_by_time ON events (device_no, timestamp_ms, event_no)'),
      // Finds alarms and changes of a whole account by code; what vehicles send all the time is left out, so it stays small.
      ddl(`CREATE INDEX events_by_code ON events (account_no, status_code, timestamp_ms, event_no)
        WHERE ${notRoutine}`),
      ddl(`CREATE TABLE quarantine (
        quarantine_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        topic TEXT NOT NULL,
        received_ms BIGINT NOT NULL,
        reason TEXT NOT NULL,
        payload BLOB NOT NULL)`),
      ddl('CREATE INDEX quarantine_by_device ON quarantine (device_no, quarantine_no)'),
    ],
  },
  {
    name: '0003-removed-events',
    statements: [
      // Numbers that retention removed beyond `boots.up_to`: like that, they say that an event was stored once, so that one
      // which a vehicle sends again is not taken for new.
      ddl(`CREATE TABLE removed_events (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        boot TEXT NOT NULL,
        first_seq BIGINT NOT NULL,
        last_seq BIGINT NOT NULL,
        PRIMARY KEY (device_no, boot, first_seq))`),
    ],
  },
];
