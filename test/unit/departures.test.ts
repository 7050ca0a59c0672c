// Ends of connections while the store fails: each is recorded in the end, once, unless the vehicle is back by then.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createDepartures } from '../../broker/devices/departures.ts';
import type { DeviceRef } from '../../broker/store/devices.ts';
import { createBenchClock, createBenchLog } from '../support/broker-bench.ts';

function bench() {
  const clock = createBenchClock();
  const log = createBenchLog();
  const recorded: number[] = [];
  const back = new Set<number>();
  const store = { isFailing: false, tries: 0 };
  const departures = createDepartures({
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
    departures,
    note: (deviceNo: number) => departures.note({ accountID: 'acme', deviceID: `t${deviceNo}`, deviceNo }),
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

test('are recorded at once while the store works', async () => {
  const { note, pass, recorded } = bench();
  for (const one of numbers(3)) note(one);
  await pass(100);
  expect(recorded).toEqual([1, 2, 3]);
});

test('are recorded when the store works again, all and once, with one line of the log each', async () => {
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

test('of a vehicle that is back are not recorded', async () => {
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

test('wait no more after the end', async () => {
  const { note, pass, recorded, store, departures } = bench();
  store.isFailing = true;
  note(1);
  await pass(500);
  departures.close();
  store.isFailing = false;
  await pass(5000);
  expect(recorded).toEqual([]);
});
