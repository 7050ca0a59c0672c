// Events by slice, what is stored of each boot, and payloads that could not be decoded.
import type { CommandState } from '../../../src/core/events/event.ts';
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { notRoutine } from '../base/routine-codes.ts';
import { bytesOf, jsonObjectOrNull, textOrEmpty, textOrNull } from '../base/row.ts';
import { column, type Reader, table } from '../base/table.ts';

/** The first slice of events; every other has the same columns: only the numbers of the events in it differ. */
export const events = table('events', {
  /** Grows with every event stored: the resume point of a listing by arrival. */
  eventNo: 'INTEGER NOT NULL PRIMARY KEY',
  accountNo: column('INTEGER NOT NULL', 'hidden'),
  deviceNo: 'INTEGER NOT NULL',
  boot: 'TEXT NOT NULL',
  seq: 'BIGINT NOT NULL',
  timestampMs: 'BIGINT NOT NULL',
  receivedMs: 'BIGINT NOT NULL',
  upMs: 'BIGINT',
  timeQuality: 'TEXT NOT NULL',
  statusCode: 'INTEGER NOT NULL',
  latitude: 'DOUBLE PRECISION',
  longitude: 'DOUBLE PRECISION',
  altitude: 'DOUBLE PRECISION',
  speed: 'DOUBLE PRECISION',
  heading: 'DOUBLE PRECISION',
  hdop: 'DOUBLE PRECISION',
  satellites: 'INTEGER',
  odometer: 'DOUBLE PRECISION',
  fuelLevel: 'DOUBLE PRECISION',
  inputs: column('TEXT', jsonObjectOrNull),
  outputs: column('TEXT', jsonObjectOrNull),
  geozoneID: "TEXT NOT NULL DEFAULT ''",
  commandID: 'TEXT',
  commandState: column('TEXT', textOrNull as Reader<CommandState | null>),
  attributes: column('TEXT', jsonObjectOrNull),
  /** Street address of the position, once recorded; else empty. */
  address: column('TEXT', textOrEmpty),
});

// Slice 1 is the table `events`, slice k the table `events_k`. `first_no`: its events have this number or a higher one,
// and a lower one than those of the next slice. `end_no`: the number after its last one, once it is closed; numbers from there to the
// next slice were never given, as they begin higher after a restore. `state`: `open` takes what comes in, and one slice is; `closed`; `retired`
// is past every limit and not shown any more; `dropping` is being emptied.
export const eventSlices = table('event_slices', {
  sliceNo: 'INTEGER NOT NULL PRIMARY KEY',
  state: "TEXT NOT NULL CHECK (state IN ('open', 'closed', 'retired', 'dropping'))",
  /** Its events have this number or a higher one, and a lower one than those of the next slice. */
  firstNo: 'BIGINT NOT NULL',
  /** The number after its last one; null while it is open. */
  endNo: 'BIGINT',
  openedMs: 'BIGINT NOT NULL',
  /** Null while it is open. */
  closedMs: 'BIGINT',
  retiredMs: 'BIGINT',
});

/** What ends on a UTC day of a device that is reached in one state, see `events/trip-days.ts`. */
export const tripDays = table(
  'trip_days',
  {
    deviceNo: 'INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE',
    /** Since the epoch. */
    day: 'INTEGER NOT NULL',
    /** The state before it, and after it. */
    fromKey: 'TEXT NOT NULL',
    toKey: 'TEXT NOT NULL',
    /** Of its events. */
    proof: 'TEXT NOT NULL',
    /** JSON; of the state, which repeats much, deflated. */
    items: 'TEXT NOT NULL',
    state: column('BLOB NOT NULL', bytesOf),
  },
  'PRIMARY KEY (device_no, day, from_key)',
);

export const eventTables: readonly Statement[] = [
  // A bare JSON event without a boot gets boot '@<timestamp in ms>-<hash of its content>' and seq = status code, which no boot id can
  // be. An event whose number another event of its boot has gets boot '<boot>@<hash of its content>'. `event_no` only grows: the resume point of streams.
  // `address`: what people looked up for the position; null until then, and never sent by a vehicle.
  // `device_no` is no reference: the events of a deleted device are cleared away after it, and hidden until then because
  // every reader joins through `devices`. The insert itself asks for the device.
  events.create,
  ddl('CREATE INDEX events_by_time ON events (device_no, timestamp_ms, event_no)'),
  // Finds alarms and changes of a whole account by code; what vehicles send all the time is left out, so it stays small.
  ddl(`CREATE INDEX events_by_code ON events (account_no, status_code, timestamp_ms, event_no)
    WHERE ${notRoutine}`),
  // What an account's streams missed since an event number.
  ddl(`CREATE INDEX events_by_number ON events (account_no, event_no) WHERE ${notRoutine}`),
  eventSlices.create,
  // Every event of a slice lies in a span of it. A slice keeps its spans when rows are removed: they say where one may be.
  ddl(`CREATE TABLE event_spans (
    slice_no INTEGER NOT NULL REFERENCES event_slices (slice_no) ON DELETE CASCADE,
    from_ms BIGINT NOT NULL,
    to_ms BIGINT NOT NULL,
    PRIMARY KEY (slice_no, from_ms, to_ms))`),
  ddl('CREATE INDEX event_spans_by_time ON event_spans (to_ms, from_ms, slice_no)'),
  ddl("INSERT INTO event_slices (slice_no, state, first_no, opened_ms) VALUES (1, 'open', 1, 0)"),
  // The next number of an event and the slice that takes it, one row. Not the table's own: numbers must grow over several
  // tables. Every batch of events updates this row, which proves that the slice is still open: so numbers of slices never
  // overlap, whatever clocks do and however many processes store. `origin`: of which database the numbers are, see `renumbering.ts`.
  ddl(`CREATE TABLE event_counter (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    next_no BIGINT NOT NULL,
    slice_no INTEGER NOT NULL DEFAULT 1,
    origin TEXT NOT NULL DEFAULT '')`),
  ddl('INSERT INTO event_counter (one, next_no) VALUES (1, 1)'),
  tripDays.create,
  // Numbers beyond `boots.up_to` that are stored, or were until retention removed them. Ranges of a boot neither overlap
  // nor touch; none touches `up_to`.
  ddl(`CREATE TABLE stored_ranges (
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    boot TEXT NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    PRIMARY KEY (device_no, boot, first_seq))`),
  ddl(`CREATE TABLE quarantine (
    quarantine_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    device_no INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE,
    topic TEXT NOT NULL,
    received_ms BIGINT NOT NULL,
    reason TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    payload BLOB NOT NULL)`),
  // With `bytes`, so that counting them reads no payload.
  ddl('CREATE INDEX quarantine_by_device ON quarantine (device_no, quarantine_no, bytes)'),
];
