// The next commit is planned while one is on its way. Whatever fails meanwhile: every item is completed once and in order of arrival,
// what is completed as stored is stored once, and no plan reaches the store that is based on a state that was never committed.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Planner } from '../../broker/scheduling/commit-draft.ts';
import { commitPaceMs, createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { advanceUntilSettled, createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

const fault = (code: string): AppError => new AppError('storage', code, { cause: { code } });

/** A store of one counted list: a planned statement names the count that it goes out from. */
function modelStore() {
  const clock = createBenchClock();
  const state = { count: 0, items: [] as number[], isDown: false, bad: new Set<number>(), slowMs: 0 };
  const sent: number[][] = [];
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const db: Database = {
    read: async () => [],
    async write(batch: readonly Statement[]) {
      sent.push(batch.flatMap(({ params }) => params.slice(1).map(Number)));
      if (state.slowMs > 0) await wait(state.slowMs);
      if (state.isDown) throw fault('SQLITE_IOERR_WRITE');
      let { count } = state;
      const items: number[] = [];
      for (const { params } of batch) {
        const [from, ...some] = params.map(Number);
        if (from !== -1 && from !== count) throw fault('CONFLICT');
        if (from !== -1) count += 1;
        items.push(...some);
      }
      if (items.some((item) => state.bad.has(item))) throw fault('SQLITE_CONSTRAINT_CHECK');
      state.count = count;
      state.items.push(...items);
      return batch.map(() => ({ changes: 1, rows: [] }));
    },
    close: async () => undefined,
  };
  let known: number | null = null;
  const looks: number[] = [];
  const drops: number[][] = [];
  const planner: Planner<number, number> = {
    async plan(items) {
      if (known === null) {
        await wait(1);
        known = state.count;
      }
      looks.push(items.length);
      const from = known;
      known += 1;
      return {
        batch: [{ sql: 'planned', params: [from, ...items] }],
        finish: () => items,
        drop() {
          drops.push([...items]);
          known = null;
        },
      };
    },
  };
  const commits = createGroupCommit({ db, clock, log: createBenchLog() });
  const completions: { readonly item: number; readonly isStored: boolean }[] = [];
  const completionOf = (item: number) => ({
    done: () => void completions.push({ item, isStored: true }),
    fail: () => void completions.push({ item, isStored: false }),
  });
  return {
    clock,
    state,
    sent,
    looks,
    drops,
    completions,
    commits,
    plan: (item: number) =>
      commits.plan({ planner, item, size: 1, isAlone: item % 17 === 0 }, completionOf(item)),
    put: (item: number) => commits.put([{ sql: 'plain', params: [-1, item] }], completionOf(item)),
    /** Lets time pass, with turns of the loop between. */
    async pass(ms: number) {
      const endMs = clock.monoMs() + ms;
      while (clock.monoMs() < endMs) {
        for (let turns = 0; turns < 12; turns++) await Promise.resolve();
        clock.advance(1);
      }
      for (let turns = 0; turns < 12; turns++) await Promise.resolve();
    },
  };
}

describe('commits of events', () => {
  test('keep their pace, and a write that needs no plan ends the pause', async () => {
    const { plan, put, pass, sent } = modelStore();
    plan(1);
    await pass(4);
    expect(sent).toEqual([[1]]);
    plan(2);
    await pass(3);
    plan(3);
    await pass(commitPaceMs);
    expect(sent).toEqual([[1], [2, 3]]);
    plan(4);
    await pass(2);
    put(5);
    await pass(3);
    expect(sent).toEqual([[1], [2, 3], [5, 4]]);
  });

  test('are planned while one is being written, and sent as soon as it is done', async () => {
    const { plan, pass, state, sent, looks, completions } = modelStore();
    state.slowMs = 40;
    plan(1);
    await pass(5);
    plan(2);
    await pass(commitPaceMs);
    expect(looks).toEqual([1, 1]);
    expect(sent).toEqual([[1]]);
    plan(3);
    await pass(40);
    expect(completions).toEqual([{ item: 1, isStored: true }]);
    expect(sent).toEqual([[1], [2]]);
    await pass(80);
    expect(state.items).toEqual([1, 2, 3]);
  });

  test('are planned again when the one before fails', async () => {
    const { plan, pass, state, sent, drops, completions } = modelStore();
    state.slowMs = 20;
    state.bad.add(2);
    plan(1);
    plan(2);
    await pass(5);
    plan(3);
    await pass(20);
    expect(drops).toEqual([[3], [1, 2]]);
    await pass(120);
    expect(sent).toEqual([[1, 2], [1], [2], [3]]);
    expect(completions).toEqual([
      { item: 1, isStored: true },
      { item: 2, isStored: false },
      { item: 3, isStored: true },
    ]);
  });
});

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('plan' as const), isBad: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('put' as const), isBad: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('slow' as const), ms: fc.constantFrom(0, 3, 25, 40) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('down' as const), is: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('other' as const) }) },
);

test('every payload is completed once, in order, and as it is stored, whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }), async (steps) => {
      const store = modelStore();
      const { state, completions } = store;
      let items = 0;
      state.slowMs = 25;
      for (const one of steps) {
        if (one.kind === 'plan' || one.kind === 'put') {
          items += 1;
          if (one.isBad && items % 4 === 0) state.bad.add(items);
          store[one.kind](items);
        } else if (one.kind === 'pass') await store.pass(one.ms);
        else if (one.kind === 'slow') state.slowMs = one.ms;
        else if (one.kind === 'down') state.isDown = one.is;
        else state.count += 100;
      }
      state.isDown = false;
      await advanceUntilSettled(store.clock, store.commits.close());
      const all = Array.from({ length: items }, (_unused, at) => at + 1);
      expect(completions.map(({ item }) => item)).toEqual(all);
      const stored = completions.filter(({ isStored }) => isStored).map(({ item }) => item);
      expect([...state.items].sort((a, b) => a - b)).toEqual([...stored].sort((a, b) => a - b));
      expect(store.commits.depth()).toEqual({ writes: 0, values: 0 });
    }),
    { numRuns: 200 },
  );
});
