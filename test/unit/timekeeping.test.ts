// What time it is and by whom: which source counts, when none does, and that expiry is judged by the latest that it can
// be, so that a slow link or a slow quartz never makes a command live longer.
import { describe, expect, it } from 'vitest';
import {
  bestOrigin,
  createTimeState,
  latestUtcMs,
  offerGnssTime,
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

  it('is the server when GNSS disagrees with it by more than a minute, whoever came first', () => {
    const spoofed = gnss(fresh, 9, trueUtcMs - 3_600_000);
    expect(trustedUtcMs(welcome(spoofed, 9000, 9000), 9000)).toBe(trueUtcMs);
    expect(bestOrigin(welcome(spoofed, 9000, 9000))?.quality).toBe('server');
    const later = gnss(welcome(fresh, 1000, 1000), 9, trueUtcMs - 3_600_000);
    expect(bestOrigin(later)?.quality).toBe('server');
  });
});

describe('the latest that it can be', () => {
  it('includes the whole way of a welcome that was long on the way', () => {
    // Asked at 1 s, answered by the server at once, received at 21 s: it is 20 s later than the welcome says.
    const state = welcome(fresh, 1000, 21_000);
    expect(trustedUtcMs(state, 21_000)).toBe(trueUtcMs);
    expect(latestUtcMs(state, 21_000)).toBeGreaterThanOrEqual(trueUtcMs + 20_000);
  });

  it('grows by the drift of a bad quartz since the welcome', () => {
    const dayMs = 24 * 3_600_000;
    const latest = latestUtcMs(welcome(fresh, 1000, 1000), 1000 + dayMs) ?? 0;
    expect(latest - trueUtcMs - dayMs).toBeGreaterThanOrEqual((dayMs * timeLimits.driftPpm) / 1e6);
    expect(latest - trueUtcMs - dayMs).toBeLessThan(20_000);
  });

  it('allows for the tolerance of GNSS time', () => {
    expect(latestUtcMs(gnss(fresh, 5), 5000)).toBe(trueUtcMs + 4000 + timeLimits.toleranceMs);
  });
});
