// The connection to the broker as seen by the vehicle: lost after a while, stamped with the time of the loss;
// restored with the duration. Both reach the broker once the link is back. A flapping link is reported at a bounded
// rate.

import { type AlarmInput, type AlarmStep, durationOf, seconds, suppressedCount } from './alarm-types.ts';
import { type Episode, resumeEpisode, stepEpisode } from './episode.ts';

/** A session must hold this long before it counts as back. */
const backMs = 5000;

export interface LinkState {
  readonly episode: Episode;
}

export function createLinkWatch(wasLost: boolean): LinkState {
  return { episode: resumeEpisode(wasLost) };
}

/** One step. */
export function stepLinkWatch(before: LinkState, input: AlarmInput): AlarmStep<LinkState> {
  const { settings, nowMs } = input;
  const { episode, change } = stepEpisode(before.episode, {
    atMs: nowMs,
    holds: !input.isLinkUp,
    onMs: settings.linkLostS * 1000,
    offMs: backMs,
    repeatMs: settings.repeatS * 1000,
  });
  const state = { episode };
  if (change === null) return { state, reports: [] };
  if (change.kind === 'end')
    return {
      state,
      reports: [{ name: 'CONNECTION_RESTORED', atMs: change.endMs, attributes: durationOf(change) }],
    };
  const attributes = { lostS: seconds(nowMs - change.sinceMs), ...suppressedCount(change) };
  return { state, reports: [{ name: 'CONNECTION_LOST', atMs: change.sinceMs, attributes }] };
}
