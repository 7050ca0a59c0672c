// Three RabbitMQ nodes, two bridges, one PostgreSQL and some hundred vehicles, all real processes on loopback. One after the
// other is killed under load: nothing that was acknowledged is lost, nothing is stored twice, no command is carried out
// twice, and there is no gap over 15 s. Prints its figures. FLEETWARD_TEST_VEHICLES says how many vehicles (300), FLEETWARD_TEST_EVERY_MS
// how often each reports (1500) and FLEETWARD_TEST_LOAD_S how long the load goes on after each step (10).
import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import type { Database } from '../../src/ports.ts';
import {
  type Balancer,
  type Bridge,
  createAccount,
  startBalancer,
  startBridge,
} from '../support/cluster/cluster-bridge.ts';
import {
  addDevices,
  compare,
  type Orders,
  startFleet,
  startOrders,
  watchGaps,
} from '../support/cluster/cluster-fleet.ts';
import type { Vehicle } from '../support/cluster/cluster-vehicle.ts';
import {
  type RabbitBench,
  type RabbitNode,
  rabbitmqMissing,
  startRabbit,
} from '../support/cluster/rabbitmq.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { checkout } from '../support/machine/checkout.ts';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const isBuilt = existsSync(new URL('dist/broker/main.js', checkout).pathname);
const missing = isBuilt ? (rabbitmqMissing ?? postgresMissing) : 'skipped: not built';
const title = `two bridges behind three RabbitMQ nodes${missing === null ? '' : ` (${missing})`}`;
const count = Number(process.env['FLEETWARD_TEST_VEHICLES'] ?? 300);
const everyMs = Number(process.env['FLEETWARD_TEST_EVERY_MS'] ?? 1500);
const loadMs = Number(process.env['FLEETWARD_TEST_LOAD_S'] ?? 10) * 1000;
const gapMostMs = 15_000;
const draining = { timeout: 90_000, interval: 250 } as const;

describe.skipIf(missing !== null)(title, () => {
  const folder = temporaryFolder('cluster');
  const figures: Record<string, unknown>[] = [];
  let rabbit: RabbitBench;
  let postgres: PostgresBench;
  let database = '';
  let db: Database;
  let balancer: Balancer;
  const bridges: Bridge[] = [];
  let fleet: readonly Vehicle[] = [];
  let orders: Orders;
  let gaps: ReturnType<typeof watchGaps>;

  const setup = () => ({ folder, database, rabbit });
  const alive = (): readonly Bridge[] => bridges;
  /** Ends a bridge, which nobody is sent to from then on. */
  const endBridge = async (how: 'SIGKILL' | 'SIGTERM'): Promise<number | null | undefined> => {
    const bridge = bridges.shift();
    bridge?.program.signal(how);
    return bridge?.program.ended();
  };
  const acknowledged = (): number =>
    fleet.reduce((sum, vehicle) => sum + vehicle.books().made - vehicle.books().open, 0);
  /** Lets the load go on while something happens, and notes what it did to the vehicles. */
  const under = async (what: string, act: () => Promise<void>): Promise<void> => {
    gaps.take();
    const [before, sinceMs] = [acknowledged(), Date.now()];
    await act();
    await sleep(loadMs);
    const seconds = (Date.now() - sinceMs) / 1000;
    const gapMs = gaps.take();
    figures.push({
      what,
      seconds: Math.round(seconds),
      perS: Math.round((acknowledged() - before) / seconds),
      gapMs,
    });
    expect(gapMs, `${what}: longest time without an acknowledgement`).toBeLessThan(gapMostMs);
  };
  /** Vehicles with facts that were not acknowledged, and what they do instead. */
  const waitingVehicles = (): readonly object[] =>
    fleet.flatMap((vehicle, at) => {
      const { open, connects } = vehicle.books();
      return open === 0 ? [] : [{ at, open, connects, isConnected: vehicle.client()?.connected === true }];
    });
  const leaderOf = (queue: string): RabbitNode => {
    const lines = rabbit.ctl('list_queues', '-p', 'fleet', 'name', 'leader').split('\n');
    const line = lines.find((one) => one.startsWith(queue)) ?? '';
    const node = rabbit.nodes.find(({ name }) => line.includes(name));
    if (node === undefined) throw new Error(`no leader of ${queue}: ${line}`);
    return node;
  };

  beforeAll(async () => {
    const authPort = await freePort();
    const sinceMs = Date.now();
    const note = (what: string): void => {
      figures.push({ what, seconds: Math.round((Date.now() - sinceMs) / 1000) });
    };
    postgres = await startPostgres();
    rabbit = await startRabbit({ count: 3, authPort });
    note('cluster up');
    database = await postgres.createMigrated();
    createAccount(setup());
    db = await openPostgres({ url: database });
    await addDevices(db, count);
    for (let at = 0; at < 2; at++) bridges.push(await startBridge(setup()));
    balancer = await startBalancer(authPort, () => alive().map((bridge) => bridge.authPort));
    const ports = rabbit.nodes.map(({ mqtt }) => mqtt);
    fleet = await startFleet(count, { ports, everyMs, spreadMs: 5000 });
    await waitUntil('the fleet', () => fleet.every((vehicle) => vehicle.client()?.connected));
    note('fleet up');
    gaps = watchGaps(fleet);
    orders = startOrders(alive, count, 250);
  });

  afterAll(async () => {
    console.table(figures);
    const said = new Map<string, number>();
    for (const { program } of bridges)
      for (const { msg, level } of program.lines) if (level >= 40) said.set(msg, (said.get(msg) ?? 0) + 1);
    console.log('warnings of the bridges', Object.fromEntries(said));
    gaps?.stop();
    await orders?.stop();
    await Promise.all(fleet.map((vehicle) => vehicle.close()));
    for (const { program } of alive()) program.signal('SIGTERM');
    await Promise.all(bridges.map(({ program }) => program.ended()));
    await balancer?.close();
    await db?.close();
    await Promise.all([rabbit?.close(), postgres?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on when a bridge is killed, and when it is back', async () => {
    await under('quiet', () => Promise.resolve());
    await under('bridge killed -9', async () => void (await endBridge('SIGKILL')));
    await under('bridge back', async () => void bridges.push(await startBridge(setup())));
  });

  it('goes on when the node that leads a queue is killed, and when it is back', async () => {
    for (const queue of ['fleetward.events', 'fleetward.sessions']) {
      const node = leaderOf(queue);
      await under(`leader of ${queue} killed -9`, () => node.kill());
      await under('node back', () => node.start());
    }
  });

  it('goes on when PostgreSQL is restarted', async () => {
    await under('PostgreSQL restarted', async () => {
      await postgres.stop('fast');
      await postgres.start();
    });
  });

  it('goes on when a bridge is stopped in order', async () => {
    await under('bridge stopped', async () => {
      expect(await endBridge('SIGTERM')).toBe(0);
    });
  });

  it('has lost nothing, stored nothing twice and carried out nothing twice', async () => {
    for (const vehicle of fleet) vehicle.rest();
    await orders.stop();
    await expect.poll(waitingVehicles, draining).toEqual([]);
    const books = fleet.map((vehicle) => vehicle.books());
    const slowest = books.map(({ slowestMs }) => slowestMs).sort((a, b) => a - b);
    const found = await compare(db, fleet, orders.taken);
    const total = {
      vehicles: count,
      ...found,
      slowestMs: { median: slowest[Math.floor(count / 2)], worst: slowest.at(-1) },
      connects: books.reduce((sum, { connects }) => sum + connects, 0),
      envelopesRefused: books.reduce((sum, { refused }) => sum + refused, 0),
      requestsFailed: orders.failed,
    };
    console.log(JSON.stringify(total, null, 2));
    expect(found).toMatchObject({ lost: 0, surplus: 0, wrong: 0, stored: found.made });
    expect(found.states['confirmed'] ?? 0).toBeGreaterThan(0);
    expect(
      Object.keys(found.states).filter((state) => !['confirmed', 'superseded', 'expired'].includes(state)),
    ).toEqual([]);
  });
});
