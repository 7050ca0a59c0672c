// Form that creates a rule or replaces it, and tries it with the events of last week, as the service judges it. A new secret of its webhook
// is shown this once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactElement } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ActionButton } from '../../components/action-button.tsx';
import {
  ActionDialog,
  type Field,
  Fields,
  groupOptions,
  languageOptions,
  optionsOf,
  ShownOnce,
  useFields,
  useNewID,
} from '../../components/patterns/form.tsx';
import { codeText, Time } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { VehicleChoices } from '../../components/vehicle-choices.tsx';
import { useFailure } from '../../components/view.tsx';
import { call } from '../../service/call.ts';
import { vehicles } from '../../service/live.ts';
import { isID } from '../../state/device-view.ts';
import {
  alarmChoices,
  bodyOf,
  type DraftFault,
  draftOf,
  eventChoices,
  faultsOf,
  type OccurrenceKind,
  pushChoices,
  type Rule,
  type RuleDraft,
  type Trial,
  weekdays,
} from '../../state/rules/rule-draft.ts';
import { language } from '../../words/word-set.ts';
import { useGroups, useUsers } from '../people/use-people.ts';
import { ruleChanges, useRules } from './use-rules.ts';

/** Devices that a rule names, as the service takes them. */
const devicesMost = 100;

interface FieldsOf {
  readonly draft: RuleDraft;
  readonly faults: ReadonlySet<DraftFault>;
}

type Of = readonly (Field<RuleDraft> | ReactElement | false)[];

type TypedMember = 'offlineAfter' | 'silence' | 'escalates' | 'quietFrom' | 'quietTo';

/** A number or a time, as typed, and what is wrong with it. */
function useTyped(faults: ReadonlySet<DraftFault>) {
  const { fields, faults: wrong } = useWords(ruleWords).rules;
  return (name: TypedMember, hint?: string): Field<RuleDraft> => ({
    name,
    label: fields[name],
    hint,
    fault: faults.has(name) ? wrong[name] : null,
    most: 16,
  });
}

/** What the rule is about. */
function useSubjectFields({ draft, faults, put }: FieldsOf & { put(change: Partial<RuleDraft>): void }): Of {
  const { rules: texts, codes } = useWords(ruleWords);
  const { fields } = texts;
  const groups = groupOptions(useGroups().items);
  const typed = useTyped(faults);
  // Codes with a name, and those of the rule without one.
  const codeOptions = [
    ...Object.entries(codes).map(([value, text]) => ({ value, text })),
    ...draft.codes
      .filter((code) => codes[Number(code)] === undefined)
      .map((value) => ({ value, text: value })),
  ];
  const kinds = Object.keys(texts.kinds) as OccurrenceKind[];
  const needsOffline = draft.kinds.some((kind) => kind === 'device_offline' || kind === 'device_online');
  return [
    { name: 'events', label: fields.events, options: optionsOf(eventChoices, texts.events) },
    draft.events === 'codes' && { name: 'codes', label: fields.codes, options: codeOptions, isTall: true },
    {
      name: 'kinds',
      label: fields.kinds,
      options: optionsOf(kinds, texts.kinds),
      hint: faults.has('subject') ? texts.faults.subject : undefined,
    },
    (needsOffline || faults.has('offlineAfter')) && typed('offlineAfter'),
    <fieldset key="devices" className="field">
      <legend className="strong">{fields.devices}</legend>
      <VehicleChoices chosen={draft.devices} most={devicesMost} choose={(devices) => put({ devices })} />
      <p className="muted">{fields.devicesHint}</p>
    </fieldset>,
    groups.length > 0 && { name: 'groups', label: fields.groups, options: groups },
  ];
}

/** What it does. */
function useActFields({ draft, faults }: FieldsOf, hadWebhook: boolean): Of {
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  const users = useUsers().items ?? [];
  const typed = useTyped(faults);
  return [
    {
      name: 'webhook',
      label: fields.webhook,
      hint: fields.webhookHint,
      most: 2048,
      clean: (text) => text.trim(),
    },
    hadWebhook && draft.webhook !== '' && { name: 'rotateSecret', label: texts.secret, text: fields.rotate },
    { name: 'emails', label: fields.emails, hint: fields.emailsHint, most: 5200 },
    draft.emails.trim() !== '' && {
      name: 'language',
      label: fields.emailLanguage,
      options: languageOptions,
    },
    { name: 'push', label: fields.push, options: optionsOf(pushChoices, texts.push) },
    draft.push === 'users' && {
      name: 'users',
      label: fields.users,
      options: users.map(({ userID }) => ({ value: userID, text: userID })),
    },
    { name: 'alarm', label: fields.alarm, options: optionsOf(alarmChoices, texts.priorities) },
    typed('escalates', fields.escalatesHint),
  ];
}

/** When it is quiet. */
function useQuietFields({ draft, faults }: FieldsOf): Of {
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  const typed = useTyped(faults);
  const silence = [
    typed('silence', fields.silenceHint),
    { name: 'isQuiet', label: fields.quiet, text: fields.quietOn },
  ] as const;
  if (!draft.isQuiet) return silence;
  return [
    ...silence,
    typed('quietFrom'),
    typed('quietTo'),
    { name: 'timeZone', label: fields.timeZone, most: 64 },
    {
      name: 'weekdays',
      label: fields.weekdays,
      options: optionsOf(weekdays, texts.weekdays),
      hint: faults.has('weekdays') ? texts.faults.weekdays : undefined,
    },
    { name: 'exceptUrgent', label: fields.quiet, text: fields.exceptUrgent },
  ];
}

function Outcome({ trial }: { readonly trial: Trial }) {
  const words = useWords(ruleWords);
  const { trial: texts } = words.rules;
  const fleet = useValue(vehicles);
  const { notifications, alarms, events, isComplete, isEscalation, hasKinds, firings } = trial;
  return (
    <>
      <p className="strong" role="status">
        {texts.outcome({ notifications, alarms })}
      </p>
      <p className="muted">
        {isComplete ? texts.lookedAt({ count: events }) : texts.lookedAtOldest({ count: events })}
      </p>
      {isEscalation ? <p className="muted">{texts.escalation}</p> : null}
      {hasKinds ? <p className="muted">{texts.kinds}</p> : null}
      <ul className="stack tight">
        {firings.map(({ deviceID, statusCode, timestamp }, index) => (
          <li key={`${timestamp} ${index}`} className="row wrap">
            <Time at={timestamp} />
            <span>{codeText(statusCode, words)}</span>
            <bdi className="muted cut-off">{fleet.get(deviceID)?.name ?? deviceID}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

/** @param isOff the draft has faults. */
function RuleTrial({ draft, isOff }: { readonly draft: RuleDraft; readonly isOff: boolean }) {
  const { rules, forms } = useWords(formWords, ruleWords);
  const { trial: texts } = rules;
  // The outcome of another draft would be taken for that of this one.
  const of = JSON.stringify(draft);
  const trying = useMutation({
    mutationFn: async () => ({ of, trial: await call('tryRule', { body: bodyOf(draft) }) }),
  });
  const failure = useFailure(trying.error, forms.failed);
  return (
    <section className="stack" aria-label={texts.title}>
      <div>
        <ActionButton
          className="button secondary"
          isOff={isOff || trying.isPending}
          onPress={() => trying.mutate()}
        >
          {texts.title}
        </ActionButton>
      </div>
      {failure}
      {trying.data?.of === of ? <Outcome trial={trying.data.trial} /> : null}
    </section>
  );
}

/** @param rule null: a new one. */
export function RuleForm({ rule }: { readonly rule: Rule | null }) {
  const { rules: texts } = useWords(ruleWords);
  const { fields } = texts;
  const navigate = useNavigate();
  const rules = useRules().items;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const [typed, put] = useFields(draftOf(rule, timeZone, useValue(language)));
  // The operation would replace a rule that is there.
  const ids = rules?.map(({ ruleID }) => ruleID);
  const made = useNewID(typed, fields, rule === null ? ids : []);
  const { draft } = made;
  const faults = faultsOf(draft);
  const isNew = rule === null;
  const of = { draft, faults };
  return (
    <ActionDialog
      icon="bell-ring"
      title={isNew ? texts.createTitle : texts.editTitle({ rule: rule.ruleID })}
      action={isNew ? texts.create : texts.save({ rule: rule.ruleID })}
      isOff={(isNew && !made.isReady) || faults.size > 0}
      beginsInField={isNew}
      changes={ruleChanges}
      run={() => call('updateRule', { body: bodyOf(draft) })}
      shown={({ webhookSecret }) =>
        webhookSecret === undefined ? null : <ShownOnce secrets={[[texts.secret, webhookSecret]]} />
      }
      onDone={() =>
        isNew
          ? void navigate({ to: '/rules', search: { list: 'rules', rule: draft.id }, replace: true })
          : undefined
      }
    >
      <Fields
        of={[
          ...(isNew ? made.fields : made.fields.slice(0, 1)),
          { name: 'isActive', label: fields.state, text: fields.active },
          ...useSubjectFields({ ...of, put }),
          ...useActFields(of, rule !== null && rule.webhook !== null),
          faults.has('separate') && <p className="muted">{texts.faults.separate}</p>,
          faults.has('channel') && <p className="muted">{texts.faults.channel}</p>,
          ...useQuietFields(of),
          <RuleTrial draft={draft} isOff={!isID(draft.id) || faults.size > 0} />,
        ]}
        draft={draft}
        onChange={put}
      />
    </ActionDialog>
  );
}
