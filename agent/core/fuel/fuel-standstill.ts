// Refill and theft as they happen, while the vehicle stands: settled levels of one place and one ignition state compared
// with each other. It must never compare across places with less than `elsewhere`, nor judge a sender that is asleep.

import { fuelLimits } from './fuel-limits.ts';
import { forgetWindow, report } from './fuel-report.ts';
import type { FuelReference, FuelSlot, FuelWork } from './fuel-types.ts';
import { isAtEnd, median, spread } from './fuel-window.ts';

interface Window {
  readonly high: number;
  readonly low: number;
  readonly middle: number;
  /** Median of the last three: where it is now while it still changes. */
  readonly latest: number;
  readonly isSteady: boolean;
  /** Steady enough that nothing is taken out or poured in at this moment. */
  readonly isAtRest: boolean;
  /** The same of the last three. */
  readonly isEnding: boolean;
}

/** The medians of the settle time; null until there are enough. */
function windowOf(work: FuelWork): Window | null {
  const { settings } = work;
  const count = Math.max(3, Math.round((settings.settleS * 1000) / fuelLimits.slotMs));
  const slots = work.draft.slots.slice(-count);
  const levels = slots.map((slot) => slot.level);
  if (slots.length < count) return null;
  return {
    high: Math.max(...levels),
    low: Math.min(...levels),
    middle: median(levels),
    latest: median(levels.slice(-3)),
    isSteady: spread(levels) <= fuelLimits.steadySpread,
    isAtRest: spread(levels) <= fuelLimits.restSpread,
    isEnding: spread(levels.slice(-3)) <= fuelLimits.restSpread,
  };
}

const keyOf = (work: FuelWork): 'on' | 'off' => (work.draft.ignition === 'off' ? 'off' : 'on');

/** How far the level may be from the reference in a direction without being news. */
function toleranceOf(work: FuelWork, reference: FuelReference, direction: 'rise' | 'drop'): number {
  const { draft, settings, atMs } = work;
  const least = direction === 'drop' ? settings.theftFraction : settings.refillFraction;
  const own = reference.isOld
    ? Math.max(least, fuelLimits.elsewhere)
    : least + (keyOf(work) === 'on' ? fuelLimits.idleMargin : 0);
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
export function judgeStandstill(work: FuelWork, slot: FuelSlot): void {
  const { draft } = work;
  const window = draft.isAsleep ? null : windowOf(work);
  if (window === null) return;
  const key = keyOf(work);
  const reference = draft.references[key];
  if (reference === null || reference.isOld) return settle(work, reference, window);
  const near = 0.4 * work.settings.theftFraction;
  if (Math.abs(window.latest - reference.level) <= near) {
    draft.references = { ...draft.references, [key]: { ...reference, nearAtMs: slot.atMs } };
  }
  if (window.high <= reference.level - toleranceOf(work, reference, 'drop')) {
    return tellDrop(work, reference, window);
  }
  if (window.low >= reference.level + toleranceOf(work, reference, 'rise')) {
    if (window.isSteady) tellChange(work, reference, { kind: 'refill', after: window.middle });
    return;
  }
  const { draining } = draft;
  if (draining === null) return;
  const isOver = window.isAtRest || (window.isSteady && work.atMs - draining.toldAtMs >= fuelLimits.againMs);
  if (isOver) endDraining(work, reference, window.middle);
}

/** The first settled level of a standstill in this ignition state. */
function settle(work: FuelWork, old: FuelReference | null, window: Window): void {
  const { draft, atMs } = work;
  const key = keyOf(work);
  if (window.high - window.low > fuelLimits.settledSpread) return;
  if (key === 'off' && isSleeping(work, old, window.middle)) {
    draft.isAsleep = true;
    return;
  }
  if (old !== null) {
    if (window.high <= old.level - toleranceOf(work, old, 'drop')) {
      return tellChange(work, old, { kind: 'theft', after: window.middle });
    }
    if (window.low >= old.level + toleranceOf(work, old, 'rise')) {
      return tellChange(work, old, { kind: 'refill', after: window.middle });
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

/** True when what is read with the ignition off has nothing to do with what was read before: the sender is fed by it. */
function isSleeping(work: FuelWork, old: FuelReference | null, level: number): boolean {
  const { references, recent, before } = work.draft;
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
 * A drop is told when it has lasted for the settle time and ends, or for twice that; one that goes on is told again after a
 * while and at its end.
 */
function tellDrop(work: FuelWork, reference: FuelReference, window: Window): void {
  const { draft, settings, atMs } = work;
  const { draining } = draft;
  const isDue =
    draining === null
      ? window.isEnding || atMs - reference.nearAtMs >= 2 * settings.settleS * 1000
      : window.isAtRest || atMs - draining.toldAtMs >= fuelLimits.againMs;
  if (!isDue) return;
  const after = window.isAtRest ? window.middle : window.latest;
  tellChange(work, reference, { kind: 'theft', after });
  draft.draining = window.isAtRest ? null : { toldAtMs: atMs };
}

function endDraining(work: FuelWork, reference: FuelReference, after: number): void {
  if (reference.level - after >= fuelLimits.restFraction) {
    tellChange(work, reference, { kind: 'theft', after });
  }
  work.draft.draining = null;
}

function tellChange(
  work: FuelWork,
  reference: FuelReference,
  change: { readonly kind: 'refill' | 'theft'; readonly after: number },
): void {
  const { draft, atMs } = work;
  const key = keyOf(work);
  // Nobody saw what happened while the unit was off or, with a sender fed by it, the ignition.
  const isUnseen = reference.isOld || reference.nearAtMs < draft.ignitionSinceMs;
  report(work, {
    ...change,
    beganAtMs: reference.nearAtMs,
    atMs: changeEndMs(work, change),
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
function changeEndMs(work: FuelWork, change: { readonly after: number }): number {
  let endMs = work.atMs;
  for (const slot of work.draft.slots.toReversed()) {
    if (Math.abs(slot.level - change.after) > fuelLimits.steadySpread) break;
    endMs = slot.atMs;
  }
  return endMs;
}

/** The standstill or its ignition state ends: a refill that lasted long enough is told even if it had not settled. */
export function endStandstill(work: FuelWork): void {
  const { draft } = work;
  const window = draft.phase === 'standing' && !draft.isAsleep ? windowOf(work) : null;
  const reference = draft.references[keyOf(work)];
  if (window !== null && reference !== null && !reference.isOld && draft.sender.fault === null) {
    const isRise = window.low >= reference.level + toleranceOf(work, reference, 'rise');
    if (isRise) tellChange(work, reference, { kind: 'refill', after: window.latest });
    else if (draft.draining !== null) endDraining(work, reference, window.latest);
  }
  draft.draining = null;
  draft.isAsleep = false;
  forgetWindow(draft);
}

/** After a restart, a long silence or a sender that was away: what was settled before counts as from another place. */
export function ageReferences(work: FuelWork): void {
  const { on, off } = work.draft.references;
  work.draft.references = {
    on: on === null ? null : { ...on, isOld: true },
    off: off === null ? null : { ...off, isOld: true },
  };
  work.draft.draining = null;
  forgetWindow(work.draft);
}
