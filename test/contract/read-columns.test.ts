// Every column that the broker reads is one of a table, or one that a query names: a slip of the pen is found without a row that
// shows it. That a query gives what is read of it the readers check themselves (test/unit/row.test.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { columnOf } from '../../broker/store/base/table.ts';
import type { Database } from '../../src/ports.ts';
import { openBenchDatabase } from '../support/broker/broker-bench.ts';
import { tablesOf } from '../support/database/test-database.ts';

const broker = new URL('../../broker/', import.meta.url).pathname;
/** What SQLite's own tables and pragmas give. */
const ofSqlite = ['integrity_check', 'rowid', 'table', 'parent', 'tbl_name'];
const readers =
  'textOf|textOrNull|textOrEmpty|numberOf|numberOrNull|numberOrZero|flagOf|bytesOf|jsonListOf|textListOf|jsonObjectOrNull';
const read = new RegExp(`\\b(?:${readers})\\(\\s*\\w+,\\s*'(\\w+)'`, 'g');
/** A member of a shape, and a column of a table, which is there by its definition. */
const member = new RegExp(`\\b(\\w+): (?:${readers})\\b(?!\\()`, 'g');
const defined = /^  (\w+): (?:column\(\s*)?['"](?:TEXT|INTEGER|BIGINT|DOUBLE PRECISION|BLOB)\b/gm;

const columnsRead = (text: string): readonly string[] => [
  ...[...text.matchAll(read)].map(([, name = '']) => name),
  ...[...text.matchAll(member)].map(([, name = '']) => columnOf(name)),
];

const files = readdirSync(broker, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(broker, name), 'utf8') }))
  .filter(({ text }) => /\/(row|table)\.ts'/.test(text));

let db: Database;
const columns = new Set(ofSqlite);
beforeAll(async () => {
  db = await openBenchDatabase();
  for (const table of await tablesOf(db)) for (const column of table.columns) columns.add(column);
});
afterAll(() => db.close());

it.each(files)('$name reads columns that are there', ({ text }) => {
  const own = new Set([...text.matchAll(/\bAS (\w+)/g)].map(([, name]) => name));
  expect(columnsRead(text).filter((name) => !columns.has(name) && !own.has(name))).toEqual([]);
});

it('finds every file that reads rows', () => {
  expect(files.length).toBeGreaterThan(40);
  const found = files.flatMap(({ text }) => [...columnsRead(text), ...text.matchAll(defined)]);
  expect(found.length).toBeGreaterThan(500);
});
