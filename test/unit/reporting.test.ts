// Which positions are recorded: the rules one by one, and over real tracks that the way drawn from the reports is never
// further from the true one than promised.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { createReporting, type ReportingProfile, stepReporting } from '../../agent/core/reporting.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';

const standard = standardSettings.reporting;
const metre = 1 / 111_195;

function fixAt(atS: number, north: number, east: number, more: Partial<Fix> = {}): Fix {
  return {
    atMonoMs: atS * 1000,
    utcMs: null,
    latitude: north * metre,
    longitude: east * metre,
    altitudeM: null,
    speedKmh: 50,
    headingDeg: null,
    hdop: 1,
    satellites: 9,
    rmcValid: true,
    mode: 'A',
    doubts: [],
    ...more,
  } as Fix;
}

function reportsOf(
  fixes: readonly Fix[],
  settings = standard,
  profile: ReportingProfile = 'home',
): readonly Fix[] {
  let state = createReporting(0);
  return fixes.flatMap((fix) => {
    const step = stepReporting(state, fix, { settings, profile });
    state = step.state;
    expect(state.trail.length).toBeLessThanOrEqual(64);
    return step.reports;
  });
}

const seconds = (reports: readonly Fix[]) => reports.map((fix) => fix.atMonoMs / 1000);
const never = { ...standard, movingS: 3600, distanceM: 100_000, turnDeg: 180, cornerM: 0, speedDeltaKmh: 0 };

describe('positions are recorded', () => {
  it('by time while moving, and seldom while standing', () => {
    const drive = Array.from({ length: 61 }, (_, s) => fixAt(s, 0, s));
    expect(seconds(reportsOf(drive, { ...never, movingS: 20 }))).toEqual([0, 20, 40, 60]);
    const park = Array.from({ length: 601 }, (_, s) => fixAt(s, 0, 0, { speedKmh: 0 }));
    expect(seconds(reportsOf(park, standard))).toEqual([0, 300, 600]);
  });

  it('at the start and the end of a movement', () => {
    const trip = [0, 0, 50, 50, 0, 0].map((speedKmh, s) => fixAt(s, 0, s * 10, { speedKmh }));
    expect(seconds(reportsOf(trip, never))).toEqual([0, 2, 4]);
  });

  it('by distance, turn and change of speed', () => {
    const far = [0, 90, 180, 270, 360].map((east, s) => fixAt(s, 0, east));
    expect(seconds(reportsOf(far, { ...never, distanceM: 200 }))).toEqual([0, 3]);
    const bend = [0, 5, 15, 30, 30].map((headingDeg, s) => fixAt(s, 0, s * 14, { headingDeg }));
    expect(seconds(reportsOf(bend, { ...never, turnDeg: 25 }))).toEqual([0, 3]);
    const braking = [90, 80, 70, 59, 55].map((speedKmh, s) => fixAt(s, 0, s * 20, { speedKmh }));
    expect(seconds(reportsOf(braking, { ...never, speedDeltaKmh: 30 }))).toEqual([0, 3]);
  });

  it('at the corner itself, with the time at which it was passed', () => {
    const north = Array.from({ length: 11 }, (_, s) => fixAt(s, s * 10, 0));
    const east = Array.from({ length: 10 }, (_, s) => fixAt(11 + s, 100, (s + 1) * 10));
    const reports = reportsOf([...north, ...east], { ...never, cornerM: 15 });
    expect(seconds(reports)).toEqual([0, 10]);
  });

  it('by time alone where sending costs or the battery is low', () => {
    const drive = Array.from({ length: 1801 }, (_, s) => fixAt(s, (s % 100) * 5, s * 10));
    expect(seconds(reportsOf(drive, standard, 'roaming'))).toHaveLength(31);
    expect(seconds(reportsOf(drive, standard, 'low-battery'))).toHaveLength(31);
    const park = drive.map((fix) => ({ ...fix, speedKmh: 0 }));
    expect(seconds(reportsOf(park, standard, 'low-battery'))).toEqual([0, 900, 1800]);
  });

  it.each<[string, (s: number) => boolean]>([
    ['never', () => false],
    ['in one fix of three', (s) => s % 3 === 0],
    ['in nine fixes of ten', (s) => s % 10 !== 0],
    ['in one fix of thirty', (s) => s % 30 === 0],
  ])('by time, distance and place where a speed is said %s: as many, and the odometer as long', (_, says) => {
    // Two minutes parked, four at 40 km/h on a road that bends, three parked.
    const stepM = 40 / 3.6;
    const place = { north: 0, east: 0 };
    const fixes = Array.from({ length: 541 }, (_unused, s) => {
      const isMoving = s > 120 && s <= 360;
      const bearing = (Math.floor(s / 60) * Math.PI) / 8;
      if (isMoving) {
        place.north += stepM * Math.cos(bearing);
        place.east += stepM * Math.sin(bearing);
      }
      return fixAt(s, place.north, place.east, { speedKmh: says(s) ? (isMoving ? 40 : 0) : null });
    });
    let state = createReporting(0);
    const reports = fixes.flatMap((fix) => {
      const step = stepReporting(state, fix, { settings: standard, profile: 'home' });
      state = step.state;
      return step.reports;
    });
    expect(Math.abs(state.odometerM / (240 * stepM) - 1)).toBeLessThan(0.02);
    expect(reports.length).toBeGreaterThanOrEqual(24);
    expect(reports.length).toBeLessThanOrEqual(36);
    for (const { speedKmh } of reports) expect([0, 40, null]).toContain(speedKmh);
  });

  it('counts no way of a receiver that wanders or jumps and says no speed', () => {
    const east = (s: number) => 60 * Math.sin(s / 100) + (s > 600 ? 120 : 0);
    let state = createReporting(0);
    for (let s = 0; s < 1200; s += 1)
      ({ state } = stepReporting(state, fixAt(s, 0, east(s), { speedKmh: null }), {
        settings: standard,
        profile: 'home',
      }));
    expect(state.odometerM).toBe(0);
  });

  it('so that the line through the reports misses no passed place by more than the corner setting, while the trail is whole', () => {
    const turn = fc.record({
      stepS: fc.integer({ min: 1, max: 3 }),
      north: fc.integer({ min: -30, max: 30 }),
      east: fc.integer({ min: -30, max: 30 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 2, maxLength: 60 }), (turns) => {
        let at = { s: 0, north: 0, east: 0 };
        const fixes = [fixAt(0, 0, 0)];
        for (const { stepS, north, east } of turns) {
          at = { s: at.s + stepS, north: at.north + north, east: at.east + east };
          fixes.push(fixAt(at.s, at.north, at.east));
        }
        const reports = reportsOf(fixes, { ...never, cornerM: 20 });
        const times = seconds(reports);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        expect(new Set(times).size).toBe(times.length);
        for (const report of reports) expect(fixes).toContain(report);
      }),
    );
  });
});
