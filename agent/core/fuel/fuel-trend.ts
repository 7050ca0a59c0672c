// The slow level of a drive: medians of minutes. What a stop did that nobody saw (ignition-fed sender, unit off) is found by
// comparing the drive before with the drive after. It must never decide from single samples of a drive.

import { fuelLimits } from './fuel-limits.ts';
import { judgeLow, report, tellLevel, usedSince } from './fuel-report.ts';
import { noteMinute } from './fuel-sender.ts';
import type { FuelSlot, FuelWork } from './fuel-types.ts';
import { median, withLast } from './fuel-window.ts';

/** A new median while driving with the ignition not off. */
export function followDrive(work: FuelWork, slot: FuelSlot): void {
  const { draft } = work;
  draft.minute = [...draft.minute, slot.level];
  if (draft.minute.length < fuelLimits.slotsPerMinute) return;
  const level = median(draft.minute);
  draft.minute = [];
  if (!noteMinute(work, level)) return;
  draft.recent = withLast(draft.recent, level, fuelLimits.afterMinutes);
  if (draft.before === null) draft.trend = withLast(draft.trend, level, fuelLimits.trendMinutes);
  else draft.after = withLast(draft.after, level, fuelLimits.afterMinutes);
  if (draft.after.length >= fuelLimits.afterMinutes) compareDrives(work);
  if (draft.recent.length < fuelLimits.afterMinutes) return;
  const smooth = median(draft.recent);
  tellLevel(work, smooth);
  judgeLow(work, smooth);
}

/** A stop at which the tank may change: the level of the drive before it is kept for the drive after it. */
export function markStop(work: FuelWork): void {
  const { draft, atMs } = work;
  if (draft.before !== null) {
    if (draft.after.length >= fuelLimits.afterLeastMinutes) compareDrives(work);
    else {
      // Too short a drive between two stops: still the level before the first of them.
      draft.after = [];
      return;
    }
  }
  if (draft.trend.length < fuelLimits.afterLeastMinutes) return;
  const { idleMs } = draft;
  // The median stands for the middle of its minutes; what was burnt since is not stolen.
  const driveMs = draft.driveMs - draft.trend.length * 30_000;
  draft.before = { level: median(draft.trend), atMs, driveMs, idleMs };
  draft.trend = [];
}

function compareDrives(work: FuelWork): void {
  const { draft, settings, atMs } = work;
  const { before } = draft;
  if (before === null) return;
  const after = median(draft.after);
  const most = Math.max(settings.theftFraction, fuelLimits.elsewhere) + usedSince(work, before);
  const least = Math.max(settings.refillFraction, fuelLimits.elsewhere);
  const kind = before.level - after >= most ? 'theft' : after - before.level >= least ? 'refill' : null;
  draft.before = null;
  draft.trend = draft.after;
  draft.after = [];
  if (kind === null) return;
  const { trend, recent } = draft;
  report(work, { kind, beganAtMs: before.atMs, atMs, before: before.level, after, situation: 'unseen' });
  // These minutes were measured after the change.
  draft.trend = trend;
  draft.recent = recent;
}
