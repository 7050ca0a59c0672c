// The events of one device as trips, stops and exports look at them: few columns, in pages, oldest first. Events of one
// moment come in the order of the vehicle's own numbers, whatever the order of their arrival.
import type { Database, Row } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { TripEvent } from '../core/trips.ts';
import type { DeviceOf } from './events.ts';
import { jsonObjectOf, numberOf, numberOrNull, textOf } from './row.ts';
import { visible } from './scope.ts';

/** Events read at once: a few milliseconds. */
const pageSize = 500;

/** An event with what an export writes of it besides. */
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

/** When the first event of the device was; null while there is none. */
export async function firstEventMs(db: Database, of: DeviceOf): Promise<number | null> {
  const [row] =
    await db.read(sql`SELECT e.timestamp_ms FROM devices d JOIN events e ON e.device_no = d.device_no
    WHERE ${visible(of.scope)} AND d.device_id = ${of.deviceID} ORDER BY e.timestamp_ms LIMIT 1`);
  return row === undefined ? null : numberOf(row, 'timestamp_ms');
}

interface Numbered {
  readonly event: TrackEvent;
  readonly boot: string;
  readonly seq: number;
}

function toTrackEvent(row: Row): TrackEvent {
  const latitude = numberOrNull(row, 'latitude');
  const longitude = numberOrNull(row, 'longitude');
  // Without a time of its own an event stands at the time of its arrival, where the vehicle may never have been.
  const isTimed = textOf(row, 'time_quality') !== 'none';
  const ignition = jsonObjectOf(row, 'inputs')?.['ignition'];
  return {
    eventID: `${textOf(row, 'boot')}:${numberOf(row, 'seq')}`,
    timestampMs: numberOf(row, 'timestamp_ms'),
    receivedMs: numberOf(row, 'received_ms'),
    statusCode: numberOf(row, 'status_code'),
    point: latitude === null || longitude === null || !isTimed ? null : { latitude, longitude },
    speed: numberOrNull(row, 'speed'),
    odometer: numberOrNull(row, 'odometer'),
    fuelLevel: numberOrNull(row, 'fuel_level'),
    ignition: typeof ignition === 'boolean' ? ignition : null,
    altitude: numberOrNull(row, 'altitude'),
    heading: numberOrNull(row, 'heading'),
    hdop: numberOrNull(row, 'hdop'),
    satellites: numberOrNull(row, 'satellites'),
    geozoneID: textOf(row, 'geozone_id'),
  };
}

const inOwnOrder = (events: readonly Numbered[]): readonly TrackEvent[] =>
  [...events]
    .sort((one, other) => one.seq - other.seq || (one.boot < other.boot ? -1 : 1))
    .map(({ event }) => event);

/** The events of a device in order, page by page; nothing is held but a page and the events of one moment. */
export async function* trackEvents(
  db: Database,
  span: TrackSpan,
): AsyncGenerator<readonly TrackEvent[], void, undefined> {
  let after = { timestampMs: span.fromMs, eventNo: 0 };
  let moment: Numbered[] = [];
  for (;;) {
    const rows = await db.read(sql`
      SELECT e.event_no, e.boot, e.seq, e.timestamp_ms, e.received_ms, e.time_quality, e.status_code, e.latitude,
        e.longitude, e.altitude, e.speed, e.heading, e.hdop, e.satellites, e.odometer, e.fuel_level, e.inputs, e.geozone_id
      FROM devices d JOIN events e ON e.device_no = d.device_no
      WHERE ${visible(span.scope)} AND d.device_id = ${span.deviceID} AND e.timestamp_ms <= ${span.toMs}
        AND (e.timestamp_ms, e.event_no) > (${after.timestampMs}, ${after.eventNo})
      ORDER BY e.timestamp_ms, e.event_no LIMIT ${pageSize}`);
    const page: TrackEvent[] = [];
    for (const row of rows) {
      const event = toTrackEvent(row);
      if (moment[0] !== undefined && moment[0].event.timestampMs !== event.timestampMs) {
        page.push(...inOwnOrder(moment));
        moment = [];
      }
      moment.push({ event, boot: textOf(row, 'boot'), seq: numberOf(row, 'seq') });
    }
    const last = rows.at(-1);
    const isEnd = last === undefined || rows.length < pageSize;
    if (isEnd) page.push(...inOwnOrder(moment));
    if (page.length > 0) yield page;
    if (isEnd) return;
    after = { timestampMs: numberOf(last, 'timestamp_ms'), eventNo: numberOf(last, 'event_no') };
  }
}
