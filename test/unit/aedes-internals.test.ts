// What the MQTT server uses of aedes and mqtt-packet beyond their types. A failure means: read the new version, correct
// `broker/adapters/mqtt/aedes-internals.ts`, and only then change the version there.
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { Aedes, type Client } from 'aedes';
import mqttPacket from 'mqtt-packet';
import { expect, onTestFinished, test } from 'vitest';
import {
  forceCleanSession,
  handlePacket,
  onBrokerError,
  refreshKeepAlive,
  subscribedQos,
  takeOverReading,
  testedVersions,
  whenDrained,
} from '../../broker/adapters/mqtt/aedes-internals.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const versionOf = (name: string): unknown =>
  (
    JSON.parse(readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8')) as {
      readonly version: unknown;
    }
  ).version;

const connect = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 4,
  clean: false,
  clientId: 'truck-1',
  keepalive: 30,
} as const;

/** A connection of aedes, before anything was sent over it. */
async function open() {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const broker = new Aedes({
    concurrency: 0,
    drainTimeout: 1000,
    preConnect(_client, packet, done) {
      forceCleanSession(packet);
      done(null, true);
    },
  });
  await broker.listen();
  onTestFinished(() => broker.close());
  const client = broker.handle(stream);
  return { broker, client, stream, written, members: client as unknown as Record<string, unknown> };
}

async function logIn(client: Client, stream: Duplex) {
  const completed: unknown[] = [];
  const input = takeOverReading(client, stream, (error) => void completed.push(error ?? null));
  const ready = new Promise<void>((resolve) => void client.once('connected', resolve));
  handlePacket(input, mqttPacket.generate(connect));
  await ready;
  return { input, completed };
}

test('aedes and mqtt-packet have the versions that their internals were read from', () => {
  for (const [name, version] of Object.entries(testedVersions)) expect(versionOf(name), name).toBe(version);
});

test('a new connection of aedes has every member that is replaced, and reads through them', async () => {
  const { client, stream, members } = await open();
  const parser = members['_parser'] as Record<string, unknown> & {
    listeners(event: string): unknown[];
  };
  expect(parser.listeners('packet')).toHaveLength(1);
  expect(parser['client']).toBe(client);
  expect(parser['_queue']).toEqual([]);
  expect(typeof parser['parse']).toBe('function');
  expect(members['_parsingBatch']).toBe(1);
  expect(members['_keepaliveInterval']).toBe(-1);
  expect(members['_keepaliveTimer']).toBe(null);
  expect(Object.getPrototypeOf(members['subscriptions'])).toBe(null);
  for (const name of ['resume', 'waitForDrain', '_nextBatch'])
    expect(typeof members[name], name).toBe('function');
  expect(stream.listeners('readable')).toEqual([members['_nextBatch']]);
  takeOverReading(client, stream, () => undefined);
  expect(stream.listeners('readable')).toEqual([]);
});

test('a packet that is passed to aedes is handled at once, reported when it is done, and keeps nothing of a broken one', async () => {
  const { client, stream, written } = await open();
  const { input, completed } = await logIn(client, stream);
  expect(client.clean).toBe(true);
  expect(Buffer.concat(written)[0]).toBe(0x20);
  expect(completed).toEqual([null]);
  expect(() => handlePacket(input, Uint8Array.of(0x30, 40, 0))).toThrow('not one whole packet');
  handlePacket(input, mqttPacket.generate({ cmd: 'pingreq' }));
  await waitUntil('the completion of the ping', () => completed.length > 1);
  await waitUntil('the answer to the ping', () => Buffer.concat(written).at(-2) === 0xd0);
  expect(Buffer.concat(written).subarray(-2)).toEqual(Buffer.of(0xd0, 0));
  expect(completed).toEqual([null, null]);
});

test('the keep-alive timer, the drain callback and the granted subscriptions stand where they are read', async () => {
  const { client, stream, members } = await open();
  const { input } = await logIn(client, stream);
  expect(members['_keepaliveInterval']).toBe(45_001);
  let refreshed = 0;
  const timer = members['_keepaliveTimer'] as { refresh(): unknown };
  const refresh = timer.refresh.bind(timer);
  timer.refresh = () => {
    refreshed += 1;
    return refresh();
  };
  refreshKeepAlive(client);
  expect(refreshed).toBe(1);
  let drained = 0;
  whenDrained(client, () => void (drained += 1));
  stream.emit('drain');
  await waitUntil('the drain callback', () => drained > 0);
  expect(drained).toBe(1);
  expect(subscribedQos(client, 'a/b')).toBe(null);
  handlePacket(
    input,
    mqttPacket.generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a/b', qos: 1 }] }),
  );
  await waitUntil('the subscription', () => subscribedQos(client, 'a/b') !== null);
  expect(subscribedQos(client, 'a/b')).toBe(1);
});

test('the broker reports errors as an event', async () => {
  const { broker } = await open();
  const errors: unknown[] = [];
  onBrokerError(broker, (thrown) => void errors.push(thrown));
  broker.emit('error', 'seen');
  expect(errors).toEqual(['seen']);
});
