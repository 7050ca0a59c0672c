// How publishes are answered over a real connection: in order, nothing after a failure, nothing after a DISCONNECT; and a
// vehicle that only publishes stays connected.
import mqttPacket, { type Packet } from 'mqtt-packet';
import { afterEach, expect, test, vi } from 'vitest';
import { waitUntil } from '../support/machine/wait-until.ts';
import { publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import { openTestMqttServer, type TestMqttServer, topicOf } from '../support/mqtt/test-mqtt-server.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).toReversed()) await close();
});

async function open(changes: Parameters<typeof openTestMqttServer>[0] = {}): Promise<TestMqttServer> {
  const mqtt = await openTestMqttServer(changes);
  closers.push(() => mqtt.server.close());
  return mqtt;
}
const bytesOf = (packets: readonly Packet[]): Uint8Array =>
  Buffer.concat(packets.map((packet) => mqttPacket.generate(packet)));
const answersOf = (client: RawClient): readonly unknown[] =>
  client.received.flatMap((packet) => (packet.cmd === 'puback' ? [packet.messageId] : []));

/** A server at which each payload waits until it is completed by its first byte. */
function heldPayloads() {
  const held = new Map<string, { readonly store: () => void; readonly refuse: () => void }>();
  const onUplink = (_device: unknown, { payload }: { readonly payload: Uint8Array }): Promise<void> =>
    new Promise((resolve, reject) => {
      const refuse = (): void => reject(new Error('not stored'));
      held.set(Buffer.from(payload).toString(), { store: resolve, refuse });
    });
  return { held, onUplink };
}

test('a failure ends the connection: what was stored before it is answered, what comes after it never', async () => {
  const { held, onUplink } = heldPayloads();
  const { login, log } = await open({ onUplink });
  const client = await login('t');
  for (const [at, text] of ['a', 'b', 'c', 'd'].entries())
    client.send(publishPacket(topicOf('t', 'events'), text, at + 1));
  await waitUntil('four publishes to be taken', () => held.size === 4);
  // All in one turn, the last one first: an answer waits for those before it.
  held.get('d')?.store();
  held.get('c')?.refuse();
  held.get('b')?.store();
  held.get('a')?.store();
  await client.closed;
  expect(answersOf(client)).toEqual([1, 2]);
  expect(log.lines.map(({ event }) => event)).toContain('payload_not_stored');
});

test('a publish without QoS is taken and gets no answer', async () => {
  const { held, onUplink } = heldPayloads();
  const { login } = await open({ onUplink });
  const client = await login('t');
  const topic = topicOf('t', 'events');
  client.send({ cmd: 'publish', topic, payload: 'a', qos: 0, retain: false, dup: false });
  client.send(publishPacket(topicOf('t', 'presence'), 'b', 9));
  await waitUntil('two publishes to be taken', () => held.size === 2);
  held.get('b')?.store();
  // Sent after it: an answer would have arrived before that of the ping.
  client.send({ cmd: 'pingreq' });
  await client.next('pingresp');
  expect(answersOf(client)).toEqual([]);
  held.get('a')?.store();
  await client.next('puback');
  expect(answersOf(client)).toEqual([9]);
  client.end();
});

test('a publish before a DISCONNECT is stored, one after it is ignored, also in one read', async () => {
  const { held, onUplink } = heldPayloads();
  const { login, server } = await open({ onUplink });
  const client = await login('t');
  const topic = topicOf('t', 'events');
  client.sendBytes(
    bytesOf([publishPacket(topic, 'before', 1), { cmd: 'disconnect' }, publishPacket(topic, 'after', 2)]),
  );
  await client.closed;
  await waitUntil('the end of the session', () => server.connectionCount() === 0);
  expect([...held.keys()]).toEqual(['before']);
  held.get('before')?.store();
});

test('a topic of another device ends the connection, after earlier publishes were stored', async () => {
  const { held, onUplink } = heldPayloads();
  const { login } = await open({ onUplink });
  const client = await login('t');
  const other = [topicOf('t2', 'events'), topicOf('t', 'ack'), `${topicOf('t', 'events')}/`];
  client.sendBytes(
    bytesOf([
      publishPacket(topicOf('t', 'events'), 'own', 1),
      publishPacket(other[0] ?? '', 'not own', 2),
      publishPacket(topicOf('t', 'events'), 'late', 3),
    ]),
  );
  await client.closed;
  expect([...held.keys()]).toEqual(['own']);
  for (const topic of other.slice(1)) {
    const next = await login('t');
    next.send(publishPacket(topic, 'not own', 2));
    await next.closed;
  }
  expect([...held.keys()]).toEqual(['own']);
});

test('MQTT-3.1.2-24: a vehicle that publishes needs no PINGREQ', async () => {
  const { login } = await open();
  // The keep alive is a timer of aedes, which knows no clock of ours.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const client = await login('t', { keepalive: 1 });
  // Longer in all than the server waits for anything at all, which is 1.5 s.
  for (let id = 1; id <= 10; id++) {
    client.send(publishPacket(topicOf('t', 'events'), 'x', id));
    await client.next('puback');
    vi.advanceTimersByTime(1400);
  }
  client.send({ cmd: 'pingreq' });
  await client.next('pingresp');
  expect(answersOf(client)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  vi.advanceTimersByTime(1502);
  await client.closed;
});
