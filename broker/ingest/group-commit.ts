// Many small writes, few commits: what waits while one commit runs goes into the next, in order of arrival. A batch
// that cannot be stored fails alone. Nothing resolves before its rows are on disk.
import { AppError, causeCodeOf, codeOf, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import { sizeOf } from '../../src/rows.ts';

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

/** An item for a planner. */
export interface PlannedItem<Item, Outcome> {
  readonly planner: Planner<Item, Outcome>;
  readonly item: Item;
  /** Values that the item is likely to be written as. */
  readonly size: number;
  /** True: in a commit of its own, because it looks at what others leave. */
  readonly isAlone: boolean;
}

/** Told once, after the commit, what became of what was handed over; in order of arrival. */
export interface Taker<Outcome> {
  done(outcome: Outcome): void;
  /** It alone could not be stored; then nothing of it was written. */
  fail(thrown: unknown): void;
}

export interface GroupCommit {
  /** Resolves, in order of arrival, when the batch is durable. Rejects alone; then nothing of it was written. */
  write(batch: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** The same, told with a call. */
  put(batch: readonly Statement[], taker: Taker<readonly WriteResult[]>): void;
  /** The same for an item whose statements are made later. A call and no promise: every event comes by here. */
  plan<Item, Outcome>(work: PlannedItem<Item, Outcome>, taker: Taker<Outcome>): void;
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
  /** Of what became of it: the results of the batch, or the outcome that its planner gives. */
  readonly taker: Taker<unknown>;
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
  return causeCodeOf(error) === 'CONFLICT';
}

/**
 * True when nobody knows whether a batch was stored (a commit that a server never answered): what it holds must not be
 * written once more by anybody who cannot look first.
 */
function isUnknown(error: unknown): boolean {
  return causeCodeOf(error) === 'UNKNOWN_OUTCOME';
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

/** A plan for some of the jobs of a commit. */
interface PartPlan {
  /** Where the jobs stand among all of the commit. */
  readonly places: readonly number[];
  readonly plan: Plan<unknown>;
}

/** The plans of a group, one a planner. */
async function plansOf(jobs: readonly Job[]): Promise<readonly PartPlan[]> {
  const byPlanner = new Map<Planner<unknown, unknown>, number[]>();
  for (const [at, { planner }] of jobs.entries()) {
    if (planner === null) continue;
    const places = byPlanner.get(planner);
    if (places === undefined) byPlanner.set(planner, [at]);
    else places.push(at);
  }
  const plans: PartPlan[] = [];
  for (const [planner, places] of byPlanner) {
    plans.push({ places, plan: await planner.plan(places.map((at) => jobs[at]?.item)) });
  }
  return plans;
}

/** What became of each job, in their order. */
function outcomesOf(
  jobs: readonly Job[],
  plans: readonly PartPlan[],
  results: readonly WriteResult[],
): readonly unknown[] {
  const outcomes: unknown[] = jobs.map(() => undefined);
  let start = 0;
  const take = (batch: readonly Statement[]) => results.slice(start, (start += batch.length));
  for (const [at, { batch }] of jobs.entries()) if (batch !== null) outcomes[at] = take(batch);
  for (const { places, plan } of plans) {
    const settled = plan.settle(take(plan.batch));
    for (const [at, place] of places.entries()) outcomes[place] = settled[at];
  }
  return outcomes;
}

/** Commits the jobs as one; gives what became of each, in their order. */
async function commitTogether(
  db: Database,
  jobs: readonly Job[],
  { most = triesMost, onSent = () => undefined }: { most?: number; onSent?: () => void } = {},
): Promise<readonly unknown[]> {
  for (let tries = 1; ; tries++) {
    const plans = jobs.some(({ planner }) => planner !== null) ? await plansOf(jobs) : [];
    const batch: Statement[] = [];
    for (const job of jobs) if (job.batch !== null) batch.push(...job.batch);
    for (const { plan } of plans) for (const statement of plan.batch) batch.push(statement);
    let results: readonly WriteResult[];
    try {
      const writing = batch.length === 0 ? [] : db.write(batch);
      onSent();
      results = await writing;
    } catch (thrown) {
      for (const { plan } of plans) plan.drop();
      if (plans.length > 0 && tries < most && isConflict(thrown)) continue;
      throw thrown;
    }
    return outcomesOf(jobs, plans, results);
  }
}

/** Tells whoever handed it over. What he makes of it must not keep the others from hearing. */
function tell(log: Log, word: () => void): void {
  try {
    word();
  } catch (thrown) {
    log.error('listener failed', { reason: messageOf(thrown) });
  }
}

/** Commits the jobs one by one after their common commit failed; gives up when the store itself is down. */
async function commitEach(db: Database, jobs: readonly Job[], log: Log): Promise<void> {
  let failures = 0;
  for (const [at, { taker }] of jobs.entries()) {
    if (failures >= failuresMost) {
      tell(log, () => taker.fail(new AppError('storage', 'the database does not take writes')));
      continue;
    }
    try {
      const [outcome] = await commitTogether(db, jobs.slice(at, at + 1), { most: triesAlone });
      tell(log, () => taker.done(outcome));
      failures = 0;
    } catch (thrown) {
      failures = isDataFault(thrown) || isConflict(thrown) ? 0 : failures + 1;
      tell(log, () => taker.fail(thrown));
    }
  }
}

const nothingToTell = (): void => undefined;

/** Tells everybody of a commit what became of his job; once. */
function tellingAll(jobs: readonly Job[], outcomes: readonly unknown[], log: Log): () => void {
  let isTold = false;
  return () => {
    if (isTold) return;
    isTold = true;
    for (const [at, { taker }] of jobs.entries()) tell(log, () => taker.done(outcomes[at]));
  };
}

/**
 * Commits the jobs, and gives what is to be called for them to hear of it.
 * @param tellBefore the same of the commit before, whose turn it is as soon as this one is on its way to the disk.
 */
async function commitGroup(
  { db, log }: Pick<GroupCommitOptions, 'db' | 'log'>,
  jobs: readonly Job[],
  tellBefore: () => void,
): Promise<() => void> {
  try {
    return tellingAll(jobs, await commitTogether(db, jobs, { onSent: tellBefore }), log);
  } catch (thrown) {
    tellBefore();
    log.warn('commit failed', { jobs: jobs.length, reason: messageOf(thrown) });
    if (isUnknown(thrown)) for (const { taker } of jobs) tell(log, () => taker.fail(thrown));
    else await commitEach(db, jobs, log);
    return nothingToTell;
  }
}

/** Groups writes into commits: at once when the last one is done, after `gatherMs` when none runs. */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { clock, gatherMs = 2, valuesMost = 115_000, waitingMost = 5_000_000 } = options;
  const jobs: Job[] = [];
  let waiting = 0;
  let running: readonly Job[] = [];
  let loop: Promise<void> | null = null;
  let cancelGather: Cancel | null = null;
  let isClosed = false;

  let untold = nothingToTell;
  const run = async (): Promise<void> => {
    while (jobs.length > 0) {
      running = takeGroup(jobs, valuesMost);
      waiting -= running.reduce((sum, job) => sum + job.size, 0);
      // The disk works while people hear of the commit before; but they do not wait for a slow look into the store.
      const cancelLate = untold === nothingToTell ? nothingToTell : clock.after(0, untold);
      untold = await commitGroup(options, running, untold);
      cancelLate();
      running = [];
      if (jobs.length > 0) continue;
      untold();
      untold = nothingToTell;
    }
    loop = null;
  };
  const start = (): void => {
    cancelGather?.();
    cancelGather = null;
    // `run` clears `loop` itself, in the same turn in which it finds nothing more to do.
    if (loop === null && jobs.length > 0) loop = run();
  };
  const enqueue = (job: Job): void => {
    if (isClosed) return job.taker.fail(new AppError('unavailable', 'the store is closing'));
    if (waiting + job.size > waitingMost) {
      return job.taker.fail(new AppError('unavailable', 'too much waits for the disk', { retryAfterS: 5 }));
    }
    jobs.push(job);
    waiting += job.size;
    if (loop === null && cancelGather === null) cancelGather = clock.after(gatherMs, start);
  };
  const put = (batch: readonly Statement[], taker: Taker<readonly WriteResult[]>): void => {
    const size = batch.reduce((sum, statement) => sum + sizeOf(statement), 0);
    enqueue({ batch, planner: null, item: null, size, isAlone: false, sinceMs: clock.monoMs(), taker });
  };
  return {
    write: (batch) => new Promise((done, fail) => put(batch, { done, fail })),
    put,
    plan({ planner, item, size, isAlone }, taker) {
      enqueue({ batch: null, planner, item, size, isAlone, sinceMs: clock.monoMs(), taker });
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
