// Prepared statements and plain synchronous reads of one better-sqlite3 connection.
import type SqliteConnection from 'better-sqlite3';
import type { Row, RowForm, SqlValue, Statement } from '../../ports.ts';
import { formColumns, type RowWriter, rowWriter } from './row-forms.ts';

export interface Prepared {
  readonly statement: SqliteConnection.Statement;
  /** For the i-th `?`, which parameter it is; better-sqlite3 binds by position only. */
  readonly order: readonly number[];
  /** The i-th `?` is the i-th parameter. */
  readonly isInOrder: boolean;
  /** Names of the columns of what was read last. */
  columns: readonly string[];
}

/** Result of a read without a name at every value: half the work for the receiving thread. */
export interface Table {
  readonly columns: readonly string[];
  readonly values: readonly (readonly SqlValue[])[];
}

/** Turns `$n` into `?` and remembers which is which. */
function prepareOn(connection: SqliteConnection.Database, text: string): Prepared {
  const order: number[] = [];
  const rewritten = text.replace(/\$(\d+)/g, (_whole, digits: string) => {
    order.push(Number(digits) - 1);
    return '?';
  });
  const isInOrder = order.every((index, at) => index === at);
  return { statement: connection.prepare(rewritten), order, isInOrder, columns: [] };
}

/** Most statements kept prepared. Those of slices that are asked seldom make place for others. */
const preparedMost = 1000;

/** Prepares each statement once. */
export function createPreparer(connection: SqliteConnection.Database): (text: string) => Prepared {
  const prepared = new Map<string, Prepared>();
  return (text) => {
    const known = prepared.get(text);
    if (known) return known;
    const fresh = prepareOn(connection, text);
    const [oldest] = prepared.keys();
    if (prepared.size >= preparedMost && oldest !== undefined) prepared.delete(oldest);
    prepared.set(text, fresh);
    return fresh;
  };
}

export function valuesOf({ order, isInOrder }: Prepared, params: Statement['params']): readonly SqlValue[] {
  return isInOrder && order.length === params.length ? params : order.map((index) => params[index] ?? null);
}

/** Rows without a name at every value. */
function rawRows(known: Prepared, params: Statement['params']): SqlValue[][] {
  const values = known.statement.raw(true).all(...valuesOf(known, params)) as SqlValue[][];
  known.statement.raw(false);
  return values;
}

type Prepare = ReturnType<typeof createPreparer>;

/** Reads of statements with a form: SQLite calls the writer for each row, which takes half as long as an array of all rows. */
function createFormedReader(connection: SqliteConnection.Database, prepare: Prepare) {
  let writer: RowWriter | null = null;
  connection.aggregate('written', {
    varargs: true,
    start: null,
    step: (_none, ...row: SqlValue[]) => writer?.add(row),
  });
  return ({ sql, params }: Statement, form: RowForm): Row => {
    const known = prepare(`SELECT written(${formColumns(form).join(', ')}) FROM (${sql})`);
    const own = rowWriter(form);
    writer = own;
    known.statement.all(...valuesOf(known, params));
    return own.end();
  };
}

/** Plain synchronous reads of a connection. @param prepare its statements; its own unless given. */
export function createReader(connection: SqliteConnection.Database, prepare = createPreparer(connection)) {
  const readFormed = createFormedReader(connection, prepare);
  return {
    read: (statement: Statement): Row[] => {
      const { sql, params, form } = statement;
      if (form !== undefined) return [readFormed(statement, form)];
      const known = prepare(sql);
      return known.statement.all(...valuesOf(known, params)) as Row[];
    },
    readTable: (asked: Statement): Table => {
      const { sql, params, form } = asked;
      if (form !== undefined) {
        const row = readFormed(asked, form);
        return { columns: Object.keys(row), values: [Object.values(row)] };
      }
      const known = prepare(sql);
      const { statement } = known;
      const values = rawRows(known, params);
      // Read again when a schema change has changed the columns of `*`.
      const width = values[0]?.length ?? known.columns.length;
      if (known.columns.length !== width) known.columns = statement.columns().map(({ name }) => name);
      return { columns: known.columns, values };
    },
  };
}

/** The rows of a table, each with the names of its columns. */
export function rowsOf({ columns, values }: Table): Row[] {
  return values.map((cells) => {
    const row: Record<string, SqlValue> = {};
    for (let index = 0; index < columns.length; index++) row[columns[index] ?? ''] = cells[index] ?? null;
    return row;
  });
}
