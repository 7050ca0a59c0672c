// The connection to the broker as the vehicle saw it: lost after a while, stamped with when it began; restored with how
// long it was away. Both are told once the broker hears again. A link that comes and goes is told at a bounded rate.
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';
import { type AlarmStep, keptBack, lasted, type Scene, seconds } from './scene.ts';

/** A session must hold this long before it counts as back. */
const backMs = 5000;

export interface LinkState {
  readonly episode: Episode;
}

export function createLinkWatch(wasLost: boolean): LinkState {
  return { episode: resumeEpisode(wasLost) };
}

/** Takes in one step. */
export function stepLinkWatch(before: LinkState, scene: Scene): AlarmStep<LinkState> {
  const { settings, nowMs } = scene;
  const { episode, news } = stepEpisode(before.episode, {
    atMs: nowMs,
    holds: !scene.isLinkUp,
    onMs: settings.linkLostS * 1000,
    offMs: backMs,
    repeatMs: settings.repeatS * 1000,
  });
  const state = { episode };
  if (news === null) return { state, told: [] };
  if (news.kind === 'end')
    return { state, told: [{ name: 'CONNECTION_RESTORED', atMs: news.endMs, attributes: lasted(news) }] };
  const attributes = { lostS: seconds(nowMs - news.sinceMs), ...keptBack(news) };
  return { state, told: [{ name: 'CONNECTION_LOST', atMs: news.sinceMs, attributes }] };
}
