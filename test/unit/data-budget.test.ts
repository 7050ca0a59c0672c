// The data budget: months by the calendar, an estimate that only grows within one, and a damaged record that costs nothing.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addTraffic,
  budgetLightOf,
  monthOf,
  noTraffic,
  trafficOf,
} from '../../agent/core/link/data-budget.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';

const settings = { ...standardSettings.link, monthlyMb: 10, amberPercent: 80 };

describe('the data budget', () => {
  it('knows the month as the calendar does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }), (utcMs) => {
        const date = new Date(utcMs);
        expect(monthOf(utcMs)).toBe((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth());
      }),
    );
  });

  it('shows green, amber and red, and green again in the next month', () => {
    const november = Date.UTC(2026, 10, 30, 23, 59);
    const used = (bytes: number) => addTraffic(noTraffic, bytes, november);
    expect(budgetLightOf(used(7_999_999), settings, november)).toBe('green');
    expect(budgetLightOf(used(8_000_000), settings, november)).toBe('amber');
    expect(budgetLightOf(used(10_000_000), settings, november)).toBe('red');
    expect(budgetLightOf(used(10_000_000), settings, november + 60_000)).toBe('green');
    expect(budgetLightOf(used(10_000_000), { ...settings, monthlyMb: 0 }, november)).toBe('green');
  });

  it('counts to the last known month while the time is unknown', () => {
    const november = addTraffic(noTraffic, 5, Date.UTC(2026, 10, 1));
    expect(addTraffic(november, 7, null)).toEqual({ month: november.month, bytes: 12 });
    expect(addTraffic(addTraffic(noTraffic, 3, null), 4, Date.UTC(2026, 10, 1)).bytes).toBe(7);
  });

  it('takes a damaged record for none', () => {
    const traffic = { month: 682, bytes: 12 };
    expect(trafficOf(traffic)).toEqual(traffic);
    for (const value of [
      undefined,
      null,
      'x',
      {},
      { month: 'x', bytes: 1 },
      { month: 1, bytes: -1 },
      { month: 1, bytes: Number.NaN },
    ])
      expect.soft(trafficOf(value)).toEqual(noTraffic);
  });
});
