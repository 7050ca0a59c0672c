// The ingest bench: what a real broker process stores and acknowledges a second, against bare aedes that stores nothing, against
// the physical path (`bare-mqtt.ts`), against itself with a year of events behind, or as two bridges on one database; turn by
// turn on the same cores. CPU time is told beside the rates: it says the same when the machine is busy with other things.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastEventNo } from '../../broker/store/slices/slices.ts';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { type PostgresBench, startPostgres } from '../support/database/postgres.ts';
import { copyDatabase } from './history-drop.ts';
import type { IngestLoad } from './ingest-client.ts';
import { pressCluster } from './ingest-cluster.ts';
import { startOthers } from './ingest-others.ts';
import {
  furnish,
  ingestAccount,
  type Measured,
  measure,
  type Place,
  postgresSettings,
  type Server,
  startBare,
  startBridge,
  startBroker,
  stop,
} from './ingest-servers.ts';

export const ingestSections = ['single', 'batch', 'latency', 'bridges', 'cluster', 'others'] as const;
type Section = (typeof ingestSections)[number];
/** Sections that start servers of their own. */
const isApart: ReadonlySet<Section> = new Set(['bridges', 'cluster', 'others']);

export interface IngestBenchOptions {
  readonly sections: readonly Section[];
  readonly store: 'sqlite' | 'postgres';
  /** An SQLite file with history: a copy of it is compared with an empty database. Null: no history. */
  readonly database: string | null;
  readonly seconds: number;
  readonly rounds: number;
  /** Folder for CPU profiles of the broker, one a thread; null: none. */
  readonly profile: string | null;
  readonly say: (text: string) => void;
}

interface Ratio {
  readonly name: string;
  /** Events a second of one to the other, the median of the rounds. */
  readonly value: number;
  /** CPU time of an event, all servers, of one to the other. */
  readonly cpu: number;
}

export interface IngestFigure {
  readonly section: string;
  readonly sides: Readonly<Record<string, Measured>>;
  readonly ratios: readonly Ratio[];
}

/** What the start of a broker takes on a database with history. */
export interface HistoryStart {
  readonly events: number;
  readonly bytes: number;
  readonly copyMs: number;
  /** The first one, which brings the tables up to date where they are not. */
  readonly firstMs: number;
  readonly secondMs: number;
}

export interface IngestBenchResult {
  readonly figures: readonly IngestFigure[];
  readonly history: HistoryStart | null;
  readonly store: string;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

const { accountID, secret, devices } = ingestAccount;
const shapes = {
  single: { clients: devices, window: 10, form: 'json', batch: 1 },
  batch: { clients: 200, window: 4, form: 'protobuf', batch: 50 },
} as const;
const titles = { single: 'one JSON event, 1,000 clients', batch: '50 events in protobuf, 200 clients' };
/** A hundred million rows are brought up to date within that time. */
const migrationMs = 1_800_000;

/** Of an even number of values the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2)];
  return ((sorted[low] ?? Number.NaN) + (sorted[high] ?? Number.NaN)) / 2;
}

const middle = (runs: readonly Measured[]): Measured => ({
  messagesPerS: median(runs.map((run) => run.messagesPerS)),
  eventsPerS: median(runs.map((run) => run.eventsPerS)),
  p50Ms: median(runs.map((run) => run.p50Ms)),
  p99Ms: median(runs.map((run) => run.p99Ms)),
  highestMs: Math.max(...runs.map((run) => run.highestMs)),
  failures: runs.reduce((sum, { failures }) => sum + failures, 0),
  cpuUs: median(runs.map((run) => run.cpuUs)),
  databaseUs: median(runs.map((run) => run.databaseUs)),
  loadUs: median(runs.map((run) => run.loadUs)),
});

/** One side of a comparison: the servers that its clients go to. */
interface Side {
  readonly name: string;
  readonly servers: Place['servers'];
}

interface Bench {
  readonly options: IngestBenchOptions;
  readonly folder: string;
  readonly postgres: PostgresBench | null;
  /** Everything that is to be ended. */
  readonly started: Server[];
}

interface Comparison {
  readonly section: string;
  readonly load: Omit<IngestLoad, 'port'>;
  readonly sides: readonly Side[];
  /** What is compared with what. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Processes that hold the clients. */
  readonly processes?: number;
}

type Round = Readonly<Record<string, Measured>>;

const cpuOf = (one: Measured | undefined): number =>
  one === undefined ? Number.NaN : one.cpuUs + one.databaseUs;

function ratioOf(runs: readonly Round[], [one, other]: readonly [string, string]): Ratio {
  return {
    name: `${one} to ${other}`,
    value: median(
      runs.map((run) => (run[one]?.eventsPerS ?? Number.NaN) / (run[other]?.eventsPerS ?? Number.NaN)),
    ),
    cpu: median(runs.map((run) => cpuOf(run[one]) / cpuOf(run[other]))),
  };
}

function figureOf(
  section: string,
  runs: readonly Round[],
  { names, pairs }: { readonly names: readonly string[]; readonly pairs: Comparison['pairs'] },
): IngestFigure {
  const middles = names.map((name) => [name, middle(runs.flatMap((run) => run[name] ?? []))] as const);
  return {
    section,
    sides: Object.fromEntries(middles),
    ratios: pairs.map((pair) => ratioOf(runs, pair)),
  };
}

/** What one run of a side found, while the others wait. */
const lineOf = (section: string, name: string, one: Measured): string =>
  `${section}, ${name}: ${Math.round(one.eventsPerS)} events/s, p99 ${one.p99Ms.toFixed(1)} ms, ${cpuOf(one).toFixed(2)} us CPU each`;

/** Each side in turn, several times. */
async function compare({ options, postgres }: Bench, of: Comparison): Promise<IngestFigure> {
  const { section, load, sides, pairs, processes } = of;
  const runs: Round[] = [];
  const names = sides.map(({ name }) => name);
  for (let round = 0; round < options.rounds; round++) {
    const run: Record<string, Measured> = {};
    for (const { name, servers } of round % 2 === 0 ? sides : sides.toReversed()) {
      const measured = await measure({ servers, postgres }, load, processes);
      run[name] = measured;
      options.say(lineOf(section, name, measured));
    }
    runs.push(run);
  }
  return figureOf(section, runs, { names, pairs: load.ratePerS === null ? pairs : [] });
}

const baseLoad = (seconds: number) => ({ accountID, secret, warmupS: 1.5, seconds, ratePerS: null });

interface Sides {
  readonly sides: readonly Side[];
  readonly pairs: Comparison['pairs'];
  readonly history: HistoryStart | null;
}

/** The sections that compare servers which are all there. */
async function sectionsOf(bench: Bench, { sides, pairs }: Sides): Promise<readonly IngestFigure[]> {
  const { sections, seconds } = bench.options;
  const figures: IngestFigure[] = [];
  for (const shape of ['single', 'batch'] as const) {
    if (!sections.includes(shape)) continue;
    const load = { ...baseLoad(seconds), ...shapes[shape] };
    figures.push(await compare(bench, { section: titles[shape], load, sides, pairs }));
  }
  if (sections.includes('latency')) {
    const ours = sides.filter(({ name }) => name === 'ours');
    const { postgres } = bench;
    const place = { servers: ours.flatMap(({ servers }) => servers), postgres };
    const known = figures.find(({ section }) => section === titles.single)?.sides['ours'];
    const single = { ...baseLoad(seconds), ...shapes.single };
    const most = (known ?? (await measure(place, single))).messagesPerS;
    const load = { ...single, window: 1000, ratePerS: Math.round(most / 2) };
    const section = `one JSON event at ${load.ratePerS.toLocaleString('en')}/s`;
    const durable = sides.filter(({ name }) => name !== 'bare');
    figures.push(await compare(bench, { section, load, sides: durable, pairs }));
  }
  return figures;
}

/** One bridge and two of them on one database, reached by the same processes of clients. */
async function bridgesOf(bench: Bench, database: string): Promise<readonly IngestFigure[]> {
  const { options, started } = bench;
  const bridges: Server[] = [];
  for (let count = 0; count < 2; count++) bridges.push(await startBridge(database));
  started.push(...bridges);
  const sides = [
    { name: 'one bridge', servers: bridges.slice(0, 1) },
    { name: 'two bridges', servers: bridges },
  ];
  const pairs = [['two bridges', 'one bridge']] as const;
  const figures: IngestFigure[] = [];
  for (const shape of ['single', 'batch'] as const) {
    const load = { ...baseLoad(options.seconds), ...shapes[shape] };
    const section = `bridges: ${titles[shape]}`;
    figures.push(await compare(bench, { section, load, sides, pairs, processes: 2 }));
  }
  return figures;
}

/** Through RabbitMQ: two bridges beside two consumers that only acknowledge. */
async function clusterOf({ seconds, rounds, say }: IngestBenchOptions): Promise<IngestFigure> {
  const section = `cluster: ${titles.single.replace('1,000', '300')}`;
  const runs = await pressCluster({ seconds, rounds }, (side, measured) =>
    say(lineOf(section, side, measured)),
  );
  return figureOf(section, runs, { names: ['bridges', 'consumers'], pairs: [['bridges', 'consumers']] });
}

/** Single events beside other brokers, all of which have a message on its way to the disk before its PUBACK. */
async function othersOf(bench: Bench, database: string): Promise<IngestFigure> {
  const { options, folder, started } = bench;
  const ours = await startBroker({ database, folder, profile: options.profile });
  started.push(ours);
  const others = await startOthers(folder);
  try {
    return await compare(bench, {
      section: `others: ${titles.single}`,
      load: { ...baseLoad(options.seconds), ...shapes.single },
      sides: [{ name: 'ours', servers: [ours] }, ...others],
      pairs: others.map(({ name }) => ['ours', name]),
    });
  } finally {
    for (const other of others) await other.close();
  }
}

async function openSides(bench: Bench, database: string): Promise<Sides> {
  const { options, folder, started } = bench;
  const stored = (await bench.postgres?.create()) ?? join(folder, 'physical.db');
  const bare = await startBare('none', '');
  started.push(bare);
  const physical = await startBare('stored', stored);
  started.push(physical);
  const ours = await startBroker({ database, folder, profile: options.profile });
  started.push(ours);
  return {
    sides: [
      { name: 'bare', servers: [bare] },
      { name: 'physical', servers: [physical] },
      { name: 'ours', servers: [ours] },
    ],
    pairs: [
      ['ours', 'physical'],
      ['ours', 'bare'],
    ],
    history: null,
  };
}

/** A broker on a copy of the database with history, beside the one on an empty database. */
async function openHistory(
  bench: Bench,
  { database, file }: { readonly database: string; readonly file: string },
): Promise<Sides> {
  const { options, folder, started } = bench;
  const copy = join(folder, 'history.db');
  options.say(`copying ${file}`);
  const fromMs = performance.now();
  copyDatabase(file, copy);
  const copyMs = performance.now() - fromMs;
  const wish = { database: copy, folder, profile: null, limitMs: migrationMs };
  const first = await startBroker(wish);
  await stop(first);
  const second = await startBroker(wish);
  await stop(second);
  const store = await openDatabase({ database: copy, environment: {}, use: 'command' });
  const events = await lastEventNo(store);
  await furnish(store);
  const history = await startBroker({ ...wish, profile: options.profile });
  started.push(history);
  const empty = await startBroker({ database, folder, profile: null });
  started.push(empty);
  const { readyMs: firstMs } = first;
  return {
    sides: [
      { name: 'ours', servers: [empty] },
      { name: 'history', servers: [history] },
    ],
    pairs: [['history', 'ours']],
    history: { events, bytes: statSync(file).size, copyMs, firstMs, secondMs: second.readyMs },
  };
}

/** Measures with a fresh database, and with a copy of the one that is named. */
export async function benchIngest(options: IngestBenchOptions): Promise<IngestBenchResult> {
  const [loadBefore = 0] = loadavg();
  const { sections, store, database: file } = options;
  if (file !== null && store === 'postgres') throw new Error('a database with history is an SQLite file');
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-ingest-'));
  const postgres = store === 'postgres' ? await startPostgres(postgresSettings) : null;
  const started: Server[] = [];
  const bench: Bench = { options, folder, postgres, started };
  try {
    const database = (await postgres?.create()) ?? join(folder, 'broker.db');
    await furnish(await openDatabase({ database, environment: {}, use: 'command' }));
    let history: HistoryStart | null = null;
    const figures: IngestFigure[] = [];
    if (sections.some((section) => !isApart.has(section))) {
      const opened =
        file === null ? await openSides(bench, database) : await openHistory(bench, { database, file });
      ({ history } = opened);
      figures.push(...(await sectionsOf(bench, opened)));
      // A broker with a listener of its own has its database for itself.
      for (const server of started.splice(0)) await stop(server);
    }
    if (postgres !== null && sections.includes('bridges'))
      figures.push(...(await bridgesOf(bench, database)));
    if (sections.includes('others')) figures.push(await othersOf(bench, database));
    if (sections.includes('cluster')) figures.push(await clusterOf(options));
    return { figures, history, store, loadBefore, loadAfter: loadavg()[0] ?? 0 };
  } finally {
    for (const server of started) await stop(server);
    await postgres?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
