// What can fail together on a vehicle with plain contacts: one board reads everything.
import type { Causes } from '../../../agent/core/evidence/common-causes.ts';

export const plainCauses: Causes = {
  gnss: ['receiver'],
  motion: ['sensor:motion', 'contacts', 'board:io'],
  ignition: ['sensor:ignition', 'contacts', 'board:io'],
  rpm: ['sensor:rpm', 'board:io'],
  voltage: ['sensor:voltage', 'board:io'],
};

/** With a life input and a loop-back that answers: nothing but its own wire makes an input zero. */
export const apartCauses: Causes = {
  ...plainCauses,
  motion: ['sensor:motion'],
  ignition: ['sensor:ignition'],
};

/** With a life input that reads the supply of the contacts. */
export const livingCauses: Causes = {
  ...plainCauses,
  motion: ['sensor:motion', 'board:io'],
  ignition: ['sensor:ignition', 'board:io'],
};
