// MQTT over WebSocket in pieces (MQTT-6.0.0-4: packets need not stand in one frame): byte by byte, several to a message, and
// from clients that send frames without an end and never read what they are answered.
import { setTimeout as sleep } from 'node:timers/promises';
import mqttPacket, { type Packet } from 'mqtt-packet';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, publishPacket } from '../support/mqtt/raw-mqtt.ts';
import { openTestMqttServer, topicOf } from '../support/mqtt/test-mqtt-server.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function open() {
  const websocket = { host: '127.0.0.1', port: 0, origins: [], tls: null };
  const mqtt = await openTestMqttServer({ websocket });
  closers.push(() => mqtt.server.close());
  const connect = async () => {
    const client = new WebSocket(`ws://127.0.0.1:${mqtt.server.websocketPort}/mqtt`, 'mqtt');
    const received: Packet[] = [];
    const parser = mqttPacket.parser({ protocolVersion: 4 });
    parser.on('packet', (packet: Packet) => void received.push(packet));
    client.on('message', (bytes: Buffer) => void parser.parse(bytes));
    client.on('error', () => undefined);
    await new Promise<void>((resolve) => client.once('open', () => resolve()));
    closers.push(async () => client.terminate());
    return { client, received };
  };
  return { ...mqtt, connect };
}
const bytesOf = (packets: readonly Packet[]): Buffer =>
  Buffer.concat(packets.map((packet) => mqttPacket.generate(packet)));

test('packets are read whatever frames they come in', async () => {
  const { connect } = await open();
  const { client, received } = await connect();
  const login = bytesOf([connectPacket('acme/t', 'x')]);
  // One message, a frame a byte.
  for (let at = 0; at < login.length; at++)
    client.send(login.subarray(at, at + 1), { fin: at === login.length - 1 });
  await waitUntil('CONNACK', () => received[0]?.cmd === 'connack');
  const publishes = bytesOf(
    Array.from({ length: 30 }, (_unused, at) =>
      publishPacket(topicOf('t', 'events'), 'x'.repeat(50), at + 1),
    ),
  );
  // A message a few bytes, which never end where a packet does.
  for (let at = 0; at < publishes.length; at += 7) client.send(publishes.subarray(at, at + 7));
  await waitUntil('30 PUBACK', () => received.length === 31);
  expect(received.slice(1).map((packet) => packet.messageId)).toEqual(
    Array.from({ length: 30 }, (_unused, at) => at + 1),
  );
});

test('a message that never ends, a text and pings without an end cost the one connection', async () => {
  const { connect } = await open();
  const [endless, texting, pinging, good] = [
    await connect(),
    await connect(),
    await connect(),
    await connect(),
  ];
  for (let sent = 0; sent < 40_000 && endless.client.readyState === WebSocket.OPEN; sent++) {
    endless.client.send(Buffer.from('x'), { fin: false });
    if (sent % 1000 === 0) await sleep(1);
  }
  texting.client.send('text');
  // It reads nothing, and its pings want more pongs than may wait.
  const { _socket: wire } = pinging.client as unknown as { _socket: { pause(): void; resume(): void } };
  wire.pause();
  for (let sent = 0; sent < 200_000 && pinging.client.bufferedAmount < 4_000_000; sent++) {
    pinging.client.ping(Buffer.alloc(125));
    if (sent % 1000 === 0) await sleep(1);
  }
  wire.resume();
  await waitUntil('the end of the three connections', () =>
    [endless, texting, pinging].every(({ client }) => client.readyState === WebSocket.CLOSED),
  );
  good.client.send(bytesOf([connectPacket('acme/good', 'x'), { cmd: 'pingreq' }]));
  await waitUntil('both answers', () => good.received.map(({ cmd }) => cmd).join() === 'connack,pingresp');
});
