// What PostgreSQL adds to the contract of a database: a network that breaks at the worst moment, a server that restarts,
// writers in several processes, servers that must not be used, and secrets that must not be revealed.
import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { startCommitCutter } from '../support/database/commit-cutter.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';

const title = postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`;

describe.skipIf(postgresMissing !== null)(title, () => {
  let server: PostgresBench;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  /** Closes what a test has opened, last first, also when it fails. */
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });
  function closeAfterwards<T extends { close(): Promise<void> }>(one: T): T {
    closers.push(() => one.close());
    return one;
  }

  /** Patient, so that a slow machine does not decide a test. */
  const openNew = async (url?: string): Promise<{ readonly db: Database; readonly url: string }> => {
    const at = url ?? (await server.create());
    const db = closeAfterwards(await openPostgres({ url: at, patienceMs: hangMs, statementMs: hangMs }));
    await db.write([
      { sql: 'CREATE TABLE IF NOT EXISTS notes (note TEXT NOT NULL, extra TEXT)', params: [] },
    ]);
    return { db, url: at };
  };
  const notesOf = async (db: Database): Promise<readonly unknown[]> =>
    (await db.read(sql`SELECT note FROM notes ORDER BY note`)).map((row) => row['note']);

  describe('a commit whose answer is lost', () => {
    test.each([
      { moments: ['before'] as const },
      { moments: ['after'] as const },
      { moments: ['before', 'after'] as const },
      { moments: ['before', 'before', 'before'] as const },
    ])('$moments: the batch is stored once, and its results are returned', async ({ moments }) => {
      const { db, url } = await openNew();
      const folder = temporaryFolder('proxy');
      const proxy = closeAfterwards(await startCommitCutter(folder, server.folder));
      const through = closeAfterwards(
        await openPostgres({
          url: url.replace(encodeURIComponent(server.folder), encodeURIComponent(folder)),
          patienceMs: hangMs,
        }),
      );
      proxy.cut(...moments);
      const [first, second] = await through.write([
        sql`INSERT INTO notes (note) VALUES (${'one'}) RETURNING note`,
        sql`UPDATE notes SET extra = 'x'`,
      ]);
      expect(first).toEqual({ changes: 1, rows: [{ note: 'one' }] });
      expect(second?.changes).toBe(1);
      expect(proxy.cuts()).toBe(moments.length);
      expect(await notesOf(db)).toEqual(['one']);
    });
  });

  describe('a server that restarts under load', () => {
    test.each(['immediate', 'fast'] as const)(
      '(%s) loses nothing that was reported stored, doubles nothing, and is found again',
      async (how) => {
        const { db } = await openNew();
        const stored: string[] = [];
        const refused: string[] = [];
        const load = { isOver: false };
        const write = async (writer: number): Promise<void> => {
          for (let count = 0; !load.isOver; count++) {
            const note = `${writer}-${String(count).padStart(6, '0')}`;
            await db.write([sql`INSERT INTO notes (note) VALUES (${note})`]).then(
              () => stored.push(note),
              (thrown: unknown) => refused.push(`${note}: ${messageOf(thrown)}`),
            );
          }
        };
        const reads = async (): Promise<void> => {
          while (!load.isOver) await notesOf(db);
        };
        const work = Promise.all([write(1), write(2), write(3), reads()]);
        closers.push(() => {
          load.isOver = true;
          return work;
        });
        const storeMore = async (): Promise<void> => {
          const before = stored.length;
          const seen = () => `${stored.length} stored; ${refused.slice(0, 3).join('; ')}`;
          await waitUntil('twenty more rows', () => stored.length >= before + 20, { seen });
        };
        for (let round = 0; round < 2; round++) {
          await storeMore();
          await server.stop(how);
          await sleep(200);
          await server.start();
        }
        await storeMore();
        load.isOver = true;
        await work;
        expect(refused).toEqual([]);
        expect(await notesOf(db)).toEqual([...stored].sort());
      },
    );

    test('and stays away: work is refused in time, and done again afterwards', async () => {
      const { url, db: first } = await openNew();
      await first.close();
      // A stall may use up its patience while it opens.
      const db = closeAfterwards(
        await waitUntil('a session', () => openPostgres({ url, patienceMs: 500 }).catch(() => null)),
      );
      await server.stop('fast');
      const insert = sql`INSERT INTO notes (note) VALUES ('never')`;
      const refusals = await Promise.allSettled([
        db.write([insert]),
        db.write([insert]),
        db.read(sql`SELECT 1 AS one`),
        db.read(sql`SELECT 1 AS one`),
      ]);
      for (const one of refusals) {
        expect(one).toMatchObject({ status: 'rejected', reason: { code: 'storage' } });
      }
      await server.start();
      await expect
        .poll(() => db.write([sql`INSERT INTO notes (note) VALUES ('again')`]).catch(() => null))
        .not.toBeNull();
      await expect.poll(() => notesOf(db).catch(() => null)).toEqual(['again']);
    });
  });

  describe('writers in several processes', () => {
    const startChild = async (args: readonly string[]): Promise<ChildProcess> => {
      const script = new URL('../support/database/postgres-child.mjs', import.meta.url).pathname;
      const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
      closers.push(() => child.kill('SIGKILL'));
      await new Promise((resolve) => void child.stdout?.once('data', resolve));
      return child;
    };
    const stopChild = async (child: ChildProcess): Promise<number> => {
      let said = '';
      child.stdout?.on('data', (bytes: Buffer) => void (said += bytes.toString()));
      const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
      child.stdin?.end();
      await ended;
      return Number(said);
    };

    test('take numbers of events that a cursor never passes by', async () => {
      const url = await server.createMigrated();
      const db = closeAfterwards(await openPostgres({ url, patienceMs: hangMs, statementMs: hangMs }));
      const children = await Promise.all([1, 2].map((no) => startChild([url, String(no), `boot-${no}`])));
      const seen: number[] = [];
      const ofBoot = new Map<string, number>();
      let cursor = 0;
      const look = async (): Promise<void> => {
        const rows = await db.read(
          sql`SELECT event_no, boot FROM events WHERE event_no > ${cursor} ORDER BY event_no`,
        );
        for (const row of rows) {
          seen.push(Number(row['event_no']));
          ofBoot.set(String(row['boot']), (ofBoot.get(String(row['boot'])) ?? 0) + 1);
        }
        cursor = seen.at(-1) ?? 0;
      };
      const rounds = Number(process.env['FLEETWARD_TEST_ROUNDS'] ?? '2000');
      for (let round = 0; round < rounds; round++) await look();
      await waitUntil('events of both', async () => {
        await look();
        return ofBoot.size === 2 && Math.min(...ofBoot.values()) > 10;
      });
      const counts = await Promise.all(children.map(stopChild));
      await look();
      const stored = await db.read(sql`SELECT event_no FROM events ORDER BY event_no`);
      expect(seen).toEqual(stored.map((row) => row['event_no']));
      expect(seen).toHaveLength(counts.reduce((sum, one) => sum + one, 0));
      expect(Math.min(...counts)).toBeGreaterThan(10);
    });

    test('wait for each other no longer than they may', async () => {
      const { db, url } = await openNew();
      const impatient = closeAfterwards(await openPostgres({ url, statementMs: 4000 }));
      // The first writer waits for this session, for as long as the test wants.
      const gate = new pg.Client({ connectionString: url });
      closers.push(() => gate.end());
      await gate.connect();
      await gate.query('SELECT pg_advisory_lock(4711)');
      const holding = db.write([
        sql`INSERT INTO notes (note) VALUES ('long')`,
        sql`SELECT pg_advisory_xact_lock(4711)`,
      ]);
      const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711 AND NOT granted";
      await waitUntil('the first writer', async () => (await gate.query(waits)).rowCount === 1);
      const late = impatient.write([sql`INSERT INTO notes (note) VALUES ('late')`]);
      await expect(late).rejects.toMatchObject({ code: 'storage', cause: { code: '55P03' } });
      await gate.query('SELECT pg_advisory_unlock(4711)');
      await holding;
      await impatient.write([sql`INSERT INTO notes (note) VALUES ('next')`]);
      expect(await notesOf(db)).toEqual(['long', 'next']);
    });
  });

  describe('a server that must not be used', () => {
    test('is one that could lose what it acknowledged', async () => {
      const careless = await startPostgres({ fsync: 'off' });
      try {
        const url = await careless.create();
        await expect(openPostgres({ url })).rejects.toMatchObject({
          code: 'config',
          message: expect.stringContaining('fsync off'),
        });
      } finally {
        await careless.close();
      }
    });

    test('or one with texts in another encoding', async () => {
      const url = await server.create("template0 ENCODING 'LATIN1' LOCALE 'C'");
      await expect(openPostgres({ url })).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('LATIN1'),
      });
    });

    test('a missing database, a wrong user and an unreachable server have different reasons', async () => {
      const url = await server.create();
      const codeOf = async (at: string, patienceMs = hangMs): Promise<unknown> =>
        openPostgres({ url: at, patienceMs }).then(
          () => 'open',
          (thrown: { readonly cause?: { readonly code?: string } }) => thrown.cause?.code,
        );
      expect(await codeOf(url.replace(/\/test_\w+/, '/nothing'))).toBe('3D000');
      expect(await codeOf(url.replace('postgres@', 'nobody@'))).toBe('28000');
      const nowhere = url.replace(/host=.*/, `host=${encodeURIComponent(tmpdir())}`);
      expect(await codeOf(nowhere, 200)).toBe('ENOENT');
    });
  });

  test('a session commits to the disk even where the server would not', async () => {
    const { db, url } = await openNew();
    await db.write([sql`ALTER ROLE postgres SET synchronous_commit = off`]);
    const other = closeAfterwards(await openPostgres({ url }));
    const [, answer] = await other.write([
      sql`INSERT INTO notes (note) VALUES ('x')`,
      sql`SELECT current_setting('synchronous_commit') AS kept`,
    ]);
    expect(answer?.rows).toEqual([{ kept: 'on' }]);
    await other.write([sql`ALTER ROLE postgres RESET synchronous_commit`]);
  });

  test('a reading session cannot write', async () => {
    const { db } = await openNew();
    const sly = db.read(sql`INSERT INTO notes (note) VALUES ('sly') RETURNING note`);
    await expect(sly).rejects.toMatchObject({ cause: { code: '25006' } });
    expect(await notesOf(db)).toEqual([]);
  });

  test('a fault never repeats a value, nor the password', async () => {
    const { db, url } = await openNew();
    await db.write([{ sql: 'CREATE UNIQUE INDEX notes_once ON notes (note)', params: [] }]);
    const secret = 'Correct-Horse-4711';
    await db.write([sql`INSERT INTO notes (note) VALUES (${secret})`]);
    const faults = await Promise.allSettled([
      db.write([sql`INSERT INTO notes (note) VALUES (${secret})`]),
      db.read(sql`SELECT 1 AS one WHERE 1 = CAST(${secret} AS BIGINT)`),
      db.write([sql`INSERT INTO notes (note) VALUES (${`${secret}\0`})`]),
      openPostgres({ url: url.replace('postgres@', `nobody:${secret}@`), patienceMs: hangMs }),
    ]);
    for (const fault of faults) {
      if (fault.status === 'fulfilled') expect.fail('was taken');
      const { reason } = fault;
      const text = JSON.stringify([messageOf(reason), messageOf(reason.cause), reason, reason.cause]);
      expect(text).not.toContain(secret);
      expect(reason.code).toBe('storage');
    }
  });

  test('a number that JavaScript cannot hold exactly is an error, not another number', async () => {
    const { db } = await openNew();
    const big = db.read({ sql: 'SELECT 9007199254740993 AS big', params: [] });
    await expect(big).rejects.toMatchObject({ code: 'storage', cause: { code: 'OUT_OF_RANGE' } });
    expect(await db.read({ sql: 'SELECT 9007199254740991 AS big', params: [] })).toEqual([
      { big: Number.MAX_SAFE_INTEGER },
    ]);
  });
});
