// Checks each fix against earlier ones: jumps, a position that contradicts the Doppler speed, clock steps. It only adds doubts and must never change,
// drop or smooth a fix. It must accept a new place after a bounded number of fixes that agree with each other. Otherwise a ferry or a long tunnel
// would make it reject all fixes for ever.
import { distanceM } from '../../../src/core/geo/geo.ts';
import type { Fix, FixDoubt } from './epochs.ts';

export interface PlausibilityLimits {
  /** Faster than any protected vehicle; also the ceiling after a gap. */
  readonly maxSpeedKmh: number;
  /** Five times a full braking on dry road (about 10 m/s²): only a change of position fix can look like this. */
  readonly maxAccelerationMs2: number;
  /** Scatter between two fixes at HDOP 1: twice the 15 m (95 %, worst site) of the GPS SPS Performance Standard 2020. */
  readonly noiseM: number;
  /** Maximum HDOP that multiplies the scatter; a larger value means "unknown". */
  readonly maxHdopFactor: number;
  /** Window in which position and Doppler speed are compared. */
  readonly dopplerWindowMs: number;
  /** Longest step that the speed at both ends still describes. */
  readonly dopplerMaxStepMs: number;
  /** Share of the distance that may differ in addition to the scatter. */
  readonly dopplerShare: number;
  /** Tolerance between receiver clock and monotonic clock: queueing of a burst on a slow line, and a busy machine. */
  readonly clockToleranceMs: number;
  /** Quartz of a small computer: 100 ppm over temperature and ageing, doubled. */
  readonly clockDriftPpm: number;
  /** Number of fixes in a row that agree with each other but not with the past, after which they become the reference. */
  readonly recoverFixes: number;
}

export const plausibilityLimits: PlausibilityLimits = {
  maxSpeedKmh: 350,
  maxAccelerationMs2: 50,
  noiseM: 30,
  maxHdopFactor: 5,
  dopplerWindowMs: 10_000,
  dopplerMaxStepMs: 3_000,
  dopplerShare: 0.25,
  clockToleranceMs: 2_000,
  clockDriftPpm: 200,
  recoverFixes: 5,
};

/** Distance by position and distance by Doppler since the start of the window. */
interface DopplerWindow {
  readonly start: Fix;
  readonly chordsM: number;
  readonly pathM: number;
}

interface ClockMark {
  readonly utcMs: number;
  readonly atMonoMs: number;
}

/** Holds a fixed number of fixes, however long the drive. */
export interface PlausibilityState {
  readonly limits: PlausibilityLimits;
  /** The last fix whose place was accepted. */
  readonly anchor: Fix | null;
  readonly last: Fix | null;
  /** Number of fixes in a row that disagree with the anchor but agree with each other. */
  readonly outliers: number;
  readonly doppler: DopplerWindow | null;
  readonly clock: ClockMark | null;
  /** Number of fixes in a row whose clock disagrees with the mark but agrees with the fix before. */
  readonly clockOutliers: number;
}

export function createPlausibilityState(limits: PlausibilityLimits = plausibilityLimits): PlausibilityState {
  return { limits, anchor: null, last: null, outliers: 0, doppler: null, clock: null, clockOutliers: 0 };
}

/** Adds the doubts that earlier fixes raise to the doubts of `fix`. */
export function judgeFix(state: PlausibilityState, fix: Fix): { state: PlausibilityState; fix: Fix } {
  const clock = judgeClock(state, fix);
  const place = judgePlace(state, fix);
  const motion = judgeMotion(state, fix);
  const found = [clock.doubts, place.doubts, motion.doubts].flat();
  const judged = found.length === 0 ? fix : { ...fix, doubts: [...new Set([...fix.doubts, ...found])] };
  return {
    state: {
      limits: state.limits,
      anchor: place.next.anchor,
      last: fix,
      outliers: place.next.outliers,
      doppler: motion.next.doppler,
      clock: clock.next.clock,
      clockOutliers: clock.next.clockOutliers,
    },
    fix: judged,
  };
}

interface Judged<Key extends keyof PlausibilityState> {
  readonly doubts: readonly FixDoubt[];
  readonly next: Pick<PlausibilityState, Key>;
}

/** Checks that the place is reachable from the last accepted one, by the monotonic clock and by the receiver's. */
function judgePlace(state: PlausibilityState, fix: Fix): Judged<'anchor' | 'outliers'> {
  const { anchor, last, limits } = state;
  if (anchor === null || last === null || isReachable(anchor, fix, limits)) {
    return { doubts: [], next: { anchor: fix, outliers: 0 } };
  }
  // The first outlier starts the count, each consistent successor increments it, another jump restarts it.
  const outliers = state.outliers > 0 && isReachable(last, fix, limits) ? state.outliers + 1 : 1;
  const isNewReference = outliers > limits.recoverFixes;
  if (isNewReference) return { doubts: [], next: { anchor: fix, outliers: 0 } };
  return { doubts: ['jump'], next: { anchor, outliers: outliers } };
}

function isReachable(from: Fix, to: Fix, limits: PlausibilityLimits): boolean {
  const monoS = (to.atMonoMs - from.atMonoMs) / 1000;
  const utcS = from.utcMs === null || to.utcMs === null ? null : (to.utcMs - from.utcMs) / 1000;
  const wayM = distanceM(from, to) - scatterM(from, to, limits);
  // Sentences queue, so the monotonic step may be shorter than the true one by the tolerance. The receiver's step is exact. It is ignored when it
  // runs backwards, which is a separate doubt.
  if (wayM > reachM(from, monoS + burstQueueS, limits)) return false;
  return utcS === null || utcS <= 0 || wayM <= reachM(from, utcS, limits);
}

/** Maximum delay of the first sentence of a burst on a busy machine. */
const burstQueueS = 0.2;

/** Longest distance in `seconds`: full acceleration from the speed at the start, up to the top speed. */
function reachM(from: Fix, seconds: number, limits: PlausibilityLimits): number {
  const time = Math.max(0, seconds);
  const topMs = limits.maxSpeedKmh / 3.6;
  const startMs = from.speedKmh === null ? topMs : Math.min(from.speedKmh / 3.6, topMs);
  return Math.min(topMs * time, startMs * time + (limits.maxAccelerationMs2 / 2) * time * time);
}

/** Maximum distance between two fixes of one place, m. */
export function scatterM(a: Fix, b: Fix, limits: PlausibilityLimits): number {
  const hdop = Math.max(1, a.hdop ?? 1, b.hdop ?? 1);
  return limits.noiseM * Math.min(hdop, limits.maxHdopFactor);
}

/** Checks that the distance by position agrees with the distance by Doppler speed. */
function judgeMotion(state: PlausibilityState, fix: Fix): Judged<'doppler'> {
  const { doppler, last, limits } = state;
  const own: readonly FixDoubt[] = isSpeedPossible(last, fix, limits) ? [] : ['speed-implausible'];
  const stepMs = last === null ? 0 : fix.atMonoMs - last.atMonoMs;
  const isStep = last !== null && stepMs > 0 && stepMs <= limits.dopplerMaxStepMs;
  if (!isStep || last.speedKmh === null || fix.speedKmh === null) {
    return {
      doubts: own,
      next: { doppler: fix.speedKmh === null ? null : { start: fix, chordsM: 0, pathM: 0 } },
    };
  }
  // The receiver's step is exact if it is close to the monotonic one. At 10 Hz the jitter of the latter would add up.
  const utcStepMs = last.utcMs === null || fix.utcMs === null ? stepMs : fix.utcMs - last.utcMs;
  const trueStepMs =
    utcStepMs > 0 && Math.abs(utcStepMs - stepMs) < limits.clockToleranceMs ? utcStepMs : stepMs;
  const before = doppler ?? { start: last, chordsM: 0, pathM: 0 };
  const window: DopplerWindow = {
    start: before.start,
    chordsM: before.chordsM + distanceM(last, fix),
    pathM: before.pathM + ((last.speedKmh + fix.speedKmh) / 2 / 3600) * trueStepMs,
  };
  const allowedM = scatterM(window.start, fix, limits) + limits.dopplerShare * window.pathM;
  const movedTooFar = distanceM(window.start, fix) - window.pathM > allowedM; // the position moves, the Doppler speed does not
  const movedTooLittle = window.pathM - window.chordsM > allowedM; // the position stands, the Doppler speed moves
  const isOver = fix.atMonoMs - window.start.atMonoMs >= limits.dopplerWindowMs;
  const next = { doppler: isOver ? { start: fix, chordsM: 0, pathM: 0 } : window };
  return { doubts: movedTooFar || movedTooLittle ? [...own, 'position-vs-doppler'] : own, next };
}

/** True when the speed is possible for a vehicle and reachable from the fix before by the largest acceleration. */
function isSpeedPossible(last: Fix | null, fix: Fix, limits: PlausibilityLimits): boolean {
  if (fix.speedKmh === null) return true;
  if (fix.speedKmh > limits.maxSpeedKmh) return false;
  if (last === null || last.speedKmh === null) return true;
  const seconds = Math.max(0, fix.atMonoMs - last.atMonoMs) / 1000 + burstQueueS;
  return Math.abs(fix.speedKmh - last.speedKmh) / 3.6 <= limits.maxAccelerationMs2 * seconds;
}

/** Checks that the receiver's clock runs forward, and at the pace of the monotonic one. */
function judgeClock(state: PlausibilityState, fix: Fix): Judged<'clock' | 'clockOutliers'> {
  const { clock, last, limits } = state;
  if (fix.utcMs === null) return { doubts: [], next: { clock, clockOutliers: 0 } };
  const mark: ClockMark = { utcMs: fix.utcMs, atMonoMs: fix.atMonoMs };
  const doubts: FixDoubt[] = [];
  const lastMark =
    last === null || last.utcMs === null ? null : { utcMs: last.utcMs, atMonoMs: last.atMonoMs };
  if (lastMark !== null && fix.utcMs <= lastMark.utcMs) doubts.push('time-backwards');
  if (clock === null) return { doubts, next: { clock: mark, clockOutliers: 0 } };
  // The mark stays, so that a slow drag of the clock is detected as well as a step.
  if (isInStep(clock, mark, limits)) return { doubts, next: { clock, clockOutliers: 0 } };
  const follows = state.clockOutliers > 0 && lastMark !== null && isInStep(lastMark, mark, limits);
  const clockOutliers = follows ? state.clockOutliers + 1 : 1;
  if (clockOutliers > limits.recoverFixes) return { doubts, next: { clock: mark, clockOutliers: 0 } };
  return { doubts: [...doubts, 'clock-drift'], next: { clock, clockOutliers: clockOutliers } };
}

function isInStep(from: ClockMark, to: ClockMark, limits: PlausibilityLimits): boolean {
  const monoMs = to.atMonoMs - from.atMonoMs;
  const driftMs = to.utcMs - from.utcMs - monoMs;
  return Math.abs(driftMs) <= limits.clockToleranceMs + (Math.abs(monoMs) * limits.clockDriftPpm) / 1e6;
}
