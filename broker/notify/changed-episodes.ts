// Episodes that a decision changed, as rows.
import type { Episode } from '../core/notifications/notification-rules.ts';
import type { EpisodeRow } from '../store/notifications/rules.ts';

/** The episodes that were changed, whose keys are of `episodeKey`. */
export function changedEpisodes(
  before: ReadonlyMap<string, Episode>,
  after: ReadonlyMap<string, Episode>,
): readonly EpisodeRow[] {
  return [...after].flatMap(([key, episode]) => {
    if (before.get(key) === episode) return [];
    const [ruleNo, deviceNo, statusCode, ...subject] = key.split(' ');
    return [
      {
        ruleNo: Number(ruleNo),
        deviceNo: Number(deviceNo),
        statusCode: Number(statusCode),
        subject: subject.join(' '),
        firedMs: episode.firedMs,
        endedMs: episode.endedMs,
      },
    ];
  });
}
