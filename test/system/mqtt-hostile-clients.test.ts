// Clients that mean ill, or are broken: each does to the product what it does to a bare aedes, and only the latter suffers.
// `bare` is aedes 1.2 with its own defaults; the comparison shows that the test would notice if our part were not there.
import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { readerLimits } from '../../broker/adapters/mqtt/aedes-reader.ts';
import { advanceUntilSettled, createBenchClock, createSteadyClock } from '../support/broker/broker-bench.ts';
import { startLiveBroker } from '../support/broker/live-broker.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { startOpenMqtt } from '../support/mqtt/open-mqtt.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import { openTestMqttServer, type TestMqttServer, topicOf } from '../support/mqtt/test-mqtt-server.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type DoorChanges = Parameters<typeof openTestMqttServer>[0];
async function open(changes: DoorChanges = {}): Promise<TestMqttServer> {
  const mqtt = await openTestMqttServer(changes);
  closers.push(() => mqtt.server.close());
  return mqtt;
}
/** With a clock that moves only by `advance`; `timers`: the delays of all timers that were set. */
async function openTimed(changes: DoorChanges = {}) {
  const clock = createBenchClock();
  const timers: number[] = [];
  const after = (delayMs: number, run: () => void) => {
    timers.push(delayMs);
    return clock.after(delayMs, run);
  };
  const mqtt = await openTestMqttServer({ ...changes, clock: { ...clock, after } });
  closers.push(() => advanceUntilSettled(clock, mqtt.server.close()));
  return { ...mqtt, clock, timers };
}
async function openBare(...args: Parameters<typeof startOpenMqtt>) {
  const server = await startOpenMqtt(...args);
  closers.push(() => server.close());
  return server;
}
async function loginBare(port: number, name: string, changes = {}): Promise<RawClient> {
  const client = await connectRaw(port);
  client.send(connectPacket(name, 'x', changes));
  await client.next('connack');
  return client;
}
async function subscribe(client: RawClient, topic: string): Promise<void> {
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] });
  await client.next('suback');
}
/**
 * Resolves when the server has read what reached it before on any connection: its loop has come round between two answers. A
 * client that sends several packets needs `setNoDelay`, or the kernel keeps the later ones back.
 */
async function comeRound(client: RawClient): Promise<void> {
  for (let times = 0; times < 2; times++) {
    client.send({ cmd: 'pingreq' });
    await client.next('pingresp');
  }
}
const downlink = { verb: 'ack', payload: new Uint8Array(9), qos: 0 } as const;
const count = (client: RawClient, cmd: string): number =>
  client.received.filter((packet) => packet.cmd === cmd).length;

describe('a subscriber that has stopped reading', () => {
  /** Of ten messages to another client, how many arrive while 300 large ones wait for the frozen one. */
  async function deliveriesBeside(isBare: boolean): Promise<number> {
    const { port, broker } = await openBare(isBare);
    const [frozen, other] = [await loginBare(port, 'frozen'), await loginBare(port, 'other')];
    await subscribe(frozen, 'frozen');
    await subscribe(other, 'other');
    frozen.socket.pause();
    const publish = (topic: string, payload: Buffer): void =>
      broker.publish({ cmd: 'publish', topic, payload, qos: 1, retain: false, dup: false }, () => undefined);
    for (let sent = 0; sent < 300; sent++) {
      publish('frozen', Buffer.alloc(60_000));
      if (sent % 20 === 0) await sleep(2);
    }
    for (let sent = 0; sent < 10; sent++) publish('other', Buffer.from('x'));
    if (!isBare) await waitUntil('all messages', () => count(other, 'publish') === 10);
    await comeRound(other);
    const delivered = count(other, 'publish');
    frozen.end();
    other.end();
    return delivered;
  }

  test('delays no other client (a bare aedes delivers nothing more to any)', async () => {
    expect(await deliveriesBeside(false)).toBe(10);
    expect(await deliveriesBeside(true)).toBe(0);
  });

  test('is dropped, and until then others get all that is theirs', async () => {
    const counts: string[] = [];
    const { server, login, log } = await open({ count: (what) => void counts.push(what) });
    const [frozen, other] = [await login('frozen'), await login('other')];
    await subscribe(frozen, topicOf('frozen', 'config'));
    await subscribe(other, topicOf('other', 'ack'));
    frozen.socket.pause();
    const address = { accountID: 'acme', deviceID: 'frozen' };
    let sent = 0;
    while (server.connected(address) !== null && sent < 1000) {
      void server.publish(address, { verb: 'config', payload: new Uint8Array(60_000), qos: 0 });
      void server.publish(
        { ...address, deviceID: 'other' },
        { verb: 'ack', payload: new Uint8Array(9), qos: 0 },
      );
      sent += 1;
      await sleep(1);
    }
    // What the kernel's buffers hold, and 1 MiB.
    expect(sent).toBeLessThan(300);
    await waitUntil('all messages to the other one', () => count(other, 'publish') === sent);
    expect(log.lines.map(({ event }) => event)).toContain('client_not_reading');
    expect(counts.filter((what) => what === 'unread')).toEqual(['unread']);
    frozen.end();
    other.end();
  });
});

describe('a peer that has not logged in', () => {
  test('cannot make the server hold what it claims (a bare aedes takes it all)', async () => {
    const claim = Uint8Array.from([0x10, 0xff, 0xff, 0xff, 0x7f]);
    const { server } = await open();
    const intruder = await connectRaw(server.port);
    intruder.sendBytes(claim);
    await intruder.closed;
    const bare = await openBare(true);
    const taken = await connectRaw(bare.port);
    taken.sendBytes(claim);
    for (let sent = 0; sent < 64; sent++) taken.sendBytes(new Uint8Array(128 * 1024));
    await waitUntil('all bytes to be taken', () => taken.socket.writableLength === 0);
    expect(taken.isClosed()).toBe(false);
    taken.end();
  });

  test('may send a CONNECT of 4 KiB and no longer one', async () => {
    const { server } = await open();
    const client = await connectRaw(server.port);
    client.send(connectPacket('acme/t', 'x'.repeat(5000)));
    await client.closed;
    expect(client.received).toEqual([]);
  });

  test('has 15 s, however steadily it sends single bytes', async () => {
    const { server, clock, timers } = await openTimed();
    const client = await connectRaw(server.port);
    const bytes = [0x10, 0x80, 0x10, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0x10, 0];
    for (const byte of bytes) {
      client.sendBytes(Uint8Array.from([byte]));
      await waitUntil('the login to be timed', () => timers.includes(readerLimits.connectMs));
      await sleep(5);
      clock.advance(990);
    }
    expect(client.isClosed()).toBe(false);
    clock.advance(1000);
    await client.closed;
  });

  test('is answered when the check of its secret never ends (a bare aedes keeps it for ever)', async () => {
    let asked = 0;
    const authenticate = (): Promise<never> => {
      asked += 1;
      return new Promise(() => undefined);
    };
    const { server, clock } = await openTimed({ authenticate });
    const client = await connectRaw(server.port);
    client.send(connectPacket('acme/t', 'x'));
    await waitUntil('the check of the secret', () => asked === 1);
    clock.advance(10_000);
    expect((await client.next('connack')).returnCode).toBe(3);
    await client.closed;
    const bare = await openBare(true, { connectTimeout: 100, authenticate: () => undefined });
    const kept = await connectRaw(bare.port);
    kept.send(connectPacket('t', 'x'));
    await sleep(500);
    expect(kept.isClosed()).toBe(false);
    kept.end();
  });

  test('that sends on during the check of its secret is read only after it (aedes ends it at the 43rd packet)', async () => {
    const authenticate = async (device: { accountID: string; deviceID: string }) => {
      await sleep(200);
      return { ...device, deviceNo: 1 };
    };
    const { server } = await open({ authenticate });
    const publishes = Array.from({ length: 60 }, (_unused, index) =>
      publishPacket(topicOf('t', 'events'), 'x', index + 1),
    );
    const client = await connectRaw(server.port);
    for (const packet of [connectPacket('acme/t', 'x'), ...publishes]) client.send(packet);
    await waitUntil('60 PUBACK', () => count(client, 'puback') === 60);
    client.end();
  });
});

describe('the keep alive', () => {
  test('ends a connection that is silent for one and a half times of it (MQTT-3.1.2-24), and is needed', async () => {
    const { login } = await open();
    const client = await login('t', { keepalive: 1 });
    await client.closed;
    await expect(login('t', { keepalive: 0 })).rejects.toThrow('CONNACK 5');
    await expect(login('t', { keepalive: 1801 })).rejects.toThrow('CONNACK 5');
    const bare = await openBare(true);
    const kept = await loginBare(bare.port, 't', { keepalive: 0 });
    await sleep(200);
    expect(kept.isClosed()).toBe(false);
    kept.end();
  });

  test('counts whole packets: single bytes keep no connection alive', async () => {
    const { login } = await open();
    const client = await login('t', { keepalive: 1 });
    client.sendBytes(Uint8Array.from([0x32, 0x7f]));
    const timer = setInterval(() => client.sendBytes(Uint8Array.from([0x00])), 50);
    await client.closed;
    clearInterval(timer);
  });
});

describe('a client that sends faster than the disk stores', () => {
  test('has a hundred publishes in work, never stalls, and is answered in order, also when they end one by one', async () => {
    let chain = Promise.resolve();
    let atWork = 0;
    let mostAtWork = 0;
    const onUplink = (): Promise<void> => {
      atWork += 1;
      mostAtWork = Math.max(mostAtWork, atWork);
      chain = chain.then(() => sleep(1)).then(() => void (atWork -= 1));
      return chain;
    };
    const { login } = await open({ onUplink });
    const client = await login('t');
    const total = 2000;
    for (let id = 1; id <= total; id++) {
      client.send(publishPacket(topicOf('t', 'events'), 'x'.repeat(200), id));
    }
    for (let id = 1; id <= total; id++) expect((await client.next('puback')).messageId).toBe(id);
    expect(mostAtWork).toBe(100);
    client.end();
  });

  test('is not limited in a bare aedes', async () => {
    let held = 0;
    const bare = await openBare(true, { authorizePublish: () => void (held += 1) });
    const client = await loginBare(bare.port, 't');
    for (let id = 1; id <= 1500; id++) client.send(publishPacket('t', 'x'.repeat(200), id));
    await waitUntil('200 publishes to be taken', () => held > 200);
    client.end();
  });

  test('shares the bytes that all clients may hold, and each gets its turn', async () => {
    let bytes = 0;
    let mostBytes = 0;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const onUplink: NonNullable<DoorChanges>['onUplink'] = async (_device, { payload }) => {
      bytes += payload.length;
      mostBytes = Math.max(mostBytes, bytes);
      await gate;
      await sleep(1);
      bytes -= payload.length;
    };
    const { login } = await open({ onUplink, limits: { bytesAll: 200_000 } });
    const names = Array.from({ length: 10 }, (_unused, index) => `t${index}`);
    const clients = await Promise.all(names.map((name) => login(name)));
    const idle = await login('idle');
    for (const [index, client] of clients.entries()) {
      client.socket.setNoDelay(true);
      for (let id = 1; id <= 10; id++) {
        client.send(publishPacket(topicOf(`t${index}`, 'events'), 'x'.repeat(60_000), id));
      }
    }
    await waitUntil(
      'all to be sent and some to be taken',
      () => mostBytes >= 200_000 && clients.every(({ socket }) => socket.writableLength === 0),
    );
    await comeRound(idle);
    expect(mostBytes).toBe(240_000);
    release();
    await waitUntil('all PUBACK', () => clients.every((client) => count(client, 'puback') === 10));
    expect(mostBytes).toBeLessThanOrEqual(240_000);
    for (const client of [...clients, idle]) client.end();
  });
});

describe('when the bytes that all clients may hold are used up', () => {
  test('clients with nothing to store are served all the same: ping, acknowledgement, DISCONNECT', async () => {
    const done: (() => void)[] = [];
    const { server, login } = await open({
      onUplink: () => new Promise((resolve) => void done.push(resolve)),
      limits: { inFlightAll: 10 },
    });
    const [busy, idle] = [await login('busy'), await login('idle')];
    idle.socket.setNoDelay(true);
    await subscribe(idle, topicOf('idle', 'commands'));
    for (let id = 1; id <= 50; id++) busy.send(publishPacket(topicOf('busy', 'events'), 'x', id));
    await waitUntil('10 publishes to be taken', () => done.length === 10);
    idle.send({ cmd: 'pingreq' });
    await idle.next('pingresp');
    const address = { accountID: 'acme', deviceID: 'idle' };
    const message = { verb: 'commands', payload: new Uint8Array(10), qos: 1 } as const;
    for (let sent = 0; sent < 100; sent++) {
      expect(await server.publish(address, message)).toBe(true);
      const { messageId } = await idle.next('publish');
      idle.send({ cmd: 'puback', messageId: messageId ?? 0 });
      // The acknowledgement has come in when what was sent after it is answered.
      idle.send({ cmd: 'pingreq' });
      await idle.next('pingresp');
    }
    idle.send({ cmd: 'disconnect' });
    await idle.closed;
    expect(done).toHaveLength(10);
    busy.end();
    for (const complete of done) complete();
  });

  test('a publish waits for its turn, with all that comes behind it', async () => {
    const done: (() => void)[] = [];
    const { login } = await open({
      onUplink: () => new Promise((resolve) => void done.push(resolve)),
      limits: { inFlightAll: 10 },
    });
    const [busy, other, idle] = [await login('busy'), await login('other'), await login('idle')];
    for (let id = 1; id <= 10; id++) busy.send(publishPacket(topicOf('busy', 'events'), 'x', id));
    await waitUntil('10 publishes to be taken', () => done.length === 10);
    other.socket.setNoDelay(true);
    other.send(publishPacket(topicOf('other', 'events'), 'x', 1));
    other.send({ cmd: 'pingreq' });
    await comeRound(idle);
    expect([done.length, other.received.length]).toEqual([10, 1]);
    for (const complete of done.splice(0, 5)) complete();
    await other.next('pingresp');
    for (const complete of done) complete();
    expect((await other.next('puback')).messageId).toBe(1);
    for (const client of [busy, other, idle]) client.end();
  });
});

describe('a client that never acknowledges', () => {
  test('gets 64 messages and is dropped; one that does gets all (a bare aedes sends without end)', async () => {
    const { server, login } = await open();
    const lazy = await login('lazy');
    await subscribe(lazy, topicOf('lazy', 'commands'));
    const address = { accountID: 'acme', deviceID: 'lazy' };
    const message = { verb: 'commands', payload: new Uint8Array(10), qos: 1 } as const;
    for (let sent = 0; sent < 64; sent++) expect(await server.publish(address, message)).toBe(true);
    expect(await server.publish(address, message)).toBe(false);
    await lazy.closed;
    const good = await login('lazy');
    await subscribe(good, topicOf('lazy', 'commands'));
    for (let sent = 0; sent < 300; sent++) {
      expect(await server.publish(address, message)).toBe(true);
      const { messageId } = await good.next('publish');
      good.send({ cmd: 'puback', messageId: messageId ?? 0 });
    }
    good.end();
    const bare = await openBare(true);
    const spoilt = await loginBare(bare.port, 'spoilt');
    await subscribe(spoilt, 'x');
    for (let sent = 0; sent < 200; sent++) {
      bare.broker.publish(
        { cmd: 'publish', topic: 'x', payload: 'x', qos: 1, retain: false, dup: false },
        () => undefined,
      );
    }
    await waitUntil('200 messages', () => count(spoilt, 'publish') === 200);
    spoilt.end();
  });
});

describe('a client that subscribed with QoS 0', () => {
  test('gets any number of messages and owes no acknowledgement for them (MQTT-3.8.4-6)', async () => {
    const { server, login } = await open();
    const client = await login('t');
    client.send({
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: topicOf('t', 'commands'), qos: 0 }],
    });
    expect((await client.next('suback')).granted).toEqual([0]);
    const message = { verb: 'commands', payload: new Uint8Array(10), qos: 1 } as const;
    for (let sent = 0; sent < 200; sent++)
      expect(await server.publish({ accountID: 'acme', deviceID: 't' }, message)).toBe(true);
    await waitUntil('200 messages', () => count(client, 'publish') === 200);
    client.end();
  });
});

describe('bytes that the specification forbids', () => {
  const connect = '100d 0004 4d515454 04 02 003c 0001 70';
  const bytesOf = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');
  async function answerTo(isBare: boolean, packet: string): Promise<string> {
    const { port } = await openBare(isBare);
    const client = await connectRaw(port);
    client.sendBytes(bytesOf(packet));
    client.send({ cmd: 'pingreq' });
    await Promise.race([client.closed, client.next('pingresp').catch(() => undefined)]);
    const last = client.received.map((one) =>
      'returnCode' in one ? `${one.cmd} ${one.returnCode}` : one.cmd,
    );
    client.end();
    return last.join(', ');
  }
  const taken = 'connack 0, pingresp';

  test.each([
    ['U+0000 in a client id (MQTT-1.5.3-2)', '100e 0004 4d515454 04 02 003c 0002 7000', '', taken],
    [
      'a surrogate in a user name (MQTT-1.5.3-1)',
      '1012 0004 4d515454 04 82 003c 0001 70 0003 eda080',
      '',
      taken,
    ],
    [
      'an empty client id, clean session 0 (MQTT-3.1.3-8)',
      '100c 0004 4d515454 04 00 003c 0000',
      'connack 2',
      taken,
    ],
    ['protocol level 6 (MQTT-3.1.2-2)', '100d 0004 4d515454 06 02 003c 0001 70', 'connack 1', ''],
    [
      'a password without a user name (MQTT-3.1.2-22)',
      '1010 0004 4d515454 04 42 003c 0001 70 0001 70',
      '',
      taken,
    ],
    ['bytes behind the last field of CONNECT', '100e 0004 4d515454 04 02 003c 0001 70 00', '', taken],
    ['a control character in a topic (1.5.3)', `${connect} 3004 0002 7001`, 'connack 0', taken],
    ['DUP with QoS 0 (MQTT-3.3.1-2)', `${connect} 3803 0001 70`, 'connack 0', taken],
  ])('%s', async (_name, packet, ours, bare) => {
    expect(await answerTo(false, packet)).toBe(ours);
    expect(await answerTo(true, packet)).toBe(bare);
  });

  test('an exception in the library ends one connection and not the process', async () => {
    const thrower = () => {
      throw new Error('as in a library with a fault');
    };
    const { port } = await openBare(false, { authorizeSubscribe: thrower });
    const [bad, good] = [await loginBare(port, 'bad'), await loginBare(port, 'good')];
    bad.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'x', qos: 0 }] });
    await bad.closed;
    good.send({ cmd: 'pingreq' });
    await good.next('pingresp');
    good.end();
  });
});

describe('ten thousand racing connections', () => {
  test('of fifty devices leave one connection of each, right counters, and nothing once they are closed', async () => {
    const random = seededRandom(runSeed());
    const authenticate = async (device: { accountID: string; deviceID: string }) => {
      await sleep(random() * 5);
      return { ...device, deviceNo: 1 };
    };
    let offline = 0;
    const { server } = await open({ authenticate, onOffline: () => void (offline += 1) });
    const accepted = new Set<Socket>();
    const onAccepted = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      if (socket.localPort !== server.port) return;
      accepted.add(socket);
      socket.once('close', () => accepted.delete(socket));
    };
    diagnostics.subscribe('net.server.socket', onAccepted);
    onTestFinished(() => void diagnostics.unsubscribe('net.server.socket', onAccepted));
    const lanes = Array.from({ length: 50 }, async (_unused, lane) => {
      for (let round = 0; round < 200; round++) {
        const client = await connectRaw(server.port);
        client.send(connectPacket(`acme/t${(lane + round) % 50}`, 'x'));
        if (round % 3 === 0) client.end();
        else if (round % 3 === 1) client.send({ cmd: 'disconnect' });
        else await client.next('connack').catch(() => undefined);
      }
    });
    await Promise.all(lanes);
    const openAs = async (device: string): Promise<RawClient> => {
      const client = await connectRaw(server.port);
      client.send(connectPacket(`acme/${device}`, 'x'));
      await client.next('connack');
      return client;
    };
    // Connections whose client has left are still read, and one of them would take the place of a newer one. All of them are accepted
    // before this one.
    const fence = await openAs('fence');
    await waitUntil('the end of what was left', () => accepted.size === server.connectionCount());
    fence.end();
    const last = await Promise.all(Array.from({ length: 50 }, (_unused, index) => openAs(`t${index}`)));
    await waitUntil('one connection of each', () => server.connectionCount() === 50);
    expect(new Set(server.connectedDevices().map(({ deviceID }) => deviceID)).size).toBe(50);
    expect(last.filter((client) => client.isClosed())).toEqual([]);
    const wasOffline = offline;
    for (const client of last) client.end();
    await waitUntil('the end of all', () => server.connectionCount() === 0);
    expect(offline - wasOffline).toBe(50);
  });
});

describe('one address that connects without end', () => {
  test('gets what its bucket holds and is turned away unread; another address comes in (a bare aedes takes all)', async () => {
    const counted: string[] = [];
    const connects = { burst: 5, perS: 1 };
    const { server, clock } = await openTimed({
      limits: { connects },
      count: (what) => void counted.push(what),
    });
    const knock = async (port: number, from?: string): Promise<RawClient> => {
      const client = await connectRaw(port, undefined, from);
      client.send(connectPacket('acme/t', 'x'));
      return client;
    };
    const outcomeOf = (client: RawClient): Promise<string> =>
      client.next('connack').then(
        () => 'in',
        () => 'turned away',
      );
    const outcomes: string[] = [];
    for (let tries = 0; tries < 8; tries++) outcomes.push(await outcomeOf(await knock(server.port)));
    expect(outcomes).toEqual([
      ...Array.from({ length: 5 }, () => 'in'),
      ...Array.from({ length: 3 }, () => 'turned away'),
    ]);
    expect(counted.filter((what) => what === 'refused_rate')).toHaveLength(3);
    expect(await outcomeOf(await knock(server.port, '127.0.0.2'))).toBe('in');
    clock.advance(1000);
    expect(await outcomeOf(await knock(server.port))).toBe('in');
    const bare = await openBare(true);
    const all = await Promise.all(Array.from({ length: 50 }, () => knock(bare.port)));
    expect(new Set(await Promise.all(all.map(outcomeOf)))).toContain('in');
    for (const client of all) client.end();
  });
});

describe('two units with one identity', () => {
  test('replace each other; each take-over is counted and reported in the end (a bare aedes reports nothing)', async () => {
    const counted: string[] = [];
    const { login, log, server } = await open({ count: (what) => void counted.push(what) });
    for (let round = 0; round < 3; round++) {
      await login('twin', {}, '127.0.0.1');
      await login('twin', {}, '127.0.0.2');
    }
    await waitUntil('one connection', () => server.connectionCount() === 1);
    expect(counted.filter((what) => what === 'takeover')).toHaveLength(5);
    const warnings = log.lines.filter(({ event }) => event === 'clone_suspected');
    expect(warnings.map(({ fields }) => fields['user'])).toEqual(['acme/twin', 'acme/twin']);
  });
});

describe('what a vehicle sends', () => {
  test('is kept nowhere in the library: not its will, not its subscriptions after it has gone', async () => {
    const { server, login } = await open();
    const will = { topic: topicOf('t', 'presence'), payload: Buffer.from('offline'), qos: 1, retain: false };
    const client = await login('t', { will });
    await subscribe(client, topicOf('t', 'ack'));
    expect(await server.publish({ accountID: 'acme', deviceID: 't' }, downlink)).toBe(true);
    await client.next('publish');
    client.end();
    await waitUntil('the end of the connection', () => server.connectionCount() === 0);
    const again = await login('t');
    expect(await server.publish({ accountID: 'acme', deviceID: 't' }, downlink)).toBe(false);
    again.send({ cmd: 'pingreq' });
    await again.next('pingresp');
    expect(again.received.map(({ cmd }) => cmd)).toEqual(['connack', 'pingresp']);
    again.end();
  });

  test('frees its subscription when it takes it back, and may take it again', async () => {
    const { server, login } = await open();
    const client = await login('t');
    const address = { accountID: 'acme', deviceID: 't' };
    for (let round = 0; round < 3; round++) {
      await subscribe(client, topicOf('t', 'ack'));
      expect(await server.publish(address, downlink)).toBe(true);
      await client.next('publish');
      client.send({ cmd: 'unsubscribe', messageId: 2, unsubscriptions: [topicOf('t', 'ack')] });
      await client.next('unsuback');
      expect(await server.publish(address, downlink)).toBe(false);
    }
    client.end();
  });
});

describe('a stop', () => {
  test('acknowledges nothing that is not stored', async () => {
    const live = await startLiveBroker();
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= live.broker.close());
    closers.push(close);
    const device = await live.addDevice('acme', 'truck-1');
    const client = await live.login(device);
    const release = live.holdCommits();
    const payload = JSON.stringify({
      boot: 'b',
      events: [{ seq: 1, timestamp: 1_767_614_400, statusCode: 1 }],
    });
    client.send(publishPacket(device.topic('events'), payload, 1));
    await waitUntil('the publish to be taken', () => live.broker.services.metrics().payloads === 1);
    void close();
    await client.closed;
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack']);
    release();
    await close();
  });

  test('answers what is stored in time, takes no new connection, and then ends (a bare aedes does neither)', async () => {
    let store: () => void = () => undefined;
    const stored = new Promise<void>((resolve) => {
      store = resolve;
    });
    let taken = 0;
    const onUplink = (): Promise<void> => {
      taken += 1;
      return stored;
    };
    const clock = createSteadyClock();
    closers.push(async () => clock.stop());
    const mqtt = await openTestMqttServer({ onUplink, clock });
    let closing: Promise<void> | null = null;
    const close = (): Promise<void> => (closing ??= mqtt.server.close());
    closers.push(close);
    const client = await mqtt.login('t');
    client.send(publishPacket(topicOf('t', 'events'), 'x', 7));
    await waitUntil('the publish to be taken', () => taken === 1);
    void close();
    await expect(connectRaw(mqtt.server.port)).rejects.toThrow('ECONNREFUSED');
    store();
    expect((await client.next('puback')).messageId).toBe(7);
    await client.closed;
    await close();
    let answer: (() => void) | null = null;
    const bare = await openBare(true, { authorizePublish: (_client, _packet, done) => void (answer = done) });
    const held = await loginBare(bare.port, 't');
    held.send(publishPacket('t', 'x', 7));
    const late = await waitUntil('the publish to be taken', () => answer);
    await new Promise<void>((resolve) => bare.broker.close(() => resolve()));
    late();
    await held.closed;
    expect(count(held, 'puback')).toBe(0);
    (await connectRaw(bare.port)).end();
  });
});
