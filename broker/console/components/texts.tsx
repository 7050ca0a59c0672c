// Ages, times, badges of alarms and events, notices: the small parts that say something about a value.
import type { ReactNode } from 'react';
import { codeName } from '../../../src/core/code-name.ts';
import { momentText, spanText, timeText } from '../words/amounts.ts';
import type { Words } from '../words/word-set.ts';
import { Icon, type IconName } from './icon.tsx';
import { useServiceNow, useWords } from './use.ts';

export * from '../words/amounts.ts';

export function Time({ at }: { readonly at: number }) {
  const date = new Date(at * 1000);
  return (
    <time dateTime={date.toISOString()} title={momentText(at, 'whole')}>
      {timeText(at)}
    </time>
  );
}

/** How long ago by the clock of the service, anew each second. @param at epoch seconds; 0: never. */
export function Age({ at, isBare = false }: { readonly at: number; readonly isBare?: boolean }) {
  const words = useWords();
  const now = useServiceNow();
  if (at === 0) return <bdi>{words.age.never}</bdi>;
  const span = spanText(now - at, words);
  return <bdi>{isBare ? span : words.age.ago({ span })}</bdi>;
}

export const codeText = (statusCode: number, { codes }: Words): string => codeName(statusCode, codes);

const icons: Readonly<Record<number, IconName>> = {
  63553: 'siren',
  63809: 'octagon-alert',
  63601: 'truck',
  62673: 'box',
  62689: 'box',
  63625: 'box',
  4370: 'satellite',
  64805: 'satellite',
  64807: 'satellite',
  61968: 'hexagon',
  62000: 'hexagon',
  62465: 'power',
  62467: 'power',
  63681: 'power',
  64817: 'wifi-off',
  63646: 'wifi-off',
  63645: 'signal',
  4353: 'hourglass',
};

/** The icon of a kind of event. */
export const iconOf = (statusCode: number, fallback: IconName = 'circle-alert'): IconName =>
  icons[statusCode] ?? fallback;

interface BadgeProps {
  readonly icon: IconName;
  readonly tone?: 'act' | 'act taken' | 'look' | 'ok' | 'busy';
  readonly children: ReactNode;
}

export function Badge({ icon, tone, children }: BadgeProps) {
  return (
    <span className={tone === undefined ? 'badge' : `badge ${tone}`}>
      <Icon name={icon} />
      {children}
    </span>
  );
}

interface NoticeProps {
  readonly tone: 'act' | 'look' | 'ok' | 'busy';
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  /** `alert` is announced at once, `status` politely. */
  readonly role?: 'alert' | 'status';
}

export function Notice({ tone, icon, title, children, role }: NoticeProps) {
  return (
    <div className={`notice ${tone}`} {...(role === undefined ? {} : { role })}>
      <Icon name={icon} />
      <div>
        <strong>{title}</strong>
        {children === undefined ? null : <p className="muted">{children}</p>}
      </div>
    </div>
  );
}

/** A fact with its unit and age; unknown (null) is a word. */
export function Fact({
  name,
  value,
  unit,
  age,
  isBig = false,
}: {
  readonly name: string;
  readonly value: ReactNode;
  readonly unit?: string;
  readonly age?: ReactNode;
  readonly isBig?: boolean;
}) {
  const { age: words } = useWords();
  return (
    <div className={isBig ? 'fact big' : 'fact'}>
      <dt>{name}</dt>
      <dd>
        <bdi>
          {value ?? words.unknown}
          {unit !== undefined && value !== null ? <span className="unit">{`\u00a0${unit}`}</span> : null}
        </bdi>
        {age === undefined ? null : <span className="age">{age}</span>}
      </dd>
    </div>
  );
}

/** A name in a table: cut where it is long, whole under the pointer, at the focus, and for a screen reader. */
export function LongName({ text }: { readonly text: string }) {
  return (
    <bdi className="long-name" title={text}>
      {text}
    </bdi>
  );
}

/** What an empty view says. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Bars that stand still; over nothing but a view without data. */
export function Loading({ rows }: { readonly rows: number }) {
  const { common } = useWords();
  return (
    <div className="loading" role="status">
      <span className="hidden">{common.loading}</span>
      {Array.from({ length: rows }, (_, at) => (
        <div className="skeleton" key={at} />
      ))}
    </div>
  );
}
