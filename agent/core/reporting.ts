// Which positions are recorded: by time, distance, turn, corner and speed while moving, seldom while parked, more
// seldom still where sending costs, and never a doubtful one. Also the odometer, which counts only proven movement.
import { distanceM, headingDeg, type Point, turnDeg } from '../../src/core/geo/geo.ts';
import { metresFrom } from '../../src/core/geo/geo-edge.ts';
import type { ReportingSettings } from '../../src/core/settings/reporting.ts';
import { gnssLimits } from './evidence/gnss-standing.ts';
import type { Fix, FixDoubt } from './gnss/epochs.ts';

/** What to save on: `roaming` is also the profile close to the data budget. */
export type ReportingProfile = 'home' | 'roaming' | 'low-battery';

export interface ReportingState {
  readonly lastReport: Fix | null;
  /** Last plausible fix, for distance. */
  readonly lastFix: Fix | null;
  /** Fixes since the last report, oldest first, the candidates for a corner. */
  readonly trail: readonly Fix[];
  readonly odometerM: number;
}

const limits = {
  /** A receiver at 1 Hz and a report every minute; beyond it every second fix is let go. */
  trail: 64,
  /** Slower than this a heading is noise. */
  turnKmh: 10,
  /** Between two reports because of speed. */
  speedMs: 2000,
  /** Between a change of moving and standing and its report. */
  changeMs: 1000,
} as const;

export function createReporting(odometerM: number): ReportingState {
  return { lastReport: null, lastFix: null, trail: [], odometerM };
}

/** A receiver with a rolled-over week number still knows where it is; our own clock gives the time then. */
const harmless: readonly FixDoubt[] = ['date-before-build'];
/** Between fixes further apart than this the way is unknown; the odometer does not guess. */
const gapMs = 60_000;

/** True for a fix whose place can be used. */
export function isPlausible(fix: Fix): boolean {
  return fix.doubts.every((doubt) => harmless.includes(doubt));
}

const isMoving = (fix: Fix): boolean => (fix.speedKmh ?? 0) > gnssLimits.standstillKmh;

function travelledM(before: Fix | null, fix: Fix): number {
  if (before === null || fix.atMonoMs - before.atMonoMs > gapMs) return 0;
  return isMoving(fix) ? distanceM(before, fix) : 0;
}

function isDueAtHome(last: Fix, fix: Fix, settings: ReportingSettings): boolean {
  const elapsedMs = fix.atMonoMs - last.atMonoMs;
  if (isMoving(fix) !== isMoving(last)) return elapsedMs >= limits.changeMs;
  if (!isMoving(fix)) return elapsedMs >= settings.stoppedS * 1000;
  if (elapsedMs >= settings.movingS * 1000 || distanceM(last, fix) >= settings.distanceM) return true;
  const speedKmh = fix.speedKmh ?? 0;
  const changedKmh = Math.abs(speedKmh - (last.speedKmh ?? 0));
  if (settings.speedDeltaKmh > 0 && changedKmh >= settings.speedDeltaKmh && elapsedMs >= limits.speedMs)
    return true;
  const before = last.headingDeg ?? headingDeg(last, fix);
  return (
    fix.headingDeg !== null &&
    speedKmh > limits.turnKmh &&
    turnDeg(before, fix.headingDeg) >= settings.turnDeg
  );
}

/** Seldom profiles go by time alone. */
function isDue(last: Fix, fix: Fix, by: { settings: ReportingSettings; profile: ReportingProfile }): boolean {
  const { settings, profile } = by;
  if (profile === 'home') return isDueAtHome(last, fix, settings);
  const seldomS = isMoving(fix) ? settings.roamingMovingS : settings.roamingStoppedS;
  const everyS = profile === 'roaming' || isMoving(fix) ? seldomS : settings.lowBatteryS;
  return fix.atMonoMs - last.atMonoMs >= everyS * 1000;
}

/** How far a place is from the straight line between two others, metres. */
function offWayM(from: Point, to: Point, at: Point): number {
  const way = metresFrom(from, to);
  const here = metresFrom(from, at);
  const length = way.x ** 2 + way.y ** 2;
  const part = length === 0 ? 0 : Math.min(1, Math.max(0, (here.x * way.x + here.y * way.y) / length));
  return Math.hypot(here.x - part * way.x, here.y - part * way.y);
}

/** The fix of the trail that a straight line from the last report to here would miss most, if by more than `cornerM`. */
function cornerOf(state: ReportingState, fix: Fix, cornerM: number): number | null {
  const { lastReport, trail } = state;
  if (lastReport === null || cornerM === 0 || !isMoving(fix)) return null;
  let worst: number | null = null;
  let worstM = cornerM;
  for (const [index, at] of trail.entries()) {
    const awayM = offWayM(lastReport, fix, at);
    if (awayM <= worstM) continue;
    worst = index;
    worstM = awayM;
  }
  return worst;
}

/** A bounded trail: when it is full every second fix is let go, so that it reaches as far back as it did. */
function withFix(trail: readonly Fix[], fix: Fix): readonly Fix[] {
  const kept = trail.length < limits.trail ? trail : trail.filter((_, index) => index % 2 === 0);
  return [...kept, fix];
}

/**
 * Handles a plausible fix; returns the fixes to record, oldest first: none, the corner that was just left, this
 * one, or both.
 */
export function stepReporting(
  state: ReportingState,
  fix: Fix,
  by: { readonly settings: ReportingSettings; readonly profile: ReportingProfile },
): { readonly state: ReportingState; readonly reports: readonly Fix[] } {
  const odometerM = state.odometerM + travelledM(state.lastFix, fix);
  const base = { lastFix: fix, odometerM };
  const { lastReport } = state;
  if (lastReport === null) return { state: { ...base, lastReport: fix, trail: [] }, reports: [fix] };
  const at = by.profile === 'home' ? cornerOf(state, fix, by.settings.cornerM) : null;
  const corner = at === null ? null : (state.trail[at] ?? null);
  const last = corner ?? lastReport;
  const corners = corner === null ? [] : [corner];
  if (isDue(last, fix, by))
    return { state: { ...base, lastReport: fix, trail: [] }, reports: [...corners, fix] };
  const since = at === null ? state.trail : state.trail.slice(at + 1);
  // Standing still leaves no trail; a corner is of the way, not of the wandering of a parked receiver.
  const trail = isMoving(fix) ? withFix(since, fix) : since;
  return { state: { ...base, lastReport: last, trail }, reports: corners };
}
