// Numbers and times in the reader's language. Formatters are costly to make, and a table asks for thousands, so each is kept.
const numbers = new Map<string, Intl.NumberFormat>();
const rules = new Map<string, Intl.PluralRules>();
const times = new Map<string, Intl.DateTimeFormat>();

/** @param most digits after the decimal sign at most; trailing zeros are left out. */
export function formatNumber(value: number, locale: string, most = 0): string {
  const key = `${locale} ${most}`;
  const format = numbers.get(key) ?? new Intl.NumberFormat(locale, { maximumFractionDigits: most });
  numbers.set(key, format);
  return format.format(value);
}

const clock = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
const forms = {
  hour: clock,
  time: { ...clock, second: '2-digit' },
  day: { ...clock, second: '2-digit', day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  whole: { dateStyle: 'full', timeStyle: 'long' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

/** In the reader's zone. @param form `hour`: to the minute; `time`: to the second; `day`: with the date; `date`: the date alone; `whole`: with zone and year. */
export function formatTime(at: Date, locale: string, form: keyof typeof forms): string {
  const key = `${locale} ${form}`;
  const format = times.get(key) ?? new Intl.DateTimeFormat(locale, forms[form]);
  times.set(key, format);
  return format.format(at);
}

/** The plural form of a count, such as `one` or `other`, by the rules of the language. */
export function formOf(count: number, locale: string): string {
  const kept = rules.get(locale) ?? new Intl.PluralRules(locale);
  rules.set(locale, kept);
  return kept.select(count);
}
