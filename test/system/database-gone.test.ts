// The broker program while its database refuses every write for 30 s: another process holds the write lock of the file.
// Nothing is acknowledged meanwhile, `/readyz` says so, no connection is accepted after ten seconds, it recovers by itself, and
// every event is there exactly once.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteConnection from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { everyEventIn } from '../support/database/stored-events.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const folder = temporaryFolder('gone');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);
let stopFleet = async (): Promise<unknown> => undefined;
afterAll(async () => {
  killAll();
  await stopFleet();
  rmSync(folder, { recursive: true, force: true });
});

const outageMs = 30_000;

interface Unit {
  readonly deviceID: string;
  readonly secret: string;
}

/** A unit that sends event after event, one at a time, each until its PUBACK, and connects again when it must. */
function startUnit(port: number, { deviceID, secret }: Unit) {
  const acknowledged: number[] = [];
  const refusals: unknown[] = [];
  const state = { isStopped: false };
  const send = async (client: RawClient, seq: number): Promise<boolean> => {
    const event = { seq, timestamp: 1_767_614_400 + seq, statusCode: 61_472 };
    const payload = JSON.stringify({ boot: 'b1', events: [event] });
    client.send(publishPacket(`fleet/v1/acme/${deviceID}/events`, payload, (seq % 65_535) + 1));
    return await client.next('puback').then(
      () => true,
      () => false,
    );
  };
  const session = async (): Promise<void> => {
    const client = await connectRaw(port).catch(() => null);
    if (client === null) return;
    client.send(connectPacket(`acme/${deviceID}`, secret));
    const connack = await client.next('connack').catch(() => null);
    if (connack?.returnCode !== 0) refusals.push(connack?.returnCode ?? null);
    else
      while (!state.isStopped && !client.isClosed()) {
        const seq = acknowledged.length + 1;
        if (await send(client, seq)) acknowledged.push(seq);
        await sleep(20);
      }
    client.end();
  };
  const ended = (async () => {
    while (!state.isStopped) {
      await session();
      await sleep(300);
    }
  })();
  return {
    acknowledged,
    refusals,
    async stop() {
      state.isStopped = true;
      await ended;
    },
  };
}

async function ready(output: { readonly out: string }): Promise<{ httpPort: number; mqttPort: number }> {
  const look = () => output.out.split('\n').find((text) => text.includes('"broker_ready"'));
  return JSON.parse(await waitUntil('the broker to be ready', look)) as {
    httpPort: number;
    mqttPort: number;
  };
}

test.skipIf(!isBuilt)(
  `a database that refuses writes for 30 s costs nothing${isBuilt ? '' : ' [skipped: not built]'}`,
  async () => {
    const made = await run(['account', 'create', 'acme', '--admin', 'ann', '--database', database]);
    expect(made).toMatchObject({ code: 0 });
    const units: Unit[] = [];
    for (const deviceID of ['t1', 't2', 't3']) {
      const { out, err } = await run(['device', 'create', 'acme', deviceID, '--database', database]);
      units.push({ deviceID, secret: /secret: (\S+)/.exec(out)?.[1] ?? expect.fail(out + err) });
    }
    const { child, output, ended } = launch([
      'start',
      '--database',
      database,
      '--http-port',
      '0',
      '--mqtt-port',
      '0',
    ]);
    const { httpPort, mqttPort } = await ready(output);
    const status = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${httpPort}/readyz`, { signal: AbortSignal.timeout(hangMs) })).status;
    const isReady = (wanted: number): Promise<unknown> =>
      waitUntil(`status ${wanted}`, async () => (await status()) === wanted, { everyMs: 100 });
    const fleet = units.map((unit) => startUnit(mqttPort, unit));
    stopFleet = () => Promise.all(fleet.map((unit) => unit.stop()));
    const counts = (): readonly number[] => fleet.map(({ acknowledged }) => acknowledged.length);
    await waitUntil('events of each unit', () => Math.min(...counts()) >= 20);
    await isReady(200);

    const other = new SqliteConnection(database, { timeout: hangMs });
    other.exec('BEGIN IMMEDIATE');
    const heldMs = performance.now();
    // Said when a write of its own has failed: by then each unit has the answers to all commits before that.
    await isReady(503);
    await status();
    const before = counts();
    await waitUntil('each unit to be turned away', () => fleet.every(({ refusals }) => refusals.includes(3)));
    await sleep(Math.max(0, outageMs - (performance.now() - heldMs)));
    expect(await status()).toBe(503);
    expect(counts()).toEqual(before);
    other.exec('ROLLBACK');
    other.close();

    await waitUntil('further events of each unit', () =>
      counts().every((count, index) => count >= (before[index] ?? 0) + 20),
    );
    await isReady(200);
    await Promise.all(fleet.map((unit) => unit.stop()));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);

    const db = new SqliteConnection(database, { readonly: true });
    const rows = db
      .prepare(
        `SELECT d.device_id AS id, e.seq AS seq FROM ${everyEventIn(db)} JOIN devices d ON d.device_no = e.device_no
        WHERE e.boot IS NOT NULL`,
      )
      .all() as { id: string; seq: number }[];
    db.close();
    for (const [index, { acknowledged }] of fleet.entries()) {
      const stored = rows.filter(({ id }) => id === units[index]?.deviceID).map(({ seq }) => seq);
      expect(new Set(stored).size).toBe(stored.length);
      expect(acknowledged.filter((seq) => !stored.includes(seq))).toEqual([]);
      expect(acknowledged.length).toBeGreaterThanOrEqual((before[index] ?? 0) + 20);
    }
  },
);
