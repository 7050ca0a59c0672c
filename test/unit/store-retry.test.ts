// What devices send while the store fails: it waits, it is stored when the store works again, it is given up in time.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { completed, completeWith } from '../../broker/core/completion.ts';
import { createStoreRetry } from '../../broker/scheduling/store-retry.ts';
import { AppError } from '../../src/core/errors.ts';
import { createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

/** A store that works, fails or hangs as scripted, and remembers the order of what it took. */
function createBench() {
  const clock = createBenchClock();
  const log = createBenchLog();
  const store = { mode: 'works' as 'works' | 'fails' | 'hangs', probes: 0, tries: 0, taken: [] as number[] };
  const fault = () => new AppError('storage', 'disk', { cause: { code: 'SQLITE_IOERR' } });
  const probe = async (): Promise<boolean> => {
    store.probes += 1;
    return store.mode === 'works';
  };
  const retry = createStoreRetry({ clock, log, probe });
  const states = new Map<number, string>();
  return {
    clock,
    log,
    store,
    retry,
    states,
    send(id: number, thrown?: Error): void {
      states.set(id, 'waits');
      const work = async (): Promise<void> => {
        store.tries += 1;
        if (thrown !== undefined) throw thrown;
        if (store.mode === 'hangs') await new Promise(() => undefined);
        if (store.mode === 'fails') throw fault();
        store.taken.push(id);
      };
      completed((answer) =>
        retry.run({ begin: (completion) => completeWith(completion, work) }, answer),
      ).then(
        () => states.set(id, 'done'),
        (error: Error) => states.set(id, error.message),
      );
    },
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        for (let turns = 0; turns < 5; turns++) await turn();
      }
    },
  };
}
const inTime = 'the store did not take it in time';

test('work passes in order and at once while the store works', async () => {
  const bench = createBench();
  for (let id = 1; id <= 5; id++) bench.send(id);
  expect(bench.store.tries).toBe(5);
  await bench.pass(0);
  await turn();
  expect(bench.store.taken).toEqual([1, 2, 3, 4, 5]);
  expect([bench.store.probes, bench.retry.isFailing(), bench.retry.isDown()]).toEqual([0, false, false]);
});

test('work waits during an outage of a few seconds, with one probe a second, and is then stored', async () => {
  const bench = createBench();
  bench.store.mode = 'fails';
  bench.send(1);
  await bench.pass(200);
  for (let id = 2; id <= 500; id++) bench.send(id);
  await bench.pass(5000);
  expect(bench.store.tries).toBe(1);
  expect(bench.store.probes).toBeLessThanOrEqual(6);
  expect(new Set(bench.states.values())).toEqual(new Set(['waits']));
  bench.store.mode = 'works';
  await bench.pass(1200);
  expect(new Set(bench.states.values())).toEqual(new Set(['done']));
  expect(new Set(bench.store.taken).size).toBe(500);
  expect(bench.retry.isFailing()).toBe(false);
});

test('work fails after ten seconds, new work is refused, and both end when the store recovers', async () => {
  const bench = createBench();
  bench.store.mode = 'fails';
  bench.send(1);
  await bench.pass(11_000);
  expect(bench.states.get(1)).toBe(inTime);
  expect(bench.retry.isDown()).toBe(true);
  bench.send(2);
  await bench.pass(100);
  expect(bench.states.get(2)).toBe(inTime);
  bench.store.mode = 'works';
  await bench.pass(1200);
  expect(bench.retry.isDown()).toBe(false);
  bench.send(3);
  await bench.pass(100);
  expect(bench.states.get(3)).toBe('done');
  // What was given up is not stored behind the back of the device that sends it again.
  expect(bench.store.taken).toEqual([3]);
});

test('work fails after ten seconds on a store that hangs', async () => {
  const bench = createBench();
  bench.store.mode = 'hangs';
  bench.send(1);
  await bench.pass(9000);
  expect(bench.states.get(1)).toBe('waits');
  await bench.pass(2100);
  expect(bench.states.get(1)).toBe(inTime);
});

test('a store that hangs for longer than any work waits, and then fails, recovers without further work', async () => {
  const bench = createBench();
  let fail: (thrown: Error) => void = () => undefined;
  const hanging = new Promise<void>((_resolve, reject) => {
    fail = reject;
  });
  bench.retry.run(
    { begin: (completion) => completeWith(completion, () => hanging) },
    { done: () => undefined, fail: () => undefined },
  );
  await bench.pass(15_000);
  bench.store.mode = 'fails';
  fail(new AppError('storage', 'busy', { cause: { code: 'SQLITE_BUSY' } }));
  await bench.pass(12_000);
  expect(bench.retry.isDown()).toBe(true);
  bench.store.mode = 'works';
  await bench.pass(1200);
  expect(bench.retry.isDown()).toBe(false);
});

test('a fault of the payload itself fails its work at once', async () => {
  const bench = createBench();
  const bad = new AppError('storage', 'bad', { cause: { code: 'SQLITE_CONSTRAINT_CHECK' } });
  bench.send(1, bad);
  bench.send(2, new Error('the device was deleted'));
  await bench.pass(100);
  expect([...bench.states.values()]).toEqual(['bad', 'the device was deleted']);
  expect(bench.retry.isFailing()).toBe(false);
});

test('close fails all work that waits', async () => {
  const bench = createBench();
  bench.store.mode = 'fails';
  bench.send(1);
  await bench.pass(300);
  bench.retry.close();
  await bench.pass(100);
  expect(bench.states.get(1)).toBe(inTime);
});
