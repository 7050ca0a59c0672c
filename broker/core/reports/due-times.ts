// When a report is due and what period it is about, in local time. Pure: the time is a parameter; the zone rules come from the
// platform's time zone table. A local time that a change of the clock leaves out is due as much later as the clock leaps, one that comes
// twice is due the first time: each date that a schedule names has one due time.

import { type CalendarDate, dateOfNumber, dayNumberOf, dayNumberOfText } from '../../../src/core/calendar.ts';
import { clockText, dateAt, momentOf } from '../../../src/core/zoned-time.ts';

export const reportPeriods = ['yesterday', 'lastWeek', 'lastMonth'] as const;
export type ReportPeriod = (typeof reportPeriods)[number];

export interface Recurrence {
  readonly every: 'day' | 'week' | 'month';
  /** Of a week: 1 Monday to 7 Sunday. */
  readonly weekday: number;
  /** Of a month: 1 to 31; the last day of a shorter month. */
  readonly monthDay: number;
  /** `HH:MM`. */
  readonly time: string;
  /** IANA name. */
  readonly timeZone: string;
}

/** Longest time between two due times is 31 days; a clock that leaps by a day may come between. */
const lookDays = 64;

const shifted = (date: CalendarDate, days: number): CalendarDate => dateOfNumber(dayNumberOf(date) + days);

/** 1 Monday to 7 Sunday; 1 January 1970 was a Thursday. */
const weekdayOf = (date: CalendarDate): number => ((((dayNumberOf(date) + 3) % 7) + 7) % 7) + 1;

const lastDayOf = ({ year, month }: CalendarDate): number => {
  const next = month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
  return dateOfNumber(dayNumberOf(next) - 1).day;
};

function isNamed({ every, weekday, monthDay }: Recurrence, date: CalendarDate): boolean {
  if (every === 'week') return weekdayOf(date) === weekday;
  return every === 'day' || date.day === Math.min(monthDay, lastDayOf(date));
}

const minuteOfDay = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

const dueOn = (of: Recurrence, date: CalendarDate): number =>
  momentOf(of.timeZone, date, minuteOfDay(of.time));

/** The first due time after a moment. */
export function nextDue(of: Recurrence, afterMs: number): number {
  let date = shifted(dateAt(of.timeZone, afterMs), -2);
  for (let days = 0; days < lookDays; days += 1) {
    if (isNamed(of, date)) {
      const due = dueOn(of, date);
      if (due > afterMs) return due;
    }
    date = shifted(date, 1);
  }
  throw new Error(`no due time within ${lookDays} days after ${afterMs}`);
}

/** The last due time at or before a moment. */
export function lastDue(of: Recurrence, untilMs: number): number {
  let date = shifted(dateAt(of.timeZone, untilMs), 2);
  for (let days = 0; days < lookDays; days += 1) {
    if (isNamed(of, date)) {
      const due = dueOn(of, date);
      if (due <= untilMs) return due;
    }
    date = shifted(date, -1);
  }
  throw new Error(`no due time within ${lookDays} days before ${untilMs}`);
}

export interface DatedPeriod {
  /** Both days included. */
  readonly first: CalendarDate;
  readonly last: CalendarDate;
  /** Epoch seconds, both included. */
  readonly fromS: number;
  readonly toS: number;
}

function datesOf(period: ReportPeriod, today: CalendarDate): Pick<DatedPeriod, 'first' | 'last'> {
  switch (period) {
    case 'yesterday': {
      const first = shifted(today, -1);
      return { first, last: first };
    }
    case 'lastWeek': {
      const monday = shifted(today, 1 - weekdayOf(today));
      return { first: shifted(monday, -7), last: shifted(monday, -1) };
    }
    case 'lastMonth': {
      const last = shifted({ ...today, day: 1 }, -1);
      return { first: { ...last, day: 1 }, last };
    }
  }
}

/** The time from the beginning of the first day to the end of the last one, as clock and calendar of the zone count. */
export const withTimes = (
  timeZone: string,
  { first, last }: Pick<DatedPeriod, 'first' | 'last'>,
): DatedPeriod => ({
  first,
  last,
  fromS: Math.floor(momentOf(timeZone, first, 0) / 1000),
  toS: Math.floor(momentOf(timeZone, shifted(last, 1), 0) / 1000) - 1,
});

/** The dates that `2026-10` (a month) or `2026-10-31` (a day) names; null: there is no such month or day. */
export function namedDates(text: string): Pick<DatedPeriod, 'first' | 'last'> | null {
  const isMonth = /^\d{4}-\d{2}$/.test(text);
  const number = dayNumberOfText(isMonth ? `${text}-01` : text);
  if (number === null) return null;
  const first = dateOfNumber(number);
  return { first, last: isMonth ? { ...first, day: lastDayOf(first) } : first };
}

/** The whole days before the one of a moment: the day, the week from Monday, or the month. */
export function periodBefore(period: ReportPeriod, timeZone: string, atMs: number): DatedPeriod {
  return withTimes(timeZone, datesOf(period, dateAt(timeZone, atMs)));
}

/** `2026-11-20 06:30`, as clock and calendar of the zone show a moment. */
export const momentText = (timeZone: string, atMs: number): string => clockText(timeZone, atMs).slice(0, 16);
