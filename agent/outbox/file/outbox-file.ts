// The outbox's files: whether they can be trusted, and opening a database on them with its space divided between file
// and write-ahead log. Never falls back to memory.
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { AppError, causeCodeOf, messageOf } from '../../../src/core/errors.ts';
import { migrate } from '../../../src/migrate.ts';
import type { Clock, Database, Entropy, Statement } from '../../../src/ports.ts';
import { pageBytes, walFault } from '../../core/outbox/page-carving.ts';
import { damagedFault, damagedFilesOf, type FileFault, shortFault, syncFolder } from './damaged-files.ts';
import { type Content, checkContent, formatKeys } from './outbox-check.ts';
import {
  clearUnreadable,
  countUnreadable,
  isReadable,
  isThere,
  readingLimits,
  unreadableError,
} from './outbox-reading.ts';
import { freeReserve, inMemory, reservePath } from './outbox-reserve.ts';
import {
  migrationNames,
  noteKeys,
  notes,
  outboxMigrations,
  outboxTables,
  readStateRows,
  tableNames,
} from './outbox-schema.ts';

/** Opens a database of pages of 512 bytes; the agent passes `openSqlite`. Rejects or throws an AppError. */
export type OpenDatabase = (file: {
  readonly path: string;
  /** That of a new file: `pageBytes` for an outbox. */
  readonly pageSize: 512 | 4096;
  readonly maxBytes: number;
}) => Database | Promise<Database>;

export const maxBytesLeast = 1024 * 1024;
/** Most bytes beside the database file: log, its index, and the log's growth within one transaction. */
const logShare = 0.25;
const logMostBytes = 2 * 1024 * 1024;

/** How `maxBytes` is divided. */
export function spaceOf(maxBytes: number): {
  databaseBytes: number;
  checkpointPages: number;
  logBytes: number;
} {
  const besideBytes = Math.min(Math.floor(maxBytes * logShare), logMostBytes);
  const logBytes = Math.floor(besideBytes / 4);
  const checkpointPages = Math.floor(logBytes / pageBytes);
  return { databaseBytes: maxBytes - besideBytes, checkpointPages, logBytes };
}

export function isDamage(thrown: unknown): boolean {
  const code = causeCodeOf(thrown);
  return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB';
}

function sizeOf(path: string): number {
  return isThere(path) ? statSync(path).size : 0;
}

/** Bytes of the database and the files beside it. */
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

const pageSizeFault = damagedFault(`the page size is not ${pageBytes}`);

/** What the raw files show before SQLite touches (and perhaps repairs) them. Cost does not grow with the backlog. */
function rawFault(path: string): FileFault | null {
  if (!isThere(path)) {
    const isLeftOver = isThere(`${path}-wal`) || damagedFilesOf(path).length > 0;
    return isLeftOver ? shortFault('the database file is missing') : null;
  }
  const head = firstBytes(path);
  if (head.length < 100 || head.subarray(0, 15).toString('latin1') !== 'SQLite format 3')
    return damagedFault('the header is damaged');
  if (head.readUInt16BE(16) !== pageBytes) return pageSizeFault;
  const wal = isThere(`${path}-wal`) ? readFileSync(`${path}-wal`) : new Uint8Array();
  // A checkpoint may have been cut short, so the file may lack pages that the log still has.
  if (wal.length === 0 && sizeOf(path) < head.readUInt32BE(28) * pageBytes)
    return shortFault('the file is cut short');
  const reason = walFault(wal);
  return reason === null ? null : shortFault(reason);
}

async function configure(database: Database, maxBytes: number): Promise<void> {
  const space = spaceOf(maxBytes);
  await database.read({ sql: `PRAGMA wal_autocheckpoint = ${space.checkpointPages}`, params: [] });
  await database.read({ sql: `PRAGMA journal_size_limit = ${space.logBytes}`, params: [] });
}

async function checkpoint(database: Database): Promise<void> {
  await database.read({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', params: [] });
}

/** Moves the log into the database file as far as the disk allows, so that its space can be reused. */
export async function emptyLog(database: Database): Promise<void> {
  try {
    await checkpoint(database);
  } catch (thrown) {
    if (causeCodeOf(thrown) !== 'SQLITE_FULL') throw thrown;
  }
}

export interface FileOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly openDatabase: OpenDatabase;
}

export type OpenedFile =
  | {
      readonly ok: true;
      readonly database: Database;
      readonly content: Content;
    }
  | { readonly ok: false; readonly fault: FileFault };

/** Whether a log that should be there is gone: the program ended without closing, and a log then always remains. */
function logIsMissing(path: string, kept: ReadonlyMap<string, string>, hadLog: boolean): boolean {
  return path !== inMemory && kept.get(noteKeys.open) !== '' && !hadLog;
}

/** Which keys the agent's state has by now: one that is lost is missed at the next start. */
async function recordStateKeys(database: Database): Promise<Statement> {
  return notes.put(noteKeys.stateKeys, formatKeys(await database.read(readStateRows)));
}

/**
 * Makes a new file under a temporary name and renames it when it is whole, so that a file half made before a power
 * cut is never at `path`, and an unsound file there was certainly damaged.
 */
async function createFile({ path, maxBytes, openDatabase }: FileOptions): Promise<void> {
  const fresh = `${path}.new`;
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(fresh + suffix, { force: true });
  const database = await openDatabase({
    path: fresh,
    pageSize: pageBytes,
    maxBytes: spaceOf(maxBytes).databaseBytes,
  });
  try {
    await migrate(database, outboxMigrations);
    await checkpoint(database);
  } finally {
    await database.close();
  }
  // SQLite does not report when it could not move the log into the file on close: then the log still exists.
  if (sizeOf(`${fresh}-wal`) > 0) {
    throw new AppError('storage', `${path}: the disk does not take a new outbox`, {
      hint: 'It is tried again. Check that the disk has free space, works, and is not read-only.',
    });
  }
  renameSync(fresh, path);
  syncFolder(path);
}

/** Another page size is a damaged header or another program's database; in doubt it is a damaged outbox. */
async function refuseForeign({ path, maxBytes, openDatabase }: FileOptions): Promise<void> {
  let database: Database | null = null;
  try {
    database = await openDatabase({ path, pageSize: pageBytes, maxBytes });
    await assertOurs(database, path);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'config') throw thrown;
  } finally {
    await database?.close();
  }
}

/** Every version of the outbox has the first one: without it a record that looks newer is a damaged one. */
async function lacksFirstMigration(database: Database): Promise<boolean> {
  if ((await database.read(tableNames)).length === 0) return false;
  const applied = await database.read(migrationNames);
  return !applied.some((row) => row['name'] === outboxMigrations[0]?.name);
}

/** Opens and checks once. Throws what SQLite throws; the connection is then closed, or kept from harm by `closeFile`. */
async function openOnce(options: FileOptions, hadLog: boolean): Promise<OpenedFile> {
  const { path, maxBytes } = options;
  let database: Database | null = null;
  let isMarked = false;
  try {
    if (path !== inMemory && !isThere(path)) await createFile(options);
    database = await options.openDatabase({
      path,
      pageSize: pageBytes,
      maxBytes: spaceOf(maxBytes).databaseBytes,
    });
    await assertOurs(database, path);
    await configure(database, maxBytes);
    if (await lacksFirstMigration(database)) {
      await database.close();
      return { ok: false, fault: damagedFault('the record of migrations is damaged') };
    }
    await migrate(database, outboxMigrations);
    const checked = await checkContent(database, (kept) => logIsMissing(path, kept, hadLog));
    if (!checked.ok) {
      await database.close();
      return checked;
    }
    isMarked = true;
    await database.write([notes.put(noteKeys.open, '1'), await recordStateKeys(database)]);
    await checkpoint(database);
    return { ok: true, database, content: checked.content };
  } catch (thrown) {
    const isForeign = thrown instanceof AppError && thrown.code === 'config';
    // With the mark of a file in use and without its log the next try would call it damaged.
    if ((looksDamaged(thrown) && !isMarked) || isForeign) await database?.close();
    else if (database !== null) await closeFile(database);
    throw thrown;
  }
}

/** The tables are there by the migrations' record, so a statement that does not compile means a damaged schema. */
const looksDamaged = (thrown: unknown): boolean => isDamage(thrown) || causeCodeOf(thrown) === 'SQLITE_ERROR';

/**
 * Opens and checks the file, creating it when there is none (`isNew`: it was just set aside). A fault is a value; what no
 * replacement would cure (rights, missing folder, disk, another program's or a newer version's file) rejects. Damage counts
 * when it shows again and again and the files can be read: a disk that fails is waited for.
 */
export async function openFile(options: FileOptions, isNew = false): Promise<OpenedFile> {
  const { path } = options;
  assertUsable(path);
  const fault = isNew || path === inMemory ? null : rawFault(path);
  if (fault === pageSizeFault) await refuseForeign(options);
  if (fault !== null) return { ok: false, fault };
  const hadLog = isThere(`${path}-wal`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const opened = await openOnce(options, hadLog);
      clearUnreadable(path);
      return opened;
    } catch (thrown) {
      if (causeCodeOf(thrown) === 'SQLITE_FULL' && freeReserve(path)) continue;
      if (!looksDamaged(thrown)) throw thrown;
      if (attempt < readingLimits.damageShows) continue;
      if (!isReadable(path) && countUnreadable(path) < readingLimits.starts)
        throw unreadableError(path, thrown);
      return { ok: false, fault: damagedFault(messageOf(thrown)) };
    }
  }
}

function assertAccess(path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (thrown) {
    throw new AppError('storage', `${path}: this user may not read and write it: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: `Give it to the user that the agent runs as (chown), and see that the file system is not read-only.`,
    });
  }
}

function assertUsable(path: string): void {
  if (path === inMemory) return;
  if (!isThere(dirname(path))) {
    throw new AppError('storage', `${path}: the folder ${dirname(path)} does not exist`, {
      hint: 'Create the folder and give it to the user that the agent runs as.',
    });
  }
  assertAccess(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    if (!isThere(name)) continue;
    if (!statSync(name).isFile()) {
      throw new AppError('config', `${name} is not a file`, {
        hint: 'Move it away, or name another file in storage.path.',
      });
    }
    assertAccess(name, constants.R_OK | constants.W_OK);
  }
}

/** A sound database of another program at this path: it must not be touched, let alone set aside. */
async function assertOurs(database: Database, path: string): Promise<void> {
  const found = await database.read(tableNames);
  const names = found.map((row) => String(row['name']));
  if (names.length === 0 || names.some((name) => outboxTables.includes(name))) return;
  throw new AppError('config', `${path} is a database of another program (it has the table ${names[0]})`, {
    hint: 'Name another file in storage.path, or move that database away.',
  });
}

/** Connections that must not be closed, held so that the garbage collector does not do it either. */
const abandoned: Database[] = [];
const closeTries = 3;

/**
 * Closes the file and marks it as closed in good order. SQLite removes the write-ahead log when it closes, and a log that
 * is gone without that mark counts as lost: where the mark cannot be written, the connection stays open until the process
 * ends. False then.
 * @param extra goes into the commit with the mark.
 */
export async function closeFile(database: Database, extra: readonly Statement[] = []): Promise<boolean> {
  for (let attempt = 0; attempt < closeTries; attempt++) {
    try {
      await database.write([notes.remove(noteKeys.open), await recordStateKeys(database), ...extra]);
      await database.close();
      return true;
    } catch (thrown) {
      // Opened on a read-only file system: such a connection removes no log, and must not be in the way of the next one.
      if (causeCodeOf(thrown) === 'SQLITE_READONLY') {
        await database.close();
        return false;
      }
      // Anything else is tried again; what happens in the end is returned.
    }
  }
  // A process that ends by itself closes its files, a killed process does not.
  if (abandoned.length === 0) process.once('exit', () => process.exit());
  abandoned.push(database);
  return false;
}
