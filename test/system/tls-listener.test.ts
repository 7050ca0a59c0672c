// MQTT over TLS and over WebSocket in this process, with clients of other people and raw bytes: who comes in with which
// certificate, what a handshake may not do, when a session ends, and that nothing stays behind.
import { readFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { connectAsync, type IClientOptions } from 'mqtt';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { readTlsFiles } from '../../broker/adapters/keys/tls-files.ts';
import type { ClientCertPolicy } from '../../broker/core/accounts/client-certificate.ts';
import { type TlsListening } from '../../broker/ports/tls.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  recordCertificate,
  revokeAllCertificates,
  revokeCertificate,
} from '../../broker/store/devices/certificates.ts';
import { deleteDevice } from '../../broker/store/devices/device-deletion.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import type { Clock } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createSteadyClock, type SteadyClock } from '../support/broker/broker-bench.ts';
import { createAuthority } from '../support/broker/certificates.ts';
import { type LiveBroker, type LiveDevice, startLiveBroker } from '../support/broker/live-broker.ts';
import { createOwnAuthority, type OwnCertificate } from '../support/broker/own-authority.ts';
import { requires } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, type RawClient } from '../support/mqtt/raw-mqtt.ts';

const { missing } = requires({ commands: ['openssl'], debian: ['openssl'] });
/** Sessions must end within this time of the broker after a revocation. */
const revokedMs = 5000;

describe.skipIf(missing !== null)(`MQTT over TLS ${missing ?? ''}`, () => {
  const folder = temporaryFolder('tls');
  let ca: string;
  let server: OwnCertificate;
  let second: OwnCertificate;
  let own: OwnCertificate;
  let caFile: string;
  let live: LiveBroker | null = null;
  let time: SteadyClock | null = null;
  let truck: LiveDevice;
  beforeAll(() => {
    const authority = createOwnAuthority(folder);
    ({ ca, caFile } = authority);
    server = authority.server('localhost,127.0.0.1');
    second = authority.server('fleet.example.com');
    own = authority.device('acme', 'truck-1');
  });
  afterEach(async () => {
    await live?.broker.close();
    live = null;
    time?.stop();
    time = null;
  });

  const listening = (clientCert: ClientCertPolicy, certificateSuffices = true): TlsListening => {
    const clientCaFile = clientCert === 'none' ? undefined : caFile;
    const { material } = readTlsFiles({ setting: 'mqtt.tls', ...server, clientCaFile });
    return { material, clientCert, certificateSuffices };
  };
  const start = async (
    clientCert: ClientCertPolicy,
    certificateSuffices = true,
    clock: Clock = createSystemClock(),
  ): Promise<LiveBroker> => {
    const tls = listening(clientCert, certificateSuffices);
    const plenty = { burst: 1e9, perS: 1e9 };
    const limits = { connects: plenty, failures: plenty };
    const websocket = { host: '127.0.0.1', port: 0, origins: ['https://fleet.example.com'], tls };
    live = await startLiveBroker(limits, { tls, websocket }, clock);
    truck = await live.addDevice('acme', 'truck-1');
    return live;
  };
  /** With a time of the broker that stands still while this process does, so that what takes long can be measured. */
  const startTimed = async (clientCert: ClientCertPolicy) => {
    const clock = createSteadyClock();
    time = clock;
    return { ...(await start(clientCert, true, clock)), clock };
  };
  const shown = (certificate: { readonly cert: string; readonly key: string } | null): ConnectionOptions =>
    certificate === null ? { ca } : { ca, cert: certificate.cert, key: certificate.key };
  /** Return code of CONNACK, or `closed`. */
  const enter = async (
    certificate: { readonly cert: string; readonly key: string } | null,
    changes: object = {},
  ): Promise<{ readonly code: number | 'closed'; readonly client: RawClient | null }> => {
    const port = live?.port ?? 0;
    try {
      const client = await connectRaw(port, shown(certificate));
      client.send(connectPacket(truck.user, truck.secret, changes));
      return { code: (await client.next('connack')).returnCode ?? 'closed', client };
    } catch {
      return { code: 'closed', client: null };
    }
  };
  const codeOf = async (...args: Parameters<typeof enter>) => {
    const { code, client } = await enter(...args);
    client?.end();
    return code;
  };
  const withoutSecret = { password: undefined };

  it('accepts a secret from clients that trust its authority, and asks for no certificate unless configured to', async () => {
    await start('none');
    expect(await codeOf(null)).toBe(0);
    expect(await codeOf(null, { password: Buffer.from('wrong') })).toBe(4);
    expect(await codeOf(own, withoutSecret)).toBe(4);
  });

  it('lets in with a certificate alone, with a secret alone or with both, and everything given must be right', async () => {
    const { db } = await start('optional');
    expect(await codeOf(own, withoutSecret)).toBe(0);
    expect(await codeOf(own)).toBe(0);
    expect(await codeOf(null)).toBe(0);
    expect(await codeOf(null, withoutSecret)).toBe(4);
    expect(await codeOf(own, { password: Buffer.from('wrong') })).toBe(4);
    const other = await live?.addDevice('acme', 'truck-2');
    const foreign = {
      clientId: 'acme/truck-2',
      username: 'acme/truck-2',
      password: Buffer.from(other?.secret ?? ''),
    };
    expect(await codeOf(own, foreign)).toBe(5);
    expect(await codeOf(own, { ...foreign, username: truck.user })).toBe(2);
    await db.write([sql`UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'`]);
    expect(await codeOf(own, withoutSecret)).toBe(4);
  });

  it('requires the secret besides where the listener is set to', async () => {
    await start('required', false);
    expect(await codeOf(own, withoutSecret)).toBe(4);
    expect(await codeOf(own)).toBe(0);
  });

  it('admits no client without a valid certificate where one is required', async () => {
    await start('required');
    expect(await codeOf(own, withoutSecret)).toBe(0);
    expect(await codeOf(null)).toBe('closed');
    const foreign = createAuthority(folder).issue('acme/truck-1'.replace('/', '-'), 2);
    expect(await codeOf(foreign)).toBe('closed');
    // A certificate of a listener is none of a client, though the authority is the same.
    expect(await codeOf(server)).toBe('closed');
  });

  it('refuses a bad certificate also where none would do', async () => {
    await start('optional');
    const foreign = createAuthority(folder).issue('stranger', 2);
    expect(await codeOf(foreign)).toBe('closed');
    expect(await codeOf(server)).toBe('closed');
    const lines = live?.log.lines.filter(({ event }) => event === 'certificate_refused') ?? [];
    expect(lines.map(({ fields }) => fields['listener'])).toEqual(['mqtt', 'mqtt']);
  });

  it('resumes a session by ticket, with the certificate that it began with', async () => {
    const { port } = await start('optional');
    const first = await connectRaw(port, shown(own));
    const session = await new Promise<Buffer>((resolve) => {
      (first.socket as TLSSocket).once('session', resolve);
      first.send(connectPacket(truck.user, truck.secret));
    });
    first.end();
    const again = async () => {
      // What the client shows now is nothing: only the ticket speaks.
      const client = await connectRaw(port, { ca, session });
      client.send(connectPacket(truck.user, '', withoutSecret as object));
      const { returnCode } = await client.next('connack');
      const isResumed = (client.socket as TLSSocket).isSessionReused();
      client.end();
      return { returnCode, isResumed };
    };
    expect(await again()).toEqual({ returnCode: 0, isResumed: true });
    // A revoked certificate does not come back through a ticket.
    await live?.db.write(revokeAllCertificates(truck, { atMs: Date.now() + 1000, isForSecret: false }));
    expect(await again()).toEqual({ returnCode: 4, isResumed: true });
  });

  describe('a live session ends within 5 s', () => {
    const clock = createSystemClock();
    const atMs = () => Math.round(clock.utcMs()) + 1000;
    const revocations: readonly [string, (broker: LiveBroker) => Promise<unknown>][] = [
      [
        'its certificate was revoked',
        ({ db }) => db.write(revokeCertificate(truck, { serial: own.serial, atMs: atMs(), untilMs: atMs() })),
      ],
      [
        'all certificates of its device were revoked',
        ({ db }) => db.write(revokeAllCertificates(truck, { atMs: atMs(), isForSecret: false })),
      ],
      [
        'its device got a new secret',
        async ({ db }) => {
          await db.write([recordCertificate(truck, { serial: own.serial, atMs: 1, untilMs: atMs() })]);
          await issueDeviceSecret(db, createSystemEntropy(), clock, truck);
        },
      ],
      [
        'its device was deleted',
        ({ db }) => db.write(deleteDevice(truck, wholeAccount('acme'), Math.ceil(atMs() / 1000))),
      ],
    ];
    it.each(revocations)('when %s, and it does not come back', async (_why, revoke) => {
      const broker = await startTimed('required');
      const { client } = await enter(own, withoutSecret);
      expect(client?.isClosed()).toBe(false);
      const beganMs = broker.clock.monoMs();
      await revoke(broker);
      await client?.closed;
      expect(broker.clock.monoMs() - beganMs).toBeLessThan(revokedMs);
      expect(await codeOf(own, withoutSecret)).toBe(4);
    });

    it('but that of another device stays open', async () => {
      const { db, clock: brokerTime } = await startTimed('optional');
      const { client } = await enter(own, withoutSecret);
      const other = (await live?.addDevice('acme', 'truck-2')) ?? expect.fail();
      await db.write(revokeAllCertificates(other, { atMs: atMs(), isForSecret: false }));
      const beganMs = brokerTime.monoMs();
      await waitUntil('a look at all connections', () => brokerTime.monoMs() - beganMs > 3000);
      client?.send({ cmd: 'pingreq' });
      await client?.next('pingresp');
    });
  });

  it('shows new certificates to new connections, and open ones stay open', async () => {
    const broker = await start('required');
    const { client } = await enter(own, withoutSecret);
    const names = async () => {
      const socket = connectTls({
        port: broker.port,
        host: '127.0.0.1',
        ca,
        ...shown(own),
        checkServerIdentity: () => undefined,
      });
      await new Promise((resolve) => socket.once('secureConnect', resolve));
      const { subjectaltname } = socket.getPeerCertificate();
      socket.destroy();
      return subjectaltname;
    };
    expect(await names()).toBe('DNS:localhost, IP Address:127.0.0.1');
    const { material } = readTlsFiles({ setting: 'mqtt.tls', ...second, clientCaFile: caFile });
    broker.broker.renewTls({ mqtt: material, websocket: material });
    expect(await names()).toBe('DNS:fleet.example.com');
    client?.send({ cmd: 'pingreq' });
    await client?.next('pingresp');
    expect(client?.isClosed()).toBe(false);
  });

  describe('a handshake', () => {
    const raw = async (port: number): Promise<Socket> => {
      const socket = connectSocket({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    };
    const gone = (socket: Socket): Promise<void> =>
      new Promise((resolve) => {
        socket.resume();
        socket.once('close', () => resolve());
      });

    it('below TLS 1.2 is refused, at 1.2 and 1.3 it is not', async () => {
      const { port } = await start('none');
      const versionOf = (maxVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
        new Promise<string | null>((resolve) => {
          const to = { port, host: '127.0.0.1', servername: 'localhost', ca, minVersion: 'TLSv1' } as const;
          // Level 0, or this client would not even ask.
          const socket = connectTls({ ...to, maxVersion, ciphers: 'ALL:@SECLEVEL=0' }, () => {
            resolve(socket.getProtocol());
            socket.destroy();
          });
          socket.on('error', ({ message }) =>
            resolve(/alert protocol version|unsupported/.test(message) ? null : message),
          );
        });
      expect(await versionOf('TLSv1')).toBeNull();
      expect(await versionOf('TLSv1.1')).toBeNull();
      expect(await versionOf('TLSv1.2')).toBe('TLSv1.2');
      expect(await versionOf('TLSv1.3')).toBe('TLSv1.3');
    });

    it('needs no server name, and any name gets the one certificate', async () => {
      await start('none');
      const client = await connectRaw(live?.port ?? 0, {
        ca,
        servername: '',
        checkServerIdentity: () => undefined,
      });
      client.end();
      await expect(connectRaw(live?.port ?? 0, { ca, servername: 'fleet.example.com' })).rejects.toThrow(
        /altnames/,
      );
    });

    it('that is none, in plain MQTT or in any bytes, ends the connection and nothing else', async () => {
      const { port } = await start('none');
      for (const bytes of [
        '\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00',
        'GET / HTTP/1.1\r\n\r\n',
        '\x16\x03\x01\xff\xff',
      ]) {
        const socket = await raw(port);
        socket.end(Buffer.from(bytes, 'latin1'));
        await gone(socket);
      }
      expect(await codeOf(null)).toBe(0);
    });

    it('that takes longer than 10 s is ended, on every kind of listener', async () => {
      const { port, broker, clock } = await startTimed('none');
      const sockets = await Promise.all([raw(port), raw(broker.websocketPort ?? 0)]);
      // A third one has TLS, and never asks for anything.
      const silent = connectTls({
        port: broker.websocketPort ?? 0,
        host: '127.0.0.1',
        servername: 'localhost',
        ca,
      });
      silent.on('error', () => undefined);
      // The beginning of a ClientHello, and then nothing.
      for (const socket of sockets) socket.write(Buffer.from('160301020001', 'hex'));
      const beganMs = clock.monoMs();
      await Promise.all([...sockets, silent].map(gone));
      expect(clock.monoMs() - beganMs).toBeGreaterThan(9000);
      expect(await codeOf(null)).toBe(0);
    });

    it('leaves nothing behind, a thousand times', async () => {
      const { port, broker } = await start('required');
      const shake = async (client: ConnectionOptions): Promise<void> => {
        const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ...client });
        socket.on('error', () => undefined);
        await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve));
        socket.destroy();
      };
      const bulk = async (count: number): Promise<void> => {
        for (let done = 0; done < count; done += 20) {
          // Every other one is refused.
          await Promise.all(
            Array.from({ length: 20 }, (_unused, at) => shake(shown(at % 2 === 0 ? own : null))),
          );
        }
      };
      const handles = () =>
        process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout/.test(name)).length;
      await bulk(100);
      const before = handles();
      await bulk(1000);
      await waitUntil('the connections to be gone', () => handles() <= before + 5);
      expect(broker.services.metrics().connections).toBe(0);
    });
  });

  it('turns away before the handshake what comes too often', async () => {
    live = await startLiveBroker({ connects: { burst: 2, perS: 0.001 } }, { tls: listening('none') });
    const { port } = live;
    const tries = await Promise.allSettled([1, 2, 3, 4].map(() => connectRaw(port, { ca })));
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const one of tries) if (one.status === 'fulfilled') one.value.end();
  });

  it('stops although a handshake is in progress', async () => {
    const broker = await start('none');
    const socket = connectSocket({ port: broker.port, host: '127.0.0.1' });
    await new Promise((resolve) => socket.once('connect', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined).resume();
    await broker.broker.close();
    live = null;
    await closed;
  });

  describe('and WebSocket', () => {
    const url = () => `wss://localhost:${live?.broker.websocketPort ?? 0}/mqtt`;
    const options = (changes: object = {}): IClientOptions => ({
      clientId: truck.user,
      username: truck.user,
      password: truck.secret,
      reconnectPeriod: 0,
      connectTimeout: hangMs,
      ca,
      ...changes,
    });
    /** Status code of the upgrade, or `open`. */
    const upgrade = (headers: Record<string, string> = {}, path = '/mqtt', protocol: string[] = ['mqtt']) =>
      new Promise<number | 'open'>((resolve) => {
        const socket = new WebSocket(url().replace('/mqtt', path), protocol, { ca, headers });
        socket.on('open', () => {
          resolve('open');
          socket.terminate();
        });
        socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
        socket.on('error', () => undefined);
      });

    it('carries a whole session of mqtt.js', async () => {
      await start('none');
      const client = await connectAsync(url(), options());
      const acks: string[] = [];
      client.on('message', (_topic, payload) => acks.push(payload.toString()));
      await client.subscribeAsync(truck.topic('ack'), { qos: 1 });
      const events = Array.from({ length: 200 }, (_unused, at) => ({
        seq: at + 1,
        timestamp: 1_767_614_400 + at,
        statusCode: 61472,
      }));
      await client.publishAsync(truck.topic('events'), JSON.stringify({ boot: 'b1', events }), { qos: 1 });
      await waitUntil('the acknowledgement', () => acks.length > 0);
      expect(JSON.parse(acks[0] ?? '')).toMatchObject({ upTo: 200 });
      await client.endAsync();
    });

    it('has the same gates: secrets, certificates, names', async () => {
      await start('optional');
      await expect(connectAsync(url(), options({ password: 'wrong' }))).rejects.toThrow(
        /Not authorized|Bad/i,
      );
      const client = await connectAsync(
        url(),
        options({ password: undefined, cert: own.cert, key: own.key }),
      );
      await client.endAsync();
      const other = { clientId: 'acme/truck-2', username: 'acme/truck-2' };
      await expect(connectAsync(url(), options({ ...other, cert: own.cert, key: own.key }))).rejects.toThrow(
        /Not authorized/i,
      );
    });

    it('ends a session whose device got a new secret', async () => {
      const { db, clock } = await startTimed('none');
      const client = await connectAsync(url(), options());
      const ended = new Promise<void>((resolve) => client.once('close', () => resolve()));
      const beganMs = clock.monoMs();
      await issueDeviceSecret(db, createSystemEntropy(), createSystemClock(), truck);
      await ended;
      expect(clock.monoMs() - beganMs).toBeLessThan(revokedMs);
    });

    it('lets pages of listed origins in and no others', async () => {
      await start('none');
      expect(await upgrade()).toBe('open');
      expect(await upgrade({ origin: 'https://fleet.example.com' })).toBe('open');
      for (const origin of [
        'https://evil.example',
        'https://fleet.example.com.evil.example',
        'null',
        'http://fleet.example.com',
      ]) {
        expect(await upgrade({ origin }), origin).toBe(403);
      }
      expect(await upgrade({}, '/other')).toBe(404);
      expect(await upgrade({}, '/mqtt', [])).toBe(400);
      const plain = await fetch(url().replace('wss', 'https'), { method: 'GET' }).catch(() => null);
      // Node's fetch does not trust our authority: that TLS is there at all is what it can tell.
      expect(plain).toBeNull();
    });

    it('ends a connection that sends text, or more than a message may hold', async () => {
      await start('none');
      const send = (data: string | Buffer) =>
        new Promise<number>((resolve) => {
          const socket = new WebSocket(url(), ['mqtt'], { ca });
          socket.on('open', () => socket.send(data));
          socket.on('close', resolve);
          socket.on('error', () => undefined);
        });
      expect(await send('text')).toBe(1006);
      expect(await send(Buffer.alloc(129 * 1024))).toBe(1009);
      // A packet that only claims to be long.
      expect(await send(Buffer.from('30ffffff7f', 'hex'))).toBe(1006);
    });
  });

  it('is all there without TLS on loopback too', async () => {
    const websocket = { host: '127.0.0.1', port: 0, origins: [], tls: null };
    live = await startLiveBroker({}, { websocket });
    truck = await live.addDevice('acme', 'truck-1');
    const login = { clientId: truck.user, username: truck.user, password: truck.secret, reconnectPeriod: 0 };
    const client = await connectAsync(`ws://127.0.0.1:${live.broker.websocketPort ?? 0}/mqtt`, login);
    await client.endAsync();
    const plain = await fetch(`http://127.0.0.1:${live.broker.websocketPort ?? 0}/mqtt`);
    expect([plain.status, await plain.text()]).toEqual([426, expect.stringContaining('WebSocket')]);
    expect(readFileSync(caFile, 'utf8')).toBe(ca);
  });
});
