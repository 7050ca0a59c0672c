// Days as people name them, in a time zone. Pure.
import { dateOfNumber, dateText, dayNumberOf } from '../../../../src/core/calendar.ts';
import { dateAt, momentOf } from '../../../../src/core/zoned-time.ts';

/** The first second of a day of `2026-11-20` in a zone; null for what is no date. */
export function startOfDate(text: string, zone: string): number | null {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === '') return null;
  const at = momentOf(zone, { year: Number(year), month: Number(month), day: Number(day) }, 0);
  return at <= 0 ? null : at / 1000;
}

/** The last second of that day. A day of a change of the clock has another length. */
export function endOfDate(text: string, zone: string): number | null {
  const start = startOfDate(text, zone);
  if (start === null) return null;
  const next = dayNumberOf(dateAt(zone, start * 1000)) + 1;
  return momentOf(zone, dateOfNumber(next), 0) / 1000 - 1;
}

/** `2026-11-20` of a moment in a zone. */
export const dateOf = (seconds: number, zone: string): string => dateText(dateAt(zone, seconds * 1000));
