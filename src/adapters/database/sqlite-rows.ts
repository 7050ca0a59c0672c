// A statement over many rows for SQLite: blocks of VALUES in its text. So few texts stay prepared, and none exceeds SQLite's
// parameters.
import type { Rows, SqlValue, Statement } from '../../ports.ts';
import { shiftParams } from '../../rows.ts';

/** Rows of one step, most first. With more at a time each row costs more: the program of the statement outgrows the caches. */
const stepRows = [8, 1] as const;

/** Texts by statement; only a bug could make so many. */
const textsMost = 300;
const known = new Map<string, readonly string[]>();

function textsOf(sql: string, rows: Rows): readonly string[] {
  const key = `${rows.columns.map(({ name }) => name).join(' ')} ${sql}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const names = rows.columns.map(({ name }) => name).join(', ');
  const width = rows.columns.length;
  const texts = stepRows.map((count) => {
    const row = (at: number): string =>
      `(${Array.from({ length: width }, (_unused, column) => `$${at * width + column + 1}`).join(', ')})`;
    const all = Array.from({ length: count }, (_unused, at) => row(at)).join(', ');
    return `WITH r (${names}) AS (VALUES ${all}) ${shiftParams(sql, count * width)}`;
  });
  if (known.size < textsMost) known.set(key, texts);
  return texts;
}

/** The values of `count` rows from `first` on. */
function paramsOf({ columns }: Rows, first: number, count: number): SqlValue[] {
  const params: SqlValue[] = [];
  for (let row = first; row < first + count; row++) {
    for (const column of columns) {
      if (column.type === 'TEXT') params.push(column.texts[(column.places[row] ?? 0) - 1] ?? null);
      else {
        const value = column.numbers[row] ?? Number.NaN;
        params.push(Number.isNaN(value) ? null : value);
      }
    }
  }
  return params;
}

export type RowsStep = Pick<Statement, 'sql' | 'params'>;

/** The equivalent statements without `rows`. */
export function* stepsOf({ sql, params, rows }: Statement): Generator<RowsStep> {
  if (rows === undefined) return;
  const texts = textsOf(sql, rows);
  let first = 0;
  while (first < rows.count) {
    const left = rows.count - first;
    const at = stepRows.findIndex((most) => most <= left);
    const count = stepRows[at] ?? 1;
    const values = paramsOf(rows, first, count);
    values.push(...params);
    yield { sql: texts[at] ?? '', params: values };
    first += count;
  }
}
