// The cargo door where it must not be open: while the cargo lock is locked, or while the vehicle moves. Ignition off
// alone is no breach, because that is how cargo is unloaded. An unknown lock, door or speed raises no alarm.

import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type MotionState, speedNow } from './motion.ts';

/** The read-back of a lock is a few seconds old: an unlock in progress must not count as a breach. */
const lockedMs = 12_000;

export interface CargoState {
  readonly forced: Episode;
  readonly driving: Episode;
}

export function createCargo(was: { readonly forced: boolean; readonly driving: boolean }): CargoState {
  return { forced: resumeEpisode(was.forced), driving: resumeEpisode(was.driving) };
}

interface Breach {
  readonly reason: string;
  readonly holds: boolean | null;
  readonly onMs: number;
}

function stepBreach(before: Episode, input: AlarmInput, breach: Breach): AlarmStep<Episode> {
  const { episode, change } = stepEpisode(before, {
    atMs: input.nowMs,
    holds: breach.holds,
    onMs: breach.onMs,
    offMs: 2000,
    repeatMs: input.settings.repeatS * 1000,
  });
  if (change === null) return { state: episode, reports: [] };
  const { reason } = breach;
  const report: AlarmReport =
    change.kind === 'begin'
      ? { name: 'BREACH_ON', atMs: input.nowMs, attributes: { reason, ...suppressedCount(change) } }
      : { name: 'BREACH_OFF', atMs: input.nowMs, attributes: { reason, ...durationOf(change) } };
  return { state: episode, reports: [report] };
}

/** `one` and `other`; null where the result depends on an unknown operand. */
function both(one: boolean | null, other: boolean | null): boolean | null {
  if (one === false || other === false) return false;
  return one === null || other === null ? null : true;
}

/** One step; runs after motion. */
export function stepCargo(before: CargoState, input: AlarmInput, motion: MotionState): AlarmStep<CargoState> {
  const { settings, cargoDoor, isCargoLocked, nowMs } = input;
  const speedKmh = speedNow(motion, nowMs);
  const forced = stepBreach(before.forced, input, {
    reason: 'open while locked',
    holds: settings.breachLocked ? both(cargoDoor, isCargoLocked) : false,
    onMs: lockedMs,
  });
  const driving = stepBreach(before.driving, input, {
    reason: 'open while moving',
    holds: both(cargoDoor, speedKmh === null ? null : speedKmh >= settings.motionStartKmh),
    onMs: settings.breachS * 1000,
  });
  return {
    state: { forced: forced.state, driving: driving.state },
    reports: [...forced.reports, ...driving.reports],
  };
}
