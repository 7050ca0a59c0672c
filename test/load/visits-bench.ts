// The bench of visits: a fleet that reports every ten seconds on the streets of a town; "who was within 200 m of here in this hour?" over
// HTTP, against a scan of the hour's events by the index of devices and times. Each answer that is scanned must be the same.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { visitOf } from '../../broker/features/visits/core/visit.ts';
import {
  indexedTo,
  nextIndexed,
  positionsOf,
  type StoredPosition,
} from '../../broker/features/visits/visit-statements.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { openNext } from '../../broker/store/slices/slice-writing.ts';
import { lastEventNo, tableOf, wholeSlices } from '../../broker/store/slices/slices.ts';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import type { Point } from '../../src/core/geo/geo.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { type BenchResult, type Figure, figuresFrom, onMachine, type Say } from './agent-figures.ts';
import { benchAccount, createFleet, deviceCount, eventColumns, noteDays } from './fleet-database.ts';
import { logIn, median } from './http-bench.ts';
import { startBroker, stop } from './ingest-servers.ts';

export interface VisitsBenchOptions {
  readonly events: number;
  /** Questions, each of another place and hour. */
  readonly questions: number;
  /** Of these so many are answered by a scan too. */
  readonly scans: number;
  readonly say: Say;
}

const hourMs = 3_600_000;
const stepMs = 10_000;
const sliceEvents = 20_000_000;
const chunk = 500_000;
const circle = 200;
/** The town: 30 km by 30 km at 48 degrees north. One vehicle in three stands. */
const town = { south: 48, west: 11, height: 0.27, width: 0.4 } as const;

/**
 * Event `i` of the fleet: of vehicle 1 + i % vehicles. It drives to and fro on a street of up to 12 km at 36 km/h, east or north from a place
 * of its own; its positions are 100 m apart.
 */
const driveSql = (table: string): string => `INSERT INTO ${table} (${eventColumns})
  WITH RECURSIVE n (i) AS (SELECT $from UNION ALL SELECT i + 1 FROM n WHERE i < $to),
  m AS (SELECT i, i % ${deviceCount} AS v, i / ${deviceCount} AS k FROM n),
  p AS (SELECT i, v, k, (v * 7919) % ${deviceCount} AS y, (v * 104729) % ${deviceCount} AS x,
    CASE WHEN v % 3 = 0 THEN 0 ELSE ABS((k + v) % (20 + v % 100 * 2) - (10 + v % 100)) END AS far FROM m)
  SELECT i + 1, 1, 1 + v, 'b1', k + 1, $begin + k * ${stepMs} + v, $begin + k * ${stepMs} + v + 900, i, 'gnss', 61472,
    ${town.south} + y * ${town.height / deviceCount} + CASE WHEN v % 2 = 0 THEN 0 ELSE far * 0.0009 END,
    ${town.west} + x * ${town.width / deviceCount} + CASE WHEN v % 2 = 0 THEN far * 0.00134 ELSE 0 END,
    90, CASE WHEN v % 3 = 0 THEN 0 ELSE 36 END, 90, 0.9, 11, i * 0.01, 0.62, NULL FROM p`;

function perform(connection: InstanceType<typeof SqliteConnection>, { sql, params }: Statement): void {
  const order: number[] = [];
  const text = sql.replace(/\$(\d+)/g, (_whole, digits: string) => {
    order.push(Number(digits) - 1);
    return '?';
  });
  connection.prepare(text).run(...order.map((at) => params[at] ?? null));
}

/** Makes the fleet and its events, in slices as the service fills them. */
async function makeDatabase(
  path: string,
  { events, say }: VisitsBenchOptions,
  beginMs: number,
): Promise<void> {
  const db = openSqlite({ path, pageSize: 4096 });
  await createFleet(db);
  await db.close();
  const connection = new SqliteConnection(path);
  for (const pragma of ['journal_mode = MEMORY', 'synchronous = OFF', 'cache_size = -1000000'])
    connection.pragma(pragma);
  const timeOf = (no: number): number => beginMs + Math.floor(no / deviceCount) * stepMs;
  for (let [sliceNo, from] = [1, 0]; from < events; sliceNo += 1, from += sliceEvents) {
    const to = Math.min(events, from + sliceEvents);
    perform(connection, { sql: 'UPDATE event_counter SET next_no = $1', params: [from + 1] });
    if (sliceNo > 1) for (const one of openNext(sliceNo - 1, timeOf(from))) perform(connection, one);
    const table = tableOf(sliceNo).sql;
    const indexes = connection
      .prepare(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
      )
      .all(table) as readonly { readonly name: string; readonly sql: string }[];
    for (const { name } of indexes) connection.exec(`DROP INDEX ${name}`);
    const insert = connection.prepare(driveSql(table));
    for (let first = from; first < to; first += chunk)
      insert.run({ from: first, to: Math.min(to, first + chunk) - 1, begin: beginMs });
    for (const { sql } of indexes) connection.exec(sql);
    for (const note of noteDays(sliceNo, { fromMs: timeOf(from), toMs: timeOf(to) }))
      perform(connection, note);
    say(`${to.toLocaleString('en')} events`);
  }
  perform(connection, { sql: 'UPDATE event_counter SET next_no = $1', params: [events + 1] });
  perform(connection, { sql: 'UPDATE notifier_cursor SET event_no = $1', params: [events] });
  connection.pragma('journal_mode = WAL');
  connection.close();
}

/** Takes all events into the index, as the worker does, without its pauses; ms. */
async function takeIn(db: Database): Promise<number> {
  const lastNo = await lastEventNo(db);
  const sinceMs = performance.now();
  for (let toNo = 0; toNo < lastNo; toNo = await indexedTo(db))
    await db.write(await nextIndexed(db, { toNo, lastNo, most: 4000 }));
  return performance.now() - sinceMs;
}

interface Question {
  readonly centre: Point;
  readonly fromMs: number;
}

/** The same for every run. */
function questionsOf({ questions, events }: VisitsBenchOptions, beginMs: number): readonly Question[] {
  const hours = Math.max(1, Math.floor((events / deviceCount) * (stepMs / hourMs)));
  return Array.from({ length: questions }, (_unused, at) => ({
    centre: {
      latitude: Number((town.south + (town.height * ((at * 37) % 101)) / 101).toFixed(5)),
      longitude: Number((town.west + (town.width * ((at * 61) % 103)) / 103).toFixed(5)),
    },
    fromMs: beginMs + (at % hours) * hourMs,
  }));
}

/** Every position of that hour, device by device. */
async function scan(db: Database, { centre, fromMs }: Question): Promise<readonly string[]> {
  const span = { fromMs, toMs: fromMs + hourMs - 1 };
  const gapMs = 90_000;
  const found: string[] = [];
  for (let first = 1; first <= deviceCount; first += 25) {
    const spans = Array.from({ length: 25 }, (_unused, at) => ({
      deviceNo: first + at,
      fromMs: span.fromMs - gapMs,
      toMs: span.toMs + gapMs,
    }));
    const stored = [];
    for (const { sliceNo } of await wholeSlices(db))
      stored.push(...(await positionsOf(db, wholeAccount(benchAccount.accountID), { sliceNo, spans })));
    const of = new Map<number, StoredPosition[]>();
    for (const one of stored) of.set(one.deviceNo, [...(of.get(one.deviceNo) ?? []), one]);
    for (const [deviceNo, positions] of of) {
      positions.sort((one, other) => one.timestampMs - other.timestampMs);
      const visit = visitOf(positions, { centre, radiusM: circle }, span);
      if (visit !== null) found.push(`truck-${String(deviceNo - 1).padStart(5, '0')} ${visit.positions}`);
    }
  }
  return found;
}

async function ask(port: number, token: string, { centre, fromMs }: Question) {
  const path = `/api/v1/eventdata/visits/${centre.latitude}/${centre.longitude}/${circle}/${fromMs / 1000}/${fromMs / 1000 + 3599}/authorization`;
  const sinceMs = performance.now();
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: token } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  const { visits } = JSON.parse(text) as {
    readonly visits: readonly { readonly deviceID: string; readonly positions: number }[];
  };
  return { ms: performance.now() - sinceMs, found: visits.map((one) => `${one.deviceID} ${one.positions}`) };
}

async function measureVisits(options: VisitsBenchOptions, folder: string): Promise<readonly Figure[]> {
  const { events, scans, say } = options;
  const database = join(folder, 'broker.db');
  const lengthMs = Math.ceil(events / deviceCount) * stepMs;
  const beginMs = Math.floor((Date.now() - lengthMs) / hourMs) * hourMs;
  await makeDatabase(database, options, beginMs);
  const eventBytes = statSync(database).size;
  const db = await openDatabase({ database, environment: {}, use: 'command' });
  const tookMs = await takeIn(db);
  say(`the index is made: ${Math.round(tookMs / 1000)} s`);
  const [rows] = await db.read({ sql: 'SELECT COUNT(*) AS n FROM visit_cells', params: [] });
  const [pages] = await db.read({
    sql: "SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name IN ('visit_cells', 'sqlite_autoindex_visit_cells_1')",
    params: [],
  });
  const server = await startBroker({ database, folder, profile: null, limitMs: 600_000 });
  try {
    const token = await logIn(server.httpPort);
    const [times, scanned, counts]: [number[], number[], number[]] = [[], [], []];
    const questions = questionsOf(options, beginMs);
    const answers: (readonly string[])[] = [];
    for (const question of questions) {
      const { ms, found } = await ask(server.httpPort, token, question);
      times.push(ms);
      counts.push(found.length);
      answers.push(found);
    }
    // After all of them: the service closes a connection that is silent for so long.
    for (const [at, question] of questions.slice(0, scans).entries()) {
      const sinceMs = performance.now();
      const [expected, found] = [(await scan(db, question)).join(), answers[at]?.join()];
      scanned.push(performance.now() - sinceMs);
      if (expected !== found) throw new Error(`question ${at}: ${found} instead of ${expected}`);
      say(`question ${at}: the same by a scan of ${scanned.at(-1)?.toFixed(0)} ms`);
    }
    const sorted = times.toSorted((one, other) => one - other);
    const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0;
    return [
      ...figuresFrom('visits', 'scan of the hour', [
        [
          `${circle} m, an hour, ${events.toLocaleString('en')} events: p50, ms`,
          'ms',
          median(times),
          median(scanned),
          100,
        ],
        ['the same: p99', 'ms', p99, median(scanned), 100],
        ['vehicles of an answer', '', median(counts)],
      ]),
      ...figuresFrom('visits', 'events', [
        ['taken into the index', '/s', events / (tookMs / 1000)],
        ['rows of the index', '', Number(rows?.['n']), events],
        ['bytes of the index', 'bytes', Number(pages?.['bytes']), eventBytes],
      ]),
    ];
  } finally {
    await stop(server);
    await db.close();
  }
}

/** @throws Error when an answer differs from that of the scan. */
export async function benchVisits(options: VisitsBenchOptions): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-bench-'));
  try {
    return await onMachine(() => measureVisits(options, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
