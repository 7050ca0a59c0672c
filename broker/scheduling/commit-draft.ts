// One commit: the jobs in it, their statements, and the outcome of each job. All of it is written or nothing, and no job is
// completed as stored before the store has confirmed it.
import { AppError, messageOf, unknownOutcome } from '../../src/core/errors.ts';
import type { Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import { isConflict, isDataFault, isUnknown } from '../core/store-faults.ts';

/** The statements for some items, and their outcomes once these are written. */
export interface Plan<Outcome> {
  readonly batch: readonly Statement[];
  /** Called once, after the commit. @param results of `batch`. */
  finish(results: readonly WriteResult[]): readonly Outcome[];
  /**
   * Called instead when it was not sent, when the commit failed or its outcome is unknown, and after a `finish` that threw:
   * discards state that plans are based on.
   */
  drop(): void;
}

/**
 * Makes the statements when a commit is due, for all items of it together. The next plan is made while the one before is being
 * written: it is based on what that one will leave, and is dropped with it.
 */
export interface Planner<Item, Outcome> {
  plan(items: readonly Item[]): Promise<Plan<Outcome>>;
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
  /** Gets the results of the batch, or the outcome that its planner gives. */
  readonly completion: Completion<unknown>;
}

/** After so many failures in a row without a fault of the data the store counts as down. */
const failuresMost = 3;
/** Tries of a commit that conflicts with changes of another process; of one item alone, which rarely does. */
const triesMost = 5;
const triesAlone = 25;

/** A plan for some of the jobs of a commit. */
interface PartPlan {
  /** Positions of its jobs in the commit. */
  readonly places: readonly number[];
  readonly plan: Plan<unknown>;
}

/** Jobs with all that is to be written for them. */
export interface Draft {
  readonly jobs: readonly Job[];
  readonly plans: readonly PartPlan[];
  readonly batch: readonly Statement[];
}

/** Discards plans that are based on stale state. */
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

/** The outcome of each job, in their order. */
function outcomesOf({ jobs, plans }: Draft, results: readonly WriteResult[]): readonly unknown[] {
  const outcomes: unknown[] = jobs.map(() => undefined);
  let start = 0;
  const take = (batch: readonly Statement[]) => results.slice(start, (start += batch.length));
  for (const [at, { batch }] of jobs.entries()) if (batch !== null) outcomes[at] = take(batch);
  for (const { places, plan } of plans) {
    const planned = plan.finish(take(plan.batch));
    for (const [at, place] of places.entries()) outcomes[place] = planned[at];
  }
  return outcomes;
}

export interface Writing {
  readonly db: Database;
  readonly log: Log;
}

interface Trying {
  /** Most tries when the state that the plans are based on has changed. */
  readonly most: number;
  /** Called at every try, as soon as the batch was given to the database. */
  onSent(): void;
  /** Drops the plan that is based on this one; called before anything is planned again or given up. */
  takeBack(): Promise<void>;
}

/** Commits a draft; gives the outcome of each job, in their order. */
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
      // Only a bug. All of it is stored, so nothing of it may be written again unseen.
      await trying.takeBack();
      dropDraft(draft);
      const cause = { code: unknownOutcome };
      throw new AppError(
        'storage',
        `The batch is stored, but its results are invalid: ${messageOf(thrown)}`,
        {
          cause,
          hint: 'This is a defect of the broker: report it with this line of the log. Nothing is stored twice.',
        },
      );
    }
  }
}

const nothing = (): void => undefined;
const alone: Trying = { most: triesAlone, onSent: nothing, takeBack: async () => undefined };

/** Completes a job. A completion that throws must not keep the others from being called. */
function notify(log: Log, complete: () => void): void {
  try {
    complete();
  } catch (thrown) {
    log.error('commit_listener_failed', { reason: messageOf(thrown) });
  }
}

/** Commits the jobs one by one after their common commit failed; gives up when the store itself is down. */
export async function commitEach({ db, log }: Writing, jobs: readonly Job[]): Promise<void> {
  let failures = 0;
  for (const job of jobs) {
    const { completion } = job;
    if (failures >= failuresMost) {
      notify(log, () => completion.fail(new AppError('storage', 'the database does not take writes')));
      continue;
    }
    try {
      const [outcome] = await commitWhole(db, await draftOf([job]), alone);
      notify(log, () => completion.done(outcome));
      failures = 0;
    } catch (thrown) {
      failures = isDataFault(thrown) || isConflict(thrown) ? 0 : failures + 1;
      notify(log, () => completion.fail(thrown));
    }
  }
}

/** Commits a draft. Gives the function that completes its jobs, to be called once; a draft that fails is completed at once. */
export async function commitDraft(
  { db, log }: Writing,
  draft: Draft,
  { onSent, takeBack }: Omit<Trying, 'most'>,
): Promise<() => void> {
  const { jobs } = draft;
  try {
    const outcomes = await commitWhole(db, draft, { most: triesMost, onSent, takeBack });
    return () => {
      for (const [at, { completion }] of jobs.entries()) notify(log, () => completion.done(outcomes[at]));
    };
  } catch (thrown) {
    log.warn('commit_failed', { jobs: jobs.length, reason: messageOf(thrown) });
    if (isUnknown(thrown)) for (const { completion } of jobs) notify(log, () => completion.fail(thrown));
    else await commitEach({ db, log }, jobs);
    return nothing;
  }
}
