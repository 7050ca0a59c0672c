// The list of the operations on event data.
import { activationOperations } from './activations.ts';
import { deviceEventOperations } from './events-device.ts';
import { fleetEventOperations } from './events-fleet.ts';

export const eventOperations = [
  ...deviceEventOperations,
  ...fleetEventOperations,
  ...activationOperations,
] as const;
