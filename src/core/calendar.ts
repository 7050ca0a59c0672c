// Days of the Gregorian calendar as numbers, and back. Pure: cores have no `Date`. (Howard Hinnant, "chrono-compatible low-level date
// algorithms", days_from_civil and civil_from_days.)

export interface CalendarDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

/** Days since 1 January 1970; a day beyond the month counts on into the next. */
export function dayNumberOf({ year, month, day }: CalendarDate): number {
  // Years begin in March, so that the leap day is their last.
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The date of a number of days since 1 January 1970. */
export function dateOfNumber(days: number): CalendarDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

const digits = (value: number, length: number): string => String(value).padStart(length, '0');

/** `2026-11-20`. */
export const dateText = ({ year, month, day }: CalendarDate): string =>
  `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;

/** The number of a day such as `2026-11-20`; null for any other text, and a day that its month has not. */
export function dayNumberOfText(text: string): number | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const number = dayNumberOf({ year: Number(year), month: Number(month), day: Number(day) });
  return day !== undefined && dateText(dateOfNumber(number)) === text ? number : null;
}

const secondsOfDay = 86_400;

/** `2026-11-20T06:30:00.000Z` of epoch seconds. */
export function utcText(seconds: number): string {
  const days = Math.floor(seconds / secondsOfDay);
  const second = Math.floor(seconds - days * secondsOfDay);
  const time = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
  return `${dateText(dateOfNumber(days))}T${time.map((one) => digits(one, 2)).join(':')}.000Z`;
}
