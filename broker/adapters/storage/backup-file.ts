// A backup of an SQLite database: one file, whole, checked, for its owner alone, under its name only when all of that is
// done. It must never overwrite anything, and holds the keys of the broker only where that was asked for.
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openSqliteFile, storageError } from '../../../src/adapters/database/sqlite.ts';
import { AppError, codeOf, messageOf } from '../../../src/core/errors.ts';
import type { Clock } from '../../../src/ports.ts';
import { noteTable } from '../../store/service-facts.ts';
import { freeBytesAt } from './disk-sizes.ts';
import {
  copySqlite,
  countRows,
  needKnownSchema,
  needSound,
  type RowCounts,
  sizeOfSqlite,
} from './sqlite-copy.ts';

/** Private keys (PEM) by what they are for. */
export interface BrokerKeys {
  readonly signingKey: string;
  /** Null: there is none, as no browser has registered for Web Push. */
  readonly vapidKey: string | null;
}

export interface BackupOptions {
  readonly database: string;
  readonly target: string;
  readonly version: string;
  /** Null: they are not in it. */
  readonly keys: BrokerKeys | null;
  /** Names of the migrations that this version has. */
  readonly migrations: readonly string[];
  readonly clock: Clock;
  readonly isCancelled: () => boolean;
  onProgress(line: string): void;
}

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly rows: RowCounts;
}

/** More than the copy itself: what is written beside it while it is checked. */
const spareBytes = 16 * 1024 * 1024;

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

/** @throws AppError `storage` when so many bytes do not fit beside `path`. */
export function needSpace(path: string, bytes: number): void {
  const free = freeBytesAt(path);
  if (free === null || free >= bytes + spareBytes) return;
  throw new AppError(
    'storage',
    `${dirname(path)} has ${megabytes(free)} left, and ${megabytes(bytes + spareBytes)} are needed`,
    { hint: 'Free some space, or name a file on another disk.' },
  );
}

/** Makes an empty file, mode 0600. @throws AppError `conflict` when it is there, `storage` when it cannot be made. */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    const isThere = codeOf(thrown) === 'EEXIST';
    const code = isThere ? 'conflict' : 'storage';
    throw new AppError(code, `Cannot create ${path}: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: isThere ? 'Name a new file.' : 'Check that the folder exists and that this user may write to it.',
    });
  }
}

/** File systems without hard links (FAT, CIFS, many of FUSE), by what link(2) and fsync(2) of a folder answer there. */
const isUnsupported = (thrown: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK', 'EACCES'].includes(codeOf(thrown));

/** Does what a file system may not know, such as rights and owners. */
export function wherePossible(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!isUnsupported(thrown)) throw thrown;
  }
}

/** Gives a file a second name where that can be done; else it has only the new one. */
function rename(temporary: string, target: string): void {
  try {
    linkSync(temporary, target);
  } catch (thrown) {
    if (!isUnsupported(thrown)) throw thrown;
    // No call of Node renames without replacing: another file of this name would have to appear just now.
    if (existsSync(target)) throw Object.assign(new Error(`${target} exists`), { code: 'EEXIST' });
    renameSync(temporary, target);
  }
  rmSync(temporary, { force: true });
}

function sync(path: string): void {
  const file = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Gives a finished file its name, on the disk, and never in the place of another.
 * @throws AppError `conflict` when there is a file of that name, `storage`.
 */
export function publishFile(temporary: string, target: string): void {
  try {
    sync(temporary);
    rename(temporary, target);
    wherePossible(() => sync(dirname(resolve(target))));
  } catch (thrown) {
    const isThere = codeOf(thrown) === 'EEXIST';
    if (isThere)
      throw new AppError('conflict', `${target} exists already`, { cause: thrown, hint: 'Name a new file.' });
    throw storageError(thrown, target);
  }
}

function needTarget(target: string): void {
  if (existsSync(target)) {
    throw new AppError('conflict', `${target} exists already, and a backup overwrites nothing`, {
      hint: 'Name a new file.',
    });
  }
  if (existsSync(dirname(resolve(target)))) return;
  throw new AppError('not_found', `There is no folder ${dirname(resolve(target))}`, {
    hint: 'Create it, or name a file in another folder.',
  });
}

interface Note {
  readonly name: string;
  readonly value: string;
}

const notesOf = ({ version, keys, clock }: BackupOptions): readonly Note[] => [
  { name: 'version', value: version },
  { name: 'made', value: new Date(clock.utcMs()).toISOString() },
  ...(keys === null ? [] : [{ name: 'signing-key', value: keys.signingKey }]),
  ...(keys === null || keys.vapidKey === null ? [] : [{ name: 'vapid-key', value: keys.vapidKey }]),
];

/** Opens the copy, compares it with what was counted at the moment of the copy, checks all of it and writes the notes. */
function finish(options: BackupOptions, temporary: string, expected: RowCounts): void {
  const connection = openSqliteFile(temporary, 'write');
  try {
    // One file and nothing beside it: the copy says of itself that it has a write-ahead log.
    connection.pragma('journal_mode = DELETE');
    connection.pragma('synchronous = FULL');
    needKnownSchema(connection, temporary, options.migrations);
    needSound(connection, temporary);
    const rows = countRows(connection);
    const differing = Object.keys({ ...expected, ...rows }).find((table) => rows[table] !== expected[table]);
    if (differing !== undefined) {
      const difference = `${rows[differing] ?? 0} rows of ${differing} instead of ${expected[differing] ?? 0}`;
      throw new AppError('storage', `The copy differs from the original: ${difference}`, {
        hint: 'Make the backup again; if it differs again, examine the database with fleetward-broker check and the disk.',
      });
    }
    connection.exec(`CREATE TABLE ${noteTable} (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)`);
    const insert = connection.prepare(`INSERT INTO ${noteTable} (name, value) VALUES (?, ?)`);
    for (const { name, value } of notesOf(options)) insert.run(name, value);
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : storageError(thrown, temporary);
  } finally {
    connection.close();
  }
}

/** @throws AppError `conflict`, `not_found`, `storage`, or `unavailable` when it was cancelled; then nothing is left. */
export async function makeBackup(options: BackupOptions): Promise<BackupResult> {
  const { database, target, clock, isCancelled, onProgress } = options;
  needTarget(target);
  needSpace(resolve(target), sizeOfSqlite(database));
  const temporary = `${target}.partial-${process.pid}`;
  createPrivateFile(temporary);
  try {
    let reportedMs = clock.monoMs();
    const rows = await copySqlite({
      from: database,
      to: temporary,
      clock,
      isCancelled,
      onProgress(share) {
        if (clock.monoMs() - reportedMs < 2000) return;
        reportedMs = clock.monoMs();
        onProgress(`${Math.floor(share * 100)} % copied`);
      },
    });
    onProgress('checking the copy');
    finish(options, temporary, rows);
    const bytes = statSync(temporary).size;
    publishFile(temporary, target);
    return { file: target, bytes, rows };
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${temporary}${suffix}`, { force: true });
  }
}

/** The notes of a backup; none in a database that was copied in another way. */
export function readNotes(connection: ReturnType<typeof openSqliteFile>): ReadonlyMap<string, string> {
  const [found] = connection
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?")
    .all(noteTable);
  if (found === undefined) return new Map();
  const rows = connection.prepare(`SELECT name, value FROM ${noteTable}`).all() as Note[];
  return new Map(rows.map(({ name, value }) => [name, value]));
}

/** The keys of the broker. @throws AppError `not_found` when there is no signing key. */
export function readKeys(files: {
  readonly signingKeyFile: string;
  readonly vapidKeyFile: string;
}): BrokerKeys {
  const { signingKeyFile, vapidKeyFile } = files;
  if (!existsSync(signingKeyFile))
    throw new AppError('not_found', `there is no signing key ${signingKeyFile}`, {
      hint: 'Name it with --signing-key-file.',
    });
  return {
    signingKey: readFileSync(signingKeyFile, 'utf8'),
    vapidKey: existsSync(vapidKeyFile) ? readFileSync(vapidKeyFile, 'utf8') : null,
  };
}
