// What the texts of the Arabic catalogue share: its digits, its plurals, and text of another direction.
import { formatNumber } from './format.ts';

export const locale = 'ar-u-nu-latn';
const rules = new Intl.PluralRules(locale);

export interface Forms {
  readonly one: string;
  readonly two: string;
  /** With the number before it: 3 to 10, and from 11 on. */
  readonly few: string;
  readonly many: string;
}

export function many(count: number, { one, two, few, many: rest }: Forms): string {
  const form = rules.select(count);
  if (form === 'one') return one;
  if (form === 'two') return two;
  return `${formatNumber(count, locale)} ${form === 'few' ? few : rest}`;
}

export const n = (value: number): string => formatNumber(value, locale);

/** Text of another direction, kept together (U+2068, U+2069). */
export const isolated = (text: string): string => `\u2068${text}\u2069`;
