// What the judge of consecutive fixes doubts, and that it comes back to belief after a bounded number of fixes.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import { createPlausibilityState, judgeFix, plausibilityLimits } from '../../agent/core/gnss/plausibility.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';

const startUtcMs = Date.UTC(2026, 2, 15, 10);
const degPerM = 1 / 111_195;

/** A fix `s` seconds into the drive, `northM` metres north of the start. */
function fixAt(s: number, northM: number, changes: Partial<Fix> = {}): Fix {
  return {
    utcMs: startUtcMs + s * 1000,
    atMonoMs: 50_000 + s * 1000,
    latitude: 48 + northM * degPerM,
    longitude: 11.5,
    altitudeM: 500,
    speedKmh: 36,
    headingDeg: 0,
    hdop: 1,
    satellites: 9,
    dimension: 3,
    mode: 'A',
    rmcValid: true,
    doubts: [],
    ...changes,
  };
}

function judgeAll(fixes: readonly Fix[]): readonly (readonly string[])[] {
  let state = createPlausibilityState();
  return fixes.map((fix) => {
    const judged = judgeFix(state, fix);
    state = judged.state;
    expect({ ...judged.fix, doubts: fix.doubts }).toEqual(fix); // nothing but doubts is changed
    return judged.fix.doubts;
  });
}
const seconds = (count: number) => Array.from({ length: count }, (_, s) => s);
const counted = (all: readonly (readonly string[])[], doubt: string): number =>
  all.filter((doubts) => doubts.includes(doubt)).length;

describe('an honest drive', () => {
  test('at a steady speed raises no doubt', () => {
    expect(judgeAll(seconds(600).map((s) => fixAt(s, s * 10))).flat()).toEqual([]);
  });

  test('with scatter, hard braking, 10 Hz and late reading raises no doubt', () => {
    let northM = 0;
    let speedMs = 0;
    const fixes = seconds(6000).map((n) => {
      speedMs = Math.max(0, Math.min(50, speedMs + (Math.floor(n / 100) % 2 === 0 ? 0.6 : -0.9)));
      northM += speedMs / 10;
      const scatterM = 6 * Math.sin(n * 12.9898);
      return fixAt(n / 10, northM + scatterM, {
        speedKmh: speedMs * 3.6,
        atMonoMs: 50_000 + n * 100 + (n % 7) * 20,
      });
    });
    expect(judgeAll(fixes).flat()).toEqual([]);
  });

  test('through a tunnel of ten minutes raises no doubt: any place within reach is believed', () => {
    expect(judgeAll([fixAt(0, 0), fixAt(1, 10), fixAt(601, 15_000), fixAt(602, 15_010)]).flat()).toEqual([]);
  });

  test('keeps the doubts that a fix brings along', () => {
    const fixes = [fixAt(0, 0), fixAt(1, 5000, { doubts: ['speed-mismatch'] })];
    expect(judgeAll(fixes)[1]).toEqual(['speed-mismatch', 'jump', 'position-vs-doppler']);
  });
});

describe('jumps', () => {
  test('one stray fix raises a doubt, the drive afterwards does not', () => {
    const fixes = seconds(60).map((s) => fixAt(s, s === 30 ? 9000 : s * 10, { speedKmh: null }));
    const doubts = judgeAll(fixes);
    expect(doubts[30]).toEqual(['jump']);
    expect(counted(doubts, 'jump')).toBe(1);
  });

  test('a new place is believed after the stated number of fixes that agree', () => {
    const fixes = seconds(60).map((s) => fixAt(s, s * 10 + (s >= 30 ? 50_000 : 0), { speedKmh: null }));
    const doubts = judgeAll(fixes);
    expect(counted(doubts, 'jump')).toBe(plausibilityLimits.recoverFixes);
    expect(doubts.slice(30 + plausibilityLimits.recoverFixes).flat()).toEqual([]);
  });

  test('places that do not agree with each other are never believed', () => {
    const fixes = seconds(60).map((s) =>
      fixAt(s, s < 30 ? s * 10 : (s % 2) * 50_000 + 100_000, { speedKmh: null }),
    );
    expect(counted(judgeAll(fixes), 'jump')).toBe(30);
  });

  test('a receiver that claims more time than has passed does not hide a jump', () => {
    const jumped = fixAt(1, 3000, { utcMs: startUtcMs + 60_000, speedKmh: null });
    expect(judgeAll([fixAt(0, 0), jumped])[1]).toContain('jump');
  });
});

describe('position against Doppler speed', () => {
  test('a place that moves while the speed says standing', () => {
    const doubts = judgeAll(seconds(30).map((s) => fixAt(s, s * 10, { speedKmh: 0 })));
    expect(counted(doubts, 'position-vs-doppler')).toBeGreaterThan(10);
  });

  test('a place that stands while the speed says driving', () => {
    const doubts = judgeAll(seconds(30).map((s) => fixAt(s, 0, { speedKmh: 90 })));
    expect(counted(doubts, 'position-vs-doppler')).toBeGreaterThan(10);
  });

  test('a parked vehicle whose place wanders is not doubted', () => {
    const wander = seconds(600).map((s) => fixAt(s, 8 * Math.sin(s / 3), { speedKmh: 0.3 }));
    expect(judgeAll(wander).flat()).toEqual([]);
  });
});

describe('the speed itself', () => {
  test('no vehicle drives 400 km/h, not even in its first fix', () => {
    expect(judgeAll([fixAt(0, 0, { speedKmh: 400 })])).toEqual([['speed-implausible']]);
  });

  test('from 0 to 300 km/h within a second is doubted once', () => {
    const fixes = seconds(5).map((s) => fixAt(s, s < 3 ? 0 : (s - 2) * 83, { speedKmh: s < 3 ? 0 : 300 }));
    const doubts = judgeAll(fixes);
    expect(doubts[3]).toContain('speed-implausible');
    expect(counted(doubts, 'speed-implausible')).toBe(1);
  });
});

describe('clocks', () => {
  test('time going backwards or standing still', () => {
    const doubts = judgeAll([
      fixAt(0, 0),
      fixAt(1, 10, { utcMs: startUtcMs }),
      fixAt(2, 20, { utcMs: startUtcMs - 300 }),
    ]);
    expect(doubts.slice(0, 2)).toEqual([[], ['time-backwards']]);
    expect(doubts[2]).toContain('time-backwards');
  });

  test('a step is doubted, and believed once the new clock has kept pace', () => {
    const fixes = seconds(60).map((s) =>
      fixAt(s, s * 10, { utcMs: startUtcMs + s * 1000 + (s >= 30 ? 3_600_000 : 0) }),
    );
    const doubts = judgeAll(fixes);
    expect(counted(doubts, 'clock-drift')).toBe(plausibilityLimits.recoverFixes);
    expect(doubts[59]).toEqual([]);
  });

  test('a clock dragged away slowly is seen too', () => {
    const fixes = seconds(600).map((s) => fixAt(s, s * 10, { utcMs: startUtcMs + s * 1010 }));
    expect(counted(judgeAll(fixes), 'clock-drift')).toBeGreaterThan(0);
  });

  test('without a date there is nothing to compare', () => {
    expect(judgeAll(seconds(30).map((s) => fixAt(s, s * 10, { utcMs: null }))).flat()).toEqual([]);
  });
});

test('after anything at all, an honest drive is believed again within a bounded number of fixes', () => {
  const anything = fc.record({
    s: fc.integer({ min: -1000, max: 1000 }),
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    speedKmh: fc.option(fc.double({ min: 0, max: 1852, noNaN: true })),
    hdop: fc.option(fc.double({ min: 0.1, max: 98, noNaN: true })),
    utcMs: fc.option(fc.integer({ min: 0, max: 4e12 })),
  });
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 30 }), (past) => {
      const strange = past.map(({ s, ...rest }, n) => fixAt(n, s, rest));
      const honest = seconds(40).map((s) => fixAt(past.length + s, s * 10));
      const doubts = judgeAll([...strange, ...honest]).slice(past.length);
      expect(doubts.slice(25).flat()).toEqual([]);
    }),
  );
});

const munich = 'routes/munich-car-1hz.csv';
describe.skipIf(sharedData(munich) === null)(sharedTitle('the Munich car, 1 Hz', munich), () => {
  test('the tunnel exit of 470 m in 1 s is a doubt, and the drive goes on', () => {
    const rows = new TextDecoder().decode(readShared(munich)).trim().split('\n').slice(1);
    const points = rows.map((row) => row.split(',').map(Number));
    const firstS = points[0]?.[0] ?? 0;
    const fixes = points.map(([t = 0, latitude = 0, longitude = 0]) =>
      fixAt(t - firstS, 0, { utcMs: t * 1000, latitude, longitude, speedKmh: null }),
    );
    const doubts = judgeAll(fixes);
    const jumps = doubts.flatMap((found, n) => (found.includes('jump') ? [n] : []));
    const exit = jumps[0] ?? -1;
    const [before, after] = [points[exit - 1], points[exit]];
    const wayM = Math.hypot(
      ((after?.[1] ?? 0) - (before?.[1] ?? 0)) / degPerM,
      ((after?.[2] ?? 0) - (before?.[2] ?? 0)) * 74_200,
    );
    expect(wayM).toBeGreaterThan(400);
    expect(jumps.length).toBeLessThanOrEqual(plausibilityLimits.recoverFixes);
    expect((jumps.at(-1) ?? 0) - exit).toBeLessThanOrEqual(plausibilityLimits.recoverFixes);
    expect(doubts.flat().every((doubt) => doubt === 'jump')).toBe(true);
  });
});
