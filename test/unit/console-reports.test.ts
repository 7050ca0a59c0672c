// Reports of the console: what an address may ask for, and rows in their order, with their sums and days.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateOf, endOfDate, startOfDate } from '../../broker/console/state/reports/report-dates.ts';
import { parseVehicles, periodOf, tooLong } from '../../broker/console/state/reports/report-view.ts';
import { barsOf } from '../../broker/console/state/reports/rows.ts';
import { columnsOf, reportKinds, sorts } from '../../src/core/reports/columns.ts';
import { csvOf } from '../../src/core/reports/csv.ts';
import { type ReportRow, sortRows, sumOf } from '../../src/core/reports/rows.ts';

const dayS = 86_400;
const zone = 'Europe/Berlin';
const rowOf = (id: string, values: ReportRow['values']): ReportRow => ({
  id,
  deviceID: id,
  isOpen: false,
  about: '',
  values,
});
const nameOf = (deviceID: string): string => `the ${deviceID}`;

describe('the address of a report', () => {
  it('names up to 50 vehicles by their ids, each once, and nothing else', () => {
    expect(parseVehicles(undefined)).toEqual([]);
    expect(parseVehicles('van-1,van-2,van-1')).toEqual(['van-1', 'van-2']);
    expect(parseVehicles('van-1,')).toBeNull();
    expect(parseVehicles('../van')).toBeNull();
    expect(parseVehicles(Array.from({ length: 50 }, (_, at) => `v${at}`).join())).toHaveLength(50);
    expect(parseVehicles(Array.from({ length: 51 }, (_, at) => `v${at}`).join())).toBeNull();
  });

  it('has a period that ends now, or one of two dates in either order', () => {
    expect(periodOf('day', {}, 1_000_000)).toEqual({ fromS: 1_000_000 - dayS, toS: 0 });
    expect(periodOf('day', { fromS: 5 }, 1_000_000)).toEqual({ fromS: 1_000_000 - dayS, toS: 0 });
    expect(periodOf('day', { fromS: 9, toS: 5 }, 1_000_000)).toEqual({ fromS: 5, toS: 9 });
  });

  it('asks for no longer period than the service answers', () => {
    const month = { fromS: 1, toS: 1 + 32 * dayS };
    expect(tooLong('trips', true, month, 0)).toBe(31);
    expect(tooLong('trips', false, month, 0)).toBeNull();
    expect(tooLong('alarms', true, month, 0)).toBeNull();
    expect(tooLong('summary', false, { fromS: 1, toS: 0 }, 400 * dayS)).toBe(366);
  });

  it('has whole days, whatever their length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), (day) => {
        const text = new Date(day * dayS * 1000).toISOString().slice(0, 10);
        const [start, end] = [startOfDate(text, zone) ?? 0, endOfDate(text, zone) ?? 0];
        expect([dateOf(start, zone), dateOf(end, zone), dateOf(end + 1, zone) === text]).toEqual([
          text,
          text,
          false,
        ]);
      }),
    );
    for (const none of ['', '2026', '26-01-01', 'x']) expect(startOfDate(none, zone)).toBeNull();
  });
});

describe('the rows of a report', () => {
  const rows = [
    rowOf('a', { distance: 5, idle: null, start: 100 }),
    rowOf('b', { distance: null, idle: 60, start: 100 }),
    rowOf('c', { distance: 7, idle: 30, start: 50 }),
  ];

  it('have what is not known last in both directions', () => {
    const order = (sort: Parameters<typeof sortRows>[1]): string =>
      sortRows(rows, sort, nameOf)
        .map(({ id }) => id)
        .join('');
    expect(order('distance')).toBe('acb');
    expect(order('-distance')).toBe('cab');
    expect(order('-start')).toBe('abc');
    expect(order('-vehicle')).toBe('cba');
    for (const sort of sorts) expect(sortRows(rows, sort, nameOf)).toHaveLength(3);
  });

  it('have no sum where one does not know its part', () => {
    expect(sumOf(rows, 'distance')).toBeNull();
    expect(sumOf(rows.slice(0, 1), 'distance')).toBe(5);
    expect(sumOf(rows, 'start')).toBeNull();
  });

  it('are drawn by day with the days between them, and add up to the same', () => {
    const times = fc.array(fc.integer({ min: 1_700_000_000, max: 1_700_000_000 + 90 * dayS }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(times, (starts) => {
        const trips = starts.map((start, at) => rowOf(String(at), { start, distance: 2, driving: 3600 }));
        const { places, series } = barsOf('trips', trips, zone);
        expect(places.map(Number)).toEqual(places.map(Number).toSorted((one, other) => one - other));
        expect(new Set(places.map((place) => dateOf(Number(place), zone))).size).toBe(places.length);
        const [distance, driving] = series.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
        expect([distance, driving]).toEqual([2 * starts.length, starts.length]);
        const [counts] = barsOf('alarms', trips, zone).series;
        expect(counts?.values.reduce((sum, value) => sum + value, 0)).toBe(starts.length);
      }),
    );
  });

  it('of the summary are drawn by vehicle, the first 30 of the table', () => {
    const fleet = Array.from({ length: 40 }, (_, at) => rowOf(`v${at}`, { distance: at, driving: 60 }));
    const { places, series } = barsOf('summary', fleet, zone);
    expect(places).toEqual(fleet.slice(0, 30).map(({ deviceID }) => deviceID));
    expect(series.map(({ column }) => column)).toEqual(['distance', 'driving']);
  });

  it('have one column of each kind at most', () => {
    for (const kind of reportKinds) expect(new Set(columnsOf[kind]).size).toBe(columnsOf[kind].length);
  });
});

describe('a table as CSV', () => {
  it('quotes what would break a line, and makes no formula of a text', () => {
    expect(
      csvOf([
        ['a', 'b'],
        ['=1+1', 'say "no"'],
        [-1.5, null],
      ]),
    ).toBe('a,b\r\n\'=1+1,"say ""no"""\r\n-1.5,\r\n');
  });
});
