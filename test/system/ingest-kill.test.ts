// The broker program killed with SIGKILL again and again while vehicles send as fast as they are answered: whatever was
// acknowledged is stored, nothing is stored twice, and the numbers of the store say so.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import SqliteConnection from 'better-sqlite3';
import { afterAll, expect, test } from 'vitest';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { everyEventIn } from '../support/database/stored-events.ts';
import { freePort } from '../support/machine/free-port.ts';
import { runSeed } from '../support/machine/run-seed.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { connectPacket, connectRaw, publishPacket } from '../support/mqtt/raw-mqtt.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const isBuilt = existsSync(fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url)));
const folder = temporaryFolder('ingest-kill');
const database = join(folder, 'fleet.db');
const { launch, run, killAll } = createBrokerProgram(folder);
afterAll(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

const kills = Number(process.env['FLEETWARD_TEST_KILLS'] ?? 5);
const inFlight = 8;
const batch = 3;

interface Unit {
  readonly deviceID: string;
  readonly secret: string;
}

interface Place {
  port: number;
  isStopped: boolean;
}

/** Sends batches with gaps and in twos out of order, several at once, and all that was not acknowledged again. */
function startUnit(place: Place, { deviceID, secret }: Unit) {
  const acknowledged = new Set<number>();
  let next = 0;
  const open = new Map<number, readonly number[]>();
  const session = async (): Promise<void> => {
    const client = await connectRaw(place.port);
    client.send(connectPacket(`acme/${deviceID}`, secret));
    const connack = await client.next('connack').catch(() => null);
    if (connack?.returnCode !== 0) return client.end();
    const send = (id: number, seqs: readonly number[]): void => {
      const events = seqs.map((seq) => ({ seq, timestamp: 1_767_614_400 + seq, statusCode: 61_472 }));
      client.send(
        publishPacket(`fleet/v1/acme/${deviceID}/events`, JSON.stringify({ boot: 'b1', events }), id),
      );
    };
    for (const [id, seqs] of open) send(id, seqs);
    while (!place.isStopped && !client.isClosed()) {
      while (open.size < inFlight && !place.isStopped) {
        const id = (next % 60_000) + 1;
        // 1, 3, 2 of each three batches; every seventh number is left out for good.
        const at = next - (next % 3) + ([0, 2, 1][next % 3] ?? 0);
        next += 1;
        const seqs = Array.from({ length: batch }, (_unused, one) => at * batch + one + 1).filter(
          (seq) => seq % 7 > 0,
        );
        open.set(id, seqs);
        send(id, seqs);
      }
      for (const packet of client.received.splice(0)) {
        if (packet.cmd !== 'puback' || packet.messageId === undefined) continue;
        for (const seq of open.get(packet.messageId) ?? []) acknowledged.add(seq);
        open.delete(packet.messageId);
      }
      await sleep(2);
    }
    client.end();
  };
  const ended = (async () => {
    while (!place.isStopped) {
      await session().catch(() => undefined);
      await sleep(50);
    }
  })();
  return { deviceID, acknowledged, ended };
}

test.skipIf(!isBuilt)(
  `nothing that was acknowledged is lost or doubled over ${kills} kills${isBuilt ? '' : ' [skipped: not built]'}`,
  { timeout: 60_000 + kills * 30_000 },
  async () => {
    expect(await run(['account', 'create', 'acme', '--admin', 'ann', '--database', database])).toMatchObject({
      code: 0,
    });
    const units: Unit[] = [];
    for (const deviceID of ['t1', 't2', 't3', 't4']) {
      const { out, err } = await run(['device', 'create', 'acme', deviceID, '--database', database]);
      units.push({ deviceID, secret: /secret: (\S+)/.exec(out)?.[1] ?? expect.fail(out + err) });
    }
    const place: Place = { port: await freePort(), isStopped: false };
    const start = async () => {
      const program = launch([
        'start',
        '--database',
        database,
        '--http-port',
        '0',
        '--mqtt-port',
        String(place.port),
      ]);
      const { output } = program;
      await waitUntil(
        'the start of the broker',
        () => output.out.split('\n').find((text) => text.includes('"broker_ready"')),
        { seen: () => `${output.out}${output.err}` },
      );
      return program;
    };
    let program = await start();
    const fleet = units.map((unit) => startUnit(place, unit));
    const counts = (): readonly number[] => fleet.map(({ acknowledged }) => acknowledged.size);
    /** Until each vehicle has had so many events more acknowledged. */
    const untilAcknowledged = async (more: number): Promise<void> => {
      const before = counts();
      await waitUntil(
        `${more} acknowledged events of each vehicle`,
        () => counts().every((size, at) => size >= (before[at] ?? 0) + more),
        {
          seen: () => `${counts().join(', ')} after ${before.join(', ')}; ${program.output.out.slice(-2000)}`,
        },
      );
    };
    const random = createSeededEntropy(`ingest-kill ${runSeed()}`);
    for (let kill = 0; kill < kills; kill++) {
      await untilAcknowledged(60);
      await sleep(random.fraction() * 200);
      program.child.kill('SIGKILL');
      await program.ended;
      program = await start();
    }
    await untilAcknowledged(60);
    place.isStopped = true;
    await Promise.all(fleet.map(({ ended }) => ended));
    program.child.kill('SIGTERM');
    expect(await program.ended).toBe(0);

    const db = new SqliteConnection(database, { readonly: true });
    for (const { deviceID, acknowledged } of fleet) {
      const rows = db
        .prepare<[string], number>(
          `SELECT e.seq FROM ${everyEventIn(db)} JOIN devices d ON d.device_no = e.device_no
          WHERE d.device_id = ? AND e.boot = 'b1' ORDER BY e.seq`,
        )
        .pluck()
        .all(deviceID);
      const stored = new Set(rows);
      expect(stored.size).toBe(rows.length);
      expect([...acknowledged].filter((seq) => !stored.has(seq))).toEqual([]);
      const ranges = db
        .prepare<[string], { first: number; last: number }>(
          `SELECT s.first_seq AS first, s.last_seq AS last FROM stored_ranges s JOIN devices d ON d.device_no = s.device_no
          WHERE d.device_id = ? ORDER BY s.first_seq`,
        )
        .all(deviceID);
      const upTo = db
        .prepare<[string], number>(
          'SELECT b.up_to FROM boots b JOIN devices d ON d.device_no = b.device_no WHERE d.device_id = ?',
        )
        .pluck()
        .get(deviceID);
      const known = [{ first: 1, last: upTo ?? 0 }, ...ranges].flatMap(({ first, last: end }) =>
        Array.from({ length: end - first + 1 }, (_unused, at) => first + at),
      );
      expect(known).toEqual(rows);
    }
    db.close();
  },
);
