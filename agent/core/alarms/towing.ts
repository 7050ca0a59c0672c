// Movement with ignition off: towed, loaded on a truck, rolled away. It needs several plausible fixes away from the
// parking place and movement on the way, so neither drift nor a jump of the position raises it. A ferry or train looks
// the same; use the setting `towing` for that.
import { distanceM, type Point } from '../../../src/core/geo/geo.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Fix } from '../gnss/epochs.ts';
import type { Pace } from '../pace.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  fixLifeMs,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';

const towLimits = {
  /** Fixes in a row away from the parking place; more after a gap without positions. */
  fixes: 5,
  fixesAfterGap: 10,
  /** After a gap it must be this far away: a receiver that restarts may be off by hundreds of metres. */
  gapM: 500,
  /** Fixes that make the parking place; their mean is better than the first of them. */
  placeFixes: 60,
  /** Slower is the Doppler noise of a standing receiver. */
  creepKmh: 4,
  /** Share of the way that must have been seen as speed. */
  seenShare: 1 / 3,
  /** Two sigma of a fix at HDOP 1. */
  scatterM: 15,
  /** Longer between two fixes is a gap. */
  gapMs: 10_000,
  /** Without a position for this long the motion input alone may raise the alarm. */
  blindMs: 60_000,
  /** Ignition on for this long ends it. */
  ignitionMs: 3000,
  unknownEndsMs: 3_600_000,
} as const;

interface Parked {
  readonly at: Point;
  /** Fixes averaged in `at`. */
  readonly count: number;
}

export interface TowingState {
  readonly episode: Episode;
  /** Null while the ignition is on or the place is not known. */
  readonly parked: Parked | null;
  readonly last: Fix | null;
  /** The pace there; null: not known. */
  readonly lastKmh: number | null;
  /** Way seen as speed since it was parked, or by place where none is stated, metres. */
  readonly seenM: number;
  readonly isGap: boolean;
  /** Fixes in a row that are away. */
  readonly away: number;
  readonly awayM: number;
  /** A jump was suspected since the last plausible fix. */
  readonly hasJumped: boolean;
  readonly isOffSince: number | null;
  /** The ignition wire was read in this run: where it is unknown for a moment, nothing else speaks in its place. */
  readonly hasWire: boolean;
}

/** @param parked where it was parked before this start, from memory; the time since then is a gap. */
export function createTowing(given: {
  readonly wasTowed: boolean;
  readonly parked: Point | null;
}): TowingState {
  const parked = given.parked === null ? null : { at: given.parked, count: towLimits.placeFixes };
  return {
    episode: resumeEpisode(given.wasTowed),
    parked,
    last: null,
    lastKmh: null,
    seenM: 0,
    isGap: parked !== null,
    away: 0,
    awayM: 0,
    hasJumped: false,
    isOffSince: null,
    hasWire: false,
  };
}

const here = ({ latitude, longitude }: Fix): Point => ({ latitude, longitude });

const afresh = { seenM: 0, isGap: false, away: 0, awayM: 0, hasJumped: false } as const;

/** Off by the wire or, without one, by an engine at rest, which is known a minute after it stands. Null = unknown. */
function offOf({ hasWire }: TowingState, input: AlarmInput, isRunning: boolean | null): boolean | null {
  if (input.ignition.value !== null) return !input.ignition.value;
  if (hasWire) return null;
  return isRunning === null ? null : !isRunning;
}

/** One step; runs after engine and motion. */
export function stepTowing(
  given: TowingState,
  input: AlarmInput,
  { isRunning, pace }: { readonly isRunning: boolean | null; readonly pace: Pace },
): AlarmStep<TowingState> {
  const { settings, nowMs, epoch } = input;
  const isRead = input.ignition.value !== null;
  const before = isRead && !given.hasWire ? { ...given, hasWire: true } : given;
  const isOff = settings.towing ? offOf(before, input, isRunning) : false;
  if (isOff === false) return ended({ ...before, isOffSince: null }, input);
  if (isOff === null) return { state: before, reports: [] };
  const sinceMs = input.ignition.value === false ? input.ignition.sinceMs : nowMs;
  const off = { ...before, isOffSince: Math.min(before.isOffSince ?? sinceMs, Math.max(sinceMs, 0)) };
  if (epoch?.kind === 'doubtful') return judgeTow(jumpedOrNot(off, epoch.fix), input, null);
  if (epoch?.kind !== 'fix') return judgeTow(off, input, null);
  const placed = { ...handleFix(off, input, { fix: epoch.fix, pace }), lastKmh: pace.kmh };
  return judgeTow(placed, input, epoch.fix);
}

interface Seen {
  readonly fix: Fix;
  readonly pace: Pace;
}

/** The way of this step that was seen as movement: none while it creeps, or after a gap. */
function seenWayM({ fix, pace }: Seen, stepMs: number): number {
  if (stepMs > towLimits.gapMs) return 0;
  if (fix.speedKmh === null) return pace.wayM;
  return fix.speedKmh > towLimits.creepKmh ? (fix.speedKmh / 3600) * stepMs : 0;
}

const stands = (kmh: number | null): boolean => kmh !== null && kmh <= gnssLimits.standstillKmh;

function jumpedOrNot(state: TowingState, fix: Fix): TowingState {
  return fix.doubts.includes('jump') ? { ...state, hasJumped: true, away: 0 } : state;
}

function ended(state: TowingState, input: AlarmInput): AlarmStep<TowingState> {
  const cleared: TowingState = { ...state, ...afresh, parked: null, last: null };
  if (!state.episode.isOn) return { state: cleared, reports: [] };
  const { episode, change } = stepEpisode(state.episode, {
    atMs: input.nowMs,
    holds: false,
    onMs: 0,
    offMs: input.settings.towing ? towLimits.ignitionMs : 0,
    repeatMs: 0,
  });
  const next = { ...(episode.isOn ? state : cleared), episode };
  if (change?.kind !== 'end') return { state: next, reports: [] };
  const attributes = { reason: 'ignition on', distanceM: Math.round(state.awayM), ...durationOf(change) };
  return { state: next, reports: [{ name: 'TOWING_STOP', atMs: input.nowMs, attributes }] };
}

/** Where it is relative to where it was parked. */
function handleFix(state: TowingState, input: AlarmInput, seen: Seen): TowingState {
  const { settings, nowMs } = input;
  const { last, parked } = state;
  const { fix, pace } = seen;
  const isArmed = state.isOffSince !== null && nowMs - state.isOffSince >= settings.towArmS * 1000;
  const stood = isArmed && parked === null ? placeBeforeGap(state, fix) : null;
  if (stood !== null) return handleFix({ ...state, parked: { at: stood, count: 1 } }, input, seen);
  if (parked === null) {
    return isArmed && stands(pace.kmh)
      ? { ...state, ...afresh, parked: { at: here(fix), count: 1 }, last: fix }
      : { ...state, last: fix };
  }
  // A place that was reached by a jump replaces the old one; it is not movement.
  if (state.hasJumped && !state.episode.isOn)
    return { ...state, ...afresh, parked: { at: here(fix), count: 1 }, last: fix };
  const stepMs = last === null ? 0 : fix.atMonoMs - last.atMonoMs;
  const isGap = state.isGap || stepMs > towLimits.gapMs;
  const seenM = state.seenM + seenWayM(seen, stepMs);
  const awayM = distanceM(parked.at, fix);
  const farM = Math.max(settings.towM, towLimits.scatterM * Math.min(5, Math.max(1, fix.hdop ?? 1)));
  const isSeen = seenM >= awayM * towLimits.seenShare;
  const isAway = awayM > farM && (isSeen || (isGap && awayM > towLimits.gapM));
  if (awayM < farM / 2 && stands(pace.kmh) && !state.episode.isOn) {
    const near = { ...afresh, away: 0, parked: closer(parked, fix), last: fix };
    return { ...state, ...near, hasJumped: false };
  }
  return { ...state, last: fix, seenM, isGap, awayM, away: isAway ? state.away + 1 : 0 };
}

/** Place before a loss of positions that preceded the watch: a vehicle jammed and then towed is compared with it. */
function placeBeforeGap({ last, lastKmh }: TowingState, fix: Fix): Point | null {
  if (last === null || fix.atMonoMs - last.atMonoMs <= towLimits.gapMs) return null;
  return stands(lastKmh) ? here(last) : null;
}

/** The mean of the first fixes; later ones only confirm it, or a slow drift would take the place along. */
function closer(parked: Parked, fix: Fix): Parked {
  if (parked.count >= towLimits.placeFixes) return parked;
  const count = parked.count + 1;
  const mean = (old: number, fresh: number): number => old + (fresh - old) / count;
  return {
    at: {
      latitude: mean(parked.at.latitude, fix.latitude),
      // Fixes of one parking place cross the antimeridian by one step at most; keep the first there.
      longitude:
        Math.abs(fix.longitude - parked.at.longitude) > 1
          ? parked.at.longitude
          : mean(parked.at.longitude, fix.longitude),
    },
    count,
  };
}

/** Moves without a position: the motion input alone, held long. */
function movesBlindly(state: TowingState, input: AlarmInput): boolean {
  const { settings, motion, nowMs, ignition } = input;
  const isBlind = nowMs - (state.last?.atMonoMs ?? state.isOffSince ?? nowMs) >= towLimits.blindMs;
  const isArmed = state.isOffSince !== null && nowMs - state.isOffSince >= settings.towArmS * 1000;
  const heldMs = motion.value === true ? nowMs - Math.max(motion.sinceMs, ignition.sinceMs, 0) : 0;
  return settings.towMotionS > 0 && isBlind && isArmed && heldMs >= settings.towMotionS * 1000;
}

function conditionOf(state: TowingState, input: AlarmInput, fix: Fix | null): boolean | null {
  if (!state.episode.isOn) {
    const wanted = state.isGap ? towLimits.fixesAfterGap : towLimits.fixes;
    return state.away >= wanted || movesBlindly(state, input);
  }
  if (fix !== null) return state.lastKmh === null ? null : !stands(state.lastKmh);
  const isStale = state.last === null || input.nowMs - state.last.atMonoMs > fixLifeMs;
  if (!isStale) return null;
  return input.motion.value;
}

function judgeTow(state: TowingState, input: AlarmInput, fix: Fix | null): AlarmStep<TowingState> {
  const { settings, nowMs } = input;
  // Between two fixes of a tow the position is unchanged; the count must not restart.
  const isBetween =
    state.episode.isOn && fix === null && state.last !== null && nowMs - state.last.atMonoMs <= fixLifeMs;
  if (isBetween) return { state, reports: [] };
  const { episode, change } = stepEpisode(state.episode, {
    atMs: nowMs,
    holds: conditionOf(state, input, fix),
    onMs: 0,
    offMs: settings.towEndS * 1000,
    repeatMs: settings.repeatS * 1000,
    unknownEndsMs: towLimits.unknownEndsMs,
  });
  const next: TowingState = { ...state, episode };
  if (change === null) return { state: next, reports: [] };
  const way = { distanceM: Math.round(state.awayM) };
  if (change.kind === 'begin') {
    const by = state.away === 0 ? 'motion input' : 'position';
    const whileOff = state.away > 0 && state.isGap && state.seenM === 0 ? { unseen: true } : {};
    const attributes = { by, ...way, ...whileOff, ...suppressedCount(change) };
    return { state: next, reports: [{ name: 'TOWING_START', atMs: nowMs, attributes }] };
  }
  const report: AlarmReport = {
    name: 'TOWING_STOP',
    atMs: nowMs,
    attributes: { reason: 'stands', ...way, ...durationOf(change) },
  };
  // The place where it stands now is the new parking place, so the next tow is reported as well.
  const parked = fix === null ? null : { at: here(fix), count: 1 };
  return { state: { ...next, ...afresh, parked }, reports: [report] };
}
