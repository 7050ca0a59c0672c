// Which positions are worth a record: by time, distance and turn while moving, seldom while parked, and never one that
// is in doubt. Also the odometer, which counts only proven movement.
import { distanceM, headingDeg, turnDeg } from '../../src/core/geo.ts';
import type { ReportingSettings } from '../../src/core/settings/reporting.ts';
import type { Fix, FixDoubt } from './epochs.ts';
import { evidenceLimits } from './evidence.ts';

export interface ReportingState {
  readonly lastReport: Fix | null;
  /** Last believable fix, for distance. */
  readonly lastFix: Fix | null;
  readonly odometerM: number;
}

export function createReporting(odometerM: number): ReportingState {
  return { lastReport: null, lastFix: null, odometerM };
}

/** A receiver with a rolled-over week number still knows where it is; our own clock gives the time then. */
const harmless: readonly FixDoubt[] = ['date-before-build'];
/** Between fixes further apart than this the way is unknown; the odometer does not guess. */
const gapMs = 60_000;

/** True for a fix whose place can be believed. */
export function isBelievable(fix: Fix): boolean {
  return fix.doubts.every((doubt) => harmless.includes(doubt));
}

function travelledM(before: Fix | null, fix: Fix): number {
  if (before === null || fix.atMonoMs - before.atMonoMs > gapMs) return 0;
  const moves = (fix.speedKmh ?? 0) > evidenceLimits.standstillKmh;
  return moves ? distanceM(before, fix) : 0;
}

function isDue(last: Fix | null, fix: Fix, options: ReportingSettings): boolean {
  if (last === null) return true;
  const elapsedMs = fix.atMonoMs - last.atMonoMs;
  const isMoving = (fix.speedKmh ?? 0) > evidenceLimits.standstillKmh;
  const wasMoving = (last.speedKmh ?? 0) > evidenceLimits.standstillKmh;
  if (isMoving !== wasMoving) return elapsedMs >= 1000;
  if (!isMoving) return elapsedMs >= options.stoppedS * 1000;
  if (elapsedMs >= options.movingS * 1000 || distanceM(last, fix) >= options.distanceM) return true;
  const before = last.headingDeg ?? headingDeg(last, fix);
  return (
    fix.headingDeg !== null && (fix.speedKmh ?? 0) > 10 && turnDeg(before, fix.headingDeg) >= options.turnDeg
  );
}

/** Takes in a believable fix; says whether to record it. */
export function stepReporting(
  state: ReportingState,
  fix: Fix,
  options: ReportingSettings,
): { readonly state: ReportingState; readonly report: boolean } {
  const odometerM = state.odometerM + travelledM(state.lastFix, fix);
  const report = isDue(state.lastReport, fix, options);
  return { state: { lastReport: report ? fix : state.lastReport, lastFix: fix, odometerM }, report };
}
