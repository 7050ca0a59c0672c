// Fields of the form of a rule: what it is about, when it is quiet, and what it does.

import { ruleWords } from '../../../../build/words/rule.ts';
import { Checks } from '../../components/checks.tsx';
import { FormField } from '../../components/form-field.tsx';
import { useWords } from '../../components/use.ts';
import {
  alarmChoices,
  type DraftFault,
  eventChoices,
  type OccurrenceKind,
  pushChoices,
  type RuleDraft,
  weekdays,
} from '../../state/rules/rule-draft.ts';
import { Choice } from '../cut/choice.tsx';
import { useGroups, useUsers } from '../people/use-people.ts';

export interface FieldsProps {
  readonly draft: RuleDraft;
  readonly faults: ReadonlySet<DraftFault>;
  onChange(change: Partial<RuleDraft>): void;
}

type TextMember = 'offlineAfter' | 'silence' | 'escalates' | 'quietFrom' | 'quietTo';

/** A number or a time, as typed, and what is wrong with it. */
function TextOf({
  member,
  hint,
  draft,
  faults,
  onChange,
}: FieldsProps & { readonly member: TextMember; readonly hint?: string }) {
  const { rules: texts } = useWords(ruleWords);
  return (
    <FormField
      label={texts.fields[member]}
      value={draft[member]}
      hint={hint}
      fault={faults.has(member) ? texts.faults[member] : null}
      most={16}
      onChange={(value) => onChange({ [member]: value })}
    />
  );
}

/** One choice that is on or off, as a list of one. */
export function OnOff({
  label,
  text,
  isOn,
  onChange,
}: {
  readonly label: string;
  readonly text: string;
  readonly isOn: boolean;
  onChange(isOn: boolean): void;
}) {
  return (
    <Checks
      label={label}
      choices={[{ value: 'on', text }]}
      chosen={isOn ? ['on'] : []}
      onChoose={(values) => onChange(values.length > 0)}
    />
  );
}

/** Codes with a name, and those of the rule without one. */
function useCodes(chosen: readonly string[]) {
  const { codes } = useWords();
  const named = Object.entries(codes).map(([value, text]) => ({ value, text }));
  const further = chosen.filter((code) => codes[Number(code)] === undefined);
  return [...named, ...further.map((value) => ({ value, text: value }))];
}

export function SubjectFields(props: FieldsProps) {
  const { draft, faults, onChange } = props;
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  const { groups } = useGroups();
  const codes = useCodes(draft.codes);
  const kinds = Object.keys(texts.kinds) as OccurrenceKind[];
  const needsOffline = draft.kinds.some((kind) => kind === 'device_offline' || kind === 'device_online');
  return (
    <>
      <Choice
        label={fields.events}
        choices={eventChoices.map((value) => ({ value, text: texts.events[value] }))}
        chosen={draft.events}
        onChoose={(value) => onChange({ events: eventChoices.find((one) => one === value) ?? 'none' })}
      />
      {draft.events === 'codes' ? (
        <div className="rule-codes">
          <Checks
            label={fields.codes}
            choices={codes}
            chosen={draft.codes}
            onChoose={(chosen) => onChange({ codes: chosen })}
          />
        </div>
      ) : null}
      <Checks
        label={fields.kinds}
        choices={kinds.map((value) => ({ value, text: texts.kinds[value] }))}
        chosen={draft.kinds}
        hint={faults.has('subject') ? texts.faults.subject : undefined}
        onChoose={(chosen) => onChange({ kinds: kinds.filter((kind) => chosen.includes(kind)) })}
      />
      {needsOffline || faults.has('offlineAfter') ? <TextOf {...props} member="offlineAfter" /> : null}
      <FormField
        label={fields.devices}
        value={draft.devices}
        hint={fields.devicesHint}
        most={6600}
        onChange={(devices) => onChange({ devices })}
      />
      {groups === undefined || groups.length === 0 ? null : (
        <Checks
          label={fields.groups}
          choices={groups.map(({ groupID, groupDisplayName }) => ({
            value: groupID,
            text: groupDisplayName,
          }))}
          chosen={draft.groups}
          onChoose={(chosen) => onChange({ groups: chosen })}
        />
      )}
    </>
  );
}

export function QuietFields(props: FieldsProps) {
  const { draft, faults, onChange } = props;
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  return (
    <>
      <TextOf {...props} member="silence" hint={fields.silenceHint} />
      <OnOff
        label={fields.quiet}
        text={fields.quietOn}
        isOn={draft.isQuiet}
        onChange={(isQuiet) => onChange({ isQuiet })}
      />
      {draft.isQuiet ? (
        <>
          <TextOf {...props} member="quietFrom" />
          <TextOf {...props} member="quietTo" />
          <FormField
            label={fields.timeZone}
            value={draft.timeZone}
            most={64}
            onChange={(timeZone) => onChange({ timeZone })}
          />
          <Checks
            label={fields.weekdays}
            choices={weekdays.map((value) => ({ value, text: texts.weekdays[value] }))}
            chosen={draft.weekdays}
            hint={faults.has('weekdays') ? texts.faults.weekdays : undefined}
            onChoose={(chosen) => onChange({ weekdays: chosen })}
          />
          <OnOff
            label={fields.quiet}
            text={fields.exceptUrgent}
            isOn={draft.exceptUrgent}
            onChange={(exceptUrgent) => onChange({ exceptUrgent })}
          />
        </>
      ) : null}
    </>
  );
}

export function ActFields(props: FieldsProps & { readonly hadWebhook: boolean }) {
  const { draft, faults, hadWebhook, onChange } = props;
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  const { users } = useUsers();
  return (
    <>
      <FormField
        label={fields.webhook}
        value={draft.webhook}
        hint={fields.webhookHint}
        most={2048}
        onChange={(webhook) => onChange({ webhook: webhook.trim() })}
      />
      {hadWebhook && draft.webhook !== '' ? (
        <OnOff
          label={texts.secret}
          text={fields.rotate}
          isOn={draft.rotateSecret}
          onChange={(rotateSecret) => onChange({ rotateSecret })}
        />
      ) : null}
      <FormField
        label={fields.emails}
        value={draft.emails}
        hint={fields.emailsHint}
        most={5200}
        onChange={(emails) => onChange({ emails })}
      />
      <Choice
        label={fields.push}
        choices={pushChoices.map((value) => ({ value, text: texts.push[value] }))}
        chosen={draft.push}
        onChoose={(value) => onChange({ push: pushChoices.find((one) => one === value) ?? 'none' })}
      />
      {draft.push === 'users' ? (
        <Checks
          label={fields.users}
          choices={(users ?? []).map(({ userID }) => ({ value: userID, text: userID }))}
          chosen={draft.users}
          onChoose={(chosen) => onChange({ users: chosen })}
        />
      ) : null}
      <Choice
        label={fields.alarm}
        choices={alarmChoices.map((value) => ({ value, text: texts.priorities[value] }))}
        chosen={draft.alarm}
        onChoose={(value) => onChange({ alarm: alarmChoices.find((one) => one === value) ?? 'none' })}
      />
      <TextOf {...props} member="escalates" hint={fields.escalatesHint} />
      {faults.has('separate') ? <p className="muted">{texts.faults.separate}</p> : null}
      {faults.has('channel') ? <p className="muted">{texts.faults.channel}</p> : null}
    </>
  );
}
