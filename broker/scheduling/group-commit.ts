// Group commit: writes that wait during a commit go into the next one, in order of arrival. A batch that cannot be stored fails alone. Nothing
// completes before its rows are on disk.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import { sizeOf } from '../../src/rows.ts';
import type { Completion } from '../core/completion.ts';
import {
  commitDraft,
  commitEach,
  type Draft,
  draftOf,
  dropDraft,
  type Job,
  type Planner,
  plainDraft,
} from './commit-draft.ts';

/** Default of `paceMs`. */
export const commitPaceMs = 10;

export interface GroupCommitOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Time for which an idle store waits for further writes before it commits, 0 to 5 ms. */
  readonly gatherMs?: number;
  /**
   * Minimum time between the starts of two commits, ms, while only planned items wait. A commit costs as much as forty events; without this limit
   * most of the work at medium rates would be commits.
   */
  readonly paceMs?: number;
  /** Maximum number of values in one commit. An event has about 25, so the default is some 5,000 events. */
  readonly valuesMost?: number;
  /** Maximum number of waiting values; beyond it writes are refused with `unavailable`. */
  readonly waitingMost?: number;
}

export interface PlannedItem<Item, Outcome> {
  readonly planner: Planner<Item, Outcome>;
  readonly item: Item;
  /** Estimated number of values of the item. */
  readonly size: number;
  /** True: in a separate commit, because its statements read what others write. */
  readonly isAlone: boolean;
}

export interface GroupCommit {
  /** Resolves, in order of arrival, when the batch is durable. Rejects alone; nothing of it was then written. */
  write(batch: readonly Statement[]): Promise<readonly WriteResult[]>;
  /** The same with a completion. */
  put(batch: readonly Statement[], completion: Completion<readonly WriteResult[]>): void;
  /** The same for an item whose statements its planner makes later. No promise, because every event passes here. */
  plan<Item, Outcome>(work: PlannedItem<Item, Outcome>, completion: Completion<Outcome>): void;
  /** Age of the oldest waiting write, ms; 0: none waits. */
  lagMs(): number;
  /** Number of writes that wait for a commit or are in one, and number of values in the waiting ones. */
  depth(): { readonly writes: number; readonly values: number };
  /** Commits what waits, then refuses everything. */
  close(): Promise<void>;
}

/** Jobs that wait for a commit, in order of arrival. */
class CommitQueue {
  #jobs: Job[] = [];
  /** Number of values of all jobs. */
  size = 0;
  /** Number of jobs with finished statements: a request usually waits for each. */
  urgent = 0;

  get length(): number {
    return this.#jobs.length;
  }

  get oldest(): Job | undefined {
    return this.#jobs[0];
  }

  push(job: Job): void {
    this.#jobs.push(job);
    this.#count(job, 1);
  }

  /** Returns jobs to the front. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs = [...jobs, ...this.#jobs];
    for (const job of jobs) this.#count(job, 1);
  }

  /** Removes the jobs of one commit: at most `valuesMost` values, and a job with `isAlone` alone. */
  take(valuesMost: number): readonly Job[] {
    let count = 0;
    let size = 0;
    for (const job of this.#jobs) {
      if (count > 0 && (job.isAlone || size + job.size > valuesMost)) break;
      size += job.size;
      count += 1;
      if (job.isAlone) break;
    }
    const taken = this.#jobs.splice(0, count);
    for (const job of taken) this.#count(job, -1);
    return taken;
  }

  #count(job: Job, by: 1 | -1): void {
    this.size += by * job.size;
    if (job.batch !== null) this.urgent += by;
  }
}

const nothing = (): void => undefined;

interface PlannedCommitOptions {
  readonly clock: Clock;
  readonly queue: CommitQueue;
  readonly valuesMost: number;
  /** Delay until it is made, if jobs wait then, ms. */
  readonly afterMs: number;
}

/** Draft of the next commit, made while the present one is written: planning takes as long as the disk does. */
class PlannedCommit {
  readonly #options: PlannedCommitOptions;
  readonly #cancel: Cancel;
  #making: Promise<void> | null = null;
  /** Jobs of the draft that is made or being made. */
  jobs: readonly Job[] = [];
  /** Null: not made. */
  draft: Draft | null = null;

  constructor(options: PlannedCommitOptions) {
    this.#options = options;
    this.#cancel = options.clock.after(options.afterMs, () => {
      if (options.queue.length > 0) this.#making = this.#make();
    });
  }

  get isBusy(): boolean {
    return this.#making !== null;
  }

  /** Starts nothing more; resolves when what was started is done. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#making;
  }

  /** Drops the draft: the commit that it is based on may have failed. */
  async takeBack(): Promise<void> {
    await this.stop();
    if (this.draft === null) return;
    dropDraft(this.draft);
    this.#options.queue.putBack(this.jobs);
    this.draft = null;
    this.jobs = [];
  }

  async #make(): Promise<void> {
    const { queue, valuesMost } = this.#options;
    this.jobs = queue.take(valuesMost);
    try {
      this.draft = await draftOf(this.jobs);
    } catch {
      // A read failed. The draft is made again when it is due.
      queue.putBack(this.jobs);
      this.jobs = [];
    }
    this.#making = null;
  }
}

type CommitsOptions = Required<GroupCommitOptions>;

/** Runs the commits in sequence until nothing waits. */
class Commits {
  readonly #options: CommitsOptions;
  readonly queue = new CommitQueue();
  #running: readonly Job[] = [];
  #ahead: PlannedCommit | null = null;
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Ends the present pause. */
  #wake = nothing;
  /** Completes the jobs of the previous commit. */
  #pendingNotify = nothing;
  #isClosing = false;
  isRunning = false;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  get oldest(): Job | undefined {
    return this.#running[0] ?? this.#ahead?.jobs[0] ?? this.queue.oldest;
  }

  /** Number of jobs that were taken from the queue and are not stored. */
  get taken(): number {
    return this.#running.length + (this.#ahead?.jobs.length ?? 0);
  }

  /** Handles a new job: ends the pause if the job may not wait. */
  onJob(): void {
    if (this.#mayNotRest()) this.#wake();
  }

  /** Ends all pauses, present and future. */
  finish(): void {
    this.#isClosing = true;
    this.#wake();
  }

  async run(): Promise<void> {
    this.isRunning = true;
    let draft: Draft | null = null;
    while (draft !== null || this.queue.length > 0) {
      draft ??= this.#plain() ?? (await this.#make());
      if (draft !== null) draft = await this.#commit(draft);
      // A completion may add further jobs.
      if (draft === null && this.queue.length === 0) this.#notify();
    }
    this.isRunning = false;
  }

  #mayNotRest(): boolean {
    const { urgent, size } = this.queue;
    return this.#isClosing || urgent > 0 || size >= this.#options.valuesMost;
  }

  /** Time for which the next commit waits for further jobs, ms. */
  #restMs(): number {
    const { clock, paceMs } = this.#options;
    return this.#mayNotRest() ? 0 : Math.max(0, this.#beganMs + paceMs - clock.monoMs());
  }

  async #rest(): Promise<void> {
    const restMs = this.#restMs();
    if (restMs === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(restMs, () => this.#wake());
      this.#wake = () => {
        this.#wake = nothing;
        cancel();
        resolve();
      };
    });
  }

  #notify(): void {
    const pending = this.#pendingNotify;
    this.#pendingNotify = nothing;
    pending();
  }

  /** Next draft if no waiting job needs a plan; otherwise null. */
  #plain(): Draft | null {
    const { queue } = this;
    return queue.urgent < queue.length ? null : plainDraft(queue.take(this.#options.valuesMost));
  }

  /** Next draft. Null: it could not be made, and its jobs were committed one by one. */
  async #make(): Promise<Draft | null> {
    const { queue } = this;
    // Completions of the previous commit wait neither for a pause nor for a slow read.
    this.#notify();
    await this.#rest();
    const jobs = queue.take(this.#options.valuesMost);
    this.#running = jobs;
    try {
      return await draftOf(jobs);
    } catch (thrown) {
      this.#options.log.warn('commit_planning_failed', { jobs: jobs.length, reason: messageOf(thrown) });
      await commitEach(this.#options, jobs);
      this.#running = [];
      return null;
    }
  }

  /** Commits the draft; returns the next one if it was made in the meantime. */
  async #commit(draft: Draft): Promise<Draft | null> {
    const { clock, paceMs, valuesMost } = this.#options;
    const ahead = new PlannedCommit({ clock, queue: this.queue, valuesMost, afterMs: paceMs });
    this.#running = draft.jobs;
    this.#ahead = ahead;
    this.#beganMs = clock.monoMs();
    const pending = await commitDraft(this.#options, draft, {
      // The completions of the previous commit run while the disk works.
      onSent: () => this.#notify(),
      takeBack: () => ahead.takeBack(),
    });
    this.#notify();
    this.#pendingNotify = pending;
    this.#running = [];
    if (ahead.isBusy) this.#notify();
    await ahead.stop();
    this.#ahead = null;
    return ahead.draft;
  }
}

/** Groups writes into commits: after `gatherMs` when none runs, otherwise no sooner than `paceMs` allows. */
export function createGroupCommit(given: GroupCommitOptions): GroupCommit {
  const options = {
    gatherMs: 2,
    paceMs: commitPaceMs,
    valuesMost: 115_000,
    waitingMost: 5_000_000,
    ...given,
  };
  const { clock, gatherMs, waitingMost } = options;
  const commits = new Commits(options);
  const { queue } = commits;
  let loop: Promise<void> | null = null;
  let cancelGather: Cancel | null = null;
  let isClosed = false;

  const start = (): void => {
    cancelGather?.();
    cancelGather = null;
    if (!commits.isRunning && queue.length > 0) loop = commits.run();
  };
  const enqueue = (job: Job): void => {
    if (isClosed) return job.completion.fail(new AppError('unavailable', 'the store is closing'));
    if (queue.size + job.size > waitingMost) {
      return job.completion.fail(
        new AppError('unavailable', 'too much waits for the disk', { retryAfterS: 5 }),
      );
    }
    queue.push(job);
    if (commits.isRunning) commits.onJob();
    else cancelGather ??= clock.after(gatherMs, start);
  };
  const put = (batch: readonly Statement[], completion: Completion<readonly WriteResult[]>): void => {
    const size = batch.reduce((sum, statement) => sum + sizeOf(statement), 0);
    enqueue({ batch, planner: null, item: null, size, isAlone: false, sinceMs: clock.monoMs(), completion });
  };
  return {
    write: (batch) => new Promise((done, fail) => put(batch, { done, fail })),
    put,
    plan({ planner, item, size, isAlone }, completion) {
      enqueue({ batch: null, planner, item, size, isAlone, sinceMs: clock.monoMs(), completion });
    },
    lagMs() {
      const { oldest } = commits;
      return oldest === undefined ? 0 : clock.monoMs() - oldest.sinceMs;
    },
    depth: () => ({ writes: queue.length + commits.taken, values: queue.size }),
    async close() {
      isClosed = true;
      commits.finish();
      start();
      await loop;
    },
  };
}
