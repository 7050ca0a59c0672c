// Drift of the positions of a vehicle that rests by Doppler speed. Multipath in a town scatters them by many metres, which proves no movement; a
// steady drift of 1 m/s is not multipath. A cross-check of the receiver, not a proof of standstill.
import { type Point, radians } from '../../../src/core/geo/geo.ts';
import { type Metres, metresFrom, metresPerDegree } from '../../../src/core/geo/geo-edge.ts';

const driftLimits = {
  /** Drift in metres that is allowed at any speed; the larger of a constant and a part per unit of HDOP. */
  placeM: 8,
  placePerHdopM: 2,
  /** A slower drift, in m/s, is multipath: one of 8 m and a minute stays below it in 997 of 1,000 windows. */
  driftMs: 0.5,
  /** A drift counts from this many standard errors on. The window is long enough once a drift of `surelyMs` (m/s) would have been seen. */
  driftErrors: 3.5,
  surelyMs: 1,
  /** A position is another place if it is farther than this from the mean of those before, and than six times their scatter. */
  jumpM: 25,
  jumpScatters: 6,
} as const;

/** A good fix at rest by its Doppler speed. */
export interface RestingFix {
  /** Monotonic time, ms. */
  readonly atMs: number;
  readonly at: Point;
  readonly speedKmh: number;
  readonly hdop: number;
}

/** Movement shown by the positions at rest, whatever the Doppler speed. */
export interface Drift {
  /** The positions move on: farther than noise, faster than multipath, and beyond their scatter. */
  readonly isAway: boolean;
  /** The positions suffice to have seen a drift of `surelyMs`. */
  readonly isClear: boolean;
}

export const noDrift: Drift = { isAway: false, isClear: false };

function pointAt(from: Point, { x, y }: Metres): Point {
  const perDegree = metresPerDegree * Math.max(0.01, Math.cos(radians(from.latitude)));
  const longitude = ((from.longitude + x / perDegree + 540) % 360) - 180;
  return { latitude: from.latitude + y / metresPerDegree, longitude };
}

function meanOf(places: readonly Metres[]): Metres {
  const sum = places.reduce((all, { x, y }) => ({ x: all.x + x, y: all.y + y }), { x: 0, y: 0 });
  const count = Math.max(1, places.length);
  return { x: sum.x / count, y: sum.y / count };
}

/** Fits a straight line through the positions (least squares), with the standard error of its slope. */
export function driftOf(samples: readonly RestingFix[]): Drift {
  const { placeM, placePerHdopM, driftMs, driftErrors, surelyMs } = driftLimits;
  const [first] = samples;
  const newest = samples.at(-1);
  if (first === undefined || newest === undefined || samples.length < 3) return noDrift;
  const count = samples.length;
  const meanS = samples.reduce((sum, { atMs }) => sum + (atMs - first.atMs), 0) / count / 1000;
  const places = samples.map(({ at }) => metresFrom(first.at, at));
  const mean = meanOf(places);
  let [squares, east, north] = [0, 0, 0];
  for (const [index, { x, y }] of places.entries()) {
    const s = ((samples[index]?.atMs ?? 0) - first.atMs) / 1000 - meanS;
    squares += s * s;
    east += s * (x - mean.x);
    north += s * (y - mean.y);
  }
  const [eastMs, northMs] = [east / squares, north / squares];
  let residuals = 0;
  for (const [index, { x, y }] of places.entries()) {
    const s = ((samples[index]?.atMs ?? 0) - first.atMs) / 1000 - meanS;
    residuals += (x - mean.x - eastMs * s) ** 2 + (y - mean.y - northMs * s) ** 2;
  }
  const spanS = (newest.atMs - first.atMs) / 1000;
  const slopeMs = Math.hypot(eastMs, northMs);
  // Both coordinates contribute to the residuals.
  const errorMs = Math.sqrt(residuals / 2 / (count - 2) / squares) * driftErrors;
  const hdop = Math.max(...samples.map((one) => one.hdop));
  const isFar = slopeMs * spanS > Math.max(placeM, placePerHdopM * hdop);
  return { isAway: isFar && slopeMs > driftMs && slopeMs > errorMs, isClear: errorMs <= surelyMs };
}

/** True when this position is far from all before it. */
export function isJump(samples: readonly RestingFix[], { at }: RestingFix): boolean {
  const [first] = samples;
  if (first === undefined) return false;
  const places = samples.map((one) => metresFrom(first.at, one.at));
  const mean = meanOf(places);
  const scatterM = Math.sqrt(
    places.reduce((sum, { x, y }) => sum + (x - mean.x) ** 2 + (y - mean.y) ** 2, 0) / 2 / places.length,
  );
  const here = metresFrom(first.at, at);
  const awayM = Math.hypot(here.x - mean.x, here.y - mean.y);
  return awayM > Math.max(driftLimits.jumpM, driftLimits.jumpScatters * scatterM);
}

/** Mean of the positions in the last `windowMs`; null: none. */
export function placeOf(samples: readonly RestingFix[], windowMs: number): Point | null {
  const newest = samples.at(-1);
  if (newest === undefined) return null;
  const recent = samples.filter(({ atMs }) => newest.atMs - atMs <= windowMs);
  const { x, y } = meanOf(recent.map(({ at }) => metresFrom(newest.at, at)));
  return pointAt(newest.at, { x, y });
}
