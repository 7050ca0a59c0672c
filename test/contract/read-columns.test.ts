// Every column that the broker reads is one of a table, or one that a query names: a slip of the pen is found without a row that
// shows it. That a query gives what is read of it the readers check themselves (test/unit/row.test.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/ports.ts';
import { openBenchDatabase } from '../support/broker/broker-bench.ts';
import { tablesOf } from '../support/database/test-database.ts';

const broker = new URL('../../broker/', import.meta.url).pathname;
/** What SQLite's own tables and pragmas give. */
const ofSqlite = ['integrity_check', 'rowid', 'table', 'parent', 'tbl_name'];
const read =
  /\b(?:textOf|textOrNull|numberOf|numberOrNull|bytesOf|jsonListOf|textListOf|jsonObjectOrNull)\(\s*\w+,\s*'(\w+)'/g;

const files = readdirSync(broker, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(broker, name), 'utf8') }))
  .filter(({ text }) => /\/row\.ts'/.test(text));

let db: Database;
const columns = new Set(ofSqlite);
beforeAll(async () => {
  db = await openBenchDatabase();
  for (const table of await tablesOf(db)) for (const column of table.columns) columns.add(column);
});
afterAll(() => db.close());

it.each(files)('$name reads columns that are there', ({ text }) => {
  const own = new Set([...text.matchAll(/\bAS (\w+)/g)].map(([, name]) => name));
  const unknown = [...text.matchAll(read)].flatMap(([, name = '']) =>
    columns.has(name) || own.has(name) ? [] : [name],
  );
  expect(unknown).toEqual([]);
});

it('finds every file that reads rows', () => {
  expect(files.length).toBeGreaterThan(40);
  expect(files.flatMap(({ text }) => [...text.matchAll(read)]).length).toBeGreaterThan(500);
});
