// The login over the screen of an ended session: the same user goes on with what was typed; any other way leaves the screen.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef } from 'react';
import {
  Button,
  Dialog,
  Form,
  Heading,
  Input,
  Label,
  Modal,
  ModalOverlay,
  TextField,
} from 'react-aria-components';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useValue, useWords } from '../../components/use.ts';
import { hasFirst, takeFirst } from '../../service/arrival.ts';
import { hasClosedOrder, leaveEnded, session } from '../../service/session.ts';
import { signIn } from '../../service/sign-in.ts';
import { CodeField, useCodeStep } from './code-field.tsx';
import { Fault } from './fault.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { PasswordField } from './password-field.tsx';
import { useProvider } from './use-provider.ts';

/** A login that the address brings may be of another user: the login screen takes it. */
function useArrival(): void {
  useEffect(() => {
    const look = (): void => {
      if (!hasFirst()) takeFirst();
      if (hasFirst()) leaveEnded();
    };
    look();
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
}

function Content() {
  const { login } = useWords();
  const present = useValue(session);
  const isOrderClosed = useValue(hasClosedOrder);
  const password = useRef<HTMLInputElement>(null);
  const { accountID = '', userID = '' } = present ?? {};
  const code = useCodeStep(password);
  const { mutate, isPending, error, variables } = useMutation({
    mutationFn: signIn,
    onError: code.failed,
  });
  const provider = useProvider();
  useArrival();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!isPending) mutate(code.entryOf({ accountID, userID, password: password.current?.value ?? '' }));
  };
  return (
    <Form onSubmit={submit}>
      <header>
        <Icon name="lock" isLarge />
        <Heading slot="title">{login.ended}</Heading>
      </header>
      <div className="body">
        <p>{login.endedKept}</p>
        {isOrderClosed ? <Notice tone="look" icon="circle-alert" title={login.endedOrder} /> : null}
        {error === null ? null : <Fault thrown={error} way={variables?.kind ?? 'password'} />}
        <TextField className="field" isReadOnly autoComplete="organization" value={accountID}>
          <Label>{login.account}</Label>
          <Input className="input" />
        </TextField>
        <TextField className="field" isReadOnly autoComplete="username" value={userID}>
          <Label>{login.user}</Label>
          <Input className="input" />
        </TextField>
        <PasswordField input={password} hasFocus onChange={code.forget} />
        {code.isNeeded ? <CodeField input={code.input} /> : null}
        {/* The session that begins in the other tab is passed on to this one. */}
        {provider === '' ? null : (
          <a className="button secondary" href="/console/login" target="_blank" rel="noopener">
            <span className="cut-off">{login.providerTab({ host: provider })}</span>
          </a>
        )}
        <p className="muted">{login.endedOtherHint}</p>
      </div>
      <footer>
        <Button className="button secondary" onPress={leaveEnded}>
          {login.endedOther}
        </Button>
        <PasskeyButton isOff={isPending} onPress={() => mutate({ kind: 'passkey' })} />
        <Button className="button primary" type="submit" isPending={isPending}>
          {isPending ? login.busy : login.submit}
        </Button>
      </footer>
    </Form>
  );
}

export function LoginDialog() {
  return (
    <ModalOverlay className="overlay" isOpen isKeyboardDismissDisabled>
      <Modal className="modal">
        <Dialog className="dialog">
          <Content />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
