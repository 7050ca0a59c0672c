// Sign in: by password, at the login provider where the service has one, or by a link whose one-time code stands behind `#`.
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { Icon, Logo } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { type Arrival, takeArrival } from '../../service/arrival.ts';
import { absence, session } from '../../service/session.ts';
import { type Entry, signIn } from '../../service/sign-in.ts';
import { ThemeButton } from '../../shell/bar-menus.tsx';
import { applyPreferences } from '../../shell/preferences.ts';
import type { Words } from '../../words/en.ts';
import { Fault } from './fault.tsx';
import { ProviderButton } from './provider-button.tsx';

/**
 * What the address brought, until it was used: each works once. With a session in this tab it is not used, so that the link of
 * another person replaces none; it is once the service no longer knows that session.
 */
let arrival = takeArrival();

/** Takes it; null after a sign-out, which nothing undoes by itself. */
function nextEntry(): Arrival | null {
  const entry = absence.get() === 'left' ? null : arrival;
  arrival = null;
  return entry;
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

function LoginForm({ words, next }: { readonly words: Words; readonly next: string | undefined }) {
  const { login } = words;
  const password = useRef<HTMLInputElement>(null);
  const attempt = useMutation({
    async mutationFn(entry: Entry) {
      await signIn(entry);
      // The way in does not wait for them, and needs none.
      void applyPreferences().catch(() => undefined);
    },
    onError: () => password.current?.select(),
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
      attempt.mutate({
        kind: 'password',
        accountID: text('accountID').trim(),
        userID: text('userID').trim(),
        password: text('password'),
      });
  };
  return (
    <Form className="stack login-form" aria-labelledby="login-title" onSubmit={submit}>
      <h1 id="login-title">{login.title}</h1>
      {attempt.error !== null ? (
        <Fault thrown={attempt.error} way={attempt.variables?.kind ?? 'password'} />
      ) : (
        <Why words={words} />
      )}
      <TextField
        className="field"
        name="accountID"
        isRequired
        autoComplete="organization"
        maxLength={64}
        autoFocus
      >
        <Label>{login.account}</Label>
        <Input className="input" />
      </TextField>
      <TextField className="field" name="userID" isRequired autoComplete="username" maxLength={64}>
        <Label>{login.user}</Label>
        <Input className="input" />
      </TextField>
      <TextField className="field" name="password" type="password" isRequired autoComplete="current-password">
        <Label>{login.password}</Label>
        <Input className="input" ref={password} />
      </TextField>
      <Button className="button primary full" type="submit" isPending={attempt.isPending}>
        {attempt.isPending ? login.busy : login.submit}
      </Button>
      <ProviderButton next={next} isDisabled={attempt.isPending} />
      <p className="muted">{login.noPassword}</p>
    </Form>
  );
}

/** The land behind the form: lines of a map, without any place of this fleet. */
function Backdrop() {
  const [lines] = useState(() =>
    Array.from(
      { length: 14 },
      (_, at) => `M-40 ${at * 70 - 60} C 180 ${at * 62 - 20}, 360 ${at * 84 - 120}, 760 ${at * 66 - 80}`,
    ),
  );
  return (
    <div className="map" aria-hidden="true">
      <svg viewBox="0 0 720 900" preserveAspectRatio="xMidYMid slice">
        <rect width="720" height="900" fill="var(--map-land)" />
        <path d="M-20 640 Q140 560 300 640 T740 590 V920 H-20Z" fill="var(--map-water)" />
        <path d="M430 90 Q560 40 660 130 T600 320 Q470 340 430 220Z" fill="var(--map-park)" />
        <g fill="none" stroke="var(--map-casing)" strokeWidth="3">
          {lines.map((line) => (
            <path key={line} d={line} transform="rotate(-58 360 450)" />
          ))}
        </g>
        <g fill="none" stroke="var(--map-road)" strokeWidth="6">
          {lines.slice(3, 10).map((line) => (
            <path key={line} d={line} />
          ))}
        </g>
      </svg>
    </div>
  );
}

export function LoginScreen() {
  const words = useWords();
  const present = useValue(session);
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/login' });
  useTitle(words.login.title);
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
      <Backdrop />
    </div>
  );
}
