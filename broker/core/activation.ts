// Which status codes count as alerts, in the four categories of the activation summary, and which of them people may raise
// on a device's behalf. The interface does not show the tables; they follow OpenGTS' code groups (StatusCodes 2.6.5). It
// must stay data, with no condition on it.
import { statusCodes } from '../../src/core/status-codes.ts';

export const activationCategories = ['fuel', 'activations', 'cargo', 'base'] as const;
export type ActivationCategory = (typeof activationCategories)[number];

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export const codesByCategory: Readonly<Record<ActivationCategory, readonly number[]>> = {
  // Refill, theft, low, sender faulty.
  fuel: [63825, 63826, 63828, 63838],
  // Numbered and unnumbered inputs on, panic, vehicle alarm, intrusion.
  activations: [...range(62496, 62527), 62466, 63553, 63559, 63617],
  // Doors open and closed, breach, lock and unlock.
  cargo: [...range(62672, 62677), ...range(62688, 62693), 63625, 63637, 63638],
  // Zone arrival and departure, towing, tamper, power lost, battery low.
  base: [61968, 62000, 63601, 63621, 64787, 64784],
};

/** Every status code that is an alert, each once. */
export const activationCodes: readonly number[] = activationCategories.flatMap(
  (category) => codesByCategory[category],
);

/**
 * Alerts that only the vehicle can tell: that a lock relay moved (read back from the board), and that it entered or left
 * a zone (decided on its position).
 */
const ofVehicle: readonly number[] = [statusCodes.DOOR_LOCK.code, statusCodes.DOOR_UNLOCK.code, 61968, 62000];

/** Operator's notice, and the ends of alerts: panic, alarm, intrusion, tamper, breach, towing, fuel sender, power, battery. */
const notices: readonly number[] = [61508, 63554, 63560, 63618, 63622, 63626, 63602, 63839, 64789, 64786];

/** Codes that a person may record on a device's behalf: alerts and notices, nothing about relays or commands. */
export const raisableCodes: readonly number[] = [
  ...activationCodes.filter((code) => !ofVehicle.includes(code)),
  ...notices,
];
