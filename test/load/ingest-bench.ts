// The ingest bench: what a real broker process stores and acknowledges a second, against bare aedes that stores nothing and
// against the physical path (`bare-mqtt.ts`), turn by turn on the same cores. CPU time is told beside the rates: it says the
// same when the machine is busy with other things.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createAccount } from '../../broker/accounts/administration.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { hashSecret } from '../../broker/device-secret.ts';
import { insertDevice } from '../../broker/store/devices.ts';
import { migrations } from '../../broker/store/migrations.ts';
import { openDatabase } from '../../src/adapters/database.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { startPostgres } from '../support/postgres.ts';
import type { IngestLoad, IngestLoadResult } from './ingest-client.ts';

export const ingestSections = ['single', 'batch', 'latency'] as const;
type Section = (typeof ingestSections)[number];

export interface IngestBenchOptions {
  readonly sections: readonly Section[];
  readonly store: 'sqlite' | 'postgres';
  /** A database with history to work on; null: an empty one. */
  readonly database: string | null;
  readonly seconds: number;
  readonly rounds: number;
  /** Folder for CPU profiles of the broker, one a thread; null: none. */
  readonly profile: string | null;
  readonly say: (text: string) => void;
}

type Side = 'bare' | 'physical' | 'ours';

interface Measured extends IngestLoadResult {
  /** CPU time of the server, all threads, for one event. */
  readonly cpuUs: number;
  /** The same of the load, which shares the cores. */
  readonly loadUs: number;
}

export interface IngestFigure {
  readonly section: string;
  readonly sides: Readonly<Partial<Record<Side, Measured>>>;
  /** Events a second, ours to the physical path and to bare aedes, medians of the rounds; null where not compared. */
  readonly toPhysical: number | null;
  readonly toBare: number | null;
}

export interface IngestBenchResult {
  readonly figures: readonly IngestFigure[];
  readonly store: string;
  readonly loadBefore: number;
  readonly loadAfter: number;
}

const accountID = 'bench';
const secret = 'bench-secret-of-all-its-devices';
const devices = 1000;
const shapes = {
  single: { clients: devices, window: 10, form: 'json', batch: 1 },
  batch: { clients: 200, window: 4, form: 'protobuf', batch: 50 },
} as const;

// As built: this file is dist/test/load/ingest-bench.js.
const program = (path: string): string => new URL(path, import.meta.url).pathname;
const deviceOf = (index: number): string => `truck-${String(index).padStart(5, '0')}`;

/** Makes the account and the devices that are missing, and gives all of them one secret. */
async function furnish(db: Database): Promise<void> {
  const ports = {
    db,
    clock: createSystemClock(),
    entropy: createSystemEntropy(),
    passwords: createPasswords(),
  };
  await migrate(db, migrations);
  const known = await db.read(sql`SELECT 1 AS one FROM accounts WHERE account_id = ${accountID}`);
  if (known.length === 0)
    await createAccount(ports, { accountID, userID: 'admin', password: 'a long bench password' });
  for (let first = 0; first < devices; first += 100) {
    const some = Array.from({ length: 100 }, (_unused, at) => deviceOf(first + at));
    await db.write(some.flatMap((deviceID) => insertDevice({ accountID, deviceID }, { createdS: 1 })));
  }
  await db.write([
    sql`UPDATE devices SET secret_hash = ${hashSecret(secret)} WHERE account_id = ${accountID}`,
  ]);
  await db.close();
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
}

async function start(args: readonly string[], portOf: (line: string) => number | null): Promise<Server> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = portOf(line);
      if (found !== null) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}`)));
  });
  return { child, port };
}

async function stop({ child }: Server): Promise<void> {
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  child.stdin?.end();
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

function mqttPortIn(line: string): number | null {
  try {
    return (JSON.parse(line) as { readonly mqttPort?: number }).mqttPort ?? null;
  } catch {
    return null;
  }
}

const startBroker = (database: string, profile: string | null): Promise<Server> =>
  start(
    [
      // As the service manager starts it.
      '--max-semi-space-size=64',
      ...(profile === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
      program('../../broker/main.js'),
      'start',
      `--database=${database}`,
      '--http-port=0',
      '--mqtt-port=0',
      '--log-level=info',
    ],
    mqttPortIn,
  );
const startBare = (mode: string, path: string): Promise<Server> =>
  start([program('./bare-mqtt.js'), mode, path], (line) => Number(line) || null);

/** CPU time of a process so far, in ms (proc(5): fields 14 and 15 of `stat`, in ticks of 10 ms). */
function cpuMsOf(pid: number | undefined): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const parts = fields.split(' ');
  return (Number(parts[11]) + Number(parts[12])) * 10;
}

/** Runs the load once; CPU time is that between its `begin` and its `end`, so that logins do not count. */
async function measure({ child, port }: Server, load: Omit<IngestLoad, 'port'>): Promise<Measured> {
  const client = spawn(process.execPath, [program('./ingest-client.js'), JSON.stringify({ ...load, port })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const used = (): readonly number[] => [child, client].map(({ pid }) => cpuMsOf(pid));
  let from: readonly number[] = [];
  let to: readonly number[] = [];
  let result: IngestLoadResult | null = null;
  createInterface({ input: client.stdout }).on('line', (line) => {
    if (line === 'begin') from = used();
    else if (line === 'end') to = used();
    else result = JSON.parse(line) as IngestLoadResult;
  });
  const code = await new Promise((resolve) => void client.once('close', resolve));
  if (code !== 0 || result === null) throw new Error(`the load ended with ${String(code)}`);
  const counted = result as IngestLoadResult;
  const [cpuUs = 0, loadUs = 0] = to.map(
    (ms, at) => ((ms - (from[at] ?? 0)) * 1000) / Math.max(1, counted.eventsPerS * load.seconds),
  );
  return { ...counted, cpuUs, loadUs };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const middle = (runs: readonly Measured[]): Measured => ({
  messagesPerS: median(runs.map((run) => run.messagesPerS)),
  eventsPerS: median(runs.map((run) => run.eventsPerS)),
  p50Ms: median(runs.map((run) => run.p50Ms)),
  p99Ms: median(runs.map((run) => run.p99Ms)),
  highestMs: Math.max(...runs.map((run) => run.highestMs)),
  failures: runs.reduce((sum, { failures }) => sum + failures, 0),
  cpuUs: median(runs.map((run) => run.cpuUs)),
  loadUs: median(runs.map((run) => run.loadUs)),
});

interface Place {
  readonly servers: Readonly<Record<Side, Server>>;
  readonly options: IngestBenchOptions;
}

/** Each side in turn, several times. */
async function compare(
  { servers, options }: Place,
  section: string,
  of: { readonly load: Omit<IngestLoad, 'port'>; readonly sides: readonly Side[] },
): Promise<IngestFigure> {
  const runs: Partial<Record<Side, Measured>>[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const run: Partial<Record<Side, Measured>> = {};
    for (const side of of.sides) {
      const measured = await measure(servers[side], of.load);
      run[side] = measured;
      const { eventsPerS, p99Ms, cpuUs } = measured;
      options.say(
        `${section}, ${side}: ${Math.round(eventsPerS)} events/s, p99 ${p99Ms.toFixed(1)} ms, ${cpuUs.toFixed(2)} us CPU each`,
      );
    }
    runs.push(run);
  }
  const sides: Partial<Record<Side, Measured>> = {};
  for (const side of of.sides) sides[side] = middle(runs.flatMap((run) => run[side] ?? []));
  const ratio = (to: Side): number | null =>
    of.load.ratePerS !== null || !of.sides.includes(to)
      ? null
      : median(runs.map((run) => (run.ours?.eventsPerS ?? 0) / (run[to]?.eventsPerS ?? Number.NaN)));
  return { section, sides, toPhysical: ratio('physical'), toBare: ratio('bare') };
}

async function sectionsOf(place: Place): Promise<readonly IngestFigure[]> {
  const { sections, seconds } = place.options;
  const base = { accountID, secret, warmupS: 1.5, seconds, ratePerS: null };
  const figures: IngestFigure[] = [];
  const all = ['bare', 'physical', 'ours'] as const;
  if (sections.includes('single')) {
    const load = { ...base, ...shapes.single };
    figures.push(await compare(place, 'one JSON event, 1,000 clients', { load, sides: all }));
  }
  if (sections.includes('batch')) {
    const load = { ...base, ...shapes.batch };
    figures.push(await compare(place, '50 events in protobuf, 200 clients', { load, sides: all }));
  }
  if (sections.includes('latency')) {
    const known = figures[0]?.sides.ours?.messagesPerS;
    const most = known ?? (await measure(place.servers.ours, { ...base, ...shapes.single })).messagesPerS;
    const load = { ...base, ...shapes.single, window: 1000, ratePerS: Math.round(most / 2) };
    const title = `one JSON event at ${load.ratePerS.toLocaleString('en')}/s`;
    figures.push(await compare(place, title, { load, sides: ['physical', 'ours'] }));
  }
  return figures;
}

/** Measures with a fresh database, or with the one that is named. */
export async function benchIngest(options: IngestBenchOptions): Promise<IngestBenchResult> {
  const [loadBefore = 0] = loadavg();
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-ingest-'));
  const postgres =
    options.store === 'postgres'
      ? await startPostgres({ shared_buffers: '256MB', max_wal_size: '4GB', min_wal_size: '1GB' })
      : null;
  const servers: Partial<Record<Side, Server>> = {};
  try {
    const database = options.database ?? (await postgres?.create()) ?? join(folder, 'broker.db');
    await furnish(await openDatabase({ database, environment: {}, use: 'command' }));
    servers.bare = await startBare('none', '');
    servers.physical = await startBare('stored', join(folder, 'physical.db'));
    servers.ours = await startBroker(database, options.profile);
    const place = { servers: servers as Record<Side, Server>, options };
    const figures = await sectionsOf(place);
    return { figures, store: options.store, loadBefore, loadAfter: loadavg()[0] ?? 0 };
  } finally {
    for (const server of Object.values(servers)) await stop(server);
    await postgres?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The figures as a table. */
export function formatIngest({ figures, store, loadBefore, loadAfter }: IngestBenchResult): string {
  const head = `${'section'.padEnd(36)} ${'side'.padEnd(9)} ${'events/s'.padStart(10)} ${'p50 ms'.padStart(8)} ${'p99 ms'.padStart(8)} ${'highest'.padStart(8)} ${'cpu us'.padStart(8)} ${'load us'.padStart(8)} ${'failed'.padStart(6)}`;
  const rows = figures.flatMap(({ section, sides, toPhysical, toBare }) => [
    ...Object.entries(sides).map(([side, one]) =>
      [
        section.padEnd(36),
        side.padEnd(9),
        Math.round(one.eventsPerS).toLocaleString('en').padStart(10),
        one.p50Ms.toFixed(1).padStart(8),
        one.p99Ms.toFixed(1).padStart(8),
        one.highestMs.toFixed(1).padStart(8),
        one.cpuUs.toFixed(2).padStart(8),
        one.loadUs.toFixed(2).padStart(8),
        String(one.failures).padStart(6),
      ].join(' '),
    ),
    ...(toPhysical === null
      ? []
      : [
          `${''.padEnd(36)} ours to the physical path ${toPhysical.toFixed(2)}, to bare aedes ${toBare?.toFixed(2)}`,
        ]),
  ]);
  const load = `load of the machine ${loadBefore.toFixed(1)} before and ${loadAfter.toFixed(1)} after`;
  return [head, ...rows, '', `${store}, ${load}`].join('\n');
}
