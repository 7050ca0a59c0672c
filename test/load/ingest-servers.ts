// Servers of the ingest and latency benches, each a process of its own that is started, measured and ended here: the broker as
// the service manager starts it, and its yardsticks. They listen on loopback and end with whoever started them.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { migrations } from '../../broker/migrations.ts';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { insertDevice } from '../../broker/store/devices/devices.ts';
import { noEventLimits } from '../../simulator/broker-process.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { PostgresBench } from '../support/database/postgres.ts';
import { makeAccount } from './bench-account.ts';
import type { IngestLoad, IngestLoadResult } from './ingest-client.ts';
import { serviceFlags } from './measured-process.ts';
import { cpuMsOf, treeCpuMsOf } from './process-cpu.ts';

export const ingestAccount = {
  accountID: 'bench',
  secret: 'bench-secret-of-all-its-devices',
  devices: 1000,
  password: 'a long bench password',
} as const;

/** As much memory as a small server gives it, and no forced checkpoint within a run. */
export const postgresSettings = { shared_buffers: '256MB', max_wal_size: '4GB', min_wal_size: '1GB' };

// As built: this file is dist/test/load/ingest-servers.js.
const program = (path: string): string => new URL(path, import.meta.url).pathname;
const deviceOf = (index: number): string => `truck-${String(index).padStart(5, '0')}`;

/** An account with an administrator `admin`, unless it is there. */
export async function furnishAccount(db: Database, accountID: string): Promise<void> {
  const known = await db.read(sql`SELECT 1 AS one FROM accounts WHERE account_id = ${accountID}`);
  if (known.length > 0) return;
  await makeAccount(db, { accountID, userID: 'admin', password: ingestAccount.password });
}

/** Makes those devices of an account that are missing, and gives all of them one secret. */
export async function furnishDevices(
  db: Database,
  accountID: string,
  deviceIDs: readonly string[],
): Promise<void> {
  for (let first = 0; first < deviceIDs.length; first += 100) {
    const some = deviceIDs.slice(first, first + 100);
    await db.write(some.flatMap((deviceID) => insertDevice({ accountID, deviceID }, { createdS: 1 })));
  }
  await db.write([
    sql`UPDATE devices SET secret_hash = ${hashSecret(ingestAccount.secret)} WHERE account_id = ${accountID}`,
  ]);
}

/** Brings the tables up to date and makes what the load logs in as. Closes the store. */
export async function furnish(db: Database): Promise<void> {
  const { accountID, devices } = ingestAccount;
  await migrate(db, migrations);
  await furnishAccount(db, accountID);
  await furnishDevices(
    db,
    accountID,
    Array.from({ length: devices }, (_unused, at) => deviceOf(at)),
  );
  await db.close();
}

export interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  /** Of the broker alone; 0 elsewhere. */
  readonly httpPort: number;
  /** From the start of the process until it was ready. */
  readonly readyMs: number;
  /** The newest lines of its log. */
  readonly lines: readonly string[];
}

interface Ports {
  readonly mqttPort: number;
  readonly httpPort?: number;
}

const linesMost = 2000;

async function start(
  args: readonly string[],
  portsIn: (line: string) => Ports | null,
  limitMs = 60_000,
): Promise<Server> {
  const fromMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const ports = await new Promise<Ports>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`a server was not ready within ${limitMs / 1000} s`));
    }, limitMs);
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (lines.length >= linesMost) lines.shift();
      lines.push(line);
      const found = portsIn(line);
      if (found === null) return;
      clearTimeout(timer);
      resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code}`)));
  });
  const { mqttPort: port, httpPort = 0 } = ports;
  return { child, port, httpPort, readyMs: performance.now() - fromMs, lines };
}

export async function stop({ child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  child.stdin?.end();
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

function portsOfBroker(line: string): Ports | null {
  if (!line.includes('"broker_ready"')) return null;
  return JSON.parse(line) as Ports;
}

const portOnly = (line: string): Ports | null => {
  const mqttPort = Number(line);
  return mqttPort > 0 ? { mqttPort } : null;
};

/** @param folder for CPU profiles, one a thread; null: none. */
export const profileFlags = (folder: string | null): readonly string[] =>
  folder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];

export interface BrokerWish {
  readonly database: string;
  /** Where its keys are, for a database that is no file. */
  readonly folder: string;
  /** Folder for CPU profiles, one a thread; null: none. */
  readonly profile: string | null;
  /** Until then it must be ready: the first start with a new release brings the tables up to date. */
  readonly limitMs?: number;
}

export const startBroker = ({ database, folder, profile, limitMs }: BrokerWish): Promise<Server> =>
  start(
    [
      ...serviceFlags,
      ...profileFlags(profile),
      program('../../broker/main.js'),
      'start',
      `--database=${database}`,
      // Those of a file lie beside it.
      ...(/^postgres(ql)?:/.test(database)
        ? [
            `--signing-key-file=${join(folder, 'signing-key.pem')}`,
            `--vapid-key-file=${join(folder, 'vapid-key.pem')}`,
          ]
        : []),
      '--http-port=0',
      '--mqtt-port=0',
      // The bench is one user who asks as fast as he can.
      '--http-rate-per-s=1000000',
      '--http-burst=1000000',
      // It floods on purpose.
      ...noEventLimits,
      '--log-level=info',
    ],
    portsOfBroker,
    limitMs,
  );

/** @param path of the store of `stored`: a file, or the URL of a PostgreSQL database. */
export const startBare = (mode: 'none' | 'stored', path: string): Promise<Server> =>
  start([program('./bare-mqtt.js'), mode, path], portOnly);

/** One of several brokers on a PostgreSQL database. */
export const startBridge = (url: string): Promise<Server> =>
  start([...serviceFlags, program('./bench-bridge.js'), url], portOnly);

export interface Measured extends IngestLoadResult {
  /** CPU time of the server, all threads, for one event. */
  readonly cpuUs: number;
  /** The same of the database's server; 0 when it is a file. */
  readonly databaseUs: number;
  /** The same of the load, which shares the cores. */
  readonly loadUs: number;
}

/** What works while a load runs. */
export interface Place {
  readonly servers: readonly { readonly child: Pick<ChildProcess, 'pid'>; readonly port: number }[];
  /** Null: the database is a file. */
  readonly postgres: PostgresBench | null;
}

/** The process that started all the others (PostgreSQL 15, 19.3: the first line of `postmaster.pid`). */
function pidOf({ folder }: PostgresBench): number {
  return Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

interface Running {
  readonly pid: number;
  readonly begun: Promise<void>;
  readonly ended: Promise<void>;
  readonly result: Promise<IngestLoadResult>;
}

function startLoad(load: IngestLoad): Running {
  const client = spawn(process.execPath, [program('./ingest-client.js'), JSON.stringify(load)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const late = setTimeout(() => client.kill('SIGKILL'), (load.warmupS + load.seconds) * 1000 + 60_000);
  const said = new Map<string, () => void>();
  const until = (word: string): Promise<void> => new Promise((resolve) => void said.set(word, resolve));
  const [begun, ended] = [until('begin'), until('end')];
  let found: IngestLoadResult | null = null;
  createInterface({ input: client.stdout }).on('line', (line) => {
    const tell = said.get(line);
    if (tell === undefined) found = JSON.parse(line) as IngestLoadResult;
    else tell();
  });
  const result = new Promise<IngestLoadResult>((resolve, reject) => {
    client.once('close', (code) => {
      clearTimeout(late);
      for (const tell of said.values()) tell();
      if (code === 0 && found !== null) resolve(found);
      else reject(new Error(`the load ended with ${String(code)}`));
    });
  });
  return { pid: client.pid ?? 0, begun, ended, result };
}

/** Several loads as one: rates add up, of times the worse one counts. */
function together(results: readonly IngestLoadResult[]): IngestLoadResult {
  const sum = (of: (one: IngestLoadResult) => number): number =>
    results.reduce((total, one) => total + of(one), 0);
  const most = (of: (one: IngestLoadResult) => number): number => Math.max(...results.map(of));
  return {
    messagesPerS: sum((one) => one.messagesPerS),
    eventsPerS: sum((one) => one.eventsPerS),
    p50Ms: most((one) => one.p50Ms),
    p99Ms: most((one) => one.p99Ms),
    highestMs: most((one) => one.highestMs),
    failures: sum((one) => one.failures),
  };
}

/**
 * Runs the load once, its clients in so many processes, which take the servers in turn. CPU time is that between `begin`
 * and `end` of the loads, so that logins do not count.
 */
export async function measure(
  { servers, postgres }: Place,
  load: Omit<IngestLoad, 'port'>,
  processes = 1,
  onBegun = async (): Promise<void> => undefined,
): Promise<Measured> {
  const share = Math.floor(load.clients / processes);
  const loads = Array.from({ length: processes }, (_unused, at) => {
    const rate = load.ratePerS === null ? null : load.ratePerS / processes;
    const port = servers[at % servers.length]?.port ?? 0;
    return startLoad({ ...load, port, clients: share, firstClient: at * share, ratePerS: rate });
  });
  const used = (): readonly number[] => [
    servers.reduce((sum, { child }) => sum + cpuMsOf(child.pid ?? 0), 0),
    postgres === null ? 0 : treeCpuMsOf(pidOf(postgres)),
    loads.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
  ];
  await Promise.all(loads.map(({ begun }) => begun));
  const [from, fromMs] = [used(), performance.now()];
  const counting = onBegun();
  await Promise.race(loads.map(({ ended }) => ended));
  const [to, tookMs] = [used(), performance.now() - fromMs];
  await counting;
  const counted = together(await Promise.all(loads.map(({ result }) => result)));
  const events = Math.max(1, (counted.eventsPerS * tookMs) / 1000);
  const [cpuUs = 0, databaseUs = 0, loadUs = 0] = to.map(
    (ms, at) => ((ms - (from[at] ?? 0)) * 1000) / events,
  );
  return { ...counted, cpuUs, databaseUs, loadUs };
}
