// Units, clock and zone in which this page shows what the service has.
import { measuresOf, unitOf } from '../state/account/measures.ts';
import { createValue } from '../state/value.ts';

export const measures = createValue(measuresOf('en'));

/** Of this computer. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone in which times are shown. */
export const shownZone = (): string => measures.get().zone ?? ownZone();

/** Distances are in miles. */
export const isInMiles = (): boolean => unitOf('km', measures.get().system) === 'mi';
