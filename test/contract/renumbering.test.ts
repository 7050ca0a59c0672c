// After a restore, numbers of events begin above all that were given before: a client that asks for what came since the last number
// that it saw misses nothing new, and readers that follow the numbers cross the gap at once.
import { expect, test } from 'vitest';
import { eventsAfter } from '../../broker/store/notifications/notifications.ts';
import { markRestored, renumberIfRestored } from '../../broker/store/renumbering.ts';
import { numbersOf } from '../../broker/store/slices/slice-retention.ts';
import { openSlice } from '../../broker/store/slices/slice-writing.ts';
import { allSlices, lastEventNo, nextUpTo } from '../../broker/store/slices/slices.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  jsonBytes,
  migrateWithAccounts,
  openBenchIngest,
  startMs,
} from '../support/broker/broker-bench.ts';
import { openTestDatabase } from '../support/database/test-database.ts';

test('numbers go on above the lost ones after a restore, and only then', async () => {
  const db = await migrateWithAccounts(await openTestDatabase());
  const device = await addDevice(db, 'acme', 'truck-1');
  const ingest = openBenchIngest({ db, clock: createBenchClock() });
  let seq = 0;
  const store = async (count: number): Promise<void> => {
    const events = Array.from({ length: count }, () => ({
      seq: ++seq,
      timestamp: startMs + seq,
      statusCode: 63_553,
    }));
    await ingest.send(device, jsonBytes({ boot: 'b', events }));
  };
  // The first start, and any other of the same database.
  expect(await renumberIfRestored(db, startMs)).toBe(false);
  await store(4);
  expect(await renumberIfRestored(db, startMs)).toBe(false);
  await store(1);
  expect(await lastEventNo(db)).toBe(5);
  // The backup was made at 5; up to 1005 a client had seen.
  await db.write([markRestored()]);
  expect(await renumberIfRestored(db, startMs)).toBe(true);
  expect(await renumberIfRestored(db, startMs)).toBe(false);
  await store(3);
  const first = startMs * 100;
  const { events } = await eventsAfter(db, { after: 1005, upTo: await lastEventNo(db), limit: 100 });
  expect(events.map(({ eventNo }) => eventNo)).toEqual([first, first + 1, first + 2]);
  expect(String(first)).toHaveLength(15);
  // A second restore, of a backup from before the first one.
  await db.write([markRestored(), sql`UPDATE event_counter SET next_no = ${first + 3}`]);
  expect(await renumberIfRestored(db, startMs + 1000)).toBe(true);
  await store(1);
  expect(await lastEventNo(db)).toBe((startMs + 1000) * 100);
  // Over both gaps in a few steps, and no step leaves out an event.
  const newest = await lastEventNo(db);
  const seen: number[] = [];
  let steps = 0;
  for (let after = 0; after < newest; steps++) {
    const upTo = await nextUpTo(db, { after, upTo: newest }, 2);
    for (let at = after; at < upTo; ) {
      const page = await eventsAfter(db, { after: at, upTo, limit: 100 });
      seen.push(...page.events.map(({ eventNo }) => eventNo));
      at = page.upTo;
    }
    after = upTo;
  }
  expect(seen).toHaveLength(9);
  expect(steps).toBeLessThan(12);
  // Counts of events stay counts.
  expect((await openSlice(db)).taken).toBe(1);
  expect((await allSlices(db)).map(numbersOf)).toEqual([5, 3, 0]);
  await ingest.close();
  await db.close();
});
