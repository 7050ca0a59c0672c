// The form of the settings of the account. What takes events or cuts away is asked for once more.
import { type FormEvent, useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { accountWords } from '../../../../build/words/account.ts';
import { formWords } from '../../../../build/words/form.ts';
import { settingWords } from '../../../../build/words/setting.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/form-field.tsx';
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
  const { account: texts, settings, forms, stream } = useWords(accountWords, formWords, settingWords);
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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isOff) return;
    if (changes.some((one) => accountLook(one) !== null)) setLooking(true);
    else send();
  };
  const kept = change.isSaved ? forms.saved : forms.unchanged;
  return (
    <section className="card narrow-container" aria-labelledby="account-settings-title">
      <header>
        <h2 id="account-settings-title">{texts.settings}</h2>
      </header>
      <Form className="card-body stack" onSubmit={submit} validationBehavior="aria">
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
        {isLooking ? null : failure}
        <div className="row wrap">
          <span className="muted" role="status">
            {change.isDown
              ? stream.commandsOff
              : changes.length > 0
                ? settings.changed({ count: changes.length })
                : kept}
          </span>
          {changes.length === 0 ? null : (
            <Button className="button secondary push" onPress={() => setTyped({})}>
              {settings.discard}
            </Button>
          )}
          <ActionButton
            className={changes.length === 0 ? 'button primary push' : 'button primary'}
            type="submit"
            isOff={isOff}
          >
            {forms.change}
          </ActionButton>
        </div>
      </Form>
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
    </section>
  );
}
