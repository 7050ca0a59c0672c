// Many alarms and many vehicles at once, in English.
import type { Widened } from '../base/catalogue.ts';
import { counterOf, formatNumber } from '../base/format.ts';

const n = (value: number): string => formatNumber(value, 'en');
const many = counterOf('en');
const alarms = (count: number): string => many(count, 'alarm', 'alarms');
const engines = (count: number): string => many(count, 'engine', 'engines');
const vehicles = (count: number): string => many(count, 'vehicle', 'vehicles');

export const manyTexts = {
  many: {
    pick: (alarm: string, vehicle: string) => `Pick ${alarm} of ${vehicle}`,
    picked: (count: number, most: number) => `${n(count)} of at most ${n(most)} picked`,
    all: 'Pick all shown',
    none: 'Pick none',
    dismiss: 'Close the results',
    results: 'Results',
    alarms: {
      take: (count: number) => `Take ${alarms(count)}`,
      assignTitle: (count: number) => `Assign ${alarms(count)}`,
      assignText:
        'The user owns them from then on. New alarms and your own can be assigned; an administrator assigns any that is taken',
      assignAction: (count: number, user: string) => `Assign ${alarms(count)} to ${user}`,
      user: 'User',
      userHint: 'An operator or administrator who sees the vehicles',
      chooseUser: 'Choose a user',
      close: (count: number) => `Close ${alarms(count)}`,
      done: {
        take: (count: number) => `${alarms(count)} taken`,
        assign: (count: number) => `${alarms(count)} assigned`,
        close: (count: number) => `${alarms(count)} closed`,
      },
      failed: (count: number) => `${alarms(count)} not changed`,
    },
    commands: {
      restore: (count: number) => `Restore ${engines(count)}`,
      lock: (count: number) => `Lock the cargo of ${vehicles(count)}`,
      cut: (count: number) => `Cut ${engines(count)}`,
      done: {
        restore: (count: number) => `Restore asked of ${vehicles(count)}`,
        lock: (count: number) => `Lock asked of ${vehicles(count)}`,
        cut: (count: number) => `Cut asked of ${vehicles(count)}`,
      },
      failed: (count: number) => `${vehicles(count)} not commanded`,
      follow: 'Follow it',
      evidence: (vehicle: string) => `What ${vehicle} judged`,
      meant: (vehicle: string) => `${vehicle} is meant`,
      meantMissing: 'Tick each vehicle that is meant, and take the others out',
      takeOut: (vehicle: string) => `Take ${vehicle} out`,
      tooMany: (most: number) => `At most ${n(most)} engines are cut in one request. Take some out`,
      overLimit: (left: number) => `Only ${n(left)} more cuts are allowed within this hour. Take some out`,
      gone: 'There is no such vehicle any more',
      notYours: 'You may not command this vehicle',
      button: (count: number) => `Cut ${engines(count)}, each when it stands`,
    },
  },
} as const;

export type ManyTexts = Widened<typeof manyTexts>;
