// Faster than the vehicle's limit for some time, reported once an episode with its highest speed. Only plausible
// fixes with Doppler speed count: one wild fix or a lost position does not begin an episode.
import type { Fix } from '../gnss/epochs.ts';
import {
  type AlarmInput,
  type AlarmReport,
  type AlarmStep,
  durationOf,
  fixLifeMs,
  suppressedCount,
} from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';

/** An episode whose speed is unknown for this long ends as unknown. */
const unknownEndsMs = 120_000;

export interface SpeedingState {
  readonly episode: Episode;
  readonly lastMs: number | null;
  readonly firstFix: Fix | null;
  readonly maxKmh: number;
}

export function createSpeeding(was: boolean): SpeedingState {
  return { episode: resumeEpisode(was), lastMs: null, firstFix: null, maxKmh: 0 };
}

/** Advances the speeding episode by one input. */
export function stepSpeeding(before: SpeedingState, input: AlarmInput): AlarmStep<SpeedingState> {
  const { settings, epoch, nowMs } = input;
  const fix = epoch?.kind === 'fix' && epoch.fix.speedKmh !== null ? epoch.fix : null;
  const isStale = before.lastMs === null || nowMs - before.lastMs > fixLifeMs;
  const isNone = settings.speedingKmh === 0;
  // Between two fixes the speed is unchanged; after a gap it is unknown.
  if (fix === null && !isStale && !isNone) return { state: before, reports: [] };
  const speedKmh = fix?.speedKmh ?? null;
  const limitKmh = settings.speedingKmh + (before.episode.isOn ? 0 : settings.speedingToleranceKmh);
  const holds = isNone ? false : speedKmh === null ? null : speedKmh > limitKmh;
  const isGap = fix !== null && before.lastMs !== null && fix.atMonoMs - before.lastMs > fixLifeMs;
  const { episode, change } = stepEpisode(isGap ? { ...before.episode, turningMs: null } : before.episode, {
    atMs: fix?.atMonoMs ?? nowMs,
    holds,
    onMs: settings.speedingHoldS * 1000,
    offMs: isNone ? 0 : settings.speedingEndS * 1000,
    repeatMs: settings.repeatS * 1000,
    unknownEndsMs,
  });
  const isFaster = holds === true || before.episode.isOn;
  const maxKmh = isFaster ? Math.max(before.maxKmh, speedKmh ?? 0) : 0;
  const firstFix = holds === true ? (before.firstFix ?? fix) : episode.isOn ? before.firstFix : null;
  const state: SpeedingState = { episode, lastMs: fix?.atMonoMs ?? before.lastMs, maxKmh, firstFix };
  if (change === null) return { state, reports: [] };
  const facts = { limitKmh: settings.speedingKmh, maxKmh: Math.round(maxKmh) };
  const report: AlarmReport =
    change.kind === 'begin'
      ? {
          name: 'SPEEDING_BEGIN',
          atMs: change.sinceMs,
          attributes: { ...facts, ...suppressedCount(change) },
          fix: firstFix,
        }
      : {
          name: 'SPEEDING_END',
          atMs: change.endMs,
          attributes: {
            ...facts,
            ...durationOf(change),
            ...(change.isUnknown ? { reason: 'position lost' } : {}),
          },
        };
  return { state: episode.isOn ? state : { ...state, maxKmh: 0, firstFix: null }, reports: [report] };
}
