// The engine runs and the vehicle stands: idling, and excess idling after a longer time. Where revolutions are read they
// decide; else the ignition wire, else the alternator. It must never begin on an unknown speed or an unknown engine.

import { gnssLimits } from '../evidence/gnss-standing.ts';
import { type Episode, quietEpisode, resumeEpisode, stepEpisode } from './episode.ts';
import { type MotionState, speedNow } from './motion.ts';
import { type AlarmStep, keptBack, lasted, type Scene, type Told } from './scene.ts';

/** Idling ends this long after the engine was switched off or the vehicle moved. */
const endMs = 5000;

export interface IdlingState {
  readonly episode: Episode;
  readonly isExcessTold: boolean;
}

export function createIdling(was: { readonly idling: boolean; readonly excess: boolean }): IdlingState {
  return { episode: was.idling ? resumeEpisode(true) : quietEpisode, isExcessTold: was.excess };
}

/** True while the engine is on, as well as it is known. */
function isEngineOn(scene: Scene, isRunning: boolean | null): boolean | null {
  if (scene.rpm !== null) return isRunning;
  return scene.ignition.value ?? isRunning;
}

/** Takes in one step, after the engine and the motion. */
export function stepIdling(
  before: IdlingState,
  scene: Scene,
  known: { readonly isRunning: boolean | null; readonly motion: MotionState },
): AlarmStep<IdlingState> {
  const { settings, nowMs } = scene;
  const engineOn = isEngineOn(scene, known.isRunning);
  const speedKmh = speedNow(known.motion, nowMs);
  const mostKmh = before.episode.isOn ? settings.motionStartKmh : gnssLimits.standstillKmh;
  const stands = speedKmh === null ? null : speedKmh <= mostKmh;
  const isWanted = settings.idleS > 0;
  const isOver = engineOn === false || stands === false || !isWanted;
  const holds = isOver ? false : engineOn === null || stands === null ? null : true;
  const { episode, news } = stepEpisode(before.episode, {
    atMs: nowMs,
    holds,
    onMs: settings.idleS * 1000,
    offMs: endMs,
    repeatMs: 0,
  });
  const told: Told[] = [];
  let { isExcessTold } = before;
  if (news?.kind === 'begin')
    told.push({
      name: 'MOTION_IDLE',
      atMs: nowMs,
      attributes: { sinceS: settings.idleS, ...keptBack(news) },
    });
  if (news?.kind === 'end')
    told.push({ name: 'MOTION_IDLE_END', atMs: news.endMs, attributes: lasted(news) });
  if (!episode.isOn) isExcessTold = false;
  const idleMs = episode.isOn && episode.sinceMs !== null ? nowMs - episode.sinceMs : 0;
  const isExcess = settings.idleExcessS > 0 && holds === true && idleMs >= settings.idleExcessS * 1000;
  if (isExcess && !isExcessTold) {
    told.push({ name: 'MOTION_EXCESS_IDLE', atMs: nowMs, attributes: { idleS: Math.round(idleMs / 1000) } });
    isExcessTold = true;
  }
  return { state: { episode, isExcessTold }, told };
}
