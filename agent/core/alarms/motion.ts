// Start and stop of motion, from plausible fixes and the pace that they show. A stop at traffic lights does not count,
// nor does each crawl in a queue. A lost position neither starts nor stops motion, except that a vehicle with ignition
// off and no position for long was parked under a roof.
import { distanceM } from '../../../src/core/geo/geo.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Fix } from '../gnss/epochs.ts';
import { type Pace, paceAfter, unknownPace } from '../pace.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  fixLifeMs,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';

/** A crawl within this is still the same standstill: about three truck lengths and the scatter of a parked receiver. */
const stillM = 60;

export interface MotionState {
  readonly episode: Episode;
  readonly pace: Pace;
  /** The last plausible fix at which the pace was known. */
  readonly last: Fix | null;
  /** Place where a possible start began, and where a possible stop began. */
  readonly startFix: Fix | null;
  readonly standFix: Fix | null;
  readonly enRouteMs: number;
  readonly isDormantReported: boolean;
}

export function createMotion(wasMoving: boolean): MotionState {
  const episode = resumeEpisode(wasMoving);
  const nowhere = { last: null, startFix: null, standFix: null } as const;
  return { episode, pace: unknownPace, ...nowhere, enRouteMs: 0, isDormantReported: false };
}

/** Kilometres per hour now; null when the last plausible fix is too old. */
export function speedNow(state: MotionState, nowMs: number): number | null {
  const { pace, last } = state;
  return last === null || nowMs - last.atMonoMs > fixLifeMs ? null : pace.kmh;
}

/** Does it move, with the thresholds of what it did before? */
function moves(state: MotionState, fix: Fix, by: { speedKmh: number; startKmh: number }): boolean {
  const { speedKmh, startKmh } = by;
  if (!state.episode.isOn) return speedKmh >= startKmh;
  const { standFix } = state;
  if (standFix === null) return speedKmh > gnssLimits.standstillKmh;
  return speedKmh >= startKmh || distanceM(standFix, fix) > stillM;
}

/** One step. */
export function stepMotion(before: MotionState, input: AlarmInput): AlarmStep<MotionState> {
  const { epoch } = input;
  if (epoch?.kind !== 'fix') return passTime(before, input);
  const pace = paceAfter(before.pace, epoch.fix);
  const state = { ...before, pace };
  return pace.kmh === null ? passTime(state, input) : handleFix(state, input, epoch.fix, pace.kmh);
}

function handleFix(
  before: MotionState,
  input: AlarmInput,
  fix: Fix,
  speedKmh: number,
): AlarmStep<MotionState> {
  const { settings, ignition } = input;
  const isGap = before.last !== null && fix.atMonoMs - before.last.atMonoMs > fixLifeMs;
  const known = isGap ? { ...before, startFix: null, standFix: null } : before;
  const isMoving = moves(known, fix, { speedKmh, startKmh: settings.motionStartKmh });
  const stopS = ignition.value === false ? settings.motionStopOffS : settings.motionStopS;
  // Time counted before a gap is discarded: the speed in between is unknown.
  const episode = isGap ? { ...known.episode, turningMs: null } : known.episode;
  const step = stepEpisode(episode, {
    atMs: fix.atMonoMs,
    holds: isMoving,
    onMs: settings.motionStartS * 1000,
    offMs: stopS * 1000,
    repeatMs: 0,
  });
  const startFix = isMoving ? (known.startFix ?? fix) : null;
  const standFix = isMoving ? null : (known.standFix ?? fix);
  const state: MotionState = { ...known, episode: step.episode, last: fix, startFix, standFix };
  const reports: AlarmReport[] = [];
  if (step.change?.kind === 'begin') {
    reports.push({
      name: 'MOTION_START',
      atMs: step.change.sinceMs,
      attributes: suppressedCount(step.change),
      fix: startFix,
    });
    return { state: { ...state, enRouteMs: fix.atMonoMs, isDormantReported: false }, reports };
  }
  if (step.change?.kind === 'end') {
    const atMs = standFix?.atMonoMs ?? fix.atMonoMs;
    reports.push({ name: 'MOTION_STOP', atMs, attributes: durationOf(step.change), fix: standFix });
  }
  return enRoute({ state, reports }, input);
}

function enRoute(step: AlarmStep<MotionState>, input: AlarmInput): AlarmStep<MotionState> {
  const { enRouteS } = input.settings;
  const { state } = step;
  if (enRouteS === 0 || !state.episode.isOn || input.nowMs - state.enRouteMs < enRouteS * 1000) return step;
  const report: AlarmReport = { name: 'MOTION_EN_ROUTE', atMs: input.nowMs, attributes: {} };
  return { state: { ...state, enRouteMs: input.nowMs }, reports: [...step.reports, report] };
}

function passTime(before: MotionState, input: AlarmInput): AlarmStep<MotionState> {
  const { nowMs, ignition, motion, settings } = input;
  const isOff = ignition.value === false;
  const unseenMs = before.last === null ? Number.NEGATIVE_INFINITY : before.last.atMonoMs;
  const quietMs = nowMs - Math.max(ignition.sinceMs, unseenMs);
  const isParkedUnseen =
    before.episode.isOn && isOff && motion.value !== true && quietMs >= settings.motionStopS * 1000;
  if (isParkedUnseen) {
    const endMs = Math.max(ignition.sinceMs, unseenMs);
    const attributes = { by: 'ignition' };
    const episode = { ...before.episode, isOn: false, isReported: false, sinceMs: endMs, turningMs: null };
    return {
      state: { ...before, episode, standFix: null, startFix: null },
      reports: [{ name: 'MOTION_STOP', atMs: endMs, attributes, fix: before.last }],
    };
  }
  const standingMs = isOff && !before.episode.isOn ? nowMs - ignition.sinceMs : 0;
  const isDormant = settings.dormantS > 0 && standingMs >= settings.dormantS * 1000;
  if (isDormant && !before.isDormantReported) {
    const report: AlarmReport = {
      name: 'MOTION_DORMANT',
      atMs: nowMs,
      attributes: { standingS: standingMs / 1000 },
    };
    return { state: { ...before, isDormantReported: true }, reports: [report] };
  }
  const isDormantReported = isOff && before.isDormantReported;
  return enRoute(
    {
      state: isDormantReported === before.isDormantReported ? before : { ...before, isDormantReported },
      reports: [],
    },
    input,
  );
}
