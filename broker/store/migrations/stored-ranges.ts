// What of each boot is stored becomes a record of its own, of which nothing is removed: `boots.up_to` and ranges beyond it.
// It takes the place of the unique index of the events, and of the numbers that retention had removed.
import { ddl, type Migration } from '../../../src/migrate.ts';
import { notRoutine } from '../routine-codes.ts';

const columns = `event_no, account_no, device_no, boot, seq, timestamp_ms, received_ms, up_ms, time_quality, status_code,
  latitude, longitude, altitude, speed, heading, hdop, satellites, odometer, fuel_level, inputs, outputs, geozone_id,
  command_id, command_state, attributes, address`;

export const storedRangeMigrations: readonly Migration[] = [
  {
    name: '0012-stored-ranges',
    statements: [
      // Numbers beyond `boots.up_to` that are stored, or were until retention removed them. Ranges of a boot neither overlap
      // nor touch; none touches `up_to`.
      ddl(`CREATE TABLE stored_ranges (
        device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
        boot TEXT NOT NULL,
        first_seq BIGINT NOT NULL,
        last_seq BIGINT NOT NULL,
        PRIMARY KEY (device_no, boot, first_seq))`),
      // `revision` grows with every change of what is stored; whoever changes it names the one that he read.
      // `range_count`: rows of the boot in `stored_ranges`.
      ddl('ALTER TABLE boots ADD COLUMN revision BIGINT NOT NULL DEFAULT 0'),
      ddl('ALTER TABLE boots ADD COLUMN range_count BIGINT NOT NULL DEFAULT 0'),
      ddl(`INSERT INTO boots (device_no, boot, first_seen_ms)
        SELECT DISTINCT device_no, boot, 0 FROM removed_events WHERE true ON CONFLICT (device_no, boot) DO NOTHING`),
      // Events beyond `up_to`, found by the index that goes away below, and removed numbers: a new range begins where nothing
      // before it reaches up to it.
      ddl(`INSERT INTO stored_ranges (device_no, boot, first_seq, last_seq)
        WITH pieces AS (
          SELECT e.device_no, e.boot, e.seq AS first_seq, e.seq AS last_seq
          FROM boots b JOIN events e ON e.device_no = b.device_no AND e.boot = b.boot AND e.seq > b.up_to
          UNION ALL
          SELECT x.device_no, x.boot, x.first_seq, x.last_seq
          FROM boots b JOIN removed_events x ON x.device_no = b.device_no AND x.boot = b.boot AND x.last_seq > b.up_to),
        reached AS (
          SELECT device_no, boot, first_seq, last_seq, MAX(last_seq) OVER (
            PARTITION BY device_no, boot ORDER BY first_seq, last_seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach FROM pieces),
        numbered AS (
          SELECT device_no, boot, first_seq, last_seq, SUM(CASE WHEN reach + 1 >= first_seq THEN 0 ELSE 1 END) OVER (
            PARTITION BY device_no, boot ORDER BY first_seq, last_seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS range_no FROM reached)
        SELECT device_no, boot, MIN(first_seq), MAX(last_seq) FROM numbered GROUP BY device_no, boot, range_no`),
      ddl(`UPDATE boots SET up_to = COALESCE((SELECT MAX(s.last_seq) FROM stored_ranges s
        WHERE s.device_no = boots.device_no AND s.boot = boots.boot AND s.first_seq <= boots.up_to + 1), up_to)`),
      ddl(`DELETE FROM stored_ranges WHERE EXISTS (SELECT 1 FROM boots b
        WHERE b.device_no = stored_ranges.device_no AND b.boot = stored_ranges.boot AND b.up_to >= stored_ranges.last_seq)`),
      ddl(`UPDATE boots SET range_count = (SELECT COUNT(*) FROM stored_ranges s
        WHERE s.device_no = boots.device_no AND s.boot = boots.boot)`),
      ddl('DROP TABLE removed_events'),
    ],
  },
  {
    name: '0012-event-numbers',
    statements: [
      // The next number of an event, one row. Not the table's own: numbers must grow over several tables. It begins beyond
      // what the notifier has read and with a distance: the newest events may have been removed, and no number comes again.
      ddl(`CREATE TABLE event_counter (
        one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
        next_no BIGINT NOT NULL)`),
      ddl(`INSERT INTO event_counter (one, next_no) SELECT 1, COALESCE(MAX(n), 0) + 1 FROM (
        SELECT MAX(event_no) + 1000 AS n FROM events UNION ALL
        SELECT MAX(event_no) + 1000 FROM notifications UNION ALL
        SELECT NULLIF(MAX(event_no), 0) + 1000 FROM notifier_cursor) AS highest`),
      ddl(`CREATE TABLE events_next (
        event_no INTEGER NOT NULL PRIMARY KEY,
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
        address TEXT)`),
      ddl(`INSERT INTO events_next (${columns}) SELECT ${columns} FROM events ORDER BY event_no`),
      ddl('DROP TABLE events'),
      ddl('ALTER TABLE events_next RENAME TO events'),
      ddl('CREATE INDEX events_by_time ON events (device_no, timestamp_ms, event_no)'),
      ddl(`CREATE INDEX events_by_code ON events (account_no, status_code, timestamp_ms, event_no)
        WHERE ${notRoutine}`),
      ddl(`CREATE INDEX events_by_number ON events (account_no, event_no) WHERE ${notRoutine}`),
    ],
  },
];
