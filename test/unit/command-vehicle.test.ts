// A vehicle and the ledger that commands it, while the store breaks off, the process dies, the vehicle restarts, backups come
// back and people change their minds. Whatever happens: counters only grow, nothing leaves after its time, no cut comes to a
// vehicle behind the restore that was to follow it, and the last order arrives when all works again.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCommandLedger } from '../../broker/commands/commands.ts';
import { newestCommand } from '../../broker/store/commands/commands.ts';
import { setAllOffline } from '../../broker/store/devices/devices.ts';
import { AppError } from '../../src/core/errors.ts';
import { type CommandBody, decodeCommand, signedTypes } from '../../src/core/wire/wire.ts';
import type { Database } from '../../src/ports.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchEntropy,
  createBenchKeys,
  createBenchLog,
  helloOf,
} from '../support/broker/broker-bench.ts';
import { openReplayedDatabase } from '../support/database/replayed-database.ts';

const { signer, verifier } = createBenchKeys();

/** Where work on the store breaks off: nowhere, before anything, before a read, after a commit. */
type Mode = 'works' | 'fails' | 'no reads' | 'loses answers';

/** A store with scripted failures. */
async function openStore() {
  const { db: real, goBack } = await openReplayedDatabase();
  let mode: Mode = 'works';
  const fault = (code: string): AppError => new AppError('storage', code, { cause: { code } });
  const db: Database = {
    async read(statement) {
      await turn();
      if (mode === 'no reads' || mode === 'fails') throw fault('SQLITE_IOERR');
      return real.read(statement);
    },
    async write(batch) {
      await turn();
      if (mode === 'fails') throw fault('SQLITE_IOERR');
      const results = await real.write(batch);
      if (mode === 'loses answers') throw fault('UNKNOWN_OUTCOME');
      return results;
    },
    close: () => real.close(),
  };
  return { db, goBack, setMode: (next: Mode) => void (mode = next) };
}

/** What a vehicle makes of what comes to it: nothing of another boot, nothing twice, the newest order. */
function createVehicle(nowMs: () => number) {
  const vehicle = {
    boot: 1,
    isConnected: false,
    counter: 0,
    holds: null as CommandBody | null,
    faults: [] as string[],
    /** When the newest restore was recorded that was answered to a caller. */
    restoredMs: 0,
    take(body: CommandBody): void {
      if (nowMs() >= body.expiresMs) vehicle.faults.push(`${body.commandID} left after its time`);
      if (body.boot !== `b${vehicle.boot}` || body.counter <= vehicle.counter) return;
      vehicle.counter = body.counter;
      if (body.cancel) {
        if (vehicle.holds?.commandID === body.commandID) vehicle.holds = null;
        return;
      }
      if (body.state === '1' && body.issuedMs < vehicle.restoredMs)
        vehicle.faults.push(`the cut ${body.commandID} came behind a restore`);
      vehicle.holds = body;
    },
  };
  return vehicle;
}

async function openWorld() {
  const store = await openStore();
  const clock = createBenchClock();
  const entropy = createBenchEntropy();
  const device = await addDevice(store.db, 'acme', 'truck-1');
  const vehicle = createVehicle(() => clock.utcMs());
  let lastCounter = 0;
  /** @param life of the process: what an earlier one does has no effect. */
  const open = (life: { isOver: boolean }) =>
    createCommandLedger({
      db: {
        ...store.db,
        async write(batch) {
          if (life.isOver) throw new Error('dead');
          return store.db.write(batch);
        },
      },
      clock,
      entropy,
      signer,
      log: createBenchLog(),
      async publish(_device, { verb, payload }) {
        if (!vehicle.isConnected || life.isOver) return false;
        const text = new TextDecoder().decode(payload);
        const bytes = verb === 'commands' ? verifier.verify(text, signedTypes.command) : null;
        const body = bytes === null ? null : decodeCommand(bytes);
        if (body === null) return true;
        if (body.counter <= lastCounter) vehicle.faults.push(`counter ${body.counter} after ${lastCounter}`);
        lastCounter = body.counter;
        vehicle.take(body);
        return true;
      },
    });
  let life = { isOver: false };
  let ledger = open(life);
  let isGreeted = false;
  const hello = async (): Promise<void> => {
    vehicle.isConnected = true;
    const said = helloOf(`b${vehicle.boot}`, { commandCounter: vehicle.counter });
    isGreeted = await advanceUntilSettled(clock, ledger.onHello(device, said)).catch(() => false);
  };
  const offline = async (): Promise<void> => {
    vehicle.isConnected = false;
    await advanceUntilSettled(clock, ledger.onOffline(device)).catch(() => undefined);
  };
  return {
    store,
    vehicle,
    device,
    hello,
    offline,
    isGreeted: () => isGreeted,
    async request(state: '0' | '1'): Promise<string | null> {
      const request = { accountID: 'acme', deviceID: 'truck-1', feature: 'enginecutoff', state } as const;
      const asked = ledger.request({
        ...request,
        issuer: 'olga',
        reason: 'r',
        ttlS: state === '1' ? 20 : 3600,
      });
      const row = await advanceUntilSettled(clock, asked).catch(() => null);
      if (row !== null && state === '0') vehicle.restoredMs = row.issuedMs;
      return row?.commandID ?? null;
    },
    cancel: (commandID: string) =>
      advanceUntilSettled(clock, ledger.cancel({ accountID: 'acme', commandID, issuer: 'otto' })).catch(
        () => undefined,
      ),
    async crash(): Promise<void> {
      life.isOver = true;
      void ledger.close();
      vehicle.isConnected = false;
      isGreeted = false;
      store.setMode('works');
      await store.db.write([setAllOffline(1)]);
      life = { isOver: false };
      ledger = open(life);
    },
    /** The store is what it was some commits ago; what was requested since counts as never requested. */
    async comeBack(behind: number): Promise<void> {
      await store.goBack(behind);
      vehicle.restoredMs = 0;
      // Counters that no vehicle has accepted may be given again.
      lastCounter = vehicle.counter;
    },
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 250) {
        clock.advance(250);
        for (let turns = 0; turns < 12; turns++) await turn();
      }
    },
    async close(): Promise<void> {
      await advanceUntilSettled(clock, ledger.close());
      await store.db.close();
    },
  };
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('cut' as const, 'restore' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('cancel' as const, 'hello' as const, 'reboot' as const, 'crash' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('offline' as const, 'backup' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('store' as const),
      mode: fc.constantFrom<Mode>('works', 'works', 'fails', 'no reads', 'loses answers'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(250, 3000, 21_000) }),
  },
);

test('the vehicle does what was ordered last, and never a cut that was withdrawn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 20 }), async (steps) => {
      const world = await openWorld();
      const { vehicle, store } = world;
      await world.hello();
      let lastID: string | null = null;
      for (const one of steps) {
        if (one.kind === 'cut') lastID = (await world.request('1')) ?? lastID;
        else if (one.kind === 'restore') lastID = (await world.request('0')) ?? lastID;
        else if (one.kind === 'cancel' && lastID !== null) await world.cancel(lastID);
        else if (one.kind === 'hello') await world.hello();
        else if (one.kind === 'offline') await world.offline();
        else if (one.kind === 'store') store.setMode(one.mode);
        else if (one.kind === 'pass') await world.pass(one.ms);
        else if (one.kind === 'reboot') {
          vehicle.boot += 1;
          await world.hello();
        } else if (one.kind === 'crash' || one.kind === 'backup') {
          await world.crash();
          if (one.kind === 'backup') {
            await world.comeBack(2);
            await world.crash();
          }
          await world.hello();
        }
        expect(vehicle.faults).toEqual([]);
      }
      store.setMode('works');
      // A hello that the store did not take is tried again, as long as its connection lives.
      if (vehicle.isConnected && !world.isGreeted()) await world.hello();
      await world.pass(3000);
      expect(vehicle.faults).toEqual([]);
      const newest = await newestCommand(store.db, {
        deviceNo: world.device.deviceNo,
        feature: 'enginecutoff',
      });
      const isOpen = newest !== null && !newest.isFinal && newest.cancelBy === null;
      if (vehicle.isConnected && isOpen) expect(vehicle.holds?.commandID).toBe(newest.commandID);
      await world.close();
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? 80) },
  );
});
