// The latency bench: from a command's HTTP request to the relay of a simulated online vehicle, without anything else to do and
// while other vehicles report; beside it what a bare MQTT broker takes for one message. It ends every process that it started.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadSigningKey } from '../../broker/adapters/keys/signing-key-file.ts';
import { migrations } from '../../broker/migrations.ts';
import { openDatabase } from '../../src/adapters/database/database.ts';
import { migrate } from '../../src/migrate.ts';
import type { Say } from './agent-figures.ts';
import { writeAgentFile } from './agent-rig.ts';
import {
  furnish,
  furnishAccount,
  furnishDevices,
  ingestAccount,
  type Measured,
  measure,
  type Server,
  startBare,
  startBroker,
  stop,
} from './ingest-servers.ts';
import {
  type Caller,
  commandsEach,
  createWitness,
  giveCommands,
  openService,
  type Service,
  secondsOfCommands,
} from './latency-commands.ts';
import { byOrder, figuresOf, type LatencyBenchResult, type LatencyPart } from './latency-figures.ts';
import type { FleetNews, VehicleOrder } from './latency-types.ts';

export interface LatencyBenchOptions {
  /** Commands without load, and as many under it. */
  readonly commands: number;
  /** Events a second of the load, one a message. */
  readonly ratePerS: number;
  /** Its connections, at most 1,000. */
  readonly clients: number;
  readonly say: Say;
}

const startMs = 60_000;
/** First fix, then ten seconds of ignition off and of standstill (`interlockLimits`). */
const proofMs = 20_000;
const leadS = 3;

interface Stage {
  readonly folder: string;
  readonly broker: Server;
  readonly service: Service;
  readonly publicKey: string;
  readonly options: LatencyBenchOptions;
}

const accountOf = (index: number): string => `fleet-${index}`;

/** Each vehicle has an account, so that no limit of people stands against the commands. */
async function furnishAll(database: string, parts: readonly string[], vehicles: number): Promise<void> {
  const db = await openDatabase({ database, environment: {}, use: 'command' });
  await migrate(db, migrations);
  for (let index = 0; index < vehicles; index++) {
    await furnishAccount(db, accountOf(index));
    const deviceIDs = parts.map((part) => `${part}-${index}`);
    await furnishDevices(db, accountOf(index), deviceIDs);
  }
  await furnish(db);
}

async function logIn(service: Service, accountID: string): Promise<string> {
  const body = { accountID, userID: 'admin', password: ingestAccount.password };
  const answer = await service.ask({ path: '/auth/login', token: '', body });
  const { token } = answer.body;
  if (typeof token !== 'string') throw new Error(`login: ${answer.status} ${JSON.stringify(answer.body)}`);
  return token;
}

/** Vehicles in a process of their own. */
async function startVehicles(
  orders: readonly VehicleOrder[],
  onCommit: (news: FleetNews) => void,
): Promise<ChildProcess> {
  const child = fork(fileURLToPath(new URL('./latency-vehicles.js', import.meta.url)));
  child.on('message', onCommit);
  const up = new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the vehicles did not connect')), startMs);
    child.on('message', ({ kind }: FleetNews) => {
      if (kind !== 'up') return;
      clearTimeout(late);
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`the vehicles ended with ${code}`)));
  });
  child.send({ vehicles: orders });
  await up.catch((thrown: unknown) => {
    child.kill('SIGKILL');
    throw thrown;
  });
  return child;
}

async function endVehicles(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  child.send('end');
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
  await ended;
  clearTimeout(late);
}

async function callersOf(stage: Stage, name: string, count: number): Promise<readonly Caller[]> {
  const callers: Caller[] = [];
  for (let index = 0; index < count; index++) {
    callers.push({
      deviceID: `${name}-${index}`,
      token: await logIn(stage.service, accountOf(index)),
    });
  }
  return callers;
}

function filesOf({ folder, broker, publicKey }: Stage, callers: readonly Caller[]): readonly VehicleOrder[] {
  return callers.map(({ deviceID }, index) => {
    const own = join(folder, deviceID);
    mkdirSync(own);
    const { secret } = ingestAccount;
    const at = {
      folder: own,
      mqttPort: broker.port,
      secret,
      publicKey,
      accountID: accountOf(index),
      deviceID,
    };
    return { deviceID, file: writeAgentFile(at).path };
  });
}

async function runPart(stage: Stage, name: string, ratePerS: number | null): Promise<LatencyPart> {
  const { broker, service, options } = stage;
  const { say, commands, clients } = options;
  const callers = await callersOf(stage, name, Math.ceil(commands / commandsEach));
  const witness = createWitness();
  let truth: LatencyPart['truth'] = null;
  const child = await startVehicles(filesOf(stage, callers), (news) => {
    if (news.kind === 'truth') truth = news;
    witness.note(news);
  });
  try {
    say(`${name}: ${callers.length} vehicles are parked; ${proofMs / 1000} s until they have proven it`);
    await sleep(proofMs);
    const { accountID, secret } = ingestAccount;
    const shape = { accountID, secret, clients, window: 100, form: 'json', batch: 1 } as const;
    const seconds = secondsOfCommands + leadS;
    const loading =
      ratePerS === null
        ? Promise.resolve(null)
        : measure({ servers: [broker], postgres: null }, { ...shape, warmupS: leadS, seconds, ratePerS });
    loading.catch(() => undefined);
    await sleep(leadS * 2000);
    child.send('look');
    say(`${name}: ${commands} commands within ${secondsOfCommands} s`);
    const seen = await giveCommands({ service, witness }, callers, commands);
    const load = await loading;
    await endVehicles(child);
    return { name, commands: seen, load, truth };
  } finally {
    await endVehicles(child);
  }
}

/** One client, one message at a time, at an MQTT server that stores nothing. */
async function measureFloor(bare: Server): Promise<Measured> {
  const { accountID, secret } = ingestAccount;
  const shape = { accountID, secret, clients: 1, window: 1, form: 'json', batch: 1 } as const;
  return measure({ servers: [bare], postgres: null }, { ...shape, warmupS: 0.5, seconds: 2, ratePerS: null });
}

/** Measures; some three minutes. @throws Error when the service refuses a command. */
export async function benchLatency(options: LatencyBenchOptions): Promise<LatencyBenchResult> {
  const [loadBefore = 0] = loadavg();
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-latency-'));
  const database = join(folder, 'broker.db');
  const started: Server[] = [];
  try {
    await furnishAll(database, ['alone', 'loaded'], Math.ceil(options.commands / commandsEach));
    const { publicKey } = loadSigningKey(`${database}.signing-key.pem`);
    const bare = await startBare('none', '');
    started.push(bare);
    const floor = await measureFloor(bare);
    const broker = await startBroker({ database, folder, profile: null });
    started.push(broker);
    const service = openService(broker.httpPort);
    const stage: Stage = { folder, broker, service, publicKey, options };
    const parts = [await runPart(stage, 'alone', null), await runPart(stage, 'loaded', options.ratePerS)];
    service.close();
    const echo = { section: 'floor', unit: 'ms' };
    return {
      figures: [
        { ...echo, name: 'PUBLISH to PUBACK at bare aedes, p50', value: floor.p50Ms },
        { ...echo, name: 'PUBLISH to PUBACK at bare aedes, p99', value: floor.p99Ms },
        ...parts.flatMap((part) => figuresOf(part, floor.p50Ms)),
      ],
      orders: parts.flatMap(byOrder),
      unconfirmed: parts.flatMap(({ name, commands }) =>
        commands.flatMap(({ order, confirmedMs, ended }) =>
          confirmedMs === null ? [`${name}, ${order}: ${ended}`] : [],
        ),
      ),
      node: process.version,
      cores: availableParallelism(),
      loadBefore,
      loadAfter: loadavg()[0] ?? 0,
    };
  } finally {
    for (const server of started) await stop(server);
    rmSync(folder, { recursive: true, force: true });
  }
}
