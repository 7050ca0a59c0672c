// What is asked for once more: a stage that begins, a release that is stopped, and a further job for one unit.
import { useState } from 'react';
import { releaseWords } from '../../../../build/words/release.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { fileFaults, noRelease, type Release, type Stage, sumOf } from '../../state/releases/release-view.ts';
import { FileFields } from './create.tsx';
import { useReleaseChange, useReleaseDialog, useReleases } from './use-releases.ts';

interface BeginProps {
  readonly release: Release;
  readonly stage: Stage;
}

/** Says to how many devices it goes, and what the stages before have come to. */
export function BeginStage({ release, stage }: BeginProps) {
  const { releases: texts } = useWords(releaseWords);
  const dialog = useReleaseDialog();
  const { releaseID, version } = release;
  const beginning = useReleaseChange(
    () => call('startReleaseStage', { body: { releaseID, stage: stage.stage } }),
    dialog.close,
  );
  const failed = sumOf(release, 'failed');
  const open = sumOf(release, 'waiting') + sumOf(release, 'underWay');
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('begin')}
      icon="play"
      title={texts.beginTitle({ stage: stage.stage, version })}
      action={texts.begin({ stage: stage.stage })}
      isOff={stage.groupDevices === null}
      change={beginning}
      close={dialog.close}
    >
      <p>
        {stage.groupDevices === null
          ? texts.groupGone({ group: stage.groupID })
          : texts.beginText({ count: stage.groupDevices, group: stage.groupID })}
      </p>
      {failed > 0 ? (
        <Notice tone="look" icon="triangle-alert" title={texts.beginFailed({ count: failed })} />
      ) : null}
      {open > 0 ? <Notice tone="busy" icon="hourglass" title={texts.beginOpen({ count: open })} /> : null}
      <p className="muted">{texts.beginHint({ most: release.stopAfter })}</p>
    </ChangeDialog>
  );
}

/** For good: what it takes back and what it leaves stands in it. */
export function StopRelease({ release }: { readonly release: Release }) {
  const { releases: texts } = useWords(releaseWords);
  const dialog = useReleaseDialog();
  const [reason, setReason] = useState('');
  const { releaseID, version } = release;
  const stopping = useReleaseChange(() => call('stopRelease', { body: { releaseID, reason } }), dialog.close);
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('stop')}
      icon="octagon-alert"
      title={texts.stopTitle({ version })}
      action={texts.stop}
      change={stopping}
      close={dialog.close}
    >
      <p>{texts.stopText({ count: sumOf(release, 'waiting') + sumOf(release, 'underWay') })}</p>
      <p className="muted">{texts.stopHint}</p>
      <FormField label={texts.fields.reason} value={reason} most={200} onChange={setReason} />
    </ChangeDialog>
  );
}

function AgainForm({ release, deviceID }: { readonly release: Release; readonly deviceID: string }) {
  const { releases: texts } = useWords(releaseWords);
  const dialog = useReleaseDialog();
  const { hosts } = useReleases();
  const { version, url, sha256 } = release;
  const [draft, setDraft] = useState({ ...noRelease, version, url, sha256 });
  const faults = fileFaults(draft, hosts);
  const ordering = useReleaseChange(
    () =>
      call('firmware', {
        body: { deviceID, version: draft.version, url: draft.url, sha256: draft.sha256, ttl: release.ttl },
      }),
    dialog.close,
  );
  return (
    <ChangeDialog
      isOpen
      icon="refresh-cw"
      title={texts.againTitle({ unit: deviceID })}
      action={texts.againAction({ unit: deviceID })}
      isOff={faults.size > 0}
      change={ordering}
      close={dialog.close}
    >
      <p>{texts.againText}</p>
      <FileFields
        draft={draft}
        faults={faults}
        hosts={hosts}
        onChange={(change) => setDraft((before) => ({ ...before, ...change }))}
      />
    </ChangeDialog>
  );
}

/** A further job of the same file for one unit, which then counts in the release. */
export function OrderAgain({ release }: { readonly release: Release }) {
  const { isOpen, unit } = useReleaseDialog();
  return isOpen('again') && unit !== null ? <AgainForm key={unit} release={release} deviceID={unit} /> : null;
}
