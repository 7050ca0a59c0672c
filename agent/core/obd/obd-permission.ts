// Whether anything may be written to the adapter of a car at this moment: only with its ignition proven on, and never on a low battery. Pure.
import type { ObdRefusal } from '../bus/obd-facts.ts';
import type { Sensed } from '../evidence/contact.ts';

export const permissionLimits = {
  /** The ignition must have been on for this long: a starter dips the supply. */
  onMs: 3000,
  /** A supply below this is low; of a vehicle of 24 V, which shows more than `highV`, twice as much. */
  lowV: 11.8,
  highV: 18,
} as const;

export type ObdPermission = 'granted' | Extract<ObdRefusal, `ignition_${string}` | 'battery_low'>;

export interface PermissionFacts {
  readonly ignition: Sensed;
  /** The reading of the ignition does not count now, or was contradicted by another witness. */
  readonly isDoubtful: boolean;
  /** Supply as the board measures it, V; null: it does not. */
  readonly supplyV: number | null;
}

/** A battery that must not be loaded further. */
export function isLow(volts: number): boolean {
  const { lowV, highV } = permissionLimits;
  return volts > highV ? volts < 2 * lowV : volts < lowV;
}

/** Whether a byte may be written at `nowMs`. */
export function obdPermission(
  { ignition, isDoubtful, supplyV }: PermissionFacts,
  nowMs: number,
): ObdPermission {
  if (ignition.value === false) return 'ignition_off';
  if (ignition.value === null || isDoubtful) return 'ignition_unknown';
  if (nowMs - ignition.sinceMs < permissionLimits.onMs) return 'ignition_new';
  return supplyV !== null && isLow(supplyV) ? 'battery_low' : 'granted';
}
