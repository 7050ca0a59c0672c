// Quiet hours of the week in local time. Pure: the time is a parameter.
import { minuteMs } from '../../../src/core/durations.ts';
import { isTimeZone, wallMs } from '../../../src/core/zoned-time.ts';

export interface QuietHours {
  /** IANA name. */
  readonly timeZone: string;
  /** `HH:MM`; up to but not including `to`, on the next day when `to` is not later. */
  readonly from: string;
  readonly to: string;
  /** Days on which it begins: 1 Monday to 7 Sunday. */
  readonly weekdays: readonly number[];
  /** Panic, tamper and loss of power are sent all the same. */
  readonly exceptUrgent: boolean;
}

const minutesOfDay = 24 * 60;
const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** The wall clock at a moment: day 1 to 7, minute of the day. */
function wallClock(timeZone: string, atMs: number): { readonly day: number; readonly minute: number } {
  const minutes = Math.floor(wallMs(timeZone, atMs) / minuteMs);
  // 1970-01-01 was a Thursday.
  const day = ((Math.floor(minutes / minutesOfDay) + 3) % 7) + 1;
  return { day, minute: minutes % minutesOfDay };
}

/**
 * True when `atMs` lies in the quiet hours. Equal `from` and `to` mean the whole day. A zone that the platform has come to
 * forget has no quiet hours: one rule must not stop the notifications of all.
 */
export function isQuiet(hours: QuietHours, atMs: number): boolean {
  if (!isTimeZone(hours.timeZone)) return false;
  const { day, minute } = wallClock(hours.timeZone, atMs);
  const from = minuteOf(hours.from);
  const length = (minuteOf(hours.to) - from + minutesOfDay) % minutesOfDay || minutesOfDay;
  const began = (today: number, since: number): boolean =>
    since >= 0 && since < length && hours.weekdays.includes(today);
  const yesterday = day === 1 ? 7 : day - 1;
  return began(day, minute - from) || began(yesterday, minute + minutesOfDay - from);
}
