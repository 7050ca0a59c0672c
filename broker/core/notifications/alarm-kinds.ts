// Which events raise an alarm by themselves, how urgent it is, and which events report that its condition has ended. Data.
// Three priorities, as ISA-18.2 and EEMUA 191 advise; a rule may raise alarms of further codes.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import { codesByCategory } from '../events/activation.ts';
import { counterOf, crossingCodes } from './status-episodes.ts';

/** In the order of urgency. */
export const alarmPriorities = ['critical', 'high', 'low'] as const;
export type AlarmPriority = (typeof alarmPriorities)[number];

const codes = statusCodes;

/** Somebody is in danger, the vehicle is being stolen or cut from its supply, or its relays are not as ordered or as judged. */
const critical: readonly number[] = [
  codes.PANIC_ON.code,
  codes.IMPACT.code,
  codes.TAMPER_ON.code,
  codes.POWER_FAILURE.code,
  codes.RELAY_MISMATCH.code,
  codes.GUARD_REFUSED.code,
  // Carjack, and the older code of power loss, of third-party trackers.
  63669,
  64791,
];

const high: readonly number[] = [
  codes.TOWING_START.code,
  codes.BREACH_ON.code,
  codes.FUEL_THEFT.code,
  codes.LOW_BATTERY.code,
  codes.RELAY_FAULT.code,
  codes.SERVICE_CODE_WRONG.code,
  codes.BOARD_LOST.code,
  codes.GPS_JAMMING.code,
  codes.MODEM_JAMMING.code,
  codes.EVENTS_DROPPED.code,
  codes.STORAGE_REPLACED.code,
  codes.INTERNAL_FAILURE.code,
  ...codesByCategory.activations.filter((code) => code !== codes.PANIC_ON.code),
];

const low: readonly number[] = [
  codes.FUEL_REFILL.code,
  codes.LOW_FUEL.code,
  codes.FUEL_SENSOR.code,
  codes.GEOFENCE_ARRIVE.code,
  codes.GEOFENCE_DEPART.code,
  codes.CORRIDOR_ARRIVE.code,
  codes.CORRIDOR_DEPART.code,
  codes.POSITION_SUSPECT.code,
  codes.GPS_ANTENNA_OPEN.code,
];

const priorities: ReadonlyMap<number, AlarmPriority> = new Map([
  ...low.map((code) => [code, 'low'] as const),
  ...high.map((code) => [code, 'high'] as const),
  ...critical.map((code) => [code, 'critical'] as const),
]);

/** Every code that raises an alarm by itself, each once. */
export const alarmCodes: readonly number[] = [...priorities.keys()];

/** The priority of the alarm that an event with this code raises by itself; null: it raises none. */
export function priorityOf(statusCode: number): AlarmPriority | null {
  return priorities.get(statusCode) ?? null;
}

/** The more urgent of two; null is none. */
export function moreUrgent(one: AlarmPriority | null, other: AlarmPriority | null): AlarmPriority | null {
  return alarmPriorities.find((priority) => priority === one || priority === other) ?? null;
}

/** The ends of conditions that end no episode of a rule: one of them may end several kinds. */
const furtherEnds: ReadonlyMap<number, readonly number[]> = new Map([
  [codes.POSITION_TRUSTED.code, [codes.POSITION_SUSPECT.code]],
  [codes.GPS_RESTORED.code, [codes.GPS_JAMMING.code, codes.GPS_ANTENNA_OPEN.code]],
  [codes.RELAY_RESTORED.code, [codes.RELAY_MISMATCH.code, codes.RELAY_FAULT.code]],
]);

/** The kinds whose condition has ended by an event with this code. */
export function endedBy(statusCode: number): readonly number[] {
  const counter = counterOf(statusCode);
  return [...(counter === null ? [] : [counter]), ...(furtherEnds.get(statusCode) ?? [])];
}

/** The codes of events that end the condition of this kind. */
export function endsOf(statusCode: number): readonly number[] {
  const counter = counterOf(statusCode);
  const further = [...furtherEnds].filter(([, kinds]) => kinds.includes(statusCode)).map(([end]) => end);
  return [...(counter === null ? [] : [counter]), ...further];
}

/** True: an alarm of this kind that has no owner closes by itself when its condition ends. Crossings happened; they stay. */
export function closesItself(statusCode: number, priority: AlarmPriority): boolean {
  return priority === 'low' && !crossingCodes.has(statusCode);
}
