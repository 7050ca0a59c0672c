// The engine runs while the vehicle stands: idling, and excess idling after a longer time. Revolutions decide where
// they are read; else the ignition wire, else the alternator. An unknown speed or engine state never begins an
// episode.

import { gnssLimits } from '../evidence/gnss-standing.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, quietEpisode, resumeEpisode, stepEpisode } from './episode.ts';
import { type MotionState, speedNow } from './motion.ts';

/** Idling ends this long after the engine was switched off or the vehicle moved. */
const endMs = 5000;

export interface IdlingState {
  readonly episode: Episode;
  readonly isExcessReported: boolean;
}

export function createIdling(was: { readonly idling: boolean; readonly excess: boolean }): IdlingState {
  return { episode: was.idling ? resumeEpisode(true) : quietEpisode, isExcessReported: was.excess };
}

/** True while the engine is on, as well as it is known. */
function isEngineOn(input: AlarmInput, isRunning: boolean | null): boolean | null {
  if (input.rpm !== null) return isRunning;
  return input.ignition.value ?? isRunning;
}

/** One step; runs after engine and motion. */
export function stepIdling(
  before: IdlingState,
  input: AlarmInput,
  known: { readonly isRunning: boolean | null; readonly motion: MotionState },
): AlarmStep<IdlingState> {
  const { settings, nowMs } = input;
  const engineOn = isEngineOn(input, known.isRunning);
  const speedKmh = speedNow(known.motion, nowMs);
  const mostKmh = before.episode.isOn ? settings.motionStartKmh : gnssLimits.standstillKmh;
  const stands = speedKmh === null ? null : speedKmh <= mostKmh;
  const isWanted = settings.idleS > 0;
  const isOver = engineOn === false || stands === false || !isWanted;
  const holds = isOver ? false : engineOn === null || stands === null ? null : true;
  const { episode, change } = stepEpisode(before.episode, {
    atMs: nowMs,
    holds,
    onMs: settings.idleS * 1000,
    offMs: endMs,
    repeatMs: 0,
  });
  const reports: AlarmReport[] = [];
  let { isExcessReported } = before;
  if (change?.kind === 'begin')
    reports.push({
      name: 'MOTION_IDLE',
      atMs: nowMs,
      attributes: { sinceS: settings.idleS, ...suppressedCount(change) },
    });
  if (change?.kind === 'end')
    reports.push({ name: 'MOTION_IDLE_END', atMs: change.endMs, attributes: durationOf(change) });
  if (!episode.isOn) isExcessReported = false;
  const idleMs = episode.isOn && episode.sinceMs !== null ? nowMs - episode.sinceMs : 0;
  const isExcess = settings.idleExcessS > 0 && holds === true && idleMs >= settings.idleExcessS * 1000;
  if (isExcess && !isExcessReported) {
    reports.push({
      name: 'MOTION_EXCESS_IDLE',
      atMs: nowMs,
      attributes: { idleS: Math.round(idleMs / 1000) },
    });
    isExcessReported = true;
  }
  return { state: { episode, isExcessReported }, reports };
}
