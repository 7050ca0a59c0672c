// The slow level of a drive: medians of minutes. A change during an unobserved stop (ignition-fed sender, unit off)
// is found by comparing the drive before with the drive after. Single samples of a drive never decide.

import { fuelLimits } from './fuel-limits.ts';
import { report, reportLevel, updateLowState, usedSince } from './fuel-report.ts';
import { recordMinute } from './fuel-sender.ts';
import type { FuelSlot, FuelStepContext } from './fuel-types.ts';
import { leastElsewhere, median, reaches, withLast } from './fuel-window.ts';

/** A new median while driving with the ignition not off. */
export function followDrive(step: FuelStepContext, slot: FuelSlot): void {
  const { draft, atMs } = step;
  draft.seenMs = atMs;
  draft.minute = [...draft.minute, slot.level];
  if (draft.minute.length < fuelLimits.slotsPerMinute) return;
  const level = median(draft.minute);
  draft.minute = [];
  if (!recordMinute(step, level)) return;
  draft.recent = withLast(draft.recent, level, fuelLimits.afterMinutes);
  if (draft.before === null) draft.trend = withLast(draft.trend, level, fuelLimits.trendMinutes);
  else draft.after = withLast(draft.after, level, fuelLimits.afterMinutes);
  if (draft.after.length >= fuelLimits.afterMinutes) compareDrives(step);
  if (draft.recent.length < fuelLimits.afterMinutes) return;
  const smooth = median(draft.recent);
  reportLevel(step, smooth);
  updateLowState(step, smooth);
}

/** A stop at which the tank may have changed unseen: the level of the drive before it is kept for the drive after it. */
export function markStop(step: FuelStepContext): void {
  const { draft, atMs } = step;
  if (draft.before !== null) {
    if (draft.after.length >= fuelLimits.afterLeastMinutes) compareDrives(step);
    else {
      // Too short a drive between two stops: still the level before the first of them.
      draft.after = [];
      draft.before = { ...draft.before, isSettled: false };
      return;
    }
  }
  if (draft.trend.length < fuelLimits.afterLeastMinutes) return;
  const { idleMs } = draft;
  // The median is the level in the middle of its minutes; fuel burnt since is not stolen.
  const driveMs = draft.driveMs - draft.trend.length * 30_000;
  draft.before = { isSettled: false, level: median(draft.trend), atMs, driveMs, idleMs };
  draft.trend = [];
}

/** A stop that was watched ends: the drive after it is compared with the level that had settled. */
export function markWatched({ draft, atMs }: FuelStepContext): void {
  const { settled, driveMs, idleMs } = draft;
  if (settled === null || draft.before !== null || draft.trend.length < fuelLimits.afterLeastMinutes) return;
  draft.before = { isSettled: true, level: settled, atMs, driveMs, idleMs };
  draft.trend = [];
}

function compareDrives(step: FuelStepContext): void {
  const { draft, settings, atMs } = step;
  const { before } = draft;
  if (before === null) return;
  const after = median(draft.after);
  const elsewhere = leastElsewhere(draft) * (before.isSettled ? fuelLimits.watched : 1);
  const most = Math.max(settings.theftFraction, elsewhere) + usedSince(step, before);
  const least = Math.max(settings.refillFraction, elsewhere);
  const isTheft = reaches(before.level - after, most);
  const kind = isTheft ? 'theft' : reaches(after - before.level, least) ? 'refill' : null;
  draft.before = null;
  draft.trend = draft.after;
  draft.after = [];
  if (kind === null) return;
  const { trend, recent } = draft;
  report(step, { kind, beganAtMs: before.atMs, atMs, before: before.level, after, situation: 'unseen' });
  // These minutes were measured after the change.
  draft.trend = trend;
  draft.recent = recent;
}
