// The accounts of the outbox at work: rows that vanish are missed at the next start or once nothing is left to send, and the
// counts of drops stay true while the telling of drops needs room itself.
import { expect, it } from 'vitest';
import type { Outbox } from '../../agent/outbox.ts';
import { connectSqlite } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { drain, impatientClock, marksOf, open, record, settle } from '../support/storage/outbox-bench.ts';
import { useOutboxPlace } from '../support/storage/outbox-place.ts';

const place = useOutboxPlace();

const positions = (from: number, count: number) =>
  Array.from({ length: count }, (_value, index) => record(3, from + index));

async function replacementsOf(outbox: Outbox): Promise<readonly FleetEvent[]> {
  const batches = await drain(outbox);
  return batches.flatMap(({ events }) => events.filter(({ statusCode }) => statusCode === 4377));
}

/** Takes rows out behind the outbox's back: what a page does that SQLite reads as another one. */
function hideRows(condition: string): void {
  const other = connectSqlite({ path: place.path, pageSize: 512 });
  other.write([{ sql: `DELETE FROM p3 WHERE ${condition}`, params: [] }]);
  other.close();
}

it.each(['id % 100 = 7', 'id % 2147483648 <= 3', 'id % 2147483648 > 295', 'id > 0'])(
  'rows that vanished from a closed file are missed at the next start, wherever they were: %s',
  async (condition) => {
    const first = await open(place.path);
    await first.append(positions(1, 300));
    await first.close();
    hideRows(condition);
    const second = await open(place.path, { clock: impatientClock });
    await settle(second);
    const told = await replacementsOf(second);
    expect(told[0]?.attributes).toMatchObject({
      phase: 'replaced',
      reason: expect.stringContaining('events are missing'),
    });
    expect(told.map(({ attributes }) => attributes?.['phase'])).toEqual(['replaced', 'salvaged']);
    await second.close();
  },
);

it('the last events before a power cut are missed as soon as an urgent one was stored', async () => {
  const first = await open(place.path);
  await first.append(positions(1, 5));
  await first.append([record(0, 6)]);
  const other = connectSqlite({ path: place.path, pageSize: 512 });
  other.write([{ sql: 'DELETE FROM p0', params: [] }]);
  other.close();
  const second = await open(place.path, { clock: impatientClock });
  await settle(second);
  expect((await replacementsOf(second))[0]?.attributes?.['reason']).toBe('1 events are missing');
  await second.close();
  await first.close().catch(() => undefined);
});

it('rows that vanish while the outbox runs are missed once nothing is left to send', async () => {
  const outbox = await open(place.path, { clock: impatientClock });
  await settle(outbox);
  await outbox.append(positions(1, 200));
  hideRows('id % 2147483648 BETWEEN 50 AND 60');
  for (let turn = 0; turn < 100; turn += 1) {
    const batch = await outbox.next({ limit: 64, bytes: 60_000 });
    if (batch === null || batch.events.some(({ statusCode }) => statusCode === 4377)) break;
    await outbox.acknowledge(
      batch.boot,
      batch.events.map(({ seq }) => [seq, seq] as const),
    );
  }
  await settle(outbox);
  expect((await replacementsOf(outbox))[0]?.attributes?.['reason']).toBe('11 events are missing');
  await outbox.close();
});

it('every drop is counted and reported once, also when space must be made for the report', async () => {
  let nowMs = 0;
  const clock = { ...createSystemClock(), monoMs: () => nowMs, after: impatientClock.after };
  const outbox = await open(place.path, { maxBytes: 1024 * 1024, clock, bootMonoMs: 0 });
  let mark = 1;
  let told = 0;
  for (let round = 0; round < 240; round += 1) {
    await outbox.append(positions(mark, 60));
    mark += 60;
    nowMs += 61_000;
    const batch = await outbox.next({ limit: 5, bytes: 60_000, skip: [2, 3] });
    for (const event of batch?.events ?? [])
      if (event.statusCode === 4376) told += Number(event.attributes?.['count']);
    if (batch !== null)
      await outbox.acknowledge(
        batch.boot,
        batch.events.map(({ seq }) => [seq, seq] as const),
      );
  }
  nowMs += 61_000;
  const batches = await drain(outbox);
  for (const { events } of batches)
    for (const event of events) if (event.statusCode === 4376) told += Number(event.attributes?.['count']);
  const { dropped } = await outbox.stats();
  expect(dropped[3]).toBeGreaterThan(1000);
  expect(marksOf(batches, 3).length + dropped[3]).toBe(mark - 1);
  expect(told).toBe(dropped[3]);
  await outbox.close();
  const again = await open(place.path, { maxBytes: 1024 * 1024, clock: impatientClock });
  await settle(again);
  expect((await again.stats()).dropped[3]).toBe(dropped[3]);
  expect(await replacementsOf(again)).toEqual([]);
  await again.close();
});
