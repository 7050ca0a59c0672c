// Whether a fix is a measurement of this moment: a stream that lags, or was interrupted, says of a vehicle that moves that it stands.
import type { Fix } from '../gnss/epochs.ts';
import type { Span } from './contact.ts';

const fixAgeLimits = {
  /** A fix that is later than this against the soonest one of this run, or the earliest that it can be by trusted time, says nothing of the present. */
  lateMs: 2000,
  /** More intervals than this between two fixes: two epochs in a row are missing, as when the receiver restarts. */
  pauseIntervals: 2.5,
  /** More than this: one epoch is missing, as cheap receivers leave some out every minute. */
  gapIntervals: 1.5,
  /** A fix that is read so late at most was read after a stall of this process, and its own time says which epochs are missing. */
  stallMs: 1800,
  /** By how much two quartz clocks part, at most. */
  quartzPpm: 700,
  /** Decay of the least latency from measurement to taking in: where all bursts become 300 ms longer, that is the normal latency half a minute later. */
  takenPpm: 10_000,
} as const;

/** Mode indicators of RMC that are real measurements: autonomous, differential, precise, RTK fixed and float. */
export const measuredModes: readonly (string | null)[] = [
  'A',
  'D',
  'P',
  'R',
  'F',
  // Before NMEA 2.3 there is none; an estimate is known by the quality of GGA, and is no fix (`epoch-content.ts`).
  null,
];

/** When a fix is taken in, and by what it is measured. */
export interface FixTime {
  /** Monotonic. */
  readonly atMs: number;
  /** Trusted UTC at that moment; null while there is none. */
  readonly utcMs: number | null;
  /** A fix with a higher HDOP proves nothing. */
  readonly hdopMost: number;
}

/** Difference between UTC of a fix and a monotonic time, and when that was. */
interface Offset {
  readonly offsetMs: number;
  readonly atMs: number;
}

/** Largest difference to the time of arrival, of this run, and to the time at which a fix was taken in, which decays; null before the first. */
export type Soonest = { readonly arrived: Offset; readonly taken: Offset } | null;

const offsetAt = ({ offsetMs, atMs }: Offset, nowMs: number, ppm: number): number =>
  offsetMs - ((nowMs - atMs) * ppm) / 1e6;

/** What the soonest fix would differ by now, however its clock and ours part. */
const soonestAt = ({ arrived }: NonNullable<Soonest>, nowMs: number): number =>
  offsetAt(arrived, nowMs, fixAgeLimits.quartzPpm);

/** When the fix would have been taken in at the least latency: no delay on the line, and none of this process before or after it read the bytes. Monotonic. */
export function promptMs(soonest: Soonest, { utcMs }: Fix, takenMs: number): number {
  if (soonest === null || utcMs === null) return takenMs;
  return Math.min(takenMs, utcMs - offsetAt(soonest.taken, takenMs, fixAgeLimits.takenPpm));
}

/** Whether the fix is of an earlier moment: by the time that the agent trusts, else by the soonest fix of this run. */
export function isLate(soonest: Soonest, { utcMs, atMonoMs }: Fix, now: FixTime): boolean {
  if (utcMs === null) return false;
  const { lateMs } = fixAgeLimits;
  if (now.utcMs !== null && now.utcMs - (now.atMs - atMonoMs) - utcMs > lateMs) return true;
  return soonest !== null && soonestAt(soonest, atMonoMs) - (utcMs - atMonoMs) > lateMs;
}

/** A stream that lags never runs backwards: the receiver has set its clock, and what was soon before means nothing. */
export function hasSetItsClock(last: Fix | null, { utcMs }: Fix): boolean {
  return last !== null && last.utcMs !== null && utcMs !== null && utcMs < last.utcMs;
}

/** @param takenMs when the fix is taken in, monotonic. */
export function soonestAfter(soonest: Soonest, { utcMs, atMonoMs }: Fix, takenMs: number): Soonest {
  if (utcMs === null) return soonest;
  const arrived = { offsetMs: utcMs - atMonoMs, atMs: atMonoMs };
  const taken = { offsetMs: utcMs - takenMs, atMs: takenMs };
  if (soonest === null) return { arrived, taken };
  const { quartzPpm, takenPpm } = fixAgeLimits;
  const sooner = (before: Offset, now: Offset, ppm: number): Offset =>
    now.offsetMs >= offsetAt(before, now.atMs, ppm) ? now : before;
  return {
    arrived: sooner(soonest.arrived, arrived, quartzPpm),
    taken: sooner(soonest.taken, taken, takenPpm),
  };
}

export const isSamePlace = (a: Fix | null, b: Fix): boolean =>
  a !== null && a.latitude === b.latitude && a.longitude === b.longitude;

/** A fix at speed 0, or without a speed, at the place of the one before, as a receiver gives that holds it; the first one of a run is taken for such. */
export const isHeld = (a: Fix | null, b: Fix): boolean =>
  a === null || ((b.speedKmh === null || b.speedKmh === 0) && isSamePlace(a, b));

/** What the sentence did not say that is missing in one of both is no difference. */
const isSame = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;

/** A fix that says again what the one before said. */
export function isRepeated(a: Fix | null, b: Fix): boolean {
  return (
    a !== null &&
    isSamePlace(a, b) &&
    isSame(a.altitudeM, b.altitudeM) &&
    isSame(a.speedKmh, b.speedKmh) &&
    isSame(a.hdop, b.hdop) &&
    isSame(a.satellites, b.satellites)
  );
}

/**
 * The epochs of a receiver of which any sentence was read: when the newest came, or before the first when the run began, monotonic, and the last
 * interruption by one epoch or more (`gap`), and by two or more (`pause`), from the epoch before it to the one after it.
 */
export interface Stream {
  readonly startMs: number;
  readonly epochMs: number;
  /** Its UTC. */
  readonly epochUtcMs: number | null;
  /** Smoothed time between two of them. */
  readonly everyMs: number;
  readonly gap: Span | null;
  readonly pause: Span | null;
}

/**
 * @param slowestMs interval of the slowest receiver: what counts until the true one is known.
 * @param startMs when the run began, monotonic: a receiver of which nothing was read from then on was interrupted.
 */
export function createStream(slowestMs: number, startMs: number): Stream {
  return { startMs, epochMs: startMs, epochUtcMs: null, everyMs: slowestMs, gap: null, pause: null };
}

/**
 * The smoothed interval of a receiver after one more step, ms. A gap is none of its intervals; but where all of them are longer, as after fixes that
 * were read at once, it grows by a twentieth with each.
 */
export const smoothedInterval = (intervalMs: number, stepMs: number): number =>
  stepMs <= 2 * intervalMs ? (intervalMs + stepMs) / 2 : intervalMs * 1.05;

/**
 * Time between two epochs. `lostMs`: by their arrival, or by their own time where that is shorter and the later one is read late by no more than a
 * stall. `stepMs`: the longer one, as epochs that were read at once are no sooner after each other.
 */
function timeBetween(
  { epochMs, epochUtcMs }: Stream,
  { utcMs, atMonoMs }: Pick<Fix, 'utcMs' | 'atMonoMs'>,
  soonest: Soonest,
): { readonly lostMs: number; readonly stepMs: number } {
  const arrivedMs = atMonoMs - epochMs;
  if (utcMs === null || epochUtcMs === null || soonest === null || utcMs <= epochUtcMs)
    return { lostMs: arrivedMs, stepMs: arrivedMs };
  const ownMs = utcMs - epochUtcMs;
  const lateMs = soonestAt(soonest, atMonoMs) - (utcMs - atMonoMs);
  const lostMs = lateMs > fixAgeLimits.stallMs ? arrivedMs : Math.min(arrivedMs, ownMs);
  return { lostMs, stepMs: Math.max(arrivedMs, ownMs) };
}

/** After one more epoch. One that lacks a sentence shows as well as another that the receiver was not interrupted. */
export function streamAfter(
  before: Stream,
  epoch: Pick<Fix, 'utcMs' | 'atMonoMs'>,
  soonest: Soonest,
): Stream {
  const { gapIntervals, pauseIntervals } = fixAgeLimits;
  const { startMs, epochMs, everyMs, gap, pause } = before;
  const now = { startMs, epochMs: epoch.atMonoMs, epochUtcMs: epoch.utcMs };
  const { lostMs, stepMs } = timeBetween(before, epoch, soonest);
  // From the start to the first epoch is none of the receiver's intervals.
  const nextMs = epochMs === startMs ? everyMs : smoothedInterval(everyMs, stepMs);
  if (lostMs <= gapIntervals * everyMs) return { ...now, everyMs: nextMs, gap, pause };
  const latest = { fromMs: epochMs, toMs: epoch.atMonoMs };
  return {
    ...now,
    everyMs: nextMs,
    gap: latest,
    pause: lostMs > pauseIntervals * everyMs ? latest : pause,
  };
}
