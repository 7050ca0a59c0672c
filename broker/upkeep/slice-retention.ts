// Drops slices of the events in which every row is past the limit of its account, instead of deleting single rows. A decision by a
// clock that proves wrong within the hour is undone.
import { dayMs } from '../../src/core/durations.ts';
import { causeCodeOf } from '../../src/core/errors.ts';
import type { Clock, Database, Statement } from '../../src/ports.ts';
import type { TimeSpan } from '../core/events/event-spans.ts';
import { aheadMostMs } from '../core/events/projection.ts';
import { type RetainingAccount, retainingAccounts } from '../store/events/retention.ts';
import {
  accountsWithoutLimit,
  beginDrop,
  dropIndexes,
  dropPiece,
  dropTable,
  forgetSlice,
  hasEventsOf,
  hasTable,
  isDroppedInPieces,
  numbersOf,
  restoreSlice,
  retireSlice,
  spansOf,
} from '../store/slices/slice-retention.ts';
import { allSlices, type Slice } from '../store/slices/slices.ts';
import { batchTargetMs, createPacedBatches } from './paced-batches.ts';
import { sliceRules } from './slicing.ts';

/** A hidden slice is dropped after this: its readers are done, and a wrong clock was corrected. */
export const retiredMs = 3_000_000;
/** Received times come from clocks of several bridges, which need not agree to the second. */
const clockMarginMs = 60_000;

/** What a run of retention works with. */
export interface RetentionRun {
  readonly db: Database;
  readonly nowMs: number;
  /** Pause between two batches, after the duration of the last one; rejects to stop the run. */
  readonly rest: (tookMs: number) => Promise<void>;
  readonly clock: Pick<Clock, 'monoMs'>;
  readonly isDry: boolean;
}

/** A slice that goes away. */
export interface SliceRetention {
  readonly sliceNo: number;
  readonly openedMs: number;
  readonly closedMs: number;
  /** At most so many: numbers of events that were removed one by one count. */
  readonly events: number;
  /** `retired`: hidden, its space is free at a run some time later. `dropped`: gone. */
  readonly became: 'retired' | 'dropped';
}

/** Events are past the limit when received before it with an earlier, or an impossible, event time. */
export const limitOf = (nowMs: number, days: number): number => nowMs - Math.max(1, days) * dayMs;

/** A slice with the time that it can hold. */
export interface Timed {
  readonly slice: Slice;
  readonly spans: readonly TimeSpan[];
}

/** True when every event that the slice can hold is past the limit: by arrival, and by event time unless that is ahead. */
export function isPast({ slice, spans }: Timed, beforeMs: number, nowMs: number): boolean {
  if (slice.closedMs === null || slice.closedMs + clockMarginMs >= beforeMs) return false;
  return spans.every(({ fromMs, toMs }) => toMs < beforeMs || fromMs >= nowMs + aheadMostMs);
}

/** An account may keep events so much longer than it wants, so that they go with their slice: never more than a quarter. */
export const graceOf = (days: number): number =>
  Math.min(sliceRules.widthMs, (Math.max(1, days) * dayMs) / 4);

/** Retention of all accounts, read once in a run. */
export interface RetentionNeeds {
  /** True when no account keeps anything of the slice at that time. */
  isUnneeded(timed: Timed, atMs: number): Promise<boolean>;
}

export async function readRetentionNeeds(
  db: Database,
  accounts: readonly RetainingAccount[],
): Promise<RetentionNeeds> {
  const forEver = await accountsWithoutLimit(db);
  const known = new Map<string, Promise<boolean>>();
  const hasEvents = (sliceNo: number, accountID: string): Promise<boolean> => {
    const key = `${sliceNo} ${accountID}`;
    const answer = known.get(key) ?? hasEventsOf(db, sliceNo, accountID);
    known.set(key, answer);
    return answer;
  };
  return {
    async isUnneeded(timed, atMs) {
      const unpast = accounts.filter(({ days }) => !isPast(timed, limitOf(atMs, days), atMs));
      // Past no account's limit: an empty slice alone is no reason to drop it.
      if (unpast.length === accounts.length) return false;
      for (const accountID of [...unpast.map((one) => one.accountID), ...forEver])
        if (await hasEvents(timed.slice.sliceNo, accountID)) return false;
      return true;
    },
  };
}

async function writeAlone(run: RetentionRun, statement: Statement): Promise<number> {
  const sinceMs = run.clock.monoMs();
  const [result] = await run.db.write([statement]);
  await run.rest(run.clock.monoMs() - sinceMs);
  return result?.changes ?? 0;
}

/** SQLSTATE 55P03: the lock of the table was not free at once. */
function isLocked(error: unknown): boolean {
  return causeCodeOf(error) === '55P03';
}

/**
 * The point of no return. False: a limit was raised since the run began, which may be hours ago, or another process has shown
 * the slice again.
 */
async function beginToDrop(run: RetentionRun, slice: Slice): Promise<boolean> {
  const { db, nowMs } = run;
  const keeping = await readRetentionNeeds(db, await retainingAccounts(db));
  const spans = await spansOf(db, slice.sliceNo);
  if (!(await keeping.isUnneeded({ slice, spans }, nowMs))) return false;
  return (await writeAlone(run, beginDrop(slice.sliceNo))) > 0;
}

/** Dropping an index of more rows would block writers for more than some 40 ms. */
const indexRowsMost = 1_000_000;

/** Rows of a batch: those without indexes lie together, those with them are looked up all over the file. */
const pieceRules = {
  'without indexes': { targetMs: batchTargetMs, first: 1000, least: 100, most: 20_000 },
  'with indexes': { targetMs: batchTargetMs, first: 200, least: 100, most: 20_000 },
} as const;

/** Takes the rows away, from the last one on. */
async function empty(run: RetentionRun, sliceNo: number, how: keyof typeof pieceRules): Promise<void> {
  const pieces = createPacedBatches(run.clock, pieceRules[how]);
  for (;;) {
    const { rows, tookMs } = await pieces.run(async (count) => {
      const [result] = await run.db.write([dropPiece(sliceNo, count)]);
      return result?.changes ?? 0;
    });
    await run.rest(tookMs);
    if (rows === 0) return;
  }
}

/** Takes the table away, from wherever an earlier run was stopped. */
async function drop(
  run: RetentionRun,
  { sliceNo, events }: { readonly sliceNo: number; readonly events: number },
): Promise<void> {
  if ((await hasTable(run.db, sliceNo)) && (await isDroppedInPieces(run.db))) {
    const isSmall = events <= indexRowsMost;
    if (isSmall) for (const statement of dropIndexes(sliceNo)) await writeAlone(run, statement);
    await empty(run, sliceNo, isSmall ? 'without indexes' : 'with indexes');
  }
  try {
    await writeAlone(run, dropTable(sliceNo));
  } catch (thrown) {
    // It is still being read: the next run drops it.
    if (isLocked(thrown)) return;
    throw thrown;
  }
  await writeAlone(run, forgetSlice(sliceNo));
}

/** Hides slices past every limit, and drops those hidden before. `isDry`: only reports what it would hide. */
export async function retireSlices(
  run: RetentionRun,
  keeping: RetentionNeeds,
): Promise<readonly SliceRetention[]> {
  const { db, nowMs, isDry } = run;
  const slices = await allSlices(db);
  const results: SliceRetention[] = [];
  for (const slice of slices) {
    const { sliceNo, state, openedMs, closedMs } = slice;
    if (state === 'open' || closedMs === null) continue;
    const summary = { sliceNo, openedMs, closedMs, events: numbersOf(slice) };
    const isDue =
      state === 'dropping' || (await keeping.isUnneeded({ slice, spans: await spansOf(db, sliceNo) }, nowMs));
    if (state === 'closed') {
      if (!isDue) continue;
      if (!isDry) await writeAlone(run, retireSlice(sliceNo, nowMs));
      results.push({ ...summary, became: 'retired' });
    } else if (!isDry && !isDue) {
      await writeAlone(run, restoreSlice(sliceNo));
    } else if (isDue && (state === 'dropping' || nowMs - (slice.retiredMs ?? nowMs) >= retiredMs)) {
      if (!isDry) {
        if (state === 'retired' && !(await beginToDrop(run, slice))) continue;
        await drop(run, { sliceNo, events: summary.events });
      }
      results.push({ ...summary, became: 'dropped' });
    }
  }
  return results;
}
