// Detects a faulty level sender: out of its range, at an end of its scale after a jump, or unchanged for hours of
// driving. A sender that is only unpowered with the ignition off is no fault, and a faulty one must never raise an
// alarm about fuel.

import { fuelLimits } from './fuel-limits.ts';
import { clearLevels, clearWindow } from './fuel-report.ts';
import { ageReferences } from './fuel-standstill.ts';
import type { FuelFault, FuelSlot, FuelState, FuelStepContext } from './fuel-types.ts';
import {
  followSteps,
  isAtEnd,
  jumped,
  jumpSamples,
  leastChange,
  median,
  stepOf,
  withLast,
} from './fuel-window.ts';

type Run = { readonly sinceMs: number; readonly samples: number } | null;

const longer = (run: Run, atMs: number): { readonly sinceMs: number; readonly samples: number } =>
  run === null ? { sinceMs: atMs, samples: 1 } : { sinceMs: run.sinceMs, samples: run.samples + 1 };

function setFault(step: FuelStepContext, reason: FuelFault, sinceMs: number): void {
  const { draft, events } = step;
  draft.sender = {
    ...draft.sender,
    fault: reason,
    bad: null,
    good: null,
    pinnedSinceMs: null,
    pinnedMinutes: 0,
  };
  draft.level = null;
  if (reason === 'out of range') ageReferences(step);
  else clearLevels(draft);
  events.push({ kind: 'fault', atMs: sinceMs, reason });
}

/** One answer of the board. True when it may be used as a level. */
export function handleReading(step: FuelStepContext, level: number | null): boolean {
  const { draft, atMs } = step;
  const { lastReadMs } = draft.sender;
  const isLate = lastReadMs !== null && atMs - lastReadMs > fuelLimits.readGapMs;
  draft.sender = { ...draft.sender, lastReadMs: atMs, ...(isLate ? { bad: null, good: null } : {}) };
  if (draft.sender.fault !== null) return recover(step, draft.sender.fault, level);
  if (level === null) {
    recordBad(step);
    return false;
  }
  draft.sender = { ...draft.sender, bad: null };
  if (draft.sender.pinnedSinceMs === null) return true;
  if (isAtEnd(level)) {
    if (atMs - draft.sender.pinnedSinceMs >= fuelLimits.goodMs) {
      setFault(step, 'at the end of its scale', draft.sender.pinnedSinceMs);
    }
    return false;
  }
  draft.sender = { ...draft.sender, pinnedSinceMs: null };
  return true;
}

function recordBad(step: FuelStepContext): void {
  const { draft, atMs } = step;
  // A sender fed by the ignition has no reading without it, and needs some seconds with it.
  const isJudged = draft.ignition !== 'off' && atMs >= draft.blankUntilMs;
  const bad = isJudged ? longer(draft.sender.bad, atMs) : null;
  draft.sender = { ...draft.sender, bad };
  if (bad === null || bad.samples < fuelLimits.badSamples) return;
  if (atMs - bad.sinceMs >= fuelLimits.badMs) setFault(step, 'out of range', bad.sinceMs);
}

/** Good again when it reads well for a minute; always false: what it reads then is used afterwards. */
function recover(step: FuelStepContext, fault: FuelFault, level: number | null): false {
  const { draft, events, atMs } = step;
  const { still } = draft.sender;
  const isGood =
    level !== null &&
    (fault === 'out of range' ||
      (fault === 'stuck'
        ? still === null || Math.abs(level - still.level) > fuelLimits.stuckSpread
        : !isAtEnd(level)));
  const good = isGood ? longer(draft.sender.good, atMs) : null;
  draft.sender = { ...draft.sender, good };
  const isOver =
    good !== null && good.samples >= fuelLimits.badSamples && atMs - good.sinceMs >= fuelLimits.goodMs;
  if (!isOver) return false;
  draft.sender = { ...draft.sender, fault: null, good: null, still: null };
  clearWindow(draft);
  events.push({ kind: 'faultOver', atMs, reason: fault });
  return false;
}

/** A sample while standing. True when the level jumped as no liquid can: it must not be evaluated. */
export function recordJump(step: FuelStepContext, level: number): boolean {
  const { draft, atMs } = step;
  draft.raw = withLast(draft.raw, { atMs, level }, jumpSamples);
  const size = Math.abs(jumped(draft.raw));
  if (size === 0 || isStep(step, size, level)) return false;
  draft.jump = size;
  draft.draining = null;
  clearWindow(draft);
  if (draft.ignition !== 'off' && isAtEnd(level)) draft.sender = { ...draft.sender, pinnedSinceMs: atMs };
  // Fed for some minutes after the ignition, or no fuel: not evaluated for the rest of this standstill.
  else draft.isAsleep = true;
  return true;
}

/** A change by one step of the sender: by the one that is known, or as large as the jump before it. */
function isStep({ draft }: FuelStepContext, size: number, level: number): boolean {
  if (size <= leastChange(draft, 0)) return true;
  if (!isAgain(draft, size, level)) return false;
  draft.steps = withLast(draft.steps, size, fuelLimits.steps);
  draft.isAsleep = false;
  return true;
}

/** As large as the jump before it, and not to an end of the scale: no sender loses its supply twice. */
function isAgain({ jump }: FuelState, size: number, level: number): boolean {
  return !isAtEnd(level) && Math.abs(size - jump) <= jump / 4;
}

/** A new median: the steps of the sender are learned from it, but not while it is asleep. */
export function recordLevel({ draft }: FuelStepContext, slot: FuelSlot): void {
  const { at, steps } = followSteps(draft, slot);
  const size = steps === draft.steps ? 0 : (steps.at(-1) ?? 0);
  draft.at = at;
  if (draft.isAsleep && !(size > 0 && isAgain(draft, size, slot.level))) return;
  draft.isAsleep = false;
  draft.steps = steps;
}

/** A minute of driving. False when it is not a fuel level. */
export function recordMinute(step: FuelStepContext, level: number): boolean {
  const { draft, atMs } = step;
  const { still } = draft.sender;
  const known = draft.before?.level ?? (draft.trend.length > 0 ? median(draft.trend) : null);
  const least = leastChange(draft, fuelLimits.jump);
  const isFallen = level <= fuelLimits.emptyEnd && (known ?? 0) >= least;
  const isRisen = level >= fuelLimits.fullEnd && draft.before === null && (known ?? 1) <= 1 - least;
  if (isFallen || isRisen) {
    const pinnedMinutes = draft.sender.pinnedMinutes + 1;
    draft.sender = { ...draft.sender, pinnedMinutes };
    if (pinnedMinutes >= fuelLimits.pinnedMinutes) setFault(step, 'at the end of its scale', atMs);
    return false;
  }
  const isSame = still !== null && Math.abs(level - still.level) <= fuelLimits.stuckSpread;
  const minutes = isSame ? still.minutes + 1 : 0;
  draft.sender = {
    ...draft.sender,
    pinnedMinutes: 0,
    still: { level: isSame ? still.level : level, minutes },
  };
  // Many floats do not move in the top and the bottom of the tank, and coarse ones seldom.
  const mostMinutes = fuelLimits.stuckMinutes * Math.max(1, stepOf(draft) / fuelLimits.stuckStep);
  if (minutes < mostMinutes || level < 0.03 || level > 0.97) return true;
  setFault(step, 'stuck', atMs);
  return false;
}
