// True place, distance and tank level of a simulated vehicle, once a second: records are judged against it. Plain arrays, so that
// it travels between processes. Pure.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';

/** Numbers at one place of the arrays belong to one moment; moments ascend. */
export interface Trace {
  /** UTC in ms since 1970. */
  readonly utcMs: number[];
  /** Degrees, WGS 84. */
  readonly latitude: number[];
  readonly longitude: number[];
  readonly speedKmh: number[];
  /** Metres driven or towed; they never go down. */
  readonly drivenM: number[];
  /** Fraction in the tank, without slosh; null: the board has no sender. */
  readonly tankLevel: (number | null)[];
}

export interface TraceMoment extends Point {
  readonly utcMs: number;
  readonly speedKmh: number;
  readonly drivenM: number;
  readonly tankLevel: number | null;
}

export const emptyTrace = (): Trace => ({
  utcMs: [],
  latitude: [],
  longitude: [],
  speedKmh: [],
  drivenM: [],
  tankLevel: [],
});

function momentAt(trace: Trace, at: number): TraceMoment | null {
  const { utcMs, latitude, longitude, speedKmh } = trace;
  const [time, lat, lon, speed] = [utcMs[at], latitude[at], longitude[at], speedKmh[at]];
  if (time === undefined || lat === undefined || lon === undefined || speed === undefined) return null;
  const [drivenM = 0, tankLevel = null] = [trace.drivenM[at], trace.tankLevel[at]];
  return { utcMs: time, latitude: lat, longitude: lon, speedKmh: speed, drivenM, tankLevel };
}

const isRest = (before: TraceMoment | null, now: TraceMoment): boolean =>
  before !== null &&
  now.speedKmh === 0 &&
  before.speedKmh === 0 &&
  before.latitude === now.latitude &&
  before.longitude === now.longitude &&
  before.drivenM === now.drivenM &&
  before.tankLevel === now.tankLevel;

/** Adds a moment. Of a rest only its begin and its end are kept. */
export function addMoment(trace: Trace, moment: TraceMoment): void {
  const { length } = trace.utcMs;
  const at =
    isRest(momentAt(trace, length - 1), moment) && isRest(momentAt(trace, length - 2), moment)
      ? length - 1
      : length;
  trace.utcMs[at] = moment.utcMs;
  trace.latitude[at] = moment.latitude;
  trace.longitude[at] = moment.longitude;
  trace.speedKmh[at] = moment.speedKmh;
  trace.drivenM[at] = moment.drivenM;
  trace.tankLevel[at] = moment.tankLevel;
}

/** Number of the first moment that is not before a time. */
function firstFrom({ utcMs }: Trace, fromMs: number): number {
  let [low, high] = [0, utcMs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((utcMs[middle] ?? 0) < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The moments of a span with the one before it and the one after it, as far as there are any. */
export function momentsWithin(
  trace: Trace,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly TraceMoment[] {
  const found: TraceMoment[] = [];
  for (let at = Math.max(0, firstFrom(trace, fromMs) - 1); ; at += 1) {
    const moment = momentAt(trace, at);
    if (moment === null) return found;
    found.push(moment);
    if (moment.utcMs > toMs) return found;
  }
}

/** Metres driven until a time, between two moments in proportion; at the ends of the trace those of its first or last moment. */
export function drivenAt(trace: Trace, utcMs: number): number {
  const at = firstFrom(trace, utcMs);
  const [before, after] = [momentAt(trace, at - 1), momentAt(trace, at)];
  if (before === null || after === null) return (before ?? after)?.drivenM ?? 0;
  const share = (utcMs - before.utcMs) / Math.max(1, after.utcMs - before.utcMs);
  return before.drivenM + share * (after.drivenM - before.drivenM);
}

/** Distance of a point from the way between two points of less than some kilometres, metres. */
function awayFrom(point: Point, from: Point, to: Point): number {
  const scale = Math.cos((from.latitude * Math.PI) / 180);
  const [x, y] = [(to.longitude - from.longitude) * scale, to.latitude - from.latitude];
  const [px, py] = [(point.longitude - from.longitude) * scale, point.latitude - from.latitude];
  const length = x * x + y * y;
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, (px * x + py * y) / length));
  const near = {
    latitude: from.latitude + (to.latitude - from.latitude) * share,
    longitude: from.longitude + (to.longitude - from.longitude) * share,
  };
  return distanceM(point, near);
}

/** Distance of a point from the way along these moments, metres; null without moments. */
export function metresFrom(point: Point, moments: readonly TraceMoment[]): number | null {
  let least: number | null = null;
  for (const [at, moment] of moments.entries()) {
    const metres = awayFrom(point, moments[at - 1] ?? moment, moment);
    if (least === null || metres < least) least = metres;
  }
  return least;
}

/** Spans in which the vehicle drove at least at a speed, UTC ms. */
export function drivenSpans(trace: Trace, leastKmh: number): readonly { fromMs: number; toMs: number }[] {
  const spans: { fromMs: number; toMs: number }[] = [];
  let isDriving = false;
  for (const [at, utcMs] of trace.utcMs.entries()) {
    const drives = (trace.speedKmh[at] ?? 0) >= leastKmh;
    const last = spans.at(-1);
    if (drives && isDriving && last !== undefined) last.toMs = utcMs;
    else if (drives) spans.push({ fromMs: utcMs, toMs: utcMs });
    isDriving = drives;
  }
  return spans;
}
