// A vehicle as a cluster sees it: an outbox that is kept until the broker's own `ack`, at most as many batches in flight as the agent has, a
// new connection to another node, where all of it is sent again, whenever the old one ends or brings no `ack`, and a counter that lets no
// command in twice. It keeps books of everything, for a test to compare.
import { randomBytes } from 'node:crypto';
import mqtt, { type MqttClient } from 'mqtt';
import { deliveryLimits } from '../../../agent/core/link/delivery.ts';
import { decodeAck, decodeCommand } from '../../../src/core/wire/wire.ts';

export interface VehicleOptions {
  readonly accountID: string;
  readonly deviceID: string;
  readonly secret: string;
  /** MQTT ports of the nodes, any of which will do. */
  readonly ports: readonly number[];
  /** One fact is made every so often, in ms; 0: none by itself. */
  readonly everyMs: number;
}

export interface VehicleRecords {
  /** Facts that were made, and of them those that the broker has not acknowledged. */
  readonly made: number;
  readonly open: number;
  /** Longest time from the making of a fact to its acknowledgement, in ms. */
  readonly slowestMs: number;
  /** Longest time without any acknowledgement while one was due, in ms. */
  readonly gapMs: number;
  /** Times that each command was carried out, by its id. */
  readonly executed: ReadonlyMap<string, number>;
  /** Envelopes that were refused: an old counter, or another boot. */
  readonly refused: number;
  readonly connects: number;
}

export interface Vehicle {
  readonly boot: string;
  /** Makes a fact; it is in the outbox from then on. */
  make(fact?: Readonly<Record<string, unknown>>): number;
  books(): VehicleRecords;
  client(): MqttClient | null;
  /** Drops the connection without DISCONNECT, as a tunnel does. */
  drop(): void;
  /** Makes nothing further by itself. */
  rest(): void;
  close(): Promise<void>;
}

const roundMs = 250;
const batchMost = 50;

interface Fact {
  readonly event: Readonly<Record<string, unknown>>;
  readonly madeMs: number;
  /** Number of its batch on this connection; null: not sent yet. */
  batch: number | null;
}

const bodyOf = (token: string): Uint8Array => Buffer.from(token.split('.')[1] ?? '', 'base64url');

/** Connects and goes on for ever, until `close`. */
export function createVehicle(options: VehicleOptions): Vehicle {
  const { accountID, deviceID, secret, ports, everyMs } = options;
  const user = `${accountID}/${deviceID}`;
  const topic = (verb: string): string => `fleet/v1/${user}/${verb}`;
  const boot = randomBytes(8).toString('hex');
  const outbox = new Map<number, Fact>();
  const executed = new Map<string, number>();
  const counts = { made: 0, slowestMs: 0, gapMs: 0, refused: 0, connects: 0 };
  let client: MqttClient | null = null;
  let isClosed = false;
  let isResting = everyMs === 0;
  let counter = 0;
  let batches = 0;
  let next = Math.floor(Math.random() * ports.length);
  let lastAckMs = Date.now();
  let connectedMs = Date.now();
  let dueMs = Date.now() + Math.random() * everyMs;

  const make = (fact: Readonly<Record<string, unknown>> = {}): number => {
    counts.made += 1;
    const seq = counts.made;
    const madeMs = Date.now();
    if (outbox.size === 0) lastAckMs = madeMs;
    const event = { seq, timestamp: Math.floor(madeMs / 1000), statusCode: 61_472, ...fact };
    outbox.set(seq, { event, madeMs, batch: null });
    return seq;
  };
  const takeAck = (payload: Uint8Array): void => {
    const ack = decodeAck(payload);
    if (ack === null || ack.boot !== boot) return;
    const nowMs = Date.now();
    for (const [from, to] of ack.ranges) {
      for (let seq = from; seq <= to; seq++) {
        const fact = outbox.get(seq);
        if (fact === undefined) continue;
        outbox.delete(seq);
        counts.slowestMs = Math.max(counts.slowestMs, nowMs - fact.madeMs);
      }
    }
    counts.gapMs = Math.max(counts.gapMs, nowMs - lastAckMs);
    lastAckMs = nowMs;
  };
  const takeCommand = (payload: Uint8Array): void => {
    const command = decodeCommand(bodyOf(Buffer.from(payload).toString()));
    if (command === null) return;
    if (command.boot !== boot || command.counter <= counter) return void (counts.refused += 1);
    counter = command.counter;
    const { commandID } = command;
    // The same command in a newer envelope: known already, reported again.
    if (!executed.has(commandID)) executed.set(commandID, 1);
    for (const commandState of ['received', 'confirmed'])
      make({ statusCode: 61_504, commandID, commandState });
  };
  const flush = (): void => {
    const facts = [...outbox.values()];
    const due = facts.filter(({ batch }) => batch === null).slice(0, batchMost);
    const inFlight = new Set(facts.flatMap(({ batch }) => batch ?? []));
    if (client === null || !client.connected || due.length === 0) return;
    if (inFlight.size >= deliveryLimits.window) return;
    batches += 1;
    for (const fact of due) fact.batch = batches;
    const events = due.map(({ event }) => event);
    client.publish(topic('events'), JSON.stringify({ boot, events }), { qos: 1 });
  };
  const greet = async (own: MqttClient): Promise<void> => {
    // With QoS 1 the queue of a subscription is durable on RabbitMQ 3.10: when its node dies, the vehicle cannot subscribe at
    // any other until that node is back (3.12 and later make it exclusive, and remove it). See systemd/rabbitmq/README.md.
    await own.subscribeAsync(['welcome', 'ack', 'commands', 'config'].map(topic), { qos: 0 });
    const hello = {
      boot,
      nonce: randomBytes(8).toString('hex'),
      agentVersion: 'test',
      features: ['enginecutoff', 'cargoaccess'],
      sensors: [],
      configVersion: 0,
      commandCounter: counter,
      timeQuality: 'gnss',
    };
    own.publish(topic('hello'), JSON.stringify(hello), { qos: 1 });
    own.publish(topic('presence'), 'online', { qos: 1 });
    for (const fact of outbox.values()) fact.batch = null;
    flush();
  };
  const open = (): void => {
    if (isClosed) return;
    const port = ports[next % ports.length] ?? 0;
    next += 1;
    const own = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
      clientId: user,
      username: user,
      password: secret,
      clean: true,
      keepalive: 10,
      connectTimeout: 8000,
      reconnectPeriod: 0,
      will: { topic: topic('presence'), payload: Buffer.from('offline'), qos: 1, retain: false },
    });
    client = own;
    own.on('connect', () => {
      counts.connects += 1;
      connectedMs = Date.now();
      greet(own).catch(() => own.stream.destroy());
    });
    own.on('message', (name, payload) => {
      if (name === topic('ack')) takeAck(payload);
      if (name === topic('commands')) takeCommand(payload);
    });
    own.on('error', () => undefined);
    own.once('close', () => {
      own.end(true);
      if (client === own) client = null;
      setTimeout(open, 200 + Math.random() * 1300);
    });
  };
  const timer = setInterval(() => {
    const nowMs = Date.now();
    if (!isResting && nowMs >= dueMs) {
      make();
      dueMs = nowMs + everyMs * (0.5 + Math.random());
    }
    flush();
    // RabbitMQ 3.x may show a subscription that nothing is routed to after a node came back (rabbitmq-server#5075).
    const isUnanswered =
      outbox.size > 0 && nowMs - Math.max(lastAckMs, connectedMs) > deliveryLimits.ackTimeoutMs;
    if (isUnanswered) client?.stream.destroy();
  }, roundMs);
  open();
  return {
    boot,
    make,
    books: () => ({ ...counts, open: outbox.size, executed }),
    client: () => client,
    drop: () => client?.stream.destroy(),
    rest() {
      isResting = true;
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      await client?.endAsync(true).catch(() => undefined);
    },
  };
}
