// The contract of the Database port, run against every implementation: SQLite in the calling thread and on threads of its
// own, and PostgreSQL. What is promised here is all that product code may rely on.
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import {
  holdSqlite,
  inspectSqlite,
  openSqlite,
  openSqliteThreads,
  type SqliteOptions,
  storageError,
} from '../../src/adapters/database/sqlite.ts';
import { AppError } from '../../src/core/errors.ts';
import { ddl, migrate } from '../../src/migrate.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { type RowsShape, toRows } from '../../src/rows.ts';
import { lowPriorityReads, pointRead, sql } from '../../src/sql.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';

const isBuilt = existsSync(new URL('../../dist/src/adapters/database/sqlite-worker.js', import.meta.url));

let server: PostgresBench | null = null;
beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

interface Implementation {
  readonly name: string;
  readonly missing: boolean;
  /** Where a new store is; `open` opens it, as often as it is asked to. */
  readonly place: (folder: string) => Promise<string>;
  readonly open: (place: string) => Promise<Database>;
  /** It works for several at once. */
  readonly isConcurrent: boolean;
  readonly codes: { readonly syntax: string; readonly foreignKey: string };
}

const sqliteCodes = { syntax: 'SQLITE_ERROR', foreignKey: 'SQLITE_CONSTRAINT_FOREIGNKEY' };
const sqlitePlace = async (folder: string): Promise<string> => join(folder, 'test.db');

const inThread = (options: SqliteOptions): Promise<Database> => (async () => openSqlite(options))();
const sqliteWays = [
  { name: 'SQLite in the calling thread', open: inThread, missing: false, isConcurrent: false },
  {
    name: isBuilt
      ? 'SQLite on its own threads'
      : 'SQLite on its own threads [skipped: run npm run build first]',
    open: openSqliteThreads,
    missing: !isBuilt,
    isConcurrent: true,
  },
] as const;

const implementations: readonly Implementation[] = [
  ...sqliteWays.map((way) => ({
    ...way,
    place: sqlitePlace,
    open: (path: string) => way.open({ path, pageSize: 4096 }),
    codes: sqliteCodes,
  })),
  {
    name: postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`,
    missing: postgresMissing !== null,
    place: async () => (await server?.create()) ?? '',
    open: (url) => openPostgres({ url }),
    isConcurrent: true,
    codes: { syntax: '42P01', foreignKey: '23503' },
  },
];

for (const { name, place, open, missing, isConcurrent, codes } of implementations) {
  describe.skipIf(missing)(name, () => {
    let folder = '';
    let path = '';
    let db: Database;

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'fleetward-database-'));
      path = await place(folder);
      db = await open(path);
      await db.write([
        ddl(`CREATE TABLE items (item_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
          amount DOUBLE PRECISION, big BIGINT, bytes BLOB)`),
        ddl('CREATE TABLE parts (item_no INTEGER NOT NULL REFERENCES items (item_no), part TEXT NOT NULL)'),
      ]);
    });
    afterEach(async () => {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const names = async (): Promise<unknown[]> =>
      (await db.read(sql`SELECT name FROM items ORDER BY item_no`)).map((row) => row['name']);

    describe('a statement over many rows', () => {
      type Item = readonly [text: string | null, amount: number | null, big: number];
      const shape: readonly RowsShape<Item>[] = [
        { name: 'item', type: 'TEXT', of: ([text]) => text },
        { name: 'amount', type: 'DOUBLE PRECISION', of: ([, amount]) => amount },
        { name: 'big', type: 'BIGINT', of: ([, , big]) => big },
      ];
      const insert = (values: readonly Item[], mustChange?: number): Statement => ({
        sql: `INSERT INTO items (name, amount, big) SELECT r.item, r.amount + $1, r.big FROM r WHERE true
          ON CONFLICT (name) DO NOTHING RETURNING name`,
        params: [0.5],
        rows: toRows(shape, values),
        ...(mustChange === undefined ? {} : { mustChange }),
      });

      test.each([1, 2, 47, 48, 131, 1000])('does what it says for each of %i rows, once', async (count) => {
        const names = Array.from({ length: count }, (_unused, at) => `item ${at}`);
        const values = names.map((name, at): Item => [name, at % 3 === 0 ? null : at / 4, 2 ** 40 + at]);
        const [result] = await db.write([insert(values, count)]);
        expect(result?.changes).toBe(count);
        expect(result?.rows.map((row) => row['name']).sort()).toEqual([...names].sort());
        const rows = await db.read(sql`SELECT name, amount, big FROM items ORDER BY item_no`);
        expect(rows).toEqual(
          names.map((name, at) => ({ name, amount: at % 3 === 0 ? null : at / 4 + 0.5, big: 2 ** 40 + at })),
        );
        expect((await db.write([insert(values)]))[0]).toEqual({ changes: 0, rows: [] });
      });

      test('takes every whole number that a double holds', async () => {
        const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number;
        const half = 2 ** 32;
        const wholes = [least, -half - 1, -half, 1 - half, -1, -0, 1, half - 1, half, half + 1, most];
        const values = wholes.map((big, at): Item => [`item ${at}`, at === 3 ? null : -0, big]);
        await db.write([insert(values, wholes.length)]);
        const rows = await db.read(sql`SELECT amount, big FROM items ORDER BY item_no`);
        expect(rows).toEqual(wholes.map((big, at) => ({ amount: at === 3 ? null : 0.5, big: big + 0 })));
      });

      test('takes every text and number as it is', async () => {
        const texts = [
          '',
          'NULL',
          '{"a":"b\\\\c"}',
          "it's",
          'a,b',
          '{}',
          '\\',
          '"',
          ' ä 日本 😀 ',
          'line\nline',
        ];
        const numbers = [
          0,
          -0.1,
          1e-7,
          123456789.123456,
          Number.MAX_SAFE_INTEGER,
          -1,
          5e-324,
          1.7976931348623157e308,
          1,
          2,
        ];
        await db.write([insert(texts.map((text, at): Item => [text, null, at]))]);
        expect((await db.read(sql`SELECT name FROM items ORDER BY big`)).map((row) => row['name'])).toEqual(
          texts,
        );
        await db.write([
          {
            sql: 'UPDATE items SET amount = r.amount FROM r WHERE items.big = r.big',
            params: [],
            rows: toRows(
              shape,
              numbers.map((number, at): Item => [null, number, at]),
            ),
            mustChange: 10,
          },
        ]);
        expect(
          (await db.read(sql`SELECT amount FROM items ORDER BY big`)).map((row) => row['amount']),
        ).toEqual(numbers);
      });
    });

    test('a statement that does not change as many rows as it must takes the whole batch back', async () => {
      const put = sql`INSERT INTO items (name, amount) VALUES ('one', 1)`;
      await db.write([put]);
      const other = sql`INSERT INTO items (name) VALUES ('two')`;
      const change = (mustChange: number): Statement => ({
        ...sql`UPDATE items SET amount = 2 WHERE name = 'one'`,
        mustChange,
      });
      for (const wrong of [0, 2]) {
        const refused = db.write([other, change(wrong), sql`INSERT INTO items (name) VALUES ('three')`]);
        await expect(refused).rejects.toMatchObject({ code: 'storage', cause: { code: 'CONFLICT' } });
      }
      expect(await db.read(sql`SELECT name, amount FROM items`)).toEqual([{ name: 'one', amount: 1 }]);
      await db.write([other, change(1)]);
      expect(await db.read(sql`SELECT name, amount FROM items ORDER BY name`)).toEqual([
        { name: 'one', amount: 2 },
        { name: 'two', amount: null },
      ]);
    });

    test('a batch is stored whole, and reads see it once the write has resolved', async () => {
      const results = await db.write([
        sql`INSERT INTO items (name) VALUES (${'a'})`,
        sql`INSERT INTO items (name) VALUES (${'b'})`,
        sql`UPDATE items SET amount = ${1.5}`,
      ]);
      expect(results.map(({ changes }) => changes)).toEqual([1, 1, 2]);
      expect(await names()).toEqual(['a', 'b']);
    });

    test.skipIf(!isConcurrent)(
      'patient reads, however many, stand before no other read and no write',
      async () => {
        const many = lowPriorityReads(db);
        const long = sql`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
        SELECT COUNT(*) AS seen FROM n`;
        const ended: string[] = [];
        const longReads = Array.from({ length: 8 }, () => many.read(long).then(() => ended.push('long')));
        await db.read(sql`SELECT 1 AS one`).then(() => ended.push('short'));
        await db.write([sql`INSERT INTO items (name) VALUES ('beside')`]).then(() => ended.push('write'));
        expect(ended.filter((one) => one === 'long').length).toBeLessThan(8);
        await Promise.all(longReads);
        expect(ended.indexOf('short')).toBeLessThan(ended.lastIndexOf('long'));
      },
    );

    test('a patient read sees what was written before it', async () => {
      await db.write([sql`INSERT INTO items (name) VALUES ('a')`]);
      expect(await lowPriorityReads(db).read(sql`SELECT name FROM items`)).toEqual([{ name: 'a' }]);
    });

    test('a point read sees every write that was reported before it, beside other reads and writes', async () => {
      for (let round = 0; round < 50; round++) {
        const name = `item ${round}`;
        await db.write([sql`INSERT INTO items (name, big) VALUES (${name}, ${round})`]);
        const point = pointRead(sql`SELECT name, big FROM items WHERE name = ${name}`);
        const before = pointRead(sql`SELECT name FROM items WHERE name = ${`item ${round - 1}`}`);
        const beside = db.write([sql`UPDATE items SET amount = 1 WHERE name = ${name}`]);
        const found = await Promise.all([db.read(point), db.read(before), db.read(point)]);
        expect(found[0]).toEqual([{ name, big: round }]);
        expect(found[1]).toHaveLength(round === 0 ? 0 : 1);
        expect(found[2]).toEqual(found[0]);
        await beside;
      }
    });

    test.runIf(isConcurrent)(
      'a point read that was asked before sees a commit of another process',
      async () => {
        const other = await open(path);
        try {
          const point = pointRead(sql`SELECT amount FROM items WHERE name = ${'a'}`);
          expect(await db.read(point)).toEqual([]);
          await other.write([sql`INSERT INTO items (name, amount) VALUES ('a', 1)`]);
          expect(await db.read(point)).toEqual([{ amount: 1 }]);
          expect(await db.read(point)).toEqual([{ amount: 1 }]);
          await other.write([sql`UPDATE items SET amount = 2 WHERE name = 'a'`]);
          expect(await db.read(point)).toEqual([{ amount: 2 }]);
        } finally {
          await other.close();
        }
      },
    );

    test('a point read finds by its own values and gives rows of its own', async () => {
      await db.write([
        sql`INSERT INTO items (name) VALUES ('a')`,
        sql`INSERT INTO items (name) VALUES ('1')`,
      ]);
      const named = (name: string) => db.read(pointRead(sql`SELECT name FROM items WHERE name = ${name}`));
      const [first, other, none] = await Promise.all([named('a'), named('1'), named('b')]);
      expect([first, other, none]).toEqual([[{ name: 'a' }], [{ name: '1' }], []]);
      Object.assign(first?.[0] ?? {}, { name: 'changed' });
      expect(await named('a')).toEqual([{ name: 'a' }]);
    });

    test('a point read that is wrong fails alone, like every other read', async () => {
      const wrong = db.read(pointRead(sql`SELECT nothing FROM nowhere`));
      const right = db.read(pointRead(sql`SELECT 1 AS one`));
      await expect(wrong).rejects.toMatchObject({ code: 'storage', cause: { code: codes.syntax } });
      expect(await right).toEqual([{ one: 1 }]);
    });

    test('a batch with one fault leaves nothing of itself', async () => {
      await db.write([sql`INSERT INTO items (name) VALUES ('a')`]);
      const fault = db.write([
        sql`INSERT INTO items (name) VALUES ('b')`,
        sql`INSERT INTO items (name) VALUES ('a')`,
        sql`INSERT INTO items (name) VALUES ('c')`,
      ]);
      await expect(fault).rejects.toBeInstanceOf(AppError);
      await expect(fault).rejects.toMatchObject({ code: 'storage' });
      expect(await names()).toEqual(['a']);
      await db.write([sql`INSERT INTO items (name) VALUES ('d')`]);
      expect(await names()).toEqual(['a', 'd']);
    });

    test('a fault carries the code of the database', async () => {
      const unknown = db.read(sql`SELECT nothing FROM nowhere`);
      await expect(unknown).rejects.toMatchObject({ code: 'storage', cause: { code: codes.syntax } });
      const orphan = db.write([sql`INSERT INTO parts (item_no, part) VALUES (4711, 'x')`]);
      await expect(orphan).rejects.toMatchObject({ cause: { code: codes.foreignKey } });
    });

    test('RETURNING gives rows, counted as changes; without it there are none', async () => {
      const [inserted, updated, missed] = await db.write([
        sql`INSERT INTO items (name) VALUES ('a') RETURNING item_no, name`,
        sql`UPDATE items SET amount = 2 WHERE name = 'a' RETURNING amount`,
        sql`UPDATE items SET amount = 2 WHERE name = 'z' RETURNING amount`,
      ]);
      expect(inserted).toEqual({ changes: 1, rows: [{ item_no: 1, name: 'a' }] });
      expect(updated).toEqual({ changes: 1, rows: [{ amount: 2 }] });
      expect(missed).toEqual({ changes: 0, rows: [] });
    });

    test('ON CONFLICT DO NOTHING reports no change; DO UPDATE with a condition reports what it did', async () => {
      const insert = sql`INSERT INTO items (name, amount) VALUES ('a', 1) ON CONFLICT (name) DO NOTHING`;
      const raise = (amount: number) => sql`INSERT INTO items (name, amount) VALUES ('a', ${amount})
        ON CONFLICT (name) DO UPDATE SET amount = excluded.amount WHERE items.amount < excluded.amount`;
      const results = await db.write([insert, insert, raise(5), raise(3)]);
      expect(results.map(({ changes }) => changes)).toEqual([1, 0, 1, 0]);
      expect(await db.read(sql`SELECT amount FROM items`)).toEqual([{ amount: 5 }]);
    });

    test('parameters are bound by their number, in any order and more than once', async () => {
      const statement = {
        sql: 'SELECT $2 AS two, $1 AS one, $2 AS again, $11 AS eleven',
        params: [] as string[],
      };
      statement.params.push(...Array.from({ length: 11 }, (_unused, index) => `p${index + 1}`));
      expect(await db.read(statement)).toEqual([{ two: 'p2', one: 'p1', again: 'p2', eleven: 'p11' }]);
      const inner = sql`name = ${'a'} OR name = ${'b'}`;
      await db.write([sql`INSERT INTO items (name, amount) VALUES (${'b'}, ${7})`]);
      expect(await db.read(sql`SELECT amount FROM items WHERE amount = ${7} AND (${inner})`)).toEqual([
        { amount: 7 },
      ]);
    });

    test('values come back as they went in', async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_unused, index) => index);
      const text = 'Zürich, 東京, "quotes" and \'more\'; -- no comment';
      const big = Number.MAX_SAFE_INTEGER;
      await db.write([
        sql`INSERT INTO items (name, amount, big, bytes) VALUES (${text}, ${-0.1}, ${big}, ${bytes})`,
        sql`INSERT INTO items (name) VALUES (${'empty'})`,
      ]);
      const [full, empty] = await db.read(sql`SELECT * FROM items ORDER BY item_no`);
      expect(full).toMatchObject({ name: text, amount: -0.1, big });
      expect(new Uint8Array(full?.['bytes'] as Uint8Array)).toEqual(bytes);
      expect(empty).toMatchObject({ amount: null, big: null, bytes: null });
    });

    test('a text that looks like a parameter stays a text', async () => {
      await db.write([sql`INSERT INTO items (name) VALUES (${'$1'})`]);
      expect(await names()).toEqual(['$1']);
    });

    test('writes apply in the order in which they were called', async () => {
      const writes = Array.from({ length: 50 }, (_unused, index) =>
        db.write([sql`INSERT INTO items (name) VALUES (${`n${index}`})`]),
      );
      await Promise.all(writes);
      expect(await names()).toEqual(Array.from({ length: 50 }, (_unused, index) => `n${index}`));
    });

    test('what was written is there after closing and opening again', async () => {
      await db.write([sql`INSERT INTO items (name) VALUES ('kept')`]);
      await db.close();
      db = await open(path);
      expect(await names()).toEqual(['kept']);
    });

    test('after close it answers with an error and does not hang', async () => {
      const other = await open(path);
      await other.close();
      await expect(other.read(sql`SELECT 1 AS one`)).rejects.toBeInstanceOf(AppError);
      await expect(other.write([sql`SELECT 1 AS one`])).rejects.toBeInstanceOf(AppError);
      await other.close();
    });

    test('texts stand in the order of their bytes, and their case matters', async () => {
      const texts = ['a', 'B', 'ä', 'Z', 'a-b', 'a_b', 'A', '', '~', 'a b', '10', '9'];
      await db.write(texts.map((text) => sql`INSERT INTO items (name) VALUES (${text})`));
      const rows = await db.read(sql`SELECT name FROM items WHERE name >= ${''} ORDER BY name`);
      const bytes = (text: string): string => Buffer.from(text).toString('hex');
      const expected = [...texts].sort((one, other) => (bytes(one) < bytes(other) ? -1 : 1));
      expect(rows.map((row) => row['name'])).toEqual(expected);
      expect(await db.read(sql`SELECT name FROM items WHERE name = ${'b'}`)).toEqual([]);
      const [last] = await db.read(sql`SELECT MAX(name) AS last FROM items WHERE name < ${'a'}`);
      expect(last).toEqual({ last: 'Z' });
    });

    test('counts, sums and conditions are numbers, and a number that is not exact is an error', async () => {
      await db.write([
        sql`INSERT INTO items (name, amount, big) VALUES ('a', 0.5, ${2 ** 52})`,
        sql`INSERT INTO items (name, amount, big) VALUES ('b', ${1e-7}, ${2 ** 52 - 1})`,
      ]);
      const [row] = await db.read(sql`SELECT COUNT(*) AS many, SUM(big) AS whole, AVG(amount) AS mean,
        MAX(big) AS most, CASE WHEN amount > 0 THEN 1 ELSE 0 END AS is_some FROM items GROUP BY 5`);
      expect(row).toEqual({
        many: 2,
        whole: Number.MAX_SAFE_INTEGER,
        mean: (0.5 + 1e-7) / 2,
        most: 2 ** 52,
        is_some: 1,
      });
    });

    test('of two batches at once the second sees what the first did', async () => {
      const take = sql`INSERT INTO items (name, amount)
        SELECT ${'only'}, 1 WHERE (SELECT COUNT(*) FROM items) < 1`;
      const other = await open(path);
      const results = await Promise.all(
        Array.from({ length: 20 }, (_unused, index) =>
          (index % 2 === 0 ? db : other).write([
            { ...take, params: [`only-${index}`] },
            sql`SELECT COUNT(*) AS kept FROM items`,
          ]),
        ),
      );
      await other.close();
      expect(results.filter(([first]) => first?.changes === 1)).toHaveLength(1);
      expect(results.map((one) => one[1]?.rows[0]?.['kept'])).toEqual(Array(20).fill(1));
    });

    test('a long batch is whole and in order, and every statement has its own answer', async () => {
      const inserts = Array.from(
        { length: 1000 },
        (_unused, index) =>
          sql`INSERT INTO items (name, big) VALUES (${`n${index}`}, ${index}) RETURNING big`,
      );
      const results = await db.write(inserts);
      expect(results.map(({ rows }) => rows[0]?.['big'])).toEqual(inserts.map((_unused, index) => index));
    });

    test('starters at once migrate once', async () => {
      const list = ['one', 'two', 'three'].map((table) => ({
        name: table,
        statements: [ddl(`CREATE TABLE ${table} (x INTEGER)`), ddl(`INSERT INTO ${table} (x) VALUES (1)`)],
      }));
      const others = await Promise.all([1, 2, 3, 4].map(() => open(path)));
      await Promise.all(others.map((other) => migrate(other, list)));
      await Promise.all(others.map((other) => other.close()));
      for (const { name: table } of list) {
        expect(await db.read(ddl(`SELECT COUNT(*) AS kept FROM ${table}`)), table).toEqual([{ kept: 1 }]);
      }
    });

    test('migrations apply once, in order, whole; a newer database is refused untouched', async () => {
      const first = { name: '1', statements: [ddl('CREATE TABLE one (x INTEGER)')] };
      const second = { name: '2', statements: [ddl('CREATE TABLE two (x INTEGER)')] };
      const broken = { name: '3', statements: [ddl('CREATE TABLE three (x INTEGER)'), ddl('nonsense')] };
      await migrate(db, [first]);
      await migrate(db, [first, second]);
      await migrate(db, [first, second]);
      await expect(migrate(db, [first, second, broken])).rejects.toMatchObject({ code: 'storage' });
      await expect(db.read(sql`SELECT * FROM three`)).rejects.toMatchObject({ code: 'storage' });
      await expect(migrate(db, [first])).rejects.toMatchObject({
        message: expect.stringContaining('newer version'),
      });
    });
  });
}

for (const { name, open: openWay, missing } of sqliteWays) {
  describe.skipIf(missing)(`${name}, its file`, () => {
    let folder = '';
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'fleetward-database-'));
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    test('a full database says so, keeps what it holds and goes on reading', async () => {
      const small = await openWay({ path: join(folder, 'small.db'), pageSize: 512, maxBytes: 64 * 1024 });
      await small.write([ddl('CREATE TABLE fill (bytes BLOB)')]);
      const fill = sql`INSERT INTO fill (bytes) VALUES (${new Uint8Array(8000)})`;
      const rest = Array.from({ length: 100 }, () => small.write([fill]));
      const outcomes = await Promise.allSettled(rest);
      const stored = outcomes.filter(({ status }) => status === 'fulfilled').length;
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      const error: unknown = refused?.status === 'rejected' ? refused.reason : null;
      expect(error).toMatchObject({ code: 'storage', cause: { code: 'SQLITE_FULL' } });
      expect(error).toMatchObject({ hint: 'Free some disk space or raise the limit.' });
      expect(await small.read(sql`SELECT COUNT(*) AS kept FROM fill`)).toEqual([{ kept: stored }]);
      expect(stored).toBeGreaterThan(3);
      await small.close();
    });

    test('a file that cannot be opened is an AppError that names it', async () => {
      const bad = join(folder, 'no-such-folder', 'x.db');
      const opening = (async () => openWay({ path: bad, pageSize: 4096 }))();
      await expect(opening).rejects.toMatchObject({ code: 'storage', message: expect.stringContaining(bad) });
    });
  });
}

describe('the files of a database in the calling thread, as a vehicle has it', () => {
  const open = async (path: string) => {
    const database = openSqlite({ path, pageSize: 512 });
    await database.write([ddl('CREATE TABLE notes (text TEXT)')]);
    await database.read({ sql: 'PRAGMA journal_size_limit = 4096', params: [] });
    const put = (text: string) => database.write([sql`INSERT INTO notes (text) VALUES (${text})`]);
    await put('one');
    return { database, put };
  };
  /** What the next start finds when the process is killed now. */
  const foundAfterKill = (path: string): readonly unknown[] => {
    const copy = `${path}.killed`;
    for (const suffix of ['', '-wal'])
      if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    return inspectSqlite(copy, { sql: 'SELECT text FROM notes ORDER BY text', params: [] }).rows.map(
      (row) => row['text'],
    );
  };
  const gone = { code: 'storage', cause: { code: 'FILES_GONE' } };

  test.each([['-wal'], ['-wal', '-shm'], ['-shm']])(
    'a log that lost %s is made anew, and nothing that was committed is lost',
    async (...suffixes) => {
      const folder = mkdtempSync(join(tmpdir(), 'fleetward-files-'));
      const path = join(folder, 'outbox.db');
      const { database, put } = await open(path);
      for (const suffix of suffixes) rmSync(path + suffix);
      await expect(put('two')).rejects.toMatchObject(gone);
      await put('two');
      await put('three');
      expect(foundAfterKill(path)).toEqual(['one', 'three', 'two']);
      expect(await database.read(sql`PRAGMA journal_size_limit`)).toMatchObject([
        { journal_size_limit: 4096 },
      ]);
      await database.close();
      rmSync(folder, { recursive: true });
    },
  );

  test('a file that was moved or replaced is written no more, until it is back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-files-'));
    const path = join(folder, 'outbox.db');
    const { database, put } = await open(path);
    for (const takeAway of [
      () => renameSync(path, `${path}.away`),
      () => {
        renameSync(path, `${path}.away`);
        writeFileSync(path, 'another');
      },
    ]) {
      takeAway();
      for (const text of ['two', 'two']) await expect(put(text)).rejects.toMatchObject(gone);
      await expect(database.write([])).rejects.toMatchObject(gone);
      renameSync(`${path}.away`, path);
      await database.write([]);
    }
    await put('three');
    expect(foundAfterKill(path)).toEqual(['one', 'three']);
    await database.close();
    rmSync(folder, { recursive: true });
  });
});

describe('a lock', () => {
  test('is one holder’s alone, by whatever name, and free again when it is given back', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-lock-'));
    const at = (name: string): string => join(folder, name);
    try {
      writeFileSync(at('outbox.db'), '');
      mkdirSync(at('other'));
      symlinkSync(at('outbox.db'), at('link.db'));
      symlinkSync(folder, at('other/folder'));
      const ways = [
        'outbox.db',
        'link.db',
        'other/folder/outbox.db',
        'other/folder/link.db',
        './other/../outbox.db',
      ];
      const held = holdSqlite(at('outbox.db'), 'the outbox');
      const busy = 'the outbox is in use by another process';
      for (const way of ways) expect(() => holdSqlite(`${folder}/${way}`, 'the outbox')).toThrow(busy);
      // Neither a lost lock file nor another name of the file lets a second one in.
      rmSync(at('outbox.db-lock'));
      expect(() => holdSqlite(at('outbox.db'), 'the outbox')).toThrow(busy);
      renameSync(at('outbox.db'), at('other/moved.db'));
      expect(() => holdSqlite(at('other/moved.db'), 'the outbox')).toThrow(busy);
      linkSync(at('other/moved.db'), at('outbox.db'));
      for (const name of ['outbox.db', 'other/moved.db'])
        expect(() => holdSqlite(at(name), 'the outbox')).toThrow('has 2 names (hard links)');
      rmSync(at('outbox.db'));
      held.close();
      holdSqlite(at('other/moved.db'), 'the outbox').close();
      // A file that is not there yet is locked once it is.
      const early = holdSqlite(at('new.db'), 'the outbox');
      expect(early.descriptor()).toBeNull();
      expect(() => holdSqlite(at('new.db'), 'the outbox')).toThrow(busy);
      writeFileSync(at('new.db'), '');
      expect(early.descriptor()).not.toBeNull();
      early.close();
      // A lock file that a power cut broke is no reason not to start.
      writeFileSync(at('new.db-lock'), 'x'.repeat(5000));
      const again = holdSqlite(at('new.db'), 'the outbox');
      expect(again.recordStart('17')).toBe('0');
      expect(again.recordStart('18')).toBe('17');
      expect(() => holdSqlite(at('new.db'), 'the outbox')).toThrow(busy);
      again.close();
      expect(existsSync(at('new.db-lock-journal'))).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('an error of SQLite', () => {
  test.each([
    ['SQLITE_FULL', 'Free some disk space'],
    ['ERR_DLOPEN_FAILED', 'npm rebuild'],
    ['SQLITE_CANTOPEN', 'Check the disk'],
  ])('%s names what to do: %s', (code, hint) => {
    const { message, hint: said } = storageError(Object.assign(new Error('cause'), { code }), '/data/f.db');
    expect(message).toBe(`/data/f.db: ${code}: cause`);
    expect(said).toContain(hint);
  });
});
