// Whatever a store does and however connections end and take each other's place: nothing is acknowledged as stored that is not, the
// answers of a connection come in the order of its publishes with none left out, and in the end every event is there once. The
// broker is whole, its sockets and its store are real; time is not, so that an outage of half a minute takes a moment.
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { createMqttServer } from '../../broker/adapters/mqtt/aedes.ts';
import { createBroker } from '../../broker/broker.ts';
import type { OpenMqttServer } from '../../broker/ports/mqtt-server.ts';
import { createSigner, generateSigningKey } from '../../src/adapters/signing.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database, NotifyingDatabase } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchEntropy,
  createBenchLog,
  helloOf,
  jsonBytes,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';

type Mode = 'works' | 'fails' | 'hangs' | 'conflicts' | 'loses answers';
const names = ['truck-1', 'truck-2'] as const;
type Name = (typeof names)[number];
const nameOfEvent = (device: string, boot: string, seq: number): string => `${device} ${boot}/${seq}`;

/** A store with a mode that tests set, and a view of its content at every moment. */
async function openStore() {
  const real = await openBenchDatabase();
  const stored = new Set<string>();
  const database = { mode: 'works' as Mode };
  let conflicts = 0;
  const hanging: (() => void)[] = [];
  const fault = (code: string): AppError => new AppError('storage', code, { cause: { code } });
  const write: Database['write'] = async (batch) => {
    while (database.mode === 'hangs') await new Promise<void>((resolve) => void hanging.push(resolve));
    if (database.mode === 'fails') throw fault('SQLITE_IOERR');
    if (database.mode === 'conflicts' && conflicts++ % 3 === 0) throw fault('CONFLICT');
    const results = await real.write(batch);
    const rows = await real.read(
      sql`SELECT d.device_id, e.boot, e.seq FROM events e JOIN devices d ON d.device_no = e.device_no`,
    );
    for (const { device_id, boot, seq } of rows)
      stored.add(nameOfEvent(String(device_id), String(boot), Number(seq)));
    if (database.mode === 'loses answers') throw fault('UNKNOWN_OUTCOME');
    return results;
  };
  const db: NotifyingDatabase = { ...real, write };
  return {
    db,
    real,
    stored,
    setMode(next: Mode): void {
      database.mode = next;
      for (const wake of hanging.splice(0)) wake();
    },
  };
}

interface EventsText {
  readonly boot?: string;
  readonly events?: readonly { readonly seq: number }[];
}

/** The product's server; each acknowledgement is compared with the store at that moment. */
const checked =
  (stored: ReadonlySet<string>, faults: string[]): OpenMqttServer =>
  async (options) => {
    const check = (device: string, boot: string, seqs: readonly number[]): void => {
      for (const name of seqs.map((seq) => nameOfEvent(device, boot, seq)))
        if (!stored.has(name)) faults.push(`${name} is acknowledged and not stored`);
    };
    const server = await createMqttServer({
      ...options,
      onUplink(device, message, answer) {
        const text = new TextDecoder().decode(message.payload);
        const isBatch = message.verb === 'events' && text.startsWith('{"boot"');
        const { boot = '', events = [] } = (isBatch ? JSON.parse(text) : {}) as EventsText;
        options.onUplink(device, message, {
          done() {
            check(
              device.deviceID,
              boot,
              events.map(({ seq }) => seq),
            );
            answer.done();
          },
          fail: (thrown) => answer.fail(thrown),
        });
      },
    });
    return {
      ...server,
      publish(device, message) {
        if (message.verb === 'ack') {
          const ack = JSON.parse(new TextDecoder().decode(message.payload)) as {
            boot: string;
            upTo: number;
            ranges: [number, number][];
          };
          const ranges: [number, number][] = [[1, ack.upTo], ...ack.ranges];
          for (const [first, last] of ranges)
            check(
              device.deviceID,
              ack.boot,
              Array.from({ length: last - first + 1 }, (_unused, at) => first + at),
            );
        }
        return server.publish(device, message);
      },
    };
  };

/** A publish, and the numbers of the events in it. */
interface Sent {
  readonly id: number;
  readonly seqs: readonly number[];
}

/** A vehicle that keeps each event until its PUBACK, and sends what it keeps again on each connection. */
class Vehicle {
  readonly #login: () => Promise<RawClient>;
  readonly #name: Name;
  readonly #faults: string[];
  #client: RawClient | null = null;
  #nextSeq = 1;
  #nextId = 1;
  /** Numbers of the payloads that are not acknowledged, oldest first. */
  #kept: (readonly number[])[] = [];
  /** What was sent on the present connection, in order. */
  #sent: Sent[] = [];

  constructor(name: Name, login: () => Promise<RawClient>, faults: string[]) {
    this.#name = name;
    this.#login = login;
    this.#faults = faults;
  }

  get keptCount(): number {
    return this.#kept.length;
  }

  get sentTo(): number {
    return this.#nextSeq - 1;
  }

  async connect(isClean: boolean): Promise<void> {
    if (isClean) this.drop();
    const client = await this.#login();
    const topic = `fleet/v1/acme/${this.#name}/ack`;
    client.send({ cmd: 'subscribe', messageId: 60_000, subscriptions: [{ topic, qos: 0 }] });
    this.#client = client;
    this.#follow(client);
    this.#publish('hello', jsonBytes(helloOf('b1')), []);
    for (const seqs of this.#kept) this.#sendEvents(seqs);
  }

  drop(): void {
    this.#client?.end();
    this.#client = null;
  }

  async record(count: number): Promise<void> {
    const seqs = Array.from({ length: count }, () => this.#nextSeq++);
    this.#kept.push(seqs);
    if (this.#client === null || this.#client.isClosed()) await this.connect(true);
    else this.#sendEvents(seqs);
  }

  async say(what: 'bad' | 'bare' | 'online' | 'offline'): Promise<void> {
    if (this.#client === null || this.#client.isClosed()) await this.connect(true);
    if (what === 'bad') this.#publish('events', jsonBytes('bad'), []);
    else if (what === 'bare')
      this.#publish('events', jsonBytes({ timestamp: startMs, statusCode: 61472 }), []);
    else this.#publish('presence', new TextEncoder().encode(what), []);
  }

  #sendEvents(seqs: readonly number[]): void {
    const events = seqs.map((seq) => ({ seq, timestamp: startMs - 1000 + seq, statusCode: 61472 }));
    this.#publish('events', jsonBytes({ boot: 'b1', events }), seqs);
  }

  #publish(verb: string, payload: Uint8Array, seqs: readonly number[]): void {
    const id = (this.#nextId++ % 50_000) + 1;
    this.#sent.push({ id, seqs });
    this.#client?.send(publishPacket(`fleet/v1/acme/${this.#name}/${verb}`, payload, id));
  }

  #follow(client: RawClient): void {
    const sent: Sent[] = [];
    this.#sent = sent;
    let answered = 0;
    let seen = 0;
    client.socket.on('data', () => {
      for (; seen < client.received.length; seen++) {
        const packet = client.received[seen];
        if (packet?.cmd !== 'puback') continue;
        const next = sent[answered++];
        if (next?.id !== packet.messageId)
          this.#faults.push(`PUBACK ${packet.messageId} in place of ${next?.id}`);
        this.#kept = this.#kept.filter((seqs) => seqs !== next?.seqs);
      }
    });
  }
}

async function openWorld() {
  const store = await openStore();
  const clock = createBenchClock();
  const entropy = createBenchEntropy();
  const faults: string[] = [];
  const broker = await createBroker({
    openMqttServer: checked(store.stored, faults),
    db: store.db,
    clock,
    entropy,
    signer: createSigner(generateSigningKey().privatePem),
    log: createBenchLog(),
    mqtt: { host: '127.0.0.1', port: 0, limits: { inFlightEach: 4, inFlightAll: 6 } },
  });
  // Sockets are as quick as they are: time must not run away from them.
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await sleep(1);
    }
  };
  /** False when a minute of the broker has passed without it. */
  const passUntil = async (what: string, check: () => boolean): Promise<boolean> => {
    const endMs = clock.monoMs() + 60_000;
    const look = (): boolean => {
      clock.advance(5);
      return check() || clock.monoMs() > endMs;
    };
    await waitUntil(what, look, { everyMs: 1 });
    return check();
  };
  const vehicles = new Map<Name, Vehicle>();
  for (const name of names) {
    const ref = await addDevice(store.real, 'acme', name);
    const secret = await issueDeviceSecret(store.real, entropy, clock, ref);
    const login = async (): Promise<RawClient> => {
      for (let tries = 0; tries < 20; tries++) {
        const client = await connectRaw(broker.mqttPort);
        client.send(connectPacket(`acme/${name}`, secret));
        await passUntil('CONNACK', () => client.received.length > 0 || client.isClosed());
        const [connack] = client.received;
        if (connack?.cmd === 'connack' && connack.returnCode === 0) return client;
        // Turned away while the store is down: as a vehicle, it comes again.
        client.end();
        store.setMode('works');
        await pass(3000);
      }
      throw new Error(`${name} is not let in`);
    };
    vehicles.set(name, new Vehicle(name, login, faults));
  }
  return { store, clock, faults, broker, pass, passUntil, vehicles };
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('record' as const),
      of: fc.constantFrom(...names),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      of: fc.constantFrom(...names),
      what: fc.constantFrom('bad' as const, 'bare' as const, 'online' as const, 'offline' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('connect' as const),
      of: fc.constantFrom(...names),
      isClean: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), of: fc.constantFrom(...names) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      mode: fc.constantFrom<Mode>('works', 'fails', 'hangs', 'conflicts', 'loses answers'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 50, 500, 3000, 12_000),
    }),
  },
);

test('whatever is acknowledged is stored, in order; and everything is stored once in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const { store, clock, faults, broker, pass, passUntil, vehicles } = await openWorld();
      for (const one of steps) {
        const vehicle = 'of' in one ? vehicles.get(one.of) : undefined;
        if (one.kind === 'record') await vehicle?.record(one.count);
        else if (one.kind === 'say') await vehicle?.say(one.what);
        else if (one.kind === 'connect') await vehicle?.connect(one.isClean);
        else if (one.kind === 'drop') vehicle?.drop();
        else if (one.kind === 'store') store.setMode(one.mode);
        else await pass(one.ms);
        await turn();
        if (faults.length > 0) break;
      }
      store.setMode('works');
      await pass(15_000);
      for (const vehicle of vehicles.values()) {
        if (faults.length === 0) await vehicle.connect(true);
        if (!(await passUntil('all PUBACK', () => vehicle.keptCount === 0 || faults.length > 0)))
          faults.push(`${vehicle.keptCount} payloads are never acknowledged`);
      }
      const rows = await store.real.read(sql`SELECT d.device_id, e.boot, e.seq FROM events e
        JOIN devices d ON d.device_no = e.device_no WHERE e.boot = 'b1'`);
      const events = rows.map(({ device_id, boot, seq }) =>
        nameOfEvent(String(device_id), String(boot), Number(seq)),
      );
      const sent = [...vehicles].flatMap(([name, { sentTo }]) =>
        Array.from({ length: sentTo }, (_unused, at) => nameOfEvent(name, 'b1', at + 1)),
      );
      for (const vehicle of vehicles.values()) vehicle.drop();
      await advanceUntilSettled(clock, broker.close());
      expect(faults).toEqual([]);
      expect(events.sort()).toEqual(sent.sort());
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? 40) },
  );
});
