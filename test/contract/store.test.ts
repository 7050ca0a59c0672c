// The broker's statements on a real database: tenants apart, defaults of a new device, bounds, secrets.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hashSecret, isSecret, issueDeviceSecret } from '../../broker/device-secret.ts';
import { credentialsOf, findCredential } from '../../broker/store/credentials.ts';
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
} from '../../broker/store/devices.ts';
import { insertEvents } from '../../broker/store/events.ts';
import { migrations } from '../../broker/store/migrations.ts';
import { advanceBoot, insertBoot, selectUpTo } from '../../broker/store/projections.ts';
import { wholeAccount } from '../../broker/store/scope.ts';
import { openPostgres } from '../../src/adapters/postgres.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { addDevice, furnish, helloOf, openBenchDatabase } from '../support/broker-bench.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/postgres.ts';

const all = { after: '', limit: 1000 };
const span = { from: '', to: '~' };

let server: PostgresBench | null = null;
beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

const openOnServer = async (): Promise<Database> => {
  if (server === null) throw new Error('no server');
  return furnish(await openPostgres({ url: await server.createMigrated() }));
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

      test('leaves a number that no later device gets', async () => {
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

      test('is online from its hello on, and nobody is after a start', async () => {
        const one = await addDevice(db, 'acme', 'truck-1');
        const two = await addDevice(db, 'acme', 'truck-2');
        await db.write([recordHello(one.deviceNo, helloOf('b1'), 50), setOnline(two.deviceNo, true)]);
        const online = async () =>
          (await listDevices(db, wholeAccount('acme'), all)).map(({ isOnline }) => isOnline);
        expect(await online()).toEqual([true, true]);
        expect(await findDevice(db, acme)).toMatchObject({
          helloMs: 50,
          heartbeatMs: 50,
          features: helloOf('b1').features,
        });
        await db.write([recordHello(one.deviceNo, helloOf('b2'), 40)]);
        expect(await findDevice(db, acme)).toMatchObject({ boot: 'b2', helloMs: 40, heartbeatMs: 50 });
        await db.write([setAllOffline()]);
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

      test('a replaced secret, a suspended, expired or deleted account and a deleted device are found by whoever watches live connections', async () => {
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

    test('the contiguous prefix of a boot is exact after any gap is filled', async () => {
      const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
      const store = async (from: number, to: number): Promise<number> => {
        const event = { timestamp: 1, upMs: null, timeQuality: 'rtc', statusCode: 1 } as const;
        const seqs = Array.from({ length: to - from + 1 }, (_unused, index) => from + index);
        const inserts = insertEvents(
          seqs.map((seq) => ({ ...event, seq })),
          { deviceNo, boot: 'b', receivedMs: 1 },
        );
        await db.write([
          ...inserts,
          insertBoot(deviceNo, 'b', 1),
          advanceBoot({ deviceNo, boot: 'b', from, to }),
        ]);
        return Number((await db.read(selectUpTo(deviceNo, 'b')))[0]?.['up_to']);
      };
      expect(await store(3, 5)).toBe(0);
      expect(await store(8, 8)).toBe(0);
      expect(await store(2, 2)).toBe(0);
      expect(await store(1, 1)).toBe(5);
      expect(await store(6, 7)).toBe(8);
      expect(await store(1, 8)).toBe(8);
      expect(await store(7, 12)).toBe(12);
    });

    test('a boot counts beyond 32 bits', async () => {
      const { deviceNo } = await addDevice(db, 'acme', 'truck-1');
      const far = 2 ** 40;
      const event = { timestamp: 1, upMs: null, timeQuality: 'rtc', statusCode: 1, seq: far } as const;
      await db.write([
        ...insertEvents([event], { deviceNo, boot: 'b', receivedMs: 1 }),
        insertBoot(deviceNo, 'b', 1),
        sql`UPDATE boots SET up_to = ${far - 1} WHERE device_no = ${deviceNo}`,
        advanceBoot({ deviceNo, boot: 'b', from: far, to: far }),
      ]);
      expect(await db.read(selectUpTo(deviceNo, 'b'))).toEqual([{ up_to: far }]);
    });

    test('the migrations apply to a database that has them already', async () => {
      await migrate(db, migrations);
      expect(await listDevices(db, wholeAccount('acme'), all)).toEqual([]);
    });
  });
}
