// The tank as a pure machine: raw samples of its level and what the vehicle does go in, refill, theft, low and sender faults
// come out. It must never take slosh, a slope, consumption or a sender without current for theft: when in doubt it is silent.
//
// While standing, settled levels of the same place and ignition state are compared (`fuel-standstill.ts`); over a stop that
// nobody could watch, the drives before and after it (`fuel-trend.ts`). A sick sender is never judged (`fuel-sender.ts`).

import type { FuelSettings } from '../../../src/core/settings/fuel.ts';
import { fuelLimits } from './fuel-limits.ts';
import { judgeLow, tellLevel } from './fuel-report.ts';
import { noteJump, takeReading } from './fuel-sender.ts';
import { ageReferences, endStandstill, judgeStandstill } from './fuel-standstill.ts';
import { followDrive, markStop } from './fuel-trend.ts';
import type { FuelContext, FuelEvent, FuelInput, FuelSlot, FuelState, FuelWork } from './fuel-types.ts';
import { gather, median, spread, withLast } from './fuel-window.ts';

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
  const work: FuelWork = { draft: { ...state }, events: [], atMs, settings };
  passTime(work);
  followIgnition(work, input.context);
  followMotion(work, input.context);
  const { supplyV } = input.context;
  work.draft.supplyV = supplyV;
  const isFed = supplyV === null || supplyV >= fuelLimits.supplyLeastV;
  if (input.level !== 'unknown' && isFed) take(work, input.level);
  work.draft.lastMs = atMs;
  return { state: work.draft, level: work.draft.level, events: work.events };
}

function passTime(work: FuelWork): void {
  const { draft, atMs } = work;
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
  if (passedMs > fuelLimits.gapMs) {
    ageReferences(work);
    markStop(work);
  }
}

function followIgnition(work: FuelWork, context: FuelContext): void {
  const { draft, atMs } = work;
  const { ignition } = context;
  // Unknown is the board's silence for a while, or an input that is not fitted: what was known last counts.
  if (ignition === 'unknown' || ignition === draft.ignition) return;
  endStandstill(work);
  draft.ignition = ignition;
  draft.ignitionSinceMs = atMs;
  draft.blankUntilMs = atMs + fuelLimits.blankMs;
  if (ignition === 'off') markStop(work);
}

function followMotion(work: FuelWork, context: FuelContext): void {
  const { draft, atMs } = work;
  const isOff = draft.ignition === 'off';
  const motion = context.motion === 'unknown' && isOff ? 'standing' : context.motion;
  if (motion === 'standing') {
    draft.leaving = null;
    if (draft.phase === 'driving') enter(work, 'standing');
    const stoodMs = atMs - (draft.phaseSinceMs ?? atMs);
    const isStop = stoodMs >= fuelLimits.breakMs && draft.trend.length >= fuelLimits.afterLeastMinutes;
    if (isStop && draft.before === null) markStop(work);
    return;
  }
  if (draft.phase === 'driving') return;
  if (draft.leaving?.motion !== motion) draft.leaving = { motion, sinceMs: atMs };
  const mostMs =
    motion === 'unknown' ? fuelLimits.unknownMs : isOff ? fuelLimits.movingParkedMs : fuelLimits.movingMs;
  if (atMs - draft.leaving.sinceMs >= mostMs) enter(work, 'driving');
  else if (!isOff) draft.blankUntilMs = Math.max(draft.blankUntilMs, atMs + fuelLimits.blankMs);
}

function enter(work: FuelWork, phase: FuelState['phase']): void {
  const { draft, atMs } = work;
  endStandstill(work);
  draft.references = { on: null, off: null };
  draft.phase = phase;
  draft.phaseSinceMs = atMs;
  draft.leaving = null;
  draft.minute = [];
  if (phase === 'standing') draft.blankUntilMs = Math.max(draft.blankUntilMs, atMs + fuelLimits.blankMs);
}

function take(work: FuelWork, reading: number | null): void {
  const { draft, atMs } = work;
  const isNumber = reading !== null && Number.isFinite(reading);
  const level = isNumber ? Math.min(1, Math.max(0, reading)) : null;
  if (!takeReading(work, level) || level === null) return;
  const isBlank = atMs < draft.blankUntilMs || draft.leaving !== null;
  if (isBlank) {
    draft.raw = [];
    draft.slot = null;
    return;
  }
  if (draft.phase === 'standing' && noteJump(work, level)) return;
  const { slot, full } = gather(draft.slot, { atMs, level });
  draft.slot = slot;
  if (full !== null) takeSlot(work, full);
}

function takeSlot(work: FuelWork, slot: FuelSlot): void {
  const { draft } = work;
  if (draft.phase === 'driving') {
    if (draft.ignition !== 'off') followDrive(work, slot);
    return;
  }
  draft.slots = withLast(draft.slots, slot, fuelLimits.slots);
  judgeStandstill(work, slot);
  const settled = draft.slots.slice(-fuelLimits.slotsPerMinute).map(({ level }) => level);
  const isSettled =
    settled.length === fuelLimits.slotsPerMinute && spread(settled) <= fuelLimits.steadySpread;
  if (draft.isAsleep || !isSettled) return;
  const level = median(settled);
  tellLevel(work, level);
  // A slope moves the level of a standing vehicle; well below the limit it is low on any slope.
  if (draft.ignition !== 'off' && level < work.settings.lowFraction / 2) judgeLow(work, level);
}
