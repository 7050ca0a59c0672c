// Commit notifications on every database: after the commit, never after a rollback, between processes, and over a restart of
// the server. And the lock on a database: one broker alone, or several that share it.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type HeldDatabase, holdDatabase } from '../../src/adapters/database/database.ts';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { openSqlite, openSqliteThreads } from '../../src/adapters/database/sqlite.ts';
import type { CommitNotice, NotifyingDatabase, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';

const table = sql`CREATE TABLE IF NOT EXISTS notes (note TEXT NOT NULL)`;
const put = (note: string, topic = 'notes'): Statement => ({
  ...sql`INSERT INTO notes (note) VALUES (${note})`,
  topic,
});
const nothing: Statement = { ...sql`DELETE FROM notes WHERE note = 'nobody'`, topic: 'never' };
const waiting = { interval: 20 } as const;
/** What a test has opened, closed also when it fails. */
const opened: { close(): Promise<void> }[] = [];
function closeAfterwards<T extends { close(): Promise<void> }>(one: T): T {
  opened.push(one);
  return one;
}
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

function listen(db: NotifyingDatabase): CommitNotice[] {
  const received: CommitNotice[] = [];
  db.onCommit((commit) => void received.push(commit));
  return received;
}

const folder = temporaryFolder('commit-notifications');

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

describe.each(openers)('commit notifications within a process: %s', (name, open) => {
  it.skipIf(name === title && postgresMissing !== null)(
    'arrive once after the commit, for statements that changed rows',
    async () => {
      const db = closeAfterwards(await open());
      await db.write([table]);
      const received = listen(db);
      const stop = db.onCommit(() => expect.fail('called after it was unsubscribed'));
      stop();
      await db.write([put('one'), put('two'), put('three', 'others'), nothing]);
      await expect(db.write([put('four'), sql`INSERT INTO notes (note) VALUES (NULL)`])).rejects.toThrow();
      await db.write([sql`DELETE FROM notes`]);
      const own = () => received.filter(({ isOwn }) => isOwn);
      expect(own()).toEqual([{ topics: ['notes', 'others'], isOwn: true }]);
      // The next notice comes after whatever else there was to say of the first batch.
      await db.write([put('five', 'last')]);
      await expect.poll(own, waiting).toContainEqual({ topics: ['last'], isOwn: true });
      expect(own()).toHaveLength(2);
    },
  );
});

describe.skipIf(postgresMissing !== null)(`commit notifications between processes on ${title}`, () => {
  const need = (): PostgresBench => server ?? expect.fail('no server');
  const pair = async () => {
    const url = await need().create();
    const one = closeAfterwards(await openPostgres({ url }));
    const other = closeAfterwards(await openPostgres({ url, patienceMs: hangMs }));
    await one.write([table]);
    const received = listen(other);
    // The first notice always says that anything may have changed.
    await expect.poll(() => received, waiting).toEqual([{ topics: null, isOwn: false }]);
    received.length = 0;
    return { one, other, received };
  };

  it('arrive when the rows are visible, and never after a rollback', async () => {
    const { one, other } = await pair();
    const counts: Promise<number>[] = [];
    other.onCommit(({ topics }) => {
      if (topics !== null) counts.push(other.read(sql`SELECT note FROM notes`).then((rows) => rows.length));
    });
    for (let at = 1; at <= 30; at++) {
      await one.write([put(`n${at}`)]);
      await expect(one.write([put('no'), sql`INSERT INTO notes (note) VALUES (NULL)`])).rejects.toThrow();
    }
    await expect.poll(() => counts.length, waiting).toBe(30);
    // Each reads at least the rows that it announces.
    for (const [at, count] of (await Promise.all(counts)).entries()) expect(count).toBeGreaterThan(at);
  });

  it('reach the process that committed only once', async () => {
    const { one, other, received } = await pair();
    await other.write([put('own')]);
    await one.write([put('foreign', 'foreign')]);
    await expect.poll(() => received.length, waiting).toBe(2);
    expect(received).toEqual([
      { topics: ['notes'], isOwn: true },
      { topics: ['foreign'], isOwn: false },
    ]);
  });

  it('report a lost connection as possibly missed commits, and arrive again afterwards', async () => {
    const { one, other, received } = await pair();
    const cut = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'`;
    await one.write([cut]);
    await expect.poll(() => received, waiting).toContainEqual({ topics: null, isOwn: false });
    await one.write([put('again')]);
    await expect.poll(() => received, waiting).toContainEqual({ topics: ['notes'], isOwn: false });
    received.length = 0;
    await need().stop('immediate');
    await need().start();
    await expect.poll(() => received, waiting).toContainEqual({ topics: null, isOwn: false });
    await other.write([put('after')]);
  });
});

describe.skipIf(postgresMissing !== null)(`the lock of a broker on its database: ${title}`, () => {
  const hold = (database: string, mode: 'alone' | 'shared', onLost: () => void = () => undefined) =>
    holdDatabase({ database, environment: {} }, { mode, onLost });
  const refusal = { code: 'config', message: expect.stringContaining('in use by another broker') };

  it('is held alone or shared, and is released on close', async () => {
    const url = (await server?.create()) ?? '';
    const first = closeAfterwards(await hold(url, 'alone'));
    const refused = await Promise.allSettled([hold(url, 'alone'), hold(url, 'shared')]);
    for (const one of refused) expect(one).toMatchObject({ status: 'rejected', reason: refusal });
    await first.close();
    const shared: HeldDatabase[] = [];
    for (const _each of [1, 2]) shared.push(closeAfterwards(await hold(url, 'shared')));
    await expect(hold(url, 'alone')).rejects.toMatchObject(refusal);
    for (const one of shared) await one.close();
    await (await hold(url, 'alone')).close();
  });

  it('is taken again after a server restart, and reports when another broker took it first', async () => {
    const url = (await server?.create()) ?? '';
    let isLost = false;
    closeAfterwards(
      await hold(url, 'alone', () => {
        isLost = true;
      }),
    );
    const db = closeAfterwards(await openPostgres({ url }));
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
    // On a stalled machine the first broker takes the lock again before the second one asks.
    await waitUntil('a second broker to take the lock first', async () => {
      await db.read(ends);
      const second = await hold(url, 'alone').catch((thrown: unknown) => {
        expect(thrown).toMatchObject(refusal);
        return null;
      });
      return second !== null && closeAfterwards(second);
    });
    await expect.poll(() => isLost, waiting).toBe(true);
  });
});
