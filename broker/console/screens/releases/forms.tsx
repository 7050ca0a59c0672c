// Forms of releases: a new one, a stage that begins, a stop, and a further job for one unit. Nothing is uploaded.
import { useNavigate } from '@tanstack/react-router';
import { releaseWords } from '../../../../build/words/release.ts';
import { useDialog } from '../../components/patterns/address.tsx';
import { ActionDialog, type Field, Fields, useFields } from '../../components/patterns/form.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import {
  type DraftMember,
  draftFaults,
  fileFaults,
  inOrder,
  noRelease,
  type Release,
  type ReleaseDraft,
  releaseBody,
  releaseMost,
  type Stage,
  sumOf,
} from '../../state/releases/release-view.ts';
import { useGroups } from '../people/use-people.ts';
import { releaseChanges, useReleases } from './use-releases.ts';

type Of = Field<ReleaseDraft>;

/** Fields of the signed file. */
function useFileFields(draft: ReleaseDraft, faults: ReadonlySet<DraftMember>): readonly Of[] {
  const { fields } = useWords(releaseWords).releases;
  const { hosts } = useReleases();
  const hints = {
    version: undefined,
    url: fields.urlHint({ hosts: hosts.join(', ') }),
    sha256: fields.sha256Hint,
  };
  return (['version', 'url', 'sha256'] as const).map((name) => ({
    name,
    label: fields[name],
    hint: hints[name],
    // An empty field is not wrong yet.
    fault: draft[name] !== '' && faults.has(name) ? fields[`${name}Wrong`] : null,
    most: releaseMost[name],
    isRequired: true,
    hasFocus: name === 'version',
    clean: (text) => (name === 'sha256' ? text.trim().toLowerCase() : text.trim()),
  }));
}

interface StageFieldsProps {
  readonly draft: ReleaseDraft;
  readonly faults: ReadonlySet<DraftMember>;
  onChange(change: Partial<ReleaseDraft>): void;
}

/** The groups in their order, and what stops it. */
function StageFields({ draft, faults, onChange }: StageFieldsProps) {
  const { releases: texts } = useWords(releaseWords);
  const { fields } = texts;
  const { items: groups } = useGroups();
  if (groups?.length === 0) return <Notice tone="look" icon="layers" title={fields.noGroups} />;
  const numbers = (['stopAfter', 'days'] as const).map(
    (name): Of => ({
      name,
      label: fields[name],
      hint: fields[`${name}Hint`],
      fault: faults.has(name) ? fields.numberWrong({ most: releaseMost[name] }) : null,
      most: name === 'days' ? 2 : 4,
      clean: (text) => text.trim(),
    }),
  );
  const options = (groups ?? []).map(({ groupID, groupDisplayName, devices }) => ({
    value: groupID,
    text: `${groupDisplayName} · ${texts.devices({ count: devices.length })}`,
  }));
  return (
    <>
      <Fields
        of={[{ name: 'stages', label: fields.stages, hint: fields.stagesHint, options }]}
        draft={draft}
        onChange={({ stages = [] }) => onChange({ stages: inOrder(draft.stages, stages) })}
      />
      {draft.stages.length === 0 ? null : (
        <ol className="stack tight" aria-label={fields.order}>
          {draft.stages.map((groupID, at) => (
            <li key={groupID}>
              {texts.stage({ stage: at + 1 })}: <bdi>{groupID}</bdi>
            </li>
          ))}
        </ol>
      )}
      <div className="halves even">
        <Fields of={numbers} draft={draft} onChange={onChange} />
      </div>
    </>
  );
}

/** Which signed file, for which groups in which order, and what stops it. Nothing is sent. */
export function CreateRelease() {
  const { releases: texts } = useWords(releaseWords);
  const navigate = useNavigate();
  const [draft, put] = useFields(noRelease);
  const faults = draftFaults(draft, useReleases().hosts);
  return (
    <ActionDialog
      icon="refresh-cw"
      title={texts.createTitle}
      action={texts.create}
      isOff={faults.size > 0}
      beginsInField
      changes={releaseChanges}
      run={() => call('createRelease', { body: releaseBody(draft) })}
      onDone={({ release }) =>
        void navigate({ to: '/releases', search: { release: release.releaseID }, replace: true })
      }
    >
      <p>{texts.createText}</p>
      <p className="muted">{texts.signed}</p>
      <Fields
        of={[
          ...useFileFields(draft, faults),
          <StageFields draft={draft} faults={faults} onChange={put} />,
          { name: 'note', label: texts.fields.note, most: releaseMost.note },
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}

interface BeginProps {
  readonly release: Release;
  readonly stage: Stage;
}

/** Says to how many devices it goes, and what the stages before have come to. */
export function BeginStage({ release, stage: { stage, groupID, groupDevices } }: BeginProps) {
  const { releases: texts } = useWords(releaseWords);
  const { releaseID, version } = release;
  const failed = sumOf(release, 'failed');
  const open = sumOf(release, 'waiting') + sumOf(release, 'underWay');
  return (
    <ActionDialog
      icon="play"
      title={texts.beginTitle({ stage, version })}
      action={texts.begin({ stage })}
      isOff={groupDevices === null}
      changes={releaseChanges}
      run={() => call('startReleaseStage', { body: { releaseID, stage } })}
    >
      <p>
        {groupDevices === null
          ? texts.groupGone({ group: groupID })
          : texts.beginText({ count: groupDevices, group: groupID })}
      </p>
      {failed > 0 ? (
        <Notice tone="look" icon="triangle-alert" title={texts.beginFailed({ count: failed })} />
      ) : null}
      {open > 0 ? <Notice tone="busy" icon="hourglass" title={texts.beginOpen({ count: open })} /> : null}
      <p className="muted">{texts.beginHint({ most: release.stopAfter })}</p>
    </ActionDialog>
  );
}

/** For good: what it takes back and what it leaves stands in it. */
export function StopRelease({ release }: { readonly release: Release }) {
  const { releases: texts } = useWords(releaseWords);
  const [draft, put] = useFields({ reason: '' });
  const { releaseID, version } = release;
  return (
    <ActionDialog
      icon="octagon-alert"
      title={texts.stopTitle({ version })}
      action={texts.stop}
      changes={releaseChanges}
      run={() => call('stopRelease', { body: { releaseID, ...draft } })}
    >
      <p>{texts.stopText({ count: sumOf(release, 'waiting') + sumOf(release, 'underWay') })}</p>
      <p className="muted">{texts.stopHint}</p>
      <Fields of={[{ name: 'reason', label: texts.fields.reason, most: 200 }]} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

interface AgainProps {
  readonly release: Release;
  readonly deviceID: string;
}

/** A further job of the same file for one unit, which then counts in the release. */
function AgainForm({ release, deviceID }: AgainProps) {
  const { releases: texts } = useWords(releaseWords);
  const { version, url, sha256, ttl } = release;
  const [draft, put] = useFields<ReleaseDraft>({ ...noRelease, version, url, sha256 });
  const faults = fileFaults(draft, useReleases().hosts);
  const file = { version: draft.version, url: draft.url, sha256: draft.sha256 };
  return (
    <ActionDialog
      icon="refresh-cw"
      title={texts.againTitle({ unit: deviceID })}
      action={texts.againAction({ unit: deviceID })}
      isOff={faults.size > 0}
      changes={releaseChanges}
      run={() => call('firmware', { body: { deviceID, ...file, ttl } })}
    >
      <p>{texts.againText}</p>
      <Fields of={useFileFields(draft, faults)} draft={draft} onChange={put} />
    </ActionDialog>
  );
}

export function OrderAgain({
  release,
  unit,
}: {
  readonly release: Release;
  readonly unit: string | undefined;
}) {
  const { opened } = useDialog();
  return opened === 'again' && unit !== undefined ? (
    <AgainForm key={unit} release={release} deviceID={unit} />
  ) : null;
}
