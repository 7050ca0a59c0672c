// Database over better-sqlite3. `openSqlite` works in the calling thread (the agent, tests). `openSqliteThreads` has one writing
// and two reading threads, so neither a commit nor a long query blocks the caller's event loop. Only point reads run in the
// calling thread, by a connection that cannot write. The durability promise (fsync before `write` resolves) rests on
// `synchronous=FULL` here and nowhere else.
import { closeSync, existsSync, rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import SqliteConnection from 'better-sqlite3';
import { AppError, codeOf, hintFrom, messageOf } from '../../core/errors.ts';
import type { Database, NotifyingDatabase, Row, Statement, WriteResult } from '../../ports.ts';
import { createNotificationBoard, notifying } from './commit-notifications.ts';
import { isOpenOn, lockInode, needOneName, realPathOf, watchFiles } from './sqlite-files.ts';
import { openPointReads } from './sqlite-points.ts';
import { createPreparer, createReader, rowsOf, type Table, valuesOf } from './sqlite-reads.ts';
import { type RowsStep, stepsOf } from './sqlite-rows.ts';

export interface SqliteOptions {
  /** File path, or `:memory:`. */
  readonly path: string;
  /** Bytes of a page; only for a new file. 512 is a fraction of what a vehicle's flash wears, 4096 suits a server. */
  readonly pageSize: 512 | 4096;
  /** Hard limit of the database file in bytes; SQLITE_FULL beyond it. */
  readonly maxBytes?: number;
  /**
   * Pages in the log before it is copied into the database, by the commit that comes to it; else SQLite's 1000. Pages that
   * change all the time are then copied once for many commits.
   */
  readonly checkpointPages?: number;
  /** Most memory for pages of the connection, in KiB; else 16,000. Of `openSqliteThreads` that of the writer. */
  readonly cacheKib?: number;
  /** Of the database file, open until the process ends: see `holdSqlite`. */
  readonly descriptor?: number;
}

/** Opens, sets the pragmas that durability rests on, and returns plain synchronous read and write. */
export function connectSqlite(options: SqliteOptions) {
  const connection = new SqliteConnection(options.path);
  connection.pragma(`page_size = ${options.pageSize}`);
  connection.pragma('journal_mode = WAL');
  connection.pragma('synchronous = FULL');
  connection.pragma('foreign_keys = ON');
  connection.pragma('busy_timeout = 5000');
  if (options.cacheKib !== undefined) connection.pragma(`cache_size = ${-options.cacheKib}`);
  if (options.checkpointPages !== undefined) {
    connection.pragma(`wal_autocheckpoint = ${options.checkpointPages}`);
  }
  if (options.maxBytes !== undefined) {
    connection.pragma(`max_page_count = ${Math.floor(options.maxBytes / options.pageSize)}`);
  }
  const prepare = createPreparer(connection);
  const runOne = ({ sql, params }: RowsStep): WriteResult => {
    const known = prepare(sql);
    const { statement } = known;
    const values = valuesOf(known, params);
    if (!statement.reader) return { changes: statement.run(values).changes, rows: [] };
    const rows = statement.all(values) as Row[];
    return { changes: rows.length, rows };
  };
  const runRows = (statement: Statement): WriteResult => {
    let changes = 0;
    const rows: Row[] = [];
    for (const step of stepsOf(statement)) {
      const result = runOne(step);
      changes += result.changes;
      rows.push(...result.rows);
    }
    return { changes, rows };
  };
  const run = (statement: Statement): WriteResult => {
    const { rows, mustChange } = statement;
    const result = rows === undefined ? runOne(statement) : runRows(statement);
    if (mustChange !== undefined && result.changes !== mustChange) {
      const said = `${result.changes} rows were changed and not ${mustChange}`;
      throw Object.assign(new Error(said), { code: 'CONFLICT' });
    }
    return result;
  };
  const runAll = connection.transaction((batch: readonly Statement[]) => batch.map(run));
  const saveLog = (): boolean => {
    const [found] = connection.pragma('wal_checkpoint(FULL)') as Record<
      'busy' | 'log' | 'checkpointed',
      number
    >[];
    return found !== undefined && found.busy === 0 && found.log === found.checkpointed;
  };
  const files =
    options.path === ':memory:' ? null : watchFiles(options.path, options.descriptor ?? null, saveLog);
  return {
    ...createReader(connection, prepare),
    /** An empty batch only asks whether the database can be written, and is still at its path. */
    write: (batch: readonly Statement[]): WriteResult[] => {
      files?.check();
      try {
        return runAll.immediate(batch);
      } finally {
        // Once more: a commit to a file that lost its name meanwhile would end with this process, and is why a read failed.
        files?.check();
      }
    },
    isLogSaved: (): boolean => files?.isSaved() ?? false,
    pragma: (text: string): unknown => connection.pragma(text, { simple: true }),
    close: (): void => void connection.close(),
  };
}

/** Turns an SQLite fault into an AppError that keeps the SQLite code in its message. */
export function storageError(thrown: unknown, path: string): AppError {
  const code = codeOf(thrown) || 'SQLITE_ERROR';
  let hint = 'Check the disk, the rights on the file and its folder, and that no other process holds it.';
  if (code === 'SQLITE_FULL') hint = 'Free some disk space or raise the limit.';
  if (code === 'ERR_DLOPEN_FAILED') {
    hint =
      'better-sqlite3 was compiled for another Node.js: run `npm rebuild`, or start the Node.js of the installation.';
  }
  return new AppError('storage', `${path}: ${code}: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: hintFrom(thrown) ?? hint,
  });
}

/**
 * Database in the calling thread. A removed log is made again once its contents are in the database; nothing is lost.
 * @throws AppError when the file cannot be opened.
 */
export function openSqlite(options: SqliteOptions): NotifyingDatabase {
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (thrown) {
      throw storageError(thrown, options.path);
    }
  };
  let connection = guard(() => connectSqlite(options));
  const board = createNotificationBoard();
  const pragmas: Statement[] = [];
  const write = (batch: readonly Statement[]): WriteResult[] => {
    if (connection.isLogSaved()) {
      connection.close();
      connection = connectSqlite(options);
      for (const pragma of pragmas) connection.read(pragma);
    }
    return connection.write(batch);
  };
  return {
    onCommit: board.onCommit,
    read: async (statement) => {
      if (/^PRAGMA \w+ = /.test(statement.sql)) pragmas.push(statement);
      return guard(() => connection.read(statement));
    },
    write: notifying(board, async (batch) => guard(() => write(batch))),
    close: async () => connection.close(),
  };
}

/**
 * Reads a database without changing it: the rows of `read`, and the result of `quick_check`, `ok` when it is sound.
 * @throws AppError `storage` when it cannot be opened or read.
 */
export function inspectSqlite(
  path: string,
  statement: Statement,
): { readonly rows: readonly Row[]; readonly integrity: string } {
  try {
    const connection = new SqliteConnection(path, { readonly: true, fileMustExist: true, timeout: 5000 });
    try {
      const integrity = String(connection.pragma('quick_check(1)', { simple: true }));
      return { rows: connection.prepare(statement.sql).all() as Row[], integrity };
    } finally {
      connection.close();
    }
  } catch (thrown) {
    throw storageError(thrown, path);
  }
}

/**
 * Reads a database and never changes it: every write is refused.
 * @throws AppError `storage` when it cannot be opened.
 */
export function openSqliteReader(path: string): Database {
  const connection = openSqliteFile(path, 'read');
  const { read } = createReader(connection);
  return {
    read: async (statement) => {
      try {
        return read(statement);
      } catch (thrown) {
        throw storageError(thrown, path);
      }
    },
    write: () => Promise.reject(new AppError('storage', `${path} is only read`)),
    close: async () => void connection.close(),
  };
}

/**
 * A separate connection to an existing file, for copying and checking whole databases.
 * @param busyMs wait for another connection.
 * @throws AppError `storage` when it cannot be opened.
 */
export function openSqliteFile(
  path: string,
  mode: 'read' | 'write',
  busyMs = 5000,
): SqliteConnection.Database {
  try {
    return new SqliteConnection(path, { readonly: mode === 'read', fileMustExist: true, timeout: busyMs });
  } catch (thrown) {
    throw storageError(thrown, path);
  }
}

/** A database file that this process alone may work on. */
export interface HeldSqlite {
  readonly lockFile: string;
  /** Descriptor of the file, locked by now; null while there is none. Kept open until `close`. */
  descriptor(): number | null;
  /** Records a whole number of 31 bits in the lock file, which stays when the database is exchanged; gives the one before, `0` at first. */
  recordStart(start: string): string;
  /** After every connection. */
  close(): void;
}

/**
 * Holds a database for this process alone until `close` or the end of the process: by a lock file beside its real path, and by a
 * lock on the file itself, valid under any name.
 * @param names `one` refuses a file with hard links, as the log of a killed process lies beside one of them; a vehicle must
 * start.
 * @throws AppError `config` when another process holds it, or when the file has several names.
 */
export function holdSqlite(path: string, what: string, names: 'one' | 'any' = 'one'): HeldSqlite {
  const real = realPathOf(path);
  const lockFile = `${real}-lock`;
  const busy = (): AppError =>
    new AppError('config', `${what} is in use by another process`, {
      hint: "Stop that one first: two on one store would take each other's events and commands.",
    });
  let lock: SqliteConnection.Database | null = null;
  try {
    lock = new SqliteConnection(lockFile, { timeout: 0 });
    lock.pragma('locking_mode = EXCLUSIVE');
    // No file beside it: a lock broken by a power cut is made again.
    lock.pragma('journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    if (names === 'one') needOneName(real);
    let descriptor = lockInode(real, busy);
    const held = lock;
    return {
      lockFile,
      descriptor() {
        // A file that was made, or put in its place, meanwhile.
        if (descriptor === null || !isOpenOn(descriptor, real)) descriptor = lockInode(real, busy);
        return descriptor;
      },
      recordStart(start) {
        const before = String(held.pragma('user_version', { simple: true }));
        // The lock outlasts the transaction: SQLite, "PRAGMA locking_mode".
        held.exec('COMMIT');
        held.pragma(`user_version = ${Number(start)}`);
        held.exec('BEGIN EXCLUSIVE');
        return before;
      },
      close() {
        held.close();
        if (descriptor !== null) closeSync(descriptor);
      },
    };
  } catch (thrown) {
    lock?.close();
    if (thrown instanceof AppError) throw thrown;
    const isBroken = /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(thrown)) && existsSync(lockFile);
    if (isBroken) {
      rmSync(lockFile);
      return holdSqlite(path, what, names);
    }
    throw codeOf(thrown).startsWith('SQLITE_BUSY') ? busy() : storageError(thrown, lockFile);
  }
}

/** Of one thread of a database. */
export interface ThreadOptions extends SqliteOptions {
  /** Niceness of the thread, 1 to 19; absent: unchanged. */
  readonly niceness?: number;
}

export type WorkerRequest =
  | { readonly id: number; readonly kind: 'read'; readonly statement: Statement }
  | { readonly id: number; readonly kind: 'write'; readonly batch: readonly Statement[] };

export type WorkerReply =
  | { readonly id: number; readonly ok: true; readonly result: Table | readonly WriteResult[] }
  | {
      readonly id: number;
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
    };

// Node 20 cannot start a thread from TypeScript. From source (tests) the thread's code comes from the build, which `npm test`
// makes first.
const workerUrl = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/src/adapters/database/sqlite-worker.js', import.meta.url)
  : new URL('./sqlite-worker.js', import.meta.url);

interface Waiting {
  resolve(result: Table | readonly WriteResult[]): void;
  reject(error: AppError): void;
}

function startThread(options: ThreadOptions) {
  const worker = new Worker(workerUrl, { workerData: options });
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let dead: AppError | null = null;
  const fail = (error: AppError): void => {
    dead ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const take = (reply: WorkerReply): void => {
    const entry = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.ok) entry?.resolve(reply.result);
    else
      entry?.reject(
        storageError(
          Object.assign(new Error(reply.message), { code: reply.code, hint: reply.hint }),
          options.path,
        ),
      );
  };
  worker.on('message', (replies: readonly WorkerReply[]) => replies.forEach(take));
  // Requests of one turn of the loop go in one message: waking a thread costs more than most reads.
  let unsent: WorkerRequest[] = [];
  const send = (): void => {
    if (unsent.length > 0) worker.postMessage(unsent);
    unsent = [];
  };
  worker.on('error', (thrown) => fail(storageError(thrown, options.path)));
  worker.on('exit', () => fail(new AppError('storage', `${options.path}: the database thread ended`)));
  return {
    call(request: Omit<WorkerRequest, 'id'>): Promise<Table | readonly WriteResult[]> {
      if (dead) return Promise.reject(dead);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        if (unsent.push({ ...request, id } as WorkerRequest) === 1) setImmediate(send);
      });
    },
    close: async (): Promise<void> => {
      const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      if (dead) return;
      send();
      worker.postMessage('close');
      await ended;
    },
  };
}

/** Niceness of the thread for patient reads: with two busy threads a core it gets a tenth of one, on a free core all of it. */
const patientNiceness = 10;

/**
 * Database on three threads: a writer, ordinary reads, low-priority reads; point reads run in the calling thread. The file must
 * exist with its pragmas set: the writer opens it first.
 */
export async function openSqliteThreads(options: SqliteOptions): Promise<NotifyingDatabase> {
  const writer = startThread(options);
  await writer.call({ kind: 'read', statement: { sql: 'SELECT 1', params: [] } } as Omit<
    WorkerRequest,
    'id'
  >);
  const { cacheKib: _, descriptor: _held, ...reading } = options;
  const prompt = startThread(reading);
  const patient = startThread({ ...reading, niceness: patientNiceness });
  const points = openPointReads(openSqliteFile(options.path, 'read', 0));
  const board = createNotificationBoard();
  const readBy = async (thread: typeof prompt, statement: Statement): Promise<Row[]> =>
    rowsOf((await thread.call({ kind: 'read', statement } as Omit<WorkerRequest, 'id'>)) as Table);
  return {
    onCommit: board.onCommit,
    read: (statement) =>
      statement.isPointRead === true
        ? points.read(statement, () => readBy(prompt, statement))
        : readBy(statement.isPatient === true ? patient : prompt, statement),
    write: notifying(
      board,
      (batch) =>
        writer.call({ kind: 'write', batch } as Omit<WorkerRequest, 'id'>) as Promise<readonly WriteResult[]>,
    ),
    close: async () => {
      points.close();
      await Promise.all([prompt.close(), patient.close()]);
      await writer.close();
    },
  };
}
