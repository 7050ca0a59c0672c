// The thread of patient reads steps back for the others of the machine, it alone, and only where the system counts threads.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteThreads } from '../../src/adapters/database/sqlite.ts';
import { lowerThreadPriority } from '../../src/adapters/thread-priority.ts';
import { lowPriorityReads, sql } from '../../src/sql.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const isBuilt = existsSync(new URL('../../dist/src/adapters/database/sqlite-worker.js', import.meta.url));

/** Threads of this process with a nice value (proc(5), field 19 of `stat`). */
function threadsAt(niceness: number): readonly string[] {
  return readdirSync('/proc/self/task').filter((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      // The name in parentheses may hold anything.
      return Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[16]) === niceness;
    } catch {
      // It ended meanwhile.
      return false;
    }
  });
}

test.skipIf(process.platform !== 'linux' || !isBuilt)(
  'one thread of an SQLite database stands behind, and is gone when the database is closed',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-priority-'));
    const behind = Math.min(19, getPriority(0) + 10);
    // Other test files of this process may have left threads that are about to end.
    const before = new Set(threadsAt(behind));
    const added = () => threadsAt(behind).filter((thread) => !before.has(thread));
    const db = await openSqliteThreads({ path: join(folder, 'test.db'), pageSize: 4096 });
    try {
      await lowPriorityReads(db).read(sql`SELECT 1 AS one`);
      await db.read(sql`SELECT 1 AS one`);
      expect(added()).toHaveLength(1);
    } finally {
      await db.close();
      rmSync(folder, { recursive: true, force: true });
    }
    await waitUntil('the end of the thread', () => added().length === 0);
  },
);

test('where the system would take it for the whole program, nothing is done', () => {
  const before = getPriority(0);
  expect(lowerThreadPriority(10, 'darwin')).toBe(false);
  expect(lowerThreadPriority(10, 'win32')).toBe(false);
  expect(getPriority(0)).toBe(before);
});

test.skipIf(process.platform !== 'linux')('a system that refuses it leaves the thread as it is', () => {
  const before = getPriority(0);
  // Forward is what an ordinary user is refused; as root it would be granted, so it is asked for with what nobody may ask.
  expect(lowerThreadPriority(Number.NaN)).toBe(false);
  expect(getPriority(0)).toBe(before);
});
