// Makes an event of what a phone sends: OsmAnd's query, and the JSON body of Traccar Client from version 9 on. Pure.
import { dateMs } from '../../../../src/core/events/event-json.ts';
import { statusCodes } from '../../../../src/core/events/status-codes.ts';
import { flagFrom, numberFrom } from '../../../../src/core/events/unknown-values.ts';
import { kmhPerKnot } from './attributes.ts';
import { type BareEvent, membersOf, scaled } from './traccar-record.ts';

/** Query parameters that are read; texts all of them. */
interface PhoneQuery {
  readonly lat?: string;
  readonly lon?: string;
  /** Epoch seconds or ms, or a date. */
  readonly timestamp?: string;
  /** Knots. */
  readonly speed?: string;
  readonly bearing?: string;
  readonly altitude?: string;
  readonly accuracy?: string;
  readonly hdop?: string;
  /** Percent. */
  readonly batt?: string;
  readonly charge?: string;
}

const known = (value: unknown): number | undefined => numberFrom(value) ?? undefined;

/** Below 1e11 it is seconds. Without one the phone is asked nothing more: the position is of now. */
function timeOf(value: unknown, nowMs: number): number | null {
  if (value === undefined) return Math.round(nowMs);
  const number = numberFrom(value);
  if (typeof number === 'number') return Math.round(number < 1e11 ? number * 1000 : number);
  return typeof value === 'string' ? dateMs(value) : null;
}

function eventOf(timestamp: number | null, fix: object, attributes: object): BareEvent | null {
  if (timestamp === null) return null;
  const hasPlace = 'latitude' in fix && fix.latitude !== undefined;
  const { code } = hasPlace ? statusCodes.LOCATION : statusCodes.HEARTBEAT;
  return { timestamp, statusCode: code, ...fix, attributes };
}

/** @returns null when its time cannot be read. */
export function eventOfQuery(query: PhoneQuery, nowMs: number): BareEvent | null {
  const speed = known(query.speed);
  const fix = {
    latitude: known(query.lat),
    longitude: known(query.lon),
    altitude: known(query.altitude),
    speed: speed === undefined ? undefined : scaled(speed, kmhPerKnot),
    heading: known(query.bearing),
    hdop: known(query.hdop),
  };
  const { accuracy, batt, charge } = query;
  const attributes = { accuracy: known(accuracy), batteryLevel: known(batt), charge: flagFrom(charge) };
  return eventOf(timeOf(query.timestamp, nowMs), fix, attributes);
}

/** Negative values are unknown ones there. */
const measured = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 ? value : undefined;

/** @param sent the member `location` of the body. @returns null when its time cannot be read. */
export function eventOfLocation(sent: unknown): BareEvent | null {
  const location = membersOf(sent);
  const coords = membersOf(location['coords']);
  const battery = membersOf(location['battery']);
  const { latitude, longitude, altitude } = coords;
  const speed = measured(coords['speed']);
  const level = measured(battery['level']);
  // Metres a second.
  const kmh = speed === undefined ? undefined : scaled(speed, 3.6);
  const fix = { latitude, longitude, altitude, speed: kmh, heading: measured(coords['heading']) };
  const attributes = {
    accuracy: measured(coords['accuracy']),
    batteryLevel: level === undefined ? undefined : scaled(level, 100),
    charge: battery['is_charging'] === true ? true : undefined,
    mock: location['mock'] === true ? true : undefined,
  };
  return eventOf(dateMs(String(location['timestamp'])), fix, attributes);
}
