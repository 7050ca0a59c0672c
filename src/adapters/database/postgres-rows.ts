// A statement over many rows for PostgreSQL: an array a column, made a table by `unnest`. One text and one round trip
// for any number of rows. Arrays use the server's binary form: formatting numbers as text and parsing them again was
// a good part of a commit's cost on both sides.
import type { RowsColumn, Statement } from '../../ports.ts';
import { shiftParams } from '../../rows.ts';

/** Types of elements (`pg_type.oid`). */
const oids = { BIGINT: 20, 'DOUBLE PRECISION': 701, TEXT: 25 } as const;
/** Dimensions, flags, type of the elements; then length and first index of the one dimension (`array_recv`). */
const headBytes = 20;
const lengthBytes = 4;
const numberBytes = 8;
const nullLength = -1;
const half = 2 ** 32;

type Numbers = Extract<RowsColumn, { readonly numbers: Float64Array }>;
type Texts = Exclude<RowsColumn, Numbers>;

function writeHead(view: DataView, type: RowsColumn['type'], { count = 0, hasNulls = false }): void {
  view.setInt32(0, 1);
  view.setInt32(4, hasNulls ? 1 : 0);
  view.setInt32(8, oids[type]);
  view.setInt32(12, count);
  view.setInt32(16, 1);
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A whole number that a double holds exactly, as 64 bits. */
function writeWhole(view: DataView, at: number, value: number): void {
  view.setInt32(at, Math.floor(value / half));
  // Modulo 2^32, of a negative one too.
  view.setUint32(at + 4, value);
}

/**
 * The same as text (PostgreSQL 15, 8.15.2), for a column that is not all whole numbers: the server reports the
 * fault.
 */
function inWords(numbers: Float64Array): string {
  const elements = Array.from(numbers, (value) => (Number.isNaN(value) ? 'NULL' : String(value)));
  return `{${elements.join(',')}}`;
}

function arrayOfNumbers({ type, numbers }: Numbers): Uint8Array | string {
  const bytes = Buffer.allocUnsafe(headBytes + numbers.length * (lengthBytes + numberBytes));
  const view = viewOf(bytes);
  let at = headBytes;
  let hasNulls = false;
  for (const value of numbers) {
    if (Number.isNaN(value)) {
      view.setInt32(at, nullLength);
      at += lengthBytes;
      hasNulls = true;
      continue;
    }
    view.setInt32(at, numberBytes);
    // The sum has no negative zero, as a text has none.
    if (type === 'DOUBLE PRECISION') view.setFloat64(at + lengthBytes, value + 0);
    else if (Number.isSafeInteger(value)) writeWhole(view, at + lengthBytes, value);
    else return inWords(numbers);
    at += lengthBytes + numberBytes;
  }
  writeHead(view, type, { count: numbers.length, hasNulls });
  return bytes.subarray(0, at);
}

function arrayOfTexts({ type, texts, places }: Texts): Uint8Array {
  const known = texts.map((text) => Buffer.from(text));
  let size = headBytes;
  for (const place of places) size += lengthBytes + (known[place - 1]?.length ?? 0);
  const bytes = Buffer.allocUnsafe(size);
  const view = viewOf(bytes);
  let at = headBytes;
  let hasNulls = false;
  for (const place of places) {
    const text = known[place - 1];
    view.setInt32(at, text?.length ?? nullLength);
    at += lengthBytes;
    if (text === undefined) hasNulls = true;
    else at += text.copy(bytes, at);
  }
  writeHead(view, type, { count: places.length, hasNulls });
  return bytes;
}

function arrayOf(column: RowsColumn): Uint8Array | string {
  const isText = column.type === 'TEXT';
  // An array of nothing has no dimension.
  if ((isText ? column.places : column.numbers).length === 0) return '{}';
  return isText ? arrayOfTexts(column) : arrayOfNumbers(column);
}

/** The same statement without `rows`; others come back as they are. */
export function withoutRows(statement: Statement): Statement {
  const { sql, params, rows, ...rest } = statement;
  if (rows === undefined) return statement;
  const names = rows.columns.map(({ name }) => name).join(', ');
  const arrays = rows.columns.map(({ type }, at) => `$${at + 1}::${type}[]`).join(', ');
  return {
    ...rest,
    sql: `WITH r (${names}) AS (SELECT * FROM unnest(${arrays})) ${shiftParams(sql, rows.columns.length)}`,
    params: [...rows.columns.map(arrayOf), ...params],
  };
}
