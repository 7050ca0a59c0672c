// The thread of patient reads steps back for the others of the machine, it alone, and only where the system counts threads.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteThreads } from '../../src/adapters/sqlite.ts';
import { stepBack } from '../../src/adapters/thread-priority.ts';
import { patiently, sql } from '../../src/sql.ts';

const isBuilt = existsSync(new URL('../../dist/src/adapters/sqlite-worker.js', import.meta.url));

/** Nice values of all threads of this process (proc(5), field 19 of `stat`). */
function niceValues(): readonly number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      // The name in parentheses may hold anything.
      return [Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[16])];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}

const countAt = (niceness: number): number => niceValues().filter((value) => value === niceness).length;

test.skipIf(process.platform !== 'linux' || !isBuilt)(
  'one thread of an SQLite database stands behind, and is gone when the database is closed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-priority-'));
    const behind = Math.min(19, getPriority(0) + 10);
    const before = countAt(behind);
    const db = await openSqliteThreads({ path: join(folder, 'test.db'), pageSize: 4096 });
    try {
      await patiently(db).read(sql`SELECT 1 AS one`);
      await db.read(sql`SELECT 1 AS one`);
      expect(countAt(behind)).toBe(before + 1);
    } finally {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    }
    expect(countAt(behind)).toBe(before);
  },
);

test('where the system would take it for the whole program, nothing is done', () => {
  const before = getPriority(0);
  expect(stepBack(10, 'darwin')).toBe(false);
  expect(stepBack(10, 'win32')).toBe(false);
  expect(getPriority(0)).toBe(before);
});

test.skipIf(process.platform !== 'linux')('a system that refuses it leaves the thread as it is', () => {
  const before = getPriority(0);
  // Forward is what an ordinary user is refused; as root it would be granted, so it is asked for with what nobody may ask.
  expect(stepBack(Number.NaN)).toBe(false);
  expect(getPriority(0)).toBe(before);
});
