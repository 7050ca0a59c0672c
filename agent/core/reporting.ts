// Which positions are recorded: by time, distance, turn, corner and speed while moving, seldom while parked, more
// seldom still where sending costs, and never a doubtful one. Also the odometer, which counts only proven movement.
import { distanceM, headingDeg, type Point, turnDeg } from '../../src/core/geo/geo.ts';
import { metresFrom } from '../../src/core/geo/geo-edge.ts';
import type { ReportingSettings } from '../../src/core/settings/reporting.ts';
import type { Fix, FixDoubt } from './gnss/epochs.ts';
import { moves, type Pace, paceAfter, unknownPace } from './pace.ts';

/** What to save on: `roaming` is also the profile close to the data budget. */
export type ReportingProfile = 'home' | 'roaming' | 'low-battery';

export interface ReportingState {
  readonly lastReport: Fix | null;
  /** Whether it moved there; null: not known. */
  readonly wasMoving: boolean | null;
  readonly pace: Pace;
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
  return { lastReport: null, wasMoving: null, pace: unknownPace, trail: [], odometerM };
}

/** A receiver with a rolled-over week number still knows where it is; our own clock gives the time then. */
const harmless: readonly FixDoubt[] = ['date-before-build'];

/** True for a fix whose place can be used. */
export function isPlausible(fix: Fix): boolean {
  return fix.doubts.every((doubt) => harmless.includes(doubt));
}

/** A fix with what is known of the vehicle there, and the settings in force. */
interface ReportStep {
  readonly fix: Fix;
  readonly kmh: number | null;
  readonly isMoving: boolean | null;
  readonly settings: ReportingSettings;
  readonly profile: ReportingProfile;
}

interface LastReport {
  readonly last: Fix;
  readonly wasMoving: boolean | null;
}

function isDueAtHome({ last, wasMoving }: LastReport, step: ReportStep): boolean {
  const { fix, kmh, isMoving, settings } = step;
  const elapsedMs = fix.atMonoMs - last.atMonoMs;
  if (isMoving === null)
    return elapsedMs >= settings.stoppedS * 1000 || distanceM(last, fix) >= settings.distanceM;
  if (wasMoving !== null && isMoving !== wasMoving) return elapsedMs >= limits.changeMs;
  if (!isMoving) return elapsedMs >= settings.stoppedS * 1000;
  if (elapsedMs >= settings.movingS * 1000 || distanceM(last, fix) >= settings.distanceM) return true;
  // Two speeds that were stated: one that is not known has changed by nothing.
  const changedKmh =
    fix.speedKmh === null || last.speedKmh === null ? 0 : Math.abs(fix.speedKmh - last.speedKmh);
  if (settings.speedDeltaKmh > 0 && changedKmh >= settings.speedDeltaKmh && elapsedMs >= limits.speedMs)
    return true;
  const before = last.headingDeg ?? headingDeg(last, fix);
  return (
    fix.headingDeg !== null &&
    kmh !== null &&
    kmh > limits.turnKmh &&
    turnDeg(before, fix.headingDeg) >= settings.turnDeg
  );
}

/** Seldom profiles go by time alone. */
function isDue(last: LastReport, step: ReportStep): boolean {
  const { fix, isMoving, settings, profile } = step;
  if (profile === 'home') return isDueAtHome(last, step);
  const seldomS = isMoving === true ? settings.roamingMovingS : settings.roamingStoppedS;
  const everyS = profile === 'roaming' || isMoving === true ? seldomS : settings.lowBatteryS;
  return fix.atMonoMs - last.last.atMonoMs >= everyS * 1000;
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
function cornerOf({ lastReport, trail }: ReportingState, step: ReportStep): number | null {
  const { fix, isMoving } = step;
  const { cornerM } = step.settings;
  if (lastReport === null || cornerM === 0 || isMoving !== true) return null;
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
  const pace = paceAfter(state.pace, fix);
  const odometerM = state.odometerM + pace.wayM;
  const { kmh } = pace;
  const isMoving = kmh === null ? null : moves(kmh);
  const step: ReportStep = { ...by, fix, kmh, isMoving };
  const base = { pace, odometerM };
  const { lastReport, wasMoving } = state;
  if (lastReport === null)
    return { state: { ...base, lastReport: fix, wasMoving: isMoving, trail: [] }, reports: [fix] };
  const at = by.profile === 'home' ? cornerOf(state, step) : null;
  const corner = at === null ? null : (state.trail[at] ?? null);
  const last = corner === null ? { last: lastReport, wasMoving } : { last: corner, wasMoving: true };
  const corners = corner === null ? [] : [corner];
  if (isDue(last, step))
    return {
      state: { ...base, lastReport: fix, wasMoving: isMoving, trail: [] },
      reports: [...corners, fix],
    };
  const since = at === null ? state.trail : state.trail.slice(at + 1);
  // Standing still leaves no trail; a corner is of the way, not of the wandering of a parked receiver.
  const trail = isMoving === true ? withFix(since, fix) : since;
  const next = { ...base, lastReport: last.last, wasMoving: last.wasMoving ?? isMoving, trail };
  return { state: next, reports: corners };
}
