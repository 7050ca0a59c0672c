// The outbox on the real SQLite adapter: nothing appended is lost before it is acknowledged or reported as dropped.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeRow, rowId } from '../../agent/core/outbox/outbox-row.ts';
import { pageBytes } from '../../agent/core/outbox/page-carving.ts';
import { putState, rows, trustState } from '../../agent/outbox/file/outbox-schema.ts';
import { connectSqlite, openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Priority } from '../../src/core/events/status-codes.ts';
import {
  createFolder,
  drain,
  impatientClock,
  marksOf,
  open,
  record,
  settle,
} from '../support/storage/outbox-bench.ts';
import { useOutboxPlace } from '../support/storage/outbox-place.ts';

const place = useOutboxPlace();
const { opened } = place;

/** A copy of the files as a power cut would leave them, in a folder of its own. */
function crashCopy(): string {
  const folder = join(place.folder, `copy-${readdirSync(place.folder).length}`);
  mkdirSync(folder);
  for (const suffix of ['', '-wal']) {
    if (existsSync(place.path + suffix)) cpSync(place.path + suffix, join(folder, `outbox.db${suffix}`));
  }
  return join(folder, 'outbox.db');
}

describe('appending and sending', () => {
  it('numbers events 1, 2, 3 over all classes and returns urgent ones first', async () => {
    const outbox = await opened();
    const stored = await outbox.append([record(3, 1), record(0, 2), record(2, 3), record(3, 4)]);
    expect(stored.map((event) => event.seq)).toEqual([1, 2, 3, 4]);
    const batches = await drain(outbox);
    expect(batches.map((batch) => [batch.priority, batch.events.map((event) => event.seq)])).toEqual([
      [0, [2]],
      [2, [3]],
      [3, [1]],
      [3, [4]],
    ]);
    expect(await outbox.next({ limit: 10, bytes: 1000 })).toBeNull();
  });

  it('counts as queued what is stored and not acknowledged, before the rows are deleted too', async () => {
    const outbox = await opened();
    const want = { limit: 10, bytes: 60_000 };
    await outbox.append([record(3, 1), record(3, 2), record(3, 3), record(1, 4)]);
    const { boot = '' } = (await outbox.next(want)) ?? {};
    await outbox.acknowledge(boot, [[4, 4]]);
    expect((await outbox.stats()).queued).toEqual([0, 0, 0, 3]);
    await outbox.next(want);
    await outbox.acknowledge(boot, [[1, 2]]);
    await outbox.acknowledge(boot, [[1, 2]]);
    expect((await outbox.stats()).queued).toEqual([0, 0, 0, 1]);
    // The link breaks; the acknowledgement of the last one is repeated by the next session.
    await outbox.rewind();
    await outbox.acknowledge(boot, [[3, 3]]);
    expect(await outbox.next(want)).toBeNull();
    expect((await outbox.stats()).queued).toEqual([0, 0, 0, 0]);
    await outbox.append([record(3, 5)]);
    expect((await outbox.stats()).queued).toEqual([0, 0, 0, 1]);
  });

  it('counts what an earlier run acknowledged in time as delivered', async () => {
    const before = await opened();
    await before.append([record(3, 1), record(3, 2)]);
    const { boot = '' } = (await before.next({ limit: 1, bytes: 60_000 })) ?? {};
    await before.acknowledge(boot, [[1, 1]]);
    await before.close();
    const after = await opened({ boot: 'later' });
    await settle(after);
    expect((await after.stats()).queued).toEqual([0, 0, 0, 1]);
    const batch = await after.next({ limit: 10, bytes: 60_000 });
    await after.acknowledge(batch?.boot ?? '', [[2, 2]]);
    expect((await after.stats()).queued).toEqual([0, 0, 0, 0]);
  });

  it('returns events in flight again only after a rewind', async () => {
    const outbox = await opened();
    await outbox.append([record(3, 1), record(3, 2), record(3, 3)]);
    const want = { limit: 2, bytes: 60_000 };
    expect((await outbox.next(want))?.events.map((event) => event.seq)).toEqual([1, 2]);
    await outbox.append([record(0, 4)]);
    expect((await outbox.next(want))?.events.map((event) => event.seq)).toEqual([4]);
    expect((await outbox.next(want))?.events.map((event) => event.seq)).toEqual([3]);
    await outbox.rewind();
    expect((await outbox.next(want))?.events.map((event) => event.seq)).toEqual([4]);
    // The newest position is wanted before the way to it.
    expect((await outbox.next({ ...want, skip: [0] }))?.events.map((event) => event.seq)).toEqual([3]);
    expect((await outbox.next({ ...want, skip: [0] }))?.events.map((event) => event.seq)).toEqual([1, 2]);
  });

  it('after an outage gives what is urgent, then what happens now, and the backlog as far as it is wanted', async () => {
    const outbox = await opened();
    await outbox.append([record(3, 1), record(2, 2), record(1, 3), record(3, 4), record(0, 5)]);
    await outbox.rewind();
    await outbox.append([record(2, 6), record(3, 7)]);
    const want = { limit: 2, bytes: 60_000 };
    const given: [number, boolean, readonly number[]][] = [];
    const take = async (backlog: number): Promise<boolean> => {
      const batch = await outbox.next({ ...want, backlog });
      if (batch !== null)
        given.push([batch.priority, batch.isBacklog, batch.events.map((event) => event.seq)]);
      return batch !== null;
    };
    while (await take(0)) continue;
    expect(given).toEqual([
      [0, false, [5]],
      [1, false, [3]],
      [2, false, [6]],
      [3, false, [4, 7]],
    ]);
    given.length = 0;
    while (await take(1)) continue;
    expect(given).toEqual([
      [2, true, [2]],
      [3, true, [1]],
    ]);
  });

  it('gives events of the wanted boot only, and keeps those of others for the next call', async () => {
    const before = await opened();
    await before.append([record(3, 1)]);
    await before.close();
    const outbox = await opened();
    const [event] = await outbox.append([record(3, 2)]);
    const want = { limit: 10, bytes: 60_000 };
    expect(await outbox.next({ ...want, boot: 'another' })).toBeNull();
    const first = await outbox.next(want);
    expect(first?.events.map(({ upMs }) => upMs)).toEqual([1]);
    expect(await outbox.next({ ...want, boot: first?.boot ?? '' })).toBeNull();
    expect((await outbox.next(want))?.events.map(({ seq }) => seq)).toEqual([event?.seq]);
    await outbox.close();
  });

  it('gives at least one event however small the byte limit', async () => {
    const outbox = await opened();
    await outbox.append([record(3, 1), record(3, 2)]);
    expect((await outbox.next({ limit: 10, bytes: 1 }))?.events).toHaveLength(1);
  });

  it('never lets an acknowledgement delete numbers that are given away later', async () => {
    const outbox = await opened();
    await outbox.append([record(3, 1)]);
    const boot = (await drain(outbox))[0]?.boot ?? '';
    await outbox.acknowledge(boot, [[0, 1000]]);
    await outbox.append([record(3, 2)]);
    await outbox.acknowledge('another', [[1, 1000]]);
    expect(marksOf(await drain(outbox), 3)).toEqual([2]);
  });

  it('fills in UTC that became known later, also for a boot that is over', async () => {
    const first = await opened();
    const { event, priority } = record(2, 500);
    await first.append([{ priority, event: { ...event, timestamp: null, timeQuality: 'none' } }]);
    expect((await drain(first))[0]?.events[0]?.timestamp).toBeNull();
    await first.setOrigin(1_763_000_000_000, 'server');
    expect((await drain(first))[0]?.events[0]).toMatchObject({
      timestamp: 1_763_000_000_500,
      timeQuality: 'server',
    });
    await first.close();
    const second = await opened();
    await second.setOrigin(1_800_000_000_000, 'gnss');
    expect((await drain(second))[0]?.events[0]).toMatchObject({
      timestamp: 1_763_000_000_500,
      timeQuality: 'server',
    });
  });

  it('commits extra statements with the events or not at all', async () => {
    const outbox = await opened();
    await outbox.append([record(0, 1)], [putState('counter', '7')]);
    const broken = { sql: 'INSERT INTO state (key) VALUES ($1)', params: ['half'] };
    await expect(outbox.append([record(0, 2)], [putState('counter', '8'), broken])).rejects.toBeInstanceOf(
      AppError,
    );
    expect((await outbox.readState()).values.get('counter')).toBe('7');
    expect((await outbox.append([record(0, 3)]))[0]?.seq).toBe(2);
    expect(marksOf(await drain(outbox), 0)).toEqual([1, 3]);
  });

  it('refuses an event that the broker would refuse, and stores nothing', async () => {
    const outbox = await opened();
    const { event } = record(3, 1);
    await expect(
      outbox.append([record(3, 0), { priority: 3, event: { ...event, latitude: 91 } }]),
    ).rejects.toThrow('latitude must be');
    expect(await drain(outbox)).toEqual([]);
  });

  it('refuses a boot id that was used before', async () => {
    await (await opened({ boot: 'same' })).close();
    await expect(open(place.path, { boot: 'same' })).rejects.toThrow('was used before');
  });
});

interface Model {
  /** Marks per class, appended and neither acknowledged nor reported as dropped. */
  readonly live: Map<number, { priority: Priority; boot: string; seq: number }>;
}

type Step =
  | { readonly kind: 'append'; readonly classes: readonly Priority[] }
  | { readonly kind: 'next'; readonly limit: number }
  | { readonly kind: 'ack'; readonly share: number }
  | { readonly kind: 'rewind' | 'restart' | 'crash' };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      classes: fc.array(fc.constantFrom<Priority>(0, 1, 2, 3), { minLength: 1, maxLength: 12 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('next' as const), limit: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ack' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: 'rewind' }, { kind: 'restart' }, { kind: 'crash' }) },
);

describe('any order of appending, sending, acknowledging, restarting and crashing', () => {
  it('loses nothing, keeps the order of each class, and repeats nothing acknowledged unless it crashed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 40 }), async (steps) => {
        const here = createFolder();
        let path = here.path;
        let outbox = await open(path);
        const model: Model = { live: new Map() };
        const order: number[] = [];
        /** Acknowledged for good; and acknowledged before a crash, so perhaps still there. */
        const acknowledged = new Set<number>();
        const maybe = new Set<number>();
        let mark = 0;
        let sent: { boot: string; seqs: number[]; marks: number[] }[] = [];
        let lastMark: number[] = [];
        const restarted = () => {
          sent = [];
          lastMark = [];
        };
        try {
          for (const step of steps) {
            if (step.kind === 'append') {
              const records = step.classes.map((priority) => record(priority, mark++));
              const stored = await outbox.append(records);
              for (const [index, event] of stored.entries()) {
                model.live.set(event.upMs ?? -1, {
                  priority: records[index]?.priority ?? 0,
                  boot: '',
                  seq: event.seq,
                });
                order.push(event.upMs ?? -1);
              }
            } else if (step.kind === 'next') {
              const batch = await outbox.next({ limit: step.limit, bytes: 60_000 });
              if (batch === null) continue;
              const marks = batch.events.map((event) => event.upMs ?? -1);
              for (const one of marks) {
                expect(model.live.has(one) || maybe.has(one)).toBe(true);
                // In order within what is live, and within the backlog.
                const lane = batch.priority + (batch.isBacklog ? 4 : 0);
                expect(one).toBeGreaterThan(lastMark[lane] ?? -1);
                lastMark[lane] = one;
              }
              sent.push({ boot: batch.boot, seqs: batch.events.map((event) => event.seq), marks });
            } else if (step.kind === 'ack') {
              const one = sent[Math.floor(step.share * (sent.length - 0.001))];
              if (one === undefined) continue;
              await outbox.acknowledge(
                one.boot,
                one.seqs.map((seq) => [seq, seq] as const),
              );
              for (const gone of one.marks) {
                model.live.delete(gone);
                maybe.delete(gone);
                acknowledged.add(gone);
              }
            } else if (step.kind === 'rewind') {
              await outbox.rewind();
              restarted();
            } else if (step.kind === 'restart') {
              await outbox.close();
              outbox = await open(path);
              restarted();
            } else {
              const copy = join(here.folder, `c${readdirSync(here.folder).length}.db`);
              for (const suffix of ['', '-wal']) cpSync(path + suffix, copy + suffix);
              for (const one of acknowledged) maybe.add(one);
              acknowledged.clear();
              await outbox.close();
              path = copy;
              outbox = await open(path);
              restarted();
            }
          }
          const left = await drain(outbox);
          for (const priority of [0, 1, 2, 3] as const) {
            const expected = order.filter((one) => model.live.get(one)?.priority === priority);
            expect(marksOf(left, priority).filter((one) => !maybe.has(one))).toEqual(expected);
          }
          // The accounts agree with the rows: nothing is ever taken for damage that is none.
          await outbox.close();
          outbox = await open(path, { clock: impatientClock });
          await settle(outbox);
          expect(evidenceCount(here.folder)).toBe(0);
        } finally {
          await outbox.close();
          here.remove();
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('a disk that fails', () => {
  const fault = (): AppError =>
    new AppError('storage', 'disk', {
      cause: Object.assign(new Error('io'), { code: 'SQLITE_IOERR_FSYNC' }),
    });

  it.each(['before', 'after'])(
    'at any one write, %s the commit: nothing acknowledged is lost, no number given twice',
    async (when) => {
      for (let failing = 1; failing <= 12; failing++) {
        const here = createFolder();
        onTestFinished(() => here.remove());
        let writes = -1_000_000;
        const outbox = await open(here.path, {
          openDatabase: (file) => {
            const database = openSqlite(file);
            return {
              ...database,
              write: async (batch) => {
                writes += 1;
                if (writes !== failing) return database.write(batch);
                if (when === 'after') await database.write(batch);
                throw fault();
              },
            };
          },
        });
        writes = 0;
        const stored: number[] = [];
        const refused: number[] = [];
        for (let mark = 0; mark < 12; mark++) {
          try {
            await outbox.append([record((mark % 4) as Priority, mark)]);
            stored.push(mark);
          } catch {
            refused.push(mark);
          }
        }
        const batches = await drain(outbox);
        const found = batches.flatMap((batch) => batch.events);
        const marks = found.map((event) => event.upMs ?? -1).sort((a, b) => a - b);
        expect(refused).toHaveLength(1);
        expect(marks).toEqual(when === 'after' ? [...stored, ...refused].sort((a, b) => a - b) : stored);
        expect(new Set(found.map((event) => event.seq)).size).toBe(found.length);
        await outbox.close();
      }
    },
  );

  const canMount = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0;
  it.skipIf(!canMount)(
    `that others filled still takes urgent events${canMount ? '' : ' [skipped: needs root to mount]'}`,
    async (context) => {
      const folder = join(place.folder, 'small');
      mkdirSync(folder);
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status !== 0)
        context.skip('cannot mount a tmpfs');
      try {
        const outbox = await open(join(folder, 'outbox.db'), { maxBytes: 2 * 1024 * 1024 });
        let mark = 0;
        const refused: string[] = [];
        for (; mark < 12_000; mark += 40) {
          const positions = Array.from({ length: 40 }, (_value, index) => record(3, mark + index));
          await outbox.append(positions).catch((thrown: unknown) => refused.push(String(thrown)));
        }
        for (let urgent = 0; urgent < 200; urgent++) await outbox.append([record(0, 100_000 + urgent)]);
        const { dropped, queued } = await outbox.stats();
        const batches = await drain(outbox);
        console.info('disk of 1 MiB', { dropped, queued, refused: refused.length });
        expect(marksOf(batches, 0)).toHaveLength(200);
        expect(dropped[3]).toBeGreaterThan(0);
        expect(marksOf(batches, 3).length + dropped[3]).toBe(12_000 - refused.length * 40);
        await outbox.close();
      } finally {
        spawnSync('umount', ['--lazy', folder]);
      }
    },
  );
});

describe('what the agent keeps', () => {
  it('survives a restart and a crash', async () => {
    const outbox = await opened();
    await outbox.append([], [putState('relay', 'cut'), putState('counter', '12')]);
    const copy = crashCopy();
    await outbox.close();
    for (const path of [place.path, copy]) {
      const again = await opened({}, path);
      const state = await again.readState();
      expect(state.isIntact).toBe(true);
      expect([...state.values]).toEqual([
        ['counter', '12'],
        ['relay', 'cut'],
      ]);
    }
  });

  it('writes one page for a changed value of 450 characters', async () => {
    const outbox = await opened();
    const logBytes = () => statSync(`${place.path}-wal`).size;
    const keep = (digit: string) =>
      outbox.append([], [putState('memory', digit.repeat(450)), putState('evidence', 'x')]);
    await keep('1');
    await keep('2');
    const before = logBytes();
    await keep('3');
    // A frame of the log: 24 bytes and the page.
    expect(logBytes() - before).toBe(24 + pageBytes);
    await outbox.close();
  });
});

/** Fills an outbox so that every class spans many pages, and leaves the files as a power cut would. */
async function filled(isCheckpointed: boolean): Promise<{ path: string; marks: number[][] }> {
  const outbox = await opened();
  const marks: number[][] = [[], [], [], []];
  for (let mark = 0; mark < 1200; mark += 40) {
    const records = Array.from({ length: 40 }, (_value, index) =>
      record(((mark + index) % 4) as Priority, mark + index),
    );
    await outbox.append(records);
    for (const one of records) marks[one.priority]?.push(one.event.upMs ?? -1);
  }
  await outbox.append([], [putState('relay', 'cut')]);
  if (isCheckpointed) await outbox.close();
  return { path: isCheckpointed ? place.path : crashCopy(), marks };
}

function patch(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function replacements(batches: Awaited<ReturnType<typeof drain>>) {
  return batches.flatMap((batch) => batch.events.filter((event) => event.statusCode === 4377));
}

describe('a damaged file', () => {
  const flip = (path: string, at: number): void => {
    const byte = readFileSync(path)[at] ?? 0;
    patch(path, at, Uint8Array.of(byte ^ 0x10));
  };
  const cases: {
    name: string;
    damage: (path: string) => void;
    isCheckpointed: boolean;
    keepsState: boolean;
    lostMost: number;
  }[] = [
    {
      name: 'a garbage header',
      isCheckpointed: true,
      keepsState: true,
      lostMost: 0,
      damage: (path) => patch(path, 0, Buffer.alloc(100, 0xa5)),
    },
    {
      name: 'a zeroed root page of positions',
      isCheckpointed: true,
      keepsState: true,
      lostMost: 0,
      damage: (path) => patch(path, pageBytes * 5, Buffer.alloc(pageBytes)),
    },
    {
      name: 'a file cut to half',
      isCheckpointed: true,
      keepsState: false,
      lostMost: 700,
      damage: (path) => truncateSync(path, Math.floor(statSync(path).size / (2 * pageBytes)) * pageBytes),
    },
    {
      name: 'an empty file',
      isCheckpointed: true,
      keepsState: false,
      lostMost: 1200,
      damage: (path) => truncateSync(path, 0),
    },
    {
      name: 'a missing write-ahead log',
      isCheckpointed: false,
      keepsState: false,
      lostMost: 1200,
      damage: (path) => rmSync(`${path}-wal`),
    },
    {
      name: 'a flipped bit in the write-ahead log',
      isCheckpointed: false,
      keepsState: false,
      lostMost: 0,
      damage: (path) => flip(`${path}-wal`, 32 + (24 + pageBytes) * 40 + 30),
    },
  ];
  it.each(cases)(
    '$name: opens, says so, keeps the evidence and salvages',
    async ({ damage, isCheckpointed, keepsState, lostMost }) => {
      const { path, marks } = await filled(isCheckpointed);
      damage(path);
      const evidenceBytes = existsSync(path) ? readFileSync(path) : null;
      const outbox = await opened({}, path);
      const state = await outbox.readState();
      expect(state.isIntact).toBe(keepsState);
      if (keepsState) expect(state.values.get('relay')).toBe('cut');
      else expect(['cut', undefined]).toContain(state.values.get('relay'));
      await outbox.append([record(0, 5000)]);
      await settle(outbox);
      const batches = await drain(outbox);
      expect(replacements(batches).map((event) => event.attributes?.['phase'])).toEqual([
        'replaced',
        'salvaged',
      ]);
      const evidence = readdirSync(join(path, '..')).filter((name) =>
        /\.damaged-[0-9TZ]+-[0-9a-f]{8}$/.test(name),
      );
      expect(evidence).toHaveLength(1);
      if (evidenceBytes !== null)
        expect(readFileSync(join(path, '..', evidence[0] ?? '')).equals(evidenceBytes)).toBe(true);
      let lost = 0;
      for (const priority of [0, 1, 2, 3] as const) {
        const found = marksOf(batches, priority).filter((mark) => mark !== 5000);
        expect(found).toEqual([...found].sort((a, b) => a - b));
        lost += (marks[priority]?.length ?? 0) - found.length;
      }
      expect(lost).toBeLessThanOrEqual(lostMost);
      expect(marksOf(batches, 0)).toContain(5000);
      await outbox.append([], [trustState()]);
      expect((await outbox.readState()).isIntact).toBe(true);
    },
  );

  it('a flipped bit within one row costs that row only, and the loss is reported', async () => {
    const { path, marks } = await filled(true);
    const bytes = readFileSync(path);
    const victim = bytes.indexOf(Buffer.from('boot-'), Math.floor(bytes.length / 2));
    flip(path, victim + 2);
    const outbox = await opened({}, path);
    await settle(outbox);
    const batches = await drain(outbox);
    const found = [0, 1, 2, 3].flatMap((priority) => marksOf(batches, priority as Priority));
    expect(found.length).toBe(marks.flat().length - 1);
    const reports = (await drain(outbox)).flatMap((batch) =>
      batch.events.filter((event) => event.statusCode === 4376),
    );
    expect(reports.map((event) => event.attributes)).toMatchObject([{ reason: 'damaged', count: 1 }]);
  });

  it('damage that shows only while running is dealt with then', async () => {
    const { path } = await filled(true);
    const outbox = await opened({}, path);
    await settle(outbox);
    patch(path, pageBytes * 5, Buffer.alloc(pageBytes));
    // SQLite keeps pages in memory; a second connection that writes makes it read them again.
    const other = connectSqlite({ path, pageSize: 512 });
    other.write([putState('other', '1')]);
    other.close();
    await drain(outbox);
    await outbox.append([record(3, 5000), record(0, 5001)]);
    await settle(outbox);
    const batches = await drain(outbox);
    expect(replacements(batches)).toHaveLength(2);
    expect(marksOf(batches, 3)).toHaveLength(301);
    expect(marksOf(batches, 0)).toHaveLength(301);
  });

  it('never opens in memory instead: a missing or read-only folder is a clear error', async () => {
    await expect(open(join(place.folder, 'none', 'outbox.db'))).rejects.toMatchObject({ code: 'storage' });
    const folder = join(place.folder, 'locked');
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    if (process.getuid?.() !== 0) {
      await expect(open(join(folder, 'outbox.db'))).rejects.toMatchObject({ code: 'storage' });
    }
  });
});

describe('a full outbox', () => {
  it('stays below its cap with the log, thins positions, keeps every urgent event and reports each drop', async () => {
    const maxBytes = 2 * 1024 * 1024;
    const outbox = await opened({ maxBytes });
    let mark = 0;
    let most = 0;
    const appended = [0, 0, 0, 0];
    for (let round = 0; round < 800; round++) {
      const records = Array.from({ length: 40 }, () => record(3, mark++));
      if (round % 4 === 0) records.push(record(2, mark++), record(1, mark++), record(0, mark++));
      await outbox.append(records);
      for (const one of records) appended[one.priority] = (appended[one.priority] ?? 0) + 1;
      most = Math.max(most, (await outbox.stats()).bytes);
    }
    const { dropped } = await outbox.stats();
    const batches = await drain(outbox);
    const queued = [0, 1, 2, 3].map((priority) => marksOf(batches, priority as Priority).length);
    console.info('cap', { maxBytes, most, appended, queued, dropped });
    expect(most).toBeLessThanOrEqual(maxBytes);
    expect(queued[0]).toBe(appended[0]);
    for (const priority of [0, 1, 2, 3] as const)
      expect((queued[priority] ?? 0) + dropped[priority]).toBe(appended[priority]);
    expect(dropped[2] + dropped[1]).toBe(0);
    const positions = marksOf(batches, 3);
    expect(positions.at(-1)).toBeGreaterThan(mark - 45);
    expect(new Set(positions).size).toBe(positions.length);
    const reports = batches.flatMap((batch) => batch.events.filter((event) => event.statusCode === 4376));
    expect(reports.reduce((sum, event) => sum + Number(event.attributes?.['count']), 0)).toBe(dropped[3]);
    expect((await outbox.stats()).queued[3]).toBe(positions.length);
  });

  it('gives up urgent events only when nothing else is left, oldest first', async () => {
    const outbox = await opened({ maxBytes: 1024 * 1024 });
    await outbox.append([record(1, 1), record(2, 2), record(3, 3)]);
    for (let mark = 10; mark < 14_010; mark += 100) {
      await outbox.append(Array.from({ length: 100 }, (_value, index) => record(0, mark + index)));
    }
    const batches = await drain(outbox);
    const kept = marksOf(batches, 0);
    const { dropped, bytes } = await outbox.stats();
    expect(marksOf(batches, 1).length + marksOf(batches, 2).length + marksOf(batches, 3).length).toBe(0);
    expect(dropped[0]).toBeGreaterThan(0);
    expect(kept.length + dropped[0]).toBe(14_000);
    expect(kept.at(-1)).toBe(14_009);
    expect(bytes).toBeLessThanOrEqual(1024 * 1024);
    // A position that comes now finds no room and is counted, and no urgent event goes for it.
    await outbox.append([record(3, 20_000)]);
    expect((await outbox.stats()).dropped[0]).toBe(dropped[0]);
  });
});

function evidenceCount(folder: string): number {
  return readdirSync(folder).filter((name) => name.includes('.damaged-')).length;
}

describe('cost', () => {
  it('reads by seeking, whatever is queued', async () => {
    const plans: string[] = [];
    const outbox = await opened({
      openDatabase: (file) => {
        const database = openSqlite(file);
        return {
          ...database,
          read: async (statement) => {
            if (/p[0-3]/.test(statement.sql)) {
              const plan = await database.read({
                sql: `EXPLAIN QUERY PLAN ${statement.sql}`,
                params: statement.params,
              });
              plans.push(...plan.map((row) => `${String(row['detail'])} | ${statement.sql}`));
            }
            return database.read(statement);
          },
        };
      },
    });
    await outbox.append([record(3, 1)]);
    await drain(outbox);
    const scans = plans.filter((plan) => plan.startsWith('SCAN') && !plan.includes('LIMIT'));
    expect(plans.length).toBeGreaterThan(4);
    expect(scans).toEqual([]);
    expect(plans.filter((plan) => plan.includes('TEMP B-TREE') || plan.includes('count('))).toEqual([]);
  });

  it('opens with 1,000,000 queued as with none', async () => {
    const first = await opened({ maxBytes: 512 * 1024 * 1024, boot: 'old' });
    await first.append([record(3, 1)]);
    await first.close();
    const raw = connectSqlite({ path: place.path, pageSize: 512 });
    const { event } = record(3, 1);
    const rowAt = (seq: number) => {
      const body = encodeRow({ boot: 'old', priority: 3, event: { ...event, seq } });
      return rows.insert(3, { id: rowId(1, seq), body });
    };
    // The ends are real; what lies between is not looked at, as the walk in the background does not run here.
    raw.write([...Array.from({ length: 1000 }, (_value, index) => rowAt(index + 2)), rowAt(1_000_001)]);
    raw.write([
      {
        sql: 'WITH RECURSIVE n(i) AS (SELECT 1002 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) INSERT INTO p3 (id, body) SELECT (SELECT min(id) FROM p3) - 1 + i, (SELECT body FROM p3 LIMIT 1) FROM n',
        params: [],
      },
    ]);
    raw.close();
    const cost = async (path: string): Promise<{ ms: number; bytesRead: number }> => {
      const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
      const before = bytesRead();
      const startMs = performance.now();
      const clock = { ...createSystemClock(), after: () => () => undefined };
      const outbox = await open(path, { maxBytes: 512 * 1024 * 1024, clock });
      await outbox.append([record(0, 1)]);
      expect((await outbox.next({ limit: 50, bytes: 60_000 }))?.priority).toBe(0);
      await outbox.next({ limit: 50, bytes: 60_000 });
      const result = { ms: performance.now() - startMs, bytesRead: bytesRead() - before };
      expect((await outbox.readState()).isIntact).toBe(true);
      await outbox.close();
      return result;
    };
    const full = await cost(place.path);
    expect(evidenceCount(place.folder)).toBe(0);
    const none = createFolder();
    onTestFinished(() => none.remove());
    await (await open(none.path)).close();
    const empty = await cost(none.path);
    console.info('start, bytes read and ms', { full, empty });
    expect(full.bytesRead).toBeLessThan(200 * 1024);
  });

  it('writes little (figures printed: alone and in windows of 6)', async () => {
    const written = () => Number(/wchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const figures: Record<string, number> = {};
    for (const size of [1, 6, 25]) {
      const here = createFolder();
      onTestFinished(() => here.remove());
      const outbox = await open(here.path);
      await settle(outbox);
      // The first append also sets space aside, once for ever.
      await outbox.append([record(3, 0)]);
      const before = written();
      let mark = 0;
      for (let commit = 0; commit < 600 / size; commit++) {
        await outbox.append(Array.from({ length: size }, () => record(size === 1 ? 2 : 3, mark++)));
        const batch = await outbox.next({ limit: 100, bytes: 60_000 });
        if (batch !== null)
          await outbox.acknowledge(
            batch.boot,
            batch.events.map((event) => [event.seq, event.seq] as const),
          );
      }
      await outbox.close();
      figures[`bytes per record, ${size} a commit`] = Math.round((written() - before) / mark);
    }
    console.info(figures);
  });
});

describe('without files, for simulated vehicles', () => {
  it('works as with files', async () => {
    const outbox = await opened({}, ':memory:');
    await outbox.append([record(0, 1), record(3, 2)], [putState('a', 'b')]);
    await settle(outbox);
    expect((await drain(outbox)).map((batch) => batch.priority)).toEqual([0, 3]);
    expect((await outbox.readState()).values.get('a')).toBe('b');
  });
});
