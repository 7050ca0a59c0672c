// The outbox's files: whether they can be trusted, setting them aside whole, and opening a database on them with its
// space divided between file and write-ahead log. Never deletes the newest evidence, never falls back to memory.
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError, messageOf } from '../src/core/errors.ts';
import { hexId } from '../src/core/ids.ts';
import { migrate } from '../src/migrate.ts';
import type { Clock, Database, Entropy } from '../src/ports.ts';
import { decodeRow, seqOf, stateSum } from './core/outbox-row.ts';
import { pageBytes, walFault } from './core/page-carving.ts';
import { noteKeys, notes, outboxMigrations, priorities, readStateRows, rows } from './outbox-schema.ts';

/** Opens a database of 1 KiB pages; the agent passes `openSqlite`. Rejects or throws an AppError. */
export type OpenDatabase = (file: {
  readonly path: string;
  readonly maxBytes: number;
}) => Database | Promise<Database>;

export const maxBytesLeast = 1024 * 1024;
/** What lies beside the database file at most: log, its index, and the log's growth within one transaction. */
const logShare = 0.25;
const logMostBytes = 2 * 1024 * 1024;
const evidenceMost = 2;

/** No files: for simulated vehicles, whose disk is the simulator's business. */
export const inMemory = ':memory:';

/** How `maxBytes` is divided. */
export function spaceOf(maxBytes: number): {
  databaseBytes: number;
  checkpointPages: number;
  logBytes: number;
} {
  const besideBytes = Math.min(Math.floor(maxBytes * logShare), logMostBytes);
  const logBytes = Math.floor(besideBytes / 4);
  const checkpointPages = Math.min(512, Math.floor(logBytes / pageBytes));
  return { databaseBytes: maxBytes - besideBytes, checkpointPages, logBytes };
}

/** The SQLite result code that an AppError of the database carries, '' when there is none. */
export function sqliteCode(thrown: unknown): string {
  const cause = thrown instanceof AppError ? thrown.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

export function isDamage(thrown: unknown): boolean {
  const code = sqliteCode(thrown);
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}

/** Bytes of the database and what lies beside it. */
export function fileBytes(path: string): number {
  return path === inMemory
    ? 0
    : sizeOf(path) + sizeOf(`${path}-wal`) + sizeOf(`${path}-shm`) + sizeOf(reservePath(path));
}

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(100);
    return head.subarray(0, readSync(file, head, 0, 100, 0));
  } finally {
    closeSync(file);
  }
}

/** What the raw files show before SQLite touches (and perhaps repairs) them. Cost does not grow with the backlog. */
function rawFault(path: string): string | null {
  if (!existsSync(path)) {
    const isLeftOver = existsSync(`${path}-wal`) || evidenceOf(path).length > 0;
    return isLeftOver ? 'the database file is missing' : null;
  }
  const head = firstBytes(path);
  if (head.length < 100 || head.subarray(0, 15).toString('latin1') !== 'SQLite format 3')
    return 'the header is damaged';
  if (head.readUInt16BE(16) !== pageBytes) return 'the page size is not 1024';
  const wal = existsSync(`${path}-wal`) ? readFileSync(`${path}-wal`) : new Uint8Array();
  // A checkpoint may have been cut short, so the file may lack pages that the log still has.
  if (wal.length === 0 && sizeOf(path) < head.readUInt32BE(28) * pageBytes) return 'the file is cut short';
  return walFault(wal);
}

/** What the database itself shows: schema, first and last row of each class, state. Throws what SQLite throws. */
async function probe(database: Database): Promise<string | null> {
  for (const priority of priorities) {
    for (const statement of [rows.first(priority), rows.last(priority)]) {
      const row = (await database.read(statement))[0];
      const body = row?.['body'];
      if (row === undefined) continue;
      const decoded = body instanceof Uint8Array ? decodeRow(body) : null;
      if (decoded?.event.seq !== seqOf(Number(row['id'])))
        return `the first or last row of class ${priority} is damaged`;
    }
  }
  for (const row of await database.read(readStateRows)) {
    if (row['sum'] !== stateSum(String(row['key']), String(row['value']))) return 'the state is damaged';
  }
  return null;
}

async function configure(database: Database, maxBytes: number): Promise<void> {
  const space = spaceOf(maxBytes);
  await database.read({ sql: `PRAGMA wal_autocheckpoint = ${space.checkpointPages}`, params: [] });
  await database.read({ sql: `PRAGMA journal_size_limit = ${space.logBytes}`, params: [] });
}

async function checkpoint(database: Database): Promise<void> {
  await database.read({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', params: [] });
}

/** Moves the log into the database file as far as the disk allows, so that its space can be used anew. */
export async function emptyLog(database: Database): Promise<void> {
  try {
    await checkpoint(database);
  } catch (thrown) {
    if (sqliteCode(thrown) !== 'SQLITE_FULL') throw thrown;
  }
}

const reservePath = (path: string): string => `${path}-reserve`;

/** Sets space aside for the day others fill the disk: without it not even a deletion could be written then. */
export function takeReserve(file: { readonly path: string; readonly maxBytes: number }): boolean {
  if (file.path === inMemory) return true;
  const bytes = spaceOf(file.maxBytes).logBytes;
  if (sizeOf(reservePath(file.path)) === bytes) return true;
  try {
    writeFileSync(reservePath(file.path), new Uint8Array(bytes));
    return true;
  } catch {
    giveReserve(file.path);
    return false;
  }
}

/** Gives that space back to the disk; false when there was none. */
export function giveReserve(path: string): boolean {
  if (path === inMemory || !existsSync(reservePath(path))) return false;
  rmSync(reservePath(path), { force: true });
  return true;
}

export interface FileOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openDatabase: OpenDatabase;
}

export type OpenedFile =
  | { readonly ok: true; readonly database: Database; readonly notes: ReadonlyMap<string, string> }
  | { readonly ok: false; readonly fault: string };

/** Whether a log that should be there is gone: the program ended without closing, and a log then always remains. */
function logIsMissing(path: string, kept: ReadonlyMap<string, string>, hadLog: boolean): boolean {
  return path !== inMemory && kept.has(noteKeys.open) && !hadLog;
}

/**
 * Opens and checks the file, creating it when there is none (`isNew`: it was just set aside). A fault is a value; what no replacement would cure
 * (rights, missing folder, disk, a newer version's file) rejects.
 */
export async function openFile(options: FileOptions, isNew = false): Promise<OpenedFile> {
  const { path } = options;
  assertUsable(path);
  const fault = isNew || path === inMemory ? null : rawFault(path);
  if (fault !== null) return { ok: false, fault };
  const hadLog = existsSync(`${path}-wal`);
  let database: Database | null = null;
  try {
    database = await options.openDatabase({ path, maxBytes: spaceOf(options.maxBytes).databaseBytes });
    await configure(database, options.maxBytes);
    await migrate(database, outboxMigrations);
    const kept = new Map(
      (await database.read(notes.all())).map((row) => [String(row['key']), String(row['value'])]),
    );
    const found = logIsMissing(path, kept, hadLog) ? 'the write-ahead log is missing' : await probe(database);
    if (found !== null) {
      await database.close();
      return { ok: false, fault: found };
    }
    await database.write([notes.put(noteKeys.open, '1')]);
    await checkpoint(database);
    return { ok: true, database, notes: kept };
  } catch (thrown) {
    await database?.close();
    if (isDamage(thrown)) return { ok: false, fault: messageOf(thrown) };
    if (sqliteCode(thrown) === 'SQLITE_FULL' && giveReserve(path)) return openFile(options, isNew);
    // The tables are there by the migrations' record, so a statement that does not compile means a damaged schema.
    if (sqliteCode(thrown) === 'SQLITE_ERROR') return { ok: false, fault: messageOf(thrown) };
    throw thrown;
  }
}

function assertUsable(path: string): void {
  if (path === inMemory || existsSync(dirname(path))) return;
  throw new AppError('storage', `${path}: the folder ${dirname(path)} does not exist`, {
    hint: 'Create the folder and give it to the user that the agent runs as.',
  });
}

/** Marks the file as closed in good order; the caller closes the database next. */
export async function markClosed(database: Database): Promise<void> {
  await database.write([notes.remove(noteKeys.open)]);
}

/** Names of set-aside databases beside `path`, oldest first. */
export function evidenceOf(path: string): readonly string[] {
  const start = `${basename(path)}.damaged-`;
  const isMain = (name: string): boolean =>
    name.startsWith(start) && !name.endsWith('-wal') && !name.endsWith('-shm');
  return readdirSync(dirname(path))
    .filter(isMain)
    .sort()
    .map((name) => join(dirname(path), name));
}

/** Moves database, log and index aside together under one name, which it returns; keeps the two newest such sets. */
export function setAside(options: FileOptions): string {
  const stamp = new Date(options.clock.utcMs()).toISOString().replace(/[-:]|\.\d+/g, '');
  const unfinished = existsSync(options.path) ? undefined : evidenceOf(options.path).at(-1);
  const fresh = `${options.path}.damaged-${stamp}-${hexId(options.entropy.bytes(4))}`;
  // A power cut may have come between two renames, or before the salvage began: then this goes on where that ended.
  const target = unfinished ?? fresh;
  try {
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(options.path + suffix)) renameSync(options.path + suffix, target + suffix);
    }
  } catch (thrown) {
    throw new AppError(
      'storage',
      `${options.path}: a damaged database cannot be set aside: ${messageOf(thrown)}`,
      {
        cause: thrown,
        hint: 'Check the rights on the folder and that the file system is not read-only.',
      },
    );
  }
  const older = evidenceOf(options.path).filter((path) => path !== target);
  for (const path of older.slice(0, Math.max(0, older.length - evidenceMost + 1))) {
    for (const suffix of ['-wal', '-shm', '']) rmSync(path + suffix, { force: true });
  }
  return target;
}
