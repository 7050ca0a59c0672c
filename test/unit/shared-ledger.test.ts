// Commands of one vehicle from two processes on one store: whatever is asked for at one while the vehicle says hello to the
// other, each command leaves once for each occasion, its counter only grows, a withdrawal is never overtaken by what it
// withdraws, and what a process did not live to send is sent by the other one.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createCommandLedger } from '../../broker/commands/commands.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
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
  openBenchDatabase,
} from '../support/broker/broker-bench.ts';

const { signer, verifier } = createBenchKeys();
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** @param paces how many turns each access to the store takes, over and over. */
async function bench(paces: readonly number[] = [0]) {
  const db = await openBenchDatabase();
  const clock = createBenchClock();
  const device = await addDevice(db, 'acme', 'truck-1');
  const entropy = createBenchEntropy();
  const sent: CommandBody[] = [];
  const kicked: string[] = [];
  let at = 0;
  const slowly = async <T>(work: () => Promise<T>): Promise<T> => {
    at += 1;
    for (let turns = paces[at % paces.length] ?? 0; turns > 0; turns--) await turn();
    return work();
  };
  const slow: Database = {
    ...db,
    read: (statement) => slowly(() => db.read(statement)),
    write: (batch) => slowly(() => db.write(batch)),
  };
  const lives = [{ publishes: true }, { publishes: true }];
  const ledgers = lives.map((life) =>
    createCommandLedger({
      db: slow,
      clock,
      entropy,
      signer,
      log: createBenchLog(),
      isShared: true,
      kick: ({ deviceID }) => void kicked.push(deviceID),
      async publish(_device: DeviceRef, { verb, payload }) {
        if (!life.publishes) return false;
        const text = new TextDecoder().decode(payload);
        const bytes = verb === 'commands' ? verifier.verify(text, signedTypes.command) : null;
        const body = bytes === null ? null : decodeCommand(bytes);
        if (body !== null) sent.push(body);
        return true;
      },
    }),
  );
  closers.push(async () => {
    for (const ledger of ledgers) await advanceUntilSettled(clock, ledger.close());
    await db.close();
  });
  const ledger = (by: number) => ledgers[by % 2] ?? expect.fail('no ledger');
  let boots = 0;
  return {
    db,
    clock,
    sent,
    kicked,
    lives,
    device,
    hello: (by: number) => ledger(by).onHello(device, helloOf(`b${++boots}`)),
    request: (by: number, state: '0' | '1', feature: 'enginecutoff' | 'cargoaccess' = 'cargoaccess') =>
      ledger(by).request({
        accountID: 'acme',
        deviceID: 'truck-1',
        feature,
        state,
        issuer: `u${by}`,
        reason: 'r',
      }),
    cancel: (by: number, commandID: string) =>
      ledger(by).cancel({ accountID: 'acme', commandID, issuer: 'otto' }),
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        for (let turns = 0; turns < 20; turns++) await turn();
      }
    },
  };
}

const step = fc.record({
  what: fc.constantFrom('lock', 'open', 'hello', 'cancel', 'wait'),
  by: fc.nat(1),
});

describe('two ledgers on one store', () => {
  it('send each command once for each occasion, with counters that only grow, and nothing after its withdrawal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 12 }),
        fc.array(fc.nat(4), { minLength: 1, maxLength: 7 }),
        async (steps, paces) => {
          const of = await bench(paces);
          const running: Promise<unknown>[] = [];
          const commands = new Set<string>();
          let hellos = 1;
          let withdrawals = 0;
          await advanceUntilSettled(of.clock, of.hello(0));
          for (const { what, by } of steps) {
            const [commandID] = commands;
            if (what === 'hello') {
              hellos += 1;
              running.push(of.hello(by));
            } else if (what === 'cancel' && commandID !== undefined) {
              withdrawals += 1;
              running.push(of.cancel(by, commandID).catch(() => undefined));
            } else if (what === 'lock' || what === 'open') {
              const asked = of.request(by, what === 'lock' ? '0' : '1');
              running.push(asked.then((row) => commands.add(row.commandID)).catch(() => undefined));
            } else await turn();
          }
          await advanceUntilSettled(of.clock, Promise.all(running));
          const counters = of.sent.map(({ counter }) => counter);
          expect(new Set(counters).size).toBe(counters.length);
          for (const commandID of commands) {
            const own = of.sent.filter((one) => one.commandID === commandID);
            const orders = own.filter(({ cancel }) => !cancel);
            // At most one for the request itself, and one for each hello.
            expect(orders.length).toBeLessThanOrEqual(1 + hellos);
            const withdrawn = Math.min(...own.filter(({ cancel }) => cancel).map(({ counter }) => counter));
            for (const { counter } of orders) expect(counter).toBeLessThan(withdrawn);
          }
          expect(withdrawals).toBeGreaterThanOrEqual(0);
          for (const close of closers.splice(0)) await close();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('send a command once that is requested at one while the other receives the hello of the vehicle', async () => {
    for (const paces of [[0], [1, 0], [2, 0, 1], [0, 3], [3, 1, 0, 2]]) {
      const of = await bench(paces);
      await advanceUntilSettled(of.clock, of.hello(0));
      await advanceUntilSettled(of.clock, Promise.all([of.request(0, '0'), of.request(1, '0')]));
      const ids = of.sent.map(({ commandID }) => commandID);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('send what the other one recorded and did not live to send, and what was lost, ever more rarely; a restore every 5 s', async () => {
    for (const { feature, state, least, most } of [
      { feature: 'cargoaccess', state: '1', least: 3, most: 5 },
      { feature: 'enginecutoff', state: '0', least: 10, most: 14 },
    ] as const) {
      const of = await bench();
      await advanceUntilSettled(of.clock, of.hello(0));
      for (const life of of.lives) life.publishes = false;
      const { commandID } = await advanceUntilSettled(of.clock, of.request(0, state, feature));
      for (const life of of.lives) life.publishes = true;
      await of.pass(6500);
      expect(of.sent).toMatchObject([{ commandID, cancel: false, boot: 'b1' }]);
      await of.pass(60_000);
      expect(of.sent.length).toBeGreaterThanOrEqual(least);
      expect(of.sent.length).toBeLessThanOrEqual(most);
      const counters = of.sent.map(({ counter }) => counter);
      expect(counters).toEqual([...new Set(counters)].sort((a, b) => a - b));
    }
  });

  it('end the connection of a vehicle that a restore does not reach within 15 s, and ever more rarely after that', async () => {
    const of = await bench();
    await advanceUntilSettled(of.clock, of.hello(0));
    await advanceUntilSettled(of.clock, of.request(0, '0', 'enginecutoff'));
    await of.pass(14_000);
    expect(of.kicked).toEqual([]);
    const after = [];
    for (let passed = 15; passed <= 120; passed += 15) {
      of.kicked.length = 0;
      await of.pass(15_000);
      if (of.kicked.length > 0) after.push(passed);
      expect(new Set(of.kicked)).toEqual(new Set(of.kicked.slice(0, 1)));
    }
    // After 3, 6, 12 and 24 sendings; the vehicle stays connected between them.
    expect(after).toHaveLength(4);
    expect(of.sent.length).toBeGreaterThan(20);
  });

  it('send nothing to a vehicle that is recorded as offline, until its next hello', async () => {
    const of = await bench();
    await advanceUntilSettled(of.clock, of.hello(0));
    await of.db.write([{ sql: 'UPDATE devices SET is_online = 0', params: [] }]);
    await advanceUntilSettled(of.clock, of.request(1, '1'));
    await of.pass(20_000);
    expect(of.sent).toEqual([]);
    await advanceUntilSettled(of.clock, of.hello(1));
    expect(of.sent).toHaveLength(1);
  });

  it('give a later command a later time although the clock of the second one is behind', async () => {
    const of = await bench();
    const cut = await advanceUntilSettled(of.clock, of.request(0, '1', 'enginecutoff'));
    of.clock.setUtc(of.clock.utcMs() - 700);
    const restore = await advanceUntilSettled(of.clock, of.request(1, '0', 'enginecutoff'));
    expect(restore.issuedMs).toBeGreaterThan(cut.issuedMs);
    expect(restore.commandState).not.toBe('superseded');
  });
});
