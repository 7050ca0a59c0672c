// Connections on their way to MQTT, over real sockets: each in its turn, and none that is silent, slow, closed or hostile holds
// up those that come after.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readTlsFiles } from '../../broker/adapters/keys/tls-files.ts';
import { type HandshakeLimits, handshakeLimits } from '../../broker/adapters/mqtt/handshake-queue.ts';
import { type Listener, openListener } from '../../broker/adapters/mqtt/mqtt-listener.ts';
import { type TlsListening } from '../../broker/ports/tls.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { createBenchLog } from '../support/broker/broker-bench.ts';
import { createOwnAuthority } from '../support/broker/own-authority.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const folder = temporaryFolder('arrivals');
let ca: string;
let tls: TlsListening;
let listener: Listener | null = null;
const opened: Socket[] = [];

beforeAll(() => {
  const authority = createOwnAuthority(folder);
  ({ ca } = authority);
  const { material } = readTlsFiles({ setting: 'mqtt.tls', ...authority.server('localhost') });
  tls = { material, clientCert: 'none', certificateSuffices: false };
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await listener?.close();
  listener = null;
});

/** Listens; the first bytes of each connection go to `received` and back. */
async function listen(isTls: boolean, changes: Partial<HandshakeLimits> = {}) {
  const received: string[] = [];
  const streams: Duplex[] = [];
  let [crowded, hasty] = [0, 0];
  const log = createBenchLog();
  listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    tls: isTls ? tls : null,
    origins: null,
    setting: 'mqtt',
    clock: createSystemClock(),
    log,
    arrivals: { ...handshakeLimits, ...changes },
    admit: () => true,
    onCrowd: () => void (crowded += 1),
    accept: (stream) => {
      streams.push(stream);
      stream.on('error', () => undefined);
      // As aedes does, before anything else.
      stream.on('end', () => {
        hasty += 1;
        stream.destroy();
      });
      stream.on('readable', () => {
        const bytes = stream.read() as Buffer | null;
        if (bytes === null) return;
        received.push(bytes.toString());
        stream.write(bytes);
      });
    },
  });
  return {
    listener,
    port: listener.port,
    received,
    streams,
    log,
    crowded: () => crowded,
    hasty: () => hasty,
  };
}

async function openPlain(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  opened.push(socket);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/** Connects over TLS, sends a text and waits for its echo; null when the connection ended instead. */
function echoOverTls(port: number, text: string): Promise<string | null> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  opened.push(socket);
  socket.once('secureConnect', () => socket.write(text));
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString()));
    socket.once('close', () => resolve(null));
  });
}

const isClosed = (socket: Socket): Promise<boolean> =>
  waitUntil('the end of a connection', () => socket.destroyed || socket.readableEnded).then(() => true);

/** The first bytes of a TLS client, for one that then says no more. */
async function firstFlight(): Promise<Buffer> {
  const server = createServer();
  const bytes = new Promise<Buffer>((resolve) => {
    server.once('connection', (socket) => {
      socket.on('error', () => undefined);
      socket.once('data', resolve);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
  socket.on('error', () => undefined);
  const flight = await bytes;
  socket.destroy();
  server.close();
  return flight;
}

describe('the queue of handshakes', () => {
  it('passes on what was sent before the handshake began, to the byte and in order', async () => {
    const { port, received } = await listen(false);
    const socket = await openPlain(port);
    const parts = Array.from({ length: 40 }, (_unused, at) => `${at} ${'x'.repeat(at * 40)};`);
    for (const part of parts) socket.write(part);
    await waitUntil('every byte', () => received.join('').length === parts.join('').length);
    expect(received.join('')).toBe(parts.join(''));
  });

  it('starts nothing for a silent connection, and closes it in time', async () => {
    const { port, streams, listener: own } = await listen(true, { silentMs: 200 });
    const socket = await openPlain(port);
    socket.resume();
    // A part of a first record does not count either.
    socket.write(Uint8Array.from([22, 3, 1, 2, 0, 1]));
    expect(await isClosed(socket)).toBe(true);
    expect([streams.length, own.waiting()]).toEqual([0, 0]);
  });

  it('admits a TLS client at once while more clients than slots send nothing or half a record', async () => {
    const { port } = await listen(true, { atWorkMost: 2 });
    for (let at = 0; at < 20; at++) {
      const socket = await openPlain(port);
      if (at % 2 === 0) socket.write(Uint8Array.from([22, 3, 1, 2, 0, 1]));
    }
    expect(await echoOverTls(port, 'let me in')).toBe('let me in');
  });

  it('admits a TLS client while every slot was taken by clients that began and then stalled', async () => {
    const flight = await firstFlight();
    const { port, listener: own } = await listen(true, { atWorkMost: 2, placeMs: 50 });
    for (let at = 0; at < 10; at++) (await openPlain(port)).write(flight);
    await waitUntil('a line', () => own.waiting() > 0);
    expect(await echoOverTls(port, 'let me in')).toBe('let me in');
  });

  it('begins in the order in which the first bytes arrived', async () => {
    const flight = await firstFlight();
    const { port, received, listener: own } = await listen(true, { atWorkMost: 1, placeMs: 60_000 });
    const first = await openPlain(port);
    first.write(flight);
    const texts = Array.from({ length: 12 }, (_unused, at) => `client ${at}`);
    const echoes = [];
    for (const [at, text] of texts.entries()) {
      echoes.push(echoOverTls(port, text));
      await waitUntil('one more in line', () => own.waiting() === at + 1);
    }
    first.destroy();
    expect(await Promise.all(echoes)).toEqual(texts);
    expect(received).toEqual(texts);
  });

  it('turns away connections that find the queue full or waited too long, and counts them', async () => {
    const flight = await firstFlight();
    const limits = { atWorkMost: 1, waitingMost: 2, placeMs: 60_000, waitMs: 300 };
    const { port, crowded, listener: own } = await listen(true, limits);
    const first = await openPlain(port);
    first.write(flight);
    const second = await openPlain(port);
    const third = await openPlain(port);
    for (const socket of [second, third]) {
      socket.resume();
      socket.write(flight);
    }
    await waitUntil('a line of 2', () => own.waiting() === 2);
    const fourth = await openPlain(port);
    fourth.resume();
    fourth.write(flight);
    expect(await isClosed(fourth)).toBe(true);
    expect(crowded()).toBe(1);
    expect([await isClosed(second), await isClosed(third)]).toEqual([true, true]);
    expect([crowded(), own.waiting(), first.destroyed]).toEqual([3, 0, false]);
  });

  it('spends nothing on a connection that closed while it waited', async () => {
    const flight = await firstFlight();
    const { port, log, listener: own } = await listen(true, { atWorkMost: 1, placeMs: 60_000 });
    const first = await openPlain(port);
    first.write(flight);
    const gone = await openPlain(port);
    gone.write(flight);
    await waitUntil('a line of 1', () => own.waiting() === 1);
    gone.destroy();
    await waitUntil('a line of 0', () => own.waiting() === 0);
    first.destroy();
    expect(await echoOverTls(port, 'my turn')).toBe('my turn');
    // The first one broke off in its handshake; the other never had one.
    expect(log.lines.filter(({ event }) => event === 'tls_handshake_failed').length).toBeLessThanOrEqual(1);
  });

  it('lets TLS itself refuse what is no TLS, and serves the next client', async () => {
    const { port, log } = await listen(true, { atWorkMost: 1 });
    const socket = await openPlain(port);
    socket.resume();
    socket.write('CONNECT without TLS');
    expect(await isClosed(socket)).toBe(true);
    expect(log.lines.some(({ event }) => event === 'tls_handshake_failed')).toBe(true);
    expect(await echoOverTls(port, 'after it')).toBe('after it');
  });

  it('closes dead sockets in a later loop turn than the one in which they ended', async () => {
    const { port, streams, hasty } = await listen(true);
    const clients = Array.from({ length: 30 }, (_unused, at) => {
      const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca });
      opened.push(socket);
      socket.on('error', () => undefined);
      socket.once('secureConnect', () => socket.write(`client ${at}`));
      return socket;
    });
    await waitUntil('every client', () => streams.length === clients.length);
    for (const client of clients) client.destroy();
    await waitUntil('every end', () => streams.every((stream) => stream.destroyed));
    expect(hasty()).toBe(0);
  });

  it('ends every waiting connection when it closes', async () => {
    const { port, listener: own } = await listen(true);
    const silent = await openPlain(port);
    silent.resume();
    await sleep(50);
    await own.close();
    expect(await isClosed(silent)).toBe(true);
  });
});
