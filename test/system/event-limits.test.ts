// A device that floods, at the real program: its PUBACKs wait, everything that it sent is stored in the end, and the other devices of
// its account notice nothing.
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import {
  createBrokerSetup,
  provision,
  runProgram,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const nowS = (): number => Math.floor(Date.now() / 1000);
const payloadOf = (boot: string, first: number, count: number, statusCode: number): string =>
  JSON.stringify({
    boot,
    events: Array.from({ length: count }, (_unused, at) => ({
      seq: first + at,
      timestamp: nowS(),
      statusCode,
    })),
  });
const topic = (deviceID: string): string => `fleet/v1/demo/${deviceID}/events`;

async function login(port: number, deviceID: string, secret: string): Promise<RawClient> {
  const client = await connectRaw(port);
  client.send(connectPacket(`demo/${deviceID}`, secret));
  await client.next('connack');
  return client;
}

const acknowledged = (client: RawClient): readonly (number | undefined)[] =>
  client.received.flatMap((packet) => (packet.cmd === 'puback' ? [packet.messageId] : []));

test('a flood waits for its PUBACKs, and all of it is stored; nothing else waits', async () => {
  const setup = createBrokerSetup('event-limits');
  const { secret } = provision(setup, 'flood');
  const database = `${setup.folder}/fleet.db`;
  const calm = JSON.parse(
    runProgram('broker', ['device', 'create', 'demo', 'calm', '--json', '--database', database]),
  ) as { secret: string };
  const flags = ['--ingest-device-events-per-s=100', '--ingest-device-burst=1000', '--metrics-port=0'];
  const broker = await startBroker(setup, flags);
  const flood = await login(setup.mqttPort, 'flood', secret);
  const other = await login(setup.mqttPort, 'calm', calm.secret);
  const { LOCATION, PANIC_ON } = statusCodes;
  const [each, rounds] = [50, 20];
  let sent = 0;
  const sendFlood = (count: number): void => {
    for (let left = count; left > 0; left--) {
      sent += 1;
      flood.send(publishPacket(topic('flood'), payloadOf('b1', sent * each, each, LOCATION.code), sent));
    }
  };
  sendFlood(40);
  sent += 1;
  flood.send(publishPacket(topic('flood'), payloadOf('b1', 90_000, 1, PANIC_ON.code), sent));
  flood.send({ cmd: 'pingreq' });
  await flood.next('pingresp');
  for (let id = 1; id <= rounds; id++) {
    // The flood goes on, so that it waits however slow this machine is.
    sendFlood(1);
    other.send(publishPacket(topic('calm'), payloadOf('b2', id, 1, LOCATION.code), id));
    await other.next('puback');
    expect(acknowledged(flood).length).toBeLessThan(sent);
  }
  await waitUntil('all of the flood to be acknowledged', () => acknowledged(flood).length === sent);
  expect(acknowledged(flood)).toEqual(Array.from({ length: sent }, (_unused, at) => at + 1));
  const named = broker.lines.filter(({ msg }) => msg === 'device_over_limit');
  expect(named).toMatchObject([{ clientID: 'demo/flood', setting: 'ingest.deviceEventsPerS', limit: 100 }]);
  expect(flood.isClosed()).toBe(false);
  broker.signal('SIGTERM');
  await waitUntil('the broker to end', () => broker.exitCode() !== null);
  const db = openSqlite({ path: database, pageSize: 4096 });
  const rows = await db.read({
    sql: 'SELECT status_code, event_no FROM events ORDER BY event_no',
    params: [],
  });
  await db.close();
  expect(rows.length).toBe((sent - 1) * each + 1 + rounds);
  // The panic did not wait behind the flood that was sent before it.
  const panicAt = rows.findIndex((row) => row['status_code'] === PANIC_ON.code);
  expect(panicAt).toBeLessThan(39 * each);
});

test('a client that leaves while it waits sends the rest again, and each event is stored once', async () => {
  const setup = createBrokerSetup('event-limits-again');
  const { secret } = provision(setup, 'flood');
  const broker = await startBroker(setup, ['--ingest-device-events-per-s=200', '--ingest-device-burst=1000']);
  const [payloads, each] = [40, 50];
  const kept = new Map<number, string>(
    Array.from({ length: payloads }, (_unused, at) => [
      at + 1,
      payloadOf('b1', (at + 1) * each, each, statusCodes.LOCATION.code),
    ]),
  );
  let connections = 0;
  while (kept.size > 0) {
    connections += 1;
    const client = await login(setup.mqttPort, 'flood', secret);
    const before = kept.size;
    for (const [id, payload] of kept) client.send(publishPacket(topic('flood'), payload, id));
    // Each connection gets further: a limit is no refusal.
    await waitUntil('a PUBACK', () => acknowledged(client).length >= Math.min(before, 10));
    client.end();
    await client.closed;
    for (const id of acknowledged(client)) kept.delete(id ?? 0);
    expect(kept.size).toBeLessThan(before);
  }
  expect(connections).toBeGreaterThan(1);
  broker.signal('SIGTERM');
  await waitUntil('the broker to end', () => broker.exitCode() !== null);
  const db = openSqlite({ path: `${setup.folder}/fleet.db`, pageSize: 4096 });
  const [row] = await db.read({
    sql: 'SELECT COUNT(*) AS n, COUNT(DISTINCT seq) AS d FROM events',
    params: [],
  });
  await db.close();
  expect([row?.['n'], row?.['d']]).toEqual([payloads * each, payloads * each]);
});
