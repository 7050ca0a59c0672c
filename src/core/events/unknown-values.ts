// Recognises trackers' unknown values, and reads known values of any JSON type. Sources: the "not available" values of SAE J1939
// and NMEA 2000 (all bits set); NMEA 0183 to AIS converters (heading 511, latitude 91, longitude 181); Teltonika and Traccar
// forwarders (-1, 255, 65535); printf and JSON encoders of scripts (NaN, null, empty text). Pure.

/** Numbers that mean "unknown" if they are outside of the value's range. */
const unknownNumbers: ReadonlySet<number> = new Set([
  -1, 91, -91, 181, -181, 255, 361, 511, 999, -999, 9999, -9999, 32_767, -32_768, 65_534, 65_535, 99_999,
  16_777_215, 2_147_483_647, -2_147_483_648, 4_294_967_295,
]);

const unknownTexts: ReadonlySet<string> = new Set([
  '',
  '-',
  '--',
  'nan',
  '-nan',
  'null',
  'none',
  'nil',
  'n/a',
  'na',
  'undefined',
  'unknown',
  'inf',
  '-inf',
  'infinity',
  '-infinity',
]);

const numberForm = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;

/** True for a number outside of its range that means "unknown". */
export const isUnknownNumber = (value: number): boolean => unknownNumbers.has(value);

/** True for anything that means "unknown". */
export const isUnknown = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'number' && !Number.isFinite(value)) ||
  (typeof value === 'string' && unknownTexts.has(value.trim().toLowerCase()));

/** The number; null: unknown; undefined: no number. */
export function numberFrom(value: unknown): number | null | undefined {
  if (isUnknown(value)) return null;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !numberForm.test(value.trim())) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** The state; null: unknown; undefined: no state. */
export function flagFrom(value: unknown): boolean | null | undefined {
  if (typeof value === 'boolean') return value;
  if (isUnknown(value) || value === -1) return null;
  const text = String(value).trim().toLowerCase();
  if (text === '1' || text === 'true' || text === 'on') return true;
  return text === '0' || text === 'false' || text === 'off' ? false : undefined;
}
