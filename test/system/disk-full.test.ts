// A disk that holds log and database of a program and becomes full, with the real programs: the agent goes on restoring and storing, the
// broker acknowledges nothing that it cannot store, and both say so once there is space again.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { afterAll, expect, it } from 'vitest';
import { everyEventIn } from '../support/database/stored-events.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerSetup, openApi, provision } from '../support/programs/fleet-processes.ts';
import { wireVehicle } from '../support/programs/wired-vehicle.ts';
import { commissionDisk } from '../support/storage/commissioned-disk.ts';

const { missing, python } = requires({
  commands: ['socat'],
  python: ['pymodbus', 'serial_asyncio'],
  debian: ['socat', 'python3-pymodbus', 'python3-serial-asyncio'],
});
const cannotMount = process.getuid?.() === 0 ? null : 'skipped: needs root to mount';
const why = missing ?? cannotMount ?? whyNotBuilt('agent') ?? whyNotBuilt('broker');

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

/** A small disk of its own at `path`. */
function createDisk(path: string, size: string) {
  mkdirSync(path);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
  cleanups.push(() => spawnSync('umount', ['--lazy', path]));
  const filling = join(path, 'filling');
  return {
    /** Takes what is free, again when some was given back. */
    fill: () => void spawnSync('sh', ['-c', `cat /dev/zero >> ${filling}`], { stdio: 'ignore' }),
    free: () => rmSync(filling),
  };
}

/** A program whose log is a file. */
function startLogged(program: 'agent' | 'broker', args: readonly string[], log: string) {
  const main = new URL(`../../dist/${program}/main.js`, import.meta.url).pathname;
  const file = openSync(log, constants.O_WRONLY | constants.O_CREAT);
  const child = spawn(process.execPath, [main, 'start', ...args], { stdio: ['ignore', file, file] });
  closeSync(file);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  cleanups.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const text = (): string => readFileSync(log, 'latin1');
  return {
    says: (line: string) =>
      waitUntil(
        `${program} to say ${line}`,
        () => {
          if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${text()}`);
          return text().includes(`"msg":"${line}"`);
        },
        { seen: () => text().slice(-2000) },
      ),
    lives: () => child.exitCode === null && child.signalCode === null,
  };
}

interface Shown {
  readonly deviceLastHeartbeat: number;
  readonly sensors: Readonly<Record<string, { readonly state: string }>>;
  readonly state: Readonly<Record<string, { readonly state: string }>>;
}

it.skipIf(why !== null)(
  `a full disk under log and database stops no restore and loses no acknowledged event${why === null ? '' : ` [${why}]`}`,
  async () => {
    const setup = createBrokerSetup('disk-full');
    const disks = { broker: join(setup.folder, 'broker'), agent: join(setup.folder, 'agent') };
    const brokerDisk = createDisk(disks.broker, '8m');
    const agentDisk = createDisk(disks.agent, '4m');
    const brokerSetup = {
      ...setup,
      folder: disks.broker,
      httpPort: await freePort(),
      mqttPort: await freePort(),
    };
    const identity = provision(brokerSetup, 'truck-1');
    const database = join(disks.broker, 'fleet.db');
    const ports = ['--http-port', String(brokerSetup.httpPort), '--mqtt-port', String(brokerSetup.mqttPort)];
    const broker = startLogged('broker', ['--database', database, ...ports], join(disks.broker, 'log'));
    await broker.says('broker_ready');
    const api = await openApi(brokerSetup);
    const wires = await wireVehicle({ ...brokerSetup, ...identity, folder: disks.agent }, python ?? '');
    const { slave, gnss } = wires;
    cleanups.push(
      () => wires.close(),
      () => slave.close(),
    );
    const unit = { accountID: 'demo', deviceID: 'truck-1', profileName: 'waveshare-relay-d' };
    await commissionDisk(join(disks.agent, 'outbox.db'), unit);
    const agent = startLogged('agent', ['--config', wires.config], join(disks.agent, 'log'));
    let last: Shown | null = null;
    const shows = (what: string, isTrue: (found: Shown) => boolean) =>
      waitUntil(
        what,
        async () => {
          last = await api.get<Shown>('/device/getdevice/truck-1/authorization');
          return isTrue(last);
        },
        { everyMs: 200, limitMs: 600_000, seen: () => JSON.stringify(last) },
      );
    const order = (state: '0' | '1') =>
      api.post('/command/feature/authorization', { deviceID: 'truck-1', feature: 'enginecutoff', state });
    const isReady = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${brokerSetup.httpPort}/readyz`)).ok;

    gnss.stand(43.65, -79.35);
    await shows('the agent', (found) => found.deviceLastHeartbeat > 0);
    // A pause of this machine takes the ignition's word away until it is on once more.
    const turnKey = async (): Promise<void> => {
      for (const [value, shown] of [
        [1, '1'],
        [0, '0'],
      ] as const) {
        await slave.set('input', 0, value);
        await shows('the ignition', ({ sensors }) => sensors['ignition']?.state === shown);
      }
    };
    await turnKey();
    await order('1');
    const keys = setInterval(() => void turnKey(), 120_000);
    cleanups.push(() => clearInterval(keys));
    await shows('the cut', ({ state }) => state['enginecutoff']?.state === '1');
    clearInterval(keys);
    agentDisk.fill();
    // Until the last page of its log is full too.
    for (let door = 1, unchanged = 0, size = 0; unchanged < 3 && door <= 200; door += 1) {
      await slave.set('input', 3, door % 2);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      agentDisk.fill();
      const before = size;
      ({ size } = statSync(join(disks.agent, 'log')));
      unchanged = size === before ? unchanged + 1 : 0;
    }
    expect(await slave.coil(0)).toBe(true);
    await order('0');
    await waitUntil('the restored engine', async () => !(await slave.coil(0)));

    brokerDisk.fill();
    await slave.set('input', 1, 1);
    await waitUntil(
      'the broker not to be ready',
      async () => {
        brokerDisk.fill();
        return !(await isReady());
      },
      { everyMs: 500 },
    );
    // Lines beyond the last page of its log.
    for (let n = 0; n < 60; n += 1) await fetch(`http://127.0.0.1:${brokerSetup.httpPort}/api/v1/account`);
    await slave.set('input', 1, 0);
    expect([agent.lives(), broker.lives()]).toEqual([true, true]);
    agentDisk.free();
    brokerDisk.free();
    await waitUntil('the broker to be ready', isReady, { everyMs: 500 });
    await agent.says('log_lines_dropped');
    await broker.says('log_lines_dropped');
    await slave.set('input', 3, 1);
    await shows('the door', ({ sensors }) => sensors['cargoDoor']?.state === '1');
    await shows('the restored engine', ({ state }) => state['enginecutoff']?.state === '0');

    const db = new SqliteConnection(database, { readonly: true });
    cleanups.push(() => db.close());
    const seqs = () =>
      (
        db.prepare(`SELECT seq FROM ${everyEventIn(db)} WHERE boot IS NOT NULL ORDER BY seq`).all() as {
          seq: number;
        }[]
      ).map(({ seq }) => seq);
    await waitUntil(
      'each number once',
      () => {
        const found = seqs();
        return found.every((seq, at) => seq === at + 1) && found.length > 10;
      },
      { seen: () => JSON.stringify(seqs()) },
    );
  },
  900_000,
);
