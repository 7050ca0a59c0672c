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

const minutes = { hour: '2-digit', minute: '2-digit' } as const;
const forms = {
  hour: minutes,
  time: { ...minutes, second: '2-digit' },
  day: { ...minutes, second: '2-digit', day: 'numeric', month: 'short' },
  date: { day: 'numeric', month: 'short', year: 'numeric' },
  whole: { dateStyle: 'full', timeStyle: 'long' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;

export interface TimeChoice {
  readonly clock: '24' | '12';
  /** IANA name; null: the zone of this computer. */
  readonly zone: string | null;
}

/** @param form `hour`: to the minute; `time`: to the second; `day`: with the date; `date`: the date alone; `whole`: with zone and year. */
export function formatTime(
  at: Date,
  locale: string,
  form: keyof typeof forms,
  { clock, zone }: TimeChoice = { clock: '24', zone: null },
): string {
  const key = `${locale} ${form} ${clock} ${zone}`;
  const format = times.get(key) ?? new Intl.DateTimeFormat(locale, optionsOf(form, clock, zone));
  times.set(key, format);
  return format.format(at);
}

function optionsOf(
  form: keyof typeof forms,
  clock: TimeChoice['clock'],
  zone: string | null,
): Intl.DateTimeFormatOptions {
  // `hour12: false` would say 24:05 in some languages. A clock of 12 hours has no leading zero.
  const ofClock: Intl.DateTimeFormatOptions =
    form === 'date'
      ? {}
      : form === 'whole' || clock === '24'
        ? { hourCycle: clock === '24' ? 'h23' : 'h12' }
        : { hourCycle: 'h12', hour: 'numeric' };
  return { ...forms[form], ...ofClock, ...(zone === null ? {} : { timeZone: zone }) };
}

/** The plural form of a count, such as `one` or `other`, by the rules of the language. */
export function formOf(count: number, locale: string): string {
  const kept = rules.get(locale) ?? new Intl.PluralRules(locale);
  rules.set(locale, kept);
  return kept.select(count);
}
