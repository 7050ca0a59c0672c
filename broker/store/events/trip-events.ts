// The events of one device for trips, stops and exports: few columns, in pages, oldest first. Events of one time come in the
// order of the vehicle's own numbers, whatever their order of arrival.
import type { Database, Row, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { startBelief, stepBelief } from '../../core/events/belief.ts';
import { countersOf } from '../../core/events/bus-counters.ts';
import { driverOf } from '../../core/events/trip-drivers.ts';
import type { TripEvent } from '../../core/events/trip-way.ts';
import { jsonObjectOrNull, numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { visible } from '../base/scope.ts';
import { type EventKey, inOrder, type KeyedStream } from '../slices/slice-streams.ts';
import { type Run, readSlice, runsWithin } from '../slices/slices.ts';
import type { DeviceOf } from './events.ts';

/** Events per read: a few milliseconds. */
const pageSize = 500;

/** An event with the additional members of an export. */
export interface TrackEvent extends TripEvent {
  readonly eventID: string;
  readonly receivedMs: number;
  readonly altitude: number | null;
  readonly heading: number | null;
  readonly geozoneID: string;
}

export interface TrackSpan extends DeviceOf {
  /** Event time, both ends included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Time of the device's first event; null when there is none. */
export async function firstEventMs(db: Database, of: DeviceOf): Promise<number | null> {
  let firstMs: number | null = null;
  const everMs = { fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER };
  for (const run of await runsWithin(db, everMs)) {
    if (firstMs !== null && run.fromMs > firstMs) break;
    const [row] = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT e.timestamp_ms FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
        WHERE ${visible(of.scope)} AND d.device_id = ${of.deviceID} AND e.timestamp_ms >= ${run.fromMs}
        ORDER BY e.timestamp_ms LIMIT 1`,
    );
    if (row !== undefined)
      firstMs = Math.min(firstMs ?? Number.MAX_SAFE_INTEGER, numberOf(row, 'timestamp_ms'));
  }
  return firstMs;
}

/** Newest records that are looked through for earlier positions: a unit may send thousands without one. */
const earlierMost = 5000;

/** Time of the `positions`-th last position before `beforeMs`, or of the oldest that was read; null: none. */
export async function earlierPositionsMs(
  db: Database,
  of: DeviceOf,
  { beforeMs, positions }: { readonly beforeMs: number; readonly positions: number },
): Promise<number | null> {
  const found: number[] = [];
  const runs = await runsWithin(db, { fromMs: Number.MIN_SAFE_INTEGER, toMs: beforeMs - 1 });
  for (const run of runs.toSorted((one, other) => other.toMs - one.toMs)) {
    // Every further one is older.
    if (found.length >= positions && run.toMs < (found[positions - 1] ?? 0)) break;
    const rows = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT n.timestamp_ms FROM (SELECT e.timestamp_ms, e.latitude FROM devices d
          JOIN ${run.table} e ON e.device_no = d.device_no
          WHERE ${visible(of.scope)} AND d.device_id = ${of.deviceID} AND e.timestamp_ms <= ${run.toMs}
          ORDER BY e.timestamp_ms DESC LIMIT ${earlierMost}) n
        WHERE n.latitude IS NOT NULL ORDER BY n.timestamp_ms DESC LIMIT ${positions}`,
    );
    found.push(...rows.map((row) => numberOf(row, 'timestamp_ms')));
    found.sort((one, other) => other - one);
  }
  return found[Math.min(positions, found.length) - 1] ?? null;
}

/** An event with the numbers of the service and of its vehicle. */
export interface NumberedTrackEvent {
  readonly event: TrackEvent;
  /** Number in the order of arrival. */
  readonly eventNo: number;
  readonly boot: string;
  readonly seq: number;
  /**
   * `on`: its position belongs to the drawn track; `anew`: after a gap, as the vehicle is believed elsewhere; `off`: not drawn.
   */
  readonly line: 'on' | 'anew' | 'off';
}

/** The radius of the error in m, as apps and some trackers give it; null: not given. */
function accuracyOf(
  text: string | null,
  parse: () => Readonly<Record<string, unknown>> | null,
): number | null {
  const value = text?.includes('"accuracy"') ? parse()?.['accuracy'] : null;
  return typeof value === 'number' && value > 0 ? value : null;
}

function toTripEvent(row: Row): TripEvent {
  const latitude = numberOrNull(row, 'latitude');
  const longitude = numberOrNull(row, 'longitude');
  // Without a time of its own an event has the time of its arrival, when the vehicle may have been elsewhere.
  const isTimed = textOf(row, 'time_quality') !== 'none';
  const ignition = jsonObjectOrNull(row, 'inputs')?.['ignition'];
  const attributes = textOrNull(row, 'attributes');
  const parse = () => jsonObjectOrNull(row, 'attributes');
  const statusCode = numberOf(row, 'status_code');
  return {
    timestampMs: numberOf(row, 'timestamp_ms'),
    statusCode,
    point: latitude === null || longitude === null || !isTimed ? null : { latitude, longitude },
    speed: numberOrNull(row, 'speed'),
    odometer: numberOrNull(row, 'odometer'),
    fuelLevel: numberOrNull(row, 'fuel_level'),
    ignition: typeof ignition === 'boolean' ? ignition : null,
    bus: countersOf(attributes, parse),
    driver: driverOf({ statusCode, text: attributes }, parse),
    accuracy: accuracyOf(attributes, parse),
    hdop: numberOrNull(row, 'hdop'),
    satellites: numberOrNull(row, 'satellites'),
  };
}

const toTrackEvent = (row: Row): TrackEvent => ({
  ...toTripEvent(row),
  eventID: `${textOf(row, 'boot')}:${numberOf(row, 'seq')}`,
  receivedMs: numberOf(row, 'received_ms'),
  altitude: numberOrNull(row, 'altitude'),
  heading: numberOrNull(row, 'heading'),
  geozoneID: textOf(row, 'geozone_id'),
});

/** What is read of each event. */
interface EventForm<T> {
  readonly columns: Statement;
  readonly toEvent: (row: Row) => T;
}

const tripForm: EventForm<TripEvent> = {
  columns: sql`e.event_no, e.boot, e.seq, e.timestamp_ms, e.time_quality, e.status_code, e.latitude, e.longitude, e.speed, e.hdop,
    e.satellites, e.odometer, e.fuel_level, e.inputs, e.attributes`,
  toEvent: toTripEvent,
};
const trackForm: EventForm<TrackEvent> = {
  columns: sql`${tripForm.columns}, e.received_ms, e.altitude, e.heading, e.geozone_id`,
  toEvent: toTrackEvent,
};

interface UnjudgedEvent<T> extends Pick<NumberedTrackEvent, 'eventNo' | 'boot' | 'seq'> {
  readonly event: T;
}

const inOwnOrder = <T>(events: UnjudgedEvent<T>[]): readonly UnjudgedEvent<T>[] =>
  events.sort((one, other) => one.seq - other.seq || (one.boot < other.boot ? -1 : 1));

/** A row with its position in the order. */
interface KeyedRow extends EventKey {
  readonly row: Row;
}

/** Rows of one slice, in the order of their keys; the next page is read while the caller works on one. */
async function* rowsOf(
  db: Database,
  span: TrackSpan & Pick<EventForm<unknown>, 'columns'>,
  run: Run,
): KeyedStream<KeyedRow> {
  const read = (after: EventKey): Promise<readonly Row[]> =>
    readSlice(
      db,
      run.sliceNo,
      sql`SELECT ${span.columns} FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
        WHERE ${visible(span.scope)} AND d.device_id = ${span.deviceID} AND e.timestamp_ms <= ${run.toMs}
          AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
        ORDER BY e.timestamp_ms, e.event_no LIMIT ${pageSize}`,
    );
  let next: Promise<readonly Row[]> | null = read({ timestampMs: run.fromMs, eventNo: 0 });
  while (next !== null) {
    const rows: readonly Row[] = await next;
    const keyed = rows.map((row) => ({
      timestampMs: numberOf(row, 'timestamp_ms'),
      eventNo: numberOf(row, 'event_no'),
      row,
    }));
    const last = keyed.at(-1);
    next = last === undefined || keyed.length < pageSize ? null : read(last);
    // A caller that stops here does not wait for it.
    next?.catch(() => undefined);
    if (keyed.length > 0) yield keyed;
  }
}

/** The events of a device in order, page by page; in memory are a page of each slice and the events of one time. */
async function* eventsInOrder<T extends TripEvent>(
  db: Database,
  span: TrackSpan,
  { columns, toEvent }: EventForm<T>,
): AsyncGenerator<readonly UnjudgedEvent<T>[], void, undefined> {
  let moment: UnjudgedEvent<T>[] = [];
  const runs = await runsWithin(db, span);
  const sources = runs.map((run) => ({
    fromMs: run.fromMs,
    open: () => rowsOf(db, { ...span, columns }, run),
  }));
  for await (const keyed of inOrder(sources)) {
    const page: UnjudgedEvent<T>[] = [];
    for (const { row, eventNo } of keyed) {
      const event = toEvent(row);
      if (moment[0] !== undefined && moment[0].event.timestampMs !== event.timestampMs) {
        page.push(...inOwnOrder(moment));
        moment = [];
      }
      moment.push({ event, eventNo, boot: textOf(row, 'boot'), seq: numberOf(row, 'seq') });
    }
    if (page.length > 0) yield page;
  }
  if (moment.length > 0) yield inOwnOrder(moment);
}

const lines = { none: 'off', rival: 'off', believed: 'on', adopted: 'anew' } as const;

/** The same, with what is drawn of their positions. */
export async function* numberedTrackEvents(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly NumberedTrackEvent[], void, undefined> {
  let state = startBelief;
  for await (const page of eventsInOrder(db, span, trackForm)) {
    yield page.map((one): NumberedTrackEvent => {
      const step = stepBelief(state, one.event);
      state = step.state;
      return { ...one, line: lines[step.belief.kind] };
    });
  }
}

/** Events for trips with their numbers, page by page. */
export const numberedTripEvents = (db: Database, span: TrackSpan) => eventsInOrder(db, span, tripForm);

/** The events alone. */
export async function* tripEvents(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly TripEvent[], void, undefined> {
  for await (const page of numberedTripEvents(db, span)) yield page.map(({ event }) => event);
}

/** Those that were stored before `eventNo`, at most some thousands. */
export async function trackEventsBefore(
  db: Database,
  span: TrackSpan,
  eventNo: number,
): Promise<readonly TrackEvent[]> {
  const found: TrackEvent[] = [];
  for await (const page of eventsInOrder(db, span, trackForm)) {
    for (const one of page) if (one.eventNo < eventNo) found.push(one.event);
    if (found.length >= earlierMost) break;
  }
  return found;
}
