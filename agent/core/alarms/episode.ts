// One alarm over time: it begins when its condition has held long enough and ends when the opposite has, with a
// bounded rate of reports. An unknown condition neither begins nor ends it. A suppressed begin is reported as soon as
// the rate allows if the condition still holds, so an active alarm is never lost.

export interface Episode {
  readonly isOn: boolean;
  /** Monotonic; null = since before this start of the agent. */
  readonly sinceMs: number | null;
  /** Since when the opposite has held without a break. */
  readonly turningMs: number | null;
  /** Since when the condition is unknown. */
  readonly unknownMs: number | null;
  /** The begin of the active episode was reported. */
  readonly isReported: boolean;
  readonly reportedMs: number | null;
  /** Begins suppressed since the last reported one. */
  readonly suppressed: number;
}

export const quietEpisode: Episode = {
  isOn: false,
  sinceMs: null,
  turningMs: null,
  unknownMs: null,
  isReported: false,
  reportedMs: null,
  suppressed: 0,
};

/** The state when the agent stopped: what was reported then is not reported again. */
export function resumeEpisode(wasOn: boolean): Episode {
  return wasOn ? { ...quietEpisode, isOn: true, isReported: true } : quietEpisode;
}

export interface EpisodeInput {
  /** Monotonic time of the observation; never decreases. */
  readonly atMs: number;
  /** The condition, by the caller's own thresholds for begin and end; null = not known. */
  readonly holds: boolean | null;
  readonly onMs: number;
  readonly offMs: number;
  /** Least time between two reported begins. */
  readonly repeatMs: number;
  /** Not knowing for this long ends it; infinite when absent. */
  readonly unknownEndsMs?: number;
  /** False suppresses the begin without counting it: another source reports it. */
  readonly mayReport?: boolean;
}

export type EpisodeChange =
  /** `sinceMs`: when it began; null = before this start. */
  | { readonly kind: 'begin'; readonly sinceMs: number; readonly suppressed: number }
  | {
      readonly kind: 'end';
      readonly sinceMs: number | null;
      readonly endMs: number;
      readonly isUnknown: boolean;
    };

export interface EpisodeStep {
  readonly episode: Episode;
  readonly change: EpisodeChange | null;
}

/** Handles one observation. */
export function stepEpisode(before: Episode, input: EpisodeInput): EpisodeStep {
  const turned = turn(before, input);
  const { episode } = turned;
  if (!before.isOn && episode.isOn) return begin(episode, input, true);
  if (before.isOn && !episode.isOn) {
    const { isReported, sinceMs } = before;
    const change = { kind: 'end', sinceMs, endMs: turned.sinceMs, isUnknown: turned.isUnknown } as const;
    return { episode: { ...episode, isReported: false }, change: isReported ? change : null };
  }
  return episode.isOn && !episode.isReported ? begin(episode, input, false) : { episode, change: null };
}

interface Turned {
  readonly episode: Episode;
  readonly sinceMs: number;
  readonly isUnknown: boolean;
}

function turn(before: Episode, input: EpisodeInput): Turned {
  const { atMs, holds } = input;
  if (holds === null) {
    const unknownMs = before.unknownMs ?? atMs;
    const isOver = before.isOn && atMs - unknownMs >= (input.unknownEndsMs ?? Number.POSITIVE_INFINITY);
    const episode = { ...before, unknownMs, turningMs: null };
    if (!isOver) return { episode, sinceMs: atMs, isUnknown: false };
    return { episode: { ...episode, isOn: false, sinceMs: unknownMs }, sinceMs: unknownMs, isUnknown: true };
  }
  const known = before.unknownMs === null ? before : { ...before, unknownMs: null };
  if (holds === before.isOn) {
    const episode = known.turningMs === null ? known : { ...known, turningMs: null };
    return { episode, sinceMs: atMs, isUnknown: false };
  }
  const turningMs = known.turningMs ?? atMs;
  if (atMs - turningMs < (holds ? input.onMs : input.offMs))
    return { episode: { ...known, turningMs }, sinceMs: atMs, isUnknown: false };
  const episode = { ...known, isOn: holds, sinceMs: turningMs, turningMs: null };
  return { episode, sinceMs: turningMs, isUnknown: false };
}

function begin(episode: Episode, input: EpisodeInput, isFresh: boolean): EpisodeStep {
  const { atMs, repeatMs } = input;
  if (input.mayReport === false) return { episode: { ...episode, isReported: false }, change: null };
  if (episode.reportedMs !== null && atMs - episode.reportedMs < repeatMs) {
    const suppressed = Math.min(episode.suppressed + (isFresh ? 1 : 0), Number.MAX_SAFE_INTEGER);
    return { episode: { ...episode, isReported: false, suppressed }, change: null };
  }
  // A late report was counted when it was suppressed.
  const suppressed = Math.max(0, episode.suppressed - (isFresh ? 0 : 1));
  const sinceMs = episode.sinceMs ?? atMs;
  return {
    episode: { ...episode, isReported: true, reportedMs: atMs, suppressed: 0 },
    change: { kind: 'begin', sinceMs, suppressed },
  };
}
