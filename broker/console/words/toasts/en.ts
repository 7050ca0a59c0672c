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
    safe: {
      enginecutoff: {
        done: (vehicle: string) => `${vehicle} restored`,
        doneHint: 'The relay was read back closed',
        notDone: (vehicle: string) => `Restore of ${vehicle} has not ended well`,
      },
      cargoaccess: {
        done: (vehicle: string) => `Cargo of ${vehicle} locked`,
        doneHint: 'The lock was read back shut',
        notDone: (vehicle: string) => `Locking the cargo of ${vehicle} has not ended well`,
      },
    },
    ends: {
      enginecutoff: {
        confirmed: (vehicle: string) => `Engine of ${vehicle} cut`,
        refused: (vehicle: string) => `Cut of ${vehicle} refused`,
        expired: (vehicle: string) => `Cut of ${vehicle} expired`,
        unknown: (vehicle: string) => `Outcome of the cut of ${vehicle} unknown`,
      },
      cargoaccess: {
        confirmed: (vehicle: string) => `Cargo of ${vehicle} unlocked`,
        refused: (vehicle: string) => `Unlock of ${vehicle} refused`,
        expired: (vehicle: string) => `Unlock of ${vehicle} expired`,
        unknown: (vehicle: string) => `Outcome of the unlock of ${vehicle} unknown`,
      },
    },
    endHints: {
      confirmed: 'The vehicle has read its relay back',
      refused: 'Open the order to see why',
      expired: 'Nothing was done, and nothing is repeated by itself',
      unknown: 'Look at what the vehicle reports',
    },
    toOrder: 'Show the order',
    notDoneHint: 'Open the vehicle to see why, and what to do',
    toVehicle: 'Open the vehicle',
  },
};

export type ToastTexts = Widened<typeof toastTexts>;
