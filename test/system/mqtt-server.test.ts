// The broker's MQTT side over real sockets: who may do what, when a PUBACK leaves, and what no client can do to it.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Aedes } from 'aedes';
import { connectAsync } from 'mqtt';
import mqttPacket from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { createMqttServer } from '../../broker/adapters/mqtt/aedes.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { findCommand } from '../../broker/store/commands/commands.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { latestEvents } from '../../broker/store/events/events.ts';
import { listQuarantine } from '../../broker/store/events/quarantine.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { shortEventsTopic } from '../../src/core/wire/topics.ts';
import { decodeAck, decodeCommand, decodeWelcome, signedTypes } from '../../src/core/wire/wire.ts';
import { sql } from '../../src/sql.ts';
import { createBenchLog, createSteadyClock, helloOf } from '../support/broker/broker-bench.ts';
import { type LiveBroker, type LiveDevice, startLiveBroker } from '../support/broker/live-broker.ts';
import { onUplinkOf } from '../support/broker/uplinks.ts';
import { requires } from '../support/machine/requires.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';

let live: LiveBroker;
let truck: LiveDevice;
beforeEach(async () => {
  live = await startBroker();
  truck = await live.addDevice('acme', 'truck-1');
});
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A broker whose time stands still while this process does. */
async function startBroker(limits: Parameters<typeof startLiveBroker>[0] = {}) {
  const clock = createSteadyClock();
  const other = await startLiveBroker(limits, {}, clock);
  let closing: Promise<void> | null = null;
  const close = (users?: Promise<unknown>): Promise<void> => {
    closing ??= other.broker.close(users).finally(() => clock.stop());
    return closing;
  };
  closers.push(() => close());
  /** Its port takes no connection any more. */
  const isShut = async (): Promise<boolean> => {
    try {
      (await connectRaw(other.port)).end();
      return false;
    } catch (thrown) {
      return String(thrown).includes('ECONNREFUSED');
    }
  };
  return { ...other, close, isShut };
}

const batch = (boot: string, ...seqs: readonly number[]): string =>
  JSON.stringify({
    boot,
    events: seqs.map((seq) => ({ seq, timestamp: 1_767_614_400 + seq, statusCode: 61472 })),
  });
const eventsOf = async (device: LiveDevice) =>
  latestEvents(live.db, { scope: wholeAccount(device.accountID), deviceID: device.deviceID }, 10_000);
async function subscribe(client: RawClient, ...topics: readonly string[]): Promise<readonly unknown[]> {
  client.send({
    cmd: 'subscribe',
    messageId: 9,
    subscriptions: topics.map((topic) => ({ topic, qos: 1 as const })),
  });
  return (await client.next('suback')).granted;
}

describe('a PUBACK', () => {
  test('leaves only after the commit, and the ack message after that', async () => {
    const client = await live.login(truck);
    await subscribe(client, truck.topic('ack'));
    const release = live.holdCommits();
    client.send(publishPacket(truck.topic('events'), batch('b1', 1, 2), 7));
    await waitUntil(
      'the commit to be held',
      () => live.broker.services.metrics().waiting.writes === 1 && live.heldWrites() > 0,
    );
    // Sent after it: a PUBACK would have arrived before the answer.
    client.send({ cmd: 'pingreq' });
    await client.next('pingresp');
    expect(client.received.some(({ cmd }) => cmd === 'puback')).toBe(false);
    expect(await eventsOf(truck)).toEqual([]);
    release();
    expect((await client.next('puback')).messageId).toBe(7);
    expect(await eventsOf(truck)).toHaveLength(2);
    const ack = decodeAck(new Uint8Array((await client.next('publish')).payload as Buffer));
    expect(ack).toEqual({ boot: 'b1', upTo: 2, ranges: [[1, 2]] });
  });

  test('waits for a store that fails for a moment, and no connection is lost', async () => {
    const client = await live.login(truck);
    live.setFailing(true);
    for (let id = 1; id <= 5; id++) client.send(publishPacket(truck.topic('events'), batch('b1', id), id));
    await waitUntil('the outage', () => live.log.lines.some(({ event }) => event === 'store_unavailable'));
    const failed = live.failedWrites();
    await waitUntil('the store to be tried again', () => live.failedWrites() > failed);
    client.send({ cmd: 'pingreq' });
    await client.next('pingresp');
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack', 'pingresp']);
    live.setFailing(false);
    for (let id = 1; id <= 5; id++) expect((await client.next('puback')).messageId).toBe(id);
    expect(await eventsOf(truck)).toHaveLength(5);
  });

  test('does not leave when the commit fails: the connection ends, and the device’s second attempt is stored', async () => {
    const client = await live.login(truck);
    live.setFailing(true);
    client.send(publishPacket(truck.topic('events'), batch('b1', 1), 7));
    await client.closed;
    expect(client.received.some(({ cmd }) => cmd === 'puback')).toBe(false);
    await expect(live.login(truck)).rejects.toThrow('CONNACK 3');
    live.setFailing(false);
    await waitUntil('the store to work again', () =>
      live.log.lines.some(({ event }) => event === 'store_restored'),
    );
    const second = await live.login(truck);
    second.send(publishPacket(truck.topic('events'), batch('b1', 1), 7, { dup: true }));
    await second.next('puback');
    expect(await eventsOf(truck)).toHaveLength(1);
  });

  test('follows the order of the publishes, whatever their kind', async () => {
    const client = await live.login(truck);
    for (let id = 1; id <= 60; id++) {
      const isHello = id % 7 === 0;
      const payload = isHello ? JSON.stringify(helloOf('b1')) : id % 5 === 0 ? 'nonsense' : batch('b1', id);
      client.send(publishPacket(truck.topic(isHello ? 'hello' : 'events'), payload, id));
    }
    const ids: unknown[] = [];
    while (ids.length < 60) ids.push((await client.next('puback')).messageId);
    expect(ids).toEqual(Array.from({ length: 60 }, (_unused, index) => index + 1));
  });

  test('is what the bare aedes sends after authorizePublish and before published (our whole promise leans on it)', async () => {
    const order: string[] = [];
    let goOn: () => void = () => undefined;
    const bare = await Aedes.createBroker({
      authorizePublish: (_client, _packet, done) => {
        order.push('authorizePublish');
        goOn = () => done(null);
      },
      published: (packet, _client, done) => {
        if (packet.topic === 'x') order.push('published');
        done(null);
      },
    });
    const server = createServer(bare.handle);
    closers.push(async () => {
      await new Promise<void>((resolve) => bare.close(resolve));
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const client = await connectRaw(typeof address === 'object' && address !== null ? address.port : 0);
    client.send(connectPacket('id', 'x'));
    await client.next('connack');
    client.send(publishPacket('x', 'payload', 5));
    await waitUntil('authorizePublish', () => order.length === 1);
    client.send({ cmd: 'pingreq' });
    await client.next('pingresp');
    expect(client.received.map(({ cmd }) => cmd)).toEqual(['connack', 'pingresp']);
    goOn();
    await client.next('puback');
    expect(order).toEqual(['authorizePublish', 'published']);
    client.end();
  });
});

describe('what cannot be read', () => {
  test('is acknowledged, kept and does not end the connection', async () => {
    const client = await live.login(truck);
    const bad = [
      ['events', 'not json'],
      ['hello', '{"boot":"b1"}'],
      ['presence', 'perhaps'],
      ['events', ''],
    ] as const;
    for (const [index, [verb, payload]] of bad.entries()) {
      client.send(publishPacket(truck.topic(verb), payload, index + 1));
      expect((await client.next('puback')).messageId).toBe(index + 1);
    }
    const kept = await listQuarantine(live.db, { ...truck, limit: 10 });
    expect(kept.map(({ topic }) => topic.split('/').at(-1))).toEqual([
      'events',
      'presence',
      'hello',
      'events',
    ]);
    client.send(publishPacket(truck.topic('events'), batch('b1', 1), 8));
    await client.next('puback');
    expect(live.broker.services.metrics()).toMatchObject({ quarantined: 4, events: 1, connections: 1 });
  });
});

describe('a CONNECT', () => {
  const codeOf = async (packet: ReturnType<typeof connectPacket>): Promise<unknown> => {
    const client = await connectRaw(live.port);
    client.send(packet);
    const { returnCode } = await client.next('connack');
    if (returnCode !== 0) await client.closed;
    client.end();
    return returnCode;
  };

  test('with the right secret is accepted, with any other it is refused', async () => {
    const other = await live.addDevice('acme', 'truck-2');
    expect(await codeOf(connectPacket(truck.user, truck.secret))).toBe(0);
    expect(await codeOf(connectPacket(truck.user, other.secret))).toBe(4);
    expect(await codeOf(connectPacket(truck.user, ''))).toBe(4);
    expect(await codeOf(connectPacket('acme/nobody', truck.secret))).toBe(4);
    expect(await codeOf(connectPacket('rival/truck-1', truck.secret))).toBe(4);
    expect(await codeOf(connectPacket('acme/#', truck.secret))).toBe(4);
  });

  test('with U+0000 in a name ends the connection without an answer (MQTT-1.5.3-2)', async () => {
    const client = await connectRaw(live.port);
    client.send(connectPacket('acme/tru\u0000ck', truck.secret));
    await client.closed;
    expect(client.received).toEqual([]);
  });

  test('needs the user name as client id: another, or an empty one, is an identifier rejected', async () => {
    expect(await codeOf(connectPacket(truck.user, truck.secret, { clientId: 'acme/truck-2' }))).toBe(2);
    expect(await codeOf(connectPacket(truck.user, truck.secret, { clientId: '' }))).toBe(2);
    // MQTT-3.1.3-8. The generator refuses to make this packet, so its clean session bit is cleared by hand.
    const bytes = mqttPacket.generate(connectPacket(truck.user, truck.secret, { clientId: '' }));
    bytes[9] = (bytes[9] ?? 0) & ~0x02;
    const client = await connectRaw(live.port);
    client.sendBytes(bytes);
    expect((await client.next('connack')).returnCode).toBe(2);
    await client.closed;
  });

  test('of a suspended account, and one of MQTT 5, is refused', async () => {
    await live.db.write([sql`UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'`]);
    expect(await codeOf(connectPacket(truck.user, truck.secret))).toBe(4);
    const five = await connectRaw(live.port);
    five.send(connectPacket(truck.user, truck.secret, { protocolVersion: 5 }));
    await five.closed;
    expect(five.received.every((packet) => packet.cmd !== 'connack' || packet.returnCode !== 0)).toBe(true);
  });

  test('that wants a lasting session is accepted, and nothing is kept for it', async () => {
    const first = await live.login(truck, { clean: false });
    await subscribe(first, truck.topic('ack'));
    first.end();
    await waitUntil(
      'the end of the first session',
      async () => !(await live.broker.services.isOnline('acme', 'truck-1')),
    );
    const second = await connectRaw(live.port);
    second.send(connectPacket(truck.user, truck.secret, { clean: false }));
    expect(await second.next('connack')).toMatchObject({ returnCode: 0, sessionPresent: false });
    second.send(publishPacket(truck.topic('events'), batch('b1', 1), 1));
    await second.next('puback');
    // An acknowledgement on the topic of the first session leaves with the PUBACK, and so before this answer.
    second.send({ cmd: 'pingreq' });
    await second.next('pingresp');
    expect(second.received.filter(({ cmd }) => cmd === 'publish')).toEqual([]);
    second.end();
  });

  test('may leave a will on its own presence topic and nowhere else', async () => {
    const will = (topic: string, changes = {}) =>
      connectPacket(truck.user, truck.secret, {
        will: { topic, payload: Buffer.from('offline'), qos: 1, retain: false, ...changes },
      });
    expect(await codeOf(will(truck.topic('presence')))).toBe(0);
    expect(await codeOf(will('fleet/v1/rival/truck-1/presence'))).toBe(5);
    expect(await codeOf(will(truck.topic('events')))).toBe(5);
    expect(await codeOf(will(shortEventsTopic))).toBe(5);
    expect(await codeOf(will('$SYS/x'))).toBe(5);
    expect(await codeOf(will(truck.topic('presence'), { retain: true }))).toBe(5);
    expect(await codeOf(will(truck.topic('presence'), { qos: 2 }))).toBe(5);
  });
});

describe('a device', () => {
  const endedBy = async (packet: ReturnType<typeof publishPacket>): Promise<void> => {
    const client = await live.login(truck);
    client.send(packet);
    await client.closed;
    expect(client.received.some(({ cmd }) => cmd === 'puback' || cmd === 'pubrec')).toBe(false);
  };

  test('that publishes where it may not is disconnected and nothing is stored', async () => {
    const rival = await live.addDevice('rival', 'truck-1');
    await endedBy(publishPacket(rival.topic('events'), batch('b1', 1), 1));
    await endedBy(publishPacket('fleet/v1/acme/truck-2/events', batch('b1', 1), 1));
    await endedBy(publishPacket(truck.topic('commands'), 'x', 1));
    await endedBy(publishPacket(`${truck.topic('events')}/x`, batch('b1', 1), 1));
    await endedBy(publishPacket(`/${truck.topic('events')}`, batch('b1', 1), 1));
    await endedBy(publishPacket('$SYS/x', 'x', 1));
    await endedBy(publishPacket(truck.topic('events'), batch('b1', 1), 1, { retain: true }));
    await endedBy(publishPacket(truck.topic('events'), batch('b1', 1), 1, { qos: 2 }));
    expect(await eventsOf(truck)).toEqual([]);
    expect(await eventsOf(rival)).toEqual([]);
    expect(live.log.lines.filter(({ event }) => event === 'publish_refused')).toHaveLength(8);
  });

  test('that publishes on the short topic sends its own events, whatever it writes into them', async () => {
    const rival = await live.addDevice('rival', 'truck-1');
    const [one, two] = [await live.login(truck), await live.login(rival)];
    one.send(publishPacket(shortEventsTopic, batch('b1', 1), 1));
    expect((await one.next('puback')).messageId).toBe(1);
    // A boot that the other device uses is another boot here.
    two.send(publishPacket(shortEventsTopic, batch('b1', 1, 2), 2));
    expect((await two.next('puback')).messageId).toBe(2);
    one.end();
    two.end();
    expect(await eventsOf(truck)).toHaveLength(1);
    expect(await eventsOf(rival)).toHaveLength(2);
    for (const topic of ['e/', '/e', 'E', 'ee', 'fleet/v1/rival/truck-1/e'])
      await endedBy(publishPacket(topic, batch('b2', 1), 1));
    await endedBy(publishPacket(shortEventsTopic, batch('b2', 1), 1, { retain: true }));
    await endedBy(publishPacket(shortEventsTopic, batch('b2', 1), 1, { qos: 2 }));
    expect(await eventsOf(truck)).toHaveLength(1);
    expect(await eventsOf(rival)).toHaveLength(2);
  });

  test('is kept in quarantine under its long topic for what it sends on the short one', async () => {
    const client = await live.login(truck);
    client.send(publishPacket(shortEventsTopic, 'no events', 1));
    await client.next('puback');
    client.end();
    const kept = await listQuarantine(live.db, { ...truck, limit: 10 });
    expect(kept.map(({ topic }) => topic)).toEqual([truck.topic('events')]);
  });

  test('may subscribe to its own downlink topics and to nothing else', async () => {
    const client = await live.login(truck);
    const granted = await subscribe(
      client,
      truck.topic('ack'),
      truck.topic('commands'),
      '#',
      'fleet/v1/acme/+/commands',
      'fleet/v1/acme/truck-1/#',
      'fleet/v1/rival/truck-1/commands',
      '$SYS/#',
      `$share/g/${truck.topic('commands')}`,
      truck.topic('events'),
    );
    expect(granted).toEqual([1, 1, 128, 128, 128, 128, 128, 128, 128]);
    client.end();
  });

  test('never receives what another one sends', async () => {
    const other = await live.addDevice('acme', 'truck-2');
    const [one, two] = [await live.login(truck), await live.login(other)];
    for (const [client, device] of [
      [one, truck],
      [two, other],
    ] as const) {
      // prettier-ignore
      await subscribe(client, device.topic('ack'), device.topic('commands'), device.topic('welcome'));
    }
    one.send(publishPacket(truck.topic('events'), batch('canary', 1), 1));
    await one.next('puback');
    await one.next('publish');
    two.send({ cmd: 'pingreq' });
    await two.next('pingresp');
    expect(two.received.some(({ cmd }) => cmd === 'publish')).toBe(false);
  });

  test('may send with QoS 0 too', async () => {
    const client = await live.login(truck);
    client.send(publishPacket(truck.topic('events'), batch('b1', 1), 0, { qos: 0, messageId: undefined }));
    await waitUntil('the event', async () => (await eventsOf(truck)).length === 1);
  });
});

describe('MQTT sessions', () => {
  test('hello is answered, a command is delivered, its report ends it, and the end of the connection is noticed', async () => {
    const client = await live.login(truck);
    await subscribe(client, truck.topic('welcome'), truck.topic('commands'), truck.topic('ack'));
    const { services } = live.broker;
    const request = { feature: 'enginecutoff', state: '1', issuer: 'olga', reason: 'stolen' } as const;
    const waiting = await services.ledger.request({ ...truck, ...request });
    expect(waiting.commandState).toBe('requested');
    client.send(publishPacket(truck.topic('hello'), JSON.stringify(helloOf('b1')), 1));
    const opened = async (type: string): Promise<Uint8Array> => {
      const { payload } = await client.next('publish');
      return live.verifier.verify(payload.toString(), type) ?? expect.fail(`not a ${type}`);
    };
    expect(decodeWelcome(await opened(signedTypes.welcome))).toMatchObject({
      nonce: 'nonce-b1',
      upTo: 0,
      eventsTopic: shortEventsTopic,
    });
    const command = decodeCommand(await opened(signedTypes.command));
    expect(command).toMatchObject({ commandID: waiting.commandID, boot: 'b1', state: '1', cancel: false });
    expect(await services.isOnline('acme', 'truck-1')).toBe(true);
    expect(await findDevice(live.db, truck)).toMatchObject({ isOnline: true, boot: 'b1' });
    const report = { seq: 1, timestamp: 1_767_614_400, statusCode: 63680, commandState: 'confirmed' };
    const payload = JSON.stringify({ boot: 'b1', events: [{ ...report, commandID: waiting.commandID }] });
    client.send(publishPacket(truck.topic('events'), payload, 2));
    await waitUntil(
      'the second PUBACK',
      () => client.received.filter(({ cmd }) => cmd === 'puback').length === 2,
    );
    expect(await findCommand(live.db, { ...truck, commandID: waiting.commandID })).toMatchObject({
      commandState: 'confirmed',
      isFinal: true,
    });
    client.end();
    await waitUntil(
      'the end of the connection to be recorded',
      async () => (await findDevice(live.db, truck))?.isOnline === false,
    );
    expect(await services.isOnline('acme', 'truck-1')).toBe(false);
  });

  test('the newest connection of a device wins, stays online, and many take-overs are reported', async () => {
    let client = await live.login(truck);
    for (let round = 0; round < 5; round++) {
      const newer = await live.login(truck, {}, round % 2 === 0 ? '127.0.0.2' : '127.0.0.3');
      await client.closed;
      client = newer;
    }
    client.send(publishPacket(truck.topic('hello'), JSON.stringify(helloOf('b1')), 1));
    await client.next('puback');
    expect(await findDevice(live.db, truck)).toMatchObject({ isOnline: true });
    expect(live.broker.services.metrics().connections).toBe(1);
    expect(
      live.log.lines
        .filter(({ event }) => event === 'clone_suspected')
        .map(({ fields }) => fields['takeovers']),
    ).toEqual([4, 5]); // prettier-ignore
    // Rules are notified once.
    const occurrences = () =>
      live.db.read({ sql: "SELECT kind FROM occurrences WHERE kind = 'clone_suspected'", params: [] });
    await waitUntil('the occurrence', async () => (await occurrences()).length === 1);
  });

  test('a new secret ends the connection that used the old one', async () => {
    const client = await live.login(truck);
    await issueDeviceSecret(live.db, createSystemEntropy(), createSystemClock(), truck);
    await client.closed;
    await expect(live.login(truck)).rejects.toThrow('CONNACK 4');
  });

  test.each([
    ['a suspended account', 'UPDATE accounts SET is_active = 0'],
    ['an account whose time is over', 'UPDATE accounts SET expires_s = 1'],
    ['an account that is being deleted', 'UPDATE accounts SET deleting_s = 1'],
    ['a deleted device', "DELETE FROM devices WHERE device_id = 'truck-1'"],
  ])('%s loses its connections and gets no new ones', async (_name, change) => {
    const client = await live.login(truck);
    await live.db.write([{ sql: change, params: [] }]);
    await client.closed;
    await expect(live.login(truck)).rejects.toThrow('CONNACK');
  });
});

describe('the limits of the MQTT server', () => {
  test('a packet that claims too much ends the connection, before and after login', async () => {
    const intruder = await connectRaw(live.port);
    // CONNECT with a remaining length of 256 MiB.
    intruder.sendBytes(Uint8Array.from([0x10, 0xff, 0xff, 0xff, 0x7f, 0, 4]));
    await intruder.closed;
    const client = await live.login(truck);
    client.send(publishPacket(truck.topic('events'), new Uint8Array(70_000), 1));
    await client.closed;
    expect(client.received.some(({ cmd }) => cmd === 'puback')).toBe(false);
    const reasons = live.log.lines.map(({ fields }) => String(fields['reason']));
    expect(reasons.filter((reason) => /^packet of \d+ bytes/.test(reason))).toHaveLength(2);
  });

  test('the largest payload that the protocol allows is taken', async () => {
    const client = await live.login(truck);
    const filler = {
      seq: 1,
      timestamp: 1_767_614_400,
      statusCode: 1,
      attributes: { note: 'x'.repeat(2000) },
    };
    const events = Array.from({ length: 30 }, (_unused, index) => ({ ...filler, seq: index + 1 }));
    const payload = JSON.stringify({ boot: 'b1', events });
    expect(payload.length).toBeGreaterThan(60_000);
    client.send(publishPacket(truck.topic('events'), payload.padEnd(64 * 1024), 1));
    await client.next('puback');
    expect(await eventsOf(truck)).toHaveLength(30);
  });

  test('one connection has a bounded number of publishes in flight, and all are answered in the end', async () => {
    const client = await live.login(truck);
    const other = await live.addDevice('acme', 'truck-2');
    const beside = await live.login(other);
    const release = live.holdCommits();
    client.socket.setNoDelay(true);
    const total = 3000;
    for (let id = 1; id <= total; id++) {
      client.send(publishPacket(truck.topic('events'), batch('b1', id), id));
      if (id % 50 === 0) await sleep(1);
    }
    const payloads = () => live.broker.services.metrics().payloads;
    await waitUntil('all to be sent and some to be taken', () => {
      return client.socket.writableLength === 0 && payloads() >= 100;
    });
    // What comes after them on another connection is taken, and nothing more of theirs.
    beside.send(publishPacket(other.topic('events'), batch('b1', 1), 1));
    await waitUntil('a publish of another device', () => payloads() > 100);
    expect(payloads()).toBe(101);
    release();
    for (let id = 1; id <= total; id++) expect((await client.next('puback')).messageId).toBe(id);
    expect(await eventsOf(truck)).toHaveLength(total);
  });

  test('a client that does not read is dropped before it costs more than a little memory', async () => {
    const big = new Uint8Array(60_000);
    const server = await startBareServer(truck);
    const reader = await connectRaw(server.port);
    reader.send(connectPacket(truck.user, truck.secret));
    await reader.next('connack');
    await subscribe(reader, truck.topic('config'));
    reader.socket.pause();
    let sent = 0;
    while (server.connected(truck) !== null && sent < 1000) {
      void server.publish(truck, { verb: 'config', payload: big, qos: 1 });
      sent += 1;
      if (sent % 10 === 0) await sleep(1);
    }
    expect(server.connected(truck)).toBeNull();
    expect(sent).toBeLessThan(1000);
    reader.end();
  });

  test('connections beyond the rate of one address are turned away', async () => {
    const server = await startBareServer(truck, { connects: { burst: 3, perS: 0.001 } });
    const clients = [];
    for (let count = 0; count < 6; count++) clients.push(await connectRaw(server.port));
    await Promise.all(clients.slice(3).map((client) => client.closed));
    expect(clients.slice(0, 3).map((client) => client.isClosed())).toEqual([false, false, false]);
    for (const client of clients) client.end();
  });

  test('a store that cannot keep up turns new connections away with "server unavailable"', async () => {
    const server = await startBareServer(truck, {}, true);
    const client = await connectRaw(server.port);
    client.send(connectPacket(truck.user, truck.secret));
    expect((await client.next('connack')).returnCode).toBe(3);
  });

  test('a port that is taken is named together with its flag', async () => {
    const options = { ...bareOptions(truck), port: live.port };
    await expect(createMqttServer(options)).rejects.toMatchObject({
      code: 'port_in_use',
      message: expect.stringContaining(String(live.port)),
      hint: expect.stringContaining('--mqtt-port'),
    });
  });
});

function bareOptions(device: LiveDevice, limits = {}, isOverloaded = false) {
  return {
    port: 0,
    host: '127.0.0.1',
    clock: createSystemClock(),
    log: createBenchLog(),
    limits,
    authenticate: async () => device,
    onUplink: onUplinkOf(async () => undefined),
    onOffline: () => undefined,
    isOverloaded: () => isOverloaded,
  };
}
async function startBareServer(device: LiveDevice, limits = {}, isOverloaded = false) {
  const server = await createMqttServer(bareOptions(device, limits, isOverloaded));
  closers.push(() => server.close());
  return server;
}

test('a stop commits and answers what has arrived, then closes', async () => {
  const other = await startBroker();
  const device = await other.addDevice('acme', 'truck-1');
  const client = await other.login(device);
  const release = other.holdCommits();
  for (let id = 1; id <= 20; id++) client.send(publishPacket(device.topic('events'), batch('b1', id), id));
  await waitUntil('20 publishes to be taken', () => other.broker.services.metrics().payloads === 20);
  const closing = other.close();
  await waitUntil('the port to be closed', other.isShut);
  release();
  for (let id = 1; id <= 20; id++) expect((await client.next('puback')).messageId).toBe(id);
  await closing;
  await client.closed;
});

test('a stop keeps the store open while work is in progress', async () => {
  const other = await startBroker();
  await other.addDevice('acme', 'truck-1');
  const order = { feature: 'enginecutoff', state: '1', issuer: 'ann', reason: '' } as const;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const lastRequest = begun.then(() =>
    other.broker.services.ledger.request({ accountID: 'acme', deviceID: 'truck-1', ...order }),
  );
  const closing = other.close(lastRequest);
  await waitUntil('the port to be closed', other.isShut);
  begin();
  await closing;
  expect(await lastRequest).toMatchObject({ commandState: 'requested' });
});

describe('mutated packets', () => {
  const lanes = 8;
  const packetsEach = 4;
  /** `npm run test:mqtt-fuzz` sends many more. */
  const packetCount = Number(process.env['FLEETWARD_TEST_PACKETS'] ?? 20_000);
  const connectionsEach = Math.ceil(packetCount / lanes / packetsEach);

  /** Numbers that are the same in every run (Numerical Recipes' generator). */
  function createRandom(start: number): (below: number) => number {
    let seed = start;
    return (below) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
  }

  function samplesOf(device: LiveDevice, foreignTopic: string): readonly Uint8Array[] {
    const subscriptions = [{ topic: device.topic('ack'), qos: 1 as const }];
    return [
      mqttPacket.generate(connectPacket(device.user, device.secret)),
      mqttPacket.generate(publishPacket(device.topic('events'), batch('b1', 1, 2, 3), 3)),
      mqttPacket.generate(publishPacket(device.topic('hello'), JSON.stringify(helloOf('b1')), 4)),
      mqttPacket.generate(publishPacket(device.topic('presence'), 'online', 4)),
      mqttPacket.generate(publishPacket(foreignTopic, batch('b1', 1), 3)),
      mqttPacket.generate({ cmd: 'subscribe', messageId: 1, subscriptions }),
      mqttPacket.generate({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: [device.topic('ack')] }),
      mqttPacket.generate({ cmd: 'pingreq' }),
      mqttPacket.generate({ cmd: 'puback', messageId: 1 }),
      mqttPacket.generate({ cmd: 'pubrel', messageId: 1 }),
      mqttPacket.generate({ cmd: 'disconnect' }),
    ];
  }

  function mutate(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
    const copy = Uint8Array.from(bytes);
    for (let times = random(3); times >= 0; times--) copy[random(copy.length)] = random(256);
    const cut = random(10) === 0 ? random(copy.length) : copy.length;
    return copy.subarray(0, cut);
  }

  test(`${packetCount} of them neither end the process nor store anything foreign`, async () => {
    const plenty = { burst: 1e9, perS: 1e9 };
    const target = await startBroker({ connects: plenty, failures: plenty });
    const rival = await target.addDevice('rival', 'truck-1');
    const runLane = async (lane: number): Promise<void> => {
      const device = await target.addDevice('acme', `truck-${lane}`);
      const samples = samplesOf(device, rival.topic('events'));
      const random = createRandom(lane);
      for (let connections = 0; connections < connectionsEach; connections++) {
        const client = await connectRaw(target.port);
        if (random(4) > 0) {
          client.send(connectPacket(device.user, device.secret));
          await client.next('connack');
        }
        // Few to a connection: the first one that is malformed ends it.
        for (let packets = 0; packets < packetsEach; packets++) {
          client.sendBytes(mutate(samples[random(samples.length)] ?? new Uint8Array([0]), random));
        }
        client.send({ cmd: 'pingreq' });
        // The broker closes once it has read all that was sent, also when a mutated length announces more.
        client.socket.end();
        await client.closed;
      }
    };
    await Promise.all(Array.from({ length: lanes }, (_unused, lane) => runLane(lane)));
    const survivor = await target.login(await target.addDevice('acme', 'survivor'));
    survivor.send({ cmd: 'pingreq' });
    await survivor.next('pingresp');
    // That the mutations reached the inside at all.
    expect(target.broker.services.metrics().payloads).toBeGreaterThan(500);
    expect(await latestEvents(target.db, { scope: wholeAccount('rival'), deviceID: 'truck-1' }, 1)).toEqual(
      [],
    );
    expect(await listQuarantine(target.db, { ...rival, limit: 1 })).toEqual([]);
  });
});

describe('other people’s clients', () => {
  test('mqtt.js publishes, subscribes and is acknowledged', async () => {
    const client = await connectAsync(`mqtt://127.0.0.1:${live.port}`, {
      clientId: truck.user,
      username: truck.user,
      password: truck.secret,
      reconnectPeriod: 0,
    });
    const acks: string[] = [];
    client.on('message', (_topic, payload) => acks.push(payload.toString()));
    await client.subscribeAsync(truck.topic('ack'), { qos: 1 });
    await client.publishAsync(truck.topic('events'), batch('b1', 1), { qos: 1 });
    expect(await eventsOf(truck)).toHaveLength(1);
    await waitUntil('the acknowledgement', () => acks.length === 1);
    await client.endAsync();
  });

  const mosquitto = requires({ commands: ['mosquitto_pub'], debian: ['mosquitto-clients'] });
  const title = `mosquitto_pub sends a bare JSON event${mosquitto.missing === null ? '' : ` [${mosquitto.missing}]`}`;
  test.skipIf(mosquitto.missing !== null)(title, async () => {
    const code = await new Promise<number | null>((resolve) => {
      const login = ['-h', '127.0.0.1', '-p', String(live.port), '-i', truck.user, '-u', truck.user];
      const message = [
        '-q',
        '1',
        '-t',
        truck.topic('events'),
        '-m',
        '{"timestamp":1767614400,"statusCode":61472}',
      ];
      const child = spawn('mosquitto_pub', [...login, '-P', truck.secret, ...message]);
      child.once('exit', resolve);
    });
    expect(code).toBe(0);
    expect(await eventsOf(truck)).toMatchObject([
      { statusCode: 61472, boot: expect.stringMatching(/^@1767614400000-[0-9a-f]+$/) as string },
    ]);
  });
});
