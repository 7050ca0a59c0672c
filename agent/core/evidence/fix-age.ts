// Age of a fix. A stream that lags or was interrupted can show a moving vehicle at standstill, so only a present measurement counts.
import type { Fix } from '../gnss/epochs.ts';
import type { Span } from './contact.ts';

const fixAgeLimits = {
  /**
   * Maximum lateness of a fix, against the soonest fix of this run and against the earliest moment that trusted time allows. A later fix shows
   * nothing of the present.
   */
  lateMs: 2000,
  /** A longer step, in intervals, means that two epochs in a row are missing, as when the receiver restarts. */
  pauseIntervals: 2.5,
  /** A longer step, in intervals, means that one epoch is missing; cheap receivers leave out one every minute. */
  gapIntervals: 1.5,
  /** Maximum lateness that a stall of this process explains. Within it the UTC of the fix decides which epochs are missing. */
  stallMs: 1800,
  /** Maximum drift between two quartz clocks. */
  quartzPpm: 700,
  /** Decay of the least latency from measurement to recording. If all bursts become 300 ms longer, that is the normal latency half a minute later. */
  takenPpm: 10_000,
} as const;

/** Mode indicators of RMC for real measurements: autonomous, differential, precise, RTK fixed and RTK float. */
export const measuredModes: readonly (string | null)[] = [
  'A',
  'D',
  'P',
  'R',
  'F',
  // Absent before NMEA 2.3. An estimate is then known by the quality in GGA and is no fix (`epoch-content.ts`).
  null,
];

/** Time at which a fix is recorded, and the limits for it. */
export interface FixTime {
  /** Monotonic time, ms. */
  readonly atMs: number;
  /** Trusted UTC at that time, ms; null: unknown. */
  readonly utcMs: number | null;
  /** A fix with a higher HDOP proves nothing. */
  readonly hdopMost: number;
}

/** UTC of a fix minus a monotonic time, ms, and the monotonic time of that difference. */
interface Offset {
  readonly offsetMs: number;
  readonly atMs: number;
}

/** Largest difference by arrival in this run, and largest difference by recording, which decays; null before the first fix. */
export type Soonest = { readonly arrived: Offset; readonly taken: Offset } | null;

const offsetAt = ({ offsetMs, atMs }: Offset, nowMs: number, ppm: number): number =>
  offsetMs - ((nowMs - atMs) * ppm) / 1e6;

/** Difference that the soonest fix would have now, at the maximum drift between its clock and ours. */
const soonestAt = ({ arrived }: NonNullable<Soonest>, nowMs: number): number =>
  offsetAt(arrived, nowMs, fixAgeLimits.quartzPpm);

/**
 * Monotonic time at which the fix would have been recorded at the least latency, ms: without delay on the line, or in this process before or after
 * the read.
 */
export function promptMs(soonest: Soonest, { utcMs }: Fix, takenMs: number): number {
  if (soonest === null || utcMs === null) return takenMs;
  return Math.min(takenMs, utcMs - offsetAt(soonest.taken, takenMs, fixAgeLimits.takenPpm));
}

/** True when the fix is from an earlier moment, by trusted time or by the soonest fix of this run. */
export function isLate(soonest: Soonest, { utcMs, atMonoMs }: Fix, now: FixTime): boolean {
  if (utcMs === null) return false;
  const { lateMs } = fixAgeLimits;
  if (now.utcMs !== null && now.utcMs - (now.atMs - atMonoMs) - utcMs > lateMs) return true;
  return soonest !== null && soonestAt(soonest, atMonoMs) - (utcMs - atMonoMs) > lateMs;
}

/** A stream that lags never runs backwards. A receiver whose UTC does has set its clock, which voids the soonest fix. */
export function hasSetItsClock(last: Fix | null, { utcMs }: Fix): boolean {
  return last !== null && last.utcMs !== null && utcMs !== null && utcMs < last.utcMs;
}

/** @param takenMs monotonic time at which the fix is recorded, ms. */
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

/**
 * True for a fix at speed 0, or without a speed, at the place of the one before: the receiver may be holding its place. The first fix of a run counts
 * as held.
 */
export const isHeld = (a: Fix | null, b: Fix): boolean =>
  a === null || ((b.speedKmh === null || b.speedKmh === 0) && isSamePlace(a, b));

/** A value that one of the two fixes lacks is no difference. */
const isSame = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;

/** True when the fix repeats the one before. */
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
 * Stream of the receiver's epochs, each of which brought at least one sentence. Times are monotonic, ms: `startMs` is the start of the run, `epochMs`
 * the newest epoch (before the first: the start). `gap` is the last interruption by one epoch or more, `pause` by two or more, from the epoch before
 * to the epoch after.
 */
export interface Stream {
  readonly startMs: number;
  readonly epochMs: number;
  /** UTC of the newest epoch, ms; null: unknown. */
  readonly epochUtcMs: number | null;
  /** Smoothed interval, ms. */
  readonly everyMs: number;
  readonly gap: Span | null;
  readonly pause: Span | null;
}

/**
 * @param slowestMs interval of the slowest receiver, ms; valid until the true one is known.
 * @param startMs monotonic start of the run, ms. A receiver that sends nothing from then on was interrupted.
 */
export function createStream(slowestMs: number, startMs: number): Stream {
  return { startMs, epochMs: startMs, epochUtcMs: null, everyMs: slowestMs, gap: null, pause: null };
}

/**
 * Smoothed interval of the receiver after one more step, ms. A gap is not one of its intervals. If all steps become longer, as after fixes that were
 * read at once, the interval grows by a twentieth per step.
 */
export const smoothedInterval = (intervalMs: number, stepMs: number): number =>
  stepMs <= 2 * intervalMs ? (intervalMs + stepMs) / 2 : intervalMs * 1.05;

/**
 * Time between two epochs. `lostMs`: by arrival, or by UTC if that is shorter and a stall explains the lateness of the second. `stepMs`: the longer
 * of both, because epochs read at once did not follow each other sooner.
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

/** The stream after one more epoch. An epoch that lacks a sentence also shows that the receiver was not interrupted. */
export function streamAfter(
  before: Stream,
  epoch: Pick<Fix, 'utcMs' | 'atMonoMs'>,
  soonest: Soonest,
): Stream {
  const { gapIntervals, pauseIntervals } = fixAgeLimits;
  const { startMs, epochMs, everyMs, gap, pause } = before;
  const now = { startMs, epochMs: epoch.atMonoMs, epochUtcMs: epoch.utcMs };
  const { lostMs, stepMs } = timeBetween(before, epoch, soonest);
  // The time from the start to the first epoch is not an interval of the receiver.
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
