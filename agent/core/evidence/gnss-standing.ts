// Proof of standstill from the GNSS receiver: Doppler speed, position drift, quality, age, and the way in which the vehicle stopped. Unknown is a
// value in itself and never zero. A frozen, repeated or implausibly sudden fix proves nothing.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import type { Fix } from '../gnss/epochs.ts';
import {
  createStream,
  type FixTime,
  hasSetItsClock,
  isHeld,
  isLate,
  isRepeated,
  isSamePlace,
  measuredModes,
  promptMs,
  type Soonest,
  type Stream,
  smoothedInterval,
  soonestAfter,
  streamAfter,
} from './fix-age.ts';
import { type Drift, driftOf, isJump, noDrift, placeOf, type RestingFix } from './position-drift.ts';

export const gnssLimits = {
  /** A vehicle above this speed moves. */
  standstillKmh: 3,
  /** A vehicle from this speed on drives; noise of a receiver stays below. */
  driveKmh: 10,
  /** Maximum Doppler speed of a standing vehicle in one fix. */
  restKmh: 2,
  /** Maximum mean Doppler speed of a standing vehicle over `windowMs`. Recorded parked receivers of 14 makers stay below it, except two at sea. */
  restMeanKmh: 1,
  /** Minimum time at rest, and window of the mean Doppler speed. */
  windowMs: 10_000,
  /** Window and spacing of the positions that are examined: one minute, about one a second. */
  trackMs: 60_000,
  trackStepMs: 900,
  /** Time for which a vehicle must stay at one place if its stop was not observed. */
  holdMs: 60_000,
  /** Fixes may be missing for this long without ending the standstill, if the fixes around the gap agree. */
  gapMs: 5000,
  /** Every claim of rest needs a fix within this time that differs from the one before: no receiver measures the same twice for long. */
  variedMs: 20_000,
  /**
   * Every claim of rest needs a fix within this time, and since the vehicle came to rest, that is not held. With static navigation a receiver holds
   * its place at speed 0 below a threshold of some 4 to 8 km/h. A held fix says nothing about a vehicle that crawls.
   */
  unheldMs: 3000,
  /** An epoch with a position but no speed does not count as movement this close to the last place of a vehicle at rest. */
  sameEpochM: 8,
  /** Maximum distance of two positions that count as one known place. */
  samePlaceM: 40,
  /** Hard braking on dry road (8 m/s2). A faster drop of speed is no observed stop. */
  brakingKmhPerS: 29,
  /** An observed stop passes through at least one fix between `restKmh` and this speed. */
  slowKmh: 20,
  /** That fix may be missing after a fix of at most this speed. */
  nearlySlowKmh: 30,
  /** Above this speed, a position that stays the same to the last digit means a frozen receiver, not a stopped vehicle. */
  heldKmh: 5,
  /** Maximum age of a fix at 1 Hz or faster; for a slower receiver it is 1.75 intervals. */
  fixAgeMs: 2000,
  /** Interval of the slowest receiver that proves anything: 0.5 Hz. */
  slowestMs: 2000,
  /** A fix faster than the one before, or than any within this time, decides nothing. Noise hides a rise between two fixes, not over a second. */
  latelyMs: 1000,
  lately: 20,
  /** Minimum number of good fixes in a row. */
  fixes: 5,
  hdop: 8,
  /** Time after a doubtful position in which "no position" does not count as real absence. */
  suspectMs: 60_000,
} as const;

export type GnssFault =
  | 'no_fix'
  | 'fix_old'
  | 'fix_void'
  | 'fix_mode'
  | 'fix_time'
  | 'fix_late'
  | 'fix_speed'
  | 'hdop'
  | 'doubtful'
  | 'few_fixes'
  | 'moving'
  | 'unsteady'
  | 'frozen'
  | 'no_stop_seen';

interface Approach {
  /** Fixes in a row above `standstillKmh` before it, capped. */
  readonly moved: number;
  /** Last fixes in a row between `restKmh` and `slowKmh`; one that is missing may count. */
  readonly slow: number;
  /** The speed dropped faster than brakes allow. */
  readonly isSudden: boolean;
  /** It began at an observed stop and no fix has been missing since: shunting. */
  readonly isFromStop: boolean;
}

const noApproach: Approach = { moved: 0, slow: 0, isSudden: false, isFromStop: false };

export interface GnssState {
  /** Good fixes in a row, capped. */
  readonly goodFixes: number;
  /** Monotonic, ms: measurement of the last good fix, and its recording at the least latency (`promptMs`). */
  readonly lastGoodMs: number | null;
  readonly takenMs: number;
  /** Fixes were missing before it. A second gap directly after is the interval of a slow receiver. */
  readonly isAfterGap: boolean;
  /** Smoothed interval of good fixes, ms. */
  readonly intervalMs: number;
  /** Last fix of any quality; detects repeated fixes. */
  readonly last: Fix | null;
  /** Speed of the last good fix; least speed of the good fix before it and of those in the second before it; these fixes. */
  readonly speedKmh: number;
  readonly beforeKmh: number;
  readonly lately: readonly RestingFix[];
  readonly place: Point | null;
  /** Good fixes at rest, newest last, and mean place of the newest of them; null: none. */
  readonly samples: readonly RestingFix[];
  readonly restPlace: Point | null;
  /** Monotonic time, ms, since which every good fix is at rest and the position has not moved on; null: not at rest. */
  readonly restSinceMs: number | null;
  readonly drift: Drift;
  readonly approach: Approach;
  /** Monotonic time of the observed stop that began this standstill, ms; null: no stop was observed. */
  readonly stopMs: number | null;
  /** Monotonic, ms: last fix that differed from the one before, and last one whose position differed. */
  readonly variedMs: number;
  readonly wanderedMs: number;
  /** Monotonic time of the last fix that was not held, ms: it had a speed, or another position than the one before. */
  readonly unheldMs: number;
  /** Reason why the last epoch was not good; null: it was good. */
  readonly fault: GnssFault | null;
  /** Monotonic time of the last position that was doubtful, or that moved without being evidence, ms; null: none. */
  readonly suspectMs: number | null;
  /** Soonest fixes by arrival and by recording. */
  readonly soonest: Soonest;
  /** The last position was far from the ones before; one such position is an outlier. */
  readonly hasJumped: boolean;
  /** Good fixes, and those that lack a sentence, as a stream with its last interruptions. */
  readonly stream: Stream;
  /** Last speed in an epoch of any quality, with its monotonic time. */
  readonly said: { readonly speedKmh: number; readonly atMs: number } | null;
}

/** State before anything was read, without the stream. */
const unread: Omit<GnssState, 'stream'> = {
  goodFixes: 0,
  lastGoodMs: null,
  takenMs: Number.NEGATIVE_INFINITY,
  isAfterGap: false,
  intervalMs: gnssLimits.slowestMs,
  last: null,
  speedKmh: 0,
  beforeKmh: 0,
  lately: [],
  place: null,
  samples: [],
  restPlace: null,
  restSinceMs: null,
  drift: noDrift,
  approach: noApproach,
  stopMs: null,
  variedMs: Number.NEGATIVE_INFINITY,
  wanderedMs: Number.NEGATIVE_INFINITY,
  unheldMs: Number.NEGATIVE_INFINITY,
  fault: 'no_fix',
  suspectMs: null,
  soonest: null,
  hasJumped: false,
  said: null,
};

/** @param startMs monotonic start of the run, ms. */
export const createGnssState = (startMs: number): GnssState => ({
  ...unread,
  stream: createStream(gnssLimits.slowestMs, startMs),
});

/** State after an epoch that ends everything: keeps the facts about the receiver and drops those about the vehicle. */
function blank(state: GnssState, fault: GnssFault): GnssState {
  const { intervalMs, last, variedMs, wanderedMs, unheldMs, suspectMs, soonest, stream, said } = state;
  return {
    ...unread,
    intervalMs,
    last,
    variedMs,
    wanderedMs,
    unheldMs,
    suspectMs,
    soonest,
    stream,
    said,
    fault,
  };
}

/** State after an epoch without information: the standstill goes on if the next good fix comes soon and agrees. */
function lapse(state: GnssState, fault: GnssFault, atMs: number): GnssState {
  const isLong = state.lastGoodMs === null || atMs - state.lastGoodMs > gnssLimits.gapMs;
  return isLong ? blank(state, fault) : { ...state, fault };
}

function faultOf(state: GnssState, fix: Fix, now: FixTime): GnssFault | null {
  if (!fix.rmcValid) return 'fix_void';
  if (!measuredModes.includes(fix.mode)) return 'fix_mode';
  // Without a time a new fix cannot be distinguished from a repeated one.
  if (fix.utcMs === null) return 'fix_time';
  if (fix.speedKmh === null) return 'fix_speed';
  if (fix.hdop === null || fix.hdop > Math.min(now.hdopMost, gnssLimits.hdop)) return 'hdop';
  if (fix.doubts.length > 0) return 'doubtful';
  return isLate(state.soonest, fix, now) ? 'fix_late' : null;
}

/** Time for which a fix is valid, ms. */
export function ageLimitMs({ intervalMs }: GnssState): number {
  return Math.max(gnssLimits.fixAgeMs, Math.min(intervalMs, gnssLimits.slowestMs) * 1.75);
}

function approachAfter(state: GnssState, speedKmh: number, stepMs: number): Approach {
  const { brakingKmhPerS, standstillKmh, restKmh, slowKmh } = gnssLimits;
  const { moved, slow, isSudden } = state.approach;
  const isWhole = stepMs <= 1.5 * state.intervalMs;
  const isFromStop = isWhole && (state.stopMs !== null || state.approach.isFromStop);
  if (state.lastGoodMs === null) return { ...noApproach, moved: speedKmh > standstillKmh ? 1 : 0 };
  const dropKmh = state.speedKmh - speedKmh;
  // A burst that is read late makes the next step look short.
  const isDrop = dropKmh > (brakingKmhPerS * Math.max(stepMs, state.intervalMs)) / 1000 + 1;
  // The slow fix of a stop may be the missing one, but a whole braking may not. An epoch that lacked a sentence may have reported a higher speed.
  const saidKmh = state.said !== null && state.said.atMs > state.lastGoodMs ? state.said.speedKmh : 0;
  const isMissing = !isWhole && !isDrop && Math.max(state.speedKmh, saidKmh) <= gnssLimits.nearlySlowKmh;
  if (speedKmh <= restKmh)
    return { moved, slow: slow + (isMissing ? 1 : 0), isSudden: isSudden || isDrop, isFromStop };
  const movedNow = speedKmh > standstillKmh ? Math.min(moved + 1, gnssLimits.fixes) : moved;
  // A plausible drive after a sudden drop starts over.
  const isForgotten = speedKmh > slowKmh && movedNow >= gnssLimits.fixes && !isDrop;
  return {
    moved: isDrop ? 1 : movedNow,
    slow: speedKmh <= slowKmh ? slow + 1 : 0,
    isSudden: isDrop || (isSudden && !isForgotten),
    isFromStop,
  };
}

const isObserved = ({ moved, slow, isSudden, isFromStop }: Approach): boolean =>
  (moved >= 3 || (isFromStop && moved >= 1)) && slow >= 1 && !isSudden;

type Standing = Pick<GnssState, 'samples' | 'restSinceMs' | 'drift' | 'hasJumped'>;
const moved: Standing = { samples: [], restSinceMs: null, drift: noDrift, hasJumped: false };

/**
 * The standstill after one good fix: it continues, starts here, or ends.
 * @param isSettling the vehicle has just stopped, and the filter of the receiver may still move the position.
 */
function standingAfter(state: GnssState, sample: RestingFix, isSettling: boolean): Standing {
  const { restKmh, restMeanKmh, windowMs, trackMs, trackStepMs } = gnssLimits;
  const { atMs } = sample;
  if (sample.speedKmh > restKmh) return moved;
  const begun: Standing = { samples: [sample], restSinceMs: atMs, drift: noDrift, hasJumped: false };
  const { samples: before, restSinceMs, drift: known } = state;
  if (restSinceMs === null) return begun;
  if (isJump(before, sample))
    return state.hasJumped ? begun : { samples: before, restSinceMs, drift: known, hasJumped: true };
  const newest = state.samples.at(-1);
  const isSparse = newest === undefined || atMs - newest.atMs >= trackStepMs;
  const samples = isSparse
    ? [...state.samples.filter((one) => atMs - one.atMs <= trackMs), sample]
    : state.samples;
  const recent = samples.filter((one) => atMs - one.atMs <= windowMs);
  const meanKmh = recent.reduce((sum, { speedKmh }) => sum + speedKmh, 0) / Math.max(1, recent.length);
  if (meanKmh > restMeanKmh) return begun;
  const drift = isSparse ? driftOf(samples) : state.drift;
  if (drift.isAway && isSettling) return begun;
  return { samples, restSinceMs: drift.isAway ? atMs : restSinceMs, drift, hasJumped: false };
}

/** True when the position of the last moving fix is repeated. A receiver may hold it from a crawl, but not from a drive. */
function isFrozenArrival({ speedKmh, place }: GnssState, { at }: RestingFix): boolean {
  if (speedKmh <= gnssLimits.heldKmh || place === null) return false;
  return place.latitude === at.latitude && place.longitude === at.longitude;
}

function stopAfter(state: GnssState, approach: Approach, sample: RestingFix): number | null {
  if (sample.speedKmh > gnssLimits.standstillKmh) return null;
  if (sample.speedKmh > gnssLimits.restKmh) return state.stopMs;
  const arrives = state.lastGoodMs !== null && state.speedKmh > gnssLimits.restKmh;
  const isStop = arrives && state.stopMs === null && isObserved(approach) && !isFrozenArrival(state, sample);
  return isStop ? sample.atMs : state.stopMs;
}

/** Records one fix that passed the plausibility checks. A VTG speed can show movement and never rest. */
export function recordGnssFix(before: GnssState, sent: Fix, now: FixTime): GnssState {
  const { atMonoMs: atMs, speedKmh: saidKmh } = sent;
  const isVtg = sent.isSpeedOfVtg === true;
  const fix = isVtg ? { ...sent, speedKmh: null } : sent;
  const isSilent = saidKmh === null || (isVtg && saidKmh <= gnssLimits.standstillKmh);
  const known: GnssState = {
    ...before,
    last: fix,
    // The first fix of a run does not count as varied: a receiver may have hung since before the restart of the unit.
    variedMs: before.last === null || isRepeated(before.last, fix) ? before.variedMs : atMs,
    wanderedMs: isSamePlace(before.last, fix) ? before.wanderedMs : atMs,
    unheldMs: isHeld(before.last, fix) ? before.unheldMs : atMs,
    soonest: hasSetItsClock(before.last, fix) ? null : before.soonest,
    said: isSilent ? before.said : { speedKmh: saidKmh, atMs },
  };
  const fault = faultOf(known, fix, now);
  if (fault !== null || fix.speedKmh === null || fix.hdop === null)
    return recordFault(known, fix, fault ?? 'fix_speed');
  const { speedKmh, hdop } = fix;
  const stepMs = known.lastGoodMs === null ? 0 : atMs - known.lastGoodMs;
  const isGap = stepMs > ageLimitMs(known);
  const isLost = stepMs > gnssLimits.gapMs || (isGap && known.isAfterGap);
  const state = isLost ? blank(known, 'few_fixes') : known;
  const isGoingOn = state.lastGoodMs !== null;
  const at = { latitude: fix.latitude, longitude: fix.longitude };
  const sample: RestingFix = { atMs, at, speedKmh, hdop };
  const lately = state.lately
    .filter((one) => atMs - one.atMs <= gnssLimits.latelyMs)
    .slice(-gnssLimits.lately);
  const approach = approachAfter(isLost ? state : before, speedKmh, stepMs);
  const stopMs = stopAfter(state, approach, sample);
  const isSettling = stopMs !== null && atMs - stopMs <= gnssLimits.windowMs;
  const { samples, restSinceMs, drift, hasJumped } = standingAfter(state, sample, isSettling);
  // A displacement long after the stop voids its proof. Right after the stop it is the settling filter of the receiver.
  const isRestarted = state.restSinceMs !== null && restSinceMs !== null && restSinceMs !== state.restSinceMs;
  return {
    last: state.last,
    variedMs: state.variedMs,
    wanderedMs: state.wanderedMs,
    unheldMs: state.unheldMs,
    suspectMs: state.suspectMs,
    said: state.said,
    stream: streamAfter(known.stream, fix, known.soonest),
    goodFixes: Math.min(state.goodFixes + 1, gnssLimits.fixes),
    lastGoodMs: atMs,
    takenMs: promptMs(state.soonest, fix, now.atMs),
    isAfterGap: isGap && !isLost,
    intervalMs: isGoingOn ? smoothedInterval(state.intervalMs, stepMs) : state.intervalMs,
    speedKmh,
    beforeKmh: lately.reduce((least, one) => Math.min(least, one.speedKmh), state.speedKmh),
    lately: [...lately, sample],
    place: sample.at,
    samples,
    restPlace: samples === state.samples ? state.restPlace : placeOf(samples, gnssLimits.windowMs),
    restSinceMs,
    drift,
    hasJumped,
    approach:
      speedKmh <= gnssLimits.restKmh ? { ...approach, moved: 0, slow: 0, isFromStop: false } : approach,
    stopMs: isRestarted && !isSettling ? null : stopMs,
    fault: null,
    soonest: soonestAfter(state.soonest, fix, now.atMs),
  };
}

/** True for a position without a speed, as after one lost sentence, at the place where the vehicle rests: no movement. */
function isStillThere({ restSinceMs, place }: GnssState, fix: Fix): boolean {
  return restSinceMs !== null && place !== null && distanceM(place, fix) <= gnssLimits.sameEpochM;
}

/** True when the fix lacks the content of one lost sentence. Some receivers send RMC less often than GGA. */
function lacksSentence(fix: Fix, fault: GnssFault): boolean {
  const isLost = (fault === 'fix_void' && fix.speedKmh === null) || (fault === 'hdop' && fix.hdop === null);
  return isLost && fix.doubts.length === 0;
}

function recordFault(before: GnssState, fix: Fix, fault: GnssFault): GnssState {
  const { atMonoMs: atMs, speedKmh, doubts } = fix;
  const isIncomplete = lacksSentence(fix, fault);
  const state = isIncomplete
    ? { ...before, stream: streamAfter(before.stream, fix, before.soonest) }
    : before;
  // Soon after a good fix, an incomplete one counts as one that did not come.
  const isSoon = state.lastGoodMs !== null && atMs - state.lastGoodMs <= ageLimitMs(state);
  const isGoing = before.said?.atMs === atMs && before.said.speedKmh > gnssLimits.standstillKmh;
  const mayMove = isGoing || (speedKmh === null && !isStillThere(state, fix));
  if (isIncomplete && isSoon && (state.restSinceMs === null || !mayMove)) return state;
  if (!mayMove && doubts.length === 0) return lapse(state, fault, atMs);
  return { ...blank(state, fault), suspectMs: atMs };
}

/** Records an epoch without a fix. The speed is unknown from now on, except for an estimate in the epoch. */
export function recordGnssVoid(
  state: GnssState,
  atMs: number,
  estimatedKmh: number | null = null,
): GnssState {
  const said = estimatedKmh === null ? state.said : { speedKmh: estimatedKmh, atMs };
  // A receiver that searches for its first fix also shows that it was not interrupted. After its first fix the same report may mean a restart.
  const epoch = { utcMs: null, atMonoMs: atMs };
  const stream = state.last === null ? streamAfter(state.stream, epoch, null) : state.stream;
  return lapse({ ...state, said, stream }, 'no_fix', atMs);
}
