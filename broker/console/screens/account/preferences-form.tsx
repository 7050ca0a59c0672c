// The user's own preferences: what is kept at the service and applies wherever this user signs in.
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { accountWords } from '../../../../build/words/account.ts';
import { formWords } from '../../../../build/words/form.ts';
import { isLanguage, languages } from '../../../../src/core/words/languages.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { ServiceError } from '../../service/call.ts';
import { connection } from '../../service/live.ts';
import { usePreferences, useSavePreferences } from '../../shell/preferences.ts';
import { isTheme, themes } from '../../shell/theme.ts';
import { type ConsolePreferences, preferencesOf } from '../../state/account/preferences.ts';

interface FieldsProps {
  readonly kept: ConsolePreferences;
  onChange(change: Partial<ConsolePreferences>): void;
}

function Fields({ kept, onChange }: FieldsProps) {
  const { account, shell, common } = useWords(accountWords);
  const { preferences: texts } = account;
  const notKept = { value: 'none', text: texts.notKept };
  const chosen = (value: string): string | null => (value === 'none' ? null : value);
  return (
    <>
      <Choice
        label={texts.language}
        chosen={isLanguage(kept.language) ? kept.language : 'none'}
        choices={[notKept, ...Object.entries(languages).map(([value, text]) => ({ value, text }))]}
        onChoose={(value) => onChange({ language: chosen(value) })}
      />
      <Choice
        label={texts.theme}
        chosen={isTheme(kept.theme) ? kept.theme : 'none'}
        choices={[notKept, ...themes.map((value) => ({ value, text: shell.themes[value] }))]}
        onChoose={(value) => onChange({ theme: chosen(value) })}
      />
      <Choice
        label={texts.singleKeys}
        hint={shell.singleKeysHint}
        chosen={kept.singleKeys === null ? 'none' : kept.singleKeys ? 'on' : 'off'}
        choices={[notKept, { value: 'on', text: common.on }, { value: 'off', text: common.off }]}
        onChoose={(value) => onChange({ singleKeys: value === 'none' ? null : value === 'on' })}
      />
    </>
  );
}

export function PreferencesForm() {
  const { account, forms, stream } = useWords(accountWords, formWords);
  const { preferences: texts } = account;
  const { state } = useValue(connection);
  const { data, error } = usePreferences();
  const saving = useSavePreferences();
  const [chosen, setChosen] = useState<Partial<ConsolePreferences>>({});
  const isStale = saving.error instanceof ServiceError && saving.error.code === 'conflict';
  const failure = useFailure(isStale ? null : saving.error, forms.failed);
  const isDown = state !== 'live';
  const isOff = data === undefined || Object.keys(chosen).length === 0 || saving.isPending || isDown;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isOff) return;
    const kept = { ...preferencesOf(data.preferences), ...chosen };
    saving.mutate({ kept, from: data }, { onSuccess: () => setChosen({}) });
  };
  return (
    <section className="card" aria-labelledby="preferences-title">
      <header>
        <h2 id="preferences-title">{texts.title}</h2>
      </header>
      <Form className="card-body stack" onSubmit={submit} validationBehavior="aria">
        <p className="muted">{texts.text}</p>
        <View error={error} isLoaded={data !== undefined} empty={null}>
          {data === undefined ? null : (
            <Fields
              kept={{ ...preferencesOf(data.preferences), ...chosen }}
              onChange={(change) => {
                saving.reset();
                setChosen((before) => ({ ...before, ...change }));
              }}
            />
          )}
        </View>
        {failure}
        <p className="muted" role="status">
          {isDown ? stream.commandsOff : isStale ? texts.meanwhile : saving.isSuccess ? texts.saved : ''}
        </p>
        <div className="row">
          <ActionButton className="button primary" type="submit" isOff={isOff}>
            {texts.save}
          </ActionButton>
        </div>
      </Form>
    </section>
  );
}
