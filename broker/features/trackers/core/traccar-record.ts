// Makes events of what Traccar forwards. Pure. Its JSON knows no unknown number: what was not measured is 0 there, so 0 counts as
// unknown wherever a real 0 is rare.

import { canonicalJson } from '../../../../src/core/canonical-json.ts';
import { dayMs } from '../../../../src/core/durations.ts';
import { busValueNames } from '../../../../src/core/events/bus-values.ts';
import { type AttributeValue, eventLimits } from '../../../../src/core/events/event.ts';
import { dateMs } from '../../../../src/core/events/event-json.ts';
import { type StatusName, statusCodes } from '../../../../src/core/events/status-codes.ts';
import { flagFrom, numberFrom } from '../../../../src/core/events/unknown-values.ts';
import { alarms, dropped, eventTypes, kmhPerKnot, measures, renamed, sameNames } from './attributes.ts';

export type Members = Readonly<Record<string, unknown>>;

/** A bare event in the JSON form of the wire. */
export type BareEvent = Members & { readonly statusCode: number };

interface ForwardedRecord {
  /**
   * What makes it another record than any other of its tracker. Traccar forwards a position before it stores it, so its id is 0 and
   * a repeat may bear the real one; MySQL keeps whole seconds and 6 digits of speed, altitude and course. None of these counts.
   */
  readonly identity: string;
  /** None: it is of a kind that is not kept. */
  readonly events: readonly BareEvent[];
}

export const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** 1 January 2000: before it no tracker reported; clocks that were never set stand at 1970, 1980 or 1999. */
export const earliestMs = 946_684_800_000;
/** A fix that is older than its message by more than this is of another moment. */
const oldFixMs = 60_000;

/** A time of Traccar in whole seconds, UTC ms; null: none. MySQL keeps no fraction, and a repeat must have the same time. */
export function secondOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? dateMs(value) : typeof value === 'number' ? value : null;
  return ms === null ? null : Math.round(ms / 1000) * 1000;
}

/** The number if it is known and not 0. */
export const beyondZero = (value: unknown): number | undefined => numberFrom(value) || undefined;

/** Rounds away what a factor adds beyond the digits of any sensor. */
const scaled = (value: number, factor: number): number => Number((value * factor).toFixed(6));

interface Times {
  readonly ms: number;
  /** The coordinates are of this moment. */
  readonly isFixed: boolean;
  readonly isServer: boolean;
}

/** Null: none of its times is plausible. Decided by its own members only, so that a repeat has the same time. */
function timesOf(position: Members): Times | null {
  const serverMs = secondOf(position['serverTime']);
  const plausible = (name: string): number | null => {
    const ms = secondOf(position[name]);
    const isPast = ms !== null && ms >= earliestMs && ms <= (serverMs ?? eventLimits.timestamp) + dayMs;
    return isPast ? ms : null;
  };
  const fixMs = plausible('fixTime');
  const deviceMs = plausible('deviceTime');
  const isOld = position['outdated'] === true || (fixMs ?? 0) + oldFixMs < (deviceMs ?? 0);
  if (fixMs !== null && !isOld) return { ms: fixMs, isFixed: true, isServer: false };
  if (deviceMs !== null) return { ms: deviceMs, isFixed: false, isServer: false };
  return serverMs === null ? null : { ms: serverMs, isFixed: false, isServer: true };
}

function keptAttributes(sent: Members): Record<string, AttributeValue> {
  const ours: readonly string[] = busValueNames;
  const kept: [string, AttributeValue][] = [];
  for (const [name, value] of Object.entries(sent)) {
    const rename = Object.hasOwn(renamed, name) ? renamed[name as keyof typeof renamed] : undefined;
    const number = rename === undefined ? undefined : numberFrom(value);
    if (rename !== undefined && typeof number === 'number')
      kept.unshift([rename[0], scaled(number, rename[1])]);
    else if (sameNames.includes(name) && typeof value === 'string') kept.unshift([name, value]);
    else if (!dropped.includes(name) && ['string', 'number', 'boolean'].includes(typeof value))
      kept.push([ours.includes(name) ? `traccar.${name}` : name, value as AttributeValue]);
  }
  // The first ones fit; a longer record would be kept unreadable beside it.
  let length = 2;
  const fitting = kept.filter(([name, value]) => {
    const more = JSON.stringify(name).length + JSON.stringify(value).length + 2;
    if (length + more > eventLimits.attributesBytes) return false;
    length += more;
    return true;
  });
  return Object.fromEntries(fitting);
}

function measuresOf(attributes: Members): Members {
  const known = Object.entries(measures).flatMap(([name, [ours, factor]]) => {
    const number = numberFrom(attributes[name]);
    return typeof number === 'number' ? [[ours, scaled(number, factor)] as const] : [];
  });
  return Object.fromEntries(known);
}

/** What a valid fix of this moment says of place and movement. */
function fixOf(position: Members): Members {
  const { latitude, longitude, altitude, course } = position;
  const speed = numberFrom(position['speed']);
  if (latitude === 0 && longitude === 0) return {};
  const isMoving = typeof speed === 'number' && speed > 0;
  return {
    latitude,
    longitude,
    altitude: beyondZero(altitude),
    speed: typeof speed === 'number' ? scaled(speed, kmhPerKnot) : undefined,
    // North and unknown are both 0: of a vehicle that is not known to move it is unknown.
    heading: isMoving ? numberFrom(course) : typeof speed === 'number' ? undefined : beyondZero(course),
  };
}

const codeIn = (table: Readonly<Record<string, StatusName>>, name: unknown): StatusName | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;

/** Codes of a position by its alarms; without one that has a code here it is a position, or a sign of life. */
function codesOf(attributes: Members, hasFix: boolean): readonly StatusName[] {
  const { alarm } = attributes;
  const texts = typeof alarm === 'string' ? alarm.split(',') : [];
  const named = texts.flatMap((text) => codeIn(alarms, text) ?? []);
  if (named.length > 0) return [...new Set(named)];
  return [hasFix ? 'LOCATION' : 'HEARTBEAT'];
}

/** Traccar has no nested members here; what others send may be of any depth. */
const flat = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value !== 'object'));

/** Members of a position that every spelling of it has; how far it is from the one before is Traccar's own sum. */
function identityOf(position: Members): string {
  const { protocol, latitude, longitude, valid } = position;
  const { distance: _distance, totalDistance: _total, ...attributes } = membersOf(position['attributes']);
  const times = { fix: secondOf(position['fixTime']), device: secondOf(position['deviceTime']) };
  const own = flat({ protocol, latitude, longitude, valid, ...times });
  return canonicalJson([own, flat(attributes)]);
}

/** The events of a position of that time: one, or one for each of its alarms. @param codes in place of those that it has by itself. */
export function eventsOf(
  position: Members,
  { ms, isFixed, isServer }: Times,
  codes?: readonly StatusName[],
): readonly BareEvent[] {
  const attributes = membersOf(position['attributes']);
  const fix = position['valid'] === true && isFixed ? fixOf(position) : {};
  const ignition = flagFrom(attributes['ignition']);
  const event = {
    timestamp: ms,
    timeQuality: isServer ? 'server' : 'rtc',
    ...fix,
    ...measuresOf(attributes),
    ...(typeof ignition === 'boolean' && { inputs: { ignition } }),
    attributes: keptAttributes({ protocol: position['protocol'], ...attributes }),
  };
  const names = codes ?? codesOf(attributes, fix['latitude'] !== undefined);
  return names.map((name) => ({ ...event, statusCode: statusCodes[name].code }));
}

/** @returns null when it has no time. */
export function recordOfPosition(sent: unknown, codes?: readonly StatusName[]): ForwardedRecord | null {
  const position = membersOf(sent);
  const times = timesOf(position);
  if (times === null) return null;
  return { identity: identityOf(position), events: eventsOf(position, times, codes) };
}

/**
 * An event of Traccar at its position. An alarm is the very event that its position is, so that both arrive as one.
 * @returns null when it has no time.
 */
export function recordOfEvent(sent: unknown, position: unknown): ForwardedRecord | null {
  const event = membersOf(sent);
  const { type } = event;
  const isAlarm = type === 'alarm';
  const named = isAlarm ? codeIn(alarms, membersOf(event['attributes'])['alarm']) : codeIn(eventTypes, type);
  if (named === undefined) return { identity: '', events: [] };
  if (position !== undefined && position !== null) return recordOfPosition(position, [named]);
  const timestamp = secondOf(event['eventTime']);
  if (timestamp === null) return null;
  return { identity: String(type), events: [{ timestamp, statusCode: statusCodes[named].code }] };
}
