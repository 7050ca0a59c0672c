// The broker's database, by its name: a file is SQLite, a URL is PostgreSQL. Callers need not know which.
import { isPostgresUrl } from '../../core/database-url.ts';
import type { AppError } from '../../core/errors.ts';
import type { NotifyingDatabase } from '../../ports.ts';
import { type HoldMode, holdPostgres } from './postgres-hold.ts';
import type { PostgresEnvironment } from './postgres-server.ts';
import { holdSqlite, openSqlite, openSqliteThreads } from './sqlite.ts';
import { needOwnLog } from './sqlite-files.ts';

export interface DatabaseOptions {
  /** File path, or `postgres://user@host/database`. */
  readonly database: string;
  /** For the password of a PostgreSQL user. */
  readonly environment: PostgresEnvironment;
  /** `service`: nothing may hold up the caller's loop, many read at once. `command`: one piece of work. */
  readonly use: 'service' | 'command';
  /** Of a program that works on it alone. */
  readonly held?: HeldDatabase;
}

/** Bytes of a page of a new SQLite file. */
const pageSize = 4096;
/**
 * 64 MB of log. A commit changes rows of every sending vehicle. With SQLite's 4 MB every second or third commit would copy the
 * same pages into the database and wait for the disk twice.
 */
const checkpointPages = 16_000;
/** With a long history an event touches pages all over its indexes. */
const cacheKib = 64_000;
/** Reading connections of a command. */
const commandReaders = 2;

/** @throws AppError when it cannot be opened, or must not be. */
export async function openDatabase({
  database,
  environment,
  use,
  held,
}: DatabaseOptions): Promise<NotifyingDatabase> {
  if (isPostgresUrl(database)) {
    const { openPostgres } = await import('./postgres.ts');
    return openPostgres({
      url: database,
      environment,
      ...(use === 'command' ? { readersMost: commandReaders } : {}),
    });
  }
  const options = { path: database, pageSize, checkpointPages, cacheKib } as const;
  needOwnLog(database, held?.descriptor() ?? null);
  if (use === 'command') return openSqlite(options);
  // A new file is made before it is locked, and locked before the service works on it.
  if (held?.descriptor() === null) await openSqlite(options).close();
  const descriptor = held?.descriptor() ?? null;
  return openSqliteThreads(descriptor === null ? options : { ...options, descriptor });
}

export type { HoldMode } from './postgres-hold.ts';

export interface HeldDatabase {
  /** Of a file that is there: see `HeldSqlite`. */
  descriptor(): number | null;
  /** Of a file: see `HeldSqlite`. */
  recordStart?(start: string): string;
  close(): Promise<void>;
}

/**
 * Locks a database for this program: by locks on an SQLite file and beside it, or by a lock at a PostgreSQL server, which
 * several programs may hold `shared`.
 * @throws AppError `config` when another program has it, `storage`.
 */
export async function holdDatabase(
  { database, environment }: Omit<DatabaseOptions, 'use'>,
  terms: { readonly mode: HoldMode; readonly onLost: (error: AppError) => void },
): Promise<HeldDatabase> {
  if (!isPostgresUrl(database)) {
    const lock = holdSqlite(database, `the database ${database}`);
    return { descriptor: lock.descriptor, recordStart: lock.recordStart, close: async () => lock.close() };
  }
  const { createPostgresSessions } = await import('./postgres-sessions.ts');
  const sessions = createPostgresSessions({ url: database, environment });
  const held = await holdPostgres({ sessions, ...terms });
  return { descriptor: () => null, close: () => held.close() };
}
