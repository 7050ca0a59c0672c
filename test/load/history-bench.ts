// The history bench: what a read costs with a year of events behind, to what it costs with the newest part of them alone. Two
// brokers, one with little and one with much history, are asked the same in turn; the last days are alike in both. Then a
// slice is dropped and an export is read while small batches are committed: how long each of these waits.
import type { ChildProcess } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { allSlices } from '../../broker/store/slices.ts';
import { runRetention } from '../../broker/upkeep/retention.ts';
import { openSqliteThreads } from '../../src/adapters/sqlite.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { busyDevice, deviceCount, makeFleetDatabase, rareCode } from './fleet-database.ts';
import { cpuMsOf, logIn, median, startBroker, stop } from './http-bench.ts';

export interface HistoryBenchOptions {
  /** Where the databases are kept: `history-<events>.db`, for other benches too. */
  readonly folder: string;
  /** Events of the long history; a year of them. */
  readonly events: number;
  /** Events of the short one, at the same rate. */
  readonly baseline: number;
  /** Requests of each kind to each broker. */
  readonly requests: number;
  readonly say: (text: string) => void;
}

export interface HistoryFigure {
  readonly read: string;
  readonly shortMs: number;
  readonly longMs: number;
  /** Median time with the long history to that with the short one. */
  readonly ratio: number;
  readonly shortCpuMs: number;
  readonly longCpuMs: number;
}

/** How long a commit of one row takes, in ms. */
export interface CommitFigure {
  readonly while: string;
  readonly commits: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
}

export interface HistoryBenchResult {
  readonly events: number;
  readonly baseline: number;
  readonly slices: number;
  readonly reads: readonly HistoryFigure[];
  readonly commits: readonly CommitFigure[];
}

const dayMs = 86_400_000;
const dayS = 86_400;
const hourS = 3600;

interface Read {
  readonly name: string;
  /** @param at counts the requests, so that each asks for another device. */
  readonly path: (at: number) => string;
}

function readsAt(nowS: number): readonly Read[] {
  const v1 = (path: string): string => `/api/v1/${path}/authorization`;
  const device = (at: number): string => `truck-${String((at * 7919) % deviceCount).padStart(5, '0')}`;
  // Up to the last full day of the whole fleet.
  const endS = nowS - dayS;
  return [
    { name: 'latest', path: (at) => v1(`eventdata/latest/${device(at)}`) },
    {
      name: 'a day of a device',
      path: (at) => v1(`eventdata/devicedata/${device(at)}/${endS - dayS}/${endS}`),
    },
    {
      name: 'a day of 8,640 records, in pages',
      path: () => `${v1(`eventdata/devicedata/${busyDevice}/${nowS - dayS}/${nowS}`)}?limit=500`,
    },
    {
      name: 'fleet by code, an hour',
      path: (at) =>
        v1(`eventdata/fleetdata/${rareCode}/${endS - (1 + (at % 24)) * hourS}/${endS - (at % 24) * hourS}`),
    },
    {
      name: 'fleet, an hour, first page',
      path: (at) =>
        `${v1(`eventdata/fleetdata/*/${endS - (1 + (at % 24)) * hourS}/${endS - (at % 24) * hourS}`)}?limit=100`,
    },
    {
      name: 'from the beginning, first page',
      path: (at) => `${v1(`eventdata/devicedata/${device(at)}/0/0`)}?limit=100`,
    },
    { name: 'export of a day', path: (at) => v1(`export/csv/${device(at)}/${endS - dayS}/${endS}`) },
    { name: 'alerts of the fleet, counted', path: () => v1('events/activations/summary') },
  ];
}

interface Side {
  readonly child: ChildProcess;
  readonly port: number;
  readonly token: string;
}

async function startSide(database: string): Promise<Side> {
  const { child, port } = await startBroker(database);
  return { child, port, token: await logIn(port) };
}

async function ask({ port, token }: Side, path: string): Promise<number> {
  const sinceMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: token } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return performance.now() - sinceMs;
}

async function compare(
  read: Read,
  [short, long]: readonly [Side, Side],
  requests: number,
): Promise<HistoryFigure> {
  const times: { readonly short: number[]; readonly long: number[] } = { short: [], long: [] };
  // Once without counting, so that both have their statements and pages.
  for (let at = 0; at < Math.min(20, requests); at++)
    for (const side of [short, long]) await ask(side, read.path(at));
  const before = [cpuMsOf(short.child), cpuMsOf(long.child)] as const;
  for (let at = 0; at < requests; at++) {
    times.short.push(await ask(short, read.path(at)));
    times.long.push(await ask(long, read.path(at)));
  }
  const [shortMs, longMs] = [median(times.short), median(times.long)];
  return {
    read: read.name,
    shortMs,
    longMs,
    ratio: longMs / shortMs,
    shortCpuMs: (cpuMsOf(short.child) - before[0]) / requests,
    longCpuMs: (cpuMsOf(long.child) - before[1]) / requests,
  };
}

/** Commits a row every few milliseconds while `work` runs, each as an event that a vehicle waits for. */
async function commitsWhile(db: Database, name: string, work: () => Promise<unknown>): Promise<CommitFigure> {
  const times: number[] = [];
  const state = { isDone: false };
  const worked = work().finally(() => {
    state.isDone = true;
  });
  while (!state.isDone) {
    const sinceMs = performance.now();
    await db.write([sql`UPDATE notifier_cursor SET event_no = event_no`]);
    times.push(performance.now() - sinceMs);
    await new Promise((resolve) => void setTimeout(resolve, 2));
  }
  await worked;
  times.sort((one, other) => one - other);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { while: name, commits: times.length, p50Ms: at(0.5), p99Ms: at(0.99), mostMs: at(1) };
}

const clock = { monoMs: () => performance.now() };
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** On a copy of the short history: it is changed. */
async function benchCommits(path: string, { nowMs, say }: { nowMs: number; say: (text: string) => void }) {
  const copy = `${path}.commits`;
  copyFileSync(path, copy);
  const db = await openSqliteThreads({ path: copy, pageSize: 4096 });
  try {
    const figures = [await commitsWhile(db, 'nothing else', () => pause(3000))];
    const scan = sql`SELECT COUNT(DISTINCT latitude * seq) AS n FROM events_2`;
    figures.push(
      await commitsWhile(db, 'a long query', () => Promise.all([1, 2, 3].map(() => db.read(scan)))),
    );
    await db.write([sql`UPDATE accounts SET retained_days = 1`]);
    const run = (atMs: number) =>
      runRetention({
        db,
        clock,
        nowMs: atMs,
        rest: (tookMs) => pause(Math.max(10, 2 * tookMs)),
        isDry: false,
      });
    const laterMs = nowMs + 3 * dayMs;
    const dropped = await commitsWhile(db, 'a slice is dropped', async () => {
      await run(laterMs);
      await run(laterMs + 3_600_000);
    });
    figures.push(dropped);
    say(`slices left: ${(await allSlices(db)).map(({ sliceNo }) => sliceNo).join(', ')}`);
    return figures;
  } finally {
    await db.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${copy}${suffix}`, { force: true });
  }
}

/** Makes what databases are missing, then measures. @throws Error when a broker does not answer 200. */
export async function benchHistory(options: HistoryBenchOptions): Promise<HistoryBenchResult> {
  const { folder, events, baseline, requests, say } = options;
  const nowMs = Math.floor(Date.now() / dayMs) * dayMs;
  const stepMs = (365 * dayMs) / events;
  const paths = [baseline, events].map((eventCount) =>
    join(folder, `history-${eventCount}-${nowMs / 1000}.db`),
  );
  const [shortPath = '', longPath = ''] = paths;
  for (const [path, eventCount] of [
    [shortPath, baseline],
    [longPath, events],
  ] as const)
    await makeFleetDatabase({ path, eventCount, nowMs, stepMs }, (done) =>
      say(`${path}: ${Math.round(done * 100)} %`),
    );
  const short = await startSide(shortPath);
  const long = await startSide(longPath);
  const reads: HistoryFigure[] = [];
  try {
    for (const read of readsAt(nowMs / 1000)) {
      reads.push(await compare(read, [short, long], requests));
      say(`${read.name}: ${reads.at(-1)?.ratio.toFixed(2)}`);
    }
  } finally {
    await Promise.all([stop(short.child), stop(long.child)]);
  }
  const db = await openSqliteThreads({ path: longPath, pageSize: 4096 });
  const slices = (await allSlices(db)).length;
  await db.close();
  return { events, baseline, slices, reads, commits: await benchCommits(shortPath, { nowMs, say }) };
}
