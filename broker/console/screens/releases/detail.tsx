// One release: its file, its stages with what their units have come to, and what may be done next.
import { useSearch } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import type { IconName } from '../../components/icon.tsx';
import { Actions, Pairs } from '../../components/patterns/detail.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { Badge, Notice, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';
import { phases } from '../../state/releases/release-address.ts';
import { mayStop, nextStage, type Release, type Stage } from '../../state/releases/release-view.ts';
import { BeginStage, OrderAgain, StopRelease } from './forms.tsx';
import { useRelease } from './use-releases.ts';

type State = Release['releaseState'];

const looks: Readonly<Record<State, readonly [icon: IconName, tone: 'ok' | 'busy' | 'look' | null]>> = {
  ready: ['pause', null],
  running: ['hourglass', 'busy'],
  stopping: ['octagon-alert', 'look'],
  stopped: ['octagon-alert', 'look'],
  done: ['circle-check', 'ok'],
};

export function ReleaseBadge({ state }: { readonly state: State }) {
  const { releases: texts } = useWords(releaseWords);
  const [icon, tone] = looks[state];
  return (
    <Badge icon={icon} {...(tone === null ? {} : { tone })}>
      {texts.states[state]}
    </Badge>
  );
}

function StageCard({ stage }: { readonly stage: Stage }) {
  const { releases: texts } = useWords(releaseWords);
  const { groupID, groupDevices, started, startedBy, units, done } = stage;
  return (
    <li className="stack tight" data-stage={stage.stage}>
      <h3>
        {texts.stage({ stage: stage.stage })}: <bdi>{groupID}</bdi>
      </h3>
      {started === 0 ? (
        <p className="muted">
          {texts.notBegun} ·{' '}
          {groupDevices === null
            ? texts.groupGone({ group: groupID })
            : texts.devices({ count: groupDevices })}
        </p>
      ) : (
        <>
          <p className="muted">
            {texts.begunBy({ user: startedBy })} · <Time at={started} />
          </p>
          <progress
            max={Math.max(1, units)}
            value={done}
            aria-label={texts.progressOf({ stage: stage.stage })}
          />
          <p>{texts.progress({ done, all: units })}</p>
          <ul className="row wrap">
            {phases
              .filter((phase) => phase !== 'done' && stage[phase] > 0)
              .map((phase) => (
                <li key={phase}>
                  <Badge
                    icon={
                      phase === 'failed' ? 'triangle-alert' : phase === 'withdrawn' ? 'undo-2' : 'hourglass'
                    }
                    {...(phase === 'failed'
                      ? { tone: 'look' as const }
                      : phase === 'withdrawn'
                        ? {}
                        : { tone: 'busy' as const })}
                  >
                    {texts.phases[phase]}: {numberText(stage[phase])}
                  </Badge>
                </li>
              ))}
          </ul>
        </>
      )}
    </li>
  );
}

function Stopped({ release }: { readonly release: Release }) {
  const { releases: texts } = useWords(releaseWords);
  const { stoppedFor, stoppedBy, stopReason, stopAfter, ended } = release;
  if (stoppedFor === '') return null;
  return (
    <Notice
      tone="look"
      icon="octagon-alert"
      role="status"
      title={
        stoppedFor === 'failures'
          ? texts.stoppedForFailures({ count: stopAfter })
          : texts.stoppedBy({ user: stoppedBy })
      }
    >
      <Time at={ended} />
      {stopReason === '' ? null : (
        <>
          {' · '}
          <bdi>{stopReason}</bdi>
        </>
      )}
    </Notice>
  );
}

function ReleaseActions({ release }: { readonly release: Release }) {
  const { releases: texts, stream } = useWords(releaseWords);
  const { unit } = useSearch({ from: '/shell/releases' });
  const isOff = useValue(connection).state !== 'live';
  const next = nextStage(release);
  return (
    <>
      <Actions
        of={[
          next === null
            ? null
            : {
                name: 'begin',
                text: texts.begin({ stage: next.stage }),
                icon: 'play',
                className: 'button primary',
                isOff,
                dialog: <BeginStage key={next.stage} release={release} stage={next} />,
              },
          mayStop(release)
            ? {
                name: 'stop',
                text: texts.stop,
                icon: 'octagon-alert',
                isOff,
                dialog: <StopRelease release={release} />,
              }
            : null,
        ]}
      />
      {isOff ? <p className="muted">{stream.commandsOff}</p> : null}
      <OrderAgain release={release} unit={unit} />
    </>
  );
}

/** @param releaseID stands in the address. */
export function ReleaseDetail({ releaseID }: { readonly releaseID: string }) {
  const { releases: texts } = useWords(releaseWords);
  const { fields } = texts;
  const { release, error } = useRelease(releaseID);
  return (
    <Card
      title={release === undefined ? texts.release : texts.named({ version: release.version })}
      head={release === undefined ? null : <ReleaseBadge state={release.releaseState} />}
      isAside
      isBare
    >
      <View error={error} isLoaded={release !== undefined} empty={null}>
        {release === undefined ? null : (
          <div className="card-body stack">
            {release.note === '' ? null : <p>{release.note}</p>}
            <Stopped release={release} />
            <Pairs
              rows={[
                [fields.url, <bdi className="mono">{release.url}</bdi>],
                [fields.sha256, <bdi className="mono">{release.sha256}</bdi>],
                [
                  texts.madeBy,
                  <>
                    <bdi>{release.createdBy}</bdi> · <Time at={release.created} />
                  </>,
                ],
                [fields.stopAfter, numberText(release.stopAfter)],
              ]}
            />
            <ol className="stack" aria-label={fields.order}>
              {release.stages.map((stage) => (
                <StageCard key={stage.stage} stage={stage} />
              ))}
            </ol>
            <ReleaseActions release={release} />
          </div>
        )}
      </View>
    </Card>
  );
}
