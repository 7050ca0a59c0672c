// Ends of connections while the store fails: each is recorded in the end, once, unless the vehicle is back by then.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { createOfflineRecorder } from '../../broker/devices/offline-recorder.ts';
import { createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

function bench() {
  const clock = createBenchClock();
  const log = createBenchLog();
  const recorded: number[] = [];
  const back = new Set<number>();
  const store = { isFailing: false, tries: 0 };
  const recorder = createOfflineRecorder({
    clock,
    log,
    isBack: ({ deviceNo }) => back.has(deviceNo),
    async record({ deviceNo }) {
      store.tries += 1;
      await turn();
      if (store.isFailing) throw new Error('disk');
      recorded.push(deviceNo);
    },
  });
  return {
    log,
    recorded,
    back,
    store,
    recorder,
    note: (deviceNo: number) => recorder.record({ accountID: 'acme', deviceID: `t${deviceNo}`, deviceNo }),
    async pass(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100);
        for (let turns = 0; turns < 5; turns++) await turn();
      }
    },
  };
}
const numbers = (count: number): readonly DeviceRef['deviceNo'][] =>
  Array.from({ length: count }, (_unused, at) => at + 1);

test('records the end of a connection at once while the store works', async () => {
  const { note, pass, recorded } = bench();
  for (const one of numbers(3)) note(one);
  await pass(100);
  expect(recorded).toEqual([1, 2, 3]);
});

test('records every end once after an outage of the store, with one log line each', async () => {
  const { note, pass, recorded, store, log } = bench();
  store.isFailing = true;
  for (const one of numbers(1000)) note(one);
  await pass(10_000);
  // A hundred a second are tried, and not all of them.
  expect(store.tries).toBeLessThan(2200);
  store.isFailing = false;
  await pass(3000);
  expect([...recorded].sort((a, b) => a - b)).toEqual(numbers(1000));
  expect(log.lines).toHaveLength(1000);
  await pass(10_000);
  expect(recorded).toHaveLength(1000);
});

test('does not record the end of a connection whose vehicle is connected again', async () => {
  const { note, pass, recorded, store, back } = bench();
  store.isFailing = true;
  note(1);
  note(2);
  await pass(2000);
  back.add(1);
  store.isFailing = false;
  await pass(2000);
  expect(recorded).toEqual([2]);
});

test('drops what waits when it is closed', async () => {
  const { note, pass, recorded, store, recorder } = bench();
  store.isFailing = true;
  note(1);
  await pass(500);
  recorder.close();
  store.isFailing = false;
  await pass(5000);
  expect(recorded).toEqual([]);
});
