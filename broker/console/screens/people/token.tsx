// A token for a program: purpose, end, scopes and groups; shown once and kept nowhere.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { formWords } from '../../../../build/words/form.ts';
import { peopleWords } from '../../../../build/words/people.ts';
import { Checks } from '../../components/checks.tsx';
import { ChangeDialog } from '../../components/form-dialog.tsx';
import { FormField } from '../../components/form-field.tsx';
import { ShownSecret } from '../../components/shown-secret.tsx';
import { Notice } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { call } from '../../service/call.ts';
import { type TokenScope, tokenScopes } from '../../state/people-view.ts';
import { Choice } from '../cut/choice.tsx';
import { useGroups, usePeopleChanged, usePeopleDialog } from './use-people.ts';

const dayChoices = ['7', '30', '90', '365'] as const;

interface Draft {
  readonly description: string;
  readonly days: string;
  readonly scopes: readonly TokenScope[];
  readonly groups: readonly string[];
}

const nothing: Draft = { description: '', days: '90', scopes: ['read'], groups: [] };

function create({ description, days, scopes, groups }: Draft) {
  const expires = Math.floor(Date.now() / 1000) + Number(days) * 86_400;
  const limit = groups.length === 0 ? {} : { groups: [...groups] };
  return call('token', {
    body: { description: description.trim(), expires, scopes: [...scopes], ...limit },
  });
}

interface FieldsProps {
  readonly draft: Draft;
  onChange(change: Partial<Draft>): void;
}

function Fields({ draft, onChange }: FieldsProps) {
  const { token: texts } = useWords(peopleWords).people;
  const { groups } = useGroups();
  return (
    <>
      <p>{texts.text}</p>
      <FormField
        label={texts.description}
        value={draft.description}
        most={128}
        isRequired
        hasFocus
        onChange={(description) => onChange({ description })}
      />
      <Choice
        label={texts.days}
        choices={dayChoices.map((value) => ({ value, text: texts.dayChoices[value] }))}
        chosen={draft.days}
        onChoose={(days) => onChange({ days })}
      />
      <Checks
        label={texts.scopes}
        choices={tokenScopes.map((value) => ({ value, text: texts.scopeHints[value] }))}
        chosen={draft.scopes}
        onChoose={(values) => onChange({ scopes: tokenScopes.filter((one) => values.includes(one)) })}
      />
      {groups === undefined || groups.length === 0 ? null : (
        <Checks
          label={texts.groups}
          hint={texts.groupsHint}
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

export function NewToken() {
  const { people, forms } = useWords(formWords, peopleWords);
  const { token: texts } = people;
  const dialog = usePeopleDialog();
  const changed = usePeopleChanged();
  const [draft, setDraft] = useState(nothing);
  // Each call makes a further token: it is never repeated by itself.
  const making = useMutation({
    mutationFn: () => create(draft),
    retry: false,
    gcTime: 0,
    onSettled: changed,
  });
  const { data } = making;
  return (
    <ChangeDialog
      isOpen={dialog.isOpen('token-create')}
      icon="key-round"
      title={texts.title}
      action={data === undefined ? texts.create : null}
      isOff={draft.description.trim() === '' || draft.scopes.length === 0}
      beginsInField
      change={making}
      close={() => {
        setDraft(nothing);
        dialog.close();
      }}
    >
      {data === undefined ? (
        <Fields draft={draft} onChange={(change) => setDraft((before) => ({ ...before, ...change }))} />
      ) : (
        <>
          <Notice tone="busy" icon="key-round" title={forms.once} role="status" />
          <ShownSecret label={texts.shown} value={data.token} />
        </>
      )}
    </ChangeDialog>
  );
}
