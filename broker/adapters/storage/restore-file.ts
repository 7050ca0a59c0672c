// Puts a backup in the place of a database that is not there. Everything is checked on a copy first; the name of the database
// appears last. It must never touch a database that exists, nor replace a key.
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { openSqliteFile, storageError } from '../../../src/adapters/database/sqlite.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Clock, Statement } from '../../../src/ports.ts';
import { noteTable } from '../../store/service-facts.ts';
import { createPrivateFile, needSpace, publishFile, readNotes, wherePossible } from './backup-file.ts';
import { needKnownSchema, needSound } from './sqlite-copy.ts';

export interface RestoreOptions {
  readonly file: string;
  readonly database: string;
  readonly signingKeyFile: string;
  readonly vapidKeyFile: string;
  /** Names of the migrations that this version has. */
  readonly migrations: readonly string[];
  readonly clock: Clock;
  /** Statements that record it: the audit entry, and that numbers begin higher at the next start. */
  audit(notes: ReadonlyMap<string, string>): readonly Statement[];
  onProgress(line: string): void;
}

export interface RestoreResult {
  readonly database: string;
  /** When the backup was made (RFC 3339); null when it does not say. */
  readonly made: string | null;
  /** Whether the key that vehicles know is where the broker looks for it. */
  readonly hasSigningKey: boolean;
}

/** @throws AppError `conflict`. */
function needNoDatabase(database: string): void {
  const there = ['', '-wal', '-journal']
    .map((suffix) => `${database}${suffix}`)
    .find((path) => existsSync(path));
  if (there === undefined) return;
  throw new AppError('conflict', `${there} is there, and a restore overwrites nothing`, {
    hint: 'Stop the broker and move the database away, with -wal and -shm, or name another with --database.',
  });
}

/** Root works for the user that the folder belongs to. */
export function changeOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(resolve(path)));
  wherePossible(() => chownSync(path, uid, gid));
}

interface Key {
  readonly path: string;
  readonly pem: string;
}

/** @throws AppError `conflict` when another key is in the place of one that is in the backup. */
function needSameKey({ path, pem }: Key): void {
  if (!existsSync(path) || readFileSync(path, 'utf8').trim() === pem.trim()) return;
  throw new AppError('conflict', `${path} is another key than the one in the backup`, {
    hint: 'Vehicles accept only the signing key that they were enrolled with. Move the other key away and restore again.',
  });
}

function putKey({ path, pem }: Key): void {
  if (existsSync(path)) return;
  createPrivateFile(path);
  writeFileSync(path, pem, { flush: true });
  changeOwner(path);
}

/** Checks the copy, takes the notes out of it, leaving no trace of a key, and writes the audit entry. */
function prepare(options: RestoreOptions, temporary: string): ReadonlyMap<string, string> {
  const connection = openSqliteFile(temporary, 'write');
  try {
    needKnownSchema(connection, options.file, options.migrations);
    needSound(connection, options.file);
    const notes = readNotes(connection);
    connection.pragma('secure_delete = ON');
    connection.pragma('journal_mode = MEMORY');
    connection.transaction(() => {
      connection.exec(`DROP TABLE IF EXISTS ${noteTable}`);
      for (const { sql, params } of options.audit(notes))
        connection.prepare(sql.replace(/\$\d+/g, '?')).run(...params);
    })();
    return notes;
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : storageError(thrown, options.file);
  } finally {
    connection.close();
  }
}

/**
 * The caller holds the lock of the database.
 * @throws AppError `conflict`, `not_found`, `storage`; then nothing was changed.
 */
export function restoreBackup(options: RestoreOptions): RestoreResult {
  const { file, database, signingKeyFile, vapidKeyFile, onProgress } = options;
  if (!existsSync(file)) {
    throw new AppError('not_found', `There is no backup ${file}`, { hint: 'Check the path of the backup.' });
  }
  needNoDatabase(database);
  needSpace(resolve(database), statSync(file).size);
  const temporary = `${database}.restore-${process.pid}`;
  try {
    onProgress('copying');
    copyFileSync(file, temporary, constants.COPYFILE_EXCL);
    wherePossible(() => chmodSync(temporary, 0o600));
    onProgress('checking');
    const notes = prepare(options, temporary);
    const keys = [
      { path: signingKeyFile, pem: notes.get('signing-key') },
      { path: vapidKeyFile, pem: notes.get('vapid-key') },
    ].flatMap(({ path, pem }) => (pem === undefined ? [] : [{ path, pem }]));
    for (const key of keys) needSameKey(key);
    for (const key of keys) putKey(key);
    changeOwner(temporary);
    publishFile(temporary, database);
    return { database, made: notes.get('made') ?? null, hasSigningKey: existsSync(signingKeyFile) };
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${temporary}${suffix}`, { force: true });
  }
}
