// Many writes, few commits: bounded groups, order of arrival, faults that stay alone, and a close that loses nothing.
import { describe, expect, test } from 'vitest';
import { isDataFault } from '../../broker/core/store-faults.ts';
import { createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { advanceUntilSettled, createBenchClock, createBenchLog } from '../support/broker/broker-bench.ts';

function bench(options: { readonly valuesMost?: number; readonly waitingMost?: number } = {}) {
  const groups: number[] = [];
  let release: (() => void) | null = null;
  let isHeld = false;
  const db: Database = {
    read: async () => [],
    write: async (batch: readonly Statement[]) => {
      groups.push(batch.length);
      if (isHeld) await new Promise<void>((resolve) => (release = resolve));
      return batch.map(({ params }) => ({ changes: 1, rows: [{ value: params[0] ?? null }] }));
    },
    close: async () => undefined,
  };
  const clock = createBenchClock();
  const commits = createGroupCommit({ db, clock, log: createBenchLog(), ...options });
  return {
    clock,
    commits,
    groups,
    hold: () => {
      isHeld = true;
    },
    release: () => {
      isHeld = false;
      release?.();
    },
  };
}

const one = (value: number): Statement => sql`INSERT INTO x (y) VALUES (${value})`;

describe('group commit', () => {
  test('gives each writer its own results, in order', async () => {
    const { commits, clock, groups } = bench();
    const writes = [commits.write([one(1), one(2)]), commits.write([one(3)]), commits.write([])];
    const results = await advanceUntilSettled(clock, Promise.all(writes));
    expect(results.map((of) => of.map(({ rows }) => rows[0]?.['value']))).toEqual([[1, 2], [3], []]);
    expect(groups).toEqual([3]);
  });

  test('puts writes that arrive during a commit into the next one, up to the limit', async () => {
    // Each of these batches counts 2: its value and itself.
    const { commits, clock, groups, hold, release } = bench({ valuesMost: 4 });
    hold();
    const first = commits.write([one(0)]);
    clock.advance(5);
    const rest = [1, 2, 3, 4, 5].map((value) => commits.write([one(value)]));
    clock.advance(50);
    expect(groups).toEqual([1]);
    expect(commits.lagMs()).toBeGreaterThanOrEqual(50);
    release();
    await advanceUntilSettled(clock, Promise.all([first, ...rest]));
    expect(groups).toEqual([1, 2, 2, 1]);
    expect(commits.lagMs()).toBe(0);
  });

  test('refuses writes beyond the limit of what may wait, and accepts them again later', async () => {
    const { commits, clock } = bench({ waitingMost: 3 });
    const first = commits.write([one(1)]);
    await expect(commits.write([one(2)])).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 5 });
    await advanceUntilSettled(clock, first);
    await advanceUntilSettled(clock, commits.write([one(2)]));
  });

  test('commits what waits at close and refuses later writes', async () => {
    const { commits, groups } = bench();
    const last = commits.write([one(1)]);
    await commits.close();
    expect(await last).toHaveLength(1);
    expect(groups).toEqual([1]);
    await expect(commits.write([one(2)])).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a completion of a group commit', () => {
  const planner = {
    plan: async (items: readonly unknown[]) => ({
      batch: [one(items.length)],
      finish: () => items,
      drop: () => undefined,
    }),
  };

  test('is called in order, also after another one has thrown', async () => {
    const { commits, clock } = bench();
    const outcomes: unknown[] = [];
    for (const item of ['a', 'b', 'c']) {
      commits.plan(
        { planner, item, size: 1, isAlone: false },
        {
          done(outcome) {
            outcomes.push(outcome);
            if (outcome === 'b') throw new Error('a bug');
          },
          fail: (thrown) => void outcomes.push(thrown),
        },
      );
    }
    await advanceUntilSettled(clock, commits.write([one(1)]));
    expect(outcomes).toEqual(['a', 'b', 'c']);
  });

  test('fails with an unknown outcome when the result of a stored batch is not understood, and nothing is written again', async () => {
    const { commits, clock, groups } = bench();
    let dropped = 0;
    const broken = {
      plan: async () => ({
        batch: [one(7)],
        finish: () => {
          throw new Error('a bug');
        },
        drop: () => void (dropped += 1),
      }),
    };
    const outcomes: string[] = [];
    const completion = {
      done: () => void outcomes.push('done'),
      fail: (thrown: unknown) => void outcomes.push(String(thrown)),
    };
    commits.plan({ planner: broken, item: null, size: 1, isAlone: false }, completion);
    await expect(advanceUntilSettled(clock, commits.write([one(1)]))).rejects.toMatchObject({
      code: 'storage',
    });
    expect(groups).toEqual([2]);
    expect(outcomes).toEqual([expect.stringContaining('a bug')]);
    expect(dropped).toBe(1);
  });

  test('is called once the next commit is under way, and before the completions of that one', async () => {
    const { commits, clock, groups, hold, release } = bench();
    const outcomes: string[] = [];
    const put = (name: string): void =>
      commits.put([one(1)], {
        done: () => void outcomes.push(`${name} after ${groups.length}`),
        fail: () => void outcomes.push(`${name} failed`),
      });
    hold();
    put('first');
    clock.advance(5);
    put('second');
    release();
    await advanceUntilSettled(clock, commits.write([]));
    expect(outcomes).toEqual(['first after 2', 'second after 2']);
  });

  test('does not wait for the slow plan of the next commit', async () => {
    const { commits, clock, hold, release } = bench();
    const outcomes: string[] = [];
    let plan: () => void = () => undefined;
    const slow = {
      plan: async () => {
        await new Promise<void>((resolve) => (plan = resolve));
        return { batch: [one(2)], finish: () => ['slow'], drop: () => undefined };
      },
    };
    const completion = {
      done: (outcome: unknown) => void outcomes.push(outcome === 'slow' ? 'slow' : 'first'),
      fail: () => void outcomes.push('failed'),
    };
    hold();
    commits.put([one(1)], completion);
    clock.advance(5);
    commits.plan({ planner: slow, item: null, size: 1, isAlone: false }, completion);
    release();
    await advanceUntilSettled(clock, new Promise<void>((resolve) => void clock.after(20, resolve)));
    expect(outcomes).toEqual(['first']);
    plan();
    await commits.close();
    expect(outcomes).toEqual(['first', 'slow']);
  });
});

test('only errors of the data count as faults of the data', () => {
  const of = (code: string): AppError => new AppError('storage', 'x', { cause: { code } });
  for (const code of [
    'SQLITE_CONSTRAINT_FOREIGNKEY',
    'SQLITE_CONSTRAINT',
    'SQLITE_MISMATCH',
    '22021',
    '23503',
  ]) {
    expect(isDataFault(of(code)), code).toBe(true);
  }
  for (const code of [
    'SQLITE_FULL',
    'SQLITE_IOERR_WRITE',
    'SQLITE_BUSY',
    'SQLITE_ERROR',
    '57P01',
    '40001',
    '',
  ]) {
    expect(isDataFault(of(code)), code).toBe(false);
  }
  expect(isDataFault(new Error('thread ended'))).toBe(false);
  expect(isDataFault(null)).toBe(false);
});
