// The MQTT link against real brokers (aedes in this process, mosquitto when installed) and against bad peers on the
// byte level. What holds for one broker must hold for the other.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Aedes } from 'aedes';
import { parser as createParser } from 'mqtt-packet';
import { afterEach, describe, expect, it } from 'vitest';
import { openMqttLink } from '../../src/adapters/mqtt-link.ts';
import type { MqttLink, MqttLinkOptions, MqttMessage } from '../../src/ports.ts';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { campaignSeed } from '../support/storage/storage-run.ts';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

interface Party {
  readonly link: MqttLink;
  readonly received: { message: MqttMessage; acknowledge: () => void }[];
  readonly downs: string[];
  /** Whether the end was a keep-alive without an answer. */
  readonly silences: boolean[];
  readonly ups: number[];
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

let parties = 0;
function party(port: number, changes: Partial<MqttLinkOptions> = {}): Party {
  const received: Party['received'] = [];
  const downs: string[] = [];
  const silences: boolean[] = [];
  const ups: number[] = [];
  const link = openMqttLink(
    {
      url: `mqtt://127.0.0.1:${port}`,
      clientId: `c${++parties}`,
      username: 'acme/van-1',
      password: 'secret',
      keepaliveS: 60,
      connectTimeoutMs: hangMs,
      will: { topic: 'will', payload: bytes('offline'), qos: 1 },
      ...changes,
    },
    {
      onUp: () => ups.push(1),
      onMessage: (message, acknowledge) => received.push({ message, acknowledge }),
      onDown: (reason, isSilent = false) => {
        downs.push(reason);
        silences.push(isSilent);
      },
    },
  );
  cleanUps.push(() => link.close());
  return { link, received, downs, silences, ups };
}

const until = (condition: () => boolean) => waitUntil('what the links do', condition);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A TCP relay in front of a broker that counts PUBACKs towards it, the bytes themselves being the witness. */
async function pubackWitness(port: number): Promise<{ port: number; pubacks: number[]; sockets: Socket[] }> {
  const pubacks: number[] = [];
  const sockets: Socket[] = [];
  const own = await listen((socket) => {
    sockets.push(socket);
    const onward = connectTcp(port, '127.0.0.1');
    onward.on('error', () => socket.destroy());
    const reader = createParser();
    reader.on('packet', (packet) => packet.cmd === 'puback' && pubacks.push(packet.messageId ?? 0));
    socket.on('data', (chunk) => reader.parse(chunk));
    socket.pipe(onward).pipe(socket);
  });
  return { port: own, pubacks, sockets };
}

async function startAedes(): Promise<number> {
  const broker = await Aedes.createBroker({
    authenticate: (_client, _user, password, done) => {
      if (password?.toString() === 'secret') done(null, true);
      else done(Object.assign(new Error('bad'), { returnCode: 4 as const }), false);
    },
  });
  cleanUps.push(() => new Promise<void>((resolve) => broker.close(() => resolve())));
  return listen((socket) => void broker.handle(socket));
}

async function startMosquitto(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-mosquitto-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const port = await listen(() => undefined);
  await cleanUps.pop()?.();
  writeFileSync(join(folder, 'mosquitto.conf'), `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
  const child: ChildProcess = spawn('/usr/sbin/mosquitto', ['-c', join(folder, 'mosquitto.conf')], {
    stdio: 'ignore',
  });
  cleanUps.push(async () => {
    if (child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  });
  await waitUntil('mosquitto to listen', async () => {
    if (child.exitCode !== null) throw new Error(`mosquitto ended with ${child.exitCode}`);
    return new Promise<boolean>((resolve) => {
      const probe = connectTcp(port, '127.0.0.1', () => resolve(true));
      probe.on('error', () => resolve(false));
      probe.on('connect', () => probe.destroy());
    });
  });
  return port;
}

const hasMosquitto = existsSync('/usr/sbin/mosquitto');
const brokers = [
  { name: 'aedes', start: startAedes, isThere: true },
  { name: 'mosquitto', start: startMosquitto, isThere: hasMosquitto },
];

describe.each(brokers)('with $name', ({ name, start, isThere }) => {
  const title = (what: string): string => (isThere ? what : `${what} [skipped: ${name} is not installed]`);

  it.skipIf(!isThere)(title('publishes, subscribes and receives'), async () => {
    const port = await start();
    const one = party(port);
    const other = party(port);
    await until(() => one.ups.length + other.ups.length === 2);
    await other.link.subscribe(['a/+']);
    await one.link.publish({ topic: 'a/b', payload: Uint8Array.of(0, 255, 7), qos: 1 });
    await one.link.publish({ topic: 'a/c', payload: bytes('zero'), qos: 0 });
    await until(() => other.received.length === 2);
    expect([...(other.received[0]?.message.payload ?? [])]).toEqual([0, 255, 7]);
    expect(other.received.map(({ message }) => [message.topic, message.qos])).toEqual([
      ['a/b', 1],
      ['a/c', 0],
    ]);
  });

  it.skipIf(!isThere)(title('sends a PUBACK when acknowledge is called, and not before'), async () => {
    const port = await start();
    const witness = await pubackWitness(port);
    const one = party(port);
    const other = party(witness.port);
    await until(() => one.ups.length + other.ups.length === 2);
    await other.link.subscribe(['c']);
    for (let index = 0; index < 10; index++)
      await one.link.publish({ topic: 'c', payload: bytes(String(index)), qos: 1 });
    await until(() => other.received.length === 10);
    // Reading goes on meanwhile, and our own publishes are answered; a PUBACK would have come before.
    await other.link.publish({ topic: 'elsewhere', payload: bytes('x'), qos: 1 });
    expect(witness.pubacks).toEqual([]);
    other.received[0]?.acknowledge();
    other.received[0]?.acknowledge();
    await until(() => witness.pubacks.length === 1);
    for (const { acknowledge } of other.received) acknowledge();
    await until(() => witness.pubacks.length === 10);
    await other.link.publish({ topic: 'elsewhere', payload: bytes('y'), qos: 1 });
    expect(new Set(witness.pubacks).size).toBe(10);
    expect(witness.pubacks).toHaveLength(10);
    expect(other.received.map(({ message }) => text(message.payload))).toEqual(
      Array.from({ length: 10 }, (_v, i) => String(i)),
    );
    expect(other.downs).toEqual([]);
  });

  it.skipIf(!isThere)(title('leaves without a last will when closed, with it when destroyed'), async () => {
    const port = await start();
    const watcher = party(port);
    const polite = party(port, { will: { topic: 'wills/polite', payload: bytes('gone'), qos: 1 } });
    const rude = party(port, { will: { topic: 'wills/rude', payload: bytes('gone'), qos: 1 } });
    await until(() => watcher.ups.length + polite.ups.length + rude.ups.length === 3);
    await watcher.link.subscribe(['wills/#']);
    await polite.link.close();
    rude.link.destroy('no acknowledgement for 30 s');
    await until(() => watcher.received.length > 0);
    await watcher.link.publish({ topic: 'wills/none', payload: bytes('end'), qos: 1 });
    await until(() => watcher.received.some(({ message }) => message.topic === 'wills/none'));
    expect(watcher.received.map(({ message }) => message.topic)).toEqual(['wills/rude', 'wills/none']);
    expect(rude.downs).toEqual(['no acknowledgement for 30 s']);
    expect(polite.downs).toEqual([]);
  });

  it.skipIf(!isThere)(
    title('never settles what was in flight when the link broke, and says so once'),
    async () => {
      const port = await start();
      const witness = await pubackWitness(port);
      const one = party(witness.port);
      await until(() => one.ups.length === 1);
      let settled = 0;
      witness.sockets[0]?.pause();
      witness.sockets[0]?.unpipe();
      void one.link.publish({ topic: 'x', payload: bytes('lost'), qos: 1 }).finally(() => (settled += 1));
      await pause(20);
      witness.sockets[0]?.resetAndDestroy();
      await until(() => one.downs.length === 1);
      await pause(50);
      expect(settled).toBe(0);
      expect(one.downs).toHaveLength(1);
    },
  );
});

describe('refusals', () => {
  it('names a wrong password', async () => {
    const one = party(await startAedes(), { password: 'wrong' });
    await until(() => one.downs.length > 0);
    expect(one.downs).toEqual(['refused: bad user name or password']);
    expect(one.ups).toEqual([]);
  });

  it.each([
    [1, 'protocol version'],
    [2, 'client id'],
    [3, 'server unavailable'],
    [5, 'not authorised'],
  ])('puts CONNACK code %i in words', async (code, words) => {
    const port = await listen((socket) =>
      socket.once('data', () => socket.write(Uint8Array.of(0x20, 2, 0, code))),
    );
    const one = party(port);
    await until(() => one.downs.length > 0);
    expect(one.downs[0]).toContain(words);
    expect(one.downs).toHaveLength(1);
  });
});

describe('bad peers', () => {
  it.each([
    ['garbage at once', (socket: Socket) => void socket.write(Buffer.alloc(5000, 0xf7))],
    ['text', (socket: Socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    [
      'an endless length',
      (socket: Socket) => void socket.write(Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0xff, 0xff)),
    ],
    ['a reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['an end', (socket: Socket) => void socket.end()],
    ['silence', () => undefined],
    [
      'garbage after a good CONNACK',
      (socket: Socket) =>
        void socket.once('data', () =>
          socket.write(Buffer.concat([Buffer.from([0x20, 2, 0, 0]), Buffer.alloc(300, 0xff)])),
        ),
    ],
    [
      'a second CONNACK',
      (socket: Socket) =>
        void socket.once('data', () => socket.write(Uint8Array.of(0x20, 2, 0, 0, 0x20, 2, 0, 0))),
    ],
    [
      'a message of QoS 2',
      (socket: Socket) =>
        void socket.once('data', () => socket.write(Uint8Array.of(0x20, 2, 0, 0, 0x34, 5, 0, 1, 0x61, 0, 9))),
    ],
    [
      'a packet that never ends',
      (socket: Socket) =>
        void socket.once('data', () => {
          socket.write(Uint8Array.of(0x20, 2, 0, 0, 0x30, 0xff, 0xff, 0xff, 0x7f));
          socket.write(Buffer.alloc(1024 * 1024));
        }),
    ],
  ])('%s: down exactly once, nothing thrown', async (_name, behave) => {
    // Some say nothing that is wrong: then it is their silence that ends it.
    const one = party(await listen(behave), { connectTimeoutMs: 500 });
    await until(() => one.downs.length > 0);
    one.link.destroy('again');
    await one.link.close();
    await pause(30);
    expect(one.downs).toHaveLength(1);
    expect(one.downs[0]).not.toBe('');
  });

  it('packets of every kind that are still being handled when the link ends do not throw', async () => {
    const pubrel = [0x62, 2, 0, 1];
    const broken = Uint8Array.of(0xf0, 0xff, 0xff, 0xff, 0xff, 0xff);
    const kinds: readonly (readonly number[])[] = [
      [0x20, 2, 0, 0], // CONNACK
      [0x30, 3, 0, 1, 0x74], // PUBLISH, QoS 0
      [0x32, 5, 0, 1, 0x74, 0, 1], // PUBLISH, QoS 1
      [0x34, 5, 0, 1, 0x74, 0, 1], // PUBLISH, QoS 2
      [0x40, 2, 0, 1], // PUBACK
      [0x50, 2, 0, 1], // PUBREC
      [0x62, 2, 0, 1], // PUBREL
      [0x70, 2, 0, 1], // PUBCOMP
      [0x90, 3, 0, 1, 0], // SUBACK
      [0xb0, 2, 0, 1], // UNSUBACK
      [0xd0, 0], // PINGRESP
    ];
    const seen = kinds.map(async (kind) => {
      const port = await listen((socket) => {
        socket.once('data', () => {
          const packets = Array.from({ length: 20 }, () => Uint8Array.from([...pubrel, ...kind]));
          socket.write(Buffer.concat([Uint8Array.of(0x20, 2, 0, 0), ...packets, broken]));
        });
      });
      const one = party(port);
      await until(() => one.downs.length > 0);
      await pause(30);
      return one.downs.length;
    });
    expect(await Promise.all(seen)).toEqual(kinds.map(() => 1));
  });

  it('random bytes never throw', async () => {
    const luck = createLuck(campaignSeed());
    const noise = () => Uint8Array.from({ length: 2000 }, () => Math.floor(luck() * 256));
    const port = await listen((socket) => {
      socket.once('data', () => {
        socket.write(Uint8Array.of(0x20, 2, 0, 0));
        socket.write(noise());
        setTimeout(() => socket.destroy(), 30);
      });
    });
    const many = Array.from({ length: 60 }, () => party(port));
    await until(() => many.every((one) => one.downs.length === 1));
    await pause(30);
    expect(many.every((one) => one.downs.length === 1)).toBe(true);
  });

  it('a closed port, an unknown scheme and a bad certificate authority are reasons, not exceptions', async () => {
    const silent = await listen(() => undefined);
    const cases = [
      // Of TCPMUX, which nothing serves: no other test is given it meanwhile.
      party(1),
      party(0, { url: 'gopher://127.0.0.1' }),
      party(0, { url: 'not a url' }),
      // An authority that is none counts as no authority: it is the silence of the peer that ends this one.
      party(silent, { url: `mqtts://127.0.0.1:${silent}`, ca: 'no certificate', connectTimeoutMs: 500 }),
    ];
    await until(() => cases.every((one) => one.downs.length === 1));
    expect(cases[0]?.downs[0]).toContain('ECONNREFUSED');
  });

  it('a keep-alive without an answer ends the link, with a reason of its own', async () => {
    const greet = (then: (socket: Socket) => void) =>
      listen((socket) => {
        socket.once('data', () => {
          socket.write(Uint8Array.of(0x20, 2, 0, 0));
          then(socket);
        });
      });
    const silent = party(await greet(() => undefined), { keepaliveS: 1 });
    const closing = party(await greet((socket) => socket.end()));
    await until(() => silent.downs.length === 1 && closing.downs.length === 1);
    expect(silent).toMatchObject({ downs: ['Keepalive timeout'], silences: [true] });
    expect(closing.silences).toEqual([false]);
  });

  it('close ends in time even when the peer is silent', async () => {
    const one = party(
      await listen((socket) => void socket.once('data', () => socket.write(Uint8Array.of(0x20, 2, 0, 0)))),
    );
    await until(() => one.ups.length === 1);
    await one.link.close();
    expect(one.downs).toEqual([]);
  });
});
