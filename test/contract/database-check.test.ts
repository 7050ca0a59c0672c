// The readiness of the database: it must be a write that reaches the disk, and it must be cheap to ask.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabaseCheck } from '../../broker/upkeep/database-check.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { createBenchClock, openBenchDatabase } from '../support/broker/broker-bench.ts';

let folder = '';
let db: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleetward-'));
  db = await openBenchDatabase(join(folder, 'f.db'));
});
afterEach(async () => {
  await db.close();
  rmSync(folder, { recursive: true });
});

const logBytes = (): number => statSync(join(folder, 'f.db-wal')).size;

test('the check writes to the disk, leaves nothing behind, and asks at most once a second', async () => {
  const clock = createBenchClock();
  const check = createDatabaseCheck(db, clock);
  const before = logBytes();
  expect(await check()).toEqual({ name: 'database', fault: null });
  const once = logBytes();
  expect(once).toBeGreaterThan(before);
  expect(await db.read(sql`SELECT 1 FROM accounts WHERE account_id = ''`)).toEqual([]);
  await Promise.all([check(), check()]);
  expect(logBytes()).toBe(once);
  clock.advance(1000);
  await check();
  expect(logBytes()).toBeGreaterThan(once);
});

test('reports a database that refuses writes, and its recovery', async () => {
  const clock = createBenchClock();
  let isFull = true;
  const full: Database = {
    ...db,
    write: (batch) => (isFull ? Promise.reject(new Error('SQLITE_FULL')) : db.write(batch)),
  };
  const check = createDatabaseCheck(full, clock);
  expect(await check()).toEqual({ name: 'database', fault: 'cannot be written' });
  isFull = false;
  clock.advance(1000);
  expect(await check()).toEqual({ name: 'database', fault: null });
});

test('asks a hanging database once, and no caller waits for it twice', async () => {
  const clock = createBenchClock();
  const held: (() => void)[] = [];
  const hanging: Database = {
    ...db,
    write: async (batch) => {
      await new Promise<void>((resolve) => held.push(resolve));
      return db.write(batch);
    },
  };
  const check = createDatabaseCheck(hanging, clock);
  const first = check();
  clock.advance(1500);
  const second = check();
  clock.advance(1500);
  expect(await check()).toEqual({ name: 'database', fault: 'does not answer' });
  clock.advance(3_600_000);
  expect(await check()).toEqual({ name: 'database', fault: 'does not answer' });
  expect(held).toHaveLength(1);
  held[0]?.();
  const well = { name: 'database', fault: null };
  expect([await first, await second]).toEqual([well, well]);
  const next = check();
  expect(held).toHaveLength(2);
  held[1]?.();
  expect(await next).toEqual(well);
});
