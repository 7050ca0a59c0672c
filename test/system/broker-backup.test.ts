// The broker's figures, backup, restore and check on the built program, with a real vehicle that goes on sending: what was
// acknowledged before a backup is in it, nothing is overwritten, and whatever is damaged, newer or in use is refused with a message.
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { sql } from '../../src/sql.ts';
import { everyEvent } from '../support/database/stored-events.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';
import {
  type BrokerSetup,
  createBrokerSetup,
  type Program,
  provision,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const isBuilt = existsSync(new URL('../../dist/broker/main.js', import.meta.url));
const location = 61_472;
const setup = createBrokerSetup('backup');
const { folder } = setup;
const at = (name: string): string => join(folder, name);
const { run, killAll } = createBrokerProgram(folder);
const firstS = Math.floor(Date.now() / 1000) - 20_000;
const database = at('fleet.db');
const inUse = ['--database', database];

let secret = '';
let broker: Program;
let metricsUrl = '';
let sent = 0;

afterAll(async () => {
  killAll();
  broker?.signal('SIGKILL');
  await broker?.ended();
  rmSync(folder, { recursive: true, force: true });
});

async function connectVehicle(): Promise<RawClient> {
  const client = await connectRaw(setup.mqttPort);
  client.send(connectPacket('demo/truck-17', secret));
  expect((await client.next('connack')).returnCode).toBe(0);
  return client;
}

/** Sends one event and waits for its PUBACK; gives its time. */
async function sendEvent(client: RawClient): Promise<number> {
  sent += 1;
  const timestamp = firstS + sent;
  const event = { timestamp, statusCode: location, latitude: 52, longitude: 5 + sent / 100_000, speed: 50 };
  client.send(publishPacket('fleet/v1/demo/truck-17/events', JSON.stringify(event), (sent % 60_000) + 1));
  await client.next('puback');
  return timestamp;
}

/** Times of all events in a database file, in seconds; works on a copy so that the file stays as it is. */
async function timesIn(path: string): Promise<ReadonlySet<number>> {
  const copy = at('looked-at.db');
  rmSync(copy, { force: true });
  copyFileSync(path, copy);
  const db = openSqlite({ path: copy, pageSize: 4096 });
  try {
    const rows = await db.read(sql`SELECT timestamp_ms FROM ${await everyEvent(db)}`);
    return new Set(rows.map((row) => Number(row['timestamp_ms']) / 1000));
  } finally {
    await db.close();
  }
}

async function figures(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(metricsUrl)).text();
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

describe.skipIf(!isBuilt)(`safekeeping of a broker${isBuilt ? '' : ' [skipped: not built]'}`, () => {
  beforeAll(async () => {
    secret = provision(setup, 'truck-17').secret;
    broker = await startBroker(setup, ['--metrics-port', '0']);
    const ready = broker.lines.find(({ msg }) => msg === 'broker_ready');
    metricsUrl = `http://127.0.0.1:${String(ready?.['metricsPort'])}/metrics`;
  });

  it('shows at /metrics what vehicles sent, and nothing else on that port', async () => {
    const client = await connectVehicle();
    for (let count = 0; count < 20; count++) await sendEvent(client);
    await fetch(`http://127.0.0.1:${setup.httpPort}/livez`);
    // They are as old as a second.
    const found = await waitUntil(
      'figures of all events',
      async () => {
        const now = await figures();
        const isNew =
          now.get('fleetward_ingest_events_total') === 20 &&
          now.get('fleetward_http_requests_total{operation="/livez",status="2xx"}') === 1;
        return isNew ? now : null;
      },
      { everyMs: 100 },
    );
    expect(found.get('fleetward_ingest_events_total')).toBe(20);
    expect(found.get('fleetward_acknowledgement_latency_seconds_count')).toBe(20);
    expect(found.get('fleetward_ingest_commit_latency_seconds_count')).toBe(20);
    expect(found.get('fleetward_mqtt_connections')).toBe(1);
    expect(found.get('fleetward_mqtt_connections_accepted_total')).toBe(1);
    expect(found.get('fleetward_http_requests_total{operation="/livez",status="2xx"}')).toBe(1);
    expect(found.get('fleetward_commit_duration_seconds_count')).toBeGreaterThan(0);
    const text = await (await fetch(metricsUrl)).text();
    for (const name of ['truck-17', 'demo', secret]) expect(text).not.toContain(name);
    expect((await fetch(metricsUrl.replace('/metrics', '/'))).status).toBe(404);
    expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405);
    // Not on the interface for users.
    expect((await fetch(`http://127.0.0.1:${setup.httpPort}/metrics`)).status).toBe(404);
    client.end();
  });

  it('copies the database while the vehicle keeps sending, with all that was acknowledged before', async () => {
    const client = await connectVehicle();
    const before: number[] = [];
    for (let count = 0; count < 200; count++) before.push(await sendEvent(client));
    const backup = run(['backup', at('one.db'), '--json', ...inUse]);
    const state = { isDone: false };
    void backup.then(() => (state.isDone = true));
    const during: number[] = [];
    while (!state.isDone) during.push(await sendEvent(client));
    const { code, out } = await backup;
    expect(code).toBe(0);
    expect(during.length).toBeGreaterThan(0);
    expect(JSON.parse(out)).toMatchObject({ file: at('one.db'), hasSigningKey: false });
    expect(statSync(at('one.db')).mode & 0o777).toBe(0o600);
    const kept = await timesIn(at('one.db'));
    expect(before.filter((time) => !kept.has(time))).toEqual([]);
    // One moment: what is in it of the rest is without a gap.
    const later = during.filter((time) => kept.has(time));
    expect(later).toEqual(during.slice(0, later.length));
    client.end();
  });

  it('never overwrites, leaves nothing half done, and reports it', async () => {
    const bytes = readFileSync(at('one.db'));
    const again = await run(['backup', at('one.db'), ...inUse]);
    expect(again).toMatchObject({ code: 65, err: expect.stringContaining('overwrites nothing') as string });
    expect(readFileSync(at('one.db')).equals(bytes)).toBe(true);
    expect(await run(['backup', at('no/folder.db'), ...inUse])).toMatchObject({ code: 66 });
    expect(await run(['backup', at('x.db'), '--database', at('none.db')])).toMatchObject({ code: 66 });
    expect(existsSync(at('x.db'))).toBe(false);
  });

  it('contains the signing key only when asked for, and names the key', async () => {
    const pem = readFileSync(`${database}.signing-key.pem`, 'utf8');
    const heart = pem.split('\n')[1] ?? '';
    expect(heart.length).toBeGreaterThan(40);
    expect(readFileSync(at('one.db')).includes(heart)).toBe(false);
    const { code, out } = await run(['backup', at('keys.db'), '--with-signing-key', ...inUse]);
    expect([code, out]).toEqual([0, expect.stringContaining('this file allows commands to every vehicle')]);
    expect(readFileSync(at('keys.db')).includes(heart)).toBe(true);
  });

  it('restores a backup to where no database is: the same events, the keys, no trace of a key in the database', async () => {
    const pem = readFileSync(`${database}.signing-key.pem`, 'utf8');
    const target = ['--database', at('restored.db')];
    expect(await run(['restore', at('keys.db'), ...target])).toMatchObject({ code: 0 });
    expect(await timesIn(at('restored.db'))).toEqual(await timesIn(at('keys.db')));
    expect(readFileSync(`${at('restored.db')}.signing-key.pem`, 'utf8')).toBe(pem);
    expect(statSync(`${at('restored.db')}.signing-key.pem`).mode & 0o777).toBe(0o600);
    expect(readFileSync(at('restored.db')).includes(pem.split('\n')[1] ?? '')).toBe(false);
    const { code, out } = await run(['check', '--json', ...target]);
    expect([code, JSON.parse(out)]).toMatchObject([0, { ok: true }]);
    const audit = await run(['audit', 'verify', ...target]);
    expect(audit.code).toBe(0);
    const keyless = await run(['restore', at('one.db'), '--database', at('keyless.db')]);
    expect(keyless.out).toContain('Put the signing key to');
  });

  it('restores nothing over a database, under a running broker, of a newer version, or damaged', async () => {
    expect(await run(['restore', at('one.db'), ...inUse])).toMatchObject({ code: 78 });
    expect(await run(['restore', at('one.db'), '--database', at('restored.db')])).toMatchObject({
      code: 65,
      err: expect.stringContaining('overwrites nothing') as string,
    });
    copyFileSync(at('one.db'), at('newer.db'));
    const newer = openSqlite({ path: at('newer.db'), pageSize: 4096 });
    await newer.write([
      { sql: "INSERT INTO migrations (name, applied_order) VALUES ('9999-later', 9999)", params: [] },
    ]);
    await newer.close();
    const target = ['--database', at('fresh.db')];
    const refused = await run(['restore', at('newer.db'), ...target]);
    expect(refused).toMatchObject({ code: 74, err: expect.stringContaining('newer version') as string });
    for (const [name, offset] of [
      ['head.db', 0],
      ['middle.db', 5 * 4096],
    ] as const) {
      copyFileSync(at('one.db'), at(name));
      const file = openSync(at(name), 'r+');
      writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, offset);
      closeSync(file);
      expect(await run(['restore', at(name), ...target])).toMatchObject({ code: 74 });
    }
    copyFileSync(at('one.db'), at('short.db'));
    const { size } = statSync(at('short.db'));
    const cut = readFileSync(at('short.db')).subarray(0, Math.floor(size / 2));
    const half = openSync(at('half.db'), 'w');
    writeSync(half, cut);
    closeSync(half);
    expect(await run(['restore', at('half.db'), ...target])).toMatchObject({ code: 74 });
    for (const suffix of ['', '-wal', '-journal']) expect(existsSync(at(`fresh.db${suffix}`))).toBe(false);
  });

  it('never puts another key in the place of one', async () => {
    const other = at('other.db.signing-key.pem');
    copyFileSync(`${database}.vapid-key.pem`, other);
    const bytes = readFileSync(other);
    const { code, err } = await run(['restore', at('keys.db'), '--database', at('other.db')]);
    expect([code, err]).toEqual([65, expect.stringContaining('another key')]);
    expect(readFileSync(other).equals(bytes)).toBe(true);
    expect(existsSync(at('other.db'))).toBe(false);
  });

  it('finds impossible states: orphans, a present older than its events, acknowledged events that are missing', async () => {
    const path = at('wrong.db');
    copyFileSync(at('one.db'), path);
    const db = openSqlite({ path, pageSize: 4096 });
    const nowMs = Date.now();
    await db.write([
      { sql: 'UPDATE devices SET fix_ms = 1000000000000', params: [] },
      { sql: 'UPDATE events SET device_no = 4711 WHERE event_no = 3', params: [] },
      {
        sql: "INSERT INTO boots (device_no, boot, first_seen_ms, up_to) SELECT device_no, 'b1', $1, 7 FROM devices",
        params: [nowMs],
      },
    ]);
    await db.close();
    const { code, out } = await run(['check', '--json', '--database', path]);
    expect(code).toBe(1);
    const { ok, parts } = JSON.parse(out) as { ok: boolean; parts: { name: string; faults: string[] }[] };
    expect(ok).toBe(false);
    const faults = new Map(parts.map((part) => [part.name, part.faults.join('; ')]));
    expect(faults.get('orphans')).toContain('events of 1 devices');
    expect(faults.get('present')).toContain('position older than its events');
    expect(faults.get('present')).toContain('7 events of boot b1 acknowledged, 0 stored');
    expect(faults.get('pages')).toBe('');
  });

  it('checks the database of a running broker, and finds it good', async () => {
    const { code, out } = await run(['check', ...inUse]);
    expect(out).not.toContain('BROKEN');
    expect(code).toBe(0);
  });

  it('lets no second broker on a database', async () => {
    const second = await run(['start', '--http-port', '0', '--mqtt-port', '0', ...inUse]);
    expect(second).toMatchObject({
      code: 78,
      err: expect.stringContaining('in use by another process') as string,
    });
  });

  it.each(['backup', 'restore', 'check'])('names the tools of PostgreSQL for %s', async (command) => {
    const file = command === 'check' ? [] : [at('pg.dump')];
    const { code, err } = await run([command, ...file, '--database', 'postgres://fleet@127.0.0.1/fleet']);
    expect([code, err]).toEqual([69, expect.stringMatching(/pg_dump|pg_restore|pg_amcheck/)]);
  });

  it('asks for the token where /metrics has one, and is not readable from outside without it', async () => {
    const file = at('metrics-token');
    expect(await run(['admin-token', '--file', file])).toMatchObject({ code: 0 });
    const own: BrokerSetup = {
      ...setup,
      folder: temporaryFolder('token'),
      httpPort: 0,
      mqttPort: 0,
    };
    const guarded = await startBroker(own, ['--metrics-port', '0', '--metrics-token-file', file]);
    try {
      const ready = guarded.lines.find(({ msg }) => msg === 'broker_ready');
      const url = `http://127.0.0.1:${String(ready?.['metricsPort'])}/metrics`;
      expect((await fetch(url)).status).toBe(401);
      expect((await fetch(url, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
      const authorization = `Bearer ${readFileSync(file, 'utf8').trim()}`;
      expect((await fetch(url, { headers: { authorization } })).status).toBe(200);
    } finally {
      guarded.signal('SIGTERM');
      await guarded.ended();
      rmSync(own.folder, { recursive: true, force: true });
    }
    const open = ['config', 'check', '--metrics-port', '9464', '--metrics-host', '0.0.0.0'];
    expect(await run(open)).toMatchObject({
      code: 78,
      err: expect.stringContaining('--metrics-token-file') as string,
    });
  });
});
