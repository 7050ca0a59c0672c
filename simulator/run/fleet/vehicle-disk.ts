// The disk of a simulated vehicle: in memory, or a folder where the scenario has faults of disk or process. A kill leaves what SQLite
// had written until then: the files, the WAL included, are copied at that instant.
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { OutboxOptions } from '../../../agent/outbox.ts';
import { AppError } from '../../../src/core/errors.ts';
import type { Database } from '../../../src/ports.ts';

type OpenDatabase = OutboxOptions['openDatabase'];

export interface VehicleDisk {
  /** Path of the outbox now. */
  path(): string;
  readonly openDatabase: OpenDatabase;
  /** While full, every write fails with SQLITE_FULL and writes nothing. */
  setFull(isFull: boolean): void;
  /** Open databases never answer again, as if their process were killed. @throws AppError `usage` where the disk is memory. */
  kill(): void;
  /** Removes the folder. */
  close(): void;
}

const never = <T>(): Promise<T> => new Promise(() => undefined);

function fullError(path: string): AppError {
  const cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  return new AppError('storage', `${path}: SQLITE_FULL: ${cause.message}`, { cause });
}

interface ProcessState {
  isKilled: boolean;
  readonly databases: Set<Database>;
}

/** A database whose process can be killed and whose disk can be full. */
function killableDatabase(
  database: Database,
  of: { processState: ProcessState; isFull(): boolean; path: string },
): Database {
  const { processState } = of;
  return {
    ...database,
    read: (statement) => (processState.isKilled ? never() : database.read(statement)),
    write(batch) {
      if (processState.isKilled) return never();
      return of.isFull() ? Promise.reject(fullError(of.path)) : database.write(batch);
    },
    close() {
      if (processState.isKilled) return never();
      processState.databases.delete(database);
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
  const folder = options.folder === null ? null : join(options.folder, options.deviceID);
  let generation = 1;
  let processState: ProcessState = { isKilled: false, databases: new Set() };
  let isFull = false;
  const folderOf = (of: string, no: number): string => join(of, String(no));
  const path = (): string => (folder === null ? ':memory:' : join(folderOf(folder, generation), 'outbox.db'));
  if (folder !== null) mkdirSync(folderOf(folder, generation), { recursive: true, mode: 0o700 });
  return {
    path,
    async openDatabase(file) {
      const of = processState;
      const database = await openDatabase(file);
      of.databases.add(database);
      return killableDatabase(database, { processState: of, isFull: () => isFull, path: file.path });
    },
    setFull(full) {
      isFull = full;
    },
    kill() {
      if (folder === null) throw new AppError('usage', 'A vehicle without a disk folder cannot be killed');
      const [before, after] = [folderOf(folder, generation), folderOf(folder, generation + 1)];
      processState.isKilled = true;
      // The WAL index is shared memory and does not outlive the process (SQLite, "WAL-mode file format" 2.1).
      const filter = (file: string): boolean => !basename(file).endsWith('-shm');
      cpSync(before, after, { recursive: true, filter });
      for (const database of processState.databases) void database.close();
      rmSync(before, { recursive: true, force: true });
      generation += 1;
      processState = { isKilled: false, databases: new Set() };
    },
    close() {
      if (folder !== null) rmSync(folder, { recursive: true, force: true });
    },
  };
}
