// The broker's database, by its name: a file is SQLite, a URL is PostgreSQL. Whoever works with it need not know which.
import { isPostgresUrl } from '../core/database-url.ts';
import type { Database } from '../ports.ts';
import { openPostgres } from './postgres.ts';
import type { PostgresEnvironment } from './postgres-server.ts';
import { openSqlite, openSqliteThreads } from './sqlite.ts';

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
/** Reading connections of a command. */
const commandReaders = 2;

/** @throws AppError when it cannot be opened, or must not be. */
export async function openDatabase({ database, environment, use }: DatabaseOptions): Promise<Database> {
  if (isPostgresUrl(database)) {
    return openPostgres({
      url: database,
      environment,
      ...(use === 'command' ? { readersMost: commandReaders } : {}),
    });
  }
  const options = { path: database, pageSize } as const;
  return use === 'service' ? openSqliteThreads(options) : openSqlite(options);
}
