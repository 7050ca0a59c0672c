// Removes what accounts no longer want kept: events older than their limit by event time and by arrival, a few hundred at a
// time, and never while vehicles wait for the disk. What a run leaves undone the next one finds. It must never touch what
// is younger than a day, and never make an event that a vehicle sends again look new.
import { messageOf } from '../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { aheadMostMs } from '../core/projection.ts';
import { createRounds } from '../rounds.ts';
import {
  countOldPayloads,
  deviceNosAfter,
  type OldEvent,
  oldEvents,
  type RetainingAccount,
  removedAtOnce,
  removeEvents,
  removePayloads,
  retainingAccounts,
} from '../store/retention.ts';

export interface RetentionOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** Age of the oldest write that waits for the disk, in ms. */
  readonly lagMs: () => number;
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

const dayMs = 24 * 3_600_000;
const periodMs = 3_600_000;
/** After the start, so that a restart under load does not begin with it. */
const firstMs = 60_000;
/** Between two batches: so many times what one took, and at least so long. */
const pauseFactor = 2;
const pauseLeastMs = 10;
/** Vehicles wait longer than this: they come first. */
const lagMostMs = 100;
const waitMs = 1000;
const devicesAtOnce = 500;
/** Event numbers and times of every span begin above this. */
const start = { timestampMs: -1, eventNo: 0 } as const;

interface Run {
  readonly db: Database;
  readonly nowMs: number;
  /** Between two batches, told how long the last one took; rejects to stop the run. */
  readonly rest: (tookMs: number) => Promise<void>;
  readonly clock: Pick<Clock, 'monoMs'>;
  readonly isDry: boolean;
}

interface Span {
  readonly deviceNo: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly isOld: (event: OldEvent) => boolean;
}

/** Removes the events of one span that are old; the others are looked at and left. */
async function clearSpan(run: Run, { deviceNo, fromMs, toMs, isOld }: Span): Promise<number> {
  let after: { readonly timestampMs: number; readonly eventNo: number } = { ...start, timestampMs: fromMs };
  let removed = 0;
  for (;;) {
    const events = await oldEvents(run.db, { deviceNo, after, beforeMs: toMs, limit: removedAtOnce });
    const old = events.filter(isOld);
    if (old.length > 0 && !run.isDry) {
      const sinceMs = run.clock.monoMs();
      await run.db.write(removeEvents(deviceNo, old));
      await run.rest(run.clock.monoMs() - sinceMs);
    }
    removed += old.length;
    const last = events.at(-1);
    if (last === undefined || events.length < removedAtOnce) return removed;
    after = last;
  }
}

async function clearDevice(run: Run, deviceNo: number, beforeMs: number): Promise<RetentionCounts> {
  const { db, nowMs, isDry } = run;
  const isOld = ({ receivedMs }: OldEvent): boolean => receivedMs < beforeMs;
  const past = await clearSpan(run, { deviceNo, fromMs: start.timestampMs, toMs: beforeMs, isOld });
  // Stamped by a clock that ran ahead: their time never comes, so their arrival alone counts.
  const ahead = { deviceNo, fromMs: nowMs + aheadMostMs, toMs: Number.MAX_SAFE_INTEGER, isOld };
  const events = past + (await clearSpan(run, ahead));
  const payloads = await countOldPayloads(db, deviceNo, beforeMs);
  if (payloads > 0 && !isDry) await db.write([removePayloads(deviceNo, beforeMs)]);
  return { devices: events + payloads > 0 ? 1 : 0, events, payloads };
}

async function clearAccount(run: Run, { accountID, days }: RetainingAccount): Promise<RetentionCounts> {
  const beforeMs = run.nowMs - Math.max(1, days) * dayMs;
  const sum = { devices: 0, events: 0, payloads: 0 };
  let afterNo = 0;
  for (;;) {
    const numbers = await deviceNosAfter(run.db, { accountID, afterNo, limit: devicesAtOnce });
    for (const deviceNo of numbers) {
      const cleared = await clearDevice(run, deviceNo, beforeMs);
      sum.devices += cleared.devices;
      sum.events += cleared.events;
      sum.payloads += cleared.payloads;
    }
    const last = numbers.at(-1);
    if (last === undefined) return sum;
    afterNo = last;
  }
}

export interface AccountRetention extends RetentionCounts, RetainingAccount {}

/**
 * One run over all accounts with a limit.
 * @param run `isDry`: counts and removes nothing.
 */
export async function runRetention(run: Run): Promise<readonly AccountRetention[]> {
  const results: AccountRetention[] = [];
  for (const account of await retainingAccounts(run.db)) {
    results.push({ ...account, ...(await clearAccount(run, account)) });
  }
  return results;
}

class Stopped extends Error {}

/** Starts the work: a run each hour, until `close`. */
export function createRetention(options: RetentionOptions): Retention {
  const { db, clock, log, lagMs } = options;
  const counts = { devices: 0, events: 0, payloads: 0, runs: 0 };
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
  const rest = async (tookMs: number): Promise<void> => {
    let delayMs = Math.max(pauseLeastMs, tookMs * pauseFactor);
    do {
      await sleep(delayMs);
      if (isStopped) throw new Stopped();
      delayMs = waitMs;
    } while (lagMs() > lagMostMs);
  };
  const once = async (): Promise<number> => {
    const startedMs = clock.monoMs();
    try {
      const run = { db, clock, nowMs: Math.round(clock.utcMs()), rest, isDry: false };
      for (const { accountID, days, devices, events, payloads } of await runRetention(run)) {
        counts.devices += devices;
        counts.events += events;
        counts.payloads += payloads;
        const durationMs = Math.round(clock.monoMs() - startedMs);
        log.info('retention-run', { accountID, days, devices, events, payloads, durationMs });
      }
      counts.runs += 1;
    } catch (thrown) {
      if (!(thrown instanceof Stopped)) log.error('retention-failed', { reason: messageOf(thrown) });
    }
    return periodMs;
  };
  const rounds = createRounds({ clock, firstMs, run: once });
  return {
    counts: () => ({ ...counts }),
    async close() {
      isStopped = true;
      wake();
      await rounds.close();
    },
  };
}
