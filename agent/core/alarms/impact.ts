// The crash contact: reported at once, with the speed before and the positions of the last seconds, then each
// position of the seconds after. A contact that chatters is one impact. It must not wait for a debounce or a
// position.
import type { Fix } from '../gnss/epochs.ts';
import type { AlarmInput, AlarmReport, AlarmStep } from './alarm-types.ts';

const impactLimits = {
  /** Fixes kept from before the impact, at most one a second, and their maximum age. */
  ring: 10,
  ringMs: 10_500,
  spacingMs: 900,
  /** Positions after it are recorded this long. */
  afterMs: 10_000,
  /** A second contact within this belongs to the same impact. */
  sameMs: 60_000,
} as const;

export interface ImpactState {
  /** Plausible fixes with speed, oldest first. */
  readonly ring: readonly Fix[];
  readonly lastMs: number | null;
  readonly suppressed: number;
}

export const noImpact: ImpactState = { ring: [], lastMs: null, suppressed: 0 };

const around = (fix: Fix): AlarmReport => ({
  name: 'LOCATION',
  atMs: fix.atMonoMs,
  attributes: { impact: true },
  fix,
});

/** Keeps the fixes of the last seconds; after an impact each position is reported. */
export function recordImpactFix(before: ImpactState, input: AlarmInput): AlarmStep<ImpactState> {
  const { epoch, nowMs } = input;
  if (epoch?.kind !== 'fix') return { state: before, reports: [] };
  const { fix } = epoch;
  const last = before.ring.at(-1);
  if (last !== undefined && fix.atMonoMs - last.atMonoMs < impactLimits.spacingMs)
    return { state: before, reports: [] };
  const ring = [...before.ring, fix].slice(-impactLimits.ring);
  const isAfter = before.lastMs !== null && nowMs - before.lastMs <= impactLimits.afterMs;
  return { state: { ...before, ring }, reports: isAfter ? [around(fix)] : [] };
}

/** The contact closed at `atMs`. The impact first, then the way to it. */
export function handleImpact(before: ImpactState, input: AlarmInput, atMs: number): AlarmStep<ImpactState> {
  const { nowMs } = input;
  const isSame = before.lastMs !== null && nowMs - before.lastMs < impactLimits.sameMs;
  if (isSame) return { state: { ...before, suppressed: before.suppressed + 1 }, reports: [] };
  const ring = before.ring.filter((fix) => nowMs - fix.atMonoMs <= impactLimits.ringMs);
  const speeds = ring.flatMap(({ speedKmh }) => (speedKmh === null ? [] : [speedKmh]));
  const rounded = (kmh: number): number => Math.round(kmh * 10) / 10;
  const attributes = {
    ...(speeds.length === 0
      ? {}
      : { speedBeforeKmh: rounded(speeds.at(-1) ?? 0), maxBeforeKmh: rounded(Math.max(...speeds)) }),
    ...(before.suppressed > 0 ? { suppressed: before.suppressed } : {}),
  };
  return {
    state: { ring: before.ring, lastMs: nowMs, suppressed: 0 },
    reports: [{ name: 'IMPACT', atMs, attributes }, ...ring.map(around)],
  };
}
