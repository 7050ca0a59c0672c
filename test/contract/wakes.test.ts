// Who hears of a commit, on every database: after it, never of what was rolled back, from whichever process, and over a server
// that restarts. And who may have a database: one broker alone, or several that share it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldDatabase, holdDatabase } from '../../src/adapters/database.ts';
import { openPostgres } from '../../src/adapters/postgres.ts';
import { openSqlite, openSqliteThreads } from '../../src/adapters/sqlite.ts';
import type { News, Statement, WakingDatabase } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/postgres.ts';

const table = sql`CREATE TABLE IF NOT EXISTS notes (note TEXT NOT NULL)`;
const put = (note: string, news = 'notes'): Statement => ({
  ...sql`INSERT INTO notes (note) VALUES (${note})`,
  news,
});
const nothing: Statement = { ...sql`DELETE FROM notes WHERE note = 'nobody'`, news: 'never' };
const waiting = { timeout: 30_000, interval: 20 } as const;

function listen(db: WakingDatabase): News[] {
  const heard: News[] = [];
  db.onNews((news) => void heard.push(news));
  return heard;
}

const folder = mkdtempSync(join(tmpdir(), 'fleetward-wakes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const title = postgresMissing === null ? 'PostgreSQL' : `PostgreSQL [${postgresMissing}]`;
let server: PostgresBench | null = null;
const openers = [
  ['SQLite', async () => openSqlite({ path: ':memory:', pageSize: 4096 })],
  ['SQLite on threads', () => openSqliteThreads({ path: join(folder, 'a.db'), pageSize: 4096 })],
  [title, async () => openPostgres({ url: (await server?.create()) ?? '' })],
] as const;

beforeAll(async () => {
  if (postgresMissing === null) server = await startPostgres();
});
afterAll(() => server?.close());

describe.each(openers)('news of one process: %s', (name, open) => {
  it.skipIf(name === title && postgresMissing !== null)(
    'are told once after the commit, of statements that changed something',
    async () => {
      const db = await open();
      await db.write([table]);
      const heard = listen(db);
      const stop = db.onNews(() => expect.fail('nobody listens any more'));
      stop();
      await db.write([put('one'), put('two'), put('three', 'others'), nothing]);
      await expect(db.write([put('four'), sql`INSERT INTO notes (note) VALUES (NULL)`])).rejects.toThrow();
      await db.write([sql`DELETE FROM notes`]);
      const own = () => heard.filter(({ isOwn }) => isOwn);
      expect(own()).toEqual([{ kinds: ['notes', 'others'], isOwn: true }]);
      await sleep(50);
      expect(own()).toHaveLength(1);
      await db.close();
    },
  );
});

describe.skipIf(postgresMissing !== null)(`news between processes on ${title}`, () => {
  const need = (): PostgresBench => server ?? expect.fail('no server');
  const pair = async () => {
    const url = await need().create();
    const [one, other] = [await openPostgres({ url }), await openPostgres({ url, patienceMs: 30_000 })];
    await one.write([table]);
    const heard = listen(other);
    // The first of all says that everything may be new.
    await expect.poll(() => heard, waiting).toEqual([{ kinds: null, isOwn: false }]);
    heard.length = 0;
    return { url, one, other, heard, close: () => Promise.all([one.close(), other.close()]) };
  };

  it('come after the commit, so that what they tell of is there, and never of what was rolled back', async () => {
    const { one, other, close } = await pair();
    const counts: Promise<number>[] = [];
    other.onNews(({ kinds }) => {
      if (kinds !== null) counts.push(other.read(sql`SELECT note FROM notes`).then((rows) => rows.length));
    });
    for (let at = 1; at <= 30; at++) {
      await one.write([put(`n${at}`)]);
      await expect(one.write([put('no'), sql`INSERT INTO notes (note) VALUES (NULL)`])).rejects.toThrow();
    }
    await expect.poll(() => counts.length, waiting).toBe(30);
    // Each sees at least what it tells of.
    for (const [at, count] of (await Promise.all(counts)).entries()) expect(count).toBeGreaterThan(at);
    await close();
  });

  it('are not told twice to who committed them', async () => {
    const { one, other, heard, close } = await pair();
    await other.write([put('own')]);
    await one.write([put('foreign', 'foreign')]);
    await expect.poll(() => heard.length, waiting).toBe(2);
    expect(heard).toEqual([
      { kinds: ['notes'], isOwn: true },
      { kinds: ['foreign'], isOwn: false },
    ]);
    await close();
  });

  it('that were missed while the connection was gone are told as such, and then they come again', async () => {
    const { one, other, heard, close } = await pair();
    const cut = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'`;
    await one.write([cut]);
    await expect.poll(() => heard, waiting).toContainEqual({ kinds: null, isOwn: false });
    await one.write([put('again')]);
    await expect.poll(() => heard, waiting).toContainEqual({ kinds: ['notes'], isOwn: false });
    heard.length = 0;
    await need().stop('immediate');
    await need().start();
    await expect.poll(() => heard, waiting).toContainEqual({ kinds: null, isOwn: false });
    await other.write([put('after')]);
    await close();
  });
});

describe.skipIf(postgresMissing !== null)(`a broker that takes its database: ${title}`, () => {
  const hold = (database: string, mode: 'alone' | 'shared', onLost: () => void = () => undefined) =>
    holdDatabase({ database, environment: {} }, { mode, onLost });
  const refusal = { code: 'config', message: expect.stringContaining('in use by another broker') };

  it('has it alone, or with others that share it, and gives it back', async () => {
    const url = (await server?.create()) ?? '';
    const first = await hold(url, 'alone');
    const refused = await Promise.allSettled([hold(url, 'alone'), hold(url, 'shared')]);
    for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: refusal });
    await first.close();
    const shared: HeldDatabase[] = [await hold(url, 'shared'), await hold(url, 'shared')];
    await expect(hold(url, 'alone')).rejects.toMatchObject(refusal);
    for (const one of shared) await one.close();
    await (await hold(url, 'alone')).close();
  });

  it('takes it again after the server has restarted, and is told when another one was faster', async () => {
    const url = (await server?.create()) ?? '';
    let isLost = false;
    const first = await hold(url, 'alone', () => {
      isLost = true;
    });
    const db = await openPostgres({ url });
    const ends = sql`SELECT pg_terminate_backend(l.pid) FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
      WHERE l.locktype = 'advisory' AND l.pid <> pg_backend_pid()`;
    const holders = async (): Promise<number> =>
      (
        await db.read(sql`SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          AND d.datname = current_database() WHERE l.locktype = 'advisory'`)
      ).length;
    await db.read(ends);
    await expect.poll(holders, waiting).toBe(1);
    expect(isLost).toBe(false);
    await db.read(ends);
    const second = await hold(url, 'alone');
    await expect.poll(() => isLost, waiting).toBe(true);
    await Promise.all([first.close(), second.close(), db.close()]);
  });
});
