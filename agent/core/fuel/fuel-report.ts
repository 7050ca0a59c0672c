// Effects of a decided change on the rest of the fuel machine: it records the event and moves every remembered
// level, so one theft is reported once. Part of `fuel.ts`; decides nothing.
import { fuelLimits } from './fuel-limits.ts';
import type { FuelDraft, FuelEvent, FuelReference, FuelStepContext } from './fuel-types.ts';

const clamp = (level: number): number => Math.min(1, Math.max(0, level));

type Change = Extract<FuelEvent, { kind: 'refill' | 'theft' }>;

/** Reports a refill or a theft, and moves all remembered levels by it. */
export function report(step: FuelStepContext, change: Change): void {
  const { draft, events, settings } = step;
  const by = change.after - change.before;
  const move = (level: number): number => clamp(level + by);
  const moved = (reference: FuelReference | null): FuelReference | null =>
    reference === null ? null : { ...reference, level: move(reference.level) };
  events.push(change);
  draft.references = { on: moved(draft.references.on), off: moved(draft.references.off) };
  draft.before = draft.before === null ? null : { ...draft.before, level: move(draft.before.level) };
  draft.settled = draft.settled === null ? null : move(draft.settled);
  draft.trend = draft.trend.map(move);
  draft.after = draft.after.map(move);
  draft.recent = [];
  draft.minute = [];
  draft.level = change.after;
  draft.reported = { level: change.after, atMs: step.atMs };
  if (change.after > settings.lowFraction + settings.lowHysteresis) draft.isLow = false;
}

/** Medians and samples of a phase that is over. */
export function clearWindow(draft: FuelDraft): void {
  draft.raw = [];
  draft.slot = null;
  draft.slots = [];
  draft.at = null;
}

/** The sender showed values that were not fuel: no earlier level can be compared. */
export function clearLevels(draft: FuelDraft): void {
  clearWindow(draft);
  draft.references = { on: null, off: null };
  draft.before = null;
  draft.settled = null;
  draft.trend = [];
  draft.after = [];
  draft.recent = [];
  draft.minute = [];
}

/** Low once, until it is well above again. */
export function updateLowState(step: FuelStepContext, level: number): void {
  const { draft, events, settings, atMs } = step;
  if (draft.isLow) {
    draft.isLow = level <= settings.lowFraction + settings.lowHysteresis;
  } else if (level < settings.lowFraction) {
    draft.isLow = true;
    events.push({ kind: 'low', atMs, level });
  }
}

/** The best known level, reported when it changed enough and the last report is old enough. */
export function reportLevel(step: FuelStepContext, level: number): void {
  const { draft, events, settings, atMs } = step;
  draft.level = clamp(level);
  const { reported } = draft;
  const isDue =
    reported === null ||
    (Math.abs(level - reported.level) >= settings.reportFraction &&
      atMs - reported.atMs >= settings.reportS * 1000);
  if (!isDue) return;
  draft.reported = { level: draft.level, atMs };
  events.push({ kind: 'level', atMs, level: draft.level });
}

/** Most that the engine and the drift of a parked tank can have used since then. */
export function usedSince(
  step: FuelStepContext,
  then: { readonly atMs: number; readonly driveMs: number; readonly idleMs: number },
): number {
  const { draft, settings, atMs } = step;
  const hours = (ms: number): number => Math.max(0, ms) / 3_600_000;
  return (
    hours(draft.driveMs - then.driveMs) * settings.drivingPerHour +
    hours(draft.idleMs - then.idleMs) * settings.idlePerHour +
    hours(atMs - then.atMs) * fuelLimits.parkedPerHour
  );
}
