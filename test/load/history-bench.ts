// The history bench: what a read costs with a year of events behind, to what it costs with the newest part of them alone. Two
// brokers, one with little and one with much history, are asked the same in turn; the last days are alike in both. Then what
// reads and the end of a slice cost those who commit meanwhile: at the store (`commits`, `drop`) and at a broker (`beside`).
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { allSlices } from '../../broker/store/slices/slices.ts';
import { createPauses } from '../../broker/upkeep/paced-batches.ts';
import { runRetention } from '../../broker/upkeep/retention.ts';
import { openSqliteThreads } from '../../src/adapters/database/sqlite.ts';
import { dayMs } from '../../src/core/durations.ts';
import { sql } from '../../src/sql.ts';
import { startPostgres } from '../support/database/postgres.ts';
import { makeFleetDatabase } from './fleet-database.ts';
import { fillPostgres } from './fleet-postgres.ts';
import { type BesideFigure, benchBeside } from './history-beside.ts';
import {
  benchDrops,
  type CommitFigure,
  commitsWhile,
  copyDatabase,
  type DropFigure,
  removeDatabase,
} from './history-drop.ts';
import { benchReads, type Histories, type HistoryFigure } from './history-reads.ts';
import { benchStart } from './history-start.ts';
import { benchSummary, type SummaryFigure } from './history-summary.ts';
import { postgresSettings } from './ingest-servers.ts';

export const historySections = ['start', 'summary', 'reads', 'commits', 'drop', 'beside'] as const;
type Section = (typeof historySections)[number];

export interface HistoryBenchOptions {
  /** `postgres`: the reads alone, on a server of the bench's own that is filled first. */
  readonly store: 'sqlite' | 'postgres';
  readonly sections: readonly Section[];
  /** Where the databases are kept: `history-<events>.db`, for other benches too. */
  readonly folder: string;
  /** Events of the long history; a year of them. */
  readonly events: number;
  /** Events of the short one, at the same rate. */
  readonly baseline: number;
  /** Requests of each kind to each broker. */
  readonly requests: number;
  /** Events of the slices that are dropped, and for how long it goes on at most. */
  readonly slices: readonly number[];
  readonly capS: number;
  /** Events a second of `beside`, and how often it asks each question. */
  readonly ratePerS: number;
  readonly rounds: number;
  readonly say: (text: string) => void;
}

export interface HistoryBenchResult {
  readonly events: number;
  readonly baseline: number;
  /** Of the long history; 0 when it was not looked at. */
  readonly slices: number;
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly reads: readonly HistoryFigure[];
  /** Null when it was not looked at. */
  readonly summary: SummaryFigure | null;
  readonly commits: readonly CommitFigure[];
  readonly drops: readonly DropFigure[];
  readonly beside: readonly BesideFigure[];
}

const clock = { monoMs: () => performance.now() };
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** On a copy of the short history: it is changed. */
async function benchCommits(path: string, { nowMs, say }: { nowMs: number; say: (text: string) => void }) {
  const copy = `${path}.commits`;
  copyDatabase(path, copy);
  const db = await openSqliteThreads({ path: copy, pageSize: 4096 });
  try {
    const figures = [await commitsWhile(db, 'nothing else', () => pause(3000))];
    const scan = sql`SELECT COUNT(DISTINCT latitude * seq) AS n FROM events_2`;
    figures.push(
      await commitsWhile(db, 'a long query', () => Promise.all([1, 2, 3].map(() => db.read(scan)))),
    );
    await db.write([sql`UPDATE accounts SET retained_days = 1`]);
    const restAfter = createPauses(() => 0);
    const run = (atMs: number) =>
      runRetention({
        db,
        clock,
        nowMs: atMs,
        rest: (tookMs) => pause(restAfter(tookMs)),
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
    removeDatabase(copy);
  }
}

/** Makes what databases the sections want and are missing. */
async function makeHistories(options: HistoryBenchOptions): Promise<Histories> {
  const { folder, events, baseline, sections, say } = options;
  const nowMs = Math.floor(Date.now() / dayMs) * dayMs;
  const stepMs = (365 * dayMs) / events;
  const pathOf = (eventCount: number): string => join(folder, `history-${eventCount}-${nowMs / 1000}.db`);
  const wanted = [
    ...(sections.some((section) => section !== 'drop' && section !== 'summary') ? [baseline] : []),
    ...(sections.some((section) => section === 'reads' || section === 'start') ? [events] : []),
  ];
  for (const eventCount of wanted) {
    const path = pathOf(eventCount);
    await makeFleetDatabase({ path, eventCount, nowMs, stepMs }, (done) =>
      say(`${path}: ${Math.round(done * 100)} %`),
    );
  }
  return { shortPath: pathOf(baseline), longPath: pathOf(events), nowMs, folder };
}

async function countSlices(path: string): Promise<number> {
  const db = await openSqliteThreads({ path, pageSize: 4096 });
  const { length } = await allSlices(db);
  await db.close();
  return length;
}

/** Both histories on one server, which is started, filled, asked and removed. */
async function benchPostgres(options: HistoryBenchOptions): Promise<readonly HistoryFigure[]> {
  const { events, baseline, say } = options;
  const nowMs = Math.floor(Date.now() / dayMs) * dayMs;
  const stepMs = (365 * dayMs) / events;
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-history-'));
  const postgres = await startPostgres(postgresSettings);
  try {
    const urls: string[] = [];
    for (const eventCount of [baseline, events]) {
      const url = await postgres.createMigrated();
      await fillPostgres(url, { eventCount, nowMs, stepMs }, (done) =>
        say(`${eventCount.toLocaleString('en')} events: ${Math.round(done * 100)} %`),
      );
      urls.push(url);
    }
    const [shortPath = '', longPath = ''] = urls;
    return await benchReads({ shortPath, longPath, nowMs, folder }, options);
  } finally {
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes what databases are missing, then measures. @throws Error when a broker does not answer 200. */
export async function benchHistory(options: HistoryBenchOptions): Promise<HistoryBenchResult> {
  const { sections, folder, events, baseline, slices: sizes, capS, ratePerS, rounds, say } = options;
  const [loadBefore = 0] = loadavg();
  if (options.store === 'postgres') {
    const reads = await benchPostgres(options);
    const none = { slices: 0, summary: null, commits: [], drops: [], beside: [] };
    return { events, baseline, reads, ...none, loadBefore, loadAfter: loadavg()[0] ?? 0 };
  }
  const histories = await makeHistories(options);
  const { shortPath: path, longPath, nowMs } = histories;
  const hasReads = sections.includes('reads');
  const reads = [
    ...(sections.includes('start') ? [await benchStart(histories)] : []),
    ...(hasReads ? await benchReads(histories, options) : []),
  ];
  const slices = hasReads ? await countSlices(longPath) : 0;
  const summary = sections.includes('summary') ? await benchSummary(folder, say) : null;
  const commits = sections.includes('commits') ? await benchCommits(path, { nowMs, say }) : [];
  const drops = sections.includes('drop') ? await benchDrops({ folder, sizes, capS, say }) : [];
  const beside = sections.includes('beside')
    ? await benchBeside({ path, nowMs, ratePerS, seconds: 8, rounds, say })
    : [];
  const load = { loadBefore, loadAfter: loadavg()[0] ?? 0 };
  return { events, baseline, slices, reads, summary, commits, drops, beside, ...load };
}
