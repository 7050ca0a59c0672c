// Enrolment of vehicles with one-time codes. The command line makes such codes too: that and their table stay in the kernel.
import { addressOperations } from '../../api/devices/addresses.ts';
import { feature } from '../feature.ts';
import { enrolmentGuesses, enrolmentOperations } from './enrolment.ts';
import { enrolmentCodeOperations } from './enrolment-codes.ts';

export const enrolment = feature({
  operations: [...enrolmentCodeOperations, ...enrolmentOperations],
  follows: addressOperations,
  slice: enrolmentGuesses,
});
