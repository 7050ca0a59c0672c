// What the end of a slice costs whoever commits meanwhile: slices of a million and of ten million events are taken away by the
// product's own retention while small batches are committed. On copies: the databases stay as they are.
import { constants, copyFileSync, existsSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrations } from '../../broker/migrations.ts';
import { tableOf } from '../../broker/store/slices/slices.ts';
import { createPauses } from '../../broker/upkeep/paced-batches.ts';
import { runRetention } from '../../broker/upkeep/retention.ts';
import { openSqliteThreads } from '../../src/adapters/database/sqlite.ts';
import { dayMs, weekMs } from '../../src/core/durations.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { makeFleetDatabase } from './fleet-database.ts';

/** How long a commit of one row takes, in ms. */
export interface CommitFigure {
  readonly while: string;
  readonly commits: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

export interface DropFigure extends CommitFigure {
  /** Events that the slice had, and those that were taken away within the time cap. */
  readonly events: number;
  readonly removed: number;
  readonly tookS: number;
  readonly isDone: boolean;
  /** The longest batch of each kind, ms. */
  readonly pieces: Readonly<Record<string, number>>;
}

/** Commits a row every few milliseconds while `work` runs, each as an event that a vehicle waits for. */
export async function commitsWhile(
  db: Database,
  name: string,
  work: () => Promise<unknown>,
): Promise<CommitFigure> {
  const times: number[] = [];
  const state = { isDone: false };
  const worked = work().finally(() => {
    state.isDone = true;
  });
  worked.catch(() => undefined);
  while (!state.isDone) {
    const sinceMs = performance.now();
    await db.write([sql`UPDATE notifier_cursor SET event_no = event_no`]);
    times.push(performance.now() - sinceMs);
    await sleep(2);
  }
  await worked;
  times.sort((one, other) => one - other);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { while: name, commits: times.length, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}

/** A copy that is on disk: what is still to be written would be waited for by the commits that are measured. */
export function copyDatabase(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  // A broker refuses a fleet whose keys it has not.
  for (const key of ['.signing-key.pem', '.vapid-key.pem'])
    if (existsSync(`${from}${key}`)) copyFileSync(`${from}${key}`, `${to}${key}`);
  fsyncSync(openSync(to, 'r+'));
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-lock']) rmSync(`${path}${suffix}`, { force: true });
}

/** The same database, and for how long its oldest batch has waited. */
function aged(db: Database): { readonly db: Database; lagMs(): number } {
  const begun: number[] = [];
  return {
    db: {
      ...db,
      async write(batch) {
        const sinceMs = performance.now();
        begun.push(sinceMs);
        try {
          return await db.write(batch);
        } finally {
          begun.splice(begun.indexOf(sinceMs), 1);
        }
      },
    },
    lagMs: () => performance.now() - (begun[0] ?? performance.now()),
  };
}

class CapReached extends Error {}

/** Tells of the longest batch by its first words. */
function watched(db: Database, pieces: Record<string, number>): Database {
  return {
    ...db,
    async write(batch) {
      const [kind = ''] = /^\s*\S+\s+\S+/.exec(batch[0]?.sql ?? '') ?? [];
      const sinceMs = performance.now();
      const results = await db.write(batch);
      pieces[kind] = Math.max(pieces[kind] ?? 0, performance.now() - sinceMs);
      return results;
    },
  };
}

async function eventsIn(db: Database, sliceNo: number): Promise<number> {
  const [there] = await db.read(sql`SELECT 1 AS one FROM sqlite_master WHERE name = ${tableOf(sliceNo).sql}`);
  if (there === undefined) return 0;
  // Those that are left are the first ones, and their numbers have no gaps.
  const [row] = await db.read(
    sql`SELECT COALESCE(MAX(event_no) - MIN(event_no) + 1, 0) AS n FROM ${tableOf(sliceNo)}`,
  );
  return Number(row?.['n']);
}

async function dropOne(
  path: string,
  { nowMs, capS }: { readonly nowMs: number; readonly capS: number },
): Promise<DropFigure> {
  const db = await openSqliteThreads({ path, pageSize: 4096 });
  try {
    await migrate(db, migrations);
    const events = await eventsIn(db, 2);
    await db.write([sql`UPDATE event_slices SET state = 'dropping' WHERE slice_no = 2`]);
    const pieces: Record<string, number> = {};
    const fromMs = performance.now();
    const vehicles = aged(db);
    // As the broker rests between two batches.
    const restAfter = createPauses(vehicles.lagMs);
    const rest = async (tookMs: number): Promise<void> => {
      await sleep(restAfter(tookMs));
      if (performance.now() - fromMs > capS * 1000) throw new CapReached();
    };
    const clock = { monoMs: () => performance.now() };
    const figure = await commitsWhile(vehicles.db, `${events.toLocaleString('en')} events go`, async () => {
      const run = { db: watched(db, pieces), clock, nowMs, rest, isDry: false };
      await runRetention(run).catch((thrown: unknown) => {
        if (!(thrown instanceof CapReached)) throw thrown;
      });
    });
    const tookS = (performance.now() - fromMs) / 1000;
    const left = await eventsIn(db, 2);
    return { ...figure, events, removed: events - left, tookS, isDone: left === 0, pieces };
  } finally {
    await db.close();
  }
}

/**
 * Takes slices of these sizes away, each within `capS` seconds; what is missing of the databases is made first, all events of
 * one within one week of receipt.
 */
export async function benchDrops(options: {
  readonly folder: string;
  readonly sizes: readonly number[];
  readonly capS: number;
  readonly say: (text: string) => void;
}): Promise<readonly DropFigure[]> {
  const { folder, sizes, capS, say } = options;
  // The history of `makeFleetDatabase` ends a day before: at the end of a week.
  const nowMs = Math.floor(Date.now() / weekMs) * weekMs + dayMs;
  const figures: DropFigure[] = [];
  for (const eventCount of sizes) {
    const path = join(folder, `slice-${eventCount}-${nowMs / 1000}.db`);
    const stepMs = (6 * dayMs) / eventCount;
    if (!existsSync(path)) {
      await makeFleetDatabase({ path, eventCount, nowMs, stepMs }, (done) =>
        say(`${path}: ${Math.round(done * 100)} %`),
      );
    }
    const copy = `${path}.drop`;
    copyDatabase(path, copy);
    try {
      figures.push(await dropOne(copy, { nowMs, capS }));
      const { removed, tookS, mostMs } = figures.at(-1) as DropFigure;
      say(
        `${removed.toLocaleString('en')} events in ${tookS.toFixed(0)} s, longest commit ${mostMs.toFixed(0)} ms`,
      );
    } finally {
      removeDatabase(copy);
    }
  }
  return figures;
}
