// Status codes that count as alerts, in the four categories of the activation summary, and codes that users may record for
// a device. The interface does not list them; they follow OpenGTS' code groups (StatusCodes 2.6.5). Data only.
import { statusCodes } from '../../../src/core/events/status-codes.ts';

const activationCategories = ['fuel', 'activations', 'cargo', 'base'] as const;
export type ActivationCategory = (typeof activationCategories)[number];

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export const codesByCategory: Readonly<Record<ActivationCategory, readonly number[]>> = {
  // Refill, theft, low, sender faulty.
  fuel: [63825, 63826, 63828, 63838],
  // Numbered and unnumbered inputs on, panic, vehicle alarm, intrusion.
  activations: [...range(62496, 62527), 62466, 63553, 63559, 63617],
  // Breach: a cargo door that opened while access was not allowed. Doors and locks that moved are reports.
  cargo: [63625],
  // Zone arrival and departure, towing, tamper, power lost, battery low.
  base: [61968, 62000, 63601, 63621, 64787, 64784],
};

/** Every status code that is an alert, each once. */
export const activationCodes: readonly number[] = activationCategories.flatMap(
  (category) => codesByCategory[category],
);

/** Alerts that only the vehicle can raise: that it entered or left a zone (decided on its position). */
const ofVehicle: readonly number[] = [statusCodes.GEOFENCE_ARRIVE.code, statusCodes.GEOFENCE_DEPART.code];

/** Doors that opened or closed, the unnumbered and the numbered ones. */
const doorReports: readonly number[] = [...range(62672, 62677), ...range(62688, 62693)];

/** Operator's notice, and the ends of alerts: panic, alarm, intrusion, tamper, breach, towing, fuel sender, power, battery. */
const notices: readonly number[] = [61508, 63554, 63560, 63618, 63622, 63626, 63602, 63839, 64789, 64786];

/** Codes that a person may record on a device's behalf: alerts, doors and notices, nothing about relays or commands. */
export const raisableCodes: readonly number[] = [
  ...activationCodes.filter((code) => !ofVehicle.includes(code)),
  ...doorReports,
  ...notices,
];
