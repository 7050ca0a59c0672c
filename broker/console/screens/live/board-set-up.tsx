// How a wallboard is set up: which token it needs, and where that is made. It is asked for in this form, and taken from an address.
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { wallboardWords } from '../../../../build/words/wallboard.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { FormField } from '../../components/fields/form-field.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { ThemeButton } from '../../shell/bar-menus.tsx';
import { access, removeToken, type TokenFault, takeToken } from './board-access.ts';

const tokenMost = 260;

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
      <ThemeButton />
    </main>
  );
}
