// Whether the outbox's files can be read at all. SQLite reports a refused read of the disk (EIO) with the same code
// as wrong content (vdbe.c turns SQLITE_IOERR_CORRUPTFS into SQLITE_CORRUPT); only the second is repaired by a new
// file. Never changes the files, and limits how long a vehicle waits for a disk that has lost a part of one.
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { AppError } from '../../../src/core/errors.ts';
import { inMemory } from './outbox-reserve.ts';

export const readingLimits = {
  /** Times that damage must show in a row: a disk that misreads now and then must not cost a sound file. */
  damageShows: 12,
  /** While running: a file that cannot be read for so long is given up as damaged, so that events are kept again. */
  waitMs: 60_000,
  /** The same over starts, which the service manager makes every few seconds. */
  starts: 30,
} as const;

const chunkBytes = 64 * 1024;

/** Whether a file is there. Throws what the disk answers instead: a name that cannot be looked up is not a missing file. */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isWhole(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const chunk = new Uint8Array(chunkBytes);
    for (let at = 0; at < size; at += chunkBytes) readSync(file, chunk, 0, chunkBytes, at);
    return true;
  } finally {
    closeSync(file);
  }
}

/**
 * True when every byte of database and log can be read, whatever its content. Reads all of it: for doubtful moments
 * only.
 */
export function isReadable(path: string): boolean {
  if (path === inMemory) return true;
  try {
    return [path, `${path}-wal`].every((name) => !isThere(name) || isWhole(name));
  } catch {
    return false;
  }
}

/** The error while the disk refuses to read the file. */
export function unreadableError(path: string, thrown: unknown): AppError {
  return new AppError('storage', `${path}: the disk cannot read it`, {
    cause: thrown,
    hint: 'Nothing is given up yet: it is tried again. Check the disk and its connection; dmesg names the fault.',
  });
}

const countPath = (path: string): string => `${path}.unreadable`;

/** Counts a start that could not read the file; gives how many there were in a row, this one included. */
export function countUnreadable(path: string): number {
  let count = 1;
  try {
    if (existsSync(countPath(path))) count += Number.parseInt(readFileSync(countPath(path), 'utf8'), 10) || 0;
    writeFileSync(countPath(path), `${count}\n`, { mode: 0o600 });
  } catch {
    // A disk that takes nothing: then a new file would not help either, and the count may stand still.
  }
  return count;
}

/** The file was read: the next time counts from one. */
export function clearUnreadable(path: string): void {
  if (path !== inMemory && existsSync(countPath(path))) rmSync(countPath(path), { force: true });
}
