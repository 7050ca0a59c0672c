// Alarms about the position itself: first fix, lost and restored, jammed, antenna open, suspect and trusted again. A
// tunnel of a minute is no loss, and its exit no spoofing. A jump of kilometres is reported although the new place is
// soon accepted.
import { distanceM } from '../../../src/core/geo/geo.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Fix, FixDoubt } from '../gnss/epochs.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  fixLifeMs,
  seconds,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, quietEpisode, resumeEpisode, stepEpisode } from './episode.ts';
import { closeSky, emptySky, type SkyState } from './sky.ts';

const watchLimits = {
  /** Fixes for this long before the position counts as restored. */
  backMs: 5000,
  /** This many doubtful fixes in a row report a far jump at once. */
  outliers: 3,
} as const;

export interface GnssState {
  readonly bootMs: number;
  readonly hadFix: boolean;
  /** The last fix of any kind, and the last plausible one. */
  readonly fixMs: number | null;
  readonly good: Fix | null;
  readonly lost: Episode;
  readonly jam: Episode;
  readonly antenna: Episode;
  readonly suspect: Episode;
  readonly sky: SkyState;
  /** Doubtful fixes in a row, the greatest distance from the last good one, and the kinds of doubt. */
  readonly doubtful: number;
  readonly jumpM: number;
  readonly reason: string;
}

export function createGnssWatch(given: {
  readonly bootMs: number;
  readonly lost: boolean;
  readonly jam: boolean;
  readonly antenna: boolean;
  readonly suspect: boolean;
}): GnssState {
  return {
    bootMs: given.bootMs,
    hadFix: false,
    fixMs: null,
    good: null,
    lost: resumeEpisode(given.lost),
    jam: given.jam ? resumeEpisode(true) : quietEpisode,
    antenna: given.antenna ? resumeEpisode(true) : quietEpisode,
    suspect: resumeEpisode(given.suspect),
    sky: emptySky,
    doubtful: 0,
    jumpM: 0,
    reason: '',
  };
}

/** Doubts that are no sign of a false place. */
const ofTime: readonly FixDoubt[] = ['date-before-build'];

function handleEpoch(before: GnssState, input: AlarmInput): GnssState {
  const { epoch, nowMs } = input;
  if (epoch === null) return before;
  const sky = closeSky(before.sky, nowMs);
  if (epoch.kind === 'void') return { ...before, sky };
  const { fix } = epoch;
  const received = { ...before, sky, fixMs: fix.atMonoMs };
  if (epoch.kind === 'fix') return { ...received, good: fix, hadFix: true, doubtful: 0 };
  const jumpM = before.good === null ? 0 : distanceM(before.good, fix);
  const reason = fix.doubts.filter((doubt) => !ofTime.includes(doubt)).join(', ');
  const isFirst = before.doubtful === 0;
  return {
    ...received,
    doubtful: before.doubtful + 1,
    jumpM: Math.max(isFirst ? 0 : before.jumpM, fix.doubts.includes('jump') ? jumpM : 0),
    reason,
  };
}

function watchLoss(state: GnssState, input: AlarmInput): AlarmStep<Episode> {
  const { settings, nowMs } = input;
  const lostMs = (state.fixMs === null ? settings.gnssFirstFixS : settings.gnssLostS) * 1000;
  const ageMs = nowMs - (state.fixMs ?? state.bootMs);
  const { episode, change } = stepEpisode(state.lost, {
    atMs: nowMs,
    // A loss is a silence that lasted already; a return must be seen to last.
    holds: state.lost.isOn ? ageMs > fixLifeMs || state.fixMs === null : ageMs >= lostMs,
    onMs: 0,
    offMs: watchLimits.backMs,
    repeatMs: settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  if (change.kind === 'end')
    return {
      state: episode,
      reports: [{ name: 'GPS_RESTORED', atMs: change.endMs, attributes: durationOf(change) }],
    };
  const reason = !input.isReceiverOpen
    ? 'the receiver is silent'
    : state.jam.isOn
      ? 'jammed'
      : 'the receiver has no position';
  const sinceMs = state.fixMs ?? state.bootMs;
  const report: AlarmReport = {
    name: 'GPS_LOST',
    atMs: sinceMs,
    attributes: { reason, lostS: seconds(ageMs), ...suppressedCount(change) },
    fix: state.good,
  };
  return { state: { ...episode, sinceMs }, reports: [report] };
}

function watchJam(state: GnssState, input: AlarmInput): AlarmStep<Episode> {
  const { settings, nowMs } = input;
  const { sky, good } = state;
  const stood = good !== null && good.speedKmh !== null && good.speedKmh <= gnssLimits.standstillKmh;
  const isGone = sky.isDropped && sky.emptySinceMs !== null;
  const holds = settings.jamS > 0 && (state.jam.isOn ? sky.isDropped : isGone && stood);
  const { episode, change } = stepEpisode(state.jam, {
    atMs: nowMs,
    holds,
    onMs: settings.jamS * 1000,
    offMs: watchLimits.backMs,
    repeatMs: settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  if (change.kind === 'begin') {
    const attributes = {
      reason: 'all satellites vanished at once while it stood',
      ...suppressedCount(change),
    };
    return {
      state: episode,
      reports: [{ name: 'GPS_JAMMING', atMs: change.sinceMs, attributes, fix: good }],
    };
  }
  // One report is enough: the return of the position implies the other.
  if (state.lost.isOn) return { state: episode, reports: [] };
  const attributes = { after: 'jamming', ...durationOf(change) };
  return { state: episode, reports: [{ name: 'GPS_RESTORED', atMs: change.endMs, attributes }] };
}

function watchAntenna(state: GnssState, input: AlarmInput): AlarmStep<Episode> {
  const { antenna } = state.sky;
  const { episode, change } = stepEpisode(state.antenna, {
    atMs: input.nowMs,
    holds: antenna === null ? null : antenna !== 'ok',
    onMs: 0,
    offMs: 0,
    repeatMs: input.settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  if (change.kind === 'begin') {
    const attributes = { antenna: antenna ?? 'open', ...suppressedCount(change) };
    return { state: episode, reports: [{ name: 'GPS_ANTENNA_OPEN', atMs: input.nowMs, attributes }] };
  }
  if (state.lost.isOn) return { state: episode, reports: [] };
  const attributes = { after: 'antenna', ...durationOf(change) };
  return { state: episode, reports: [{ name: 'GPS_RESTORED', atMs: input.nowMs, attributes }] };
}

function watchTrust(state: GnssState, input: AlarmInput): AlarmStep<Episode> {
  const { settings, epoch, nowMs } = input;
  if (epoch === null || epoch.kind === 'void') return { state: state.suspect, reports: [] };
  const isDoubtful = epoch.kind === 'doubtful';
  const isFarJump = state.doubtful >= watchLimits.outliers && state.jumpM >= settings.suspectJumpM;
  const { episode, change } = stepEpisode(state.suspect, {
    atMs: epoch.fix.atMonoMs,
    holds: isDoubtful,
    onMs: isFarJump ? 0 : settings.suspectS * 1000,
    offMs: settings.trustedS * 1000,
    repeatMs: settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  const jump = state.jumpM > 0 ? { jumpM: Math.round(state.jumpM) } : {};
  const report: AlarmReport =
    change.kind === 'begin'
      ? {
          name: 'POSITION_SUSPECT',
          atMs: nowMs,
          attributes: { reason: state.reason, ...jump, ...suppressedCount(change) },
          fix: state.good,
        }
      : { name: 'POSITION_TRUSTED', atMs: nowMs, attributes: durationOf(change) };
  return { state: episode, reports: [report] };
}

/** One step; sky sentences are in the state already. */
export function stepGnssWatch(before: GnssState, input: AlarmInput): AlarmStep<GnssState> {
  const state = handleEpoch(before, input);
  const first: AlarmReport[] = [];
  if (state.hadFix && !before.hadFix) {
    const attributes = { afterS: seconds(input.nowMs - state.bootMs) };
    first.push({ name: 'GPS_FIRST_FIX', atMs: state.good?.atMonoMs ?? input.nowMs, attributes });
  }
  const jam = watchJam(state, input);
  const lost = watchLoss({ ...state, jam: jam.state }, input);
  const antenna = watchAntenna(state, input);
  const suspect = watchTrust(state, input);
  return {
    state: { ...state, lost: lost.state, jam: jam.state, antenna: antenna.state, suspect: suspect.state },
    reports: [...first, ...jam.reports, ...lost.reports, ...antenna.reports, ...suspect.reports],
  };
}
