// Two broker processes on one PostgreSQL database behind a cluster, one of which is killed while both work, and started again:
// every event is stored once and sent once on every stream, every alarm decided once and sent under one id, every command sent
// with a counter that only grows and carried out once, whichever process got the request and whichever the vehicle's messages.
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, createDevice } from '../../broker/accounts/administration.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { numberOf, textOf } from '../../broker/store/base/row.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { listLeases } from '../../broker/store/leases.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { createVerifier, generateSigningKey } from '../../src/adapters/signing.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { type CommandBody, decodeCommand, signedTypes } from '../../src/core/wire/wire.ts';
import type { Database, Row } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { helloOf } from '../support/broker/broker-bench.ts';
import { type Bridge, createBridges, type Downlinked } from '../support/cluster/bridges.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { everyEvent } from '../support/database/stored-events.ts';
import { readStream, type StreamReader } from '../support/http/event-stream.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const isBuilt = existsSync(new URL('../../dist/broker/main.js', import.meta.url));
const missing = isBuilt ? postgresMissing : 'skipped: not built';
const title = missing === null ? 'two brokers on one database' : `two brokers on one database [${missing}]`;
const password = 'correct horse battery staple';
const [panic, location] = [63_553, 61_472];
const vehicles = ['truck-1', 'truck-2', 'truck-3'];
const rounds = Number(process.env['FLEETWARD_TEST_ROUNDS'] ?? 60);
const often = { everyMs: 100 } as const;

const keyOf = (row: Row): string => `${textOf(row, 'boot')}:${numberOf(row, 'seq')}`;

/** A reader that comes back where it was, to whichever broker runs. */
function follow(token: string, portOf: () => number) {
  const seen: string[] = [];
  let lastEventID = '';
  let reader: StreamReader | null = null;
  const life = { isOver: false };
  const take = (from: StreamReader): void => {
    for (const { event, data } of from.messages()) if (event === 'event') seen.push(String(data['eventID']));
    lastEventID = from.lastId() || lastEventID;
  };
  const run = async (): Promise<void> => {
    while (!life.isOver) {
      try {
        const opened = await readStream({
          port: portOf(),
          token,
          ...(lastEventID === '' ? {} : { lastEventID }),
        });
        reader = opened;
        if (life.isOver) opened.close();
        await opened.ended;
        take(opened);
      } catch {
        await sleep(100);
      }
    }
  };
  const done = run();
  return {
    isOpen: () => reader !== null && reader.messages().length > 0,
    seen: (): readonly string[] => [
      ...seen,
      ...(life.isOver || reader === null
        ? []
        : reader
            .messages()
            .flatMap(({ event, data }) => (event === 'event' ? [String(data['eventID'])] : []))),
    ],
    async close(): Promise<void> {
      life.isOver = true;
      reader?.close();
      await done;
    },
  };
}

describe.skipIf(missing !== null)(title, () => {
  const key = generateSigningKey();
  const verifier = createVerifier(key.publicKey);
  const received: (CommandBody & { readonly user: string })[] = [];
  const notices: { readonly id: string; readonly text: string }[] = [];
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      notices.push({ id: String(request.headers['fleetward-id']), text });
      response.writeHead(204).end();
    });
  });
  const devices = new Map<string, DeviceRef>();
  let server: PostgresBench;
  let db: Database;
  let bridges: ReturnType<typeof createBridges>;
  const streams: ReturnType<typeof follow>[] = [];

  const onDownlink = ({ user, verb, text }: Downlinked): void => {
    const bytes = verb === 'commands' ? verifier.verify(text, signedTypes.command) : null;
    const body = bytes === null ? null : decodeCommand(bytes);
    if (body === null) return;
    received.push({ ...body, user });
    const device = devices.get(user);
    const isFirst = received.filter(({ commandID }) => commandID === body.commandID).length === 1;
    if (device === undefined || !isFirst) return;
    // As a vehicle does: it says that it has the command, then that it was carried out.
    const report = (seq: number, commandState: string) => {
      const event = {
        seq,
        timestamp: Math.floor(Date.now() / 1000),
        statusCode: 4353,
        commandID: body.commandID,
      };
      return bridges.send(
        device,
        'events',
        JSON.stringify({ boot: body.commandID, events: [{ ...event, commandState }] }),
      );
    };
    void report(1, 'received').then(() => report(2, 'confirmed'));
  };

  beforeAll(async () => {
    server = await startPostgres();
    const url = await server.createMigrated();
    db = await openPostgres({ url, patienceMs: 30_000 });
    const ports = {
      db,
      clock: createSystemClock(),
      entropy: createSystemEntropy(),
      passwords: createPasswords(),
    };
    await createAccount(ports, { accountID: 'acme', userID: 'admin', password });
    for (const deviceID of vehicles) {
      await createDevice(ports, { accountID: 'acme', deviceID });
      const device = await findDevice(db, { accountID: 'acme', deviceID });
      if (device !== null) devices.set(`acme/${deviceID}`, device);
    }
    bridges = createBridges({ url, privatePem: key.privatePem }, onDownlink);
    await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    await Promise.all(streams.map((stream) => stream.close()));
    receiver.closeAllConnections();
    receiver.close();
    await db?.close();
    await server?.close();
  });

  const ask = async (port: number, path: string, body: object, token?: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: token }),
      },
      body: JSON.stringify(body),
    });
    const json = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(json)}`);
    return json;
  };
  const holderOf = async (name: string): Promise<string> => (await listLeases(db)).get(name)?.holder ?? '';

  it('keep every promise while one of them is killed and comes back', async () => {
    let one: Bridge = await bridges.start();
    const started = [one];
    const holder = await waitUntil(
      'a holder of the lease',
      async () => (await holderOf('notifications')) || null,
      often,
    );
    const other = await bridges.start();
    started.push(other);
    const login = await ask(one.port, '/auth/login', { accountID: 'acme', userID: 'admin', password });
    const token = String(login['token']);
    const hookPort = (receiver.address() as AddressInfo).port;
    const rule = {
      ruleID: 'r1',
      statusCodes: [panic],
      silenceS: 0,
      webhook: { url: `http://127.0.0.1:${hookPort}/` },
    };
    await ask(other.port, '/notification/updaterule/authorization', rule, token);
    for (const device of devices.values())
      await bridges.send(device, 'hello', JSON.stringify(helloOf(`boot-${device.deviceID}`)));
    let portOfOne = one.port;
    streams.push(
      follow(token, () => portOfOne),
      follow(token, () => other.port),
    );
    await waitUntil('both streams', () => streams.every((stream) => stream.isOpen()), often);

    const expected: string[] = [];
    const commands: string[] = [];
    const sent: Promise<void>[] = [];
    for (let round = 0; round < rounds; round++) {
      const [user, device] = [...devices][round % vehicles.length] ?? expect.fail('no device');
      const boot = `boot-${device.deviceID}`;
      const seq = 2 * Math.floor(round / vehicles.length) + 1;
      const at = Math.floor(Date.now() / 1000);
      expected.push(`${boot}:${seq}`);
      const events = [
        { seq, timestamp: at, statusCode: panic },
        { seq: seq + 1, timestamp: at, statusCode: location, latitude: 1, longitude: round },
      ];
      const payload = JSON.stringify({ boot, events });
      // Some are sent twice, as by a vehicle whose acknowledgement was lost.
      for (let times = 0; times < 1 + (round % 2); times++)
        sent.push(bridges.send(device, 'events', payload));
      if (round % 5 === 0) {
        const port = round % 10 === 0 ? other.port : portOfOne;
        const body = { deviceID: device.deviceID, feature: 'cargoaccess', state: String((round / 5) % 2) };
        const answer = await ask(port, '/command/feature/authorization', body, token).catch(() => null);
        if (answer !== null) commands.push(String(answer['commandID']));
        expect(user).toContain(device.deviceID);
      }
      // The one that holds the lease.
      if (round === Math.floor(rounds / 3)) {
        await one.kill();
        portOfOne = other.port;
      }
      if (round === Math.floor((2 * rounds) / 3)) {
        one = await bridges.start();
        started.push(one);
        portOfOne = one.port;
        expect((await db.read(sql`SELECT 1 FROM devices WHERE is_online = 1`)).length).toBe(vehicles.length);
      }
      await sleep(30);
    }
    await Promise.all(sent);

    const stored = await db.read(
      sql`SELECT boot, seq FROM ${await everyEvent(db)} WHERE status_code = ${panic}`,
    );
    expect(stored.map(keyOf).sort()).toEqual([...expected].sort());
    // Reports of commands are events too, and are sent with the rest.
    const inOrder = async (): Promise<readonly string[]> =>
      (
        await db.read(
          sql`SELECT boot, seq FROM ${await everyEvent(db)} WHERE status_code <> ${location} ORDER BY event_no`,
        )
      ).map(keyOf);
    for (const stream of streams) {
      await waitUntil(
        'all events on a stream',
        async () => stream.seen().length >= (await inOrder()).length,
        often,
      );
      expect(stream.seen()).toEqual(await inOrder());
    }

    const alarms = () => new Set(notices.map(({ id }) => id));
    await waitUntil('all alarms', () => alarms().size >= expected.length, often);
    expect(alarms().size).toBe(expected.length);
    expect(await db.read(sql`SELECT event_no FROM notifications`)).toHaveLength(expected.length);
    expect(await holderOf('notifications')).not.toBe(holder);
    for (const id of alarms()) {
      const texts = new Set(notices.filter((notice) => notice.id === id).map(({ text }) => text));
      expect(texts.size).toBe(1);
    }

    const states = () => db.read(sql`SELECT command_id, command_state, is_final FROM commands`);
    await waitUntil(
      'the end of all commands',
      async () => (await states()).every((row) => row['is_final'] === 1),
      often,
    );
    const known = new Map((await states()).map((row) => [String(row['command_id']), row['command_state']]));
    for (const commandID of commands)
      expect(['confirmed', 'superseded', 'cancelled']).toContain(known.get(commandID));
    for (const user of devices.keys()) {
      const counters = received.filter((command) => command.user === user).map(({ counter }) => counter);
      expect(new Set(counters).size).toBe(counters.length);
    }
    // Once each, but for one that the killed process may have been sending, and those without a report for so long that a broker
    // says so and sends them again.
    const unanswered = new Set(
      started
        .flatMap(({ lines }) => lines)
        .flatMap(({ event, fields }) => (event === 'command_unanswered' ? [fields['commandID']] : [])),
    );
    const repeated = received.filter(
      ({ commandID }, index) =>
        received.findIndex((command) => command.commandID === commandID) !== index &&
        !unanswered.has(commandID),
    );
    expect(repeated.length).toBeLessThanOrEqual(1);

    await Promise.all(streams.map((stream) => stream.close()));
    await Promise.all([one.stop(), other.stop()]);
    expect(await holderOf('notifications')).toBe('');
    expect((await db.read(sql`SELECT 1 FROM devices WHERE is_online = 1`)).length).toBe(vehicles.length);
  });
});
