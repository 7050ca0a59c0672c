// The form of the settings of the account. What takes events or cuts away is asked for once more.
import { useState } from 'react';
import { accountWords } from '../../../../build/words/account.ts';
import { formWords } from '../../../../build/words/form.ts';
import { settingWords } from '../../../../build/words/setting.ts';
import { FormField } from '../../components/fields/form-field.tsx';
import { CardForm } from '../../components/patterns/card-form.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure } from '../../components/view.tsx';
import {
  type Account,
  type AccountChange,
  type AccountDraft,
  accountBody,
  accountChanges,
  accountDraftOf,
  accountFaults,
  accountFields,
  accountLook,
  nameMost,
  retainedLimit,
} from '../../state/account/account-view.ts';
import { AskDialog } from '../zones/parts.tsx';
import { useChangeAccount } from './use-account.ts';

interface FieldsProps {
  readonly account: Account;
  readonly draft: AccountDraft;
  onChange(change: Partial<AccountDraft>): void;
}

function Fields({ account, draft, onChange }: FieldsProps) {
  const { account: texts } = useWords(accountWords);
  const faults = accountFaults(account, draft);
  const { most, mayBeForEver } = retainedLimit(account);
  const hints = {
    ...texts.hints,
    name: undefined,
    retainedDays: texts.hints.retainedDays({ most, mayBeForEver }),
  };
  return accountFields.map((field) => (
    <FormField
      key={field}
      label={texts.fields[field]}
      value={draft[field]}
      hint={hints[field]}
      fault={faults.has(field) ? texts.wrong[field] : null}
      most={field === 'name' ? nameMost : 64}
      onChange={(value) => onChange({ [field]: value })}
    />
  ));
}

/** Each change with its value before and after, and what it takes away. */
function ChangeList({ changes }: { readonly changes: readonly AccountChange[] }) {
  const { account: texts, settings, common } = useWords(accountWords, settingWords);
  return (
    <ul className="stack tight">
      {changes.map((change) => {
        const look = accountLook(change);
        return (
          <li key={change.field}>
            <strong>{texts.fields[change.field]}</strong>
            {': '}
            <bdi>
              {settings.becomes({ before: change.before || common.none, after: change.after || common.none })}
            </bdi>
            {look === null ? null : <p className="look">{texts.looks[look]}</p>}
          </li>
        );
      })}
    </ul>
  );
}

export function AccountForm({ account }: { readonly account: Account }) {
  const { account: texts, settings, forms } = useWords(accountWords, formWords, settingWords);
  const { accountID } = account;
  const [typed, setTyped] = useState<Partial<AccountDraft>>({});
  const [isLooking, setLooking] = useState(false);
  const change = useChangeAccount(() => {
    // What the service has now is shown, and no longer what was typed.
    setTyped({});
    setLooking(false);
  });
  const failure = useFailure(change.failure, forms.failed);
  const draft = { ...accountDraftOf(account), ...typed };
  const changes = accountChanges(account, draft);
  const isOff =
    changes.length === 0 || accountFaults(account, draft).size > 0 || change.isBusy || change.isDown;
  const send = (): void => change.run(accountBody(account, draft));
  const submit = (): void => {
    if (changes.some((one) => accountLook(one) !== null)) setLooking(true);
    else send();
  };
  const kept = change.isSaved ? forms.saved : forms.unchanged;
  return (
    <div className="narrow-container">
      <Card title={texts.settings} isBare>
        <CardForm
          isOff={isOff}
          status={changes.length > 0 ? settings.changed({ count: changes.length }) : kept}
          failure={isLooking ? null : failure}
          discard={changes.length === 0 ? null : { text: settings.discard, run: () => setTyped({}) }}
          submit={submit}
        >
          <div className="halves even">
            <Fields
              account={account}
              draft={draft}
              onChange={(one) => {
                change.reset();
                setTyped((before) => ({ ...before, ...one }));
              }}
            />
          </div>
        </CardForm>
      </Card>
      <AskDialog
        isOpen={isLooking}
        title={texts.look({ account: accountID })}
        confirm={texts.lookAction({ account: accountID })}
        isOff={isOff}
        onClose={() => setLooking(false)}
        onConfirm={send}
      >
        <ChangeList changes={changes} />
        {failure}
      </AskDialog>
    </div>
  );
}
