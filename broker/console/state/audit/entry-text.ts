// Entries of the audit log as their screens write them. Pure.

/** Digits of a hash that are shown; the whole hash is the title. */
const hashDigits = 8;

/** Place in the chain and the first digits of the hash. @param hash null: it is not sealed yet. */
export const chainText = (chainNumber: number | null, hash: string | null): string =>
  `${chainNumber} ${(hash ?? '').slice(0, hashDigits)}`;

/** Members whose numbers are epoch seconds. */
const times: ReadonlySet<string> = new Set(['timestamp', 'expires', 'until']);

function valueText(name: string, value: unknown, timeText: (seconds: number) => string): string {
  if (typeof value === 'number' && value > 0 && times.has(name)) return timeText(value);
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Array.isArray(value)
    ? value.map((one) => valueText(name, one, timeText))
    : detailTexts(value as Readonly<Record<string, unknown>>, timeText);
  return members.length === 0 ? '–' : members.join(', ');
}

/** What changed: each member by its name in the service, with its value. @param timeText writes epoch seconds. */
export const detailTexts = (
  detail: Readonly<Record<string, unknown>>,
  timeText: (seconds: number) => string,
): readonly string[] =>
  Object.entries(detail).map(([name, value]) => `${name}: ${valueText(name, value, timeText)}`);
