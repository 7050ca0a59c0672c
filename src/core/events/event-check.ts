// Checks an event's values, for every encoding: ranges, lengths and pairs. Returns the fault as text; never throws and never repairs.

import { isId, isName } from '../ids.ts';
import { eventLimits, type FleetEvent, type MeasureName, measureNames } from './event.ts';

interface Range {
  readonly low: number;
  readonly high: number;
}

export const measureRanges: Readonly<Record<MeasureName, Range>> = {
  latitude: { low: -90, high: 90 },
  longitude: { low: -180, high: 180 },
  altitude: { low: -1000, high: 20_000 },
  speed: { low: 0, high: 1000 },
  heading: { low: 0, high: 360 },
  hdop: { low: 0, high: 1000 },
  satellites: { low: 0, high: 200 },
  odometer: { low: 0, high: 10_000_000 },
  fuelLevel: { low: 0, high: 1 },
};

function integerFault(name: string, value: number, range: Range): string | null {
  if (Number.isInteger(value) && value >= range.low && value <= range.high) return null;
  return `${name} must be an integer from ${range.low} to ${range.high}`;
}

/** Fault of an event; null: none. */
export function eventFault(event: FleetEvent): string | null {
  const basic =
    integerFault('seq', event.seq, { low: 0, high: eventLimits.seq }) ??
    integerFault('statusCode', event.statusCode, { low: 1, high: 65_535 }) ??
    (event.timestamp === null
      ? null
      : integerFault('timestamp', event.timestamp, { low: 0, high: eventLimits.timestamp })) ??
    (event.upMs === null
      ? null
      : integerFault('upMs', event.upMs, { low: 0, high: Number.MAX_SAFE_INTEGER }));
  if (basic !== null) return basic;
  for (const name of measureNames) {
    const value = event[name];
    const range = measureRanges[name];
    if (value === undefined) continue;
    if (typeof value !== 'number' || !(value >= range.low && value <= range.high)) {
      return `${name} must be a number from ${range.low} to ${range.high}`;
    }
  }
  if ((event.latitude === undefined) !== (event.longitude === undefined)) {
    return 'latitude and longitude go together';
  }
  if (event.geozoneID !== undefined && !isName(event.geozoneID)) return 'geozoneID is not a name';
  if (event.commandID !== undefined && !isId(event.commandID)) return 'commandID is not an id';
  if ((event.commandState === undefined) !== (event.commandID === undefined)) {
    return 'commandID and commandState go together';
  }
  if (
    event.attributes !== undefined &&
    JSON.stringify(event.attributes).length > eventLimits.attributesBytes
  ) {
    return `attributes are longer than ${eventLimits.attributesBytes} characters`;
  }
  return null;
}
