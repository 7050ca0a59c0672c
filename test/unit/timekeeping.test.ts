// What time it is and by whom: which source counts, when none does, and that expiry is judged by the latest that it can
// be, so that a slow link or a slow quartz never makes a command live longer.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bestOrigin,
  createTimeState,
  fixReferenceUtcMs,
  isServerBehind,
  latestUtcMs,
  offerGnssTime,
  offerIssuedTime,
  offerServerTime,
  offerSystemTime,
  type TimeState,
  timeLimits,
  trustedUtcMs,
} from '../../agent/core/timekeeping.ts';

const earliestUtcMs = Date.UTC(2026, 10, 1);
const trueUtcMs = Date.UTC(2026, 11, 1);
const fresh = createTimeState({ bootMonoMs: 1000, earliestUtcMs });

/** A fix a second that says `utcMs` at the first. */
function gnss(state: TimeState, count: number, utcMs = trueUtcMs): TimeState {
  let next = state;
  for (let second = 0; second < count; second += 1)
    next = offerGnssTime(next, { monoMs: 1000 + second * 1000, utcMs: utcMs + second * 1000 });
  return next;
}

const welcome = (state: TimeState, askedMs: number, monoMs: number): TimeState =>
  offerServerTime(state, { askedMs, monoMs, utcMs: trueUtcMs });

describe('trusted time', () => {
  it('is not the system clock, however plausible', () => {
    const state = offerSystemTime(fresh, { monoMs: 1000, utcMs: trueUtcMs });
    expect(bestOrigin(state)).toEqual({ originMs: trueUtcMs, quality: 'rtc' });
    expect(trustedUtcMs(state, 5000)).toBeNull();
    expect(latestUtcMs(state, 5000)).toBeNull();
  });

  it('is that of GNSS once five fixes agree with monotonic time', () => {
    expect(trustedUtcMs(gnss(fresh, 4), 5000)).toBeNull();
    expect(trustedUtcMs(gnss(fresh, 5), 5000)).toBe(trueUtcMs + 4000);
  });

  it('is never earlier than the release of the agent', () => {
    expect(trustedUtcMs(gnss(fresh, 9, earliestUtcMs - 1_000_000), 9000)).toBeNull();
    expect(offerServerTime(fresh, { askedMs: 1000, monoMs: 1000, utcMs: 0 })).toEqual(fresh);
  });

  it('is the server when GNSS disagrees with it by more than a minute, whichever came first', () => {
    const spoofed = gnss(fresh, 9, trueUtcMs - 3_600_000);
    expect(trustedUtcMs(welcome(spoofed, 9000, 9000), 9000)).toBe(trueUtcMs);
    expect(bestOrigin(welcome(spoofed, 9000, 9000))?.quality).toBe('server');
    const later = gnss(welcome(fresh, 1000, 1000), 9, trueUtcMs - 3_600_000);
    expect(bestOrigin(later)?.quality).toBe('server');
  });
});

describe('the time that a fix is late against', () => {
  const fast = (state: TimeState, byMs: number): TimeState =>
    offerServerTime(state, { askedMs: 9000, monoMs: 9000, utcMs: trueUtcMs + 8000 + byMs });
  const at = (state: TimeState) => (fixReferenceUtcMs(state, 9000) ?? 0) - (trueUtcMs + 8000);

  it('is not that of a broker whose clock is ahead, where the system clock agrees with the receiver', () => {
    const agreeing = offerSystemTime(gnss(fresh, 9), { monoMs: 9000, utcMs: trueUtcMs + 8000 });
    expect(at(fast(agreeing, 20_000))).toBe(0);
    expect(at(fast(agreeing, -20_000))).toBe(-20_000);
  });

  it('is not the time of a broker hours ahead either, which disputes the time of the receiver', () => {
    const system = { monoMs: 1000, utcMs: trueUtcMs };
    const hours = 2 * 3_600_000;
    const before = fast(gnss(offerSystemTime(fresh, system), 9), hours);
    const after = gnss(fast(offerSystemTime(fresh, system), hours), 9);
    expect([before, after].map((state) => [bestOrigin(state)?.quality, at(state)])).toEqual([
      ['server', 0],
      ['server', 0],
    ]);
    // Of a receiver that the system clock does not bear out, the broker's word stands.
    expect(at(gnss(fast(offerSystemTime(fresh, system), 0), 9, trueUtcMs - hours))).toBe(0);
  });

  it('is the time of the broker if the system clock does not confirm the receiver: a late stream is late', () => {
    expect(at(fast(gnss(fresh, 9), 20_000))).toBe(20_000);
    const other = offerSystemTime(gnss(fresh, 9), { monoMs: 9000, utcMs: trueUtcMs + 28_000 });
    expect(at(fast(other, 20_000))).toBe(20_000);
    expect(fixReferenceUtcMs(fresh, 9000)).toBeNull();
  });

  it("allows for the drift since the broker's answer, up to three seconds", () => {
    const asked = fast(fresh, 0);
    const grantedMs = (hours: number): number => {
      const monoMs = 9000 + hours * 3_600_000;
      return trueUtcMs + monoMs - 1000 - (fixReferenceUtcMs(asked, monoMs) ?? 0);
    };
    expect([0, 1, 6].map(grantedMs)).toEqual([0, 2520, 3000]);
  });
});

describe("the broker's clock", () => {
  const hourMs = 3_600_000;
  const said = (state: TimeState, monoMs: number, byMs: number, wayMs = 0): TimeState =>
    offerServerTime(state, { askedMs: monoMs - wayMs, monoMs, utcMs: trueUtcMs + monoMs - 1000 + byMs });
  const isBehind = (state: TimeState): boolean => isServerBehind(state, 10 * hourMs);

  it('is behind once it was set back in this run, until it is right again', () => {
    const right = said(fresh, 9000, 0);
    const behind = said(right, 60_000, -20_000);
    expect([right, behind, said(behind, 120_000, -19_000), said(behind, 120_000, 0)].map(isBehind)).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it('is not behind for the way of its answer, nor for a quartz that is fast', () => {
    const right = said(fresh, 9000, 0);
    expect(isBehind(said(right, 60_000, -29_000, 29_000))).toBe(false);
    expect(isBehind(said(right, hourMs, -3500))).toBe(false);
    expect(isBehind(said(right, hourMs, -3600))).toBe(true);
  });
});

describe('a clock that cannot be right', () => {
  const lateMs = earliestUtcMs + timeLimits.lifeMs;

  it.each([
    ['before the release', Date.UTC(1980, 0, 6)],
    ['one roll-over ahead', trueUtcMs + 1024 * 7 * 86_400_000],
    ['in 2080', Date.UTC(2080, 0, 6)],
  ])('%s counts for nothing, from any source', (_name, utcMs) => {
    expect(bestOrigin(offerSystemTime(fresh, { monoMs: 1000, utcMs }))).toBeNull();
    expect(bestOrigin(gnss(fresh, 9, utcMs))).toBeNull();
    expect(offerServerTime(fresh, { askedMs: 1000, monoMs: 1000, utcMs })).toEqual(fresh);
    expect(offerIssuedTime(fresh, { monoMs: 1000, issuedMs: utcMs })).toEqual(fresh);
  });

  it('is one later than a release is in use, which is less than a roll-over', () => {
    expect(timeLimits.lifeMs).toBeLessThan(1024 * 7 * 86_400_000);
    expect(bestOrigin(gnss(fresh, 9, lateMs - 60_000))?.quality).toBe('gnss');
  });

  it('rejects a wall clock that was stepped, and accepts it again after its correction', () => {
    const good = offerSystemTime(fresh, { monoMs: 1000, utcMs: trueUtcMs });
    const stepped = offerSystemTime(good, { monoMs: 2000, utcMs: 5000 });
    expect(bestOrigin(stepped)).toBeNull();
    const mended = offerSystemTime(stepped, { monoMs: 3000, utcMs: trueUtcMs + 2000 });
    expect(bestOrigin(mended)).toEqual({ originMs: trueUtcMs, quality: 'rtc' });
  });
});

describe('the latest that it can be', () => {
  it('includes the whole transit time of a slow welcome', () => {
    // Asked at 1 s, answered by the server at once, received at 21 s: it is 20 s later than the welcome says.
    const state = welcome(fresh, 1000, 21_000);
    expect(trustedUtcMs(state, 21_000)).toBe(trueUtcMs);
    expect(latestUtcMs(state, 21_000)).toBeGreaterThanOrEqual(trueUtcMs + 20_000);
  });

  it('grows by the drift of a bad quartz since the welcome', () => {
    const dayMs = 24 * 3_600_000;
    const latest = latestUtcMs(welcome(fresh, 1000, 1000), 1000 + dayMs) ?? 0;
    expect(latest - trueUtcMs - dayMs).toBeGreaterThanOrEqual((dayMs * timeLimits.driftPpm) / 1e6);
    expect(latest - trueUtcMs - dayMs).toBeLessThan(61_000);
  });

  it('grows by that drift since the last fix as well: a garage is no reason to let a cut live longer', () => {
    const dayMs = 24 * 3_600_000;
    const latest = latestUtcMs(gnss(fresh, 5), 5000 + dayMs) ?? 0;
    expect(latest - trueUtcMs - 4000 - dayMs).toBeGreaterThanOrEqual((dayMs * timeLimits.driftPpm) / 1e6);
  });

  it('is at least the time of a newer signed envelope, until the next welcome', () => {
    const behind = offerServerTime(fresh, {
      askedMs: 1000,
      monoMs: 1000,
      utcMs: trueUtcMs - 20 * 86_400_000,
    });
    const told = offerIssuedTime(behind, { monoMs: 61_000, issuedMs: trueUtcMs + 60_000 });
    expect(latestUtcMs(told, 61_000)).toBeGreaterThanOrEqual(trueUtcMs + 60_000);
    expect(latestUtcMs(told, 121_000)).toBeGreaterThanOrEqual(trueUtcMs + 120_000);
    const older = offerIssuedTime(welcome(fresh, 1000, 1000), { monoMs: 5000, issuedMs: trueUtcMs - 1000 });
    expect(latestUtcMs(older, 5000)).toBeLessThan(trueUtcMs + 4100);
    const mended = offerServerTime(told, { askedMs: 200_000, monoMs: 200_000, utcMs: trueUtcMs });
    expect(latestUtcMs(mended, 200_000)).toBeLessThan(trueUtcMs + 100);
  });

  it('is never before the true time, and after it only by the stated bound, for any quartz, transit and source', () => {
    const ppm = fc.integer({ min: -timeLimits.driftPpm, max: timeLimits.driftPpm });
    const world = fc.record({
      ppm,
      source: fc.constantFrom('server' as const, 'gnss' as const),
      wayMs: fc.integer({ min: 0, max: 30_000 }),
      lateMs: fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 5, maxLength: 40 }),
      waitMs: fc.integer({ min: 0, max: 30 * 86_400_000 }),
    });
    fc.assert(
      fc.property(world, ({ ppm: drift, source, wayMs, lateMs, waitMs }) => {
        /** What the vehicle's quartz shows when so much true time has passed. */
        const monoAt = (trueMs: number): number => 1000 + trueMs * (1 + drift / 1e6);
        let state = fresh;
        let lastMs = wayMs;
        if (source === 'server') {
          state = offerServerTime(state, { askedMs: monoAt(0), monoMs: monoAt(wayMs), utcMs: trueUtcMs });
        } else {
          for (const [second, late] of lateMs.entries()) {
            lastMs = second * 1000 + late;
            state = offerGnssTime(state, { monoMs: monoAt(lastMs), utcMs: trueUtcMs + second * 1000 });
          }
        }
        const nowMs = lastMs + waitMs;
        const tooFarMs = (latestUtcMs(state, monoAt(nowMs)) ?? Number.NaN) - (trueUtcMs + nowMs);
        const sourceMs = source === 'server' ? wayMs : timeLimits.toleranceMs * 2;
        const boundMs = sourceMs + (nowMs * 2 * timeLimits.driftPpm * 1.001) / 1e6 + 5;
        expect(tooFarMs).toBeGreaterThanOrEqual(0);
        expect(tooFarMs).toBeLessThanOrEqual(boundMs);
      }),
      { numRuns: 2000 },
    );
  });

  it('allows for the tolerance of GNSS time', () => {
    expect(latestUtcMs(gnss(fresh, 5), 5000)).toBe(trueUtcMs + 4000 + timeLimits.toleranceMs);
  });
});
