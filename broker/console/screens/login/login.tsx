// Sign in: by password, at the login provider where the service has one, or by a link whose one-time code stands behind `#`.
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, type RefObject, Suspense, useEffect, useRef, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { Icon, Logo } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { lazyPart, useTitle, useValue, useWords } from '../../components/use.ts';
import { type Arrival, firstArrival, takeArrival } from '../../service/arrival.ts';
import { goToProvider } from '../../service/provider-login.ts';
import { absence, lastUser, session, takeSession } from '../../service/session.ts';
import { type Entry, signIn } from '../../service/sign-in.ts';
import { ThemeButton } from '../../shell/bar-menus.tsx';
import { applyPreferences } from '../../shell/preferences.ts';
import { type Words, withWords } from '../../words/word-set.ts';
import { CodeField, useCodeStep } from './code-field.tsx';
import { Fault } from './fault.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import { PasswordField } from './password-field.tsx';
import { useProvider } from './use-provider.ts';

// The button that goes to the login provider; only where the service has one.

function ProviderButton({
  next,
  isDisabled,
}: {
  readonly next: string | undefined;
  readonly isDisabled: boolean;
}) {
  const { login } = useWords();
  const provider = useProvider();
  const way = useMutation({ mutationFn: goToProvider });
  const { reset } = way;
  useEffect(() => {
    // A page that the browser kept and shows again after "back" can begin anew.
    const begin = ({ persisted }: PageTransitionEvent): void => {
      if (persisted) reset();
    };
    addEventListener('pageshow', begin);
    return () => removeEventListener('pageshow', begin);
  }, [reset]);
  if (provider === '') return null;
  return (
    <>
      <p className="or">{login.or}</p>
      {way.error === null ? null : <Fault thrown={way.error} way="provider" />}
      <Button
        className="button secondary full"
        isDisabled={isDisabled}
        isPending={way.isPending || way.isSuccess}
        onPress={() => way.mutate(next)}
      >
        <span className="cut-off">
          {way.isPending || way.isSuccess ? login.toProvider : login.provider({ host: provider })}
        </span>
      </Button>
    </>
  );
}

/** What the address brought; null after a sign-out, which nothing undoes by itself. */
function nextEntry(): Arrival | null {
  const entry = firstArrival();
  return absence.get() === 'left' ? null : entry;
}

function Why({ words: { login } }: { readonly words: Words }): ReactNode {
  const why = useValue(absence);
  if (why === 'none') return null;
  if (why === 'left') return <Notice tone="ok" icon="circle-check" role="status" title={login.left} />;
  return (
    <Notice tone="look" icon="circle-alert" role="status" title={login.ended}>
      {login.endedHint}
    </Notice>
  );
}

const textOf = (value: FormDataEntryValue | null): string => (typeof value === 'string' ? value : '');

/** Account and user of the last session are filled in; a password manager knows the rest. */
function Fields({
  words: { login },
  password,
  onChange,
}: {
  readonly words: Words;
  readonly password: RefObject<HTMLInputElement | null>;
  onChange(): void;
}) {
  const [last] = useState(lastUser);
  return (
    <>
      <TextField
        className="field"
        name="accountID"
        isRequired
        autoComplete="organization"
        maxLength={64}
        defaultValue={last.accountID}
        autoFocus={last.userID === ''}
        onChange={onChange}
      >
        <Label>{login.account}</Label>
        <Input className="input" />
      </TextField>
      <TextField
        className="field"
        name="userID"
        isRequired
        autoComplete="username"
        maxLength={64}
        defaultValue={last.userID}
        onChange={onChange}
      >
        <Label>{login.user}</Label>
        <Input className="input" />
      </TextField>
      <PasswordField input={password} hasFocus={last.userID !== ''} onChange={onChange} />
    </>
  );
}

function LoginForm({ words, next }: { readonly words: Words; readonly next: string | undefined }) {
  const { login } = words;
  const password = useRef<HTMLInputElement>(null);
  const code = useCodeStep(password);
  const attempt = useMutation({
    async mutationFn(entry: Entry) {
      await signIn(entry);
      // The way in does not wait for them, and needs none.
      void applyPreferences().catch(() => undefined);
    },
    onError: code.failed,
  });
  const { mutate } = attempt;
  useEffect(() => {
    const enter = (): void => {
      const entry = nextEntry();
      if (entry !== null) mutate(entry);
    };
    // A link that is opened in the tab of this page changes no more than what stands behind `#`.
    const enterLink = (): void => {
      const link = takeArrival();
      if (link !== null) mutate(link);
    };
    enter();
    addEventListener('hashchange', enterLink);
    return () => removeEventListener('hashchange', enterLink);
  }, [mutate]);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string): string => textOf(given.get(name));
    if (!attempt.isPending)
      attempt.mutate(
        code.entryOf({
          accountID: text('accountID').trim(),
          userID: text('userID').trim(),
          password: text('password'),
        }),
      );
  };
  return (
    <Form className="stack login-form" aria-labelledby="login-title" onSubmit={submit}>
      <h1 id="login-title">{login.title}</h1>
      {attempt.error !== null ? (
        <Fault thrown={attempt.error} way={attempt.variables?.kind ?? 'password'} />
      ) : (
        <Why words={words} />
      )}
      <Fields words={words} password={password} onChange={code.forget} />
      {code.isNeeded ? <CodeField input={code.input} /> : null}
      <Button className="button primary full" type="submit" isPending={attempt.isPending}>
        {attempt.isPending ? login.busy : login.submit}
      </Button>
      <PasskeyButton
        className="full"
        isOff={attempt.isPending}
        onPress={() => attempt.mutate({ kind: 'passkey' })}
      />
      <ProviderButton next={next} isDisabled={attempt.isPending} />
      <p className="muted">{login.noPassword}</p>
    </Form>
  );
}

const Backdrop = lazyPart(async () => (await withWords(import('./backdrop.tsx'))).Backdrop);

export function LoginScreen() {
  const words = useWords();
  const present = useValue(session);
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/login' });
  useTitle(words.login.title);
  useEffect(takeSession, []);
  useEffect(() => {
    if (present !== null) void navigate({ href: next ?? '/live', replace: true });
  }, [present, next, navigate]);
  return (
    <div className="entry">
      <main>
        <div className="who row">
          <span className="brand">
            <Logo />
            {words.common.brand}
          </span>
          <span className="push">
            <ThemeButton />
          </span>
        </div>
        {present === null ? <LoginForm words={words} next={next} /> : null}
        <div className="who stack small-print">
          <p className="row faint">
            <Icon name="lock" />
            {words.login.ends}
          </p>
          {location.protocol === 'http:' ? (
            <p className="row faint">
              <Icon name="circle-alert" />
              {words.login.plain}
            </p>
          ) : null}
        </div>
      </main>
      <Suspense>
        <Backdrop />
      </Suspense>
    </div>
  );
}
