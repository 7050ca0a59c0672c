// The page of the operator: a form for the token, then the state of the service on one page, with what needs a person at its head.
import { type FormEvent, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { OperatorPageTexts } from '../../../build/words/operatorPage/en.ts';
import type { Moment } from '../../../src/core/silence.ts';
import { momentNow } from '../../client/silence.ts';
import type { StatusView } from '../api/operations.ts';
import { ChoiceField } from '../components/fields/choice-field.tsx';
import { Icon } from '../components/icon.tsx';
import { chooseTheme, theme, themes } from '../shell/theme.ts';
import {
  ageOfView,
  isOld,
  type OperatorFault,
  type OperatorState,
} from '../state/operator/operator-state.ts';
import type { FollowedStatus } from './follow.ts';
import { BridgesGroup, ConnectionsGroup, ErrorsGroup, QueuesGroup, ServiceGroup } from './groups.tsx';
import {
  AccountsGroup,
  BackupGroup,
  CertificatesGroup,
  QuarantineGroup,
  StorageGroup,
} from './stored-groups.tsx';
import { Level, Note, NowContext, useValues } from './values.tsx';
import { useTexts, wordOf } from './words.ts';

// What has passed a limit, worst first: what it is, the value with its limit, and what to do.

type Finding = StatusView['findings'][number];

/** What it is about in words, where it is a name of ours. */
function subjectOf({ code, subject }: Finding, texts: OperatorPageTexts): string {
  if (code === 'queue_old') return wordOf(texts.queues, subject);
  if (code === 'figures_old') return wordOf(texts.groups, subject);
  if (code === 'devices_refused') return wordOf(texts.refusals, subject);
  if (code === 'not_ready') return wordOf(texts.checks, subject);
  return code === 'lease_silent' ? wordOf(texts.works, subject) : subject;
}

function useQuantity() {
  const { count, size, span, days, percent } = useValues();
  return (value: number, unit: Finding['unit']): string => {
    if (unit === 'B') return size(value);
    if (unit === 's') return span(value);
    if (unit === 'd') return days(value);
    return unit === '%' ? percent(value) : count(value);
  };
}

/** In the words of the service: why something is not ready, or failed. */
function reasonOf(view: StatusView, { code, subject }: Finding): string {
  if (code === 'not_ready') return view.service.checks.find(({ name }) => name === subject)?.fault ?? '';
  return code === 'backup_failed' ? subject : '';
}

/** @param isOld the view is not current: that nothing was wrong then says nothing of now. */
function Findings({ view, isOld }: { readonly view: StatusView; readonly isOld: boolean }) {
  const texts = useTexts();
  const quantity = useQuantity();
  if (view.findings.length === 0) return <Note>{isOld ? texts.links.old : texts.nothing}</Note>;
  return (
    <ul className="findings">
      {view.findings.map((finding) => {
        const { code, level, subject, value, limit, unit } = finding;
        const reason = reasonOf(view, finding);
        const title = texts.titles[code];
        return (
          <li key={`${code} ${subject}`} className={`finding ${level}`} data-code={code}>
            <Level level={level} />
            <div>
              <h3>{typeof title === 'string' ? title : title({ what: subjectOf(finding, texts) })}</h3>
              {unit === 'none' || code === 'backup_missing' ? null : (
                <p>
                  <strong>{quantity(value, unit)}</strong>
                  {limit === 0 ? null : ` · ${texts.limit({ value: quantity(limit, unit) })}`}
                </p>
              )}
              {reason === '' ? null : (
                <p>
                  <bdi lang="en">{reason}</bdi>
                </p>
              )}
              <p className="muted">{texts.todos[code]}</p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** Longest token that is sent. */
const tokenMost = 300;

/** This moment, anew each second. */
function useNow(): Moment {
  const [now, setNow] = useState(momentNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(momentNow()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

function ThemeField() {
  const texts = useTexts();
  const chosen = useSyncExternalStore(theme.subscribe, theme.get);
  return (
    <ChoiceField
      label={texts.theme}
      value={chosen}
      choices={themes.map((name) => [name, texts.themes[name]])}
      onChoose={chooseTheme}
    />
  );
}

interface FaultNoticeProps {
  readonly fault: OperatorFault;
  /** What is said of the values that are still shown. */
  readonly hint?: string;
}

function FaultNotice({ fault, hint }: FaultNoticeProps) {
  const texts = useTexts();
  return (
    <div className="notice look">
      <Icon name="wifi-off" />
      <div>
        <strong role="alert">{texts.faults[fault]}</strong>
        {hint === undefined ? null : <p>{hint}</p>}
        <p className="muted">{texts.faultHints[fault]}</p>
      </div>
    </div>
  );
}

interface TokenFormProps {
  /** What became of the last token. */
  readonly fault: OperatorFault | null;
  enter(token: string): void;
}

function TokenForm({ fault, enter }: TokenFormProps) {
  const texts = useTexts();
  const [isEmpty, setEmpty] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    // Read from the field: the state of the page never holds the token.
    const token = field.current?.value.trim() ?? '';
    setEmpty(token === '');
    if (token === '') field.current?.focus();
    else enter(token);
  };
  return (
    <form className="stack token-form" onSubmit={submit}>
      {fault === null ? null : <FaultNotice fault={fault} />}
      <div className="field">
        {/* A password manager keeps the token under this name. */}
        <input type="text" name="username" autoComplete="username" value="operator" readOnly hidden />
        <label htmlFor="token">{texts.token}</label>
        <input
          ref={field}
          id="token"
          className="input"
          type="password"
          autoComplete="current-password"
          maxLength={tokenMost}
          aria-describedby={isEmpty ? 'token-fault token-hint' : 'token-hint'}
          aria-invalid={isEmpty}
        />
        {isEmpty ? (
          <small className="look" id="token-fault" role="alert">
            {texts.noToken}
          </small>
        ) : null}
        <small id="token-hint">{texts.tokenHint}</small>
      </div>
      <button type="submit" className="button primary">
        {texts.enter}
      </button>
    </form>
  );
}

const linkLooks = {
  asking: ['circle-dashed', 'badge'],
  current: ['signal', 'badge ok'],
  old: ['wifi-off', 'badge look'],
} as const;

/** Whether the page is current. It is announced when it changes; the seconds beside it are not. */
function LinkState({ link }: { readonly link: keyof typeof linkLooks }) {
  const texts = useTexts();
  const [icon, look] = linkLooks[link];
  return (
    <span className={look} role="status" data-link={link}>
      <Icon name={icon} />
      {texts.links[link]}
    </span>
  );
}

/** The alert where the last question was lost and no fault came back: the page stood still. */
const faultOf = ({ fault }: OperatorState): OperatorFault => fault ?? 'unreachable';

function Status({ state, now }: { readonly state: OperatorState; readonly now: Moment }) {
  const texts = useTexts();
  const { span } = useValues();
  const { view } = state;
  if (view === null) return null;
  const hasOldValues = isOld(state, now);
  return (
    <>
      {hasOldValues ? (
        <FaultNotice
          fault={faultOf(state)}
          hint={texts.oldHint({ span: span(ageOfView(state, now) / 1000) })}
        />
      ) : null}
      <div className={hasOldValues ? 'stack stale' : 'stack'} data-is-old={hasOldValues}>
        <section aria-labelledby="findings-title" className="stack">
          <h2 id="findings-title">{texts.findings}</h2>
          <Findings view={view} isOld={hasOldValues} />
        </section>
        <div className="groups">
          <ServiceGroup view={view} />
          <BackupGroup view={view} />
          <StorageGroup view={view} />
          <ConnectionsGroup view={view} />
          <QueuesGroup view={view} />
          <ErrorsGroup view={view} />
          <AccountsGroup view={view} />
          <QuarantineGroup view={view} />
          <BridgesGroup view={view} />
          <CertificatesGroup view={view} />
        </div>
      </div>
    </>
  );
}

interface HeadProps {
  readonly state: OperatorState;
  readonly now: Moment;
  readonly followed: FollowedStatus;
  lock(): void;
}

function Head({ state, now, followed, lock }: HeadProps) {
  const texts = useTexts();
  const { ago, nowS } = useValues();
  const hasOldValues = isOld(state, now);
  const heading = useRef<HTMLHeadingElement>(null);
  // The form had the focus and has gone.
  useEffect(() => heading.current?.focus(), []);
  const link = hasOldValues ? 'old' : state.view === null ? 'asking' : 'current';
  return (
    <header className="page-head">
      <h1 ref={heading} tabIndex={-1}>
        {texts.title}
      </h1>
      {state.view === null || hasOldValues ? null : <Level level={state.view.level} />}
      <LinkState link={link} />
      {state.view === null ? null : (
        <small>{texts.readAgo({ ago: ago(nowS - Math.floor(ageOfView(state, now) / 1000)) })}</small>
      )}
      <div className="row wrap push">
        <ThemeField />
        <button type="button" className="button secondary" onClick={followed.refresh}>
          {texts.refresh}
        </button>
        <button type="button" className="button secondary" onClick={lock}>
          <Icon name="lock" />
          {texts.lock}
        </button>
      </div>
      <p>{texts.about}</p>
    </header>
  );
}

export function OperatorPage({ followed }: { readonly followed: FollowedStatus }) {
  const texts = useTexts();
  const state = useSyncExternalStore(followed.state.subscribe, followed.state.get);
  const [hasEntered, setEntered] = useState(false);
  const now = useNow();
  const { view, fault } = state;
  const isLocked = !hasEntered || fault === 'unauthorized';
  const hasOldValues = isOld(state, now);
  const title =
    view === null
      ? texts.title
      : hasOldValues
        ? texts.tabOld
        : texts.tab({ level: texts.levels[view.level] });
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (isLocked) {
    const enter = (token: string): void => {
      setEntered(true);
      followed.enter(token);
    };
    return (
      <main className="operator">
        <header className="page-head">
          <h1>{texts.title}</h1>
          <div className="push">
            <ThemeField />
          </div>
          <p>{texts.about}</p>
        </header>
        <TokenForm fault={hasEntered ? fault : null} enter={enter} />
      </main>
    );
  }
  const lock = (): void => {
    setEntered(false);
    followed.lock();
  };
  const nowS = view === null ? 0 : view.timestamp + Math.floor(ageOfView(state, now) / 1000);
  return (
    <NowContext value={nowS}>
      <main className="operator" aria-busy={view === null && fault === null}>
        <Head state={state} now={now} followed={followed} lock={lock} />
        {view === null && fault !== null ? <FaultNotice fault={fault} /> : null}
        <Status state={state} now={now} />
      </main>
    </NowContext>
  );
}
