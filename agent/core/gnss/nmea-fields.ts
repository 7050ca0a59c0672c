// Reads the comma-separated fields of one NMEA 0183 sentence directly from its bytes, in sequence and without making strings. An empty or absent
// field is null. An invalid field sets `bad` on the reader; it must never be read as 0 and never be repaired by guessing.

const comma = 0x2c;
const dot = 0x2e;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;

/** Powers of ten that a double holds exactly; a mantissa of 15 digits divided by one of them is rounded correctly. */
const powersOfTen = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
] as const;
const maxIntegerDigits = 9;
const maxDigits = 15;

/** Position inside one sentence. Valid for one call of the decoder. */
export interface FieldReader {
  readonly bytes: Uint8Array;
  /** First byte of the next field. */
  at: number;
  /** Index of the `*` that ends the last field. */
  end: number;
  /** The last field read: [from, to). */
  from: number;
  to: number;
  /** A field was present but violates the format of the sentence. */
  bad: boolean;
}

/** A reader over `bytes`; `aim` sets its sentence. */
export function createFieldReader(bytes: Uint8Array): FieldReader {
  return { bytes, at: 0, end: 0, from: 0, to: 0, bad: false };
}

/** Sets the fields of the reader to [at, end). */
export function aim(reader: FieldReader, at: number, end: number): void {
  reader.at = at;
  reader.end = end;
  reader.bad = false;
}

/** True while the sentence has another field, even an empty one. */
export function hasField(reader: FieldReader): boolean {
  return reader.at <= reader.end;
}

/** Steps to the next field; false: empty or absent. */
export function nextField(reader: FieldReader): boolean {
  const { bytes, end, at } = reader;
  if (at > end) {
    reader.from = end;
    reader.to = end;
    return false;
  }
  let to = at;
  while (to < end && bytes[to] !== comma) to += 1;
  reader.from = at;
  reader.to = to;
  reader.at = to + 1;
  return to > at;
}

export function skipFields(reader: FieldReader, count: number): void {
  for (let i = 0; i < count; i += 1) nextField(reader);
}

/** Decimal number in [from, to), or NaN. Exact for up to 15 digits; further decimals are ignored. */
function parseDecimal(bytes: Uint8Array, from: number, to: number): number {
  const negative = bytes[from] === minus;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1; // -1 until the point
  for (let i = negative ? from + 1 : from; i < to; i += 1) {
    const byte = bytes[i] ?? 0;
    if (byte === dot && decimals < 0) {
      if (digits > maxIntegerDigits) return Number.NaN;
      decimals = 0;
    } else if (byte >= zero && byte <= nine) {
      if (digits < maxDigits) {
        mantissa = mantissa * 10 + (byte - zero);
        if (decimals >= 0) decimals += 1;
      }
      digits += 1;
    } else {
      return Number.NaN;
    }
  }
  if (digits === 0 || (decimals < 0 && digits > maxIntegerDigits)) return Number.NaN;
  const value = mantissa / (powersOfTen[Math.max(0, decimals)] ?? 1);
  return negative && value !== 0 ? -value : value;
}

/** The next field as a number from `min` to `max`; anything else is bad. */
export function readNumber(reader: FieldReader, min: number, max: number): number | null {
  if (!nextField(reader)) return null;
  const value = parseDecimal(reader.bytes, reader.from, reader.to);
  if (value >= min && value <= max) return value;
  reader.bad = true;
  return null;
}

/** The next field as a whole number from `min` to `max`. */
export function readInteger(reader: FieldReader, min: number, max: number): number | null {
  const value = readNumber(reader, min, max);
  if (value === null || Number.isInteger(value)) return value;
  reader.bad = true;
  return null;
}

/** The next field as one character; null if empty, bad if longer. */
export function readLetter(reader: FieldReader): string | null {
  if (!nextField(reader)) return null;
  if (reader.to - reader.from === 1) return String.fromCharCode(reader.bytes[reader.from] ?? 0);
  reader.bad = true;
  return null;
}

function isZeros({ bytes, from, to }: FieldReader): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] !== zero) return false;
  return true;
}

/** Two digits at `at` as a number, or NaN. */
function pairAt(reader: FieldReader, at: number): number {
  const tens = (reader.bytes[at] ?? 0) - zero;
  const units = (reader.bytes[at + 1] ?? 0) - zero;
  const isPair = at + 2 <= reader.to && tens >= 0 && tens <= 9 && units >= 0 && units <= 9;
  return isPair ? tens * 10 + units : Number.NaN;
}

/** `hhmmss` or `hhmmss.sss` as ms of the day; 60 is allowed for a leap second. Digits below a millisecond are dropped. */
export function readTimeOfDay(reader: FieldReader): number | null {
  if (!nextField(reader)) return null;
  const { bytes, from, to } = reader;
  const hours = pairAt(reader, from);
  const minutes = pairAt(reader, from + 2);
  const seconds = pairAt(reader, from + 4);
  let ms = 0;
  let ok = hours < 24 && minutes < 60 && seconds <= 60 && (to === from + 6 || bytes[from + 6] === dot);
  for (let i = from + 7, weight = 100; ok && i < to; i += 1, weight /= 10) {
    const digit = (bytes[i] ?? 0) - zero;
    ok = digit >= 0 && digit <= 9;
    if (weight >= 1) ms += digit * weight;
  }
  if (ok) return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
  reader.bad = true;
  return null;
}

/** Days since 1970-01-01 of a real calendar date from 1980 (GPS epoch) to 2099, else null. */
export function dayNumber(year: number, month: number, day: number): number | null {
  const leap = year % 4 === 0; // holds from 1901 to 2099
  const monthDays =
    month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  if (!(year >= 1980 && year <= 2099 && month >= 1 && month <= 12 && day >= 1 && day <= monthDays))
    return null;
  // Howard Hinnant, "chrono-compatible low-level date algorithms", days_from_civil, era of 1900 to 2099.
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear - 719_468;
}

/** `ddmmyy` as days since 1970-01-01; yy from 80 is 19yy, because GPS time began in 1980. 000000 means none yet. */
export function readDate(reader: FieldReader): number | null {
  if (!nextField(reader) || isZeros(reader)) return null;
  const shortYear = pairAt(reader, reader.from + 4);
  const isDate = reader.to - reader.from === 6 && !Number.isNaN(shortYear);
  const year = shortYear >= 80 ? 1900 + shortYear : 2000 + shortYear;
  const day = isDate ? dayNumber(year, pairAt(reader, reader.from + 2), pairAt(reader, reader.from)) : null;
  if (day === null) reader.bad = true;
  return day;
}

/** The two letters of an axis, positive first, and its largest value. */
export interface Axis {
  readonly degreeDigits: 2 | 3;
  readonly maxDeg: 90 | 180;
  readonly positive: 'N' | 'E';
  readonly negative: 'S' | 'W';
}
export const latitudeAxis: Axis = { degreeDigits: 2, maxDeg: 90, positive: 'N', negative: 'S' };
export const longitudeAxis: Axis = { degreeDigits: 3, maxDeg: 180, positive: 'E', negative: 'W' };

/** `ddmm.mm,N` or `dddmm.mm,E` in degrees; the width of the degrees is fixed, so a lost digit is detected. */
export function readAngle(reader: FieldReader, axis: Axis): number | null {
  const present = nextField(reader);
  const { from, to, bytes } = reader;
  const letter = readLetter(reader);
  if (!present) return null; // a hemisphere alone means nothing
  let degrees = 0;
  let ok = to - from >= axis.degreeDigits + 2;
  for (let i = from; ok && i < from + axis.degreeDigits; i += 1) {
    const digit = (bytes[i] ?? 0) - zero;
    ok = digit >= 0 && digit <= 9;
    degrees = degrees * 10 + digit;
  }
  const minutesFrom = from + axis.degreeDigits;
  const width = to - minutesFrom;
  const twoDigits =
    bytes[minutesFrom] !== minus && bytes[minutesFrom] !== dot && bytes[minutesFrom + 1] !== dot;
  const minutes =
    ok && twoDigits && (width === 2 || bytes[minutesFrom + 2] === dot)
      ? parseDecimal(bytes, minutesFrom, to)
      : Number.NaN;
  const value = degrees + minutes / 60;
  if (ok && minutes < 60 && value <= axis.maxDeg) {
    if (letter === axis.positive) return value;
    if (letter === axis.negative) return value === 0 ? 0 : -value;
  }
  reader.bad = true;
  return null;
}
