// The user's own preferences: what is kept at the service and applies wherever this user signs in.
import { useState } from 'react';
import { accountWords } from '../../../../build/words/account.ts';
import { formWords } from '../../../../build/words/form.ts';
import { isLanguage, languages } from '../../../../src/core/words/languages.ts';
import { CardForm } from '../../components/patterns/card-form.tsx';
import { Choice } from '../../components/patterns/choice.tsx';
import { Card } from '../../components/patterns/page.tsx';
import { useWords } from '../../components/use.ts';
import { useFailure, View } from '../../components/view.tsx';
import { ServiceError } from '../../service/call.ts';
import { usePreferences, useSavePreferences } from '../../shell/preferences.ts';
import { isTheme, themes } from '../../shell/theme.ts';
import { clocks, isClock, isSystem, systems, zoneChoices } from '../../state/account/measures.ts';
import { type ConsolePreferences, preferencesOf } from '../../state/account/preferences.ts';
import { ownZone } from '../../words/measures.ts';
import { useFigures } from './use-account.ts';

interface FieldsProps {
  readonly kept: ConsolePreferences;
  onChange(change: Partial<ConsolePreferences>): void;
}

function Fields({ kept, onChange }: FieldsProps) {
  const { account, shell, common } = useWords(accountWords);
  const { preferences: texts } = account;
  const { data: figures } = useFigures();
  const notKept = { value: 'none', text: texts.notKept };
  const byRegion = { value: 'none', text: texts.byRegion };
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
      <Choice
        label={texts.system}
        chosen={kept.system ?? 'none'}
        choices={[byRegion, ...systems.map((value) => ({ value, text: texts.systems[value] }))]}
        onChoose={(value) => onChange({ system: isSystem(value) ? value : null })}
      />
      <Choice
        label={texts.clock}
        chosen={kept.clock ?? 'none'}
        choices={[byRegion, ...clocks.map((value) => ({ value, text: texts.clocks[value] }))]}
        onChoose={(value) => onChange({ clock: isClock(value) ? value : null })}
      />
      <Choice
        label={texts.zone}
        hint={texts.zoneHint}
        chosen={kept.zone ?? 'own'}
        choices={zoneChoices.map((value) => ({
          value,
          text: texts.zones[value]({ zone: value === 'own' ? ownZone() : (figures?.timeZone ?? '…') }),
        }))}
        onChoose={(value) => onChange({ zone: value === 'account' ? value : null })}
      />
    </>
  );
}

export function PreferencesForm() {
  const { account, forms } = useWords(accountWords, formWords);
  const { preferences: texts } = account;
  const { data, error } = usePreferences();
  const saving = useSavePreferences();
  const [chosen, setChosen] = useState<Partial<ConsolePreferences>>({});
  const isStale = saving.error instanceof ServiceError && saving.error.code === 'conflict';
  const kept = data === undefined ? null : { ...preferencesOf(data.preferences), ...chosen };
  return (
    <Card title={texts.title} isBare>
      <CardForm
        isOff={kept === null || Object.keys(chosen).length === 0 || saving.isPending}
        action={texts.save}
        status={isStale ? texts.meanwhile : saving.isSuccess ? texts.saved : ''}
        failure={useFailure(isStale ? null : saving.error, forms.failed)}
        submit={() => {
          if (data !== undefined && kept !== null)
            saving.mutate({ kept, from: data }, { onSuccess: () => setChosen({}) });
        }}
      >
        <p className="muted">{texts.text}</p>
        <View error={error} isLoaded={data !== undefined} empty={null}>
          {kept === null ? null : (
            <Fields
              kept={kept}
              onChange={(change) => {
                saving.reset();
                setChosen((before) => ({ ...before, ...change }));
              }}
            />
          )}
        </View>
      </CardForm>
    </Card>
  );
}
