// One commit: its jobs, their statements, and the outcome of each job. It is written as a whole or not at all, and no job is completed as stored
// before the store has confirmed it.
import { AppError, messageOf, unknownOutcome } from '../../src/core/errors.ts';
import type { Database, Log, Statement, WriteResult } from '../../src/ports.ts';
import type { Completion } from '../core/completion.ts';
import { isConflict, isDataFault, isUnknown } from '../core/store-faults.ts';

/** Statements for some items, and their outcomes once these are written. */
export interface Plan<Outcome> {
  readonly batch: readonly Statement[];
  /** Called once, after the commit. @param results of `batch`. */
  finish(results: readonly WriteResult[]): readonly Outcome[];
  /**
   * Called instead if it was not sent, if the commit failed or its outcome is unknown, and after a `finish` that threw. Discards state that plans are
   * based on.
   */
  drop(): void;
}

/**
 * Makes the statements when a commit is due, for all its items together. The next plan is made while the previous one is being written. It is based
 * on the state after that one, and is dropped with it.
 */
export interface Planner<Item, Outcome> {
  plan(items: readonly Item[]): Promise<Plan<Outcome>>;
}

/** Work that waits for a commit. */
export interface Job {
  /** Null: the planner makes statements from `item`. */
  readonly batch: readonly Statement[] | null;
  readonly planner: Planner<unknown, unknown> | null;
  readonly item: unknown;
  readonly size: number;
  readonly isAlone: boolean;
  readonly sinceMs: number;
  /** Receives the results of the batch, or the outcome from its planner. */
  readonly completion: Completion<unknown>;
}

/** Number of failures in a row, without a fault of the data, after which the store counts as down. */
const failuresMost = 3;
/** Maximum number of tries of a commit that conflicts with changes of other processes; the second one for a single item, which rarely conflicts. */
const triesMost = 5;
const triesAlone = 25;

/** A plan for some of the jobs of a commit. */
interface PartPlan {
  /** Indexes of its jobs in the commit. */
  readonly places: readonly number[];
  readonly plan: Plan<unknown>;
}

export interface Draft {
  readonly jobs: readonly Job[];
  readonly plans: readonly PartPlan[];
  readonly batch: readonly Statement[];
}

/** Discards plans that are based on stale state. */
export function dropDraft({ plans }: Draft): void {
  for (const { plan } of plans) plan.drop();
}

/** Plans of a group, one per planner. */
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

/** Draft of jobs without a planner. */
export const plainDraft = (jobs: readonly Job[]): Draft => withPlans(jobs, []);

/** Makes the statements of these jobs. Rejects when a read for them fails. */
export async function draftOf(jobs: readonly Job[]): Promise<Draft> {
  return withPlans(jobs, await plansOf(jobs));
}

/** Outcome of each job, in order. */
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
  /** Maximum number of tries when the state that the plans are based on has changed. */
  readonly most: number;
  /** Called at every try, as soon as the database has received the batch. */
  onSent(): void;
  /** Drops the plan that is based on this one; called before anything is planned again or abandoned. */
  takeBack(): Promise<void>;
}

/** Commits a draft; returns the outcome of each job, in order. */
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
      // Only a bug gets here. All of it is stored, so none of it may be written again unseen.
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

/** Completes a job. A completion that throws must not prevent the others. */
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

/** Commits a draft. Returns the function that completes its jobs, to be called once; a draft that fails is completed at once. */
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
