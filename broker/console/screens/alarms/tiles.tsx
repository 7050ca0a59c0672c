// The figures above the queue: how many wait, how long they waited, how many come in, and whether the sound is on.

import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Alarm, Result } from '../../api/operations.ts';
import { Icon } from '../../components/icon.tsx';
import { numberText, spanText, timeText } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { countText, useKnowledge, usePicture } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { alarms } from '../../service/live.ts';
import { sound } from '../../service/sound.ts';

type Summary = Result<'getAlarmSummary'>;

const refreshMs = 30_000;

/** The figures of now; undefined while they are not known. */
export function useSummary(): Summary | undefined {
  const open = useValue(alarms);
  const { data, error, dataUpdatedAt, refetch } = useQuery({
    queryKey: ['alarm summary'],
    queryFn: ({ signal }) => call('getAlarmSummary', { signal }),
    refetchInterval: refreshMs,
  });
  useEffect(() => void refetch(), [open, refetch]);
  return useKnowledge(dataUpdatedAt, error !== null) === 'unknown' ? undefined : data;
}

/** More than this in ten minutes is more than one person can handle in a peak (EEMUA 191, ISA-18.2). */
const peak = 10;

function RateBars({ opened }: { readonly opened: readonly number[] }) {
  const { alarms: words } = useWords();
  const highest = Math.max(0, ...opened);
  return (
    <div className="bars" role="img" aria-label={words.rateLabel({ highest, now: opened.at(-1) ?? 0 })}>
      {opened.map((count, at) => (
        <i
          key={at}
          className={count > peak ? 'over' : ''}
          style={{
            blockSize: `${highest === 0 ? 0 : Math.max(count === 0 ? 0 : 8, (count / highest) * 100)}%`,
          }}
        />
      ))}
    </div>
  );
}

export function Tiles({
  open,
  summary,
}: {
  readonly open: readonly Alarm[];
  readonly summary: Summary | undefined;
}) {
  const words = useWords();
  const { alarms: texts, common } = words;
  const { state, untilS } = useValue(sound);
  const waiting = open.filter(({ alarmState }) => alarmState === 'new');
  const byPriority = (['critical', 'high', 'low'] as const)
    .map((priority) => [priority, waiting.filter((alarm) => alarm.priority === priority).length] as const)
    .filter(([, count]) => count > 0)
    .map(([priority, count]) => `${numberText(count)} ${texts.priorities[priority]}`);
  const isUrgent = waiting.some(({ priority }) => priority !== 'low');
  const taken = summary?.taken1h;
  const { knowledge } = usePicture('alarms');
  const isUnknown = waiting.length === 0 && knowledge !== 'known';
  return (
    <div className="tiles">
      <section className="card tile" aria-labelledby="tile-new">
        <h2 id="tile-new">{texts.tileNew}</h2>
        <strong className={isUrgent ? 'row act' : 'row'}>
          <Icon
            name={
              isUnknown
                ? 'circle-help'
                : waiting.length === 0
                  ? 'circle-check'
                  : isUrgent
                    ? 'octagon-alert'
                    : 'circle-alert'
            }
            isLarge
          />
          {countText(waiting.length, knowledge)}
        </strong>
        <small>
          {isUnknown ? words.stream.notKnown : byPriority.length === 0 ? common.none : byPriority.join(' · ')}
        </small>
      </section>
      <section className="card tile" aria-labelledby="tile-time">
        <h2 id="tile-time">{texts.tileTime}</h2>
        {taken === undefined || taken.count === 0 ? (
          <strong>{taken === undefined ? common.unknown : texts.noneTaken}</strong>
        ) : (
          <strong>
            <bdi>{spanText(taken.medianS, words)}</bdi> <span className="unit">{texts.median}</span>
          </strong>
        )}
        <small>
          {taken === undefined || taken.count === 0
            ? ''
            : texts.longest({ span: spanText(taken.longestS, words) })}
        </small>
      </section>
      <section className="card tile" aria-labelledby="tile-rate">
        <h2 id="tile-rate">{texts.tileRate}</h2>
        <RateBars opened={summary?.opened10min ?? []} />
        <small>
          {summary === undefined ? common.unknown : texts.rate({ now: summary.opened10min.at(-1) ?? 0 })}
        </small>
      </section>
      <section className="card tile" aria-labelledby="tile-sound">
        <h2 id="tile-sound">{texts.tileSound}</h2>
        <strong className={state === 'on' ? 'row' : 'row look'}>
          <Icon name={state === 'on' ? 'volume-2' : 'volume-x'} isLarge />
          {state === 'on'
            ? texts.soundOn
            : state === 'muted'
              ? texts.soundMuted({ time: timeText(untilS) })
              : common.off}
        </strong>
        <small>{state === 'off' ? texts.soundOff : texts.soundHint}</small>
      </section>
    </div>
  );
}
