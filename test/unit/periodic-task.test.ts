// One mechanism for all background loops of the broker: delays, wakes, and the pause after a long run.
import { expect, test } from 'vitest';
import { createPeriodicTask, type PeriodicTaskOptions } from '../../broker/scheduling/periodic-task.ts';
import { createBenchClock } from '../support/broker/broker-bench.ts';

function createBench(options: Partial<PeriodicTaskOptions> = {}) {
  const clock = createBenchClock();
  const startedMs = clock.monoMs();
  const runs: number[] = [];
  let ends: (() => void)[] = [];
  let isSlow = false;
  const task = createPeriodicTask({
    clock,
    firstMs: 100,
    gatherMs: 10,
    async run() {
      runs.push(clock.monoMs() - startedMs);
      if (isSlow) await new Promise<void>((resolve) => void ends.push(resolve));
      return 1000;
    },
    ...options,
  });
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 5) {
      clock.advance(5);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    }
  };
  return {
    task,
    runs,
    pass,
    slow: () => {
      isSlow = true;
    },
    end: () => {
      for (const one of ends) one();
      ends = [];
    },
  };
}

test('a task runs after its first delay, then after the delay that each run gives', async () => {
  const bench = createBench();
  await bench.pass(2200);
  expect(bench.runs).toEqual([100, 1100, 2100]);
});

test('several wakes make one run, and the period begins anew', async () => {
  const bench = createBench();
  await bench.pass(150);
  bench.task.wake();
  bench.task.wake();
  await bench.pass(1100);
  expect(bench.runs).toEqual([100, 160, 1160]);
});

test('a wake during a run makes the task run once more, and never twice at once', async () => {
  const bench = createBench();
  bench.slow();
  await bench.pass(105);
  bench.task.wake();
  await bench.pass(50);
  expect(bench.runs).toEqual([100]);
  bench.end();
  await bench.pass(50);
  expect(bench.runs).toHaveLength(2);
});

test('a task pauses in proportion to the time that a run took, also when it is woken', async () => {
  const bench = createBench({ pauseFactor: 2 });
  bench.slow();
  await bench.pass(200);
  bench.end();
  await bench.pass(10);
  bench.task.wake();
  await bench.pass(150);
  expect(bench.runs).toEqual([100]);
  await bench.pass(100);
  expect(bench.runs).toHaveLength(2);
});

test('a closed task begins no run and waits for the present one', async () => {
  const bench = createBench();
  bench.slow();
  await bench.pass(105);
  let isClosed = false;
  const close = async (): Promise<void> => {
    await bench.task.close();
    isClosed = true;
  };
  const closed = close();
  await bench.pass(50);
  expect(isClosed).toBe(false);
  bench.end();
  await closed;
  bench.task.wake();
  await bench.pass(3000);
  expect(bench.runs).toEqual([100]);
});
