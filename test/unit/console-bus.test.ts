// The vehicle bus as the page of a vehicle shows it: which values are of before, and the trouble codes.
import { describe, expect, it } from 'vitest';
import { busRows, spnNames, troubleCodesOf } from '../../broker/console/state/vehicle/bus-view.ts';
import { busValues } from '../../src/core/events/bus-values.ts';
import { columnsOf, isIfKnown } from '../../src/core/reports/columns.ts';
import { type ReportRow, shownColumns } from '../../src/core/reports/rows.ts';

const nowS = 1_763_683_200;
const value = (agoS: number, of: number | string | boolean = 1) => ({
  value: of,
  unit: '',
  source: 'J1939',
  timestamp: nowS - agoS,
});
const staleOf = (bus: Parameters<typeof busRows>[0]) =>
  busRows(bus, nowS).flatMap(({ name, isStale }) => (isStale ? [name] : []));

describe('values of the vehicle bus', () => {
  it('stay current for an hour while the bus sends others, as a unit repeats them after that', () => {
    expect(staleOf({ rpm: value(5), coolant: value(3600), vin: value(4000) })).toEqual(['vin']);
  });

  it('are all of before when the bus has sent none for ten minutes', () => {
    expect(staleOf({ rpm: value(601), coolant: value(700) })).toEqual(['rpm', 'coolant']);
    expect(staleOf({ rpm: value(599), coolant: value(700) })).toEqual([]);
  });

  it('come in one order, without the trouble codes and without names that are not known', () => {
    const bus = { vin: value(1, 'x'), dtcs: value(1, ''), rpm: value(1), other: value(1) };
    expect(busRows(bus, nowS).map(({ name }) => name)).toEqual(['rpm', 'vin']);
  });
});

describe('trouble codes', () => {
  it('are numbers of parameter and failure mode', () => {
    expect(troubleCodesOf({ dtcs: value(1, '110/15 134322/4') }, nowS)).toMatchObject({
      codes: [
        { spn: 110, fmi: 15 },
        { spn: 134_322, fmi: 4 },
      ],
      isStale: false,
    });
  });

  it('are none when the unit says so, and unknown when it says nothing', () => {
    expect(troubleCodesOf({ dtcs: value(1, '') }, nowS)?.codes).toEqual([]);
    expect(troubleCodesOf({ rpm: value(1) }, nowS)).toBeNull();
  });

  it('that are malformed are left out', () => {
    expect(troubleCodesOf({ dtcs: value(1, '110/15 x/1 1/2/3 -5/1') }, nowS)?.codes).toEqual([
      { spn: 110, fmi: 15 },
    ]);
  });

  it('are named after the signals that the unit reads', () => {
    for (const [spn, name] of Object.entries(spnNames))
      expect(busValues[name].source.split(/\D+/)).toContain(spn);
  });
});

describe('columns of the bus in reports', () => {
  const row = (busDistance: number | null): ReportRow => ({
    id: 'a',
    deviceID: 'a',
    isOpen: false,
    about: '',
    values: { busDistance },
  });

  it('are there only where a vehicle has counted something', () => {
    expect(shownColumns('trips', [row(null)]).some(isIfKnown)).toBe(false);
    expect(shownColumns('trips', [row(null), row(3)]).filter(isIfKnown)).toEqual(['busDistance']);
    expect(shownColumns('stops', [])).toEqual(columnsOf.stops);
  });
});
