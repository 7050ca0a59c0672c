// When reports are due: over every change of the clock, each date that a schedule names has one due time, at its local time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  lastDue,
  momentText,
  nextDue,
  periodBefore,
  type Recurrence,
  reportPeriods,
} from '../../broker/core/reports/due-times.ts';
import { dateText } from '../../src/core/calendar.ts';
import { dateAt } from '../../src/core/zoned-time.ts';

/** With and without summer time, with changes at midnight, of half an hour, and with a day that was left out (Apia, 2011). */
const zones = [
  'UTC',
  'America/Toronto',
  'America/St_Johns',
  'America/Sao_Paulo',
  'America/Havana',
  'Europe/Berlin',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
];

const two = (value: number): string => String(value).padStart(2, '0');

const recurrences = fc.record({
  every: fc.constantFrom('day', 'week', 'month'),
  weekday: fc.integer({ min: 1, max: 7 }),
  monthDay: fc.integer({ min: 1, max: 31 }),
  time: fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${two(hour)}:${two(minute)}`),
  timeZone: fc.constantFrom(...zones),
});

const moments = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2032, 0, 1) });

const daily = (timeZone: string, time: string): Recurrence => ({
  every: 'day',
  weekday: 1,
  monthDay: 1,
  time,
  timeZone,
});

/** The next due times after a moment. */
function chain(of: Recurrence, afterMs: number, count: number): readonly number[] {
  const found: number[] = [];
  for (let at = afterMs; found.length < count; ) {
    at = nextDue(of, at);
    found.push(at);
  }
  return found;
}

const iso = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

describe('the due times of a report', () => {
  it('come once for each date, in order, and the last one before a moment is the one that came', () => {
    fc.assert(
      fc.property(recurrences, moments, (of, start) => {
        const dues = chain(of, start, 12);
        const dates = dues.map((due) => dateText(dateAt(of.timeZone, due)));
        for (const [at, due] of dues.entries()) {
          const before = dues[at - 1] ?? start;
          expect(due).toBeGreaterThan(before);
          expect(lastDue(of, due)).toBe(due);
          if (at > 0) expect(lastDue(of, due - 1)).toBe(before);
        }
        // One that a leap moves past midnight may come on the date of the next, but never at its time.
        expect(new Set(dates).size).toBeGreaterThanOrEqual(dates.length - 1);
      }),
      { numRuns: 300 },
    );
  });

  it('show the local time that the schedule names, or one that the clock left out by as much later', () => {
    fc.assert(
      fc.property(recurrences, moments, (of, start) => {
        for (const due of chain(of, start, 6)) {
          const shown = momentText(of.timeZone, due).slice(11);
          if (shown === of.time) continue;
          // Left out: no moment within a day around shows that time of that date.
          const date = dateText(dateAt(of.timeZone, due));
          const wanted = `${date} ${of.time}`;
          for (let at = due - 26 * 3_600_000; at < due + 26 * 3_600_000; at += 60_000)
            expect(momentText(of.timeZone, at)).not.toBe(wanted);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('leap with the clock in spring, and come the first time only in autumn', () => {
    const berlin = daily('Europe/Berlin', '02:30');
    expect(chain(berlin, Date.UTC(2026, 2, 27, 12), 3).map(iso)).toEqual([
      '2026-03-28T01:30',
      // 02:30 is left out: 03:30.
      '2026-03-29T01:30',
      '2026-03-30T00:30',
    ]);
    expect(chain(berlin, Date.UTC(2026, 9, 23, 12), 3).map(iso)).toEqual([
      '2026-10-24T00:30',
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ]);
    // The second 02:30 of that night is not due.
    expect(iso(nextDue(berlin, Date.UTC(2026, 9, 25, 1)))).toBe('2026-10-26T01:30');
  });

  it('of a month that is too short are those of its last day', () => {
    const of: Recurrence = { ...daily('Europe/Berlin', '06:00'), every: 'month', monthDay: 31 };
    expect(chain(of, Date.UTC(2028, 0, 31, 12), 3).map(iso)).toEqual([
      '2028-02-29T05:00',
      '2028-03-31T04:00',
      '2028-04-30T04:00',
    ]);
  });

  it('of a week are those of its day', () => {
    const of: Recurrence = { ...daily('America/Toronto', '06:30'), every: 'week', weekday: 1 };
    expect(iso(nextDue(of, Date.UTC(2026, 10, 26)))).toBe('2026-11-30T11:30');
  });
});

describe('the period of a report', () => {
  it('is whole days in the zone that end before the due date, and adjoining ones share no second', () => {
    fc.assert(
      fc.property(fc.constantFrom(...reportPeriods), fc.constantFrom(...zones), moments, (name, zone, at) => {
        const { first, last, fromS, toS } = periodBefore(name, zone, at);
        expect(toS * 1000).toBeLessThan(at);
        expect(periodBefore(name, zone, fromS * 1000).toS + 1).toBe(fromS);
        if (fromS > toS) return;
        expect(dateText(dateAt(zone, fromS * 1000))).toBe(dateText(first));
        expect(dateText(dateAt(zone, toS * 1000))).toBe(dateText(last));
        expect(dateText(dateAt(zone, (toS + 1) * 1000))).not.toBe(dateText(last));
      }),
      { numRuns: 500 },
    );
  });

  it('is the day before, the week from Monday, or the month', () => {
    const at = Date.UTC(2026, 10, 26, 6);
    const of = (name: (typeof reportPeriods)[number]) => {
      const { first, last } = periodBefore(name, 'Europe/Berlin', at);
      return [dateText(first), dateText(last)];
    };
    expect(of('yesterday')).toEqual(['2026-11-25', '2026-11-25']);
    expect(of('lastWeek')).toEqual(['2026-11-16', '2026-11-22']);
    expect(of('lastMonth')).toEqual(['2026-10-01', '2026-10-31']);
    const { fromS, toS } = periodBefore('lastMonth', 'Europe/Berlin', at);
    // With the hour of the change.
    expect(toS - fromS + 1).toBe(31 * 86_400 + 3600);
  });
});
