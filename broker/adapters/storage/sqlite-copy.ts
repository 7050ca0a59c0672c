// Copies an SQLite database of one moment while others go on writing, and looks a database file over. The copy is made in
// small steps with rests and with its bytes forced out in between, so that commits of the running broker keep the disk.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { openSqliteFile, storageError } from '../../../src/adapters/database/sqlite.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Clock } from '../../../src/ports.ts';

/** 1 MiB of pages of 4 KiB. */
const pagesAtOnce = 256;
/** Bytes that may wait for the disk before they are forced out. */
const unsyncedMost = 8 * 1024 * 1024;
/** So many times what a step took is rested before the next. */
const restFactor = 1;

type Connection = ReturnType<typeof openSqliteFile>;

/** Rows of every table of the product, by name. */
export type RowCounts = Readonly<Record<string, number>>;

export interface CopyOptions {
  readonly from: string;
  /** An empty file that no other process uses. */
  readonly to: string;
  readonly clock: Clock;
  /** Asked before each step. */
  readonly isCancelled: () => boolean;
  onProgress(share: number): void;
}

/** Bytes of the database as its pages stand, the write-ahead log included. */
export function sizeOfSqlite(path: string): number {
  const connection = openSqliteFile(path, 'read');
  try {
    const of = (name: string): number => Number(connection.pragma(name, { simple: true }));
    return of('page_count') * of('page_size');
  } catch (thrown) {
    throw storageError(thrown, path);
  } finally {
    connection.close();
  }
}

/** Names of all tables of the product. */
function tablesOf(connection: Connection): readonly string[] {
  const rows = connection
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[];
  return rows.map(({ name }) => name);
}

/** Rows of every table, counted one by one. */
export function countRows(connection: Connection): RowCounts {
  const entries = tablesOf(connection).map((table) => {
    const row = connection.prepare(`SELECT COUNT(*) AS count FROM "${table}"`).get() as { count: number };
    return [table, row.count] as const;
  });
  return Object.fromEntries(entries);
}

interface Steps extends CopyOptions {
  readonly source: Connection;
}

async function copyInSteps({ source, to, clock, isCancelled, onProgress }: Steps): Promise<void> {
  const file = openSync(to, 'r+');
  const pageSize = Number(source.pragma('page_size', { simple: true }));
  let unsynced = 0;
  let sinceMs = clock.monoMs();
  try {
    await source.backup(to, {
      progress({ totalPages, remainingPages }) {
        if (isCancelled()) throw new AppError('unavailable', 'the backup was stopped; nothing is left of it');
        unsynced += pagesAtOnce * pageSize;
        if (unsynced >= unsyncedMost) {
          fdatasyncSync(file);
          unsynced = 0;
        }
        onProgress(totalPages === 0 ? 1 : 1 - remainingPages / totalPages);
        // Asleep in this thread: there is nothing else in this program.
        const restMs = Math.min(1000, Math.max(1, (clock.monoMs() - sinceMs) * restFactor));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, restMs);
        sinceMs = clock.monoMs();
        return pagesAtOnce;
      },
    });
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Copies what was committed at the moment of the call, and counts its rows in that same moment.
 * @throws AppError `storage`, or `unavailable` when it was cancelled.
 */
export async function copySqlite(options: CopyOptions): Promise<RowCounts> {
  const source = openSqliteFile(options.from, 'read');
  try {
    // A transaction that reads: whatever is committed from now on is not seen, so the copy never begins anew.
    source.exec('BEGIN');
    source.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    await copyInSteps({ ...options, source });
    return countRows(source);
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : storageError(thrown, options.from);
  } finally {
    source.close();
  }
}

/** @throws AppError `storage` unless the pages, the indexes and the references of the whole database hold. */
export function needSound(connection: Connection, path: string): void {
  let fault: string | null;
  try {
    const line = String(connection.pragma('integrity_check(1)', { simple: true }));
    const [broken] = connection.pragma('foreign_key_check') as { table: string }[];
    fault =
      line !== 'ok' ? line : broken === undefined ? null : `a reference of ${broken.table} leads nowhere`;
  } catch (thrown) {
    throw storageError(thrown, path);
  }
  if (fault === null) return;
  throw new AppError('storage', `${path} is damaged: ${fault.slice(0, 300)}`, {
    hint: 'Do not use it. Take another backup; `fleetward-broker check` examines the running database.',
  });
}

/**
 * Refuses what is no database of this program, or of a newer version.
 * @param known names of the migrations that this version has.
 * @throws AppError `storage`.
 */
export function needKnownSchema(connection: Connection, path: string, known: readonly string[]): void {
  let names: readonly string[];
  try {
    const rows = connection.prepare('SELECT name FROM migrations').all() as { name: string }[];
    names = rows.map(({ name }) => name);
  } catch (thrown) {
    throw new AppError('storage', `${path} is no database of Fleetward, or is damaged`, { cause: thrown });
  }
  const foreign = names.find((name) => !known.includes(name));
  if (foreign === undefined && names.length > 0) return;
  throw new AppError(
    'storage',
    foreign === undefined
      ? `${path} is an empty database`
      : `${path} was written by a newer version (migration ${foreign})`,
    { hint: 'Install that version, and restore with it.' },
  );
}
