// The database that tests of the broker work on: SQLite in memory, or, with FLEETWARD_TEST_DATABASE=postgres, a fresh copy
// of a migrated database on one PostgreSQL server that `postgres-setup.ts` runs for all test files.
import { openPostgres } from '../../../src/adapters/database/postgres.ts';
import { openSqlite, openSqliteThreads } from '../../../src/adapters/database/sqlite.ts';
import type { Database, NotifyingDatabase, Statement } from '../../../src/ports.ts';
import { databasesIn } from './postgres.ts';

/** Folder of the server's socket; undefined: tests work on SQLite. */
const folder = process.env['FLEETWARD_TEST_POSTGRES_FOLDER'];

export const isOnPostgres = folder !== undefined;

/** URLs of stores that a test names by a path, so that it finds them again. */
const named = new Map<string, string>();
const urls = new WeakMap<Database, string>();

async function openCopy(inFolder: string, path: string | undefined): Promise<NotifyingDatabase> {
  const databases = databasesIn(inFolder);
  const url = (path === undefined ? undefined : named.get(path)) ?? (await databases.createMigrated());
  if (path !== undefined) named.set(path, url);
  const db = await openPostgres({ url, readersMost: 3 });
  const opened: NotifyingDatabase = {
    ...db,
    async close() {
      await db.close();
      if (path === undefined) await databases.drop(url);
    },
  };
  urls.set(opened, url);
  return opened;
}

/** The same PostgreSQL database once more, as another process would open it; to be closed first. */
export async function openSecond(db: Database): Promise<NotifyingDatabase> {
  const url = urls.get(db);
  if (url === undefined) throw new Error('only a PostgreSQL database is opened by several');
  return openPostgres({ url, readersMost: 3 });
}

/** @param path of a file, worked on by two threads as in the program; without it the store is in memory. */
export async function openTestDatabase(path?: string): Promise<NotifyingDatabase> {
  if (folder !== undefined) return openCopy(folder, path);
  return path === undefined
    ? openSqlite({ path: ':memory:', pageSize: 4096 })
    : openSqliteThreads({ path, pageSize: 4096 });
}

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

/** Every table by name with its columns, asked of the database itself. */
export async function tablesOf(db: Database): Promise<readonly Table[]> {
  const rows = await db.read({
    sql: isOnPostgres
      ? `SELECT table_name AS name, column_name AS found FROM information_schema.columns
        WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`
      : `SELECT t.name, c.name AS found FROM sqlite_master t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' ORDER BY t.name, c.cid`,
    params: [],
  });
  const tables = new Map<string, string[]>();
  for (const { name, found } of rows) {
    tables.set(String(name), [...(tables.get(String(name)) ?? []), String(found)]);
  }
  return [...tables].map(([name, columns]) => ({ name, columns }));
}

/** True when rows of the table are deleted together with the row of the other that they refer to. */
export async function isDeletedWith(db: Database, table: string, other: string): Promise<boolean> {
  const rows = await db.read({
    sql: isOnPostgres
      ? `SELECT 1 AS there FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'c'
        AND conrelid = '${table}'::regclass AND confrelid = '${other}'::regclass`
      : `SELECT 1 AS there FROM pragma_foreign_key_list('${table}') WHERE "table" = '${other}' AND on_delete = 'CASCADE'`,
    params: [],
  });
  return rows.length > 0;
}

/** Lets an INSERT of a test choose the number that the database gives otherwise. */
export const withOwnNumber: Statement = { sql: isOnPostgres ? 'OVERRIDING SYSTEM VALUE' : '', params: [] };
