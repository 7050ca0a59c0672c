// A statement over many rows, as PostgreSQL takes it: an array a column, made a table by `unnest`. One text and one journey
// whatever the number of rows.
import type { RowsColumn, Statement } from '../ports.ts';
import { shiftParams } from '../rows.ts';

/** A text as an element of an array (PostgreSQL 15, 8.15.6). */
const quoted = (text: string): string => `"${text.replace(/[\\"]/g, (char) => `\\${char}`)}"`;

function arrayOf(column: RowsColumn): string {
  if (column.type !== 'TEXT') {
    const elements = Array.from(column.numbers, (value) => (Number.isNaN(value) ? 'NULL' : String(value)));
    return `{${elements.join(',')}}`;
  }
  const texts = ['NULL', ...column.texts.map(quoted)];
  return `{${Array.from(column.places, (place) => texts[place] ?? 'NULL').join(',')}}`;
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
