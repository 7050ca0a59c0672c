// One commit: what goes into it, the statements made of that, and what became of each part. It writes all of it or nothing,
// and must never tell anybody that his part is stored before the store says so.
import { AppError, messageOf, unknownOutcome } from '../../src/core/errors.ts';
import type { Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import { isConflict, isDataFault, isUnknown } from './store-faults.ts';

/** What is to be written for some items, and what became of each once it is. */
export interface Plan<Outcome> {
  readonly batch: readonly Statement[];
  /** Called once, after the commit. @param results of `batch`. */
  settle(results: readonly WriteResult[]): readonly Outcome[];
  /**
   * Called instead when it was not sent, the commit failed, or nobody knows, and after a `settle` that threw: what it goes
   * out from may not hold.
   */
  drop(): void;
}

/**
 * Makes statements when a commit is due, of all items together that go into it. It is asked for the next plan while the one
 * before is on its way to the disk: that next one goes out from what the one before will leave, and is dropped with it.
 */
export interface Planner<Item, Outcome> {
  plan(items: readonly Item[]): Promise<Plan<Outcome>>;
}

/** Told once, after the commit, what became of what was handed over; in order of arrival. */
export interface Taker<Outcome> {
  done(outcome: Outcome): void;
  /** It alone could not be stored; then nothing of it was written. */
  fail(thrown: unknown): void;
}

/** Something that waits for a commit. */
export interface Job {
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

/** A plan for some of the jobs of a commit. */
interface PartPlan {
  /** Where the jobs stand among all of the commit. */
  readonly places: readonly number[];
  readonly plan: Plan<unknown>;
}

/** Jobs with all that is to be written for them. */
export interface Draft {
  readonly jobs: readonly Job[];
  readonly plans: readonly PartPlan[];
  readonly batch: readonly Statement[];
}

/** What the plans of a draft go out from may not hold. */
export function dropDraft({ plans }: Draft): void {
  for (const { plan } of plans) plan.drop();
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
  try {
    for (const [planner, places] of byPlanner) {
      plans.push({ places, plan: await planner.plan(places.map((at) => jobs[at]?.item)) });
    }
  } catch (thrown) {
    for (const { plan } of plans) plan.drop();
    throw thrown;
  }
  return plans;
}

function withPlans(jobs: readonly Job[], plans: readonly PartPlan[]): Draft {
  const batch: Statement[] = [];
  for (const job of jobs) if (job.batch !== null) for (const statement of job.batch) batch.push(statement);
  for (const { plan } of plans) for (const statement of plan.batch) batch.push(statement);
  return { jobs, plans, batch };
}

/** The draft of jobs of which none has a planner. */
export const plainDraft = (jobs: readonly Job[]): Draft => withPlans(jobs, []);

/** Makes the statements of these jobs. Rejects when what they depend on cannot be read. */
export async function draftOf(jobs: readonly Job[]): Promise<Draft> {
  return withPlans(jobs, await plansOf(jobs));
}

/** What became of each job, in their order. */
function outcomesOf({ jobs, plans }: Draft, results: readonly WriteResult[]): readonly unknown[] {
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

/** Where a commit is written, and who hears what is wrong with it. */
export interface Writing {
  readonly db: Database;
  readonly log: Log;
}

interface Trying {
  /** Tries before the last one, when what the plans went out from has changed. */
  readonly most: number;
  /** Called as soon as it is on its way to the disk, at every try. */
  onSent(): void;
  /** Takes back whatever was planned on what this one leaves; called before anything is planned anew or given up. */
  takeBack(): Promise<void>;
}

/** Commits a draft; gives what became of each job, in their order. */
async function commitWhole(db: Database, first: Draft, trying: Trying): Promise<readonly unknown[]> {
  let draft = first;
  for (let tries = 1; ; tries++) {
    let results: readonly WriteResult[];
    try {
      const writing = draft.batch.length === 0 ? [] : db.write(draft.batch);
      trying.onSent();
      results = await writing;
    } catch (thrown) {
      await trying.takeBack();
      dropDraft(draft);
      if (draft.plans.length === 0 || tries >= trying.most || !isConflict(thrown)) throw thrown;
      draft = await draftOf(draft.jobs);
      continue;
    }
    try {
      return outcomesOf(draft, results);
    } catch (thrown) {
      // Only a bug. All of it is stored: nothing of it may be written once more without a look.
      await trying.takeBack();
      dropDraft(draft);
      const cause = { code: unknownOutcome };
      throw new AppError('storage', `stored, and not understood: ${messageOf(thrown)}`, { cause });
    }
  }
}

const nothing = (): void => undefined;
const alone: Trying = { most: triesAlone, onSent: nothing, takeBack: async () => undefined };

/** Tells whoever handed it over. What he makes of it must not keep the others from hearing. */
function tell(log: Log, word: () => void): void {
  try {
    word();
  } catch (thrown) {
    log.error('listener failed', { reason: messageOf(thrown) });
  }
}

/** Commits the jobs one by one after their common commit failed; gives up when the store itself is down. */
export async function commitEach({ db, log }: Writing, jobs: readonly Job[]): Promise<void> {
  let failures = 0;
  for (const job of jobs) {
    const { taker } = job;
    if (failures >= failuresMost) {
      tell(log, () => taker.fail(new AppError('storage', 'the database does not take writes')));
      continue;
    }
    try {
      const [outcome] = await commitWhole(db, await draftOf([job]), alone);
      tell(log, () => taker.done(outcome));
      failures = 0;
    } catch (thrown) {
      failures = isDataFault(thrown) || isConflict(thrown) ? 0 : failures + 1;
      tell(log, () => taker.fail(thrown));
    }
  }
}

/** Commits a draft, and gives what is to be called, once, for its people to hear of it. One that fails is told at once. */
export async function commitDraft(
  { db, log }: Writing,
  draft: Draft,
  { onSent, takeBack }: Omit<Trying, 'most'>,
): Promise<() => void> {
  const { jobs } = draft;
  try {
    const outcomes = await commitWhole(db, draft, { most: triesMost, onSent, takeBack });
    return () => {
      for (const [at, { taker }] of jobs.entries()) tell(log, () => taker.done(outcomes[at]));
    };
  } catch (thrown) {
    log.warn('commit failed', { jobs: jobs.length, reason: messageOf(thrown) });
    if (isUnknown(thrown)) for (const { taker } of jobs) tell(log, () => taker.fail(thrown));
    else await commitEach({ db, log }, jobs);
    return nothing;
  }
}
