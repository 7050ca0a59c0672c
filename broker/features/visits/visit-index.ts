// Keeps the index of visits in the background: takes in stored events by their numbers, so that late ones count, and removes what is
// left of deleted devices and removed events. One process does it, and lets vehicles go first.
import { dayMs } from '../../../src/core/durations.ts';
import { messageOf } from '../../../src/core/errors.ts';
import type { Statement } from '../../../src/ports.ts';
import type { FeatureService, Kernel, Slice } from '../../api/base/api-services.ts';
import { isConflict } from '../../core/store-faults.ts';
import { createPeriodicTask } from '../../scheduling/periodic-task.ts';
import { lastEventNo } from '../../store/slices/slices.ts';
import { dropStale, type IndexKey, indexedTo, keyAfter, nextIndexed } from './visit-statements.ts';

const limits = {
  /** Events of one batch: some ten milliseconds of a reading thread, some of the event loop and of the writer. */
  eventsAtOnce: 2000,
  /** A batch is followed by a pause of so many times its duration, while there is more. */
  pauseFactor: 4,
  idleMs: 1000,
  /** Vehicles wait longer than this: they come first. */
  lagMostMs: 500,
  /** Rows that one look checks: some milliseconds of the writer. */
  rowsLooked: 500,
  betweenLooksMs: 200,
  /** From one pass over the whole index to the next. */
  passMs: dayMs,
} as const;

const start: IndexKey = { accountNo: 0, hour: -1, cell: -1, deviceNo: -1 };
const end: IndexKey = { ...start, accountNo: 2 ** 31 - 1 };

/** False when another process was faster: what was read is stale. */
async function write({ db }: Kernel, statements: readonly Statement[]): Promise<boolean> {
  try {
    await db.write(statements);
    return true;
  } catch (thrown) {
    if (isConflict(thrown)) return false;
    throw thrown;
  }
}

/** Takes in some events; true when there may be more. */
async function takeIn(kernel: Kernel): Promise<boolean> {
  const { archive } = kernel;
  const toNo = await indexedTo(archive);
  const lastNo = await lastEventNo(archive);
  const statements = await nextIndexed(archive, { toNo, lastNo, most: limits.eventsAtOnce });
  if (statements.length === 0) return false;
  await write(kernel, statements);
  return true;
}

/** Removes what is stale among some rows; the key to go on after, or null at the end. */
async function clean(kernel: Kernel, after: IndexKey): Promise<IndexKey | null> {
  const { archive, aging } = kernel;
  const { nowMs } = await aging.read();
  const next = await keyAfter(archive, after, limits.rowsLooked);
  const isDone = await write(kernel, await dropStale(archive, after, next ?? end, nowMs));
  return isDone ? next : after;
}

export interface VisitIndex extends FeatureService {
  /** Takes in all events, for tests. */
  takeInNow(): Promise<void>;
  /** Passes over the whole index, for tests. */
  cleanNow(): Promise<void>;
}

function createIndex(kernel: Kernel): VisitIndex {
  const { clock, log, leases, lagMs } = kernel;
  let after: IndexKey | null = start;
  let nextPassMs = 0;
  const advance = async (): Promise<number> => {
    const beganMs = clock.monoMs();
    if (await takeIn(kernel)) return limits.pauseFactor * (clock.monoMs() - beganMs);
    if (after === null && clock.monoMs() < nextPassMs) return limits.idleMs;
    after = await clean(kernel, after ?? start);
    if (after !== null) return limits.betweenLooksMs;
    nextPassMs = clock.monoMs() + limits.passMs;
    return limits.idleMs;
  };
  const run = async (): Promise<number> => {
    if (!leases.holds('upkeep') || lagMs() > limits.lagMostMs) return limits.idleMs;
    try {
      return await advance();
    } catch (thrown) {
      log.error('visit_index_failed', { reason: messageOf(thrown) });
      return limits.idleMs;
    }
  };
  const task = createPeriodicTask({ clock, firstMs: limits.idleMs, run });
  return {
    async takeInNow() {
      while (await takeIn(kernel));
    },
    async cleanNow() {
      for (let key: IndexKey | null = start; key !== null; ) key = await clean(kernel, key);
    },
    close: () => task.close(),
  };
}

export const visitIndex: Slice<VisitIndex> = { create: createIndex };
