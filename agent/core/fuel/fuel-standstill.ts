// Refill and theft as they happen, while the vehicle stands: settled levels of one place and one ignition state are
// compared. Across places a difference below `elsewhere` never counts, and an unpowered sender is never evaluated.

import { fuelLimits } from './fuel-limits.ts';
import { clearLevels, clearWindow, report } from './fuel-report.ts';
import type { FuelReference, FuelSlot, FuelStepContext } from './fuel-types.ts';
import { isAtEnd, isWithin, leastChange, leastElsewhere, median, reaches, stepOf } from './fuel-window.ts';

interface Window {
  readonly high: number;
  readonly low: number;
  readonly middle: number;
  /** Median of the last three: where it is now while it still changes. */
  readonly latest: number;
  readonly isSteady: boolean;
  /** ... and quiet enough for a level to compare with: a coarse sender flips between two steps. */
  readonly isSettled: boolean;
  /** Steady enough that no fuel is taken out or poured in at this moment. */
  readonly isAtRest: boolean;
  /** The same of the last three. */
  readonly isEnding: boolean;
}

/** The medians of the settle time; null until there are enough. */
function windowOf(step: FuelStepContext): Window | null {
  const { settings } = step;
  const count = Math.max(3, Math.round((settings.settleS * 1000) / fuelLimits.slotMs));
  const slots = step.draft.slots.slice(-count);
  const levels = slots.map((slot) => slot.level);
  if (slots.length < count) return null;
  return {
    high: Math.max(...levels),
    low: Math.min(...levels),
    middle: median(levels),
    latest: median(levels.slice(-3)),
    isSteady: isWithin(levels, Math.max(fuelLimits.steadySpread, stepOf(step.draft))),
    isSettled: isWithin(levels, Math.max(fuelLimits.settledSpread, stepOf(step.draft))),
    isAtRest: isWithin(levels, fuelLimits.restSpread),
    isEnding: isWithin(levels.slice(-3), fuelLimits.restSpread),
  };
}

const keyOf = (step: FuelStepContext): 'on' | 'off' => (step.draft.ignition === 'off' ? 'off' : 'on');

/** Tolerance between level and reference in a direction, below which there is no change. */
function toleranceOf(step: FuelStepContext, reference: FuelReference, direction: 'rise' | 'drop'): number {
  const { draft, settings, atMs } = step;
  const least = leastChange(draft, direction === 'drop' ? settings.theftFraction : settings.refillFraction);
  const own = reference.isOld
    ? Math.max(least, leastElsewhere(draft))
    : least + (keyOf(step) === 'on' ? fuelLimits.idleMargin : 0);
  const { supplyV } = reference;
  const sagging =
    supplyV === null || draft.supplyV === null || supplyV <= 0
      ? 0
      : ((direction === 'drop' ? 1 : -1) * (supplyV - draft.supplyV)) / supplyV;
  const supply = Math.min(fuelLimits.supplyMargin, Math.max(0, sagging * reference.level));
  if (direction === 'rise') return own + supply;
  const idleHours = (draft.idleMs - reference.idleMs) / 3_600_000;
  const hours = (atMs - reference.atMs) / 3_600_000;
  return own + supply + idleHours * settings.idlePerHour + hours * fuelLimits.parkedPerHour;
}

/** A new median while standing. */
export function judgeStandstill(step: FuelStepContext, slot: FuelSlot): void {
  const { draft, atMs } = step;
  const window = draft.isAsleep ? null : windowOf(step);
  if (window === null) return;
  const key = keyOf(step);
  const reference = draft.references[key];
  if (reference === null || reference.isOld) return adoptReference(step, reference, window);
  draft.seenMs = atMs;
  draft.settled = reference.level;
  const near = 0.4 * step.settings.theftFraction;
  if (Math.abs(window.latest - reference.level) <= near) {
    draft.references = { ...draft.references, [key]: { ...reference, nearAtMs: slot.atMs } };
  }
  if (reaches(reference.level - window.high, toleranceOf(step, reference, 'drop'))) {
    return reportDrop(step, reference, window);
  }
  if (reaches(window.low - reference.level, toleranceOf(step, reference, 'rise'))) {
    if (window.isSteady) reportChange(step, reference, { kind: 'refill', after: window.middle });
    return;
  }
  const { draining } = draft;
  if (draining === null) return;
  const isOver =
    window.isAtRest || (window.isSteady && step.atMs - draining.reportedAtMs >= fuelLimits.againMs);
  if (isOver) endDraining(step, reference, window.middle);
}

/** The first settled level of a standstill in this ignition state. */
function adoptReference(step: FuelStepContext, old: FuelReference | null, window: Window): void {
  const { draft, atMs } = step;
  const key = keyOf(step);
  if (!window.isSettled) return;
  if (key === 'off' && isSleeping(step, old, window.middle)) {
    draft.isAsleep = true;
    return;
  }
  if (old !== null) {
    if (reaches(old.level - window.high, toleranceOf(step, old, 'drop'))) {
      return reportChange(step, old, { kind: 'theft', after: window.middle });
    }
    if (reaches(window.low - old.level, toleranceOf(step, old, 'rise'))) {
      return reportChange(step, old, { kind: 'refill', after: window.middle });
    }
  }
  const isSame = old !== null && Math.abs(old.level - window.middle) <= fuelLimits.steadySpread;
  const { idleMs, supplyV } = draft;
  const level = isSame ? old.level : window.middle;
  draft.references = {
    ...draft.references,
    [key]: { level, atMs, idleMs, supplyV, nearAtMs: atMs, isOld: false },
  };
}

/** True when readings with the ignition off are unrelated to earlier ones: the sender is fed by it. */
function isSleeping(step: FuelStepContext, old: FuelReference | null, level: number): boolean {
  const { references, recent, before } = step.draft;
  const here = references.on !== null && !references.on.isOld;
  const expected =
    references.on?.level ?? (recent.length > 0 ? median(recent) : (before?.level ?? old?.level ?? null));
  if (expected === null) return false;
  const change = Math.abs(level - expected);
  if (isAtEnd(level) && change > fuelLimits.settledSpread) return true;
  // A sender that was awake with the ignition off before the restart is awake now.
  return old === null && change > (here ? fuelLimits.settledSpread * 2 : fuelLimits.elsewhere);
}

/**
 * A drop is reported when it has lasted for the settle time and ends, or for twice that. A drop in progress is
 * reported again after `againMs` and at its end.
 */
function reportDrop(step: FuelStepContext, reference: FuelReference, window: Window): void {
  const { draft, settings, atMs } = step;
  const { draining } = draft;
  const isDue =
    draining === null
      ? window.isEnding || atMs - reference.nearAtMs >= 2 * settings.settleS * 1000
      : window.isAtRest || atMs - draining.reportedAtMs >= fuelLimits.againMs;
  if (!isDue) return;
  const after = window.isAtRest ? window.middle : window.latest;
  reportChange(step, reference, { kind: 'theft', after });
  draft.draining = window.isAtRest ? null : { reportedAtMs: atMs };
}

function endDraining(step: FuelStepContext, reference: FuelReference, after: number): void {
  if (reference.level - after >= fuelLimits.restFraction) {
    reportChange(step, reference, { kind: 'theft', after });
  }
  step.draft.draining = null;
}

function reportChange(
  step: FuelStepContext,
  reference: FuelReference,
  change: { readonly kind: 'refill' | 'theft'; readonly after: number },
): void {
  const { draft, atMs } = step;
  const key = keyOf(step);
  // The level was not observed while the unit was off or, with a sender fed by it, the ignition.
  const isUnseen = reference.isOld || reference.nearAtMs < draft.ignitionSinceMs;
  report(step, {
    ...change,
    beganAtMs: reference.nearAtMs,
    atMs: changeEndMs(step, change),
    before: reference.level,
    situation: isUnseen ? 'unseen' : key === 'off' ? 'parked' : 'idling',
  });
  const { idleMs, supplyV } = draft;
  const level = change.after;
  draft.references = {
    ...draft.references,
    [key]: { level, atMs, idleMs, supplyV, nearAtMs: atMs, isOld: false },
  };
}

/** The first of the last medians from which on the level was the one after the change. */
function changeEndMs(step: FuelStepContext, change: { readonly after: number }): number {
  let endMs = step.atMs;
  for (const slot of step.draft.slots.toReversed()) {
    if (Math.abs(slot.level - change.after) > fuelLimits.steadySpread) break;
    endMs = slot.atMs;
  }
  return endMs;
}

/**
 * The standstill or its ignition state ends: a refill that lasted long enough is reported even if it had not
 * settled.
 */
export function endStandstill(step: FuelStepContext): void {
  const { draft } = step;
  const window = draft.phase === 'standing' && !draft.isAsleep ? windowOf(step) : null;
  const reference = draft.references[keyOf(step)];
  if (window !== null && reference !== null && !reference.isOld && draft.sender.fault === null) {
    const isRise = reaches(window.low - reference.level, toleranceOf(step, reference, 'rise'));
    if (isRise) reportChange(step, reference, { kind: 'refill', after: window.latest });
    else if (draft.draining !== null) endDraining(step, reference, window.latest);
  }
  draft.draining = null;
  // With the ignition on no sender sleeps: what it showed was no fuel.
  if (draft.isAsleep && keyOf(step) === 'on') clearLevels(draft);
  draft.isAsleep = false;
  clearWindow(draft);
}

/** After a restart, a long silence or a sender that was away: what was settled before counts as from another place. */
export function ageReferences(step: FuelStepContext): void {
  const { on, off } = step.draft.references;
  step.draft.references = {
    on: on === null ? null : { ...on, isOld: true },
    off: off === null ? null : { ...off, isOld: true },
  };
  step.draft.draining = null;
  clearWindow(step.draft);
}
