// Units, clock and zone of a reader: what is shown and typed in miles, feet and gallons, times of 12 and 24 hours, days of another zone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  measuresOf,
  type Quantity,
  shownValue,
  systems,
  unitOf,
} from '../../broker/console/state/account/measures.ts';
import { settingTables } from '../../broker/console/state/device-view.ts';
import { dateOf, endOfDate, startOfDate } from '../../broker/console/state/reports/report-dates.ts';
import {
  faultsOf,
  readerLimits,
  settingsOf,
  typedOf,
  withDraft,
} from '../../broker/console/state/settings/settings-view.ts';
import { shownLimit, storedValue, typedValue } from '../../broker/console/state/settings/typed-amount.ts';
import { formatTime } from '../../src/core/words/format.ts';
import { languages } from '../../src/core/words/languages.ts';
import { allWords } from '../support/http/console-words.ts';

const quantities = ['km', 'kmh', 'm', 'litres'] as const satisfies readonly Quantity[];
const all = settingTables.flatMap(settingsOf);
const numbers = all.filter(({ number }) => number !== null);

describe('an amount', () => {
  it.each([
    ['metric', 'kmh', 80, { shown: 80, unit: 'kmh' }],
    ['us', 'kmh', 80, { shown: 49.7097, unit: 'mph' }],
    ['uk', 'kmh', 80, { shown: 49.7097, unit: 'mph' }],
    ['us', 'km', 1.609344, { shown: 1, unit: 'mi' }],
    ['us', 'm', 0.3048, { shown: 1, unit: 'ft' }],
    ['uk', 'm', 500, { shown: 500, unit: 'm' }],
    ['us', 'litres', 3.785411784, { shown: 1, unit: 'gallons' }],
    ['uk', 'litres', 40, { shown: 40, unit: 'litres' }],
  ] as const)('in %s of %s %d is %j', (system, quantity, stored, { shown, unit }) => {
    expect(shownValue(stored, quantity, system)).toBeCloseTo(shown, 4);
    expect(unitOf(quantity, system)).toBe(unit);
  });

  it('of 0 stays 0, and comes back from every unit', () => {
    for (const system of systems)
      for (const quantity of quantities) {
        expect([typedValue(0, quantity, system), storedValue(0, quantity, system)]).toEqual(['0', 0]);
        expect(storedValue(shownValue(77.7, quantity, system), quantity, system)).toBeCloseTo(77.7, 9);
      }
  });

  it('of whole metres is typed in whole feet and means the same metres', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 30_000 }), (metres) => {
        const feet = Math.round(shownValue(metres, 'm', 'us'));
        expect(Math.round(storedValue(feet, 'm', 'us'))).toBe(metres);
      }),
    );
  });

  it('has a word for its unit in every language', async () => {
    for (const language of Object.keys(languages)) {
      const { units } = (await allWords(language as 'en')) as { units: Record<string, string> };
      for (const system of systems)
        for (const quantity of quantities) expect(units[unitOf(quantity, system)]).toMatch(/\S/);
    }
  });
});

describe('a setting in the unit of the reader', () => {
  it('that is shown and typed again comes back to the last bit, whatever the value is', () => {
    const values = fc.constantFrom(...numbers).chain((setting) =>
      fc.record({
        setting: fc.constant(setting),
        value: fc.double({
          min: setting.number?.low ?? 0,
          max: setting.number?.high ?? 0,
          noNaN: true,
        }),
        system: fc.constantFrom(...systems),
      }),
    );
    fc.assert(
      fc.property(values, ({ setting, value, system }) => {
        const choice = { [setting.table]: { [setting.name]: value } };
        const typed = typedOf(setting, value, system);
        expect(withDraft(choice, { [setting.pointer]: typed }, system)).toEqual(choice);
        expect(withDraft(choice, {}, system)).toEqual(choice);
      }),
    );
  });

  it('may be typed up to the limits that are shown', () => {
    for (const setting of numbers)
      for (const system of systems)
        for (const limit of readerLimits(setting.number ?? { low: 0, high: 0, unit: 's' }, system)) {
          const typed = withDraft({}, { [setting.pointer]: String(limit) }, system);
          expect([setting.pointer, system, limit, [...faultsOf(typed)]]).toEqual([
            setting.pointer,
            system,
            limit,
            [],
          ]);
        }
    expect(shownLimit(5, 'low', 'kmh', 'us')).toBe(3.2);
    expect(shownLimit(250, 'high', 'kmh', 'us')).toBe(155.3);
  });

  it('takes what is typed in its unit', () => {
    const typed = withDraft({}, { '/alarms/speedingKmh': '55', '/reporting/distanceM': '820' }, 'us');
    expect(typed.alarms?.speedingKmh).toBeCloseTo(88.513_92, 9);
    expect(typed.reporting?.distanceM).toBeCloseTo(249.936, 9);
  });
});

describe('without a choice', () => {
  it.each([
    ['en-US', 'us', '12'],
    ['en-GB', 'uk', '24'],
    ['es-US', 'us', '12'],
    ['en-AU', 'metric', '12'],
    ['de-DE', 'metric', '24'],
    ['ar-EG', 'metric', '12'],
    ['en', 'metric', '24'],
    ['ar', 'metric', '24'],
    ['not a language', 'metric', '24'],
  ])('%s has %s and a clock of %s hours', (tag, system, clock) => {
    expect(measuresOf(tag)).toEqual({ system, clock, zone: null });
  });
});

describe('a time', () => {
  const midnight = new Date('2026-01-01T00:05:00Z');
  const noon = new Date('2026-07-01T12:00:00Z');

  it.each([
    ['en', { clock: '24', zone: 'UTC' }, midnight, '00:05'],
    ['en', { clock: '12', zone: 'UTC' }, midnight, '12:05 AM'],
    ['de', { clock: '24', zone: 'Europe/Berlin' }, midnight, '01:05'],
    ['en', { clock: '12', zone: 'America/New_York' }, noon, '8:00 AM'],
    ['ar-u-nu-latn', { clock: '24', zone: 'UTC' }, midnight, '00:05'],
    ['ar-u-nu-latn', { clock: '12', zone: 'UTC' }, noon, '12:00 م'],
  ] as const)('in %s by %j is %s: %s', (locale, choice, at, text) => {
    expect(formatTime(at, locale, 'hour', choice).replaceAll(/\s/g, ' ')).toBe(text);
  });

  it('names its zone where it is written whole', () => {
    expect(formatTime(noon, 'en', 'whole', { clock: '24', zone: 'Asia/Dubai' })).toContain('16:00:00 GMT+4');
  });

  it('has the days of its zone, across every change of the clock', () => {
    const zones = ['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu', 'Africa/Cairo'];
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 16_000, max: 21_000 }), (zone, day) => {
        const text = new Date(day * 86_400_000).toISOString().slice(0, 10);
        const [start, end] = [startOfDate(text, zone) ?? 0, endOfDate(text, zone) ?? 0];
        expect([dateOf(start, zone), dateOf(end, zone)]).toEqual([text, text]);
        expect([dateOf(start - 1, zone) < text, dateOf(end + 1, zone) > text]).toEqual([true, true]);
      }),
    );
  });
});
