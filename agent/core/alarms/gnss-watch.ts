// The position itself: first fix, lost and restored, jammed, antenna open, suspect and trusted again. A tunnel of a minute
// is no loss, and a tunnel's exit no spoofing; a jump of kilometres is told although the new place is soon believed.
import { distanceM } from '../../../src/core/geo.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Fix, FixDoubt } from '../gnss/epochs.ts';
import { type Episode, quietEpisode, resumeEpisode, stepEpisode } from './episode.ts';
import { type AlarmStep, fixLifeMs, keptBack, lasted, type Scene, seconds, type Told } from './scene.ts';
import { closeSky, darkSky, type SkyState } from './sky.ts';

const watchLimits = {
  /** Fixes for this long before the position counts as restored. */
  backMs: 5000,
  /** Without a doubtful or a good fix for this long a suspicion rests. */
  strangers: 3,
} as const;

export interface GnssState {
  readonly bootMs: number;
  readonly hadFix: boolean;
  /** The last fix of any kind, and the last believable one. */
  readonly heardMs: number | null;
  readonly good: Fix | null;
  readonly lost: Episode;
  readonly jam: Episode;
  readonly antenna: Episode;
  readonly suspect: Episode;
  readonly sky: SkyState;
  /** Doubtful fixes in a row, how far the farthest lay from the last good one, and what the doubts were. */
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
    heardMs: null,
    good: null,
    lost: resumeEpisode(given.lost),
    jam: given.jam ? resumeEpisode(true) : quietEpisode,
    antenna: given.antenna ? resumeEpisode(true) : quietEpisode,
    suspect: resumeEpisode(given.suspect),
    sky: darkSky,
    doubtful: 0,
    jumpM: 0,
    reason: '',
  };
}

/** Doubts that are no sign of a false place. */
const ofTime: readonly FixDoubt[] = ['date-before-build'];

function takeEpoch(before: GnssState, scene: Scene): GnssState {
  const { epoch, nowMs } = scene;
  if (epoch === null) return before;
  const sky = closeSky(before.sky, nowMs);
  if (epoch.kind === 'void') return { ...before, sky };
  const { fix } = epoch;
  const heard = { ...before, sky, heardMs: fix.atMonoMs };
  if (epoch.kind === 'fix') return { ...heard, good: fix, hadFix: true, doubtful: 0 };
  const jumpM = before.good === null ? 0 : distanceM(before.good, fix);
  const reason = fix.doubts.filter((doubt) => !ofTime.includes(doubt)).join(', ');
  const isFirst = before.doubtful === 0;
  return {
    ...heard,
    doubtful: before.doubtful + 1,
    jumpM: Math.max(isFirst ? 0 : before.jumpM, fix.doubts.includes('jump') ? jumpM : 0),
    reason,
  };
}

function watchLoss(state: GnssState, scene: Scene): AlarmStep<Episode> {
  const { settings, nowMs } = scene;
  const lostMs = (state.heardMs === null ? settings.gnssFirstFixS : settings.gnssLostS) * 1000;
  const ageMs = nowMs - (state.heardMs ?? state.bootMs);
  const { episode, news } = stepEpisode(state.lost, {
    atMs: nowMs,
    // A loss is a silence that lasted already; a return must be seen to last.
    holds: state.lost.isOn ? ageMs > fixLifeMs || state.heardMs === null : ageMs >= lostMs,
    onMs: 0,
    offMs: watchLimits.backMs,
    repeatMs: settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  if (news.kind === 'end')
    return { state: episode, told: [{ name: 'GPS_RESTORED', atMs: news.endMs, attributes: lasted(news) }] };
  const reason = !scene.isReceiverHeard
    ? 'the receiver is silent'
    : state.jam.isOn
      ? 'jammed'
      : 'the receiver has no position';
  const sinceMs = state.heardMs ?? state.bootMs;
  const told: Told = {
    name: 'GPS_LOST',
    atMs: sinceMs,
    attributes: { reason, lostS: seconds(ageMs), ...keptBack(news) },
    fix: state.good,
  };
  return { state: { ...episode, sinceMs }, told: [told] };
}

function watchJam(state: GnssState, scene: Scene): AlarmStep<Episode> {
  const { settings, nowMs } = scene;
  const { sky, good } = state;
  const stood = good !== null && good.speedKmh !== null && good.speedKmh <= gnssLimits.standstillKmh;
  const isGone = sky.isDropped && sky.emptySinceMs !== null;
  const holds = settings.jamS > 0 && (state.jam.isOn ? sky.isDropped : isGone && stood);
  const { episode, news } = stepEpisode(state.jam, {
    atMs: nowMs,
    holds,
    onMs: settings.jamS * 1000,
    offMs: watchLimits.backMs,
    repeatMs: settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  if (news.kind === 'begin') {
    const attributes = { reason: 'all satellites vanished at once while it stood', ...keptBack(news) };
    return { state: episode, told: [{ name: 'GPS_JAMMING', atMs: news.sinceMs, attributes, fix: good }] };
  }
  // One return is enough: that of the position tells of both.
  if (state.lost.isOn) return { state: episode, told: [] };
  const attributes = { after: 'jamming', ...lasted(news) };
  return { state: episode, told: [{ name: 'GPS_RESTORED', atMs: news.endMs, attributes }] };
}

function watchAntenna(state: GnssState, scene: Scene): AlarmStep<Episode> {
  const { antenna } = state.sky;
  const { episode, news } = stepEpisode(state.antenna, {
    atMs: scene.nowMs,
    holds: antenna === null ? null : antenna !== 'ok',
    onMs: 0,
    offMs: 0,
    repeatMs: scene.settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  if (news.kind === 'begin') {
    const attributes = { antenna: antenna ?? 'open', ...keptBack(news) };
    return { state: episode, told: [{ name: 'GPS_ANTENNA_OPEN', atMs: scene.nowMs, attributes }] };
  }
  if (state.lost.isOn) return { state: episode, told: [] };
  const attributes = { after: 'antenna', ...lasted(news) };
  return { state: episode, told: [{ name: 'GPS_RESTORED', atMs: scene.nowMs, attributes }] };
}

function watchTrust(state: GnssState, scene: Scene): AlarmStep<Episode> {
  const { settings, epoch, nowMs } = scene;
  if (epoch === null || epoch.kind === 'void') return { state: state.suspect, told: [] };
  const isDoubtful = epoch.kind === 'doubtful';
  const isFarJump = state.doubtful >= watchLimits.strangers && state.jumpM >= settings.suspectJumpM;
  const { episode, news } = stepEpisode(state.suspect, {
    atMs: epoch.fix.atMonoMs,
    holds: isDoubtful,
    onMs: isFarJump ? 0 : settings.suspectS * 1000,
    offMs: settings.trustedS * 1000,
    repeatMs: settings.repeatS * 1000,
  });
  if (news === null) return { state: episode, told: [] };
  const jump = state.jumpM > 0 ? { jumpM: Math.round(state.jumpM) } : {};
  const told: Told =
    news.kind === 'begin'
      ? {
          name: 'POSITION_SUSPECT',
          atMs: nowMs,
          attributes: { reason: state.reason, ...jump, ...keptBack(news) },
          fix: state.good,
        }
      : { name: 'POSITION_TRUSTED', atMs: nowMs, attributes: lasted(news) };
  return { state: episode, told: [told] };
}

/** Takes in one step; what the sky said is in the state already. */
export function stepGnssWatch(before: GnssState, scene: Scene): AlarmStep<GnssState> {
  const state = takeEpoch(before, scene);
  const first: Told[] = [];
  if (state.hadFix && !before.hadFix) {
    const attributes = { afterS: seconds(scene.nowMs - state.bootMs) };
    first.push({ name: 'GPS_FIRST_FIX', atMs: state.good?.atMonoMs ?? scene.nowMs, attributes });
  }
  const jam = watchJam(state, scene);
  const lost = watchLoss({ ...state, jam: jam.state }, scene);
  const antenna = watchAntenna(state, scene);
  const suspect = watchTrust(state, scene);
  return {
    state: { ...state, lost: lost.state, jam: jam.state, antenna: antenna.state, suspect: suspect.state },
    told: [...first, ...jam.told, ...lost.told, ...antenna.told, ...suspect.told],
  };
}
