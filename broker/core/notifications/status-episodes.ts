// Status codes and notifications: which code ends the episode of another, what identifies an episode besides the device,
// and which codes are urgent. Data only.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import type { ZoneSwitch } from '../../../src/core/geo/geozone.ts';

const codes = statusCodes;

function numbered(count: number, first: number, last: number): readonly (readonly [number, number])[] {
  return Array.from({ length: count }, (_, index) => [first + index, last + index] as const);
}

/** Begin and end. Codes without a name in our table are sent by third-party trackers (OpenGTS 2.6.5). */
const pairs: readonly (readonly [number, number])[] = [
  [codes.PANIC_ON.code, codes.PANIC_OFF.code],
  [codes.TAMPER_ON.code, codes.TAMPER_OFF.code],
  [codes.POWER_FAILURE.code, codes.POWER_RESTORED.code],
  [codes.GPS_LOST.code, codes.GPS_RESTORED.code],
  [codes.CONNECTION_LOST.code, codes.CONNECTION_RESTORED.code],
  [codes.OFFLINE.code, codes.ONLINE.code],
  [codes.VEHICLE_DISABLED.code, codes.VEHICLE_ENABLED.code],
  [codes.DOOR_UNLOCK.code, codes.DOOR_LOCK.code],
  [codes.IGNITION_ON.code, codes.IGNITION_OFF.code],
  [codes.MOTION_START.code, codes.MOTION_STOP.code],
  [codes.FUEL_SENSOR.code, codes.FUEL_SENSOR_OK.code],
  [codes.BOARD_LOST.code, codes.BOARD_RESTORED.code],
  [codes.GEOFENCE_ARRIVE.code, codes.GEOFENCE_DEPART.code],
  [codes.CORRIDOR_ARRIVE.code, codes.CORRIDOR_DEPART.code],
  // Idle, speeding, alarm, intrusion, breach, vibration, carjack, towing, battery, power.
  [61718, 61719],
  [61792, 61807],
  [63559, 63560],
  [63617, 63618],
  [63625, 63626],
  [63633, 63634],
  [63669, 63671],
  [63601, 63602],
  [64784, 64786],
  [64791, 64793],
  // Unnumbered and numbered inputs, doors.
  [62466, 62468],
  ...numbered(32, 62496, 62528),
  ...numbered(6, 62672, 62688),
];

const counters: ReadonlyMap<number, number> = new Map(
  pairs.flatMap(([begin, end]) => [
    [begin, end],
    [end, begin],
  ]),
);

/** The code that ends an episode of this one; null when none does. It holds both ways: a door that opens and closes. */
export function counterOf(statusCode: number): number | null {
  return counters.get(statusCode) ?? null;
}

/** Arrivals and departures, each with an attribute `alert` that is false when its zone asks for none. */
export const crossingCodes: ReadonlySet<number> = new Set([
  codes.GEOFENCE_ARRIVE.code,
  codes.GEOFENCE_DEPART.code,
  codes.CORRIDOR_ARRIVE.code,
  codes.CORRIDOR_DEPART.code,
]);
const zoneCodes: ReadonlySet<number> = new Set([...crossingCodes, 62032, 62040]);

const corridorCodes: ReadonlySet<number> = new Set([codes.CORRIDOR_ARRIVE.code, codes.CORRIDOR_DEPART.code]);
const arrivalCodes: ReadonlySet<number> = new Set([codes.GEOFENCE_ARRIVE.code, codes.CORRIDOR_ARRIVE.code]);

/** What a crossing of a geozone becomes besides its record. */
export type CrossingNotice = 'nothing' | 'notification' | 'alarm';

interface CrossingEvent {
  readonly statusCode: number;
  readonly attributes: Readonly<Record<string, unknown>> | null;
}

/**
 * The one decision what becomes of a crossing, whether the vehicle or the service found it; null for any other event. `alert`
 * in its attributes says what the zone asked for when it was crossed; without it the zone says so.
 * @param switches of its zone as it is now; null: the account has no such zone. Then an asked crossing is an alarm: a tracker
 * that watches zones of its own was set up to report them.
 */
export function crossingNotice(
  { statusCode, attributes }: CrossingEvent,
  switches: readonly ZoneSwitch[] | null,
): CrossingNotice | null {
  if (!crossingCodes.has(statusCode)) return null;
  const side = arrivalCodes.has(statusCode) ? 'Entry' : 'Exit';
  const isAsked = switches?.includes(`alert${side}`) ?? !corridorCodes.has(statusCode);
  if ((attributes?.['alert'] ?? isAsked) === false) return 'nothing';
  return switches?.includes(`alarm${side}`) === false ? 'notification' : 'alarm';
}

interface Located {
  readonly statusCode: number;
  readonly geozoneID: string;
}

/** The zone that an event is about; '' for one that is about none. */
export function zoneOf({ statusCode, geozoneID }: Located): string {
  return zoneCodes.has(statusCode) ? geozoneID : '';
}

/** What an event is about besides its device: its zone, its command, else ''. Each has episodes of its own. Codes that end
 * each other are about the same. */
export function subjectOf(event: Located & { readonly commandID: string | null }): string {
  return event.commandID ?? zoneOf(event);
}

const urgentCodes: ReadonlySet<number> = new Set([
  codes.PANIC_ON.code,
  codes.TAMPER_ON.code,
  codes.POWER_FAILURE.code,
  // The older code of the same meaning.
  64791,
]);

/** True for panic, tamper and loss of power: what may pass quiet hours, and is pushed however late it comes. */
export function isUrgent(statusCode: number): boolean {
  return urgentCodes.has(statusCode);
}
