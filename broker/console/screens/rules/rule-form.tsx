// Form that creates a rule or replaces it. A new secret of its webhook is shown this once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { ruleWords } from '../../../../build/words/rule.ts';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { isID } from '../../state/device-view.ts';
import { bodyOf, draftOf, faultsOf, type Rule, type RuleDraft } from '../../state/rules/rule-draft.ts';
import { ActFields, type FieldsProps, OnOff, QuietFields, SubjectFields } from './rule-fields.tsx';
import { RuleTrial } from './rule-trial.tsx';
import { useRuleDialog, useRules, useRulesChanged } from './use-rules.ts';

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

interface RuleFormProps {
  readonly name: 'rule-create' | 'rule-edit';
  /** Null: a new one. */
  readonly rule: Rule | null;
}

function NewID({ draft, onChange }: { readonly draft: RuleDraft; onChange(id: string): void }) {
  const { rules: texts, forms } = useWords(formWords, ruleWords);
  const { rules } = useRules();
  // The operation would replace a rule that is there.
  const isTaken = rules?.some(({ ruleID }) => ruleID === draft.id) === true;
  return (
    <FormField
      label={texts.fields.id}
      value={draft.id}
      hint={forms.idHint}
      fault={draft.id === '' || (isID(draft.id) && !isTaken) ? null : forms.idWrong}
      most={64}
      isRequired
      hasFocus
      onChange={onChange}
    />
  );
}

function Fields({ rule, draft, faults, onChange }: FieldsProps & { readonly rule: Rule | null }) {
  const { rules: texts } = useWords(ruleWords);
  return (
    <>
      {rule === null ? <NewID draft={draft} onChange={(id) => onChange({ id })} /> : null}
      <FormField
        label={texts.fields.name}
        value={draft.name}
        most={128}
        onChange={(value) => onChange({ name: value })}
      />
      <OnOff
        label={texts.fields.state}
        text={texts.fields.active}
        isOn={draft.isActive}
        onChange={(isActive) => onChange({ isActive })}
      />
      <SubjectFields draft={draft} faults={faults} onChange={onChange} />
      <ActFields
        draft={draft}
        faults={faults}
        hadWebhook={rule !== null && rule.webhook !== null}
        onChange={onChange}
      />
      <QuietFields draft={draft} faults={faults} onChange={onChange} />
      <RuleTrial draft={draft} isOff={!isID(draft.id) || faults.size > 0} />
    </>
  );
}

export function RuleForm({ name, rule }: RuleFormProps) {
  const { rules: texts, forms } = useWords(formWords, ruleWords);
  const navigate = useNavigate();
  const dialog = useRuleDialog();
  const changed = useRulesChanged();
  const { rules } = useRules();
  const [draft, setDraft] = useState(() => draftOf(rule, ownZone()));
  const put = (change: Partial<RuleDraft>): void => setDraft((before) => ({ ...before, ...change }));
  const faults = faultsOf(draft);
  const isNew = rule === null;
  const show = (): void => {
    if (!isNew) return dialog.close();
    setDraft(draftOf(null, ownZone()));
    void navigate({ to: '/rules', search: { list: 'rules', rule: draft.id }, replace: true });
  };
  const saving = useMutation({
    mutationFn: () => call('updateRule', { body: bodyOf(draft) }),
    retry: false,
    // The answer may hold a secret.
    gcTime: 0,
    async onSuccess({ webhookSecret }) {
      if (webhookSecret !== undefined) return;
      await changed();
      show();
    },
  });
  const secret = saving.data?.webhookSecret;
  const isFree = !isNew || (isID(draft.id) && rules?.every(({ ruleID }) => ruleID !== draft.id) === true);
  const close = (): void => {
    if (secret === undefined) {
      setDraft(draftOf(rule, ownZone()));
      return dialog.close();
    }
    void changed().then(show);
  };
  return (
    <ChangeDialog
      isOpen={dialog.isOpen(name)}
      icon="bell-ring"
      title={isNew ? texts.createTitle : texts.editTitle({ rule: rule.ruleID })}
      action={secret !== undefined ? null : isNew ? texts.create : texts.save({ rule: rule.ruleID })}
      isOff={!isFree || faults.size > 0}
      beginsInField={isNew}
      change={saving}
      close={close}
    >
      {secret === undefined ? (
        <Fields rule={rule} draft={draft} faults={faults} onChange={put} />
      ) : (
        <>
          <Notice tone="busy" icon="key-round" title={forms.once} role="status" />
          <ShownSecret label={texts.secret} value={secret} />
        </>
      )}
    </ChangeDialog>
  );
}
