// Clock and calendar of a time zone. Pure: the moment is a parameter; the rules of the zones come from the platform's time zone table.
import { type CalendarDate, dateOfNumber, dateText, dayNumberOf } from './calendar.ts';
import { dayMs, hourMs, minuteMs } from './durations.ts';

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones whose format is kept; there are some 600. */
const formatsMost = 1000;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
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

/** What clock and calendar show at a moment, as the UTC time that shows the same. */
export function wallMs(timeZone: string, atMs: number): number {
  const part = new Map(
    formatOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => part.get(type) ?? 0;
  const days = dayNumberOf({ year: of('year'), month: of('month'), day: of('day') });
  return days * dayMs + of('hour') * hourMs + of('minute') * minuteMs + of('second') * 1000;
}

/** `2026-11-20 06:30:07`, as clock and calendar show a moment. */
export function clockText(timeZone: string, atMs: number): string {
  const wall = wallMs(timeZone, atMs);
  const seconds = Math.floor(wall / 1000) - Math.floor(wall / dayMs) * 86_400;
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return `${dateText(dateOfNumber(Math.floor(wall / dayMs)))} ${time}`;
}

/** By how much the clock of the zone is ahead of UTC at a moment. */
const offsetMs = (timeZone: string, atMs: number): number =>
  wallMs(timeZone, atMs) - Math.floor(atMs / 1000) * 1000;

/**
 * The moment at which the clock shows that time of that date. A time that a change of the clock leaves out is as much later as the clock leaps; of
 * one that comes twice it is the first.
 */
export function momentOf(timeZone: string, date: CalendarDate, minuteOfDay: number): number {
  const wall = dayNumberOf(date) * dayMs + minuteOfDay * minuteMs;
  const before = offsetMs(timeZone, wall - dayMs);
  const after = offsetMs(timeZone, wall + dayMs);
  const found = [wall - before, wall - after].filter((at) => offsetMs(timeZone, at) === wall - at);
  return found.length === 0 ? wall - before : Math.min(...found);
}

/** The date in the zone at a moment. */
export const dateAt = (timeZone: string, atMs: number): CalendarDate =>
  dateOfNumber(Math.floor(wallMs(timeZone, atMs) / dayMs));
