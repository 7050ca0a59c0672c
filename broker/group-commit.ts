// Many small writes, few commits: what waits while one commit runs goes into the next, in order of arrival. A batch
// that cannot be stored fails alone. Nothing resolves before its rows are on disk.
import { AppError, messageOf } from '../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, Statement, WriteResult } from '../src/ports.ts';

export interface GroupCommitOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How long an idle store waits for company before it commits, 0 to 5 ms. */
  readonly gatherMs?: number;
  /** Values in one commit. An event is about 23 of them, so the default is some 5,000 events. */
  readonly valuesMost?: number;
  /** Values that may wait in all; beyond it writes are refused with `unavailable`. */
  readonly waitingMost?: number;
}

export interface GroupCommit {
  /** Resolves, in order of arrival, when the batch is durable. Rejects alone; then nothing of it was written. */
  write(batch: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** Age of the oldest write that waits, in ms; 0 when none does. */
  lagMs(): number;
  /** Writes that wait for a commit or are in one, and the values in those that wait. */
  depth(): { readonly writes: number; readonly values: number };
  /** Commits what waits, then refuses everything. */
  close(): Promise<void>;
}

interface Job {
  readonly batch: readonly Statement[];
  readonly size: number;
  readonly sinceMs: number;
  resolve(results: readonly WriteResult[]): void;
  reject(error: unknown): void;
}

/** So many failures in a row without a fault of the data mean that the store is down, not the batch. */
const failuresMost = 3;

/**
 * True when the rows themselves cannot be stored, whatever the state of the store: SQLite's constraint and type faults,
 * SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export function isDataFault(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|2[23][0-9A-Z]{3}$)/.test(code);
}

/**
 * True when nobody knows whether a batch was stored (a commit that a server never answered): what it holds must not be
 * written once more by anybody who cannot look first.
 */
function isUnknown(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : null;
  return typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'UNKNOWN_OUTCOME';
}

function takeGroup(jobs: Job[], most: number): Job[] {
  let count = 0;
  let size = 0;
  for (const job of jobs) {
    if (count > 0 && size + job.size > most) break;
    size += job.size;
    count += 1;
  }
  return jobs.splice(0, count);
}

/** Commits the jobs one by one after their common commit failed; gives up when the store itself is down. */
async function commitEach(db: Database, jobs: readonly Job[]): Promise<void> {
  let failures = 0;
  for (const job of jobs) {
    if (failures >= failuresMost) {
      job.reject(new AppError('storage', 'the database does not take writes'));
      continue;
    }
    try {
      job.resolve(await db.write(job.batch));
      failures = 0;
    } catch (thrown) {
      failures = isDataFault(thrown) ? 0 : failures + 1;
      job.reject(thrown);
    }
  }
}

async function commitGroup(db: Database, jobs: readonly Job[], log: Log): Promise<void> {
  let results: readonly WriteResult[];
  try {
    results = await db.write(jobs.flatMap((job) => job.batch));
  } catch (thrown) {
    log.warn('commit failed', { jobs: jobs.length, reason: messageOf(thrown) });
    if (isUnknown(thrown)) for (const job of jobs) job.reject(thrown);
    else await commitEach(db, jobs);
    return;
  }
  let start = 0;
  for (const job of jobs) {
    job.resolve(results.slice(start, start + job.batch.length));
    start += job.batch.length;
  }
}

/** Groups writes into commits: at once when the last one is done, after `gatherMs` when none runs. */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { db, clock, log, gatherMs = 2, valuesMost = 115_000, waitingMost = 5_000_000 } = options;
  const jobs: Job[] = [];
  let waiting = 0;
  let running: readonly Job[] = [];
  let loop: Promise<void> | null = null;
  let cancelGather: Cancel | null = null;
  let isClosed = false;

  const run = async (): Promise<void> => {
    while (jobs.length > 0) {
      running = takeGroup(jobs, valuesMost);
      waiting -= running.reduce((sum, job) => sum + job.size, 0);
      await commitGroup(db, running, log);
      running = [];
    }
    loop = null;
  };
  const start = (): void => {
    cancelGather?.();
    cancelGather = null;
    // `run` clears `loop` itself, in the same turn in which it finds nothing more to do.
    if (loop === null && jobs.length > 0) loop = run();
  };
  return {
    write(batch) {
      if (isClosed) return Promise.reject(new AppError('unavailable', 'the store is closing'));
      const size = batch.reduce((sum, { params }) => sum + params.length + 1, 0);
      if (waiting + size > waitingMost) {
        return Promise.reject(new AppError('unavailable', 'too much waits for the disk', { retryAfterS: 5 }));
      }
      return new Promise((resolve, reject) => {
        jobs.push({ batch, size, sinceMs: clock.monoMs(), resolve, reject });
        waiting += size;
        if (loop === null && cancelGather === null) cancelGather = clock.after(gatherMs, start);
      });
    },
    lagMs() {
      const oldest = running[0] ?? jobs[0];
      return oldest === undefined ? 0 : clock.monoMs() - oldest.sinceMs;
    },
    depth: () => ({ writes: jobs.length + running.length, values: waiting }),
    async close() {
      isClosed = true;
      start();
      await loop;
    },
  };
}
