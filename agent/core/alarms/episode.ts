// One alarm over time: it begins when its condition has held long enough, ends when the opposite has, and says so at a
// bounded rate. What is not known neither begins nor ends it. It must never lose that something is going on: a begin that
// was kept back is told as soon as the rate allows, if it still lasts.

export interface Episode {
  readonly isOn: boolean;
  /** Monotonic; null = since before this start of the agent. */
  readonly sinceMs: number | null;
  /** Since when the opposite has held without a break. */
  readonly turningMs: number | null;
  /** Since when nothing is known of the condition. */
  readonly unknownMs: number | null;
  /** The begin of what is on was told. */
  readonly isTold: boolean;
  readonly toldMs: number | null;
  /** Begins kept back since the last one that was told. */
  readonly suppressed: number;
}

export const quietEpisode: Episode = {
  isOn: false,
  sinceMs: null,
  turningMs: null,
  unknownMs: null,
  isTold: false,
  toldMs: null,
  suppressed: 0,
};

/** As it was when the agent stopped: what was told then is not told again. */
export function resumeEpisode(wasOn: boolean): Episode {
  return wasOn ? { ...quietEpisode, isOn: true, isTold: true } : quietEpisode;
}

export interface EpisodeInput {
  /** Monotonic time of the observation; never goes back. */
  readonly atMs: number;
  /** The condition, by the caller's own thresholds for begin and end; null = not known. */
  readonly holds: boolean | null;
  readonly onMs: number;
  readonly offMs: number;
  /** Least time between two begins that are told. */
  readonly repeatMs: number;
  /** Not knowing for this long ends it; infinite when absent. */
  readonly unknownEndsMs?: number;
  /** False keeps a begin untold (not counted as kept back): somebody else tells of it. */
  readonly mayTell?: boolean;
}

export type EpisodeNews =
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
  readonly news: EpisodeNews | null;
}

/** Takes one observation. */
export function stepEpisode(before: Episode, input: EpisodeInput): EpisodeStep {
  const turned = turn(before, input);
  const { episode } = turned;
  if (!before.isOn && episode.isOn) return begin(episode, input, true);
  if (before.isOn && !episode.isOn) {
    const { isTold, sinceMs } = before;
    const news = { kind: 'end', sinceMs, endMs: turned.sinceMs, isUnknown: turned.isUnknown } as const;
    return { episode: { ...episode, isTold: false }, news: isTold ? news : null };
  }
  return episode.isOn && !episode.isTold ? begin(episode, input, false) : { episode, news: null };
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
  if (input.mayTell === false) return { episode: { ...episode, isTold: false }, news: null };
  if (episode.toldMs !== null && atMs - episode.toldMs < repeatMs) {
    const suppressed = Math.min(episode.suppressed + (isFresh ? 1 : 0), Number.MAX_SAFE_INTEGER);
    return { episode: { ...episode, isTold: false, suppressed }, news: null };
  }
  // What is told late was counted when it was kept back.
  const suppressed = Math.max(0, episode.suppressed - (isFresh ? 0 : 1));
  const sinceMs = episode.sinceMs ?? atMs;
  return {
    episode: { ...episode, isTold: true, toldMs: atMs, suppressed: 0 },
    news: { kind: 'begin', sinceMs, suppressed },
  };
}
