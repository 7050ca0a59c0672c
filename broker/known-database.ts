// Compares a database with this build before anything works on it: its tables, and that it was not put in place as a mere file.
import { createHash } from 'node:crypto';
import { AppError } from '../src/core/errors.ts';
import { migrate } from '../src/migrate.ts';
import type { Database } from '../src/ports.ts';
import { sql } from '../src/sql.ts';
import { buildFact, buildHash, migrations } from './migrations.ts';
import { textOf } from './store/base/row.ts';
import { noteTable, putFact, readFact } from './store/service-facts.ts';
import { isDroppedInPieces } from './store/slices/slice-retention.ts';

/** Columns and triggers of this schema, one line each. What other programs keep beside it is left out by the caller. */
const sqliteLines = sql`SELECT m.name AS tbl, 'column ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' '
    || COALESCE(c.dflt_value, '') AS line FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
  UNION ALL SELECT tbl_name, 'trigger ' || name || ' ' || sql FROM sqlite_master WHERE type = 'trigger'`;
const postgresLines = sql`SELECT table_name AS tbl, 'column ' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
    || COALESCE(column_default, '') AS line FROM information_schema.columns WHERE table_schema = current_schema()
  UNION ALL SELECT event_object_table, 'trigger ' || trigger_name || ' ' || event_manipulation || ' ' || action_statement
    FROM information_schema.triggers WHERE trigger_schema = current_schema()`;

type Tables = Readonly<Record<string, string>>;

/** A hash of each table. Slices of the events count as one: they come and go, and are made alike. */
async function readTables(db: Database): Promise<Tables> {
  const isSqlite = await isDroppedInPieces(db);
  const lines = new Map<string, Set<string>>();
  for (const row of await db.read(isSqlite ? sqliteLines : postgresLines)) {
    const table = textOf(row, 'tbl').replace(/^events_\d+$/, 'events');
    lines.set(table, (lines.get(table) ?? new Set()).add(textOf(row, 'line')));
  }
  return Object.fromEntries(
    [...lines].map(([table, of]) => [
      table,
      createHash('sha256')
        .update([...of].sort().join('\n'))
        .digest('hex')
        .slice(0, 16),
    ]),
  );
}

const tablesFact = 'tables';

interface Recorded {
  readonly build: string;
  readonly tables: Tables;
}

function foreignBuild(what: string): AppError {
  return new AppError('storage', `The database was made by another build of this version: ${what}`, {
    hint: 'Install that build again, or restore a backup that this one has made. Nothing was changed.',
  });
}

/** @throws AppError `storage` when tables are not as this build has made them. */
async function needOwnTables(db: Database): Promise<void> {
  const build = await readFact(db, buildFact).catch(() => null);
  if (build !== buildHash)
    throw foreignBuild(build === null ? 'it bears no mark of one' : 'its tables differ');
  const text = await readFact(db, tablesFact);
  const recorded = text === null ? null : (JSON.parse(text) as Recorded);
  const tables = await readTables(db);
  if (recorded?.build !== buildHash) {
    await db.write([putFact(tablesFact, JSON.stringify({ build: buildHash, tables } satisfies Recorded))]);
    return;
  }
  const changed = Object.keys(recorded.tables).filter((name) => tables[name] !== recorded.tables[name]);
  if (changed.length > 0) throw foreignBuild(`changed since then: ${changed.join(', ')}`);
}

/** @throws AppError `storage` for a backup that was copied into the place of the database. */
async function needNoBackup(db: Database): Promise<void> {
  const notes = await db
    .read(sql`SELECT 1 AS there FROM ${{ sql: noteTable, params: [] }} LIMIT 1`)
    .catch(() => []);
  if (notes.length === 0) return;
  throw new AppError('storage', 'The database is a backup that was copied here, and not restored', {
    hint: 'Move it away, with the files that end in -wal and -shm, and restore it: fleetward-broker restore FILE. Else numbers of events would be given twice.',
  });
}

/**
 * Brings a database up to date, and makes sure that it is one of this build.
 * @throws AppError `storage` when it must not be worked on; nothing was changed then.
 */
export async function prepareDatabase(db: Database): Promise<void> {
  await needNoBackup(db);
  await migrate(db, migrations);
  await needOwnTables(db);
}
