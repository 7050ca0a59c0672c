// Quiet hours of the week in local time. Pure: the time is a parameter; the zone rules come from the platform's time zone
// table.

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
const weekdayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones whose format is kept; there are some 600. */
const formatsMost = 1000;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  if (formats.size < formatsMost) formats.set(timeZone, made);
  return made;
}

/** True for a name that the platform's time zone table knows; offsets such as `+02:00` are no names. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** The wall clock at a moment: day 1 to 7, minute of the day. */
function wallClock(timeZone: string, atMs: number): { readonly day: number; readonly minute: number } {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  return {
    day: weekdayNames.indexOf(parts.get('weekday') ?? '') + 1,
    minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
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
