// Faster than the vehicle's limit for some time, told once an episode with its highest speed. Only believable fixes with
// Doppler speed count: one wild fix or a lost position begins nothing.
import type { Fix } from '../gnss/epochs.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type AlarmStep, fixLifeMs, keptBack, lasted, type Scene, type Told } from './scene.ts';

/** An episode whose speed is not known for this long ends unknown. */
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

/** Takes in one step. */
export function stepSpeeding(before: SpeedingState, scene: Scene): AlarmStep<SpeedingState> {
  const { settings, epoch, nowMs } = scene;
  const fix = epoch?.kind === 'fix' && epoch.fix.speedKmh !== null ? epoch.fix : null;
  const isStale = before.lastMs === null || nowMs - before.lastMs > fixLifeMs;
  const isNone = settings.speedingKmh === 0;
  // Between two fixes nothing is new; once they stay away nothing is known.
  if (fix === null && !isStale && !isNone) return { state: before, told: [] };
  const speedKmh = fix?.speedKmh ?? null;
  const limitKmh = settings.speedingKmh + (before.episode.isOn ? 0 : settings.speedingToleranceKmh);
  const holds = isNone ? false : speedKmh === null ? null : speedKmh > limitKmh;
  const isGap = fix !== null && before.lastMs !== null && fix.atMonoMs - before.lastMs > fixLifeMs;
  const { episode, news } = stepEpisode(isGap ? { ...before.episode, turningMs: null } : before.episode, {
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
  if (news === null) return { state, told: [] };
  const facts = { limitKmh: settings.speedingKmh, maxKmh: Math.round(maxKmh) };
  const told: Told =
    news.kind === 'begin'
      ? {
          name: 'SPEEDING_BEGIN',
          atMs: news.sinceMs,
          attributes: { ...facts, ...keptBack(news) },
          fix: firstFix,
        }
      : {
          name: 'SPEEDING_END',
          atMs: news.endMs,
          attributes: { ...facts, ...lasted(news), ...(news.isUnknown ? { reason: 'position lost' } : {}) },
        };
  return { state: episode.isOn ? state : { ...state, maxKmh: 0, firstFix: null }, told: [told] };
}
