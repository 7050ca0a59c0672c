// Numbers, amounts and times as the reader sees them, in the language, units, clock and zone of the page: the one place that writes them.
import { formatNumber, formatTime } from '../../../src/core/words/format.ts';
import { type Quantity, shownValue, unitOf } from '../state/account/measures.ts';
import { spanOf } from '../state/age.ts';
import { measures } from './measures.ts';
import { words as catalogue, type Words } from './word-set.ts';

/** A number and its unit, which never stand on two lines. */
export const withUnit = (value: number | string, unit: string): string => `${value}\u00a0${unit}`;

/** `2 s`, `1 min 06 s`, `2 h 14 min`, `3 d 4 h`. */
export function spanText(seconds: number, { units }: Words): string {
  const { unit, value, rest } = spanOf(seconds);
  if (unit === 's') return withUnit(value, units.s);
  if (unit === 'min')
    return `${withUnit(value, units.min)} ${withUnit(String(rest).padStart(2, '0'), units.s)}`;
  return `${withUnit(value, units[unit])} ${withUnit(rest ?? 0, unit === 'h' ? units.min : units.h)}`;
}

/** A length of time that was chosen, not counted: `30 min`, `1 h`, `90 s` as `1 min 30 s`. */
export function lengthText(seconds: number, words: Words): string {
  const { unit, value, rest } = spanOf(seconds);
  return rest === 0 ? withUnit(value, words.units[unit]) : spanText(seconds, words);
}

/** A moment in the reader's language, clock and zone. */
export const momentText = (seconds: number, form: Parameters<typeof formatTime>[2]): string =>
  formatTime(new Date(seconds * 1000), catalogue.get().locale, form, measures.get());

/** Whether a moment is of this day in the reader's zone. */
export const isToday = (seconds: number): boolean =>
  momentText(seconds, 'date') === momentText(Date.now() / 1000, 'date');

/** Time of day, with the date unless it is today. */
export const timeText = (seconds: number): string => momentText(seconds, isToday(seconds) ? 'time' : 'day');

/** A number in the reader's language. @param most digits after the decimal sign at most. */
export const numberText = (value: number, most = 0): string =>
  formatNumber(value, catalogue.get().locale, most);

/** A value of the service in the unit of the reader. @param most digits after the decimal sign at most. */
export function amountOf(
  value: number,
  quantity: Quantity,
  { units }: Words,
  most = 0,
): { readonly value: string; readonly unit: string } {
  const { system } = measures.get();
  return {
    value: numberText(shownValue(value, quantity, system), most),
    unit: units[unitOf(quantity, system)],
  };
}

/** The same in one text: `80 km/h`, `50 mph`. */
export function amountText(value: number, quantity: Quantity, words: Words, most = 0): string {
  const { value: number, unit } = amountOf(value, quantity, words, most);
  return withUnit(number, unit);
}

/** A share in percent. */
export const shareText = (share: number, { units }: Words): string =>
  withUnit(numberText(share * 100), units.percent);

/**
 * A place in degrees, in the form that maps and searches take in every language: latitude first, with decimal points. Shown in a `bdi`,
 * so that the two are not swapped from right to left.
 */
export const placeText = (latitude: number, longitude: number, digits = 5): string =>
  `${latitude.toFixed(digits)}, ${longitude.toFixed(digits)}`;
