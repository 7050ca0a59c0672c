// The broker's statements on a real database: tenants apart, defaults of a new device, bounds, secrets.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { projectBatch } from '../../broker/core/events/projection.ts';
import {
  createEventPlanner,
  type DecodedPayload,
  type EventOutcome,
} from '../../broker/ingest/event-plan.ts';
import { migrations } from '../../broker/migrations.ts';
import type { Planner } from '../../broker/scheduling/commit-draft.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { credentialsOf, findCredential } from '../../broker/store/devices/credentials.ts';
import { hashSecret, isSecret } from '../../broker/store/devices/device-secret.ts';
import {
  deviceStates,
  findDevice,
  insertDevice,
  listDevices,
  listStates,
  recordHello,
  setAllOffline,
  setOnline,
  updateDevice,
} from '../../broker/store/devices/devices.ts';
import { selectUpTo } from '../../broker/store/events/projections.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { toRanges } from '../../src/core/wire/wire.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  helloOf,
  migrateWithAccounts,
  openBenchDatabase,
} from '../support/broker/broker-bench.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';

const all = { after: '', limit: 1000 };
const span = { from: '', to: '~' };

let server: PostgresBench | null = null;
beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

const openOnServer = async (): Promise<Database> => {
  if (server === null) throw new Error('no server');
  return migrateWithAccounts(await openPostgres({ url: await server.createMigrated() }));
};

const ways = [
  { name: 'on SQLite', open: () => openBenchDatabase(), missing: false },
  {
    name: postgresMissing === null ? 'on PostgreSQL' : `on PostgreSQL [${postgresMissing}]`,
    open: openOnServer,
    missing: postgresMissing !== null,
  },
] as const;

for (const { name, open, missing } of ways) {
  describe.skipIf(missing)(name, () => {
    let db: Database;
    beforeEach(async () => {
      db = await open();
    });
    afterEach(() => db.close());

    const acme = { accountID: 'acme', deviceID: 'truck-1' } as const;

    describe('a device', () => {
      test('is created once, with its five states at 0', async () => {
        const statements = insertDevice(acme, {
          createdS: 5,
          fields: { uniqueID: '77', description: 'Truck 1' },
        });
        expect((await db.write(statements))[0]?.changes).toBe(1);
        expect((await db.write(insertDevice(acme, { createdS: 9 })))[0]?.changes).toBe(0);
        const device = (await findDevice(db, acme)) ?? expect.fail('not created');
        expect(device).toMatchObject({
          uniqueID: '77',
          description: 'Truck 1',
          createdS: 5,
          heartbeatMs: 0,
          boot: null,
        });
        expect(device).toMatchObject({ isOnline: false, features: [], pinColor: '1f77b4', fuelLevel: null });
        const states = await deviceStates(db, device.deviceNo);
        expect([...states.keys()]).toEqual(['cargoaccess', 'enginecutoff', 'fuel', 'ignition', 'panic']);
        expect([...states.values()].every(({ state, changedMs }) => state === '0' && changedMs === 0)).toBe(
          true,
        );
      });

      test('is changed only in the fields that are given', async () => {
        await db.write(insertDevice(acme, { createdS: 5, fields: { sms: '123', driver: 'Dora' } }));
        const [result] = await db.write([updateDevice(acme, { driver: '', description: 'x' })]);
        expect(result?.changes).toBe(1);
        expect(await findDevice(db, acme)).toMatchObject({ sms: '123', driver: '', description: 'x' });
        expect(
          (await db.write([updateDevice({ ...acme, deviceID: 'none' }, { driver: 'y' })]))[0]?.changes,
        ).toBe(0);
      });

      test('has a number that no later device gets', async () => {
        const first = await addDevice(db, 'acme', 'truck-1');
        const { deviceNo } = first;
        await db.write([
          sql`DELETE FROM device_states WHERE device_no = ${deviceNo}`,
          sql`DELETE FROM devices WHERE device_no = ${deviceNo}`,
        ]);
        expect((await addDevice(db, 'rival', 'truck-9')).deviceNo).toBeGreaterThan(deviceNo);
      });

      test('of another account is out of reach of every statement that takes an account', async () => {
        await addDevice(db, 'acme', 'truck-1');
        const rival = await addDevice(db, 'rival', 'truck-1');
        await db.write([
          updateDevice({ accountID: 'rival', deviceID: 'truck-1' }, { description: 'canary' }),
        ]);
        expect(
          (await listDevices(db, wholeAccount('acme'), all)).map(({ description }) => description),
        ).toEqual(['']);
        expect(await findDevice(db, { accountID: 'nobody', deviceID: 'truck-1' })).toBeNull();
        expect([...(await listStates(db, wholeAccount('acme'), span)).keys()]).not.toContain(rival.deviceNo);
        expect((await listStates(db, wholeAccount('rival'), span)).get(rival.deviceNo)?.size).toBe(5);
      });

      test('is online from its hello on, and no device is online after a start', async () => {
        const one = await addDevice(db, 'acme', 'truck-1');
        const two = await addDevice(db, 'acme', 'truck-2');
        await db.write([
          recordHello(one.deviceNo, helloOf('b1'), { atMs: 50 }),
          setOnline(two.deviceNo, true, { atMs: 50, cause: 'hello' }),
        ]);
        const online = async () =>
          (await listDevices(db, wholeAccount('acme'), all)).map(({ isOnline }) => isOnline);
        expect(await online()).toEqual([true, true]);
        expect(await findDevice(db, acme)).toMatchObject({
          helloMs: 50,
          heartbeatMs: 50,
          features: helloOf('b1').features,
        });
        await db.write([recordHello(one.deviceNo, helloOf('b2'), { atMs: 40 })]);
        expect(await findDevice(db, acme)).toMatchObject({ boot: 'b2', helloMs: 40, heartbeatMs: 50 });
        await db.write([setAllOffline(60)]);
        expect(await online()).toEqual([false, false]);
      });
    });

    describe('the secret of a device', () => {
      const entropy = createSystemEntropy();
      const clock = createSystemClock();

      test('has 256 random bits, is kept only as a hash, and a new one replaces it', async () => {
        await addDevice(db, 'acme', 'truck-1');
        const first = await issueDeviceSecret(db, entropy, clock, acme);
        const second = await issueDeviceSecret(db, entropy, clock, acme);
        expect(first).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect(second).not.toBe(first);
        const credential = (await findCredential(db, acme, 0)) ?? expect.fail('no credential');
        expect(credential.secretHash).toBe(hashSecret(second));
        expect(JSON.stringify(await db.read(sql`SELECT * FROM devices`))).not.toContain(second);
        const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
        expect(isSecret(bytes(second), credential.secretHash)).toBe(true);
        expect(isSecret(bytes(first), credential.secretHash)).toBe(false);
        expect(isSecret(bytes(''), null)).toBe(false);
        expect(isSecret(new Uint8Array(32), '00')).toBe(false);
      });

      test('is not made for a device that does not exist', async () => {
        await expect(issueDeviceSecret(db, entropy, clock, acme)).rejects.toMatchObject({
          code: 'not_found',
        });
      });

      test('a replaced secret, a suspended, expired or deleted account and a deleted device are found by the check of live connections', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const other = await addDevice(db, 'rival', 'truck-1');
        const nowS = 1000;
        const look = async () => await credentialsOf(db, [deviceNo, other.deviceNo], nowS);
        const secret = await issueDeviceSecret(db, entropy, clock, acme);
        expect((await look()).get(deviceNo)).toEqual({
          deviceNo,
          secretHash: hashSecret(secret),
          isAccountActive: true,
          certificateChanges: 0,
          accountEventsPerS: null,
        });
        await issueDeviceSecret(db, entropy, clock, acme);
        expect((await look()).get(deviceNo)?.certificateChanges).toBe(1);
        expect((await look()).get(deviceNo)?.secretHash).not.toBe(hashSecret(secret));
        for (const fault of ['is_active = 0', `expires_s = ${nowS}`, 'deleting_s = 1']) {
          const change = { sql: `UPDATE accounts SET ${fault} WHERE account_id = 'rival'`, params: [] };
          const mend = `UPDATE accounts SET is_active = 1, expires_s = ${nowS + 1}, deleting_s = NULL`;
          await db.write([change]);
          expect((await look()).get(other.deviceNo)?.isAccountActive, fault).toBe(false);
          await db.write([{ sql: mend, params: [] }]);
          expect((await look()).get(other.deviceNo)?.isAccountActive, fault).toBe(true);
        }
        await db.write([sql`DELETE FROM device_states WHERE device_no = ${other.deviceNo}`]);
        await db.write([sql`DELETE FROM devices WHERE device_no = ${other.deviceNo}`]);
        expect([...(await look()).keys()]).toEqual([deviceNo]);
      });
    });

    describe('what is stored of a boot', () => {
      const event = { timestamp: 1, upMs: null, timeQuality: 'rtc', statusCode: 1 } as const;
      const work = (deviceNo: number, seqs: readonly number[]): DecodedPayload => {
        const events = seqs.map((seq) => ({ ...event, seq }));
        const projection = projectBatch({ boot: 'b', events }, 1);
        return {
          deviceNo,
          boot: 'b',
          events,
          ranges: toRanges(seqs),
          projection,
          receivedMs: 1,
          lastContactMs: 1,
          also: [],
        };
      };
      /** Stores and gives the numbers that were new, and up to where nothing is missing, as returned and as written. */
      const store = async (planner: Planner<DecodedPayload, EventOutcome>, one: DecodedPayload) => {
        const plan = await planner.plan([one]);
        const [outcome] = plan.finish(await db.write(plan.batch));
        if (outcome?.kind !== 'stored') return expect.fail('not stored');
        const [row] = await db.read(selectUpTo(one.deviceNo, 'b'));
        expect(row).toEqual({ up_to: outcome.upTo });
        return { upTo: outcome.upTo, fresh: outcome.fresh.map(({ seq }) => seq) };
      };
      const span = (from: number, to: number) =>
        Array.from({ length: to - from + 1 }, (_unused, index) => from + index);

      test('is exact after any gap is filled, also by a process that knows only the store', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const one = createEventPlanner(db);
        const at = async (from: number, to: number, planner = one) =>
          (await store(planner, work(deviceNo, span(from, to)))).upTo;
        expect(await at(3, 5)).toBe(0);
        expect(await at(8, 8)).toBe(0);
        expect(await at(2, 2)).toBe(0);
        expect(await at(1, 1)).toBe(5);
        expect(await at(6, 7, createEventPlanner(db))).toBe(8);
        expect(await at(1, 8, createEventPlanner(db))).toBe(8);
        expect(await db.read(sql`SELECT * FROM stored_ranges`)).toEqual([]);
        expect(await at(7, 12, createEventPlanner(db))).toBe(12);
        expect(await db.read(sql`SELECT seq FROM events ORDER BY seq`)).toHaveLength(12);
      });

      test('is exact with far more gaps than are kept in memory', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const planner = createEventPlanner(db);
        const odd = span(1, 400).map((at) => at * 2 + 1);
        for (let first = 0; first < odd.length; first += 50)
          await store(planner, work(deviceNo, odd.slice(first, first + 50)));
        expect(await db.read(sql`SELECT first_seq FROM stored_ranges`)).toHaveLength(400);
        for (const one of [planner, createEventPlanner(db)]) {
          expect(await store(one, work(deviceNo, span(2, 101)))).toMatchObject({ upTo: 0 });
          expect((await store(one, work(deviceNo, odd))).fresh).toEqual([]);
        }
        expect(await store(planner, work(deviceNo, [1]))).toEqual({ upTo: 101, fresh: [1] });
        const all = await store(createEventPlanner(db), work(deviceNo, span(100, 599)));
        expect(all).toMatchObject({ upTo: 599 });
        expect(all.fresh).toEqual(span(102, 599).filter((seq) => seq % 2 === 0));
      });

      test('counts beyond 32 bits', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const far = 2 ** 40;
        await db.write([
          sql`INSERT INTO boots (device_no, boot, first_seen_ms, up_to) VALUES (${deviceNo}, 'b', 1, ${far - 1})`,
        ]);
        expect(await store(createEventPlanner(db), work(deviceNo, [far]))).toEqual({
          upTo: far,
          fresh: [far],
        });
      });

      test('is not decided twice on one state: the second writer is refused as a whole, and sees the state', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const [one, other] = [createEventPlanner(db), createEventPlanner(db)];
        await store(one, work(deviceNo, [1]));
        const plans = [
          await one.plan([work(deviceNo, [2, 3])]),
          await other.plan([work(deviceNo, [3, 4])]),
        ] as const;
        await db.write(plans[0].batch).then((results) => plans[0].finish(results));
        await expect(db.write(plans[1].batch)).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
        plans[1].drop();
        expect(await store(other, work(deviceNo, [3, 4]))).toEqual({ upTo: 4, fresh: [4] });
        expect(await db.read(sql`SELECT seq FROM events ORDER BY event_no`)).toEqual(
          [1, 2, 3, 4].map((seq) => ({ seq })),
        );
      });

      test('is proven for what is sent again: a server that was behind its predecessor is not taken for it', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const planner = createEventPlanner(db);
        await store(planner, work(deviceNo, [1, 2]));
        await store(planner, work(deviceNo, [3, 4, 9]));
        // As a standby has it that took over before the second commit had reached it.
        await db.write([
          sql`DELETE FROM events WHERE seq > 2`,
          sql`DELETE FROM stored_ranges`,
          sql`UPDATE boots SET up_to = 2, revision = 1, range_count = 0`,
        ]);
        const plan = await planner.plan([work(deviceNo, [3, 4, 9])]);
        await expect(db.write(plan.batch)).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
        plan.drop();
        expect(await store(planner, work(deviceNo, [3, 4, 9]))).toEqual({ upTo: 4, fresh: [3, 4, 9] });
        expect(await store(planner, work(deviceNo, [3, 4, 9]))).toEqual({ upTo: 4, fresh: [] });
      });

      test('of a device that was deleted meanwhile nothing is written', async () => {
        const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
        const kept = await addDevice(db, 'acme', 'truck-2');
        const planner = createEventPlanner(db);
        await store(planner, work(deviceNo, [1]));
        await db.write([sql`DELETE FROM devices WHERE device_no = ${deviceNo}`]);
        // Nothing new, and something new: the memory still holds the boot.
        for (const seqs of [[1], [2]]) {
          const works = [work(kept.deviceNo, [1]), work(deviceNo, seqs)];
          const plan = await planner.plan(works);
          if (plan.batch.some(({ rows }) => rows?.count === 2)) {
            await expect(db.write(plan.batch)).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
            plan.drop();
          }
          const next = await planner.plan(works);
          expect(next.finish(await db.write(next.batch))).toMatchObject([
            { kind: 'stored' },
            { kind: 'gone' },
          ]);
        }
        expect(await db.read(sql`SELECT seq FROM events WHERE device_no = ${deviceNo}`)).toEqual([
          { seq: 1 },
        ]);
        expect(await db.read(sql`SELECT boot FROM boots WHERE device_no = ${deviceNo}`)).toEqual([]);
      });
    });

    test('the migrations apply to a database that has them already', async () => {
      await migrate(db, migrations);
      expect(await listDevices(db, wholeAccount('acme'), all)).toEqual([]);
    });
  });
}
