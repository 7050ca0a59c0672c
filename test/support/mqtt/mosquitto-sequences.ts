// Plays Mosquitto's byte-level sequences (test/broker/data/*.json of its repository) against a server: what to send, what
// must come back to the byte, and whether the connection must end. Written after the description in the data; no code of
// theirs is used.
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import mqttPacket, { type IConnectPacket } from 'mqtt-packet';
import { connectPacket, connectRaw, publishPacket } from './raw-mqtt.ts';

interface Message {
  /** `publish` is what 2.0 calls `external_publish`. */
  readonly type: 'send' | 'recv' | 'publish' | 'external_publish' | 'subscribe' | 'unsubscribe';
  readonly payload?: string;
  readonly topic?: string;
  readonly qos?: 0 | 1 | 2;
  readonly retain?: boolean;
}

interface Rules {
  readonly ver?: number;
  readonly connect?: boolean;
  readonly expect_disconnect?: boolean;
}

interface Group extends Rules {
  readonly group: string;
  readonly disable?: boolean;
  readonly tests: readonly (Rules & { readonly name: string; readonly msgs: readonly Message[] })[];
}

export interface Sequence {
  readonly name: string;
  readonly version: 3 | 4;
  readonly isLoggedIn: boolean;
  readonly mustEnd: boolean;
  readonly messages: readonly Message[];
}

/** The sequences for MQTT 3.1 and 3.1.1 in a checkout of Mosquitto, 2.0 or later. */
export function readSequences(checkout: string): readonly Sequence[] {
  const folder = join(checkout, 'test/broker/data');
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const groups = files
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Group[]);
  return (
    groups
      // In 2.0 the version of those whose CONNECT is of MQTT 5 stands in their name only.
      .filter(({ disable, group }) => disable !== true && !group.startsWith('v5.0'))
      .flatMap((group) =>
        group.tests.flatMap((test): Sequence[] => {
          const version = test.ver ?? group.ver ?? 4;
          if (version !== 3 && version !== 4) return [];
          return [
            {
              name: `${group.group} ${test.name}`,
              version,
              isLoggedIn: test.connect ?? group.connect ?? true,
              mustEnd: test.expect_disconnect ?? group.expect_disconnect ?? true,
              messages: test.msgs,
            },
          ];
        }),
      )
  );
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
  } while (rest > 0);
  return bytes;
}

/** The bytes that a payload of the data stands for: hex, and tokens such as `r14` (length), `m1` (16 bits) and 'text'. */
export function bytesOf(payload: string): Buffer {
  const tokens = payload.match(/'[^']*'|\S+/g) ?? [];
  const parts = tokens.map((token): Uint8Array => {
    const number = Number(token.slice(1));
    if (token.startsWith("'")) return Buffer.from(token.slice(1, -1));
    if (/^i\d/.test(token)) return Uint8Array.from([number]);
    if (/^[Hkms]\d/.test(token)) return Uint8Array.from([number >> 8, number & 0xff]);
    if (/^L\d/.test(token)) return Uint8Array.from([24, 16, 8, 0].map((bits) => (number >>> bits) & 0xff));
    if (/^[vr]\d/.test(token)) return Uint8Array.from(varint(number));
    return Buffer.from(token, 'hex');
  });
  return Buffer.concat(parts);
}

/** Connections that are served after what was sent: by then an answer to it, or an end, has arrived if any comes. */
const servedAfter = 20;

interface ByteClient {
  send(bytes: Uint8Array): void;
  /** The next so many bytes, or those that came. */
  take(count: number): Promise<Buffer>;
  /** True when the connection ends without another byte. */
  endsNow(): Promise<boolean>;
  end(): void;
}

/** Another connection, from its login to the answer of a ping. */
async function serveAnother(port: number): Promise<void> {
  const other = await connectRaw(port);
  other.send(connectPacket('another', 'x'));
  await other.next('connack');
  other.send({ cmd: 'pingreq' });
  await other.next('pingresp');
  other.end();
}

async function openBytes(port: number): Promise<ByteClient> {
  const socket: Socket = connect({ port, host: '127.0.0.1' });
  let arrived = Buffer.alloc(0);
  let isOver = false;
  socket.on('data', (bytes) => void (arrived = Buffer.concat([arrived, bytes])));
  // Or a packet would wait for the acknowledgement of the one before it, while others are served.
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('close', () => void (isOver = true));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  const comes = async (check: () => boolean): Promise<boolean> => {
    for (let served = 0; !check() && served < servedAfter; served++) await serveAnother(port);
    return check();
  };
  return {
    send: (bytes) => void socket.write(bytes),
    async take(count) {
      await comes(() => arrived.length >= count || isOver);
      const taken = arrived.subarray(0, count);
      arrived = arrived.subarray(count);
      return taken;
    },
    endsNow: async () => (await comes(() => isOver || arrived.length > 0)) && arrived.length === 0,
    end: () => void socket.destroy(),
  };
}

async function publishFromOutside(port: number, message: Message): Promise<void> {
  const helper = await connectRaw(port);
  helper.send(connectPacket('helper', 'x'));
  await helper.next('connack');
  const { topic = '', payload = '', qos = 0, retain = false } = message;
  const messageId = qos === 0 ? undefined : 1;
  helper.send(publishPacket(topic, payload, 1, { qos, retain, messageId }));
  if (qos === 1) await helper.next('puback');
  if (qos === 2) {
    await helper.next('pubrec');
    helper.send({ cmd: 'pubrel', messageId: 1 });
    await helper.next('pubcomp');
  }
  helper.end();
}

/** Sends the packet and wants exactly that answer. */
async function exchange(client: ByteClient, sent: Uint8Array, wanted: Uint8Array): Promise<void> {
  client.send(sent);
  const answer = await client.take(wanted.length);
  if (!answer.equals(wanted))
    throw new Error(`got ${answer.toString('hex')}, not ${Buffer.from(wanted).toString('hex')}`);
}

async function step(client: ByteClient, port: number, message: Message): Promise<void> {
  const { type, payload = '', topic = '', qos = 0 } = message;
  switch (type) {
    case 'send':
      return client.send(bytesOf(payload));
    case 'recv':
      return exchange(client, new Uint8Array(0), bytesOf(payload));
    case 'publish':
    case 'external_publish':
      return publishFromOutside(port, message);
    case 'subscribe': {
      const packet = mqttPacket.generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] });
      return exchange(client, packet, Uint8Array.from([0x90, 3, 0, 1, qos]));
    }
    case 'unsubscribe': {
      const packet = mqttPacket.generate({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: [topic] });
      return exchange(client, packet, Uint8Array.from([0xb0, 2, 0, 1]));
    }
  }
}

/** Plays one sequence. Null when all went as it says, else what did not. */
export async function playSequence(port: number, sequence: Sequence, number: number): Promise<string | null> {
  const client = await openBytes(port);
  try {
    if (sequence.isLoggedIn) {
      const packet: IConnectPacket = {
        cmd: 'connect',
        protocolId: sequence.version === 3 ? 'MQIsdp' : 'MQTT',
        protocolVersion: sequence.version,
        clientId: `sequence-${number}`,
        clean: true,
        keepalive: 60,
      };
      await exchange(client, mqttPacket.generate(packet), Uint8Array.from([0x20, 2, 0, 0]));
    }
    for (const message of sequence.messages) await step(client, port, message);
    if (!sequence.mustEnd) {
      await exchange(client, Uint8Array.from([0xc0, 0]), Uint8Array.from([0xd0, 0]));
      return null;
    }
    return (await client.endsNow()) ? null : 'should have closed';
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    client.end();
  }
}
