// Readers of one column of a database row. SQLite gives numbers, PostgreSQL gives BIGINT as text; both become what
// the product works with here and nowhere else. They never throw: a column is what the migrations say it is.
import type { Row } from '../../src/ports.ts';

/** Text of a NOT NULL column. */
export function textOf(row: Row, column: string): string {
  return String(row[column] ?? '');
}

/** Text of a column that may be NULL. */
export function textOrNull(row: Row, column: string): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}

/** Number of a NOT NULL column. */
export function numberOf(row: Row, column: string): number {
  return Number(row[column] ?? 0);
}

/** Number of a column that may be NULL. */
export function numberOrNull(row: Row, column: string): number | null {
  const value = row[column] ?? null;
  return value === null ? null : Number(value);
}

/** Bytes of a BLOB column. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? new Uint8Array(value) : new Uint8Array();
}

/** A JSON array; empty when it is anything else. */
export function jsonListOf(row: Row, column: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(textOf(row, column));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A list of texts kept as a JSON array; empty when it is anything else. */
export function textListOf(row: Row, column: string): readonly string[] {
  return jsonListOf(row, column).filter((item): item is string => typeof item === 'string');
}

/** A JSON object of flat members; null when the column is NULL or anything else. */
export function jsonObjectOf(row: Row, column: string): Readonly<Record<string, unknown>> | null {
  const text = textOrNull(row, column);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}
