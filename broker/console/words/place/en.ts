// Address of the last position and people aboard, in English.
import type { Widened } from '../base/catalogue.ts';
import { formatNumber } from '../base/format.ts';

const n = (value: number): string => formatNumber(value, 'en');

export const placeTexts = {
  place: {
    title: 'Place and people',
    address: 'Address of the last position',
    hint: 'Empty takes it away. The next position begins without one',
    save: 'Save the address',
    none: 'No address was written for this position',
    aboard: 'People aboard',
    notCounted: 'The vehicle has reported no count',
    of: (count: number, most: number) => `${n(count)} of ${n(most)}`,
    tooMany: 'More than it may carry',
  },
} as const;

export type PlaceTexts = Widened<typeof placeTexts>;
