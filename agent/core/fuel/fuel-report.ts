// What a decided change does to the rest of the fuel machine: the event, and every level that was remembered moves with it,
// so that one theft is told once. Part of `fuel.ts`; it decides nothing.
import { fuelLimits } from './fuel-limits.ts';
import type { FuelDraft, FuelEvent, FuelReference, FuelWork } from './fuel-types.ts';

const clamp = (level: number): number => Math.min(1, Math.max(0, level));

type Change = Extract<FuelEvent, { kind: 'refill' | 'theft' }>;

/** Tells a refill or a theft, and moves all that was known of the tank by it. */
export function report(work: FuelWork, change: Change): void {
  const { draft, events, settings } = work;
  const by = change.after - change.before;
  const move = (level: number): number => clamp(level + by);
  const moved = (reference: FuelReference | null): FuelReference | null =>
    reference === null ? null : { ...reference, level: move(reference.level) };
  events.push(change);
  draft.references = { on: moved(draft.references.on), off: moved(draft.references.off) };
  draft.before = draft.before === null ? null : { ...draft.before, level: move(draft.before.level) };
  draft.trend = draft.trend.map(move);
  draft.after = draft.after.map(move);
  draft.recent = [];
  draft.minute = [];
  draft.level = change.after;
  draft.told = { level: change.after, atMs: work.atMs };
  if (change.after > settings.lowFraction + settings.lowHysteresis) draft.isLow = false;
}

/** Medians and samples of a phase that is over. */
export function forgetWindow(draft: FuelDraft): void {
  draft.raw = [];
  draft.slot = null;
  draft.slots = [];
}

/** The sender said things that were not about fuel: nothing of before can be compared. */
export function forgetLevels(draft: FuelDraft): void {
  forgetWindow(draft);
  draft.references = { on: null, off: null };
  draft.before = null;
  draft.trend = [];
  draft.after = [];
  draft.recent = [];
  draft.minute = [];
}

/** Low once, until it is well above again. */
export function judgeLow(work: FuelWork, level: number): void {
  const { draft, events, settings, atMs } = work;
  if (draft.isLow) {
    draft.isLow = level <= settings.lowFraction + settings.lowHysteresis;
  } else if (level < settings.lowFraction) {
    draft.isLow = true;
    events.push({ kind: 'low', atMs, level });
  }
}

/** The best known level, told when it changed enough and long enough ago. */
export function tellLevel(work: FuelWork, level: number): void {
  const { draft, events, settings, atMs } = work;
  draft.level = clamp(level);
  const { told } = draft;
  const isDue =
    told === null ||
    (Math.abs(level - told.level) >= settings.reportFraction && atMs - told.atMs >= settings.reportS * 1000);
  if (!isDue) return;
  draft.told = { level: draft.level, atMs };
  events.push({ kind: 'level', atMs, level: draft.level });
}

/** Most that the engine and the drift of a parked tank can have used since then. */
export function usedSince(
  work: FuelWork,
  then: { readonly atMs: number; readonly driveMs: number; readonly idleMs: number },
): number {
  const { draft, settings, atMs } = work;
  const hours = (ms: number): number => Math.max(0, ms) / 3_600_000;
  return (
    hours(draft.driveMs - then.driveMs) * settings.drivingPerHour +
    hours(draft.idleMs - then.idleMs) * settings.idlePerHour +
    hours(atMs - then.atMs) * fuelLimits.parkedPerHour
  );
}
