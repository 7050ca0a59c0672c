// What the GNSS receiver proves about standstill: Doppler speed, drift of the position, quality, age, and how the
// stop happened. Unknown is a value of its own and never zero; a frozen, repeated or implausibly sudden fix proves
// nothing.
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
  /** Above this speed a vehicle moves. */
  standstillKmh: 3,
  /** From this speed on it drives, beyond any doubt of a noisy receiver. */
  driveKmh: 10,
  /** Doppler speed of a standing vehicle: at most this in one fix ... */
  restKmh: 2,
  /** ... and on average over `windowMs`. Recorded parked receivers of 14 makers stay below it but for two at sea. */
  restMeanKmh: 1,
  /** Least time at rest, and the time over which the Doppler speed is averaged. */
  windowMs: 10_000,
  /** Positions that are looked at: of the last minute, about one a second. */
  trackMs: 60_000,
  trackStepMs: 900,
  /** A vehicle whose stop was not observed must stay at its place for this long. */
  holdMs: 60_000,
  /** Fixes may be missing for this long without an end of the standstill, when those around the gap agree. */
  gapMs: 5000,
  /** Every claim of rest needs a fix that differs from the one before within this time: no receiver measures the same twice for long. */
  variedMs: 20_000,
  /**
   * A receiver with static navigation holds its place at speed 0 below a threshold, some 4 to 8 km/h: a fix that it holds shows nothing of a vehicle
   * that crawls. One that it does not hold must have come since the vehicle came to rest, and within this time.
   */
  unheldMs: 3000,
  /** An epoch whose position alone came says nothing of a vehicle at rest where it is this near the last place. */
  sameEpochM: 8,
  /** A place that is known from before counts as the same within this distance. */
  samePlaceM: 40,
  /** Hard braking on dry road (8 m/s2): a faster drop is no stop that was observed. */
  brakingKmhPerS: 29,
  /** A stop that was observed passes through at least one fix between `restKmh` and this. */
  slowKmh: 20,
  /** ... or one that was missing after a fix of at most this. */
  nearlySlowKmh: 30,
  /** Above this speed a position that stays the same to the last digit is a receiver that froze, not a vehicle that stopped. */
  heldKmh: 5,
  /** A fix at 1 Hz or faster is stale after this; a slower receiver's after 1.75 intervals. */
  fixAgeMs: 2000,
  /** The slowest receiver that proves anything: 0.5 Hz. */
  slowestMs: 2000,
  /** A fix that is faster than the one before, or than any of this time before it, decides nothing: noise between two hides a rise, not one over a second. */
  latelyMs: 1000,
  lately: 20,
  /** Good fixes in a row before they count. */
  fixes: 5,
  hdop: 8,
  /** For this long after a doubtful position, "no position" does not count as a real absence of one. */
  suspectMs: 60_000,
} as const;

/** Why the receiver proves no standstill. */
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

/** How the present standstill was approached. */
interface Approach {
  /** Fixes in a row above `standstillKmh` before it, capped. */
  readonly moved: number;
  /** Of these, between `restKmh` and `slowKmh` at the end. */
  readonly slow: number;
  /** A drop of speed that no brake makes. */
  readonly isSudden: boolean;
  /** It began at a stop that was observed, and no fix has been missing since: shunting. */
  readonly isFromStop: boolean;
}

const noApproach: Approach = { moved: 0, slow: 0, isSudden: false, isFromStop: false };

export interface GnssState {
  /** Good fixes in a row, capped. */
  readonly goodFixes: number;
  /** When the last good fix was measured, and when it would have been taken in at the least latency (`promptMs`); monotonic. */
  readonly lastGoodMs: number | null;
  readonly takenMs: number;
  /** Fixes were missing before it. A second gap at once is none: the receiver is that slow. */
  readonly isAfterGap: boolean;
  /** Smoothed time between good fixes. */
  readonly intervalMs: number;
  /** The last fix of any quality, to recognise one that is repeated. */
  readonly last: Fix | null;
  /** Of the last good fix; and the least of the one before it and of those of the second before it, which are also here. */
  readonly speedKmh: number;
  readonly beforeKmh: number;
  readonly lately: readonly RestingFix[];
  readonly place: Point | null;
  /** Good fixes at rest, newest last, and the mean place of the newest of them; null without any. */
  readonly samples: readonly RestingFix[];
  readonly restPlace: Point | null;
  /** Since when every good fix has been at rest, and the position has not moved on; null while one is not. */
  readonly restSinceMs: number | null;
  readonly drift: Drift;
  readonly approach: Approach;
  /** When an observed stop began this standstill; null when it did not begin so. */
  readonly stopMs: number | null;
  /** When a fix last differed from the one before, and when its position did. */
  readonly variedMs: number;
  readonly wanderedMs: number;
  /** When a fix last had a speed or another position than the one before: it was not held. */
  readonly unheldMs: number;
  /** Why the last epoch was not good; null when it was. */
  readonly fault: GnssFault | null;
  /** When the last position was doubtful or moved without being evidence; null if never. */
  readonly suspectMs: number | null;
  /** The soonest fixes: by their arrival, and by when they were taken in. */
  readonly soonest: Soonest;
  /** The last position was far from those before: one alone is an outlier. */
  readonly hasJumped: boolean;
  /** Its good fixes, and those that lack a sentence, as a stream, and the last interruption of it. */
  readonly stream: Stream;
  /** What the receiver last said of speed, in an epoch of any quality. */
  readonly said: { readonly speedKmh: number; readonly atMs: number } | null;
}

/** What is known of a receiver and its vehicle before anything was read, but for the stream. */
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

/** @param startMs when the run begins, monotonic. */
export const createGnssState = (startMs: number): GnssState => ({
  ...unread,
  stream: createStream(gnssLimits.slowestMs, startMs),
});

/** After an epoch that ends everything: what is known of the receiver is kept, and nothing of the vehicle. */
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

/** After an epoch that says nothing: what was seen before goes on when the next good fix comes soon and agrees. */
function lapse(state: GnssState, fault: GnssFault, atMs: number): GnssState {
  const isLong = state.lastGoodMs === null || atMs - state.lastGoodMs > gnssLimits.gapMs;
  return isLong ? blank(state, fault) : { ...state, fault };
}

function faultOf(state: GnssState, fix: Fix, now: FixTime): GnssFault | null {
  if (!fix.rmcValid) return 'fix_void';
  if (!measuredModes.includes(fix.mode)) return 'fix_mode';
  // Without a time a new fix cannot be distinguished from one that is repeated for ever.
  if (fix.utcMs === null) return 'fix_time';
  if (fix.speedKmh === null) return 'fix_speed';
  if (fix.hdop === null || fix.hdop > Math.min(now.hdopMost, gnssLimits.hdop)) return 'hdop';
  if (fix.doubts.length > 0) return 'doubtful';
  return isLate(state.soonest, fix, now) ? 'fix_late' : null;
}

/** For how long a fix is valid, ms. */
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
  // The slow fix of a stop may be the one that is missing; a whole braking is not. An epoch that lacked a sentence may have stated a higher speed.
  const saidKmh = state.said !== null && state.said.atMs > state.lastGoodMs ? state.said.speedKmh : 0;
  const isMissing = !isWhole && !isDrop && Math.max(state.speedKmh, saidKmh) <= gnssLimits.nearlySlowKmh;
  if (speedKmh <= restKmh)
    return { moved, slow: slow + (isMissing ? 1 : 0), isSudden: isSudden || isDrop, isFromStop };
  const movedNow = speedKmh > standstillKmh ? Math.min(moved + 1, gnssLimits.fixes) : moved;
  // A plausible drive after a sudden drop starts again.
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
 * The standstill after one good fix: continues, starts here, or ends.
 * @param isSettling the vehicle has just stopped, and the filter of the receiver may move the position on.
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

/** The position of the last moving fix again: a receiver holds it at a crawl, and never from a drive. */
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

/** Records one fix that was checked for plausibility. The speed of VTG speaks for movement and never for rest. */
export function recordGnssFix(before: GnssState, sent: Fix, now: FixTime): GnssState {
  const { atMonoMs: atMs, speedKmh: saidKmh } = sent;
  const isVtg = sent.isSpeedOfVtg === true;
  const fix = isVtg ? { ...sent, speedKmh: null } : sent;
  const isSilent = saidKmh === null || (isVtg && saidKmh <= gnssLimits.standstillKmh);
  const known: GnssState = {
    ...before,
    last: fix,
    // The first fix of a run varies from none: a receiver that hangs over a restart of the unit is no better than before.
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
  // A displacement long after the stop voids its proof; right after it the receiver's filter settles.
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

/** A position without a speed, as when one sentence is lost, where the vehicle rests: no movement. */
function isStillThere({ restSinceMs, place }: GnssState, fix: Fix): boolean {
  return restSinceMs !== null && place !== null && distanceM(place, fix) <= gnssLimits.sameEpochM;
}

/** Lacks what one lost sentence says. Some receivers give RMC more rarely than GGA. */
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
  // Soon after a good one it is as one that did not come.
  const isSoon = state.lastGoodMs !== null && atMs - state.lastGoodMs <= ageLimitMs(state);
  const isGoing = before.said?.atMs === atMs && before.said.speedKmh > gnssLimits.standstillKmh;
  const mayMove = isGoing || (speedKmh === null && !isStillThere(state, fix));
  if (isIncomplete && isSoon && (state.restSinceMs === null || !mayMove)) return state;
  if (!mayMove && doubts.length === 0) return lapse(state, fault, atMs);
  return { ...blank(state, fault), suspectMs: atMs };
}

/** Records an epoch without a fix: speed is unknown from now on, but for what the epoch says of it without a measurement. */
export function recordGnssVoid(
  state: GnssState,
  atMs: number,
  estimatedKmh: number | null = null,
): GnssState {
  const said = estimatedKmh === null ? state.said : { speedKmh: estimatedKmh, atMs };
  // A receiver that looks for its first fix shows as well that it was not interrupted. After one it says the same when it starts anew.
  const epoch = { utcMs: null, atMonoMs: atMs };
  const stream = state.last === null ? streamAfter(state.stream, epoch, null) : state.stream;
  return lapse({ ...state, said, stream }, 'no_fix', atMs);
}
