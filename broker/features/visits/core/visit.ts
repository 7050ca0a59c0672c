// Whether a vehicle was within a circle, and when: by its positions, and by the straight way between two that follow each other.
// The one definition: the index only finds for whom it is asked.
import { distanceM, earthRadiusM, type Point, radians } from '../../../../src/core/geo/geo.ts';
import type { TrackPosition } from '../../../core/events/belief.ts';

export const visitLimits = {
  /** Nothing is known of the way between two positions further apart in time or place. */
  gapMs: 90_000,
  gapM: 2000,
  radiusM: { least: 10, most: 5000 },
  spanMs: 24 * 3_600_000,
} as const;

export interface Circle {
  readonly centre: Point;
  readonly radiusM: number;
}

/** Event time, both ends included. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Visit {
  /** Between positions the time is that of even speed. */
  readonly firstMs: number;
  readonly lastMs: number;
  /** Reported inside; 0: the vehicle only crossed the circle between two. */
  readonly positions: number;
  /** From the centre. */
  readonly nearestM: number;
}

type Vector = readonly [x: number, y: number, z: number];
/** Metres east and north of the centre. */
type Flat = readonly [east: number, north: number];

/** The place on a sphere of radius 1. */
export function vectorOf({ latitude, longitude }: Point): Vector {
  const [lat, lon] = [radians(latitude), radians(longitude)];
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
}
const dot = (one: Vector, other: Vector): number => one[0] * other[0] + one[1] * other[1] + one[2] * other[2];

/**
 * Projects places onto the plane that touches the Earth at the centre: right to 2 mm within 8 km, over poles and the 180th meridian as
 * anywhere. Null: on the far half of the Earth.
 */
function flatAround(centre: Point): (point: Point) => Flat | null {
  const up = vectorOf(centre);
  const [lat, lon] = [radians(centre.latitude), radians(centre.longitude)];
  const east: Vector = [-Math.sin(lon), Math.cos(lon), 0];
  const north: Vector = [-Math.sin(lat) * Math.cos(lon), -Math.sin(lat) * Math.sin(lon), Math.cos(lat)];
  return (point) => {
    const vector = vectorOf(point);
    return dot(up, vector) <= 0
      ? null
      : [earthRadiusM * dot(east, vector), earthRadiusM * dot(north, vector)];
  };
}

/** Whether a way may be so long, for any circle near it: in the plane of one it may be some millimetres shorter than on the sphere. */
export const isWayLength = (from: Point, to: Point): boolean => distanceM(from, to) <= visitLimits.gapM + 1;

interface Placed {
  readonly atMs: number;
  readonly flat: Flat;
}

/** The part of a straight way that lies within the circle and the span; null: none does. */
function crossing(from: Placed, to: Placed, radiusM: number, span: Span) {
  const tookMs = to.atMs - from.atMs;
  const [east, north] = [to.flat[0] - from.flat[0], to.flat[1] - from.flat[1]];
  const farM = Math.hypot(east, north);
  if (tookMs > visitLimits.gapMs || farM > visitLimits.gapM) return null;
  const partAt = (ms: number): number => (tookMs === 0 ? 0 : (ms - from.atMs) / tookMs);
  const begin = Math.max(0, partAt(span.fromMs));
  const end = Math.min(1, tookMs === 0 ? 1 : partAt(span.toMs));
  if (begin > end || to.atMs < span.fromMs || from.atMs > span.toMs) return null;
  /** Where the way comes nearest to the centre, if it went on for ever. */
  const middle = farM === 0 ? 0 : -(from.flat[0] * east + from.flat[1] * north) / farM ** 2;
  const nearest = Math.min(end, Math.max(begin, middle));
  const nearestM = Math.hypot(from.flat[0] + nearest * east, from.flat[1] + nearest * north);
  if (nearestM > radiusM) return null;
  const asideM = Math.hypot(from.flat[0] + middle * east, from.flat[1] + middle * north);
  const half = farM === 0 ? 1 : Math.sqrt(Math.max(0, radiusM ** 2 - asideM ** 2)) / farM;
  const msAt = (part: number): number => Math.round(from.atMs + part * tookMs);
  return {
    firstMs: msAt(Math.max(begin, middle - half)),
    lastMs: msAt(Math.min(end, middle + half)),
    nearestM,
  };
}

/**
 * The visit of one vehicle; null: it was not there as far as its positions show.
 * @param positions by event time, from `gapMs` before the span to `gapMs` after it.
 */
export function visitOf(
  positions: readonly TrackPosition[],
  { centre, radiusM }: Circle,
  span: Span,
): Visit | null {
  const flatOf = flatAround(centre);
  let visit: Visit | null = null;
  const add = (firstMs: number, lastMs: number, nearestM: number, count: 0 | 1): void => {
    visit = {
      firstMs: Math.min(visit?.firstMs ?? firstMs, firstMs),
      lastMs: Math.max(visit?.lastMs ?? lastMs, lastMs),
      positions: (visit?.positions ?? 0) + count,
      nearestM: Math.min(visit?.nearestM ?? nearestM, nearestM),
    };
  };
  let before: Placed | null = null;
  for (const { timestampMs: atMs, ...point } of positions) {
    const flat = flatOf(point);
    const placed: Placed | null = flat === null ? null : { atMs, flat };
    if (placed !== null && atMs >= span.fromMs && atMs <= span.toMs) {
      const farM = Math.hypot(...placed.flat);
      if (farM <= radiusM) add(atMs, atMs, farM, 1);
    }
    const crossed = before === null || placed === null ? null : crossing(before, placed, radiusM, span);
    if (crossed !== null) add(crossed.firstMs, crossed.lastMs, crossed.nearestM, 0);
    before = placed;
  }
  return visit;
}
