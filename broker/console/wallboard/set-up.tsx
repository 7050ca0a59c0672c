// How a wallboard is set up: which token it needs, and where that is made. It is asked for in this form, and taken from an address.
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { wallboardWords } from '../../../build/words/wallboard.ts';
import { isLanguage, languages } from '../../../src/core/words/languages.ts';
import { ActionButton } from '../components/action-button.tsx';
import { FormField } from '../components/form-field.tsx';
import { useValue, useWords } from '../components/use.ts';
import { chooseTheme, isTheme, theme, themes } from '../shell/theme.ts';
import { chooseLanguage } from '../words/language.ts';
import { language } from '../words/word-set.ts';
import { access, removeToken, type TokenFault, takeToken } from './access.ts';

const tokenMost = 260;

interface ChoiceProps {
  readonly label: string;
  readonly chosen: string;
  readonly choices: readonly (readonly [value: string, text: string])[];
  onChoose(value: string): void;
}

function Choice({ label, chosen, choices, onChoose }: ChoiceProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="input" value={chosen} onChange={({ target }) => onChoose(target.value)}>
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** How the screen looks: kept in this browser, like the token. */
function Looks() {
  const { wallboardSetup: texts, shell } = useWords(wallboardWords);
  return (
    <div className="row wrap">
      <Choice
        label={texts.language}
        chosen={useValue(language)}
        choices={Object.entries(languages)}
        onChoose={(value) => {
          if (isLanguage(value)) chooseLanguage(value);
        }}
      />
      <Choice
        label={texts.theme}
        chosen={useValue(theme)}
        choices={themes.map((one) => [one, shell.themes[one]] as const)}
        onChoose={(value) => {
          if (isTheme(value)) chooseTheme(value);
        }}
      />
    </div>
  );
}

export function SetUp({ onDone }: { readonly onDone: () => void }) {
  const { wallboardSetup: texts } = useWords(wallboardWords);
  const { kind } = useValue(access);
  const [token, setToken] = useState('');
  const [fault, setFault] = useState<TokenFault | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOff = token.trim() === '' || isBusy;
  const take = async (): Promise<void> => {
    setBusy(true);
    const found = await takeToken(token);
    setBusy(false);
    setFault(found);
    if (found === null) onDone();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isOff) void take();
  };
  return (
    <main className="page set-up">
      <h1>{texts.title}</h1>
      <p>{texts.text}</p>
      <ol>
        {Object.values(texts.steps).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Form className="stack" onSubmit={submit} validationBehavior="aria">
        <FormField
          label={texts.token}
          type="password"
          value={token}
          most={tokenMost}
          fault={fault === null ? null : texts.faults[fault]}
          isRequired
          hasFocus
          onChange={(text) => {
            setToken(text);
            setFault(null);
          }}
        />
        <p className="hidden" role="status">
          {isBusy ? texts.busy : ''}
        </p>
        <div className="row wrap">
          <ActionButton className="button primary" type="submit" isOff={isOff}>
            {texts.use}
          </ActionButton>
          {kind === 'none' ? null : (
            <>
              <button type="button" className="button secondary" onClick={onDone}>
                {texts.back}
              </button>
              <button type="button" className="button secondary" onClick={removeToken}>
                {texts.remove}
              </button>
            </>
          )}
        </div>
      </Form>
      <Looks />
    </main>
  );
}
