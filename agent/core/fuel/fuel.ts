// The tank as a pure machine: raw samples of its level and the vehicle's state in; refill, theft, low and sender
// faults out. Slosh, a slope, consumption or an unpowered sender must never count as theft: in doubt it reports
// nothing. While standing, settled levels of the same place and ignition state are compared (`fuel-standstill.ts`);
// over a stop without a settled level, the drives before and after it (`fuel-trend.ts`). Hills tilt the level, so a stop
// that was watched is hardly compared with a drive. The step of the sender is learned from what it shows. A faulty sender is never evaluated
// (`fuel-sender.ts`).

import type { FuelSettings } from '../../../src/core/settings/fuel.ts';
import { fuelLimits } from './fuel-limits.ts';
import { reportLevel, updateLowState } from './fuel-report.ts';
import { handleReading, recordJump, recordLevel } from './fuel-sender.ts';
import { ageReferences, endStandstill, judgeStandstill } from './fuel-standstill.ts';
import { followDrive, markStop, markWatched } from './fuel-trend.ts';
import type {
  FuelContext,
  FuelEvent,
  FuelInput,
  FuelSlot,
  FuelState,
  FuelStepContext,
} from './fuel-types.ts';
import { gather, isWithin, median, withLast } from './fuel-window.ts';

/**
 * One sample, or one change of the context. `level` is the best known fraction of the tank, null while none is known.
 * Call it with every answer of the board (about 1 Hz) and, with level `unknown`, when ignition or motion change.
 */
export function stepFuel(
  state: FuelState,
  input: FuelInput,
  settings: FuelSettings,
): { readonly state: FuelState; readonly level: number | null; readonly events: readonly FuelEvent[] } {
  if (!settings.enabled) return { state, level: null, events: [] };
  const atMs = Math.max(input.atMs, state.lastMs ?? input.atMs);
  const step: FuelStepContext = { draft: { ...state }, events: [], atMs, settings };
  passTime(step);
  followIgnition(step, input.context);
  followMotion(step, input.context);
  const { supplyV } = input.context;
  step.draft.supplyV = supplyV;
  const isFed = supplyV === null || supplyV >= fuelLimits.supplyLeastV;
  if (input.level !== 'unknown' && isFed) take(step, input.level);
  step.draft.lastMs = atMs;
  return { state: step.draft, level: step.draft.level, events: step.events };
}

function passTime(step: FuelStepContext): void {
  const { draft, atMs } = step;
  if (draft.lastMs === null) {
    draft.phaseSinceMs = atMs;
    draft.blankUntilMs = atMs + fuelLimits.blankMs;
    return;
  }
  const passedMs = atMs - draft.lastMs;
  if (draft.ignition !== 'off') {
    if (draft.phase === 'driving') draft.driveMs += passedMs;
    else draft.idleMs += passedMs;
  }
  if (passedMs > fuelLimits.gapMs) ageReferences(step);
  const mostMs = fuelLimits.blankMs + fuelLimits.unseenSettles * step.settings.settleS * 1000;
  const unseenMs = atMs - (draft.seenMs ?? atMs);
  if (unseenMs > mostMs && unseenMs - passedMs <= mostMs) markStop(step);
}

function followIgnition(step: FuelStepContext, context: FuelContext): void {
  const { draft, atMs } = step;
  const { ignition } = context;
  // Unknown is the board's silence for a while, or an input that is not fitted: what was known last counts.
  if (ignition === 'unknown' || ignition === draft.ignition) return;
  endStandstill(step);
  draft.ignition = ignition;
  draft.ignitionSinceMs = atMs;
  draft.blankUntilMs = atMs + fuelLimits.blankMs;
}

function followMotion(step: FuelStepContext, context: FuelContext): void {
  const { draft, atMs } = step;
  const isOff = draft.ignition === 'off';
  const motion = context.motion === 'unknown' && isOff ? 'standing' : context.motion;
  if (motion === 'standing') {
    draft.leaving = null;
    if (draft.phase === 'driving') enter(step, 'standing');
    return;
  }
  if (draft.phase === 'driving') return;
  // It creeps: the slope is another one with each metre.
  if (motion === 'moving' && !isOff && draft.leaving?.motion !== 'moving') ageReferences(step);
  if (draft.leaving?.motion !== motion) draft.leaving = { motion, sinceMs: atMs };
  const mostMs =
    motion === 'unknown' ? fuelLimits.unknownMs : isOff ? fuelLimits.movingParkedMs : fuelLimits.movingMs;
  if (atMs - draft.leaving.sinceMs >= mostMs) enter(step, 'driving');
  else if (!isOff) draft.blankUntilMs = Math.max(draft.blankUntilMs, atMs + fuelLimits.blankMs);
}

function enter(step: FuelStepContext, phase: FuelState['phase']): void {
  const { draft, atMs } = step;
  endStandstill(step);
  if (phase === 'driving') markWatched(step);
  draft.references = { on: null, off: null };
  draft.settled = null;
  draft.phase = phase;
  draft.phaseSinceMs = atMs;
  draft.leaving = null;
  draft.minute = [];
  if (phase === 'standing') draft.blankUntilMs = Math.max(draft.blankUntilMs, atMs + fuelLimits.blankMs);
}

function take(step: FuelStepContext, reading: number | null): void {
  const { draft, atMs } = step;
  const isNumber = reading !== null && Number.isFinite(reading);
  const level = isNumber ? Math.min(1, Math.max(0, reading)) : null;
  if (!handleReading(step, level) || level === null) return;
  const isBlank = atMs < draft.blankUntilMs || draft.leaving !== null;
  if (isBlank) {
    draft.raw = [];
    draft.slot = null;
    return;
  }
  if (draft.phase === 'standing' && recordJump(step, level)) return;
  const { slot, full } = gather(draft.slot, { atMs, level });
  draft.slot = slot;
  if (full !== null) handleSlot(step, full);
}

function handleSlot(step: FuelStepContext, slot: FuelSlot): void {
  const { draft } = step;
  recordLevel(step, slot);
  if (draft.phase === 'driving') {
    if (draft.ignition !== 'off') followDrive(step, slot);
    return;
  }
  draft.slots = withLast(draft.slots, slot, fuelLimits.slots);
  judgeStandstill(step, slot);
  const settled = draft.slots.slice(-fuelLimits.slotsPerMinute).map(({ level }) => level);
  const isSettled =
    settled.length === fuelLimits.slotsPerMinute && isWithin(settled, fuelLimits.steadySpread);
  if (draft.isAsleep || !isSettled) return;
  const level = median(settled);
  reportLevel(step, level);
  // A slope moves the level of a standing vehicle; well below the limit it is low on any slope.
  if (draft.ignition !== 'off' && level < step.settings.lowFraction / 2) updateLowState(step, level);
}
