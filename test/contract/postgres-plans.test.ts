// How PostgreSQL goes about the reads of a long history: by the index of their device or code, never through a whole slice or
// all devices, however often they are asked. From the sixth time on it plans a statement without its values, unless it is said
// to be planned anew. Plans are looked at, not times.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { codesKeys, deviceKeys, fleetKeys, type KeyRange } from '../../broker/store/events/event-keys.ts';
import { eventRecords } from '../../broker/store/events/event-records.ts';
import { openSlice, recordSpan } from '../../broker/store/slices/slice-writing.ts';
import { tableOf } from '../../broker/store/slices/slices.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { addDevice, migrateWithAccounts } from '../support/broker/broker-bench.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';

const hourMs = 3_600_000;
const startMs = 1_767_614_400_000;
const count = 240_000;
const panic = 63_553;
const scope = wholeAccount('acme');
/** Of the two days that the slice holds. */
const hour: KeyRange = {
  scope,
  fromMs: startMs + 10 * hourMs,
  toMs: startMs + 11 * hourMs,
  plausibleMs: startMs + 100 * hourMs,
  after: null,
  sinceNo: 0,
  upToNo: count,
};

/** One slice of some vehicles, and statistics as the server makes them by itself. */
async function fill(db: Database): Promise<void> {
  await migrateWithAccounts(db);
  const { sliceNo } = await openSlice(db);
  for (let at = 0; at < 40; at++) await addDevice(db, 'acme', `truck-${at}`);
  const others = sql`INSERT INTO devices (account_no, account_id, device_id, created_s)
    SELECT 1, 'acme', 'car-' || i, 0 FROM generate_series(1, 5000) AS i`;
  const insert = sql`INSERT INTO ${tableOf(sliceNo)} (event_no, account_no, device_no, boot, seq, timestamp_ms, received_ms,
      time_quality, status_code, geozone_id)
    SELECT i, 1, 1 + i % 5000, 'b1', i, t.ms, t.ms, 'gnss', CASE WHEN i % 2000 = 0 THEN ${panic} ELSE 61472 END, ''
    FROM generate_series(1, ${count}) AS i, LATERAL (SELECT CAST(${startMs} AS BIGINT) + i * 720 AS ms) AS t`;
  const span = { fromMs: startMs, toMs: startMs + 48 * hourMs };
  await db.write([
    others,
    insert,
    recordSpan(sliceNo, span),
    sql`UPDATE event_counter SET next_no = ${count + 1}`,
  ]);
  await db.write([sql`ANALYZE`]);
}

const title = postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`;

describe.skipIf(postgresMissing !== null)(`${title} and a long history`, () => {
  let db: Database;
  let client: pg.Client;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const server: PostgresBench = await startPostgres();
    closers.push(() => server.close());
    const url = await server.createMigrated();
    db = await openPostgres({ url });
    closers.push(() => db.close());
    await fill(db);
    client = new pg.Client({ connectionString: url });
    closers.push(() => client.end());
    await client.connect();
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const quoted = (value: unknown): string =>
    typeof value === 'number' ? String(value) : client.escapeLiteral(String(value));
  async function planOf({ sql: text, params, isPlannedAnew = false }: Statement): Promise<string> {
    const mode = isPlannedAnew ? 'force_custom_plan' : 'force_generic_plan';
    await client.query(`SET plan_cache_mode = ${mode}`);
    await client.query(`PREPARE looked_at AS ${text}`);
    const answer = await client.query(`EXPLAIN EXECUTE looked_at (${params.map(quoted).join(', ')})`);
    await client.query('DEALLOCATE looked_at');
    return answer.rows.map((row) => String(row['QUERY PLAN'])).join('\n');
  }
  /** Plans of what a reader asks of events. */
  async function plansOf(read: (watched: Database) => Promise<unknown>): Promise<readonly string[]> {
    const asked: Statement[] = [];
    await read({
      ...db,
      read: (statement) => {
        if (/\bevents(_\d+)? e\b/.test(statement.sql)) asked.push(statement);
        return db.read(statement);
      },
    });
    const plans: string[] = [];
    for (const statement of asked) plans.push(await planOf(statement));
    expect(plans.length).toBeGreaterThan(0);
    return plans;
  }
  async function all(keys: AsyncIterable<readonly unknown[]>): Promise<number> {
    let found = 0;
    for await (const page of keys) found += page.length;
    return found;
  }

  test.each([
    ['of a device', (one: Database) => all(deviceKeys(one, { ...hour, deviceID: 'truck-7' }, null))],
    ['of a code', (one: Database) => all(codesKeys(one, hour, [panic]))],
    ['of a fleet', (one: Database) => all(fleetKeys(one, hour, null))],
  ])('an hour %s', async (_name, read) => {
    for (const plan of await plansOf(read)) {
      expect(plan).toMatch(/(using|on) events_by_(time|code)\b/);
      expect(plan).not.toMatch(/Seq Scan on events|events(_\d+)?_pkey/);
    }
  });

  test('a few records by their numbers', async () => {
    for (const plan of await plansOf((one) => eventRecords(one, scope, [7, 70, 700])))
      expect(plan).not.toContain('Seq Scan');
  });
});
