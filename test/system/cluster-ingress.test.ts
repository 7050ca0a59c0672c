// A bridge behind one RabbitMQ node with the configuration that we ship, in real processes: what vehicles send is stored before
// it is acknowledged, what they may do is what the embedded broker lets them do, and a revoked secret ends the connection.
// Three nodes, two bridges and kills are test/cluster.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import amqp from 'amqplib';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { findDevice, insertDevice, replaceSecret } from '../../broker/store/devices/devices.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { generateSigningKey } from '../../src/adapters/signing.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  adminPassword,
  type Bridge,
  type BridgeSetup,
  bridgeFlags,
  createAccount,
  startBridge,
} from '../support/cluster/cluster-bridge.ts';
import { createVehicle, type Vehicle } from '../support/cluster/cluster-vehicle.ts';
import { type RabbitBench, rabbitmqMissing, startRabbit } from '../support/cluster/rabbitmq.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { everyEvent } from '../support/database/stored-events.ts';
import { checkout } from '../support/machine/checkout.ts';
import { freePort } from '../support/machine/free-port.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { type Api, openApi, startProgram } from '../support/programs/fleet-processes.ts';

const isBuilt = existsSync(new URL('dist/broker/main.js', checkout).pathname);
const missing = isBuilt ? (rabbitmqMissing ?? postgresMissing) : 'skipped: not built';
const title = `a bridge behind RabbitMQ${missing === null ? '' : ` (${missing})`}`;
const waiting = { timeout: 20_000, interval: 100 } as const;
const accountID = 'demo';

describe.skipIf(missing !== null)(title, () => {
  const folder = temporaryFolder('cluster');
  let rabbit: RabbitBench;
  let postgres: PostgresBench;
  let database = '';
  let db: Database;
  let authPort = 0;
  let bridge: Bridge;
  let api: Api;
  const vehicles: Vehicle[] = [];
  const clients: MqttClient[] = [];

  const setup = () => ({ folder, database, rabbit });
  const start = (): Promise<Bridge> => startBridge({ ...setup(), authPort });
  const mqttPort = (): number => rabbit.nodes[0]?.mqtt ?? 0;
  const addDevice = async (deviceID: string): Promise<string> => {
    const key = { accountID, deviceID };
    const secret = `secret-of-${deviceID}`;
    await db.write([
      ...insertDevice(key, { createdS: 1 }),
      replaceSecret({ ...key, secretHash: hashSecret(secret), atS: 1 }),
    ]);
    return secret;
  };
  const addVehicle = async (deviceID: string): Promise<Vehicle> => {
    const secret = await addDevice(deviceID);
    const vehicle = createVehicle({ accountID, deviceID, secret, ports: [mqttPort()], everyMs: 0 });
    vehicles.push(vehicle);
    return vehicle;
  };
  /** Connects with these names; gives what became of it. */
  const tryLogin = (options: IClientOptions): Promise<string> =>
    new Promise((resolve) => {
      const client = mqtt.connect(`mqtt://127.0.0.1:${mqttPort()}`, { reconnectPeriod: 0, ...options });
      clients.push(client);
      client.once('connect', () => resolve('connected'));
      client.once('error', (error) => resolve(error.message));
      client.once('close', () => resolve('closed'));
    });
  const storedOf = async (deviceID: string): Promise<number> => {
    const device = await findDevice(db, { accountID, deviceID });
    const [row] = await db.read(sql`
      SELECT COUNT(*) AS count FROM ${await everyEvent(db)} WHERE device_no = ${device?.deviceNo ?? 0}`);
    return Number(row?.['count']);
  };
  const isOnline = async (deviceID: string): Promise<boolean | undefined> =>
    (await findDevice(db, { accountID, deviceID }))?.isOnline;

  beforeAll(async () => {
    authPort = await freePort();
    // Vehicles of this test come in without TLS, so that a certificate can be demanded of the bridge.
    const changes = { 'ssl_options.fail_if_no_peer_cert': 'true' };
    postgres = await startPostgres();
    rabbit = await startRabbit({ count: 1, authPort, changes });
    database = await postgres.createMigrated();
    createAccount(setup());
    db = await openPostgres({ url: database });
    bridge = await start();
    api = await openApi({ folder, password: adminPassword, httpPort: bridge.httpPort, mqttPort: 0 });
  });

  afterAll(async () => {
    await Promise.all(vehicles.map((vehicle) => vehicle.close()));
    for (const client of clients) client.end(true);
    bridge?.program.signal('SIGTERM');
    await bridge?.program.ended();
    await db?.close();
    await Promise.all([rabbit?.close(), postgres?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('stores what vehicles send, then acknowledges it, and records which are connected', async () => {
    const vehicle = await addVehicle('truck-1');
    for (let at = 0; at < 200; at++) vehicle.make();
    await expect.poll(() => vehicle.books().open, waiting).toBe(0);
    expect(await storedOf('truck-1')).toBe(200);
    await expect.poll(() => isOnline('truck-1'), waiting).toBe(true);
  });

  it('lets one bridge at a time take each queue, so that the order of what a vehicle says stays', () => {
    const listed = rabbit.ctl('list_queues', '-p', 'fleet', 'name', 'arguments').split('\n');
    for (const name of ['fleetward.events', 'fleetward.sessions'])
      expect(listed.find((line) => line.startsWith(name))).toMatch(/x-single-active-consumer\W+true/);
  });

  it('brings a command to the vehicle, and its answer back', async () => {
    const vehicle = vehicles[0];
    const body = { deviceID: 'truck-1', feature: 'cargoaccess', state: '1', reason: 'test' };
    await api.post('/command/feature/authorization', body);
    await expect.poll(() => [...(vehicle?.books().executed.values() ?? [])], waiting).toEqual([1]);
    const state = async (): Promise<unknown> =>
      (await db.read(sql`SELECT command_state FROM commands`))[0]?.['command_state'];
    await expect.poll(state, waiting).toBe('confirmed');
  });

  it('quarantines what no codec reads, and drops messages of unknown devices', async () => {
    const vehicle = await addVehicle('truck-2');
    await expect.poll(() => vehicle.client()?.connected, waiting).toBe(true);
    await vehicle.client()?.publishAsync('fleet/v1/demo/truck-2/events', '{"boot":', { qos: 1 });
    await vehicle.client()?.publishAsync('fleet/v1/demo/truck-2/hello', 'hello', { qos: 1 });
    const kept = async (): Promise<number> => (await db.read(sql`SELECT topic FROM quarantine`)).length;
    await expect.poll(kept, waiting).toBe(2);
    // A device that is deleted while its messages wait.
    await db.write([sql`DELETE FROM devices WHERE device_id = 'truck-2'`]);
    await vehicle.client()?.publishAsync('fleet/v1/demo/truck-2/events', '{"boot":', { qos: 1 });
    const other = await addVehicle('truck-3');
    other.make();
    await expect.poll(() => other.books().open, waiting).toBe(0);
    const waitingNow = (): string => rabbit.ctl('list_queues', '-p', 'fleet', 'name', 'messages');
    await expect.poll(waitingNow, waiting).toMatch(/fleetward\.events\s+0/);
  });

  it('admits only devices with their secret, under their own name', async () => {
    const password = await addDevice('truck-4');
    const user = 'demo/truck-4';
    const right = { clientId: user, username: user, password };
    expect(await tryLogin(right)).toBe('connected');
    expect(await tryLogin({ ...right, password: 'wrong' })).toMatch(/refused/i);
    expect(await tryLogin({ ...right, clientId: 'demo/truck-1' })).not.toBe('connected');
    expect(await tryLogin({ ...right, username: 'demo/nobody', clientId: 'demo/nobody' })).not.toBe(
      'connected',
    );
    expect(await tryLogin({ ...right, username: 'fleetward-bridge' })).not.toBe('connected');
    // The same secret is none for AMQP, nor for the management interface.
    const [node] = rabbit.nodes;
    const { hostname, port, vhost } = { hostname: '127.0.0.1', port: node?.amqp ?? 0, vhost: 'fleet' };
    await expect(amqp.connect({ hostname, port, vhost, username: user, password })).rejects.toThrow(
      /refused/i,
    );
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const answer = await fetch(`http://127.0.0.1:${node?.management}/api/overview`, {
      headers: { authorization },
    });
    expect(answer.status).toBe(401);
  });

  it('lets a device use its own topics only, each in its direction', async () => {
    const password = await addDevice('truck-5');
    const user = 'demo/truck-5';
    const login = { clientId: user, username: user, password, reconnectPeriod: 0 };
    const outcome = async (act: (client: MqttClient) => Promise<unknown>): Promise<string> => {
      const client = mqtt.connect(`mqtt://127.0.0.1:${mqttPort()}`, login);
      clients.push(client);
      client.on('error', () => undefined);
      await new Promise((resolve) => client.once('connect', resolve));
      const closed = new Promise((resolve) => client.once('close', () => resolve('closed')));
      const done = act(client).then(
        () => 'done',
        () => 'refused',
      );
      const result = await Promise.race([closed, done]);
      client.end(true);
      return String(result);
    };
    const publish = (topic: string) => outcome((client) => client.publishAsync(topic, 'x', { qos: 1 }));
    const subscribe = (topic: string) =>
      outcome(async (client) => {
        const [granted] = await client.subscribeAsync(topic, { qos: 1 });
        if (granted === undefined || granted.qos > 1) throw new Error('refused');
      });
    expect(await publish('fleet/v1/demo/truck-5/presence')).toBe('done');
    expect(await subscribe('fleet/v1/demo/truck-5/commands')).toBe('done');
    expect(await publish('fleet/v1/demo/truck-5/commands')).toBe('closed');
    expect(await publish('fleet/v1/demo/truck-1/events')).toBe('closed');
    for (const filter of ['truck-1/commands', 'truck-5/#', '+/commands', 'truck-5/events']) {
      expect(await subscribe(`fleet/v1/demo/${filter}`), filter).not.toBe('done');
    }
    expect(await subscribe('#')).not.toBe('done');
  });

  it('ends the connection of a device whose secret was replaced, by any process', async () => {
    const vehicle = await addVehicle('truck-6');
    await expect.poll(() => isOnline('truck-6'), waiting).toBe(true);
    const { connects } = vehicle.books();
    const key = { accountID, deviceID: 'truck-6' };
    await db.write([replaceSecret({ ...key, secretHash: hashSecret('another'), atS: 2 })]);
    await expect.poll(() => vehicle.client()?.connected === true, waiting).toBe(false);
    // It does not come back with the old one, and its login is forgotten once it cannot be there any more.
    const logins = async (): Promise<number> =>
      (await db.read(sql`SELECT device_no FROM cluster_logins WHERE device_id = 'truck-6'`)).length;
    await expect.poll(logins, waiting).toBe(0);
    expect(vehicle.books().connects).toBe(connects);
    await vehicle.close();
    // No last will reports it.
    await expect.poll(() => isOnline('truck-6'), waiting).toBe(false);
  });

  it('takes a new turn when the cluster returns to it after a later one, and the hello is not lost', async () => {
    const vehicle = await addVehicle('truck-8');
    await expect.poll(() => isOnline('truck-8'), waiting).toBe(true);
    // What a second bridge would have left that was active meanwhile and died.
    const later = 1000;
    await db.write([
      sql`UPDATE cluster_turns SET turn = ${later}`,
      sql`UPDATE devices SET session_turn = ${later}, is_online = 0, boot = 'other' WHERE device_id = 'truck-8'`,
    ]);
    vehicle.drop();
    const boot = async (): Promise<unknown> =>
      (await db.read(sql`SELECT boot, session_turn FROM devices WHERE device_id = 'truck-8'`))[0];
    await expect.poll(boot, waiting).toEqual({ boot: vehicle.boot, session_turn: later + 1 });
    await expect.poll(() => isOnline('truck-8'), waiting).toBe(true);
  });

  it('sends nothing during an alarm of the cluster, reports it, and continues when it is over', async () => {
    const vehicle = await addVehicle('truck-9');
    vehicle.make();
    await expect.poll(() => vehicle.books().open, waiting).toBe(0);
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${bridge.httpPort}/readyz`)).status;
    expect(await status()).toBe(200);
    rabbit.ctl('set_vm_memory_high_watermark', 'absolute', '1MB');
    const held = (): boolean => bridge.program.lines.some(({ msg }) => msg === 'cluster_publish_blocked');
    // RabbitMQ notifies a connection of an alarm when it next publishes.
    const restore = { deviceID: 'truck-9', feature: 'cargoaccess', state: '1', reason: 'test' };
    await api.post('/command/feature/authorization', restore);
    await expect.poll(held, waiting).toBe(true);
    await expect.poll(status, waiting).toBe(503);
    const executed = (): readonly number[] => [...vehicle.books().executed.values()];
    expect(executed()).toEqual([]);
    rabbit.ctl('set_vm_memory_high_watermark', '0.5');
    await expect.poll(executed, waiting).toEqual([1]);
    await expect.poll(status, waiting).toBe(200);
    vehicle.make();
    await expect.poll(() => vehicle.books().open, waiting).toBe(0);
  });

  it('loses nothing that was sent while no bridge was there', async () => {
    const vehicle = await addVehicle('truck-7');
    vehicle.make();
    await expect.poll(() => vehicle.books().open, waiting).toBe(0);
    bridge.program.signal('SIGKILL');
    await bridge.program.ended();
    for (let at = 0; at < 50; at++) vehicle.make();
    await expect
      .poll(() => rabbit.ctl('list_queues', '-p', 'fleet', 'name', 'messages'), waiting)
      .toMatch(/fleetward\.events\s+[1-9]/);
    bridge = await start();
    await expect.poll(() => vehicle.books().open, waiting).toBe(0);
    expect(await storedOf('truck-7')).toBe(51);
    // What was on record of its connection still holds: it was there all the time.
    expect(await isOnline('truck-7')).toBe(true);
  });

  it('does not start on a different queue or with a different signing key, and says what to do', async () => {
    const fails = async (changes: Partial<BridgeSetup>): Promise<string> => {
      const program = startProgram('broker', ['start', ...bridgeFlags({ ...setup(), ...changes })]);
      expect(await program.ended()).toBe(78);
      return program.complaints();
    };
    const signingKeyFile = join(folder, 'strange-key.pem');
    writeFileSync(signingKeyFile, generateSigningKey().privatePem, { mode: 0o600 });
    expect(await fails({ signingKeyFile })).toContain('another signing key');
    bridge.program.signal('SIGTERM');
    await bridge.program.ended();
    rabbit.ctl('delete_queue', 'fleetward.sessions', '--vhost', 'fleet');
    const [node] = rabbit.nodes;
    const connection = await amqp.connect({
      hostname: '127.0.0.1',
      port: node?.amqp ?? 0,
      vhost: 'fleet',
      username: 'fleetward-bridge',
      password: 'bridge-word-4711',
    });
    const channel = await connection.createChannel();
    await channel.assertQueue('fleetward.sessions', { durable: true });
    await connection.close();
    const said = await fails({});
    expect(said).toContain('fleetward.sessions');
    expect(said).toContain('delete_queue');
    expect(said).not.toContain('bridge-word-4711');
  });
});
