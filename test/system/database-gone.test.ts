// The broker program while its database refuses every write for 30 s: another process holds the write lock of the file.
// Nothing is acknowledged meanwhile, `/readyz` says so, nobody is let in after ten seconds, it recovers by itself, and
// every event is there exactly once.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteConnection from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { everyEventIn } from '../support/database/stored-events.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { connectPacket, connectRaw, publishPacket, type RawClient } from '../support/mqtt/raw-mqtt.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const folder = temporaryFolder('gone');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);
afterAll(() => {
  killAll();
  rmSync(folder, { recursive: true });
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
  const send = async (client: RawClient, seq: number): Promise<void> => {
    const event = { seq, timestamp: 1_767_614_400 + seq, statusCode: 61_472 };
    const payload = JSON.stringify({ boot: 'b1', events: [event] });
    client.send(publishPacket(`fleet/v1/acme/${deviceID}/events`, payload, (seq % 65_535) + 1));
    // As patient as the agent: the test's client gives up a packet after ten seconds, a unit does not.
    while (client.received.filter(({ cmd }) => cmd === 'puback').length === 0 && !client.isClosed())
      await sleep(5);
  };
  const session = async (): Promise<void> => {
    const client = await connectRaw(port);
    client.send(connectPacket(`acme/${deviceID}`, secret));
    const connack = await client.next('connack').catch(() => null);
    if (connack?.returnCode !== 0) refusals.push(connack?.returnCode ?? null);
    else
      while (!state.isStopped && !client.isClosed()) {
        const seq = acknowledged.length + 1;
        await send(client, seq);
        if (client.received.some(({ cmd }) => cmd === 'puback')) acknowledged.push(seq);
        client.received.length = 0;
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
  for (let tries = 0; tries < 1000; tries++) {
    const line = output.out.split('\n').find((text) => text.includes('"broker_ready"'));
    if (line !== undefined) return JSON.parse(line) as { httpPort: number; mqttPort: number };
    await sleep(20);
  }
  return expect.fail('the broker did not start');
}

test.skipIf(!isBuilt)(
  `a database that refuses writes for 30 s costs nothing${isBuilt ? '' : ' [skipped: not built]'}`,
  { timeout: 150_000 },
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
      (await fetch(`http://127.0.0.1:${httpPort}/readyz`, { signal: AbortSignal.timeout(20_000) })).status;
    const fleet = units.map((unit) => startUnit(mqttPort, unit));
    await sleep(2000);
    expect(await status()).toBe(200);

    const other = new SqliteConnection(database, { timeout: 10_000 });
    other.exec('BEGIN IMMEDIATE');
    // What was on its way through the last commit is told to its sender.
    await sleep(500);
    const before = fleet.map(({ acknowledged }) => acknowledged.length);
    expect(Math.min(...before)).toBeGreaterThan(0);
    await sleep(outageMs - 8000);
    expect(await status()).toBe(503);
    await sleep(1000);
    expect(fleet.map(({ acknowledged }) => acknowledged.length)).toEqual(before);
    expect(fleet.every(({ refusals }) => refusals.includes(3))).toBe(true);
    other.exec('ROLLBACK');
    other.close();

    for (
      let tries = 0;
      tries < 300 && fleet.some((unit, index) => unit.acknowledged.length < (before[index] ?? 0) + 20);
      tries++
    )
      await sleep(100);
    expect(await status()).toBe(200);
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
