// The disk of a simulated vehicle: in memory, or a folder of its own where a fault of the disk or of the process is to come. What a
// killed process leaves is exactly what SQLite had handed to the system until then: files are copied at that instant, the log too.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { OutboxOptions } from '../../agent/outbox.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';

type OpenDatabase = OutboxOptions['openDatabase'];

export interface VehicleDisk {
  /** Where the outbox lies now. */
  path(): string;
  readonly openDatabase: OpenDatabase;
  /** Full: every write fails as SQLite says it (SQLITE_FULL), and nothing is written. */
  setFull(isFull: boolean): void;
  /** The process is gone: what is open answers nobody any more. @throws AppError `usage` where the disk is memory. */
  kill(): void;
  /** Removes the folder. */
  close(): void;
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

function fullError(path: string): AppError {
  const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  return new AppError('storage', `${path}: SQLITE_FULL: ${cause.message}`, { cause });
}

interface Life {
  isOver: boolean;
  readonly databases: Set<Database>;
}

/** A database of a process that may die, on a disk that may be full. */
function mortalDatabase(database: Database, of: { life: Life; isFull(): boolean; path: string }): Database {
  const { life } = of;
  return {
    ...database,
    read: (statement) => (life.isOver ? never() : database.read(statement)),
    write(batch) {
      if (life.isOver) return never();
      return of.isFull() ? Promise.reject(fullError(of.path)) : database.write(batch);
    },
    close() {
      if (life.isOver) return never();
      life.databases.delete(database);
      return database.close();
    },
  };
}

/** @param options.folder null: memory. */
export function createVehicleDisk(options: {
  readonly folder: string | null;
  readonly deviceID: string;
  readonly openDatabase: OpenDatabase;
}): VehicleDisk {
  const { openDatabase } = options;
  const home = options.folder === null ? null : join(options.folder, options.deviceID);
  let lives = 1;
  let life: Life = { isOver: false, databases: new Set() };
  let isFull = false;
  const folderOf = (of: string, no: number): string => join(of, String(no));
  const path = (): string => (home === null ? ':memory:' : join(folderOf(home, lives), 'outbox.db'));
  if (home !== null) mkdirSync(folderOf(home, lives), { recursive: true, mode: 0o700 });
  return {
    path,
    async openDatabase(file) {
      const of = life;
      const database = await openDatabase(file);
      of.databases.add(database);
      return mortalDatabase(database, { life: of, isFull: () => isFull, path: file.path });
    },
    setFull(full) {
      isFull = full;
    },
    kill() {
      if (home === null) throw new AppError('usage', 'A vehicle whose disk is memory would lose it');
      const [before, after] = [folderOf(home, lives), folderOf(home, lives + 1)];
      life.isOver = true;
      // The index of the log is shared memory: it does not outlive its last process (SQLite, "WAL-mode file format" 2.1).
      const filter = (file: string): boolean => !basename(file).endsWith('-shm');
      cpSync(before, after, { recursive: true, filter });
      for (const database of life.databases) void database.close();
      rmSync(before, { recursive: true, force: true });
      lives += 1;
      life = { isOver: false, databases: new Set() };
    },
    close() {
      if (home !== null) rmSync(home, { recursive: true, force: true });
    },
  };
}
