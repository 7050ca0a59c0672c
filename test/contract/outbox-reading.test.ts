// A disk that fails is not a damaged file: what is left in the log of transactions that failed, reads that are refused for
// a while, a read-only file system. The file stays, nothing is taken for lost, and the next try finds everything. Damage is
// still found: see outbox-damage.test.ts.
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { pageBytes, walFault } from '../../agent/core/outbox/page-carving.ts';
import type { OpenDatabase } from '../../agent/outbox/file/outbox-file.ts';
import {
  clearUnreadable,
  countUnreadable,
  isReadable,
  readingLimits,
} from '../../agent/outbox/file/outbox-reading.ts';
import { openSqlite, storageError } from '../../src/adapters/database/sqlite.ts';
import type { Database } from '../../src/ports.ts';
import { drain, marksOf, open, record } from '../support/storage/outbox-bench.ts';
import { useOutboxPlace } from '../support/storage/outbox-place.ts';

const place = useOutboxPlace();

const evidence = (): readonly string[] =>
  readdirSync(place.folder).filter((name) => name.includes('damaged'));

describe('the log of a disk that refused transactions', () => {
  /** A database and its log after three commits, and what the log would be with one more commit of so many pages. */
  function createLogs() {
    const base = join(place.folder, 'base.db');
    const connection = new SqliteConnection(base);
    connection.pragma(`page_size = ${pageBytes}`);
    connection.pragma('journal_mode = WAL');
    connection.pragma('wal_autocheckpoint = 0');
    connection.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, body BLOB)');
    const insert = connection.prepare('INSERT INTO t (body) VALUES (?)');
    for (let count = 0; count < 3; count += 1) insert.run(Buffer.alloc(350, count));
    const withCommitOf = (pages: number): Buffer => {
      const copy = join(place.folder, `copy-${pages}.db`);
      for (const end of ['', '-wal']) copyFileSync(base + end, copy + end);
      const other = new SqliteConnection(copy);
      other.pragma('wal_autocheckpoint = 0');
      other.prepare('INSERT INTO t (body) VALUES (?)').run(Buffer.alloc(pages * pageBytes, pages));
      const wal = readFileSync(`${copy}-wal`);
      other.close();
      return wal;
    };
    return { connection, committed: readFileSync(`${base}-wal`), withCommitOf };
  }

  it('is sound: each refused transaction was written over the one before, and only their tails are left', () => {
    const { connection, committed, withCommitOf } = createLogs();
    const tries = [20, 12, 6, 2].map(withCommitOf);
    const left = Buffer.from(tries[0] ?? Buffer.alloc(0));
    for (const wal of tries) wal.copy(left);
    expect(left.length).toBe(tries[0]?.length);
    expect(left.subarray(0, committed.length).equals(committed)).toBe(true);
    expect(walFault(left)).toBeNull();
    connection.close();
  });

  it('is sound: a torn transaction over the frames of an older use of the log, which end in commits', () => {
    const { connection } = createLogs();
    const path = join(place.folder, 'base.db');
    const insert = (bytes: number) =>
      connection.prepare('INSERT INTO t (body) VALUES (?)').run(Buffer.alloc(bytes, 7));
    // One page each, so that every old frame is a commit.
    const update = connection.prepare('UPDATE t SET body = ? WHERE id = 1');
    for (let count = 0; count < 20; count += 1) update.run(Buffer.alloc(350, count));
    connection.pragma('wal_checkpoint(FULL)');
    insert(100);
    const synced = readFileSync(`${path}-wal`);
    insert(6000);
    const torn = readFileSync(`${path}-wal`);
    const frame = 24 + pageBytes;
    const changed = Array.from(
      { length: Math.floor((torn.length - 32) / frame) },
      (_value, index) => index,
    ).filter((index) => {
      const [from, to] = [32 + index * frame, 32 + (index + 1) * frame];
      return !torn.subarray(from, to).equals(synced.subarray(from, to));
    });
    expect(changed.length).toBeGreaterThan(5);
    // Of the torn one the first and the third frame did not get to the disk.
    const left = Buffer.from(torn);
    const at = (index: number): number => 32 + (changed[index] ?? 0) * frame;
    for (const index of [0, 2]) synced.copy(left, at(index), at(index), at(index) + frame);
    expect(synced.readUInt32BE(at(0) + 4)).toBeGreaterThan(0);
    expect(walFault(left)).toBeNull();
    connection.close();
  });

  it('is damaged where committed frames are, whatever follows them', () => {
    const { connection, committed, withCommitOf } = createLogs();
    const tries = [12, 6].map(withCommitOf);
    const left = Buffer.from(tries[0] ?? Buffer.alloc(0));
    for (const wal of tries) wal.copy(left);
    const frame = 24 + pageBytes;
    // In the content of the second frame of the log, and in the checksum of the third.
    for (const at of [32 + frame + 500, 32 + 2 * frame + 17]) {
      const bad = Buffer.from(left);
      bad[at] = (bad[at] ?? 0) ^ 1;
      expect(committed.length).toBeGreaterThan(at);
      expect(walFault(bad)).toBe('a frame of the write-ahead log is damaged');
    }
    connection.close();
  });
});

describe('a disk that refuses reads for a while', () => {
  /** SQLite over the real file, whose calls are refused as corrupt as long as there are `refusals` left: all, or those with `word`. */
  function createRefusing(word = ''): { openDatabase: OpenDatabase; refusals: number } {
    const disk = {
      refusals: 0,
      openDatabase: (file: Parameters<OpenDatabase>[0]): Database => {
        const database = openSqlite(file);
        const refuse = (sql: string): void => {
          if (disk.refusals <= 0 || !sql.includes(word)) return;
          disk.refusals -= 1;
          const thrown = Object.assign(new Error('database disk image is malformed'), {
            code: 'SQLITE_CORRUPT',
          });
          throw storageError(thrown, file.path);
        };
        return {
          ...database,
          read: async (statement) => {
            refuse(statement.sql);
            return database.read(statement);
          },
          write: async (batch) => {
            refuse(batch.map(({ sql }) => sql).join());
            return database.write(batch);
          },
        };
      },
    };
    return disk;
  }

  it('costs no file at the start, nor while running', async () => {
    const first = await open(place.path);
    await first.append([record(0, 1), record(3, 2)]);
    await first.close();
    const disk = createRefusing();
    disk.refusals = readingLimits.damageShows - 1;
    const outbox = await open(place.path, { openDatabase: disk.openDatabase });
    disk.refusals = readingLimits.damageShows - 1;
    await outbox.append([record(0, 3)]);
    expect(marksOf(await drain(outbox), 0)).toEqual([1, 3]);
    expect((await outbox.readState()).isIntact).toBe(true);
    await outbox.close();
    expect(evidence()).toEqual([]);
  });

  it('costs no file when it refuses the log of the first commit at a start', async () => {
    const first = await open(place.path);
    await first.append([record(0, 1), record(3, 2)]);
    await first.close();
    const disk = createRefusing('wal_checkpoint');
    disk.refusals = 3;
    const outbox = await open(place.path, { openDatabase: disk.openDatabase });
    expect(disk.refusals).toBe(0);
    expect(marksOf(await drain(outbox), 0)).toEqual([1]);
    expect((await outbox.readState()).isIntact).toBe(true);
    await outbox.close();
    expect(evidence()).toEqual([]);
  });

  it('is no reason to wait for ever: damage that stays is dealt with', async () => {
    const first = await open(place.path);
    await first.append([record(0, 1)]);
    await first.close();
    const disk = createRefusing();
    disk.refusals = readingLimits.damageShows;
    const outbox = await open(place.path, { openDatabase: disk.openDatabase });
    expect(evidence().length).toBeGreaterThan(0);
    await outbox.append([record(0, 2)]);
    await outbox.close();
  });

  it('is counted over starts, from one again once the file was read', () => {
    expect(isReadable(place.path)).toBe(true);
    writeFileSync(place.path, 'something');
    expect(isReadable(place.path)).toBe(true);
    expect([countUnreadable(place.path), countUnreadable(place.path)]).toEqual([1, 2]);
    clearUnreadable(place.path);
    expect(countUnreadable(place.path)).toBe(1);
    expect(readdirSync(dirname(place.path))).toContain(`${basename(place.path)}.unreadable`);
    clearUnreadable(place.path);
    expect(existsSync(`${place.path}.unreadable`)).toBe(false);
  });
});
