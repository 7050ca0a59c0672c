// The load of the ingest bench, a process of its own: many MQTT connections over plain sockets, messages with QoS 1 as bytes,
// and nothing counted but PUBACKs. No MQTT library, which would be the first to be saturated. One line of JSON in, on the
// command line; out come `begin` and `end` around what is counted, and a line of JSON.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import { formatDeviceUser, formatTopic } from '../../src/core/wire/topics.ts';
import { connectBytes, publishBytes, text } from './mqtt-bytes.ts';

export interface IngestLoad {
  readonly port: number;
  readonly accountID: string;
  /** Accounts that the clients belong to in turn, in the place of `accountID`. */
  readonly accountIDs?: readonly string[];
  readonly secret: string;
  readonly clients: number;
  /** The first of them; the others follow. */
  readonly firstClient?: number;
  /** Messages of one client that wait for their PUBACK; with a rate: the most that may. */
  readonly window: number;
  readonly form: 'json' | 'protobuf';
  /** Events of one message. */
  readonly batch: number;
  readonly warmupS: number;
  readonly seconds: number;
  /** Messages a second of all clients, sent when they are due whatever became of those before; null: as fast as answered. */
  readonly ratePerS: number | null;
}

export interface IngestLoadResult {
  readonly messagesPerS: number;
  readonly eventsPerS: number;
  /** From the moment that a message was due to its PUBACK. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly highestMs: number;
  /** Connections that ended early, and messages that were due and could not be sent because the window was full. */
  readonly failures: number;
}

const deviceOf = (index: number): string => `truck-${String(index).padStart(5, '0')}`;
const startMs = Date.now() - 3_600_000;
const boot = `b${randomBytes(6).toString('hex')}`;

/** Where a truck is at its `seq`-th second; the numbers have as many digits as real ones. */
function eventAt(client: number, seq: number): FleetEvent {
  const way = (client * 37 + seq) % 5000;
  return {
    seq,
    timestamp: startMs + seq * 1000 + client,
    upMs: seq * 1000,
    timeQuality: 'gnss',
    statusCode: 61472,
    latitude: Math.round((43.1 + way * 0.00013) * 1e6) / 1e6,
    longitude: Math.round((-79.9 + way * 0.00017) * 1e6) / 1e6,
    altitude: 90 + (way % 40),
    speed: Math.round((40 + (way % 50) * 0.7) * 10) / 10,
    heading: way % 360,
    hdop: 0.9,
    satellites: 11,
    odometer: Math.round((1000 + seq * 0.016) * 10) / 10,
    fuelLevel: 0.62,
    inputs: { ignition: true },
  };
}

function payloadOf(load: IngestLoad, client: number, message: number): Uint8Array {
  const events = Array.from({ length: load.batch }, (_unused, at) =>
    eventAt(client, message * load.batch + at + 1),
  );
  if (load.form === 'protobuf') return encodeProtobuf(boot, events).payload;
  return Buffer.from(JSON.stringify({ boot, events }));
}

interface Client {
  readonly index: number;
  readonly socket: Socket;
  readonly topic: Buffer;
  /** Payloads made before the clock runs: making them is no part of what is measured. */
  readonly ready: Uint8Array[];
  sent: number;
  /** When the messages in flight were due, oldest first: PUBACKs come in order (MQTT-4.6.0-2). */
  readonly due: number[];
  /** Bytes of an acknowledgement that came in two pieces. */
  partial: number;
}

async function open(load: IngestLoad, index: number, onEnd: () => void): Promise<Client> {
  const { accountIDs = [load.accountID] } = load;
  const accountID = accountIDs[index % accountIDs.length] ?? load.accountID;
  const device = { accountID, deviceID: deviceOf(index) };
  const socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => socket.write(connectBytes(formatDeviceUser(device), load.secret)));
    socket.once('data', (bytes) => {
      if (bytes[0] === 0x20 && bytes[3] === 0) resolve();
      else reject(new Error(`${device.deviceID} was refused: ${bytes.toString('hex')}`));
    });
    socket.once('close', () => reject(new Error('the connection ended before CONNACK')));
  });
  socket.on('error', () => undefined);
  socket.once('close', onEnd);
  return {
    index,
    socket,
    topic: text(formatTopic(device, 'events')),
    ready: [],
    sent: 0,
    due: [],
    partial: 0,
  };
}

function send(load: IngestLoad, client: Client, dueMs: number): void {
  const payload = client.ready[client.sent] ?? payloadOf(load, client.index, client.sent);
  client.sent += 1;
  client.due.push(dueMs);
  client.socket.write(publishBytes(client.topic, (client.sent % 65_000) + 1, payload));
}

/** Payloads that each client has before it begins: some more than it will need of batches. */
function prepare(load: IngestLoad, clients: readonly Client[]): void {
  if (load.batch === 1) return;
  const count = Math.ceil((60_000 / load.batch / clients.length) * (load.warmupS + load.seconds) * 5);
  for (const client of clients) {
    while (client.ready.length < Math.min(count, 2000)) {
      client.ready.push(payloadOf(load, client.index, client.ready.length));
    }
  }
}

const rank = (sorted: Float64Array, fraction: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;

async function run(load: IngestLoad): Promise<IngestLoadResult> {
  let failures = 0;
  let isOver = false;
  const onEnd = (): void => {
    if (!isOver) failures += 1;
  };
  const clients: Client[] = [];
  for (let first = 0; first < load.clients; first += 50) {
    const some = Array.from(
      { length: Math.min(50, load.clients - first) },
      (_unused, at) => (load.firstClient ?? 0) + first + at,
    );
    clients.push(...(await Promise.all(some.map((index) => open(load, index, onEnd)))));
  }
  prepare(load, clients);
  const beginMs = performance.now() + load.warmupS * 1000;
  const endMs = beginMs + load.seconds * 1000;
  const latencies: number[] = [];
  for (const client of clients) {
    client.socket.on('data', (bytes) => {
      const acks = (client.partial + bytes.length) >> 2;
      client.partial = (client.partial + bytes.length) & 3;
      const nowMs = performance.now();
      const isCounted = nowMs >= beginMs && nowMs < endMs;
      client.socket.cork();
      for (let ack = 0; ack < acks; ack++) {
        const dueMs = client.due.shift() ?? nowMs;
        if (isCounted) latencies.push(nowMs - dueMs);
        if (load.ratePerS === null && nowMs < endMs) send(load, client, nowMs);
      }
      client.socket.uncork();
    });
  }
  if (load.ratePerS === null) {
    for (const client of clients) {
      for (let at = 0; at < load.window; at++) send(load, client, performance.now());
    }
  }
  const fromMs = performance.now();
  let scheduled = 0;
  let hasBegun = false;
  while (performance.now() < endMs) {
    if (!hasBegun && performance.now() >= beginMs) process.stdout.write('begin\n');
    hasBegun ||= performance.now() >= beginMs;
    const nowMs = performance.now();
    while (load.ratePerS !== null && fromMs + (scheduled * 1000) / load.ratePerS <= nowMs) {
      const client = clients[scheduled % clients.length];
      const dueMs = fromMs + (scheduled * 1000) / load.ratePerS;
      scheduled += 1;
      if (client === undefined || client.due.length >= load.window) failures += 1;
      else send(load, client, dueMs);
    }
    await new Promise((resolve) => void setTimeout(resolve, 1));
  }
  process.stdout.write('end\n');
  isOver = true;
  for (const { socket } of clients) socket.destroy();
  const sorted = Float64Array.from(latencies).sort();
  return {
    messagesPerS: latencies.length / load.seconds,
    eventsPerS: (latencies.length * load.batch) / load.seconds,
    p50Ms: rank(sorted, 0.5),
    p99Ms: rank(sorted, 0.99),
    highestMs: sorted.at(-1) ?? Number.NaN,
    failures,
  };
}

const { positionals } = parseArgs({ allowPositionals: true });
process.stdout.write(`${JSON.stringify(await run(JSON.parse(positionals[0] ?? '') as IngestLoad))}\n`);
