// The form of a new release: which signed file, for which groups in which order, and what stops it. Nothing is uploaded and nothing is sent.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { releaseWords } from '../../../../build/words/release.ts';
import { Checks } from '../../components/checks.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import {
  type DraftMember,
  draftFaults,
  inOrder,
  noRelease,
  type ReleaseDraft,
  releaseBody,
  releaseMost,
} from '../../state/releases/release-view.ts';
import { useGroups, useReleaseChange, useReleaseDialog, useReleases } from './use-releases.ts';

interface FieldProps {
  readonly draft: ReleaseDraft;
  readonly faults: ReadonlySet<DraftMember>;
  readonly hosts: readonly string[];
  onChange(change: Partial<ReleaseDraft>): void;
}

/** Fields of the file. */
export function FileFields({ draft, faults, hosts, onChange }: FieldProps) {
  const { fields } = useWords(releaseWords).releases;
  // An empty field is not wrong yet.
  const faultOf = (name: 'version' | 'url' | 'sha256', text: string): string | null =>
    draft[name] !== '' && faults.has(name) ? text : null;
  return (
    <>
      <FormField
        label={fields.version}
        value={draft.version}
        fault={faultOf('version', fields.versionWrong)}
        most={releaseMost.version}
        isRequired
        hasFocus
        onChange={(version) => onChange({ version: version.trim() })}
      />
      <FormField
        label={fields.url}
        value={draft.url}
        hint={fields.urlHint({ hosts: hosts.join(', ') })}
        fault={faultOf('url', fields.urlWrong)}
        most={releaseMost.url}
        isRequired
        onChange={(url) => onChange({ url: url.trim() })}
      />
      <FormField
        label={fields.sha256}
        value={draft.sha256}
        hint={fields.sha256Hint}
        fault={faultOf('sha256', fields.sha256Wrong)}
        most={releaseMost.sha256}
        isRequired
        onChange={(sha256) => onChange({ sha256: sha256.trim().toLowerCase() })}
      />
    </>
  );
}

function StageFields({ draft, faults, onChange }: Omit<FieldProps, 'hosts'>) {
  const { releases: texts } = useWords(releaseWords);
  const { fields } = texts;
  const { groups } = useGroups();
  if (groups?.length === 0) return <Notice tone="look" icon="layers" title={fields.noGroups} />;
  return (
    <>
      <Checks
        label={fields.stages}
        hint={fields.stagesHint}
        choices={(groups ?? []).map(({ groupID, groupDisplayName, devices }) => ({
          value: groupID,
          text: `${groupDisplayName} · ${texts.devices({ count: devices.length })}`,
        }))}
        chosen={draft.stages}
        onChoose={(ticked) => onChange({ stages: inOrder(draft.stages, ticked) })}
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
        <FormField
          label={fields.stopAfter}
          value={draft.stopAfter}
          hint={fields.stopAfterHint}
          fault={faults.has('stopAfter') ? fields.numberWrong({ most: releaseMost.stopAfter }) : null}
          most={4}
          onChange={(stopAfter) => onChange({ stopAfter: stopAfter.trim() })}
        />
        <FormField
          label={fields.days}
          value={draft.days}
          hint={fields.daysHint}
          fault={faults.has('days') ? fields.numberWrong({ most: releaseMost.days }) : null}
          most={2}
          onChange={(days) => onChange({ days: days.trim() })}
        />
      </div>
    </>
  );
}

/** Opened by its button in the list. */
export function CreateRelease() {
  const { releases: texts } = useWords(releaseWords);
  const navigate = useNavigate();
  const dialog = useReleaseDialog();
  const { hosts } = useReleases();
  const [draft, setDraft] = useState(noRelease);
  const put = (change: Partial<ReleaseDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const faults = draftFaults(draft, hosts);
  const making = useReleaseChange(
    () => call('createRelease', { body: releaseBody(draft) }),
    ({ release }) => {
      setDraft(noRelease);
      void navigate({ to: '/releases', search: { release: release.releaseID }, replace: true });
    },
  );
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('create')}
      icon="refresh-cw"
      title={texts.createTitle}
      action={texts.create}
      isOff={faults.size > 0}
      beginsInField
      change={making}
      close={dialog.close}
    >
      <p>{texts.createText}</p>
      <p className="muted">{texts.signed}</p>
      <FileFields draft={draft} faults={faults} hosts={hosts} onChange={put} />
      <StageFields draft={draft} faults={faults} onChange={put} />
      <FormField
        label={texts.fields.note}
        value={draft.note}
        most={releaseMost.note}
        onChange={(note) => put({ note })}
      />
    </ChangeDialog>
  );
}
