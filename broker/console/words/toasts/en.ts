// Toasts in English: what happened elsewhere or later.
import type { Widened } from '../base/catalogue.ts';
import { counterOf } from '../base/format.ts';

const many = counterOf('en');

export const toastTexts = {
  toasts: {
    back: 'The connection is back',
    backHint: 'What you see is live again',
    more: (count: number) => `and ${many(count, 'more new alarm', 'more new alarms')}`,
    toAlarm: 'Show the alarm',
    restored: (vehicle: string) => `${vehicle} restored`,
    restoredHint: 'The relay was read back closed',
    notRestored: (vehicle: string) => `Restore of ${vehicle} has not ended well`,
    notRestoredHint: 'Open the vehicle to see why, and what to do',
    toVehicle: 'Open the vehicle',
  },
};

export type ToastTexts = Widened<typeof toastTexts>;
