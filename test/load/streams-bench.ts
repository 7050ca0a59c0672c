// The streams bench: many apps, each with a live stream, while vehicles report. Acknowledgements with and without the streams turn
// by turn against one broker, and the memory that a stream takes. It ends every process that it started.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrations } from '../../broker/migrations.ts';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { migrate } from '../../src/migrate.ts';
import {
  type BenchResult,
  type Figure,
  figuresFrom,
  onMachine,
  percentile,
  type Say,
} from './agent-figures.ts';
import { furnishUser } from './fleet-users.ts';
import { furnishAccount, furnishDevices, ingestAccount, type Measured, measure } from './ingest-servers.ts';
import { type MeasuredProcess, serviceFlags, startClients, startMeasured } from './measured-process.ts';
import type { StreamsAnswer, StreamsOrder } from './streams-client.ts';

export interface StreamsBenchOptions {
  readonly streams: number;
  readonly accounts: number;
  readonly ratePerS: number;
  readonly clients: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly say: Say;
}

/** Streams of one user, as many as may be open. */
const eachUser = 5;
const warmupS = 2;

const accountOf = (index: number): string => `fleet-${index}`;
const deviceOf = (index: number): string => `truck-${String(index).padStart(5, '0')}`;

/** Accounts, their vehicles and the sessions of their users; gives a token for each stream. */
async function furnishAll(database: string, options: StreamsBenchOptions): Promise<readonly string[]> {
  const { accounts, clients, streams } = options;
  const db = await openDatabase({ database, environment: {}, use: 'command' });
  await migrate(db, migrations);
  const tokens: string[] = [];
  for (let index = 0; index < accounts; index++) {
    const accountID = accountOf(index);
    await furnishAccount(db, accountID);
    const all = Array.from({ length: clients }, (_unused, at) => at);
    await furnishDevices(db, accountID, all.filter((at) => at % accounts === index).map(deviceOf));
    const share = Math.ceil((streams - tokens.length) / (accounts - index));
    for (let user = 0; user * eachUser < share; user++) {
      const app = { accountID, userID: `app-${user}`, role: 'viewer', sessions: 1 } as const;
      const [token = ''] = await furnishUser(db, app);
      const left = Math.min(eachUser, share - user * eachUser);
      tokens.push(...Array.from({ length: left }, () => token));
    }
  }
  await db.close();
  return tokens;
}

interface Rounds {
  readonly without: Measured[];
  readonly beside: Measured[];
  readonly idleKiB: number[];
  readonly busyKiB: number[];
  readonly messagesPerS: number[];
  readonly bytesPerS: number[];
  /** Longest delay of the broker's loop that it made itself, ms. */
  readonly quietLoopMs: number[];
  readonly busyLoopMs: number[];
}

/** One run without streams, one with them. */
async function runPair(
  {
    broker,
    tokens,
    options,
  }: { broker: MeasuredProcess; tokens: readonly string[]; options: StreamsBenchOptions },
  rounds: Rounds,
): Promise<void> {
  const { accounts, clients, ratePerS, seconds, say } = options;
  const place = { servers: [{ child: { pid: broker.pid }, port: broker.mqttPort }], postgres: null };
  const load = {
    ...ingestAccount,
    accountIDs: Array.from({ length: accounts }, (_unused, at) => accountOf(at)),
    clients,
    window: 50,
    form: 'json',
    batch: 1,
    warmupS,
    seconds,
    ratePerS,
  } as const;
  const apps = await startClients<Record<StreamsOrder['kind'], StreamsAnswer>>('./streams-client.js');
  try {
    say('without streams');
    await broker.look();
    rounds.without.push(await measure(place, load));
    rounds.quietLoopMs.push((await broker.look()).loopOwnMostMs);
    const empty = await broker.collect();
    say(`${tokens.length} streams open`);
    const { open } = await apps.ask({ kind: 'open', port: broker.httpPort ?? 0, tokens });
    if (open < tokens.length) throw new Error(`${open} of ${tokens.length} streams are open`);
    await sleep(2000);
    const perStream = ({ rss }: { readonly rss: number }): number => (rss - empty.rss) / 1024 / tokens.length;
    rounds.idleKiB.push(perStream(await broker.collect()));
    await apps.ask({ kind: 'count' });
    await broker.look();
    const fromMs = performance.now();
    rounds.beside.push(await measure(place, load));
    rounds.busyLoopMs.push((await broker.look()).loopOwnMostMs);
    const tookS = (performance.now() - fromMs) / 1000;
    const counted = await apps.ask({ kind: 'count' });
    if (counted.open < tokens.length) throw new Error(`${counted.open} of ${tokens.length} streams are left`);
    rounds.messagesPerS.push(counted.messages / tookS);
    rounds.bytesPerS.push(counted.bytes / tookS);
    rounds.busyKiB.push(perStream(await broker.collect()));
    await apps.ask({ kind: 'drop' });
    await sleep(1500);
  } finally {
    await apps.close();
  }
}

function figuresIn(rounds: Rounds): readonly Figure[] {
  const middle = (values: readonly number[]): number => percentile(values, 0.5);
  const of = (side: readonly Measured[], value: (one: Measured) => number): number => middle(side.map(value));
  const p99 = (side: readonly Measured[]): number => of(side, (one) => one.p99Ms);
  const section = 'streams';
  const ratio = p99(rounds.beside) / p99(rounds.without);
  return figuresFrom(section, 'without streams', [
    [
      'acknowledgement, p50',
      'ms',
      of(rounds.beside, (one) => one.p50Ms),
      of(rounds.without, (one) => one.p50Ms),
    ],
    ['acknowledgement, p99', 'ms', p99(rounds.beside), p99(rounds.without)],
    ['p99 to that without streams', 'times', ratio, undefined, 1.3],
    [
      'events stored',
      '/s',
      of(rounds.beside, (one) => one.eventsPerS),
      of(rounds.without, (one) => one.eventsPerS),
    ],
    ['failures of vehicles', '', of(rounds.beside, (one) => one.failures), undefined, 0],
    [
      'CPU of the broker for an event',
      'us',
      of(rounds.beside, (one) => one.cpuUs),
      of(rounds.without, (one) => one.cpuUs),
    ],
    ["longest own delay of the broker's loop", 'ms', middle(rounds.busyLoopMs), middle(rounds.quietLoopMs)],
    ['messages to apps', '/s', middle(rounds.messagesPerS)],
    ['bytes to apps', 'MB/s', middle(rounds.bytesPerS) / 1e6],
    ['memory of an idle stream', 'KiB', middle(rounds.idleKiB), undefined, 64],
    ['memory of a stream after the load', 'KiB', middle(rounds.busyKiB), undefined, 64],
  ]);
}

async function measureRounds(options: StreamsBenchOptions): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-streams-'));
  const database = join(folder, 'fleet.db');
  const rounds: Rounds = {
    without: [],
    beside: [],
    idleKiB: [],
    busyKiB: [],
    messagesPerS: [],
    bytesPerS: [],
    quietLoopMs: [],
    busyLoopMs: [],
  };
  let broker: MeasuredProcess | null = null;
  try {
    options.say('accounts, vehicles and users are made');
    const tokens = await furnishAll(database, options);
    const quiet = ['--http-port', '0', '--mqtt-port', '0', '--log-level', 'info'];
    broker = await startMeasured(
      '../../broker/main.js',
      ['start', '--database', database, ...quiet],
      serviceFlags,
    );
    for (let round = 0; round < options.rounds; round++) {
      options.say(`round ${round + 1} of ${options.rounds}`);
      await runPair({ broker, tokens, options }, rounds);
    }
  } finally {
    await broker?.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return figuresIn(rounds);
}

/** Runs all rounds against one broker. */
export const benchStreams = (options: StreamsBenchOptions): Promise<BenchResult> =>
  onMachine(() => measureRounds(options));
