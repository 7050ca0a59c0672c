// Keeps the valid part of an event. A value that is unknown or impossible for its name costs only that value and never the event, which may be a
// panic. A sent value that does not fit its member becomes an attribute of the event. Pure.
import { isId, isName } from '../ids.ts';
import { type AttributeValue, eventLimits, measureNames, type OpenEvent } from './event.ts';
import { measureRanges } from './event-check.ts';
import { isUnknownNumber } from './unknown-values.ts';

/** Sent values that are no members of an event, or do not fit their member, with their name as sent. Nearly always empty. */
export type Spare = [name: string, value: AttributeValue][];

function dropMeasures(event: OpenEvent, spare: Spare): void {
  for (const name of measureNames) {
    const value = event[name];
    const { low, high } = measureRanges[name];
    if (value === undefined || (value >= low && value <= high)) continue;
    delete event[name];
    if (!isUnknownNumber(value)) spare.push([name, value]);
  }
}

/** A position has both coordinates. 0, 0 without satellites comes from a receiver without a fix. */
function dropHalfPosition(event: OpenEvent, spare: Spare): void {
  const { latitude, longitude, satellites } = event;
  if (latitude === 0 && longitude === 0 && (satellites === undefined || satellites === 0)) {
    delete event.latitude;
    delete event.longitude;
    return;
  }
  if ((latitude === undefined) === (longitude === undefined)) return;
  for (const name of ['latitude', 'longitude'] as const) {
    const value = event[name];
    if (value !== undefined) spare.push([name, value]);
    delete event[name];
  }
}

function dropTexts(event: OpenEvent, spare: Spare): void {
  const { geozoneID, commandID, commandState } = event;
  if (geozoneID !== undefined && !isName(geozoneID)) {
    spare.push(['geozoneID', geozoneID]);
    delete event.geozoneID;
  }
  const isReport = commandID !== undefined && isId(commandID) && commandState !== undefined;
  if (isReport) return;
  if (commandID !== undefined) spare.push(['commandID', commandID]);
  if (commandState !== undefined) spare.push(['commandState', commandState]);
  delete event.commandID;
  delete event.commandState;
}

function dropTimes(event: OpenEvent, spare: Spare): void {
  const { timestamp, upMs } = event;
  if (timestamp !== null && !(timestamp > 0 && timestamp <= eventLimits.timestamp)) {
    if (timestamp > 0) spare.push(['timestamp', timestamp]);
    event.timestamp = null;
    event.timeQuality = 'none';
  }
  if (upMs !== null && !(Number.isSafeInteger(upMs) && upMs >= 0)) event.upMs = null;
}

const lengthOf = (value: unknown): number => JSON.stringify(value).length;

/** Adds the spare values to the attributes as far as they fit, after those of the sender. False: not all fit. */
function addSpare(event: OpenEvent, spare: Spare): boolean {
  const { attributes } = event;
  const isShort = attributes === undefined || lengthOf(attributes) <= eventLimits.attributesBytes;
  if (spare.length === 0 && isShort) return true;
  const all = new Map<string, AttributeValue>(Object.entries(attributes ?? {}));
  for (const [name, value] of new Map(spare)) if (!all.has(name)) all.set(name, value);
  const fitting: [string, AttributeValue][] = [];
  let length = 2;
  for (const [name, value] of all) {
    const more = lengthOf(name) + lengthOf(value) + 2;
    if (length + more > eventLimits.attributesBytes) continue;
    length += more;
    fitting.push([name, value]);
  }
  // No assignment by name, because one to `__proto__` would set no member.
  event.attributes = Object.fromEntries(fitting);
  return fitting.length === all.size;
}

/**
 * Mends the event so that `eventFault` finds no fault except in its number and status code.
 * @param spare receives the values that do not fit their member.
 * @returns false when a sent value is not in the event, because its attributes are full.
 */
export function mendEvent(event: OpenEvent, spare: Spare): boolean {
  dropMeasures(event, spare);
  dropHalfPosition(event, spare);
  dropTexts(event, spare);
  dropTimes(event, spare);
  return addSpare(event, spare);
}
