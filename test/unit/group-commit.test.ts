// Many writes, few commits: bounded groups, order of arrival, faults that stay alone, and a close that loses nothing.
import { describe, expect, test } from 'vitest';
import { createGroupCommit, isDataFault } from '../../broker/group-commit.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createBenchClock, createBenchLog, settle } from '../support/broker-bench.ts';

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
    const results = await settle(clock, Promise.all(writes));
    expect(results.map((of) => of.map(({ rows }) => rows[0]?.['value']))).toEqual([[1, 2], [3], []]);
    expect(groups).toEqual([3]);
  });

  test('what comes during a commit shares the next one, up to the limit', async () => {
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
    await settle(clock, Promise.all([first, ...rest]));
    expect(groups).toEqual([1, 2, 2, 1]);
    expect(commits.lagMs()).toBe(0);
  });

  test('refuses more than may wait, and takes it again later', async () => {
    const { commits, clock } = bench({ waitingMost: 3 });
    const first = commits.write([one(1)]);
    await expect(commits.write([one(2)])).rejects.toMatchObject({ code: 'unavailable', retryAfterS: 5 });
    await settle(clock, first);
    await settle(clock, commits.write([one(2)]));
  });

  test('close commits what waits and refuses what comes after', async () => {
    const { commits, groups } = bench();
    const last = commits.write([one(1)]);
    await commits.close();
    expect(await last).toHaveLength(1);
    expect(groups).toEqual([1]);
    await expect(commits.write([one(2)])).rejects.toMatchObject({ code: 'unavailable' });
  });
});

test('only faults of the data count as such', () => {
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
