// Readers of one column of a database row. SQLite gives numbers, PostgreSQL gives BIGINT as text; both are converted here and
// nowhere else. A missing column or an unexpected NULL is a bug of the query: it throws, and never reads as empty or zero.
// Readers `...OrNull` accept NULL.
import type { Database, Row, SqlValue, Statement } from '../../../src/ports.ts';

/** The error of a read that cannot be right; kept apart, so that readers stay small enough to be compiled in place. */
function faultOf(row: Row, column: string, expected: string): Error {
  const value = Object.hasOwn(row, column) ? row[column] : undefined;
  if (value === undefined) {
    return new Error(
      `a row has no column "${column}": the query must give it; it gave ${Object.keys(row).join(', ')}`,
    );
  }
  const place = `of a row with the columns ${Object.keys(row).join(', ')}`;
  if (value === null) {
    return new Error(
      `the column "${column}" is NULL where it must not be, ${place}: ask for NULL, or mend the query`,
    );
  }
  return new Error(`the column "${column}" holds no ${expected} but a ${typeof value}, ${place}`);
}

function textIn(row: Row, column: string, value: SqlValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw faultOf(row, column, 'text');
}

function numberIn(row: Row, column: string, value: SqlValue | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && value !== '') {
    const number = Number(value);
    if (!Number.isNaN(number)) return number;
  }
  throw faultOf(row, column, 'number');
}

/** Text of a NOT NULL column. @throws Error when the row has no such column, or NULL or bytes in it. */
export function textOf(row: Row, column: string): string {
  return textIn(row, column, row[column]);
}

/** Text of a column that may be NULL. @throws Error when the row has no such column, or bytes in it. */
export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null ? null : textIn(row, column, value);
}

/** Number of a NOT NULL column. @throws Error when the row has no such column, or NULL or no number in it. */
export function numberOf(row: Row, column: string): number {
  return numberIn(row, column, row[column]);
}

/** Number of a column that may be NULL. @throws Error when the row has no such column, or no number in it. */
export function numberOrNull(row: Row, column: string): number | null {
  const value = row[column];
  return value === null ? null : numberIn(row, column, value);
}

/** Text of a column that may be NULL, which reads as ''. @throws Error as `textOrNull`. */
export function textOrEmpty(row: Row, column: string): string {
  return textOrNull(row, column) ?? '';
}

/** Number of a column that may be NULL, which reads as 0. @throws Error as `numberOrNull`. */
export function numberOrZero(row: Row, column: string): number {
  return numberOrNull(row, column) ?? 0;
}

/** A NOT NULL column with 0 or 1. @throws Error as `numberOf`. */
export function flagOf(row: Row, column: string): boolean {
  return numberOf(row, column) === 1;
}

/** Bytes of a NOT NULL BLOB column. @throws Error when the row has no such column, or NULL or no bytes in it. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return new Uint8Array(value);
  throw faultOf(row, column, 'bytes');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A JSON array of a NOT NULL column; empty when its text is anything else. @throws Error as `textOf`. */
export function jsonListOf(row: Row, column: string): readonly unknown[] {
  const value = parsed(textOf(row, column));
  return Array.isArray(value) ? value : [];
}

/** A list of texts kept as a JSON array; empty when the text is anything else. @throws Error as `textOf`. */
export function textListOf(row: Row, column: string): readonly string[] {
  return jsonListOf(row, column).filter((item): item is string => typeof item === 'string');
}

/** A JSON object of flat members; null when the column is NULL or its text anything else. @throws Error as `textOrNull`. */
export function jsonObjectOrNull(row: Row, column: string): Readonly<Record<string, unknown>> | null {
  const text = textOrNull(row, column);
  const value = text === null ? null : parsed(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

/** The value of a JSON column; null when the column is NULL or its text is no JSON. @throws Error as `textOrNull`. */
export function jsonOrNull(row: Row, column: string): unknown {
  const text = textOrNull(row, column);
  return text === null ? null : (parsed(text) ?? null);
}

/** A read of one statement; apart from the database, so that the statement stands alone. */
export type Read<T> = (statement: Statement) => Promise<T>;

/** The name of the only column of a query. @throws Error when it gives several. */
function onlyColumn(row: Row): string {
  const [name, ...others] = Object.keys(row);
  if (name !== undefined && others.length === 0) return name;
  throw new Error(`a query of one column gave the columns ${Object.keys(row).join(', ')}`);
}

/** Reads the number in the only column of the first row; null without a row, and where it is NULL. */
export function readNumber(db: Database): Read<number | null> {
  return async (statement) => {
    const [row] = await db.read(statement);
    return row === undefined ? null : numberOrNull(row, onlyColumn(row));
  };
}

/** Reads the texts of the only column. */
export function readTexts(db: Database): Read<readonly string[]> {
  return async (statement) => (await db.read(statement)).map((row) => textOf(row, onlyColumn(row)));
}

/** True when the statement gives a row. */
export function findsRow(db: Database): Read<boolean> {
  return async (statement) => (await db.read(statement)).length > 0;
}
