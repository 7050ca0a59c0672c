// Values of the page of the operator as text, each with its unit, and the parts that all groups are made of.

import { createContext, type ReactNode, use } from 'react';
import { hourS } from '../../../src/core/durations.ts';
import { formatNumber, formatTime } from '../../../src/core/words/format.ts';
import { Icon } from '../components/icon.tsx';
import { spanOf } from '../state/age.ts';
import { agoText, unitText } from '../words/base/spans.ts';
import { useTexts } from './words.ts';

const sizes = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

export function sizeText(bytes: number, locale: string): string {
  const step = Math.min(sizes.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return unitText(bytes / 1000 ** step, sizes[step] ?? 'byte', locale);
}

/** From a day on up to so many hours a span is said in hours: `26 hours` is not yet `2 days`. */
const hoursMost = 72;

/** Units of a span by its larger one. */
const spanUnits = {
  s: ['second', 'second'],
  min: ['minute', 'second'],
  h: ['hour', 'minute'],
  d: ['day', 'hour'],
} as const;

/** So exact that a value past a limit reads otherwise than the limit: `4 ms`, `40 seconds`, `2 hr 30 min`, `26 hours`. */
export function waitText(seconds: number, locale: string): string {
  if (seconds > 0 && seconds < 1) return unitText(Math.ceil(seconds * 1000), 'millisecond', locale);
  const hours = Math.floor(seconds / hourS);
  const isInHours = hours >= 24 && hours < hoursMost;
  const { unit, value, rest } = isInHours
    ? { unit: 'h' as const, value: hours, rest: Math.floor((seconds % hourS) / 60) }
    : spanOf(seconds);
  const [large, small] = spanUnits[unit];
  if (rest === null || rest === 0) return unitText(value, large, locale, 'long');
  const list = new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' });
  return list.format([unitText(value, large, locale), unitText(rest, small, locale)]);
}

/** The time now by the clock of the service, epoch seconds. */
export const NowContext = createContext(0);

/** Texts of values in the language of the page. */
export function useValues() {
  const { locale, never } = useTexts();
  const nowS = use(NowContext);
  return {
    nowS,
    count: (value: number) => formatNumber(value, locale),
    size: (bytes: number) => sizeText(bytes, locale),
    span: (seconds: number) => waitText(seconds, locale),
    days: (value: number) => unitText(value, 'day', locale, 'long'),
    percent: (value: number) => unitText(value, 'percent', locale),
    ago: (atS: number) => (atS === 0 ? never : agoText(nowS - atS, locale)),
    time: (atS: number) => formatTime(new Date(atS * 1000), locale, 'day'),
    date: (atS: number) => formatTime(new Date(atS * 1000), locale, 'date'),
  };
}

interface FactProps {
  readonly name: string;
  readonly children: ReactNode;
  /** When it was so, epoch seconds; 0: never. */
  readonly atS?: number;
}

export function Fact({ name, children, atS }: FactProps) {
  const { ago } = useValues();
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        <bdi>{children}</bdi>
        {atS === undefined ? null : <span className="age">{ago(atS)}</span>}
      </dd>
    </div>
  );
}

export const Facts = ({ children }: { readonly children: ReactNode }) => (
  <dl className="facts">{children}</dl>
);

/** What there is to say where there is no value. */
export const Note = ({ children }: { readonly children: ReactNode }) => <p className="muted">{children}</p>;

interface GroupProps {
  readonly id: string;
  readonly title: string;
  /** When the database was asked; absent: with the page. Null: it has not answered yet. */
  readonly atS?: number | null;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** A card with the age of what it shows. */
export function Group({ id, title, atS, isWide = false, children }: GroupProps) {
  const texts = useTexts();
  const { ago, nowS } = useValues();
  return (
    <section className="card" id={id} aria-labelledby={`${id}-title`} data-wide={isWide}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        <small className="push">{texts.readAgo({ ago: ago(atS ?? nowS) })}</small>
      </header>
      <div className="card-body stack">{atS === null ? <Note>{texts.unknown}</Note> : children}</div>
    </section>
  );
}

const looks = {
  good: ['circle-check', 'badge ok'],
  look: ['triangle-alert', 'badge look'],
  act: ['octagon-alert', 'badge act'],
} as const;

export function Level({ level }: { readonly level: keyof typeof looks }) {
  const texts = useTexts();
  const [icon, look] = looks[level];
  return (
    <span className={look} data-level={level}>
      <Icon name={icon} />
      {texts.levels[level]}
    </span>
  );
}

interface RowsProps<T> {
  readonly caption: string;
  readonly items: readonly T[];
  keyOf(item: T): string;
  /** The first column names the row. */
  readonly columns: readonly {
    readonly name: string;
    readonly isNumber?: boolean;
    cell(item: T): ReactNode;
  }[];
}

/** A table whose rows become cards on a narrow screen. */
export function Rows<T>({ caption, items, keyOf, columns }: RowsProps<T>) {
  return (
    <table className="table folds">
      <caption className="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th scope="col" key={name} className={isNumber === true ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(({ name, isNumber, cell }, at) =>
              at === 0 ? (
                <th scope="row" key={name}>
                  <bdi>{cell(item)}</bdi>
                </th>
              ) : (
                <td key={name} data-label={name} className={isNumber === true ? 'num' : undefined}>
                  <bdi>{cell(item)}</bdi>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
