// The broker's database, by its name: a file is SQLite, a URL is PostgreSQL. Callers need not know which.
import { isPostgresUrl } from '../../core/database-url.ts';
import type { AppError } from '../../core/errors.ts';
import type { NotifyingDatabase } from '../../ports.ts';
import { openPostgres } from './postgres.ts';
import { type HoldMode, holdPostgres } from './postgres-hold.ts';
import type { PostgresEnvironment } from './postgres-server.ts';
import { createPostgresSessions } from './postgres-sessions.ts';
import { holdLock, openSqlite, openSqliteThreads } from './sqlite.ts';

export interface DatabaseOptions {
  /** File path, or `postgres://user@host/database`. */
  readonly database: string;
  /** For the password of a PostgreSQL user. */
  readonly environment: PostgresEnvironment;
  /** `service`: nothing may hold up the caller's loop, many read at once. `command`: one piece of work. */
  readonly use: 'service' | 'command';
}

/** Bytes of a page of a new SQLite file. */
const pageSize = 4096;
/**
 * 64 MB of log. A commit of events changes some rows of every vehicle that speaks, so with SQLite's 4 MB every second or third
 * commit would copy the same pages into the database, and wait for the disk twice.
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
}: DatabaseOptions): Promise<NotifyingDatabase> {
  if (isPostgresUrl(database)) {
    return openPostgres({
      url: database,
      environment,
      ...(use === 'command' ? { readersMost: commandReaders } : {}),
    });
  }
  const options = { path: database, pageSize, checkpointPages, cacheKib } as const;
  return use === 'service' ? openSqliteThreads(options) : openSqlite(options);
}

export type { HoldMode } from './postgres-hold.ts';

export interface HeldDatabase {
  close(): Promise<void>;
}

/**
 * Keeps others off a database while this program works on it: by a file beside an SQLite database, by a lock at a
 * PostgreSQL server, where several programs that hold it `shared` may work together.
 * @throws AppError `config` when another program has it, `storage`.
 */
export async function holdDatabase(
  { database, environment }: Omit<DatabaseOptions, 'use'>,
  terms: { readonly mode: HoldMode; readonly onLost: (error: AppError) => void },
): Promise<HeldDatabase> {
  if (!isPostgresUrl(database)) {
    const lock = holdLock(lockFileOf(database), `the database ${database}`);
    return { close: async () => lock.close() };
  }
  const sessions = createPostgresSessions({ url: database, environment });
  return holdPostgres({ sessions, ...terms });
}

/** The file that a program which works on an SQLite database holds. */
const lockFileOf = (path: string): string => `${path}-lock`;
