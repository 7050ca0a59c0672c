// One release: its file, its stages with what their units have come to, and what may be done next.

import { releaseWords } from '../../../../build/words/release.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Badge, Notice, numberText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { View } from '../../components/view.tsx';
import { connection } from '../../service/live.ts';
import { phases } from '../../state/releases/release-address.ts';
import { mayStop, nextStage, type Release, type Stage } from '../../state/releases/release-view.ts';
import { BeginStage, OrderAgain, StopRelease } from './dialogs.tsx';
import { ReleaseBadge } from './list.tsx';
import { useRelease, useReleaseDialog } from './use-releases.ts';

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

function Actions({ release }: { readonly release: Release }) {
  const { releases: texts, stream } = useWords(releaseWords);
  const dialog = useReleaseDialog();
  const isDown = useValue(connection).state !== 'live';
  const next = nextStage(release);
  return (
    <>
      <div className="row wrap">
        {next === null ? null : (
          <ActionButton
            className="button primary"
            aria-haspopup="dialog"
            isOff={isDown}
            onPress={() => dialog.open('begin')}
          >
            <Icon name="play" />
            {texts.begin({ stage: next.stage })}…
          </ActionButton>
        )}
        {mayStop(release) ? (
          <ActionButton
            className="button secondary"
            aria-haspopup="dialog"
            isOff={isDown}
            onPress={() => dialog.open('stop')}
          >
            <Icon name="octagon-alert" />
            {texts.stop}…
          </ActionButton>
        ) : null}
      </div>
      {isDown ? <p className="muted">{stream.commandsOff}</p> : null}
      {next === null ? null : <BeginStage key={next.stage} release={release} stage={next} />}
      <StopRelease release={release} />
      <OrderAgain release={release} />
    </>
  );
}

/** @param releaseID stands in the address. */
export function ReleaseDetail({ releaseID }: { readonly releaseID: string }) {
  const { releases: texts } = useWords(releaseWords);
  const { release, error } = useRelease(releaseID);
  return (
    <aside className="card" aria-labelledby="release-title">
      <header className="wrap">
        <h2 id="release-title">
          {release === undefined ? texts.release : texts.named({ version: release.version })}
        </h2>
        {release === undefined ? null : <ReleaseBadge state={release.releaseState} />}
      </header>
      <View error={error} isLoaded={release !== undefined} empty={null}>
        {release === undefined ? null : (
          <div className="card-body stack">
            {release.note === '' ? null : <p>{release.note}</p>}
            <Stopped release={release} />
            <dl className="pairs">
              <dt>{texts.fields.url}</dt>
              <dd>
                <bdi className="mono">{release.url}</bdi>
              </dd>
              <dt>{texts.fields.sha256}</dt>
              <dd>
                <bdi className="mono">{release.sha256}</bdi>
              </dd>
              <dt>{texts.madeBy}</dt>
              <dd>
                <bdi>{release.createdBy}</bdi> · <Time at={release.created} />
              </dd>
              <dt>{texts.fields.stopAfter}</dt>
              <dd>{numberText(release.stopAfter)}</dd>
            </dl>
            <ol className="stack" aria-label={texts.fields.order}>
              {release.stages.map((stage) => (
                <StageCard key={stage.stage} stage={stage} />
              ))}
            </ol>
            <Actions release={release} />
          </div>
        )}
      </View>
    </aside>
  );
}
