// The broker and a mosquitto, its feed's target, killed with SIGKILL again and again while events flow: a subscriber with a persistent
// session gets every event, in the order in which they were stored, and tells a repeat by its number.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteConnection from 'better-sqlite3';
import mqtt from 'mqtt';
import { afterAll, expect, test } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import { freePort } from '../support/machine/free-port.ts';
import { requires } from '../support/machine/requires.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { writeFeed } from '../support/mqtt/feed-target.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const { missing } = requires({ commands: ['mosquitto'], debian: ['mosquitto'] });
const reason = missing ?? (isBuilt ? null : 'skipped: not built');
const folder = temporaryFolder('feed-kill');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);
let mosquitto: ChildProcess | null = null;
afterAll(() => {
  mosquitto?.kill('SIGKILL');
  killAll();
  rmSync(folder, { recursive: true });
});

const kills = Number(process.env['FLEETWARD_TEST_KILLS'] ?? 3);
const count = Number(process.env['FLEETWARD_TEST_EVENTS'] ?? 3000);
const devices = ['van-1', 'van-2', 'van-3', 'van-4', 'van-5'];
/** Events of a payload of the uplink. */
const batch = 20;

interface Heard {
  readonly deviceID: string;
  readonly eventID: string;
  readonly eventNo: number;
}

test.skipIf(reason !== null)(
  `of ${count} events a feed loses none and swaps none over ${kills} kills of each side${reason === null ? '' : ` [${reason}]`}`,
  { timeout: 300_000 + count * 20 + kills * 60_000 },
  async () => {
    const targetPort = await freePort();
    const mqttPort = await freePort();
    const httpPort = await freePort();
    const feeds = join(folder, 'feeds');
    mkdirSync(feeds);
    writeFeed(feeds, 'home', {
      account: 'acme',
      format: 'homeassistant',
      url: `mqtt://127.0.0.1:${targetPort}`,
    });
    const targetFile = join(folder, 'mosquitto.conf');
    // A queue without limit for a subscriber that reads: what mosquitto has acknowledged it has written to that connection.
    writeFileSync(
      targetFile,
      `user ${userInfo().username}\nlistener ${targetPort} 127.0.0.1\nallow_anonymous true\nmax_inflight_messages 0\nmax_queued_messages 0\npersistence true\npersistence_location ${folder}/\n`,
    );
    const startTarget = async (): Promise<ChildProcess> => {
      const child = spawn('mosquitto', ['-c', targetFile], { stdio: 'ignore' });
      await sleep(200);
      return child;
    };
    mosquitto = await startTarget();

    const heard: Heard[] = [];
    const subscriber = mqtt.connect(`mqtt://127.0.0.1:${targetPort}`, {
      clientId: 'receiver',
      clean: false,
      reconnectPeriod: 50,
    });
    subscriber.on('error', () => undefined);
    subscriber.on('message', (topic, payload) => {
      if (topic.endsWith('/event')) heard.push(JSON.parse(String(payload)) as Heard);
    });
    await waitUntil('the receiver', () => subscriber.connected);
    await subscriber.subscribeAsync('fleetward/acme/+/event', { qos: 1 });
    // Its session is on disk from now on: a kill leaves the subscription there.
    mosquitto.kill('SIGUSR1');
    await waitUntil('the session on disk', () => existsSync(join(folder, 'mosquitto.db')));

    const created = [
      'account',
      'create',
      'acme',
      '--admin',
      'ann',
      '--password-file',
      '-',
      '--database',
      database,
    ];
    expect(await run(created, 'correct horse battery\n')).toMatchObject({ code: 0 });
    const secrets: string[] = [];
    for (const deviceID of devices) {
      const made = await run(['device', 'create', 'acme', deviceID, '--json', '--database', database]);
      expect(made.code, made.err).toBe(0);
      secrets.push(String((JSON.parse(made.out) as { secret: unknown }).secret));
    }
    const start = async () => {
      const ports = ['--http-port', String(httpPort), '--mqtt-port', String(mqttPort)];
      const program = launch([
        'start',
        '--database',
        database,
        '--feeds',
        feeds,
        '--log-level',
        'warn',
        ...ports,
      ]);
      const isReady = async (): Promise<boolean> =>
        (await fetch(`http://127.0.0.1:${httpPort}/readyz`).catch(() => null))?.status === 200;
      await waitUntil('the start of the broker', isReady, {
        everyMs: 100,
        seen: () => `${program.output.out}${program.output.err}`,
      });
      return program;
    };
    let broker = await start();
    // The feed begins with the next event once it has connected for the first time.
    const db = new SqliteConnection(database, { readonly: true });
    await waitUntil('the feed', () => db.prepare('SELECT 1 FROM feeds').all().length === 1);

    let sent = 0;
    const sendAll = async (): Promise<void> => {
      const vehicles = devices.map((deviceID, at) =>
        mqtt.connect(`mqtt://127.0.0.1:${mqttPort}`, {
          clientId: `acme/${deviceID}`,
          username: `acme/${deviceID}`,
          password: secrets[at] ?? '',
          reconnectPeriod: 100,
        }),
      );
      for (const one of vehicles) one.on('error', () => undefined);
      const perDevice = count / devices.length;
      await Promise.all(
        vehicles.map(async (vehicle, at) => {
          for (let seq = 1; seq <= perDevice; seq += batch) {
            const events = Array.from({ length: Math.min(batch, perDevice - seq + 1) }, (_, index) => ({
              seq: seq + index,
              timestamp: Date.now(),
              statusCode: 61_472,
              latitude: 43 + (seq + index) / 1e6,
              longitude: -79,
            }));
            await vehicle.publishAsync(
              `fleet/v1/acme/${devices[at]}/events`,
              JSON.stringify({ boot: 'b', events }),
              { qos: 1 },
            );
            sent += events.length;
            await sleep(20);
          }
        }),
      );
      for (const one of vehicles) await one.endAsync(true);
    };
    const sending = sendAll();
    const random = createSeededEntropy(`feed-kill ${runSeed()}`);
    for (let kill = 0; kill < kills; kill++) {
      const at = ((kill + 0.5) * count) / (kills + 1);
      await waitUntil(`event ${at}`, () => sent >= at, { limitMs: 120_000 + count * 20 });
      broker.child.kill('SIGKILL');
      await broker.ended;
      broker = await start();
      // The receiver must be back before the feed may be: what mosquitto holds for one that is away it loses by a kill.
      await sleep(random.fraction() * 3000);
      mosquitto.kill('SIGKILL');
      await once(mosquitto, 'exit');
      await sleep(random.fraction() * 300);
      mosquitto = await startTarget();
      await waitUntil('the receiver', () => subscriber.connected);
    }
    await sending;
    const identities = (): Set<string> =>
      new Set(heard.map(({ deviceID, eventID }) => `${deviceID} ${eventID}`));
    await waitUntil('every event', () => identities().size >= count, {
      seen: () => `${identities().size} of ${count}; ${broker.output.out.slice(-2000)}`,
      limitMs: 180_000,
    });
    await subscriber.endAsync(true);
    // A receiver needs one comparison: what is not beyond the newest it has is a repeat.
    let newest = 0;
    const taken = heard.filter(({ eventNo }) => {
      const isNew = eventNo > newest;
      newest = Math.max(newest, eventNo);
      return isNew;
    });
    const stored = db
      .prepare<[], number>(`SELECT e.event_no FROM ${everyEventIn(db)} ORDER BY e.event_no`)
      .pluck()
      .all();
    db.close();
    expect(stored).toHaveLength(count);
    expect(taken.map(({ eventNo }) => eventNo)).toEqual(stored);
    expect(new Set(taken.map(({ deviceID, eventID }) => `${deviceID} ${eventID}`)).size).toBe(count);
    for (const deviceID of devices) {
      const seqs = taken
        .filter((one) => one.deviceID === deviceID)
        .map(({ eventID }) => Number(eventID.split(':')[1]));
      expect(seqs).toEqual(Array.from({ length: count / devices.length }, (_, at) => at + 1));
    }
    // After each of the kills one page at most comes again.
    expect(heard.length - taken.length).toBeLessThanOrEqual((2 * kills + 1) * 200);
    broker.child.kill('SIGTERM');
    expect(await broker.ended).toBe(0);
  },
);
