// Many small writes, few commits: what waits while one commit runs goes into the next, in order of arrival. A batch
// that cannot be stored fails alone. Nothing resolves before its rows are on disk.
import { AppError, codeOf, messageOf } from '../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, Statement, WriteResult } from '../src/ports.ts';
import { sizeOf } from '../src/rows.ts';

export interface GroupCommitOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How long an idle store waits for company before it commits, 0 to 5 ms. */
  readonly gatherMs?: number;
  /** Values in one commit. An event is about 25 of them, so the default is some 5,000 events. */
  readonly valuesMost?: number;
  /** Values that may wait in all; beyond it writes are refused with `unavailable`. */
  readonly waitingMost?: number;
}

/** What is to be written for some items, and what became of each once it is. */
export interface Plan<Outcome> {
  readonly batch: readonly Statement[];
  /** Called once, after the commit. @param results of `batch`. */
  settle(results: readonly WriteResult[]): readonly Outcome[];
  /** Called instead when the commit failed, or nobody knows: what the plan went out from may not hold. */
  drop(): void;
}

/**
 * Makes statements when a commit begins, of all items together that go into it: what they are may depend on what was
 * committed before. After a plan it is asked again only when that one was settled or dropped.
 */
export interface Planner<Item, Outcome> {
  plan(items: readonly Item[]): Promise<Plan<Outcome>>;
}

export interface Load {
  /** Values that the item is likely to be written as. */
  readonly size: number;
  /** True: in a commit of its own, because it looks at what others leave. */
  readonly isAlone: boolean;
}

export interface GroupCommit {
  /** Resolves, in order of arrival, when the batch is durable. Rejects alone; then nothing of it was written. */
  write(batch: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** The same for an item whose statements are made later. */
  plan<Item, Outcome>(planner: Planner<Item, Outcome>, item: Item, load: Load): Promise<Outcome>;
  /** Age of the oldest write that waits, in ms; 0 when none does. */
  lagMs(): number;
  /** Writes that wait for a commit or are in one, and the values in those that wait. */
  depth(): { readonly writes: number; readonly values: number };
  /** Commits what waits, then refuses everything. */
  close(): Promise<void>;
}

interface Job {
  /** Null: `item` is what its planner makes statements of. */
  readonly batch: readonly Statement[] | null;
  readonly planner: Planner<unknown, unknown> | null;
  readonly item: unknown;
  readonly size: number;
  readonly isAlone: boolean;
  readonly sinceMs: number;
  /** With what became of it: the results of the batch, or the outcome that its planner gives. */
  resolve(outcome: unknown): void;
  reject(error: unknown): void;
}

/** So many failures in a row without a fault of the data mean that the store is down, not the batch. */
const failuresMost = 3;
/** Tries of one commit that went out from what others have changed meanwhile; of one item alone, which loses seldom. */
const triesMost = 5;
const triesAlone = 25;

/**
 * True when the rows themselves cannot be stored, whatever the state of the store: SQLite's constraint and type faults,
 * SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation).
 */
export function isDataFault(error: unknown): boolean {
  const code = codeOf(error instanceof AppError ? error.cause : error);
  return /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG|RANGE)|2[23][0-9A-Z]{3}$)/.test(code);
}

/** True when a statement did not change the rows that it must: what the batch went out from no longer holds. */
export function isConflict(error: unknown): boolean {
  return error instanceof AppError && codeOf(error.cause) === 'CONFLICT';
}

/**
 * True when nobody knows whether a batch was stored (a commit that a server never answered): what it holds must not be
 * written once more by anybody who cannot look first.
 */
function isUnknown(error: unknown): boolean {
  return error instanceof AppError && codeOf(error.cause) === 'UNKNOWN_OUTCOME';
}

/** True when what was to be written is not to blame: the same may be tried again. A conflict is of this kind too. */
export function isStoreFault(error: unknown): boolean {
  const isOfStore = error instanceof AppError && (error.code === 'storage' || error.code === 'unavailable');
  return isOfStore && !isDataFault(error);
}

function takeGroup(jobs: Job[], most: number): Job[] {
  let count = 0;
  let size = 0;
  for (const job of jobs) {
    if (count > 0 && (job.isAlone || size + job.size > most)) break;
    size += job.size;
    count += 1;
    if (job.isAlone) break;
  }
  return jobs.splice(0, count);
}

interface Planned {
  readonly jobs: readonly Job[];
  readonly plan: Plan<unknown>;
}

/** The plans of a group, one a planner. */
async function plansOf(jobs: readonly Job[]): Promise<readonly Planned[]> {
  const byPlanner = new Map<Planner<unknown, unknown>, Job[]>();
  for (const job of jobs) {
    if (job.planner === null) continue;
    const some = byPlanner.get(job.planner);
    if (some === undefined) byPlanner.set(job.planner, [job]);
    else some.push(job);
  }
  const planned: Planned[] = [];
  for (const [planner, some] of byPlanner) {
    planned.push({ jobs: some, plan: await planner.plan(some.map(({ item }) => item)) });
  }
  return planned;
}

/** Commits the jobs as one; gives what became of each, in their order. */
async function commitTogether(
  db: Database,
  jobs: readonly Job[],
  most = triesMost,
): Promise<readonly unknown[]> {
  for (let tries = 1; ; tries++) {
    const planned = jobs.some(({ planner }) => planner !== null) ? await plansOf(jobs) : [];
    const batches = [...jobs.map(({ batch }) => batch ?? []), ...planned.map(({ plan }) => plan.batch)];
    let results: readonly WriteResult[];
    try {
      const batch = batches.flat();
      results = batch.length === 0 ? [] : await db.write(batch);
    } catch (thrown) {
      for (const { plan } of planned) plan.drop();
      if (planned.length > 0 && tries < most && isConflict(thrown)) continue;
      throw thrown;
    }
    const outcomes = new Map<Job, unknown>();
    let start = 0;
    const take = (batch: readonly Statement[]) => results.slice(start, (start += batch.length));
    for (const job of jobs) if (job.batch !== null) outcomes.set(job, take(job.batch));
    for (const { jobs: some, plan } of planned) {
      const settled = plan.settle(take(plan.batch));
      for (const [at, job] of some.entries()) outcomes.set(job, settled[at]);
    }
    return jobs.map((job) => outcomes.get(job));
  }
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
      const [outcome] = await commitTogether(db, [job], triesAlone);
      job.resolve(outcome);
      failures = 0;
    } catch (thrown) {
      failures = isDataFault(thrown) || isConflict(thrown) ? 0 : failures + 1;
      job.reject(thrown);
    }
  }
}

async function commitGroup(db: Database, jobs: readonly Job[], log: Log): Promise<void> {
  let outcomes: readonly unknown[];
  try {
    outcomes = await commitTogether(db, jobs);
  } catch (thrown) {
    log.warn('commit failed', { jobs: jobs.length, reason: messageOf(thrown) });
    if (isUnknown(thrown)) for (const job of jobs) job.reject(thrown);
    else await commitEach(db, jobs);
    return;
  }
  for (const [at, job] of jobs.entries()) job.resolve(outcomes[at]);
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
  const enqueue = <Outcome>(job: Omit<Job, 'sinceMs' | 'resolve' | 'reject'>): Promise<Outcome> => {
    if (isClosed) return Promise.reject(new AppError('unavailable', 'the store is closing'));
    if (waiting + job.size > waitingMost) {
      return Promise.reject(new AppError('unavailable', 'too much waits for the disk', { retryAfterS: 5 }));
    }
    return new Promise((resolve: (outcome: Outcome) => void, reject) => {
      const sinceMs = clock.monoMs();
      jobs.push({ ...job, sinceMs, resolve: (outcome) => resolve(outcome as Outcome), reject });
      waiting += job.size;
      if (loop === null && cancelGather === null) cancelGather = clock.after(gatherMs, start);
    });
  };
  return {
    write(batch) {
      const size = batch.reduce((sum, statement) => sum + sizeOf(statement), 0);
      return enqueue({ batch, planner: null, item: null, size, isAlone: false });
    },
    plan: (planner, item, load) => enqueue({ batch: null, planner, item, ...load }),
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
