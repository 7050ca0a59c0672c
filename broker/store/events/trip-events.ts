// The events of one device for trips, stops and exports: few columns, in pages, oldest first. Events of one time come in the
// order of the vehicle's own numbers, whatever their order of arrival.
import type { Database, Row } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { countersOf } from '../../core/events/bus-counters.ts';
import { driverOf } from '../../core/events/trip-drivers.ts';
import type { TripEvent } from '../../core/events/trips.ts';
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
  readonly hdop: number | null;
  readonly satellites: number | null;
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

/** An event with the numbers of the service and of its vehicle. */
export interface NumberedTrackEvent {
  readonly event: TrackEvent;
  /** Number in the order of arrival. */
  readonly eventNo: number;
  readonly boot: string;
  readonly seq: number;
}

function toTrackEvent(row: Row): TrackEvent {
  const latitude = numberOrNull(row, 'latitude');
  const longitude = numberOrNull(row, 'longitude');
  // Without a time of its own an event has the time of its arrival, when the vehicle may have been elsewhere.
  const isTimed = textOf(row, 'time_quality') !== 'none';
  const ignition = jsonObjectOrNull(row, 'inputs')?.['ignition'];
  const attributes = textOrNull(row, 'attributes');
  const parse = () => jsonObjectOrNull(row, 'attributes');
  const statusCode = numberOf(row, 'status_code');
  return {
    eventID: `${textOf(row, 'boot')}:${numberOf(row, 'seq')}`,
    timestampMs: numberOf(row, 'timestamp_ms'),
    receivedMs: numberOf(row, 'received_ms'),
    statusCode,
    point: latitude === null || longitude === null || !isTimed ? null : { latitude, longitude },
    speed: numberOrNull(row, 'speed'),
    odometer: numberOrNull(row, 'odometer'),
    fuelLevel: numberOrNull(row, 'fuel_level'),
    ignition: typeof ignition === 'boolean' ? ignition : null,
    bus: countersOf(attributes, parse),
    driver: driverOf({ statusCode, text: attributes }, parse),
    altitude: numberOrNull(row, 'altitude'),
    heading: numberOrNull(row, 'heading'),
    hdop: numberOrNull(row, 'hdop'),
    satellites: numberOrNull(row, 'satellites'),
    geozoneID: textOf(row, 'geozone_id'),
  };
}

const inOwnOrder = (events: readonly NumberedTrackEvent[]): readonly NumberedTrackEvent[] =>
  [...events].sort((one, other) => one.seq - other.seq || (one.boot < other.boot ? -1 : 1));

/** A row with its position in the order. */
interface KeyedRow extends EventKey {
  readonly row: Row;
}

/** Rows of one slice, in the order of their keys. */
async function* rowsOf(db: Database, span: TrackSpan, run: Run): KeyedStream<KeyedRow> {
  let after: EventKey = { timestampMs: run.fromMs, eventNo: 0 };
  for (;;) {
    const rows = await readSlice(
      db,
      run.sliceNo,
      sql`SELECT e.event_no, e.boot, e.seq, e.timestamp_ms, e.received_ms, e.time_quality, e.status_code, e.latitude,
          e.longitude, e.altitude, e.speed, e.heading, e.hdop, e.satellites, e.odometer, e.fuel_level, e.inputs, e.geozone_id,
          e.attributes
        FROM devices d JOIN ${run.table} e ON e.device_no = d.device_no
        WHERE ${visible(span.scope)} AND d.device_id = ${span.deviceID} AND e.timestamp_ms <= ${run.toMs}
          AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
        ORDER BY e.timestamp_ms, e.event_no LIMIT ${pageSize}`,
    );
    const keyed = rows.map((row) => ({
      timestampMs: numberOf(row, 'timestamp_ms'),
      eventNo: numberOf(row, 'event_no'),
      row,
    }));
    if (keyed.length > 0) yield keyed;
    const last = keyed.at(-1);
    if (last === undefined || keyed.length < pageSize) return;
    after = last;
  }
}

/** The events of a device in order, page by page; in memory are a page of each slice and the events of one time. */
export async function* numberedTrackEvents(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly NumberedTrackEvent[], void, undefined> {
  let moment: NumberedTrackEvent[] = [];
  const runs = await runsWithin(db, span);
  const sources = runs.map((run) => ({ fromMs: run.fromMs, open: () => rowsOf(db, span, run) }));
  for await (const keyed of inOrder(sources)) {
    const page: NumberedTrackEvent[] = [];
    for (const { row, eventNo } of keyed) {
      const event = toTrackEvent(row);
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

/** The same without the numbers. */
export async function* trackEvents(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly TrackEvent[], void, undefined> {
  for await (const page of numberedTrackEvents(db, span)) yield page.map(({ event }) => event);
}
