// Fixes for tests of evidence: a receiver over a road whose speed a test gives second by second. Position, Doppler speed and
// altitude agree unless the test says otherwise; a standing receiver wanders by centimetres, as real ones do.
import type { Fix } from '../../../agent/core/gnss/epochs.ts';

export const driveStartUtcMs = Date.UTC(2026, 11, 1);
const metresPerDegree = 111_195;

export const fixAt = (atMonoMs: number, over: Partial<Fix> = {}): Fix => ({
  utcMs: driveStartUtcMs + atMonoMs,
  atMonoMs,
  latitude: 43.65,
  longitude: -79.34,
  altitudeM: 90 + (Math.floor(atMonoMs / 1000) % 7) / 10,
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

/** Metres to the north of the place of `fixAt`. */
export const north = (metres: number): Pick<Fix, 'latitude'> => ({
  latitude: 43.65 + metres / metresPerDegree,
});

export interface RoadReceiver {
  /** The next fix, `stepMs` later, at this speed. */
  next(speedKmh: number, over?: Partial<Fix>): Fix;
  nowMs(): number;
}

/** @param options.startM metres to the north of the place of `fixAt`. */
export function createRoadReceiver(
  options: { readonly stepMs?: number; readonly startMs?: number; readonly startM?: number } = {},
): RoadReceiver {
  const { stepMs = 1000 } = options;
  let nowMs = options.startMs ?? 0;
  let metres = options.startM ?? 0;
  let lastKmh: number | null = null;
  return {
    next(speedKmh, over = {}) {
      nowMs += stepMs;
      metres += (((lastKmh ?? speedKmh) + speedKmh) / 2 / 3.6) * (stepMs / 1000);
      lastKmh = speedKmh;
      return fixAt(nowMs, { ...north(metres), speedKmh: speedKmh === 0 ? 0.1 : speedKmh, ...over });
    },
    nowMs: () => nowMs,
  };
}

/** Braking at 7 km/h per second, one value a second, down to 0. */
export const brakingFrom = (speedKmh: number): readonly number[] => {
  const speeds: number[] = [];
  for (let kmh = speedKmh - 7; kmh > 0; kmh -= 7) speeds.push(kmh);
  return [...speeds, 0];
};
