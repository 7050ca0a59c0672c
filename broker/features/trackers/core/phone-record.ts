// Makes records of what phones send: parameters as OsmAnd, GPSLogger and Traccar Client before version 9 send them, and the JSON bodies
// of Traccar Client, OwnTracks and Overland. Pure. Every record of a known form gives an event, so that no phone repeats one for ever,
// and no alarm is lost to a wrong clock. Forms: `OsmAndProtocolDecoder.java` and `OwnTracksProtocolDecoder.java` of Traccar, August 2026.
import { dayMs } from '../../../../src/core/durations.ts';
import { dateMs } from '../../../../src/core/events/event-json.ts';
import { flagFrom, numberFrom } from '../../../../src/core/events/unknown-values.ts';
import { kmhPerKnot, sameNames } from './attributes.ts';
import {
  type BareEvent,
  beyondZero,
  earliestMs,
  eventsOf,
  type Members,
  membersOf,
} from './traccar-record.ts';

const known = (value: unknown): number | undefined => numberFrom(value) ?? undefined;
/** Negative values are unknown ones in these apps. */
const measured = (value: unknown): number | undefined => {
  const number = known(value);
  return number !== undefined && number >= 0 ? number : undefined;
};
const knots = (speed: unknown, kmh: number): number | undefined => {
  const number = measured(speed);
  return number === undefined ? undefined : (number * kmh) / kmhPerKnot;
};
const percent = (share: unknown): number | undefined => {
  const level = measured(share);
  return level === undefined ? undefined : Math.round(level * 100);
};
const metresASecond = 3.6;
/** A negative accuracy says that the altitude is not known, on iOS and in what is made after it. */
const altitudeOf = (altitude: unknown, accuracy: unknown): unknown =>
  Number(accuracy ?? 0) < 0 ? undefined : altitude;

/** UTC ms; null: no time. Without a zone it is UTC; a `+` that was not encoded has become a space. */
function timeOf(value: unknown): number | null {
  const number = numberFrom(value);
  if (typeof number === 'number') return Math.round(number < 1e11 ? number * 1000 : number);
  if (typeof value !== 'string') return null;
  const text = value.trim().replace(/ (\d\d:?\d\d)$/, '+$1');
  return dateMs(text) ?? dateMs(`${text}Z`);
}

/**
 * The events of a position with the members and units of Traccar. Without a time it is of now. With one that cannot be, it is of now
 * too, without a place, and keeps as attributes what was sent.
 */
function eventsAt(sent: Members, time: unknown, nowMs: number): readonly BareEvent[] {
  const hasPlace = known(sent['latitude']) !== undefined && known(sent['longitude']) !== undefined;
  const position = hasPlace ? sent : { ...sent, valid: false };
  const ms = time === undefined ? Math.round(nowMs) : timeOf(time);
  if (ms !== null && ms >= earliestMs && ms <= nowMs + dayMs)
    return eventsOf(position, { ms, isFixed: true, isServer: time === undefined });
  const { latitude: lat, longitude: lon } = position;
  const attributes = { timestamp: String(time), lat, lon, ...membersOf(position['attributes']) };
  return eventsOf({ ...position, attributes }, { ms: Math.round(nowMs), isFixed: false, isServer: true });
}

/** Of a parameter without a meaning of its own: numbers and flags as such, but for digits that name something. */
function typed(text: string): string | number | boolean | undefined {
  const number = /^0\d|\d{16}/.test(text) ? undefined : numberFrom(text);
  if (number === null) return undefined;
  return number ?? (text === 'true' || (text === 'false' ? false : text));
}

/** @param sent texts; of a parameter that was sent several times, all of them in a list. */
export function eventsOfParameters(sent: Members, nowMs: number): readonly BareEvent[] {
  const texts = Object.entries(sent).map(([name, value]) => [name, [value].flat().join(' ')] as const);
  const {
    id: _id,
    deviceid: _deviceID,
    notificationToken: _token,
    valid,
    timestamp,
    lat,
    lon,
    location,
    speed,
    bearing,
    heading,
    altitude,
    accuracy,
    hdop,
    batt,
    charge,
    ...others
  } = Object.fromEntries(texts) as Readonly<Record<string, string | undefined>>;
  const [latitude, longitude] = (location?.split(',') ?? [lat, lon]).map(known);
  const hasPlace = latitude !== undefined && longitude !== undefined;
  const rest = Object.entries(hasPlace ? others : { lat, lon, location, ...others });
  const kept = rest.flatMap(([name, text]) =>
    text === undefined ? [] : [[name, sameNames.includes(name) ? text : typed(text)] as const],
  );
  const position = {
    valid: valid === undefined || flagFrom(valid) === true,
    latitude,
    longitude,
    altitude,
    speed: measured(speed),
    course: measured(bearing ?? heading),
    attributes: {
      accuracy: beyondZero(accuracy),
      hdop: beyondZero(hdop),
      batteryLevel: measured(batt),
      charge: flagFrom(charge),
      ...Object.fromEntries(kept),
    },
  };
  return eventsAt(position, timestamp, nowMs);
}

/** A location of Traccar Client. Its phone writes altitude 0 when it knows none. */
function eventsOfLocation(sent: unknown, nowMs: number): readonly BareEvent[] {
  const { timestamp, coords, battery, activity, extras, ...location } = membersOf(sent);
  const { latitude, longitude, altitude, altitude_accuracy, speed, heading, accuracy } = membersOf(coords);
  const { level, is_charging } = membersOf(battery);
  const position = {
    valid: true,
    latitude,
    longitude,
    altitude: altitudeOf(altitude, altitude_accuracy),
    speed: knots(speed, metresASecond),
    course: measured(heading),
    attributes: {
      ...membersOf(extras),
      accuracy: beyondZero(measured(accuracy)),
      batteryLevel: percent(level),
      charge: is_charging === true ? true : undefined,
      event: location['event'],
      motion: location['is_moving'],
      // Metres since the app was installed: no odometer of a vehicle.
      tripOdometer: beyondZero(location['odometer']),
      mock: location['mock'] === true ? true : undefined,
      activity: membersOf(activity)['type'],
      alarm: location['alarm'] ?? membersOf(extras)['alarm'],
    },
  };
  return eventsAt(position, timestamp, nowMs);
}

/** OwnTracks: speed in km/h; `bs` 2 and 3: on power. */
function eventsOfOwnTracks(sent: Members, nowMs: number): readonly BareEvent[] {
  const { tst, lat: latitude, lon: longitude, alt: altitude, vel, cog, acc, batt, bs, t, conn } = sent;
  const attributes = {
    accuracy: beyondZero(acc),
    batteryLevel: measured(batt),
    charge: bs === 2 || bs === 3 ? true : undefined,
    event: t,
    conn,
  };
  const place = { valid: true, latitude, longitude, altitude };
  return eventsAt({ ...place, speed: knots(vel, 1), course: measured(cog), attributes }, tst, nowMs);
}

/** A GeoJSON feature of Overland. */
function eventsOfFeature(sent: unknown, nowMs: number): readonly BareEvent[] {
  const { geometry, properties } = membersOf(sent);
  const { coordinates } = membersOf(geometry);
  const [longitude, latitude] = Array.isArray(coordinates) ? (coordinates as unknown[]) : [];
  const { timestamp, altitude, vertical_accuracy, speed, course, horizontal_accuracy, ...more } =
    membersOf(properties);
  const position = {
    valid: true,
    latitude,
    longitude,
    altitude: altitudeOf(altitude, vertical_accuracy),
    speed: knots(speed, metresASecond),
    course: measured(course),
    attributes: {
      accuracy: beyondZero(measured(horizontal_accuracy)),
      batteryLevel: percent(more['battery_level']),
      charge: more['battery_state'] === 'charging' || undefined,
    },
  };
  return eventsAt(position, timestamp, nowMs);
}

/** @returns null: the body is of no app that is known, or is encrypted. */
export function recordsOfBody(body: Members, nowMs: number): readonly (readonly BareEvent[])[] | null {
  const { location, locations, _type } = body;
  if (location !== undefined && location !== null)
    return [location].flat().map((one) => eventsOfLocation(one, nowMs));
  if (Array.isArray(locations)) return locations.map((one) => eventsOfFeature(one, nowMs));
  if (_type === 'location') return [eventsOfOwnTracks(body, nowMs)];
  // Waypoints, cards and wills of OwnTracks say nothing of a place now.
  return typeof _type === 'string' && _type !== 'encrypted' ? [] : null;
}
