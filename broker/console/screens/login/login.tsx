// Sign in: by password, at the login provider where the service has one, or by a link whose one-time code stands behind `#`.
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react';
import { Button, Form, Input, Label, TextField } from 'react-aria-components';
import { Icon, Logo } from '../../components/icon.tsx';
import { Notice } from '../../components/texts.tsx';
import { useTitle, useValue, useWords } from '../../components/use.ts';
import { type Arrival, takeArrival } from '../../service/arrival.ts';
import { call } from '../../service/call.ts';
import { goToProvider } from '../../service/provider-login.ts';
import { absence, session } from '../../service/session.ts';
import { type Entry, signIn } from '../../service/sign-in.ts';
import { ThemeButton } from '../../shell/bar-menus.tsx';
import { applyPreferences } from '../../shell/preferences.ts';
import type { Words } from '../../words/word-set.ts';
import { Fault } from './fault.tsx';

// The button that goes to the login provider; only where the service has one.

function ProviderButton({
  next,
  isDisabled,
}: {
  readonly next: string | undefined;
  readonly isDisabled: boolean;
}) {
  const { login } = useWords();
  const { data } = useQuery({
    queryKey: ['login-ways'],
    queryFn: ({ signal }) => call('loginWays', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
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
  const provider = data?.provider ?? '';
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

/** Streets of the town behind the form, in the frame of its picture. */
const streets = Array.from({ length: 15 }, (_, at) => `M-40 ${at * 62 - 40} L760 ${at * 62 - 240}`);
const crossings = Array.from({ length: 13 }, (_, at) => `M${at * 68 - 160} -20 L${at * 68 + 60} 920`);
const roads = [
  'M-40 330 L760 130',
  'M-40 578 L760 378',
  'M112 -20 L332 920',
  'M452 -20 L672 920',
  'M-40 170 C 160 230, 240 400, 420 470 S 640 500, 760 440',
];
const motorway = 'M520 -20 C 540 120, 500 250, 530 360 S 560 500, 470 540 S 180 610, -40 620';
const river = 'M600 -20 C 560 120, 650 240, 640 380 S 600 520, 640 700';

/** The land behind the form: a map without any place of this fleet. */
function Backdrop() {
  return (
    <div className="map" aria-hidden="true">
      <svg viewBox="0 0 720 900" preserveAspectRatio="xMidYMid slice" fill="none">
        <rect width="720" height="900" fill="var(--map-land)" />
        <path
          d="M345 70 L478 37 L512 168 L382 202Z M40 330 L160 300 L188 420 L70 450Z"
          fill="var(--map-park)"
        />
        <path d="M180 455 L470 382 L500 510 L210 585Z" fill="var(--map-built)" />
        <path d={river} stroke="var(--map-park)" strokeWidth="70" />
        <path d={[...streets, ...crossings].join(' ')} stroke="var(--map-street)" strokeWidth="3" />
        <path d={river} stroke="var(--map-water)" strokeWidth="26" />
        <path d={roads.join(' ')} stroke="var(--map-casing)" strokeWidth="9" />
        <path d={roads.join(' ')} stroke="var(--map-road)" strokeWidth="7" />
        <path d={motorway} stroke="var(--map-casing)" strokeWidth="13" />
        <path d={motorway} stroke="var(--map-motorway)" strokeWidth="10" />
        <path
          d="M-20 690 Q110 600 230 650 T400 640 Q520 590 590 640 T740 590 V920 H-20Z"
          fill="var(--map-water)"
          stroke="var(--map-casing)"
          strokeWidth="2"
        />
        <path d="M150 780 Q260 735 380 748 T520 762 Q420 800 300 800 T150 780Z" fill="var(--map-park)" />
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
