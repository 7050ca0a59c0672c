// Values between JavaScript and PostgreSQL's text format, so that a row is the same from either database: numbers are
// numbers, booleans are 1 or 0, bytes are bytes. A number must never be rounded silently.
import type { SqlValue } from '../../ports.ts';
import { PostgresFault } from './postgres-fault.ts';

function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw new PostgresFault('refused', 'OUT_OF_RANGE', 'a whole number beyond 2^53 cannot be read exactly');
  }
  return value;
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.slice(2), 'hex'));

/** By the number of the type (`pg_type.oid`); those that are not here are texts. */
const readers: ReadonlyMap<number, (text: string) => SqlValue> = new Map<number, (text: string) => SqlValue>([
  [16, (text) => (text === 't' ? 1 : 0)],
  [17, bytesOf],
  [20, wholeNumber],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [1700, wholeNumber],
]);

const asText = (text: string): SqlValue => text;

/** The reader of a column of that type. */
export function readerOf(typeOid: number): (text: string) => SqlValue {
  return readers.get(typeOid) ?? asText;
}

/** A parameter as the driver sends it: bytes in binary, everything else as text. */
export function toWire(value: SqlValue | undefined): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
