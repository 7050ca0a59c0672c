// The same fleet and history as `fleet-database.ts` in a PostgreSQL database. It writes through the product's own door but for the
// indexes of a slice, which are made of what is there: that is much faster than row by row.
import { openNext } from '../../broker/store/slices/slice-writing.ts';
import { tableOf } from '../../broker/store/slices/slices.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { dayMs } from '../../src/core/durations.ts';
import type { Database, Statement } from '../../src/ports.ts';
import {
  createFleet,
  delayMs,
  deviceCount,
  eventColumns,
  type FleetDatabase,
  lastPositions,
  noteDays,
  rareCode,
  type Week,
  weeksOf,
} from './fleet-database.ts';

const chunk = 100_000;

const plain = (text: string): Statement => ({ sql: text, params: [] });

/** Rows `$1` to `$2` of the history, `$5` ms apart, the last one (`$3`) at `$4`. */
const historyText = (table: string): string => `INSERT INTO ${table} (${eventColumns})
  SELECT i, 1, 1 + (i * 7919) % ${deviceCount}, 'b1', i, t.ms, t.ms + ${delayMs}, i, 'gnss',
    CASE WHEN i % 1000 = 0 THEN ${rareCode} WHEN i % 50 = 0 THEN 62465 ELSE 61472 END,
    43.6 + (i % 1000) * 0.0001, -79.3 - (i % 777) * 0.0001, 90, i % 90, i % 360, 0.9, 11, i * 0.01, 0.62, NULL
  FROM generate_series($1::bigint, $2::bigint) AS i,
    LATERAL (SELECT floor($4::double precision - ($3::bigint - i) * $5::double precision)::bigint AS ms) AS t`;

/** One device every ten seconds of the last day, behind number `$1`, up to `$2`. */
const busyText = (table: string): string => `INSERT INTO ${table} (${eventColumns})
  SELECT $1::bigint + i, 1, 1, 'b2', i, $2::bigint - (8640 - i) * 10000, $2::bigint, i, 'gnss', 61472, 43.65, -79.34, 90,
    54, i % 360, 0.9, 11, i * 0.1, 0.6, '{"ignition":true}' FROM generate_series(1, 8640) AS i`;

async function fillWeek(db: Database, fleet: FleetDatabase, { sliceNo, from, to }: Week): Promise<void> {
  const { eventCount: total, nowMs, stepMs } = fleet;
  const endMs = nowMs - dayMs;
  const timeOf = (no: number): number => Math.floor(endMs - (total - no) * stepMs);
  await db.write([{ sql: 'UPDATE event_counter SET next_no = $1', params: [from] }]);
  await db.write(openNext(sliceNo - 1, timeOf(from)));
  const table = tableOf(sliceNo).sql;
  const indexes = await db.read({
    sql: 'SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1 AND indexname LIKE $2',
    params: [table, 'events_by_%'],
  });
  for (const { indexname } of indexes) await db.write([plain(`DROP INDEX ${String(indexname)}`)]);
  for (let first = from; first <= to; first += chunk) {
    const last = Math.min(to, first + chunk - 1);
    await db.write([{ sql: historyText(table), params: [first, last, total, endMs, stepMs] }]);
  }
  for (const { indexdef } of indexes) await db.write([plain(String(indexdef))]);
  await db.write(noteDays(sliceNo, { fromMs: timeOf(from), toMs: timeOf(to) }));
}

/** Fills an empty database; `onProgress` gets 0 to 1. */
export async function fillPostgres(
  url: string,
  fleet: Omit<FleetDatabase, 'path'>,
  onProgress: (done: number) => void,
): Promise<void> {
  const { eventCount, nowMs } = fleet;
  const db = await openPostgres({ url });
  try {
    await createFleet(db);
    const weeks = weeksOf({ ...fleet, path: url });
    for (const week of weeks) {
      await fillWeek(db, { ...fleet, path: url }, week);
      onProgress(week.to / eventCount);
    }
    const last = weeks.at(-1)?.sliceNo ?? 1;
    await db.write([{ sql: busyText(tableOf(last).sql), params: [eventCount, nowMs] }]);
    await db.write([
      ...noteDays(last, { fromMs: nowMs - dayMs, toMs: nowMs }),
      lastPositions(nowMs),
      { sql: 'UPDATE event_counter SET next_no = $1', params: [eventCount + 8641] },
      // Nobody is to be told of any of it.
      { sql: 'UPDATE notifier_cursor SET event_no = $1', params: [eventCount + 8640] },
    ]);
    // As the server does by itself within minutes.
    await db.write([plain('ANALYZE')]);
  } finally {
    await db.close();
  }
}
