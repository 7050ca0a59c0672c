// Many small writes, few commits: what waits while one commit runs goes into the next, in order of arrival. A batch
// that cannot be stored fails alone. Nothing resolves before its rows are on disk.
import { AppError, messageOf } from '../../src/core/errors.ts';
import type { Cancel, Clock, Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import { sizeOf } from '../../src/rows.ts';
import {
  commitDraft,
  commitEach,
  type Draft,
  draftOf,
  dropDraft,
  type Job,
  type Planner,
  plainDraft,
  type Taker,
} from './commit-draft.ts';

/** Least time from the begin of one commit of events to that of the next, in ms, unless told otherwise. */
export const commitPaceMs = 10;

export interface GroupCommitOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** How long an idle store waits for company before it commits, 0 to 5 ms. */
  readonly gatherMs?: number;
  /**
   * Least time from the begin of one commit to that of the next, in ms, while nothing but planned items waits. A commit costs
   * as much as forty events: at middling rates most of the work would be commits.
   */
  readonly paceMs?: number;
  /** Values in one commit. An event is about 25 of them, so the default is some 5,000 events. */
  readonly valuesMost?: number;
  /** Values that may wait in all; beyond it writes are refused with `unavailable`. */
  readonly waitingMost?: number;
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

/** What waits for a commit, in order of arrival. */
class Line {
  #jobs: Job[] = [];
  /** Values of all. */
  size = 0;
  /** Of them those whose statements are made already: mostly somebody waits for each. */
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

  /** Jobs that were taken stand in front again. */
  putBack(jobs: readonly Job[]): void {
    this.#jobs = [...jobs, ...this.#jobs];
    for (const job of jobs) this.#count(job, 1);
  }

  /** Those of one commit: not more than so many values, and whoever wants to be alone is. */
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

interface AheadOptions {
  readonly clock: Clock;
  readonly line: Line;
  readonly valuesMost: number;
  /** When it is made, if something waits then. */
  readonly afterMs: number;
}

/** The draft of the next commit, made while one is on its way: planning it takes as long as the disk does. */
class Ahead {
  readonly #options: AheadOptions;
  readonly #cancel: Cancel;
  #making: Promise<void> | null = null;
  /** In what is made or being made. */
  jobs: readonly Job[] = [];
  /** Null: not made. */
  draft: Draft | null = null;

  constructor(options: AheadOptions) {
    this.#options = options;
    this.#cancel = options.clock.after(options.afterMs, () => {
      if (options.line.length > 0) this.#making = this.#make();
    });
  }

  get isBusy(): boolean {
    return this.#making !== null;
  }

  /** Nothing is begun any more; resolves when what was begun is done. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#making;
  }

  /** Undoes it: what it goes out from may not come about. */
  async takeBack(): Promise<void> {
    await this.stop();
    if (this.draft === null) return;
    dropDraft(this.draft);
    this.#options.line.putBack(this.jobs);
    this.draft = null;
    this.jobs = [];
  }

  async #make(): Promise<void> {
    const { line, valuesMost } = this.#options;
    this.jobs = line.take(valuesMost);
    try {
      this.draft = await draftOf(this.jobs);
    } catch {
      // What it depends on could not be read. It is tried again when it is its turn.
      line.putBack(this.jobs);
      this.jobs = [];
    }
    this.#making = null;
  }
}

type CommitsOptions = Required<GroupCommitOptions>;

/** The commits, one after the other, until nothing waits. */
class Commits {
  readonly #options: CommitsOptions;
  readonly line = new Line();
  #running: readonly Job[] = [];
  #ahead: Ahead | null = null;
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Ends the present rest. */
  #wake = nothing;
  /** Tells those of the commit before. */
  #untold = nothing;
  #isClosing = false;
  isRunning = false;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  get oldest(): Job | undefined {
    return this.#running[0] ?? this.#ahead?.jobs[0] ?? this.line.oldest;
  }

  /** Of what was taken from the line and is not stored. */
  get taken(): number {
    return this.#running.length + (this.#ahead?.jobs.length ?? 0);
  }

  /** Something came: a commit may not rest any longer for it. */
  onJob(): void {
    if (this.#mayNotRest()) this.#wake();
  }

  /** Rests no more. */
  finish(): void {
    this.#isClosing = true;
    this.#wake();
  }

  async run(): Promise<void> {
    this.isRunning = true;
    let draft: Draft | null = null;
    while (draft !== null || this.line.length > 0) {
      draft ??= this.#plain() ?? (await this.#make());
      if (draft !== null) draft = await this.#commit(draft);
      // Whoever hears may bring more.
      if (draft === null && this.line.length === 0) this.#tell();
    }
    this.isRunning = false;
  }

  #mayNotRest(): boolean {
    const { urgent, size } = this.line;
    return this.#isClosing || urgent > 0 || size >= this.#options.valuesMost;
  }

  /** How long the next commit rests for company, in ms. */
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

  #tell(): void {
    const untold = this.#untold;
    this.#untold = nothing;
    untold();
  }

  /** The next draft when nothing has to be planned for it, and nothing that waits is. Else null. */
  #plain(): Draft | null {
    const { line } = this;
    return line.urgent < line.length ? null : plainDraft(line.take(this.#options.valuesMost));
  }

  /** The next draft. Null: it could not be made, and its jobs were committed one by one. */
  async #make(): Promise<Draft | null> {
    const { line } = this;
    // Those of the commit before do not wait for a rest, or for a slow look into the store.
    this.#tell();
    await this.#rest();
    const jobs = line.take(this.#options.valuesMost);
    this.#running = jobs;
    try {
      return await draftOf(jobs);
    } catch (thrown) {
      this.#options.log.warn('commit not made', { jobs: jobs.length, reason: messageOf(thrown) });
      await commitEach(this.#options, jobs);
      this.#running = [];
      return null;
    }
  }

  /** Commits the draft; gives the next one when it was made meanwhile. */
  async #commit(draft: Draft): Promise<Draft | null> {
    const { clock, paceMs, valuesMost } = this.#options;
    const ahead = new Ahead({ clock, line: this.line, valuesMost, afterMs: paceMs });
    this.#running = draft.jobs;
    this.#ahead = ahead;
    this.#beganMs = clock.monoMs();
    const untold = await commitDraft(this.#options, draft, {
      // The disk works while people hear of the commit before.
      onSent: () => this.#tell(),
      takeBack: () => ahead.takeBack(),
    });
    this.#tell();
    this.#untold = untold;
    this.#running = [];
    if (ahead.isBusy) this.#tell();
    await ahead.stop();
    this.#ahead = null;
    return ahead.draft;
  }
}

/** Groups writes into commits: after `gatherMs` when none runs, else no sooner than `paceMs` allows. */
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
  const { line } = commits;
  let loop: Promise<void> | null = null;
  let cancelGather: Cancel | null = null;
  let isClosed = false;

  const start = (): void => {
    cancelGather?.();
    cancelGather = null;
    if (!commits.isRunning && line.length > 0) loop = commits.run();
  };
  const enqueue = (job: Job): void => {
    if (isClosed) return job.taker.fail(new AppError('unavailable', 'the store is closing'));
    if (line.size + job.size > waitingMost) {
      return job.taker.fail(new AppError('unavailable', 'too much waits for the disk', { retryAfterS: 5 }));
    }
    line.push(job);
    if (commits.isRunning) commits.onJob();
    else cancelGather ??= clock.after(gatherMs, start);
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
      const { oldest } = commits;
      return oldest === undefined ? 0 : clock.monoMs() - oldest.sinceMs;
    },
    depth: () => ({ writes: line.length + commits.taken, values: line.size }),
    async close() {
      isClosed = true;
      commits.finish();
      start();
      await loop;
    },
  };
}
