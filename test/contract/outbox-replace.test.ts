// A file that turns out damaged while the outbox runs is replaced, and the work goes on in the new one, in which the same
// row numbers mean other events. Nothing of the old numbering may reach the new file, and what is not salvaged yet when
// the new file is damaged in its turn is salvaged all the same.
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { closeFile, openFile } from '../../agent/outbox/file/outbox-file.ts';
import type { Outbox } from '../../agent/outbox.ts';
import { openSqlite, type SqliteOptions } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Clock } from '../../src/ports.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { drain, impatientClock, marksOf, open, record, settle } from '../support/storage/outbox-bench.ts';
import { useOutboxPlace } from '../support/storage/outbox-place.ts';

const place = useOutboxPlace();

const corrupt = (): AppError =>
  new AppError('storage', 'database disk image is malformed', {
    cause: Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }),
  });

/** A disk on which the file can be declared damaged: every call on it says so until another file is opened. */
function createBreakable() {
  const state = { isDamaged: false };
  return {
    damage: () => void (state.isDamaged = true),
    openDatabase: (file: SqliteOptions) => {
      if (!file.path.endsWith('.salvage')) state.isDamaged = false;
      const database = openSqlite(file);
      const guard = <T>(work: () => Promise<T>): Promise<T> =>
        state.isDamaged && !file.path.endsWith('.salvage') ? Promise.reject(corrupt()) : work();
      return {
        read: (statement: Parameters<typeof database.read>[0]) => guard(() => database.read(statement)),
        write: (batch: Parameters<typeof database.write>[0]) => guard(() => database.write(batch)),
        close: () => database.close(),
      };
    },
  };
}

/** Background work runs only from `go` on. */
function createHeldClock(): Clock & { go(): void } {
  const clock = createSystemClock();
  let held: (() => void)[] | null = [];
  return {
    ...clock,
    after(delayMs, run) {
      if (held === null) return clock.after(delayMs, run);
      held.push(run);
      return () => undefined;
    },
    go() {
      const runs = held ?? [];
      held = null;
      for (const run of runs) run();
    },
  };
}

async function appendMarks(outbox: Outbox, from: number, count: number): Promise<void> {
  await outbox.append(Array.from({ length: count }, (_value, index) => record(3, from + index)));
}

const marks = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_value, index) => from + index);

it('an acknowledgement from before never takes away an event of another boot', async () => {
  // Boots 1, 2 and 3; the first is delivered and forgotten, so that the others move up in the new file.
  const first = await open(place.path, { boot: 'first' });
  await appendMarks(first, 1, 3);
  await first.acknowledge('first', [[1, 3]]);
  await first.close();
  const second = await open(place.path, { boot: 'second' });
  await appendMarks(second, 100, 30);
  await second.close();
  const third = await open(place.path, { boot: 'third' });
  await appendMarks(third, 200, 30);
  await third.close();

  const disk = createBreakable();
  const outbox = await open(place.path, { boot: 'fourth', openDatabase: disk.openDatabase });
  await outbox.acknowledge('second', [[1, 30]]);
  disk.damage();
  await appendMarks(outbox, 300, 1);
  await settle(outbox);
  await outbox.acknowledge('fourth', [[1, 1]]);
  await outbox.close();

  const after = await open(place.path);
  const found = marksOf(await drain(after), 3);
  await after.close();
  expect(found.filter((mark) => mark >= 200 && mark < 300)).toEqual(marks(200, 30));
});

it('what was being given up when the damage showed is not counted as dropped, and comes back', async () => {
  const outboxBytes = 1024 * 1024;
  const disk = createBreakable();
  const outbox = await open(place.path, { openDatabase: disk.openDatabase, maxBytes: outboxBytes });
  for (let mark = 0; mark < 4000; mark += 100) await appendMarks(outbox, mark, 100);
  const { dropped } = await outbox.stats();
  expect(dropped[3]).toBe(0);
  disk.damage();
  await outbox.append([record(0, 9000)]);
  await settle(outbox);
  const batches = await drain(outbox);
  const after = await outbox.stats();
  expect(marksOf(batches, 3).length + after.dropped[3]).toBe(4000);
  expect(marksOf(batches, 0)).toEqual([9000]);
  await outbox.close();
});

it('damage before the salvage of an earlier one is done loses nothing of either', async () => {
  const clock = createHeldClock();
  const disk = createBreakable();
  const outbox = await open(place.path, { clock, openDatabase: disk.openDatabase });
  await appendMarks(outbox, 1, 50);
  disk.damage();
  await appendMarks(outbox, 51, 50);
  disk.damage();
  await appendMarks(outbox, 101, 50);
  clock.go();
  await settle(outbox);
  expect(marksOf(await drain(outbox), 3)).toEqual(marks(1, 150));
  expect(
    readdirSync(place.folder).filter((name) => /\.damaged-[0-9TZ]+-[0-9a-f]{8}$/.test(name)),
  ).toHaveLength(2);
  await outbox.close();
});

it('drops that were not reported yet are reported from the new file', async () => {
  const disk = createBreakable();
  const outbox = await open(place.path, { openDatabase: disk.openDatabase, maxBytes: 1024 * 1024 });
  for (let mark = 0; mark < 14_000; mark += 100) await appendMarks(outbox, mark, 100);
  const before = (await outbox.stats()).dropped[3];
  expect(before).toBeGreaterThan(0);
  await outbox.close();
  const again = await open(place.path, { openDatabase: disk.openDatabase, maxBytes: 1024 * 1024 });
  disk.damage();
  await again.append([record(0, 20_000)]);
  await settle(again);
  const reports = (await drain(again)).flatMap((batch) =>
    batch.events.filter(({ statusCode }) => statusCode === 4376),
  );
  const { dropped } = await again.stats();
  expect(dropped[3]).toBeGreaterThanOrEqual(before);
  expect(reports.reduce((sum, { attributes }) => sum + Number(attributes?.['count']), 0)).toBe(dropped[3]);
  await again.close();
});

/** A file that a replacement made and that no run has used yet. */
async function makeUnused(): Promise<void> {
  const { entropy, clock } = { entropy: createSystemEntropy(), clock: createSystemClock() };
  const opened = await openFile(
    { path: place.path, maxBytes: 1024 * 1024, clock, entropy, openDatabase: openSqlite },
    true,
  );
  if (!opened.ok) throw new Error(opened.fault.reason);
  await closeFile(opened.database);
}

const damaged = (index: number): string => `${place.path}.damaged-20261125T00000${index}Z-0000000${index}`;

it.each([
  ['the note of the replacement is gone', null],
  ['the note names the unused file', 2],
] as const)('what was set aside is salvaged when %s', async (_name, noted) => {
  const first = await open(place.path);
  await appendMarks(first, 1, 50);
  await first.close();
  renameSync(place.path, damaged(1));
  await makeUnused();
  if (noted !== null) {
    renameSync(place.path, damaged(noted));
    const note = { evidence: basename(damaged(noted)), reason: 'malformed' };
    writeFileSync(`${place.path}.replacing`, JSON.stringify(note));
  }
  const outbox = await open(place.path);
  await settle(outbox);
  expect(marksOf(await drain(outbox), 3)).toEqual(marks(1, 50));
  expect(existsSync(`${place.path}.replacing`)).toBe(false);
  await outbox.close();
});

it('a note of a replacement that the disk does not give is waited for, and nothing is begun anew', async () => {
  const first = await open(place.path);
  await appendMarks(first, 1, 50);
  await first.close();
  renameSync(place.path, damaged(1));
  await makeUnused();
  // A read of a folder fails as one of a bad sector does.
  mkdirSync(`${place.path}.replacing`);
  const before = readdirSync(place.folder).sort();
  await expect(open(place.path)).rejects.toMatchObject({ code: 'storage' });
  expect(readdirSync(place.folder).sort()).toEqual(before);
  rmdirSync(`${place.path}.replacing`);
  const outbox = await open(place.path);
  await settle(outbox);
  expect(marksOf(await drain(outbox), 3)).toEqual(marks(1, 50));
  await outbox.close();
});

it('a set-aside file that the disk does not give is searched again', async () => {
  const first = await open(place.path);
  await appendMarks(first, 1, 50);
  await first.close();
  renameSync(place.path, `${place.folder}/kept`);
  await makeUnused();
  mkdirSync(damaged(1));
  const later: (() => void)[] = [];
  const clock: Clock = {
    ...impatientClock,
    after(delayMs, run) {
      if (delayMs < 1000) return impatientClock.after(delayMs, run);
      later.push(run);
      return () => undefined;
    },
  };
  const outbox = await open(place.path, { clock });
  await waitUntil('the time until the next search', () => later.length > 0);
  expect(await outbox.stats()).toMatchObject({ isExact: false, queued: [0, 1, 0, 0] });
  rmdirSync(damaged(1));
  renameSync(`${place.folder}/kept`, damaged(1));
  later.shift()?.();
  await settle(outbox);
  expect(marksOf(await drain(outbox), 3)).toEqual(marks(1, 50));
  await outbox.close();
});
