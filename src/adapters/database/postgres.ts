// Database over PostgreSQL. One writing connection keeps the order of batches, a few reading ones answer queries. A batch is one
// transaction under one lock of the whole store: writers of all processes are serialized as in SQLite, and event numbers become
// visible in order. Promise when a connection breaks: a refused batch was not written, and a written one is not refused.
import { randomUUID } from 'node:crypto';
import { AppError, unknownOutcome } from '../../core/errors.ts';
import { toPostgresDdl } from '../../core/postgres-ddl.ts';
import type { Cancel, CommitNotice, NotifyingDatabase, Statement, WriteResult } from '../../ports.ts';
import { sizeOf } from '../../rows.ts';
import { changedTopics, createNotificationBoard, notifying } from './commit-notifications.ts';
import type { Connection } from './postgres-connection.ts';
import { PostgresFault, storageFault } from './postgres-fault.ts';
import { listenToPostgres, noticeOf, type PostgresListener } from './postgres-listener.ts';
import { createPostgresReaders } from './postgres-readers.ts';
import { withoutRows } from './postgres-rows.ts';
import { createPostgresSessions, type PostgresSessions, type SessionOptions } from './postgres-sessions.ts';

export interface PostgresOptions extends SessionOptions {
  /** Reading connections, 1 to 20; with three or more some of them are for patient reads alone. */
  readonly readersMost?: number;
}

const readersDefault = 6;
/** Values that may wait for the writing connection; beyond it batches are refused. */
const waitingMost = 5_000_000;
/** Tries of one batch, of which nothing was written before. */
const triesMost = 5;
/** Time limit of the look-up of an unanswered commit. */
const inquiryMs = 30_000;
const retryMs = 100;
/** The same in every process on every database; the lock is one database's. */
const writeLock = 4_674_771_001;

const plain = (sql: string): Statement => ({ sql, params: [] });
const begin = plain('BEGIN');
const lock = plain(`SELECT pg_advisory_xact_lock(${writeLock})`);
const commit = plain('COMMIT');
const rollback = plain('ROLLBACK');
/** Building an index of a large table takes longer than any statement of the product may. */
const patient = [plain("SET LOCAL statement_timeout = '1h'")];

/** A table is dropped alone and at once, or not: waiting for its readers would block all writers. */
const impatient = [plain("SET LOCAL lock_timeout = '100ms'")];
const isLoneDrop = (batch: readonly Statement[]): boolean =>
  batch.length === 1 && /^\s*DROP\s+TABLE\b/i.test(batch[0]?.sql ?? '');

// Each batch stores its writer's number: a writer that lost the answer of a commit finds it, or finds that the batch was not
// written. The server's transaction numbers would not do: after a crash it reuses those that had not reached its disk.
const createMarks = plain(`CREATE TABLE IF NOT EXISTS store_writers (
  writer TEXT NOT NULL PRIMARY KEY, batch_no BIGINT NOT NULL, opened_at TIMESTAMPTZ NOT NULL DEFAULT now())`);
/** Of writers that ended without closing. */
const dropOldMarks = plain("DELETE FROM store_writers WHERE opened_at < now() - INTERVAL '400 days'");
const mark = (writer: string, batchNo: number): Statement => ({
  sql: `INSERT INTO store_writers (writer, batch_no) VALUES ($1, $2)
    ON CONFLICT (writer) DO UPDATE SET batch_no = excluded.batch_no`,
  params: [writer, batchNo],
});
const readMark = (writer: string): Statement => ({
  sql: 'SELECT batch_no FROM store_writers WHERE writer = $1',
  params: [writer],
});
const dropMark = (writer: string): Statement => ({
  sql: 'DELETE FROM store_writers WHERE writer = $1',
  params: [writer],
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** The NOTIFY statement for these topics; null: none. */
type NoticeFor = (topics: readonly string[]) => Statement | null;
const noNotice: NoticeFor = () => null;

const quiet = { seal: plain('SELECT 1'), noticeFor: noNotice } as const;

/** The queue of notices is full because a listener does not read it: events are not refused for that. */
const noticesFullCode = '54000';

/** What became of one try of a batch. */
type Try =
  | { readonly kind: 'written'; readonly results: readonly WriteResult[] }
  | { readonly kind: 'failed'; readonly fault: PostgresFault }
  /** The commit was sent and not answered. */
  | { readonly kind: 'unknown'; readonly results: readonly WriteResult[] };

/** A statement that did not change as many rows as it must; null when there is none. */
function conflictIn(batch: readonly Statement[], results: readonly WriteResult[]): PostgresFault | null {
  for (const [at, { mustChange }] of batch.entries()) {
    const changes = results[at]?.changes;
    if (mustChange !== undefined && changes !== mustChange) {
      return new PostgresFault('refused', 'CONFLICT', `${changes} rows were changed and not ${mustChange}`);
    }
  }
  return null;
}

/**
 * @param seal the last statement; its answer is not needed.
 * @param noticeFor the statement that notifies others of the commit; null: none is needed.
 */
async function tryBatch(
  connection: Connection,
  batch: readonly Statement[],
  { seal, noticeFor }: { readonly seal: Statement; readonly noticeFor: NoticeFor },
): Promise<Try> {
  const isDdl = batch.some(({ sql }) => /^\s*(CREATE|ALTER|DROP)\b/i.test(sql));
  const head = [begin, ...(isDdl ? patient : []), lock, ...(isLoneDrop(batch) ? impatient : [])];
  let answers: readonly WriteResult[];
  try {
    answers = await connection.run([...head, ...batch, seal]);
  } catch (thrown) {
    const fault = thrown as PostgresFault;
    if (fault.kind !== 'lost') await connection.run([rollback]).catch(() => undefined);
    return { kind: 'failed', fault };
  }
  const results = answers.slice(head.length, -1);
  const conflict = conflictIn(batch, results);
  if (conflict !== null) {
    await connection.run([rollback]).catch(() => undefined);
    return { kind: 'failed', fault: conflict };
  }
  try {
    const notice = noticeFor(changedTopics(batch, results));
    await connection.run(notice === null ? [commit] : [notice, commit]);
    return { kind: 'written', results };
  } catch (thrown) {
    const fault = thrown as PostgresFault;
    if (fault.kind !== 'lost') {
      await connection.run([rollback]).catch(() => undefined);
      return { kind: 'failed', fault };
    }
    return { kind: 'unknown', results };
  }
}

interface Job {
  readonly batch: readonly Statement[];
  readonly size: number;
  resolve(results: readonly WriteResult[]): void;
  reject(error: unknown): void;
}

function brokenFault(shown: string): AppError {
  return new AppError('unavailable', `${shown}: the connection broke ${triesMost} times in a row`, {
    hint: 'Look at the log of PostgreSQL, and at a proxy or firewall between both that ends connections.',
  });
}

function unknownFault(shown: string): AppError {
  const words = 'a commit was not answered: outcome unknown';
  return storageFault(shown, new PostgresFault('lost', unknownOutcome, words), {
    hint: 'Look at the state before you do it again.',
  });
}

/** @param writer a name of its own: of its newest batch, and of its notices. */
function createWriter(sessions: PostgresSessions, writer: string) {
  const jobs: Job[] = [];
  let waiting = 0;
  let connection: Connection | null = null;
  let loop: Promise<void> | null = null;
  let isClosed = false;
  let batchNo = 0;
  const notice: NoticeFor = (topics) => (topics.length === 0 ? null : noticeOf(writer, topics));

  const connected = async (): Promise<Connection> => {
    if (connection === null || connection.isLost()) connection = await sessions.open('writer');
    return connection;
  };
  /** True: it was committed; false: it surely was not. @throws AppError when the outcome is unknown. */
  const inquire = async (ofBatch: number): Promise<boolean> => {
    const endMs = performance.now() + inquiryMs;
    while (performance.now() < endMs) {
      try {
        // The old session holds the lock until it has ended, one way or the other.
        const answers = await (await connected()).run([begin, lock, readMark(writer), commit]);
        return answers[2]?.rows[0]?.['batch_no'] === ofBatch;
      } catch {
        await connection?.run([rollback]).catch(() => undefined);
        await pause(retryMs);
      }
    }
    throw unknownFault(sessions.shown);
  };
  const perform = async (batch: readonly Statement[]): Promise<readonly WriteResult[]> => {
    let noticeFor = notice;
    for (let tries = 1; ; tries++) {
      batchNo += 1;
      const outcome = await tryBatch(await connected(), batch, { seal: mark(writer, batchNo), noticeFor });
      if (outcome.kind === 'written') return outcome.results;
      if (outcome.kind === 'failed' && outcome.fault.code === noticesFullCode && noticeFor !== noNotice) {
        noticeFor = noNotice;
        continue;
      }
      if (outcome.kind === 'unknown') {
        if (await inquire(batchNo)) return outcome.results;
      } else if (outcome.fault.kind === 'refused' || tries >= triesMost) {
        throw storageFault(sessions.shown, outcome.fault);
      }
      if (tries >= triesMost) throw brokenFault(sessions.shown);
    }
  };
  const run = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      waiting -= job.size;
      await perform(job.batch).then(job.resolve, job.reject);
    }
    loop = null;
  };
  return {
    /** Makes sure of the server before anybody relies on it. */
    async prepare(): Promise<void> {
      const outcome = await tryBatch(await connected(), [createMarks, dropOldMarks], quiet);
      if (outcome.kind === 'failed') throw storageFault(sessions.shown, outcome.fault);
    },
    write(batch: readonly Statement[]): Promise<readonly WriteResult[]> {
      if (isClosed) return Promise.reject(new AppError('storage', `${sessions.shown} is closed`));
      if (batch.length === 0) return Promise.resolve([]);
      const size = batch.reduce((sum, statement) => sum + sizeOf(statement), 0);
      if (waiting + size > waitingMost) {
        return Promise.reject(
          new AppError('unavailable', 'too much waits for the database', { retryAfterS: 5 }),
        );
      }
      waiting += size;
      return new Promise((resolve, reject) => {
        const said = batch.map(withoutRows).map((one) => ({ ...one, sql: toPostgresDdl(one.sql) }));
        jobs.push({ batch: said, size, resolve, reject });
        loop ??= run();
      });
    },
    async close(): Promise<void> {
      isClosed = true;
      await loop;
      if (connection === null || connection.isLost()) return;
      await connection.run([dropMark(writer)]).catch(() => undefined);
      await connection.close();
    },
  };
}

/**
 * Database on a PostgreSQL server (13 or newer, UTF-8, fsync on). It listens to other processes from the first listener on.
 * @throws AppError `config` when the server must not be used, `storage` when it cannot be.
 */
export async function openPostgres(options: PostgresOptions): Promise<NotifyingDatabase> {
  const sessions = createPostgresSessions(options);
  const name = randomUUID();
  const writer = createWriter(sessions, name);
  await writer.prepare();
  const most = options.readersMost ?? readersDefault;
  // A third of them, where there are three.
  const patientMost = Math.floor(most / 3);
  const promptReaders = createPostgresReaders(sessions, most - patientMost);
  const patientReaders = patientMost > 0 ? createPostgresReaders(sessions, patientMost) : promptReaders;
  const board = createNotificationBoard();
  let listener: PostgresListener | null = null;
  return {
    read: (statement) => (statement.isPatient === true ? patientReaders : promptReaders).read(statement),
    write: notifying(board, (batch) => writer.write(batch)),
    onCommit(listen: (commit: CommitNotice) => void): Cancel {
      listener ??= listenToPostgres(sessions, name, ({ topics }) => board.notify({ topics, isOwn: false }));
      return board.onCommit(listen);
    },
    close: async () => {
      await Promise.all([promptReaders.close(), patientReaders.close(), writer.close(), listener?.close()]);
    },
  };
}
