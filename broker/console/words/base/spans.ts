// Spans and units in the language of the page, by `Intl` alone.
import { spanOf } from '../../state/age.ts';

const units = { s: 'second', min: 'minute', h: 'hour', d: 'day' } as const;

/** `12 seconds`, `3 hours`: one unit. */
export function spanText(ms: number, locale: string): string {
  const { unit, value } = spanOf(ms / 1000);
  return unitText(value, units[unit], locale, 'long');
}

/** `12 seconds ago`. @param seconds negative counts as 0. */
export function agoText(seconds: number, locale: string): string {
  const { unit, value } = spanOf(seconds);
  return new Intl.RelativeTimeFormat(locale).format(-value, units[unit]);
}

/** A number with a unit of ECMA-402. */
export function unitText(
  value: number,
  unit: string,
  locale: string,
  unitDisplay: 'short' | 'long' = 'short',
): string {
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay,
    maximumFractionDigits: 1,
  }).format(value);
}
