// Removes events past the retention of their account, by event time and by arrival. It removes whole slices that no account
// keeps, else a few hundred rows at a time, and never while vehicles wait for the disk. The next run continues where one stopped.
// It must never touch what is younger than a day, nor make an event that is sent again look new.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { lowPriorityReads } from '../../src/sql.ts';
import { aheadMostMs } from '../core/events/projection.ts';
import { createPeriodicTask } from '../scheduling/periodic-task.ts';
import {
  countOldPayloads,
  deviceNosAfter,
  type OldEvent,
  type OldOf,
  oldEvents,
  type RetainingAccount,
  removedAtOnce,
  removeEvents,
  removePayloads,
  retainingAccounts,
} from '../store/events/retention.ts';
import { spansOf } from '../store/slices/slice-retention.ts';
import { allSlices } from '../store/slices/slices.ts';
import type { AgingClock } from './aging-clock.ts';
import { batchTargetMs, createPacedBatches, createPauses, type PacedBatches } from './paced-batches.ts';
import {
  graceOf,
  isPast,
  limitOf,
  type RetentionNeeds,
  type RetentionRun,
  readRetentionNeeds,
  retireSlices,
  type SliceRetention,
  type Timed,
} from './slice-retention.ts';

export interface RetentionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
  readonly aging: AgingClock;
  /** False while another process does it; absent: there is none. */
  readonly isOurs?: () => boolean;
}

export interface RetentionCounts {
  readonly devices: number;
  readonly events: number;
  readonly payloads: number;
}

export interface Retention {
  /** What was removed since the start. */
  counts(): RetentionCounts & { readonly runs: number };
  close(): Promise<void>;
}

const periodMs = 3_600_000;
/** After the start, so that a restart under load does not begin with it. */
const firstMs = 60_000;
/** Vehicles wait longer than this: they come first. */
const lagMostMs = 100;
const waitMs = 1000;
const devicesAtOnce = 500;
/** Event numbers and times of every span begin above this. */
const start = { timestampMs: -1, eventNo: 0 } as const;

/** Slices of which an account has nothing left to remove, by their numbers and its id. */
export type Cleared = Set<string>;

interface Asked extends RetentionRun {
  /** Kept from run to run by a long-lived process: a closed slice gets nothing new. */
  readonly cleared?: Cleared;
}

interface Run extends Asked {
  /** Of events that are removed one by one. */
  readonly pieces: PacedBatches;
}

/** Those of one vehicle lie far apart in the file. */
const pieceRules = { targetMs: batchTargetMs, first: removedAtOnce, least: 25, most: removedAtOnce } as const;

interface Span {
  readonly sliceNo: number;
  readonly deviceNo: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isOld: (event: OldEvent) => boolean;
}

/** Removes these events of a device, some at a time. */
async function removeAll(run: Run, of: OldOf, old: readonly OldEvent[]): Promise<void> {
  for (let left = old; left.length > 0; ) {
    const { rows, tookMs } = await run.pieces.run(async (count) => {
      await run.db.write(removeEvents(of, left.slice(0, count)));
      return Math.min(count, left.length);
    });
    left = left.slice(rows);
    await run.rest(tookMs);
  }
}

/** Removes the events of one span that are old; the others are looked at and left. */
async function clearSpan(run: Run, { sliceNo, deviceNo, fromMs, toMs, isOld }: Span): Promise<number> {
  let after: { readonly timestampMs: number; readonly eventNo: number } = { ...start, timestampMs: fromMs };
  let removed = 0;
  for (;;) {
    const events = await oldEvents(run.db, {
      sliceNo,
      deviceNo,
      after,
      beforeMs: toMs,
      limit: removedAtOnce,
    });
    const old = events.filter(isOld);
    if (!run.isDry) await removeAll(run, { sliceNo, deviceNo }, old);
    removed += old.length;
    const last = events.at(-1);
    if (last === undefined || events.length < removedAtOnce) return removed;
    after = last;
  }
}

/** Row-by-row removal of an account's devices. */
interface Clearing {
  readonly beforeMs: number;
  readonly slices: readonly number[];
}

async function clearDevice(
  run: Run,
  deviceNo: number,
  { beforeMs, slices }: Clearing,
): Promise<RetentionCounts> {
  const { db, nowMs, isDry } = run;
  const isOld = ({ receivedMs }: OldEvent): boolean => receivedMs < beforeMs;
  let events = 0;
  for (const sliceNo of slices) {
    const past = { sliceNo, deviceNo, fromMs: start.timestampMs, toMs: beforeMs, isOld };
    // Stamped by a clock that ran ahead: their time never comes, so their arrival alone counts.
    const ahead = { ...past, fromMs: nowMs + aheadMostMs, toMs: Number.MAX_SAFE_INTEGER };
    events += (await clearSpan(run, past)) + (await clearSpan(run, ahead));
  }
  const payloads = await countOldPayloads(db, deviceNo, beforeMs);
  if (payloads > 0 && !isDry) await db.write([removePayloads(deviceNo, beforeMs)]);
  return { devices: events + payloads > 0 ? 1 : 0, events, payloads };
}

interface SlicesToCheck {
  readonly timed: readonly Timed[];
  readonly keeping: RetentionNeeds;
}

/** Slices whose rows are deleted one by one, because the whole slice will not be dropped in time. */
async function slicesToClear(
  run: Run,
  { accountID, days }: RetainingAccount,
  { timed, keeping }: SlicesToCheck,
): Promise<readonly Timed[]> {
  const beforeMs = limitOf(run.nowMs, days);
  const found: Timed[] = [];
  for (const one of timed) {
    const { slice } = one;
    if (slice.openedMs >= beforeMs || run.cleared?.has(`${slice.sliceNo} ${accountID}`) === true) continue;
    if (await keeping.isUnneeded(one, run.nowMs + graceOf(days))) continue;
    found.push(one);
  }
  return found;
}

async function clearAccount(
  run: Run,
  account: RetainingAccount,
  looked: SlicesToCheck,
): Promise<RetentionCounts> {
  const { accountID, days } = account;
  const beforeMs = limitOf(run.nowMs, days);
  const timed = await slicesToClear(run, account, looked);
  const clearing = { beforeMs, slices: timed.map(({ slice }) => slice.sliceNo) };
  const sum = { devices: 0, events: 0, payloads: 0 };
  let afterNo = 0;
  for (;;) {
    const numbers = await deviceNosAfter(run.db, { accountID, afterNo, limit: devicesAtOnce });
    for (const deviceNo of numbers) {
      const cleared = await clearDevice(run, deviceNo, clearing);
      sum.devices += cleared.devices;
      sum.events += cleared.events;
      sum.payloads += cleared.payloads;
    }
    const last = numbers.at(-1);
    if (last === undefined) break;
    afterNo = last;
  }
  for (const one of timed)
    if (!run.isDry && isPast(one, beforeMs, run.nowMs)) run.cleared?.add(`${one.slice.sliceNo} ${accountID}`);
  return sum;
}

export interface AccountRetention extends RetentionCounts, RetainingAccount {}

export interface RetentionReport {
  /** Slices that go away as a whole; what accounts lose with them is not counted with the accounts. */
  readonly slices: readonly SliceRetention[];
  readonly accounts: readonly AccountRetention[];
}

/**
 * One run over all accounts with a limit.
 * @param asked `isDry`: counts and removes nothing.
 */
export async function runRetention(asked: Asked): Promise<RetentionReport> {
  const run: Run = { ...asked, pieces: createPacedBatches(asked.clock, pieceRules) };
  const { db } = run;
  const limited = await retainingAccounts(db);
  const keeping = await readRetentionNeeds(db, limited);
  const slices = await retireSlices(run, keeping);
  const gone = new Set(slices.map(({ sliceNo }) => sliceNo));
  const timed: Timed[] = [];
  for (const slice of await allSlices(db)) {
    if (gone.has(slice.sliceNo) || slice.state === 'retired' || slice.state === 'dropping') continue;
    timed.push({ slice, spans: await spansOf(db, slice.sliceNo) });
  }
  const accounts: AccountRetention[] = [];
  for (const account of limited) {
    accounts.push({ ...account, ...(await clearAccount(run, account, { timed, keeping })) });
  }
  return { slices, accounts };
}

class Stopped extends Error {}

/** Starts the work: a run each hour, until `close`. */
export function createRetention(options: RetentionOptions): Retention {
  const { clock, log, lagMs, isOurs } = options;
  const db = lowPriorityReads(options.db);
  const counts = { devices: 0, events: 0, payloads: 0, runs: 0 };
  const cleared: Cleared = new Set();
  let isStopped = false;
  let wake: () => void = () => undefined;
  const sleep = (delayMs: number): Promise<void> =>
    new Promise((resolve) => {
      const end = clock.after(delayMs, resolve);
      wake = () => {
        end();
        resolve();
      };
    });
  const restAfter = createPauses(lagMs);
  const rest = async (tookMs: number): Promise<void> => {
    let delayMs = restAfter(tookMs);
    do {
      await sleep(delayMs);
      if (isStopped || isOurs?.() === false) throw new Stopped();
      delayMs = waitMs;
    } while (lagMs() > lagMostMs);
  };
  const once = async (): Promise<number> => {
    if (isOurs?.() === false) return waitMs;
    const startedMs = clock.monoMs();
    try {
      const { nowMs } = await options.aging.read();
      const run = { db, clock, nowMs, rest, isDry: false, cleared };
      const { slices, accounts } = await runRetention(run);
      for (const { sliceNo, became, events } of slices) {
        if (became === 'dropped') counts.events += events;
        log.info('slice_retention', { sliceNo, became, events });
      }
      for (const { accountID, days, devices, events, payloads } of accounts) {
        counts.devices += devices;
        counts.events += events;
        counts.payloads += payloads;
        const durationMs = Math.round(clock.monoMs() - startedMs);
        log.info('retention_run', { accountID, days, devices, events, payloads, durationMs });
      }
      counts.runs += 1;
    } catch (thrown) {
      if (!(thrown instanceof Stopped)) log.error('retention_failed', { reason: messageOf(thrown) });
    }
    return periodMs;
  };
  const task = createPeriodicTask({ clock, firstMs, run: once });
  return {
    counts: () => ({ ...counts }),
    async close() {
      isStopped = true;
      wake();
      await task.close();
    },
  };
}
