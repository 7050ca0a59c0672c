// Estimates if the engine runs, by its revolutions or, without an ignition wire, by the alternator's voltage.
// The estimate is for alarms: it never proves standstill to the interlock, where a turning engine only adds
// caution.

import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, quietEpisode, resumeEpisode, stepEpisode } from './episode.ts';

const engineLimits = {
  /** The alternator counts as resting this far below `chargingV`: a loaded one sags. */
  hysteresisV: 0.4,
  rpmStartS: 2,
  rpmStopS: 5,
  /** A 12 V system never stays above this; starting pulls a 24 V one below it for seconds only. */
  highV: 18,
  highMs: 5000,
  lowV: 16,
  lowMs: 3_600_000,
} as const;

export interface EngineState {
  readonly episode: Episode;
  /** Running, standing, or not known. */
  readonly isRunning: boolean | null;
  /** Last time with revolutions of a turning engine; null: never. */
  readonly turnedMs: number | null;
  /** Since when no source shows a running engine. */
  readonly restingSinceMs: number | null;
  readonly is24V: boolean;
  /** Since when the voltage speaks for the other system. */
  readonly otherSinceMs: number | null;
}

export function createEngine(given: { readonly wasRunning: boolean; readonly is24V: boolean }): EngineState {
  const episode = given.wasRunning ? resumeEpisode(true) : quietEpisode;
  return {
    episode,
    isRunning: null,
    turnedMs: null,
    restingSinceMs: null,
    is24V: given.is24V,
    otherSinceMs: null,
  };
}

/** 1 on a 12 V system, 2 on a 24 V one: what the voltages of the settings are multiplied by. */
export function voltageFactor(state: EngineState, systemV: number): 1 | 2 {
  if (systemV > 0) return systemV >= engineLimits.highV ? 2 : 1;
  return state.is24V ? 2 : 1;
}

function learnSystem(state: EngineState, input: AlarmInput): Pick<EngineState, 'is24V' | 'otherSinceMs'> {
  const { supplyV, nowMs } = input;
  const { highV, lowV, highMs, lowMs } = engineLimits;
  const isOther = supplyV !== null && (state.is24V ? supplyV < lowV && supplyV > 0 : supplyV > highV);
  if (!isOther) return { is24V: state.is24V, otherSinceMs: null };
  const otherSinceMs = state.otherSinceMs ?? nowMs;
  if (nowMs - otherSinceMs < (state.is24V ? lowMs : highMs)) return { is24V: state.is24V, otherSinceMs };
  return { is24V: !state.is24V, otherSinceMs: null };
}

/** The condition that the engine runs, and how long it must hold; null without a source. */
function judge(state: EngineState, input: AlarmInput): { holds: boolean | null; onS: number; offS: number } {
  const { rpm, supplyV, settings } = input;
  if (rpm !== null)
    return { holds: rpm >= settings.engineRpm, onS: engineLimits.rpmStartS, offS: engineLimits.rpmStopS };
  const restV = settings.chargingV - (state.episode.isOn ? engineLimits.hysteresisV : 0);
  const holds = supplyV === null ? null : supplyV >= restV * voltageFactor(state, settings.systemV);
  return { holds, onS: settings.chargingS, offS: settings.restingS };
}

/**
 * One step from revolutions and voltage. Reports ENGINE_START and ENGINE_STOP unless the ignition wire already
 * does.
 */
export function stepEngine(before: EngineState, input: AlarmInput): AlarmStep<EngineState> {
  const { nowMs, rpm, settings, ignition } = input;
  const system = { ...before, ...learnSystem(before, input) };
  const { holds, onS, offS } = judge(system, input);
  const { episode, change } = stepEpisode(system.episode, {
    atMs: nowMs,
    holds,
    onMs: onS * 1000,
    offMs: offS * 1000,
    repeatMs: 0,
    mayReport: rpm !== null || ignition.value === null,
  });
  const turnedMs = rpm !== null && rpm >= settings.engineRpm ? nowMs : before.turnedMs;
  const restingSinceMs = holds === false ? (before.restingSinceMs ?? nowMs) : null;
  // A voltage that was read only once does not show the engine's state yet.
  const isResting = restingSinceMs !== null && nowMs - restingSinceMs >= offS * 1000;
  const isRunning = holds === null ? null : episode.isOn ? true : isResting ? false : null;
  const state: EngineState = { ...system, episode, isRunning, turnedMs, restingSinceMs };
  if (change === null) return { state, reports: [] };
  const by = rpm === null ? 'voltage' : 'rpm';
  const report: AlarmReport =
    change.kind === 'begin'
      ? { name: 'ENGINE_START', atMs: change.sinceMs, attributes: { by, ...suppressedCount(change) } }
      : { name: 'ENGINE_STOP', atMs: change.endMs, attributes: { by, ...durationOf(change) } };
  return { state, reports: [report] };
}
