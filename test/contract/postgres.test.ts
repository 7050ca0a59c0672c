// What PostgreSQL adds to the contract of a database: a network that breaks at the worst moment, a server that restarts,
// writers in several processes, servers that must not be used, and secrets that must not be told.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../src/adapters/postgres.ts';
import { messageOf } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { startCommitCutter } from '../support/commit-cutter.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/postgres.ts';

const title = postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`;

describe.skipIf(postgresMissing !== null)(title, () => {
  let server: PostgresBench;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  /** Patient, so that a slow machine does not decide a test. */
  const openNew = async (url?: string): Promise<{ readonly db: Database; readonly url: string }> => {
    const at = url ?? (await server.create());
    const db = await openPostgres({ url: at, patienceMs: 30_000 });
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
    ])('$moments: the batch is stored once, and its results are told', async ({ moments }) => {
      const { db, url } = await openNew();
      const folder = mkdtempSync(join(tmpdir(), 'fleetward-proxy-'));
      const proxy = await startCommitCutter(folder, server.folder);
      const through = await openPostgres({
        url: url.replace(encodeURIComponent(server.folder), encodeURIComponent(folder)),
      });
      try {
        proxy.cut(...moments);
        const [first, second] = await through.write([
          sql`INSERT INTO notes (note) VALUES (${'one'}) RETURNING note`,
          sql`UPDATE notes SET extra = 'x'`,
        ]);
        expect(first).toEqual({ changes: 1, rows: [{ note: 'one' }] });
        expect(second?.changes).toBe(1);
        expect(proxy.cuts()).toBe(moments.length);
        expect(await notesOf(db)).toEqual(['one']);
      } finally {
        await through.close();
        await proxy.close();
        await db.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
  });

  describe('a server that restarts under load', () => {
    test.each(['immediate', 'fast'] as const)(
      '(%s) loses nothing that was told stored, doubles nothing, and is found again',
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
        for (let round = 0; round < 2; round++) {
          await sleep(300);
          await server.stop(how);
          await sleep(200);
          await server.start();
        }
        const before = stored.length;
        while (stored.length < before + 20) await sleep(10);
        load.isOver = true;
        await work;
        expect(refused).toEqual([]);
        expect(await notesOf(db)).toEqual([...stored].sort());
        await db.close();
      },
    );

    test('and stays away: work is refused in time, and done again afterwards', async () => {
      const { url, db: first } = await openNew();
      await first.close();
      const db = await openPostgres({ url, patienceMs: 500 });
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
        .poll(() => db.write([sql`INSERT INTO notes (note) VALUES ('again')`]).catch(() => null), {
          timeout: 10_000,
        })
        .not.toBeNull();
      expect(await notesOf(db)).toEqual(['again']);
      await db.close();
    });
  });

  describe('writers in several processes', () => {
    const startChild = async (args: readonly string[]): Promise<ChildProcess> => {
      const script = new URL('../support/postgres-child.mjs', import.meta.url).pathname;
      const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
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
      const db = await openPostgres({ url });
      const children = await Promise.all([1, 2].map((no) => startChild([url, String(no), `boot-${no}`])));
      const seen: number[] = [];
      let cursor = 0;
      const look = async (): Promise<void> => {
        const rows = await db.read(
          sql`SELECT event_no FROM events WHERE event_no > ${cursor} ORDER BY event_no`,
        );
        for (const row of rows) seen.push(Number(row['event_no']));
        cursor = seen.at(-1) ?? 0;
      };
      const rounds = Number(process.env['FLEETWARD_ROUNDS'] ?? '2000');
      for (let round = 0; round < rounds; round++) await look();
      const counts = await Promise.all(children.map(stopChild));
      await look();
      const stored = await db.read(sql`SELECT event_no FROM events ORDER BY event_no`);
      expect(seen).toEqual(stored.map((row) => row['event_no']));
      expect(seen).toHaveLength(counts.reduce((sum, one) => sum + one, 0));
      expect(Math.min(...counts)).toBeGreaterThan(10);
      await db.close();
    });

    test('wait for each other no longer than they may', async () => {
      const { db, url } = await openNew();
      const impatient = await openPostgres({ url, statementMs: 1000 });
      const holding = db.write([sql`INSERT INTO notes (note) VALUES ('long')`, sql`SELECT pg_sleep(2)`]);
      await sleep(200);
      const late = impatient.write([sql`INSERT INTO notes (note) VALUES ('late')`]);
      await expect(late).rejects.toMatchObject({ code: 'storage', cause: { code: '55P03' } });
      await holding;
      await impatient.write([sql`INSERT INTO notes (note) VALUES ('next')`]);
      expect(await notesOf(db)).toEqual(['long', 'next']);
      await Promise.all([db.close(), impatient.close()]);
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

    test('a missing database, a wrong user and a server that is not there are told apart', async () => {
      const url = await server.create();
      const codeOf = async (at: string): Promise<unknown> =>
        openPostgres({ url: at, patienceMs: 200 }).then(
          () => 'open',
          (thrown: { readonly cause?: { readonly code?: string } }) => thrown.cause?.code,
        );
      expect(await codeOf(url.replace(/\/test_\w+/, '/nothing'))).toBe('3D000');
      expect(await codeOf(url.replace('postgres@', 'nobody@'))).toBe('28000');
      expect(await codeOf(url.replace(/host=.*/, `host=${encodeURIComponent(tmpdir())}`))).toBe('ENOENT');
    });
  });

  test('a session commits to the disk even where the server would not', async () => {
    const { db, url } = await openNew();
    await db.write([sql`ALTER ROLE postgres SET synchronous_commit = off`]);
    const other = await openPostgres({ url });
    const [, answer] = await other.write([
      sql`INSERT INTO notes (note) VALUES ('x')`,
      sql`SELECT current_setting('synchronous_commit') AS kept`,
    ]);
    expect(answer?.rows).toEqual([{ kept: 'on' }]);
    await other.write([sql`ALTER ROLE postgres RESET synchronous_commit`]);
    await Promise.all([db.close(), other.close()]);
  });

  test('a reading session cannot write', async () => {
    const { db } = await openNew();
    const sly = db.read(sql`INSERT INTO notes (note) VALUES ('sly') RETURNING note`);
    await expect(sly).rejects.toMatchObject({ cause: { code: '25006' } });
    expect(await notesOf(db)).toEqual([]);
    await db.close();
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
      openPostgres({ url: url.replace('postgres@', `nobody:${secret}@`), patienceMs: 100 }),
    ]);
    for (const fault of faults) {
      if (fault.status === 'fulfilled') expect.fail('was taken');
      const { reason } = fault;
      const told = JSON.stringify([messageOf(reason), messageOf(reason.cause), reason, reason.cause]);
      expect(told).not.toContain(secret);
      expect(reason.code).toBe('storage');
    }
    await db.close();
  });

  test('a number that JavaScript cannot hold exactly is an error, not another number', async () => {
    const { db } = await openNew();
    const big = db.read({ sql: 'SELECT 9007199254740993 AS big', params: [] });
    await expect(big).rejects.toMatchObject({ code: 'storage', cause: { code: 'OUT_OF_RANGE' } });
    expect(await db.read({ sql: 'SELECT 9007199254740991 AS big', params: [] })).toEqual([
      { big: Number.MAX_SAFE_INTEGER },
    ]);
    await db.close();
  });
});
