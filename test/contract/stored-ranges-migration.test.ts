// A store of before `stored_ranges`, brought up to date: everything that was stored, or was and has been removed since, is
// known as stored, nothing else is, and the events are the same.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrations } from '../../broker/store/migrations.ts';
import { openPostgres } from '../../src/adapters/postgres.ts';
import { openSqlite } from '../../src/adapters/sqlite.ts';
import { migrate } from '../../src/migrate.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/postgres.ts';

let server: PostgresBench | null = null;
beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

const ways = [
  { name: 'SQLite', missing: false, open: async () => openSqlite({ path: ':memory:', pageSize: 4096 }) },
  {
    name: postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`,
    missing: postgresMissing !== null,
    open: async () => openPostgres({ url: (await server?.create()) ?? '' }),
  },
] as const;

const before = migrations.slice(
  0,
  migrations.findIndex(({ name }) => name === '0012-stored-ranges'),
);

interface Old {
  readonly boot: string;
  readonly upTo: number;
  readonly events: readonly number[];
  readonly removed: readonly (readonly [number, number])[];
  readonly now: { readonly upTo: number; readonly ranges: readonly (readonly [number, number])[] };
}

const boots: readonly Old[] = [
  { boot: 'whole', upTo: 3, events: [1, 2, 3], removed: [], now: { upTo: 3, ranges: [] } },
  {
    boot: 'gaps',
    upTo: 2,
    events: [1, 2, 5, 6, 9],
    removed: [],
    now: {
      upTo: 2,
      ranges: [
        [5, 6],
        [9, 9],
      ],
    },
  },
  { boot: 'removed', upTo: 4, events: [], removed: [[7, 9]], now: { upTo: 4, ranges: [[7, 9]] } },
  {
    // Both kinds side by side, one within the other, and beginning where the other ends.
    boot: 'mixed',
    upTo: 0,
    events: [4, 8, 12, 20],
    removed: [
      [5, 7],
      [6, 6],
      [9, 9],
      [15, 19],
    ],
    now: {
      upTo: 0,
      ranges: [
        [4, 9],
        [12, 12],
        [15, 20],
      ],
    },
  },
  // Events alone did not let `up_to` see what was removed.
  { boot: 'joined', upTo: 2, events: [1, 6], removed: [[3, 5]], now: { upTo: 6, ranges: [] } },
  { boot: 'none', upTo: 0, events: [], removed: [], now: { upTo: 0, ranges: [] } },
]; // prettier-ignore

async function fill(db: Database): Promise<void> {
  await db.write([
    sql`INSERT INTO accounts (account_id, display_name, created_s) VALUES ('acme', 'acme', 0)`,
    sql`INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', 'truck-1', 0)`,
  ]);
  const event = (
    boot: string,
    seq: number,
  ) => sql`INSERT INTO events (account_no, device_no, boot, seq, timestamp_ms,
    received_ms, time_quality, status_code, attributes) VALUES (1, 1, ${boot}, ${seq}, ${seq * 1000}, 1, 'gnss', 61472, '{}')`;
  for (const { boot, upTo, events, removed } of boots) {
    await db.write([
      sql`INSERT INTO boots (device_no, boot, first_seen_ms, up_to) VALUES (1, ${boot}, 5, ${upTo})`,
      ...events.map((seq) => event(boot, seq)),
      ...removed.map(
        ([first, last]) =>
          sql`INSERT INTO removed_events (device_no, boot, first_seq, last_seq) VALUES (1, ${boot}, ${first}, ${last})`,
      ),
    ]);
  }
  await db.write([event('@61472000', 61472)]);
}

for (const { name, missing, open } of ways) {
  describe.skipIf(missing)(name, () => {
    test('keeps what is stored and what was, as numbers of each boot', async () => {
      const db = await open();
      await migrate(db, before);
      await fill(db);
      const events = await db.read(sql`SELECT * FROM events ORDER BY event_no`);
      await migrate(db, migrations);
      expect(await db.read(sql`SELECT * FROM events ORDER BY event_no`)).toEqual(events);
      for (const { boot, now } of boots) {
        const [row] = await db.read(sql`SELECT up_to, revision, range_count FROM boots WHERE boot = ${boot}`);
        expect(row, boot).toEqual({ up_to: now.upTo, revision: 0, range_count: now.ranges.length });
        const ranges = await db.read(
          sql`SELECT first_seq, last_seq FROM stored_ranges WHERE boot = ${boot} ORDER BY 1`,
        );
        expect(
          ranges.map((range) => [range['first_seq'], range['last_seq']]),
          boot,
        ).toEqual(now.ranges);
      }
      expect(await db.read(sql`SELECT boot FROM boots WHERE boot LIKE '@%'`)).toEqual([]);
      const [counter] = await db.read(sql`SELECT next_no FROM event_counter`);
      expect(Number(counter?.['next_no'])).toBeGreaterThan(events.length);
      await db.close();
    });

    test('of nothing begins with the first number', async () => {
      const db = await open();
      await migrate(db, migrations);
      expect(await db.read(sql`SELECT next_no FROM event_counter`)).toEqual([{ next_no: 1 }]);
      await db.close();
    });
  });
}
