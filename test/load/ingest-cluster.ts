// Events through a cluster, all of it on this machine: three RabbitMQ nodes with the configuration that the repository ships,
// PostgreSQL, and two bridges that store; beside them two consumers that only acknowledge. The vehicles press as fast as the
// cluster takes, and counted is what came out of the queue meanwhile: a queue that grows counts for nothing.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { queues } from '../../broker/adapters/cluster/rabbitmq-topology.ts';
import { numberOf } from '../../broker/store/base/row.ts';
import { noEventLimits } from '../../simulator/broker-process.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import type { Database } from '../../src/ports.ts';
import {
  type BridgeSetup,
  createAccount,
  startBalancer,
  startBridge,
} from '../support/cluster/cluster-bridge.ts';
import { type RabbitBench, startRabbit } from '../support/cluster/rabbitmq.ts';
import { type PostgresBench, startPostgres } from '../support/database/postgres.ts';
import { everyEvent } from '../support/database/stored-events.ts';
import { freePort } from '../support/machine/free-port.ts';
import type { ConsumerOrder } from './cluster-consumer.ts';
import { furnish, ingestAccount, type Measured, measure, postgresSettings } from './ingest-servers.ts';

/** That of the bridges unless the operator says another. */
const prefetch = 2000;
const clients = 300;
const warmupS = 3;

/** What empties the queue. */
interface Takers {
  readonly pids: readonly number[];
  /** Events that it took so far. */
  taken(): Promise<number>;
  end(): Promise<void>;
}

interface Cluster {
  readonly rabbit: RabbitBench;
  readonly postgres: PostgresBench;
  readonly database: string;
  readonly db: Database;
  readonly folder: string;
  readonly authPort: number;
}

async function countOf(db: Database): Promise<number> {
  const events = await everyEvent(db);
  const [row] = await db.read({ sql: `SELECT COUNT(*) AS n FROM ${events.sql}`, params: [] });
  return row === undefined ? 0 : numberOf(row, 'n');
}

async function startBridges({ rabbit, database, db, folder, authPort }: Cluster): Promise<Takers> {
  const setup: BridgeSetup = { folder, database, rabbit, flags: noEventLimits };
  const bridges = [await startBridge(setup), await startBridge(setup)];
  const balancer = await startBalancer(authPort, () => bridges.map((bridge) => bridge.authPort));
  return {
    pids: bridges.map(({ program }) => program.pid),
    taken: () => countOf(db),
    async end() {
      for (const { program } of bridges) program.signal('SIGTERM');
      await Promise.all(bridges.map(({ program }) => program.ended()));
      await balancer.close();
    },
  };
}

/** Two consumers, and an authentication server that allows every login. */
async function startConsumers({ rabbit, authPort }: Cluster): Promise<Takers> {
  const authServer: HttpServer = createServer((_request, response) => void response.end('allow'));
  await new Promise<void>((resolve) => authServer.listen(authPort, '127.0.0.1', resolve));
  const children: ChildProcess[] = [];
  const counts = [0, 0];
  for (const at of counts.keys()) {
    const order: ConsumerOrder = {
      port: rabbit.nodes[at]?.amqps ?? 0,
      tls: rabbit.tls,
      queue: queues.events.name,
      prefetch,
    };
    const script = new URL('./cluster-consumer.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        counts[at] = Number(line);
        resolve();
      });
      child.once('exit', (code) => reject(new Error(`a consumer ended with ${code}`)));
    });
  }
  return {
    pids: children.map(({ pid = 0 }) => pid),
    taken: async () => counts.reduce((sum, count) => sum + count, 0),
    async end() {
      const ended = children.map((child) => new Promise((resolve) => void child.once('exit', resolve)));
      for (const child of children) child.kill('SIGTERM');
      await Promise.all(ended);
      authServer.closeAllConnections();
      await new Promise((resolve) => void authServer.close(resolve));
    },
  };
}

/** Waits until nothing is left for the next side. */
async function drain({ taken }: Takers): Promise<void> {
  for (let [before, now] = [-1, await taken()]; now > before; [before, now] = [now, await taken()])
    await sleep(2000);
}

async function press({ rabbit, postgres }: Cluster, takers: Takers, seconds: number): Promise<Measured> {
  const { accountID, secret } = ingestAccount;
  const load = { accountID, secret, clients, window: 10, form: 'json', batch: 1, ratePerS: null } as const;
  const servers = rabbit.nodes.map(({ mqtt }, at) => ({ port: mqtt, child: { pid: takers.pids[at] ?? 0 } }));
  let counted = 0;
  let tookMs = 0;
  const onBegun = async (): Promise<void> => {
    const [from, fromMs] = [await takers.taken(), performance.now()];
    await sleep(seconds * 1000 - 500);
    counted = (await takers.taken()) - from;
    tookMs = performance.now() - fromMs;
  };
  const whole = { ...load, warmupS, seconds };
  const measured = await measure({ servers, postgres }, whole, servers.length, onBegun);
  const eventsPerS = (counted * 1000) / tookMs;
  const share = measured.eventsPerS / eventsPerS;
  const { cpuUs, databaseUs, loadUs } = measured;
  await drain(takers);
  return {
    ...measured,
    eventsPerS,
    cpuUs: cpuUs * share,
    databaseUs: databaseUs * share,
    loadUs: loadUs * share,
  };
}

/** Runs both sides in turn. Needs RabbitMQ, PostgreSQL and a build. */
export async function pressCluster(
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
  tell: (side: string, measured: Measured) => void,
): Promise<readonly Readonly<Record<string, Measured>>[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-cluster-'));
  const postgres = await startPostgres(postgresSettings);
  const authPort = await freePort();
  let rabbit: RabbitBench | null = null;
  let db: Database | null = null;
  try {
    const database = await postgres.create();
    rabbit = await startRabbit({ count: 3, authPort });
    await furnish(await openPostgres({ url: database }));
    createAccount({ folder, database, rabbit });
    db = await openPostgres({ url: database });
    const cluster = { rabbit, postgres, database, db, folder, authPort };
    // The bridges come first: they make the queues.
    const runs: Readonly<Record<string, Measured>>[] = [];
    for (let round = 0; round < rounds; round++) {
      const run: Record<string, Measured> = {};
      for (const side of ['bridges', 'consumers'] as const) {
        const takers = await (side === 'bridges' ? startBridges : startConsumers)(cluster);
        try {
          const measured = await press(cluster, takers, seconds);
          run[side] = measured;
          tell(side, measured);
        } finally {
          await takers.end();
        }
      }
      runs.push(run);
    }
    return runs;
  } finally {
    await db?.close();
    await rabbit?.close();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
