// Start and stop of motion, from believable fixes with Doppler speed. A stop at the lights is none, nor is a crawl in a
// queue a start after each car; a lost position neither starts nor stops anything, except that a vehicle whose ignition
// is off and whose position stays away has been parked under a roof.
import { distanceM } from '../../../src/core/geo.ts';
import { gnssLimits } from '../evidence/gnss-standing.ts';
import type { Fix } from '../gnss/epochs.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type AlarmStep, fixLifeMs, keptBack, lasted, type Scene, type Told } from './scene.ts';

/** A crawl within this is still the same standstill: about three truck lengths and the scatter of a parked receiver. */
const stillM = 60;

export interface MotionState {
  readonly episode: Episode;
  /** The last believable fix with a speed. */
  readonly last: Fix | null;
  /** Where the motion that may begin began, and where the standstill that may be a stop began. */
  readonly startFix: Fix | null;
  readonly standFix: Fix | null;
  readonly enRouteMs: number;
  readonly isDormantTold: boolean;
}

export function createMotion(wasMoving: boolean): MotionState {
  const episode = resumeEpisode(wasMoving);
  return { episode, last: null, startFix: null, standFix: null, enRouteMs: 0, isDormantTold: false };
}

/** Kilometres per hour now; null when the last believable fix is too old. */
export function speedNow(state: MotionState, nowMs: number): number | null {
  const { last } = state;
  return last === null || nowMs - last.atMonoMs > fixLifeMs ? null : last.speedKmh;
}

/** Does it move, with the thresholds of what it did before? */
function moves(state: MotionState, fix: Fix, startKmh: number): boolean {
  const speedKmh = fix.speedKmh ?? 0;
  if (!state.episode.isOn) return speedKmh >= startKmh;
  const { standFix } = state;
  if (standFix === null) return speedKmh > gnssLimits.standstillKmh;
  return speedKmh >= startKmh || distanceM(standFix, fix) > stillM;
}

/** Takes in one step. */
export function stepMotion(before: MotionState, scene: Scene): AlarmStep<MotionState> {
  const { epoch } = scene;
  if (epoch?.kind === 'fix' && epoch.fix.speedKmh !== null) return takeFix(before, scene, epoch.fix);
  return passTime(before, scene);
}

function takeFix(before: MotionState, scene: Scene, fix: Fix): AlarmStep<MotionState> {
  const { settings, ignition } = scene;
  const isGap = before.last !== null && fix.atMonoMs - before.last.atMonoMs > fixLifeMs;
  const known = isGap ? { ...before, startFix: null, standFix: null } : before;
  const isMoving = moves(known, fix, settings.motionStartKmh);
  const stopS = ignition.value === false ? settings.motionStopOffS : settings.motionStopS;
  // What was counted before a gap does not count: nobody saw the time between.
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
  const told: Told[] = [];
  if (step.news?.kind === 'begin') {
    told.push({
      name: 'MOTION_START',
      atMs: step.news.sinceMs,
      attributes: keptBack(step.news),
      fix: startFix,
    });
    return { state: { ...state, enRouteMs: fix.atMonoMs, isDormantTold: false }, told };
  }
  if (step.news?.kind === 'end') {
    const atMs = standFix?.atMonoMs ?? fix.atMonoMs;
    told.push({ name: 'MOTION_STOP', atMs, attributes: lasted(step.news), fix: standFix });
  }
  return enRoute({ state, told }, scene);
}

function enRoute(step: AlarmStep<MotionState>, scene: Scene): AlarmStep<MotionState> {
  const { enRouteS } = scene.settings;
  const { state } = step;
  if (enRouteS === 0 || !state.episode.isOn || scene.nowMs - state.enRouteMs < enRouteS * 1000) return step;
  const told: Told = { name: 'MOTION_EN_ROUTE', atMs: scene.nowMs, attributes: {} };
  return { state: { ...state, enRouteMs: scene.nowMs }, told: [...step.told, told] };
}

function passTime(before: MotionState, scene: Scene): AlarmStep<MotionState> {
  const { nowMs, ignition, motion, settings } = scene;
  const isOff = ignition.value === false;
  const unseenMs = before.last === null ? Number.NEGATIVE_INFINITY : before.last.atMonoMs;
  const quietMs = nowMs - Math.max(ignition.sinceMs, unseenMs);
  const isParkedUnseen =
    before.episode.isOn && isOff && motion.value !== true && quietMs >= settings.motionStopS * 1000;
  if (isParkedUnseen) {
    const endMs = Math.max(ignition.sinceMs, unseenMs);
    const attributes = { by: 'ignition' };
    const episode = { ...before.episode, isOn: false, isTold: false, sinceMs: endMs, turningMs: null };
    return {
      state: { ...before, episode, standFix: null, startFix: null },
      told: [{ name: 'MOTION_STOP', atMs: endMs, attributes, fix: before.last }],
    };
  }
  const standingMs = isOff && !before.episode.isOn ? nowMs - ignition.sinceMs : 0;
  const isDormant = settings.dormantS > 0 && standingMs >= settings.dormantS * 1000;
  if (isDormant && !before.isDormantTold) {
    const told: Told = { name: 'MOTION_DORMANT', atMs: nowMs, attributes: { standingS: standingMs / 1000 } };
    return { state: { ...before, isDormantTold: true }, told: [told] };
  }
  const isDormantTold = isOff && before.isDormantTold;
  return enRoute(
    { state: isDormantTold === before.isDormantTold ? before : { ...before, isDormantTold }, told: [] },
    scene,
  );
}
