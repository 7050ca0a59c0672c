// What the GNSS receiver proves about standstill: Doppler speed, displacement over a window, quality, and how the
// stop happened. Unknown is a value of its own and never zero; a frozen, repeated or implausibly sudden fix proves
// nothing.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import type { Fix } from '../gnss/epochs.ts';

export const gnssLimits = {
  /** Above this speed a vehicle moves. */
  standstillKmh: 3,
  /** From this speed on it drives, beyond any doubt of a noisy receiver. */
  driveKmh: 10,
  /** Doppler speed of a standing vehicle: at most this in one fix ... */
  restKmh: 2,
  /** ... and on average over the window. Recorded parked receivers of 14 makers stay below it but for two at sea. */
  restMeanKmh: 1,
  /** Displacement of a standing vehicle over the window: this, or so much per unit of HDOP. */
  placeM: 8,
  placePerHdopM: 2,
  windowMs: 10_000,
  /** A vehicle whose stop was not observed must stay at its place for this long. */
  holdMs: 60_000,
  /** ... with a fix that differs from the one before within this time: no receiver measures the same twice for long. */
  variedMs: 20_000,
  /** A place that is known from before counts as the same within this distance. */
  samePlaceM: 25,
  /** Hard braking on dry road (8 m/s2): a faster drop is no stop that was observed. */
  brakingKmhPerS: 29,
  /** A stop that was observed passes through at least one fix between `restKmh` and this. */
  slowKmh: 20,
  /** Above this speed a position that stays the same to the last digit is a receiver that froze, not a vehicle that stopped. */
  heldKmh: 5,
  /** A fix at 1 Hz or faster is stale after this; a slower receiver's after 1.75 intervals. */
  fixAgeMs: 2000,
  /** The slowest receiver that proves anything: 0.5 Hz. */
  slowestMs: 2000,
  /** Good fixes in a row before they count. */
  fixes: 5,
  hdop: 5,
  /** For this long after a doubtful position, "no position" does not count as a real absence of one. */
  suspectMs: 60_000,
} as const;

/** Mode indicators of RMC that are real measurements: autonomous, differential, precise, RTK fixed and float. */
const measuredModes: readonly string[] = ['A', 'D', 'P', 'R', 'F'];

/** Why the receiver proves no standstill. */
export type GnssFault =
  | 'no_fix'
  | 'fix_old'
  | 'fix_void'
  | 'fix_mode'
  | 'fix_time'
  | 'fix_speed'
  | 'hdop'
  | 'doubtful'
  | 'few_fixes'
  | 'moving'
  | 'frozen'
  | 'no_stop_seen';

interface Sample {
  readonly atMs: number;
  readonly at: Point;
  readonly speedKmh: number;
  readonly hdop: number;
}

/** How the present standstill was approached. */
interface Approach {
  /** Fixes in a row above `standstillKmh` before it, capped. */
  readonly moved: number;
  /** Of these, between `restKmh` and `slowKmh` at the end. */
  readonly slow: number;
  /** A drop of speed that no brake makes. */
  readonly isSudden: boolean;
}

const noApproach: Approach = { moved: 0, slow: 0, isSudden: false };

export interface GnssState {
  /** Good fixes in a row, capped. */
  readonly goodFixes: number;
  readonly lastGoodMs: number | null;
  /** Typical time between two fixes. */
  readonly intervalMs: number;
  readonly last: Fix | null;
  readonly speedKmh: number;
  /** Where the last good fix was. */
  readonly place: Point | null;
  /** Fixes since the standstill began, at most one a second and no older than the window. */
  readonly samples: readonly Sample[];
  /** Since when and where every good fix has stood; null while moving or unknown. */
  readonly still: { readonly sinceMs: number; readonly at: Point } | null;
  readonly approach: Approach;
  /** When the stop before this standstill was observed; null when it was not. */
  readonly stopMs: number | null;
  /** When a fix last differed from the one before in anything but its time. */
  readonly variedMs: number;
  /** Why the last epoch proved nothing; null when it did. */
  readonly fault: GnssFault | null;
  /** When the last position was doubtful or moved without being evidence; null if never. */
  readonly suspectMs: number | null;
}

export function createGnssState(): GnssState {
  return {
    goodFixes: 0,
    lastGoodMs: null,
    intervalMs: gnssLimits.slowestMs,
    last: null,
    speedKmh: 0,
    place: null,
    samples: [],
    still: null,
    approach: noApproach,
    stopMs: null,
    variedMs: Number.NEGATIVE_INFINITY,
    fault: 'no_fix',
    suspectMs: null,
  };
}

/**
 * After an epoch that proves nothing. The last fix is kept, to recognise a repeated one, and so is the time of the
 * last doubt.
 */
function blank(state: GnssState, fault: GnssFault): GnssState {
  const { intervalMs, last, variedMs, suspectMs } = state;
  return { ...createGnssState(), intervalMs, last, variedMs, suspectMs, fault };
}

function faultOf(fix: Fix, hdopMost: number): GnssFault | null {
  if (!fix.rmcValid) return 'fix_void';
  if (fix.mode === null || !measuredModes.includes(fix.mode)) return 'fix_mode';
  // Without a time a new fix cannot be distinguished from one that is repeated for ever.
  if (fix.utcMs === null) return 'fix_time';
  if (fix.speedKmh === null) return 'fix_speed';
  if (fix.hdop === null || fix.hdop > hdopMost) return 'hdop';
  return fix.doubts.length > 0 ? 'doubtful' : null;
}

function isRepeated(a: Fix | null, b: Fix): boolean {
  return (
    a !== null &&
    a.latitude === b.latitude &&
    a.longitude === b.longitude &&
    a.altitudeM === b.altitudeM &&
    a.speedKmh === b.speedKmh &&
    a.hdop === b.hdop &&
    a.satellites === b.satellites
  );
}

/** For how long a fix is valid, ms. */
function ageLimitMs({ intervalMs }: GnssState): number {
  return Math.max(gnssLimits.fixAgeMs, Math.min(intervalMs, gnssLimits.slowestMs) * 1.75);
}

function approachAfter(state: GnssState, speedKmh: number, stepMs: number): Approach {
  const { brakingKmhPerS, standstillKmh, restKmh, slowKmh } = gnssLimits;
  const { moved, slow, isSudden } = state.approach;
  if (state.lastGoodMs === null) return { ...noApproach, moved: speedKmh > standstillKmh ? 1 : 0 };
  const dropKmh = state.speedKmh - speedKmh;
  // A burst that is read late makes the next step look short.
  const isDrop = dropKmh > (brakingKmhPerS * Math.max(stepMs, state.intervalMs)) / 1000 + 1;
  if (speedKmh <= restKmh) return { moved, slow, isSudden: isSudden || isDrop };
  const movedNow = speedKmh > standstillKmh ? Math.min(moved + 1, gnssLimits.fixes) : moved;
  // A plausible drive after a sudden drop starts again.
  const isForgotten = speedKmh > slowKmh && movedNow >= gnssLimits.fixes && !isDrop;
  return {
    moved: isDrop ? 1 : movedNow,
    slow: speedKmh <= slowKmh ? slow + 1 : 0,
    isSudden: isDrop || (isSudden && !isForgotten),
  };
}

const isObserved = ({ moved, slow, isSudden }: Approach): boolean => moved >= 3 && slow >= 1 && !isSudden;

/** The standstill after one good fix: continues, starts here, or ends. */
function stillAfter(state: GnssState, sample: Sample): Pick<GnssState, 'still' | 'samples'> {
  const { restKmh, restMeanKmh, placeM, placePerHdopM, windowMs } = gnssLimits;
  if (sample.speedKmh > restKmh) return { still: null, samples: [] };
  const kept = state.still === null ? [] : state.samples.filter(({ atMs }) => sample.atMs - atMs <= windowMs);
  const all = [...kept, sample];
  const hdop = Math.max(...all.map((one) => one.hdop));
  const allowedM = Math.max(placeM, placePerHdopM * hdop);
  const isAway = kept.some(({ at }) => distanceM(at, sample.at) > allowedM);
  const meanKmh = all.reduce((sum, { speedKmh }) => sum + speedKmh, 0) / all.length;
  if (state.still === null || isAway || meanKmh > restMeanKmh)
    return { still: { sinceMs: sample.atMs, at: sample.at }, samples: [sample] };
  const newest = kept.at(-1);
  const isSparse = newest === undefined || sample.atMs - newest.atMs >= 900;
  return { still: state.still, samples: isSparse ? all : kept };
}

/** The position of the last moving fix again: a receiver holds it at a crawl, and never from a drive. */
function isFrozenArrival({ speedKmh, place }: GnssState, { at }: Sample): boolean {
  if (speedKmh <= gnssLimits.heldKmh || place === null) return false;
  return place.latitude === at.latitude && place.longitude === at.longitude;
}

function stopAfter(state: GnssState, approach: Approach, sample: Sample): number | null {
  if (sample.speedKmh > gnssLimits.standstillKmh) return null;
  if (sample.speedKmh > gnssLimits.restKmh) return state.stopMs;
  const arrives = state.lastGoodMs !== null && state.speedKmh > gnssLimits.restKmh;
  const isStop = arrives && state.stopMs === null && isObserved(approach) && !isFrozenArrival(state, sample);
  return isStop ? sample.atMs : state.stopMs;
}

/**
 * Records one fix that was checked for plausibility.
 * @param hdopMost a fix with a higher HDOP proves nothing.
 */
export function recordGnssFix(before: GnssState, fix: Fix, hdopMost: number): GnssState {
  const variedMs = isRepeated(before.last, fix) ? before.variedMs : fix.atMonoMs;
  const known: GnssState = { ...before, last: fix, variedMs };
  const fault = faultOf(fix, Math.min(hdopMost, gnssLimits.hdop));
  if (fault !== null || fix.speedKmh === null || fix.hdop === null) {
    const mayMove = fix.speedKmh === null || fix.speedKmh > gnssLimits.standstillKmh;
    const isSuspect = mayMove || fix.doubts.length > 0;
    return { ...blank(known, fault ?? 'fix_speed'), suspectMs: isSuspect ? fix.atMonoMs : known.suspectMs };
  }
  const { speedKmh, hdop, atMonoMs: atMs } = fix;
  const stepMs = known.lastGoodMs === null ? 0 : atMs - known.lastGoodMs;
  const state = stepMs > ageLimitMs(known) ? blank(known, 'few_fixes') : known;
  const isGoingOn = state.lastGoodMs !== null;
  const sample: Sample = { atMs, at: { latitude: fix.latitude, longitude: fix.longitude }, speedKmh, hdop };
  const approach = approachAfter(state, speedKmh, stepMs);
  const stopMs = stopAfter(state, approach, sample);
  const { still, samples } = stillAfter(state, sample);
  // A displacement long after the stop voids its proof; right after it the receiver's filter settles.
  const isRestarted = state.still !== null && still !== null && still.sinceMs !== state.still.sinceMs;
  const isSettling = stopMs !== null && atMs - stopMs <= gnssLimits.windowMs;
  return {
    ...state,
    goodFixes: Math.min(state.goodFixes + 1, gnssLimits.fixes),
    lastGoodMs: atMs,
    intervalMs: isGoingOn ? (state.intervalMs + stepMs) / 2 : state.intervalMs,
    speedKmh,
    place: sample.at,
    samples,
    still,
    approach: speedKmh <= gnssLimits.restKmh ? { ...approach, moved: 0, slow: 0 } : approach,
    stopMs: isRestarted && !isSettling ? null : stopMs,
    fault: null,
  };
}

/** Records an epoch without a fix: speed is unknown from now on. */
export function recordGnssVoid(state: GnssState): GnssState {
  return blank(state, 'no_fix');
}

/** What else is known of this standstill. */
export interface KnownPlace {
  /** Where the vehicle was proven to stand; null once there was evidence of movement. */
  readonly at: Point | null;
  /** When the engine was last switched on, monotonic: a fix that has not varied since proves nothing. */
  readonly engineOnMs: number;
}

/** The receiver's claim at this moment. */
export type GnssClaim =
  | { readonly kind: 'still'; readonly forMs: number; readonly at: Point }
  /** `fixes`: good ones in a row above `standstillKmh`, capped. */
  | { readonly kind: 'moving'; readonly speedKmh: number; readonly fixes: number }
  /** `heldMs`: for how long it has held its place, where only that lacks. */
  | { readonly kind: 'unknown'; readonly fault: GnssFault; readonly heldMs?: number };

/** The claim at `nowMs`, monotonic. */
export function gnssClaim(state: GnssState, known: KnownPlace, nowMs: number): GnssClaim {
  const unknown = (fault: GnssFault) => ({ kind: 'unknown', fault }) as const;
  const { lastGoodMs, fault, still, speedKmh } = state;
  if (lastGoodMs === null || fault !== null) return unknown(fault ?? 'no_fix');
  if (nowMs - lastGoodMs > ageLimitMs(state)) return unknown('fix_old');
  if (speedKmh > gnssLimits.standstillKmh) {
    return { kind: 'moving', speedKmh, fixes: state.approach.moved };
  }
  if (state.goodFixes < gnssLimits.fixes) return unknown('few_fixes');
  if (still === null) return unknown('moving');
  if (state.variedMs < known.engineOnMs) return unknown('frozen');
  const forMs = lastGoodMs - still.sinceMs;
  const isThere = known.at !== null && distanceM(known.at, still.at) <= gnssLimits.samePlaceM;
  if (state.stopMs !== null || isThere) return { kind: 'still', forMs, at: still.at };
  if (nowMs - state.variedMs > gnssLimits.variedMs) return unknown('frozen');
  return forMs >= gnssLimits.holdMs
    ? { kind: 'still', forMs, at: still.at }
    : { ...unknown('no_stop_seen'), heldMs: forMs };
}

/** True when a doubtful or moving position arrived within the last minute. */
export function wasSuspectAt(state: GnssState, nowMs: number): boolean {
  return state.suspectMs !== null && nowMs - state.suspectMs < gnssLimits.suspectMs;
}
