// What counts as proof of standstill: good fixes in a row, fresh, measured, at one place. Everything else is unknown,
// and unknown is never zero (edge-agents 2.3 rules 2 and 3).
import { describe, expect, it } from 'vitest';
import type { Fix } from '../../agent/core/gnss/epochs.ts';
import {
  createSpeedState,
  noteFix,
  noteVoid,
  type SpeedState,
  speedAt,
} from '../../agent/core/protection/evidence.ts';

const startUtcMs = Date.UTC(2026, 11, 1);

const fixAt = (atMonoMs: number, over: Partial<Fix> = {}): Fix => ({
  utcMs: startUtcMs + atMonoMs,
  atMonoMs,
  latitude: 43.65,
  longitude: -79.34,
  altitudeM: 90,
  speedKmh: 0.2,
  headingDeg: null,
  hdop: 0.9,
  satellites: 9,
  dimension: 3,
  mode: 'A',
  rmcValid: true,
  doubts: [],
  ...over,
});

/** A fix a second, from 0 to `seconds`, each as `of` changes it. */
function drive(
  seconds: number,
  of: (second: number) => Partial<Fix> = () => ({}),
  from = createSpeedState(),
): SpeedState {
  let state = from;
  for (let second = 0; second <= seconds; second += 1)
    state = noteFix(state, fixAt(second * 1000, of(second)));
  return state;
}

describe('standstill', () => {
  it('needs five good fixes, then tells how long', () => {
    expect(speedAt(drive(3), 3000)).toMatchObject({ kind: 'unknown', why: 'too few positions in a row' });
    expect(speedAt(drive(12), 12_000)).toEqual({ kind: 'standing', forMs: 12_000 });
  });

  it('is over with the first fix above 3 km/h and begins anew after it', () => {
    const state = drive(20, (second) => (second === 15 ? { speedKmh: 3.5 } : {}));
    expect(speedAt(state, 20_000)).toEqual({ kind: 'standing', forMs: 4000 });
    expect(
      speedAt(
        drive(15, () => ({ speedKmh: 40 })),
        15_000,
      ),
    ).toEqual({ kind: 'moving', speedKmh: 40 });
  });

  it('is unknown two seconds after the last fix, and at once after a void epoch', () => {
    const state = drive(20);
    expect(speedAt(state, 22_001)).toMatchObject({ kind: 'unknown', why: 'the last position is too old' });
    expect(speedAt(noteVoid(state), 20_001)).toMatchObject({ kind: 'unknown', why: 'no position' });
  });

  it('begins anew when the place wanders off although the Doppler speed says 0', () => {
    const state = drive(30, (second) => ({ latitude: 43.65 + second / 40_000, speedKmh: 0 }));
    const speed = speedAt(state, 30_000);
    expect(speed.kind === 'standing' && speed.forMs).toBeLessThan(11_000);
  });

  it.each<[string, Partial<Fix>]>([
    ['the receiver says void', { rmcValid: false }],
    ['mode E is no measurement', { mode: 'E' }],
    ['mode unknown is no measurement', { mode: null }],
    ['the receiver gives no time', { utcMs: null }],
    ['the receiver gives no speed', { speedKmh: null }],
    ['HDOP 5.1', { hdop: 5.1 }],
    ['HDOP unknown', { hdop: null }],
    ['suspect position: jump', { doubts: ['jump'] }],
    ['suspect position: time-backwards', { doubts: ['time-backwards'] }],
  ])('is not proven when %s', (why, over) => {
    expect(speedAt(noteFix(drive(20), fixAt(21_000, over)), 21_000)).toMatchObject({ kind: 'unknown', why });
  });

  it('is suspect for a minute after a doubtful or moving fix that is no evidence, not after an honest void', () => {
    const doubtful = noteVoid(noteFix(drive(20), fixAt(21_000, { doubts: ['jump'] })));
    expect(speedAt(doubtful, 80_000)).toMatchObject({ suspect: true });
    expect(speedAt(doubtful, 82_000)).toMatchObject({ suspect: false });
    expect(speedAt(noteVoid(drive(20)), 21_000)).toMatchObject({ suspect: false });
  });
});
