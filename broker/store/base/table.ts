// One definition of a table gives its DDL, record type, row mapper and marked columns. A shape does the same for any list of
// columns. Columns are named as members, in `snake_case`.
import { compileFunction } from 'node:vm';
import { ddl } from '../../../src/migrate.ts';
import type { Database, Row, SqlValue, Statement } from '../../../src/ports.ts';
import { commaList } from '../../../src/sql.ts';
import { numberOf, numberOrNull, type Read, textOf, textOrNull } from './row.ts';

/** Reads one column of a row; those of `row.ts`, or made of them. */
export type Reader<T = unknown> = (row: Row, column: string) => T;

/**
 * `hidden`: not a member of the record. `edited`: users set it. `shown`: answers show it, `recorded`: so do records of events; a
 * change of these raises a revision, see `schema/fleet-revisions.ts`.
 */
type Mark = 'hidden' | 'edited' | 'shown' | 'recorded';

interface Column<T = unknown, M extends Mark = Mark> {
  readonly type: string;
  readonly read: Reader<T>;
  readonly marks: readonly M[];
}

/** The type and constraints of a column in SQL, a column with a reader or marks, or a reader of a column of a query. */
type Source = string | Column | Reader;
type Sources = Readonly<Record<string, Source>>;

/** `'a', 'b'`: the type 'a' | 'b'. */
type Listed<L extends string> = L extends `'${infer One}', ${infer Others}`
  ? One | Listed<Others>
  : L extends `'${infer One}'`
    ? One
    : never;
type Base<D extends string> = D extends `TEXT${string}CHECK (${string} IN (${infer Values}))`
  ? Listed<Values>
  : D extends `TEXT${string}`
    ? string
    : number;
type Plain<D extends string> = D extends `${string}NOT NULL${string}` ? Base<D> : Base<D> | null;
type Value<S> = S extends string
  ? Plain<S>
  : S extends Reader<infer T>
    ? T
    : S extends Column<infer T>
      ? T
      : never;
type Marked<C, M extends Mark> = {
  [K in keyof C]: C[K] extends Column ? (M extends C[K]['marks'][number] ? K : never) : never;
}[keyof C] &
  string;
type RecordOf<C> = { readonly [K in keyof C as K extends Marked<C, 'hidden'> ? never : K]: Value<C[K]> };

/** The record of a table or shape. */
export type Infer<S extends { readonly columns: Sources }> = RecordOf<S['columns']>;
/** Members that users set, each optional. */
export type Edits<S extends { readonly columns: Sources }> = {
  readonly [K in Marked<S['columns'], 'edited'>]?: NonNullable<Value<S['columns'][K]>>;
};
/** The same for statements that write what is given, null included. */
export type Changes<S extends { readonly columns: Sources }> = {
  readonly [K in Marked<S['columns'], 'edited'>]?: Value<S['columns'][K]> | undefined;
};

function plainReader(type: string): Reader {
  const isNullable = !type.includes('NOT NULL');
  if (type.startsWith('TEXT')) return isNullable ? textOrNull : textOf;
  return isNullable ? numberOrNull : numberOf;
}

/** A column with marks. */
export function column<const D extends string, M extends Mark>(
  type: D,
  ...marks: readonly M[]
): Column<Plain<D>, M>;
/** A column with a reader, and marks. */
export function column<T>(type: string, read: Reader<T>): Column<T, never>;
export function column<T, M extends Mark>(
  type: string,
  read: Reader<T>,
  ...marks: readonly M[]
): Column<T, M>;
export function column(type: string, first: Reader | Mark, ...others: readonly Mark[]): Column {
  return typeof first === 'string'
    ? { type, read: plainReader(type), marks: [first, ...others] }
    : { type, read: first, marks: others };
}

/** `uniqueID`: `unique_id`. */
export const columnOf = (name: string): string =>
  name.replace(/ID/g, 'Id').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const toColumn = (source: Source): Column => {
  if (typeof source === 'function') return { type: '', read: source, marks: [] };
  return typeof source === 'string' ? { type: source, read: plainReader(source), marks: [] } : source;
};

/** Straight-line code made of our own names only: three times as fast as a loop over the columns. */
function compile(columns: readonly (readonly [name: string, column: Column])[]): (row: Row) => unknown {
  const readers = [...new Set(columns.map(([, { read }]) => read))];
  const members = columns.map(
    ([name, { read }]) => `${name}: r${readers.indexOf(read)}(row, '${columnOf(name)}')`,
  );
  const code = `return (row) => ({ ${members.join(', ')} });`;
  return compileFunction(
    code,
    readers.map((_, at) => `r${at}`),
  )(...readers) as (row: Row) => unknown;
}

export interface Shape<C extends Sources> {
  readonly columns: C;
  toRecord(row: Row): RecordOf<C>;
  /** The first record, or null. */
  first(db: Database): Read<RecordOf<C> | null>;
  all(db: Database): Read<readonly RecordOf<C>[]>;
}

/** Columns of a query. */
export function shape<const C extends Sources>(columns: C): Shape<C> {
  const read = Object.entries(columns)
    .map(([name, source]) => [name, toColumn(source)] as const)
    .filter(([, { marks }]) => !marks.includes('hidden'));
  const toRecord = compile(read) as (row: Row) => RecordOf<C>;
  return {
    columns,
    toRecord,
    first: (db) => async (statement) => {
      const [row] = await db.read(statement);
      return row === undefined ? null : toRecord(row);
    },
    all: (db) => async (statement) => (await db.read(statement)).map((row) => toRecord(row)),
  };
}

export interface Table<C extends Sources> extends Shape<C> {
  readonly create: Statement;
  /** The same table under another name. */
  createAs(name: string): Statement;
  /** Members with the mark, in the order of the table. */
  marked<M extends Mark>(mark: M): readonly Marked<C, M>[];
}

/** @param constraints of the table, after its columns. */
export function table<const C extends Readonly<Record<string, string | Column>>>(
  name: string,
  columns: C,
  ...constraints: readonly string[]
): Table<C> {
  const all = Object.entries(columns).map(([member, source]) => [member, toColumn(source)] as const);
  const lines = [...all.map(([member, { type }]) => `${columnOf(member)} ${type}`), ...constraints];
  const createAs = (as: string): Statement => ddl(`CREATE TABLE ${as} (\n    ${lines.join(',\n    ')})`);
  return {
    ...shape(columns),
    create: createAs(name),
    createAs,
    marked: <M extends Mark>(mark: M) =>
      all.filter(([, { marks }]) => marks.includes(mark)).map(([member]) => member as Marked<C, M>),
  };
}

/** Columns that a query takes of `devices`, for rows that belong to one. */
export const deviceRef = { deviceNo: numberOf, accountID: textOf, deviceID: textOf } as const;

const toSql = (value: SqlValue | boolean): SqlValue => (typeof value === 'boolean' ? Number(value) : value);

/** Assignments for UPDATE of those of the members that are given. */
export function assignments<K extends string>(
  members: readonly K[],
  values: { readonly [Name in K]?: SqlValue | boolean | undefined },
): readonly Statement[] {
  return members.flatMap((member) => {
    const value = values[member];
    return value === undefined ? [] : [{ sql: `${columnOf(member)} = $1`, params: [toSql(value)] }];
  });
}

/** Assignments for UPDATE of all these members; absent ones stay unchanged. The text is always the same. */
export function givenAssignments<K extends string>(
  members: readonly K[],
  values: { readonly [Name in K]?: SqlValue },
): Statement {
  return commaList(
    members.map((member) => ({
      sql: `${columnOf(member)} = COALESCE($1, ${columnOf(member)})`,
      params: [values[member] ?? null],
    })),
  );
}
