// What several bridges behind a cluster share in the database, on both of them: whose turn it is, which login used which secret, and
// which vehicles are connected. And the two periodic tasks that keep it true.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClusterPresence, presenceLimits } from '../../broker/cluster/cluster-presence.ts';
import { watchClusterRevocations } from '../../broker/cluster/cluster-revocations.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import {
  findDeviceRef,
  isTurnOver,
  nextClusterTurn,
  recordClusterLogin,
  staleClusterLogins,
} from '../../broker/store/cluster.ts';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { findDevice, recordHello, replaceSecret, setOnline } from '../../broker/store/devices/devices.ts';
import { setHeartbeat } from '../../broker/store/events/projections.ts';
import { shareFact } from '../../broker/store/service-facts.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import type { Hello } from '../../src/core/wire/wire.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  helloOf,
  migrateWithAccounts,
  openBenchDatabase,
} from '../support/broker/broker-bench.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';

let server: PostgresBench | null = null;
beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

const openOnServer = async (): Promise<Database> => {
  if (server === null) throw new Error('no server');
  return migrateWithAccounts(await openPostgres({ url: await server.createMigrated() }));
};

const silent: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silent,
};

/** Every rest is short, and the time of it passes at once. */
function createHastyClock(): Clock {
  let nowMs = 1_800_000_000_000;
  return {
    monoMs: () => nowMs,
    utcMs: () => nowMs,
    after(delayMs, run) {
      const timer = setTimeout(() => {
        nowMs += delayMs;
        run();
      }, 1);
      return () => clearTimeout(timer);
    },
  };
}

const ways = [
  { name: 'on SQLite', open: () => openBenchDatabase(), missing: false },
  {
    name: postgresMissing === null ? 'on PostgreSQL' : `on PostgreSQL [${postgresMissing}]`,
    open: openOnServer,
    missing: postgresMissing !== null,
  },
] as const;
const waiting = { interval: 20 } as const;
/** Ends what a test has started, before its database closes. */
const stops: (() => unknown)[] = [];

for (const { name, open, missing } of ways) {
  describe.skipIf(missing)(`bridges ${name}`, () => {
    let db: Database;
    let device: DeviceRef;
    beforeEach(async () => {
      db = await open();
      device = await addDevice(db, 'acme', 'truck-1');
      expect(await findDeviceRef(db, { accountID: 'acme', deviceID: 'truck-1' })).toEqual(device);
    });
    afterEach(async () => {
      for (const stop of stops.splice(0)) await stop();
      await db.close();
    });
    const record = async () => findDevice(db, device);

    test('a turn is higher than every one before, for every bridge', async () => {
      const turns = await Promise.all(Array.from({ length: 8 }, () => nextClusterTurn(db, 'sessions')));
      expect([...turns].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test('a slower bridge does not undo the witnesses of a later hello', async () => {
      const witnesses = {
        gnss: 'unproven',
        motion: 'absent',
        ignition: 'unproven',
        rpm: 'absent',
        voltage: 'absent',
      } as const;
      const proven = { ...witnesses, gnss: 'proven' } as const;
      const greet = (turn: number, hello: Partial<Hello>) =>
        db.write([recordHello(device.deviceNo, helloOf('b1', hello), { atMs: 10 * turn, turn })]);
      expect((await record())?.witnesses).toBeNull();
      await greet(1, { witnesses });
      expect((await record())?.witnesses).toEqual(witnesses);
      await greet(3, { witnesses: proven });
      await greet(2, { witnesses });
      await greet(2, {});
      expect((await record())?.witnesses).toEqual(proven);
      await greet(4, {});
      expect((await record())?.witnesses).toBeNull();
    });

    test('a slow bridge undoes nothing that a later one has recorded', async () => {
      const changes = async (statement: Parameters<Database['write']>[0][number]) =>
        (await db.write([statement]))[0]?.changes;
      expect(await changes(recordHello(device.deviceNo, helloOf('b1'), { atMs: 10, turn: 1 }))).toBe(1);
      expect(await changes(recordHello(device.deviceNo, helloOf('b2'), { atMs: 20, turn: 2 }))).toBe(1);
      expect(await changes(recordHello(device.deviceNo, helloOf('b1'), { atMs: 30, turn: 1 }))).toBe(0);
      expect(await changes(setOnline(device.deviceNo, false, { atMs: 30, cause: 'closed' }, 1))).toBe(0);
      expect(await record()).toMatchObject({ boot: 'b2', isOnline: true });
      expect(await isTurnOver(db, device.deviceNo, 1)).toBe(true);
      expect(await isTurnOver(db, device.deviceNo, 2)).toBe(false);
      expect(await changes(setOnline(device.deviceNo, false, { atMs: 30, cause: 'closed' }, 2))).toBe(1);
      expect(await record()).toMatchObject({ boot: 'b2', isOnline: false });
    });

    test('a shared fact keeps its first value', async () => {
      expect(await shareFact(db, { name: 'key', value: 'one' })).toBe('one');
      expect(await shareFact(db, { name: 'key', value: 'two' })).toBe('one');
    });

    test('a login is stale once its secret, its device or its account has changed', async () => {
      const secretHash = hashSecret('one');
      const at = { nowS: 1_800_000_000, limit: 10 };
      await db.write([
        replaceSecret({ ...device, secretHash, atS: 1 }),
        recordClusterLogin({ device, secretHash, atMs: 5 }),
      ]);
      expect(await staleClusterLogins(db, at)).toEqual([]);
      await db.write([sql`UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'`]);
      expect(await staleClusterLogins(db, at)).toMatchObject([{ deviceNo: device.deviceNo, atMs: 5 }]);
      await db.write([sql`UPDATE accounts SET is_active = 1 WHERE account_id = 'acme'`]);
      expect(await staleClusterLogins(db, at)).toEqual([]);
      await db.write([replaceSecret({ ...device, secretHash: hashSecret('two'), atS: 2 })]);
      expect((await staleClusterLogins(db, at))[0]?.fault).toContain('secret');
      await db.write([sql`DELETE FROM devices WHERE device_no = ${device.deviceNo}`]);
      expect((await staleClusterLogins(db, at))[0]?.fault).toContain('deleted');
    });

    test('a stale login is ended, checked again while its connection may still open, and then forgotten', async () => {
      const clock = createHastyClock();
      await db.write([
        replaceSecret({ ...device, secretHash: hashSecret('new'), atS: 1 }),
        recordClusterLogin({ device, secretHash: hashSecret('old'), atMs: clock.utcMs() }),
      ]);
      const ended: string[] = [];
      let isAway = true;
      stops.push(
        watchClusterRevocations({
          db,
          clock,
          log: silent,
          disconnect({ deviceID }) {
            if (isAway) return Promise.reject(new Error('no node answers'));
            return Promise.resolve(void ended.push(deviceID));
          },
          onEnded: () => undefined,
        }),
      );
      const left = async () => (await staleClusterLogins(db, { nowS: 1, limit: 10 })).length;
      // Far longer than it would wait otherwise: what could not be ended is not forgotten.
      const sinceMs = clock.utcMs();
      await expect.poll(() => clock.utcMs() - sinceMs > 20_000, waiting).toBe(true);
      expect(await left()).toBe(1);
      isAway = false;
      await expect.poll(left, waiting).toBe(0);
      expect(new Set(ended)).toEqual(new Set(['truck-1']));
    });

    test('a vehicle whose will was lost is found offline, and one whose old will came late online', async () => {
      const clock = createHastyClock();
      let isThere = false;
      const presence = createClusterPresence({
        db,
        clock,
        log: silent,
        isConnected: () => Promise.resolve(isThere),
      });
      stops.push(() => presence.close());
      const longAgoMs = clock.utcMs() - presenceLimits.silentMs - 1000;
      await db.write([
        recordHello(device.deviceNo, helloOf('b1'), { atMs: longAgoMs }),
        setHeartbeat(device.deviceNo, longAgoMs),
      ]);
      const isOnline = async () => (await record())?.isOnline;
      await expect.poll(isOnline, waiting).toBe(false);
      isThere = true;
      presence.ask(device.deviceNo);
      await expect.poll(isOnline, waiting).toBe(true);
    });

    test('a vehicle recorded as offline that sends events is found online', async () => {
      const clock = createHastyClock();
      await db.write([
        recordHello(device.deviceNo, helloOf('b1'), { atMs: clock.utcMs() }),
        setOnline(device.deviceNo, false, { atMs: clock.utcMs(), cause: 'closed' }),
        // Events go on arriving.
        setHeartbeat(device.deviceNo, clock.utcMs() + 600_000),
      ]);
      const presence = createClusterPresence({
        db,
        clock,
        log: silent,
        isConnected: () => Promise.resolve(true),
      });
      stops.push(() => presence.close());
      await expect.poll(async () => (await record())?.isOnline, waiting).toBe(true);
    });

    test('no vehicle is forgotten while the cluster or the database does not answer', async () => {
      const clock = createHastyClock();
      const names = Array.from({ length: 60 }, (_, at) => `van-${at}`);
      const vans: DeviceRef[] = [];
      for (const van of names) vans.push(await addDevice(db, 'acme', van));
      // Heard of neither lately nor long ago: no look finds them.
      const atMs = clock.utcMs() + 300_000;
      await db.write(
        vans.flatMap(({ deviceNo }) => [
          recordHello(deviceNo, helloOf('b1'), { atMs }),
          setHeartbeat(deviceNo, atMs + 10_000_000),
        ]),
      );
      let isAway = true;
      const refuse = () => Promise.reject(new Error('away'));
      const failing: Database = {
        ...db,
        read: (statement) => (isAway && clock.monoMs() % 2000 === 0 ? refuse() : db.read(statement)),
        write: (batch) => db.write(batch),
      };
      const presence = createClusterPresence({
        db: failing,
        clock,
        log: silent,
        isConnected: () => (isAway ? refuse() : Promise.resolve(false)),
      });
      stops.push(() => presence.close());
      for (const { deviceNo } of vans) presence.ask(deviceNo);
      const sinceMs = clock.utcMs();
      await expect.poll(() => clock.utcMs() - sinceMs > 20_000, waiting).toBe(true);
      isAway = false;
      const online = async () =>
        (await db.read(sql`SELECT device_no FROM devices WHERE is_online = 1`)).length;
      await expect.poll(online, waiting).toBe(0);
    });

    test('all vehicles of a suspended account are disconnected in one check, also when some cannot be', async () => {
      const clock = createHastyClock();
      const secretHash = hashSecret('one');
      const vans: DeviceRef[] = [];
      for (let at = 0; at < 450; at++) vans.push(await addDevice(db, 'acme', `van-${at}`));
      await db.write([
        ...vans.flatMap((van) => [
          replaceSecret({ ...van, secretHash, atS: 1 }),
          recordClusterLogin({ device: van, secretHash, atMs: 5 }),
        ]),
        sql`UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'`,
      ]);
      const ended: string[] = [];
      stops.push(
        watchClusterRevocations({
          db,
          clock,
          log: silent,
          disconnect: ({ deviceID }) =>
            deviceID === 'van-0'
              ? Promise.reject(new Error('no'))
              : Promise.resolve(void ended.push(deviceID)),
          onEnded: () => undefined,
        }),
      );
      const left = async () => (await staleClusterLogins(db, { nowS: 1, limit: 1000 })).length;
      await expect.poll(left, waiting).toBe(1);
      // Each of them once: no page was read twice.
      expect(ended).toHaveLength(449);
    });
  });
}
