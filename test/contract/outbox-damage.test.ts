// Hundreds of ways in which the outbox's files can be damaged, from a seed: flipped bits, lost pages, cut files, garbage,
// missing or foreign logs. The outbox opens each; what it cannot give back was on the damaged bytes; it says so once, and
// keeps the evidence. FLEETWARD_DAMAGE sets the number of cases.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { putState } from '../../agent/outbox-schema.ts';
import { connectSqlite } from '../../src/adapters/sqlite.ts';
import type { Priority } from '../../src/core/status-codes.ts';
import { drain, impatientClock, marksOf, open, record, settle } from '../support/outbox-bench.ts';
import { campaignSeed, createLuck } from '../support/storage-run.ts';

const cases = Number(process.env['FLEETWARD_DAMAGE'] ?? 160);
const seed = campaignSeed();
const luck = createLuck(seed);
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'fleetward-damage-'));
const integer = (low: number, high: number): number => low + Math.floor(luck() * (high - low + 1));

interface Original {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Marks per class. */
  readonly marks: readonly (readonly number[])[];
}

/** Two files with the same content: one closed in good order, one as a power cut leaves it, most of it in the log. */
let closed: Original;
let cut: Original;

async function makeOriginal(name: string, isClosed: boolean): Promise<Original> {
  const folder = join(root, name);
  mkdirSync(folder);
  const path = join(folder, 'outbox.db');
  const outbox = await open(path, { boot: `was-${name}` });
  const marks: number[][] = [[], [], [], []];
  const count = isClosed ? 800 : 300;
  for (let mark = 1; mark <= count; mark += 20) {
    const records = Array.from({ length: 20 }, (_value, index) =>
      record(([3, 3, 2, 3, 1, 3, 0, 3] as const)[(mark + index) % 8] ?? 3, mark + index),
    );
    await outbox.append(records, [putState('commands', JSON.stringify({ record: mark }))]);
    for (const one of records) marks[one.priority]?.push(one.event.upMs ?? -1);
  }
  if (isClosed) await outbox.close();
  const names = readdirSync(folder).filter((file) => file === 'outbox.db' || file.endsWith('-wal'));
  const files = new Map(names.map((file) => [file, readFileSync(join(folder, file))]));
  if (!isClosed) await outbox.close();
  return { files, marks };
}

beforeAll(async () => {
  closed = await makeOriginal('closed', true);
  cut = await makeOriginal('cut', false);
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

type Files = Map<string, Buffer>;

interface Damage {
  readonly name: string;
  readonly of: 'closed' | 'cut';
  /** Most events that may be gone for good. */
  lostMost(original: Original): number;
  apply(files: Files): void;
}

const edit = (files: Files, name: string, change: (bytes: Buffer) => Buffer): void => {
  const bytes = files.get(name);
  if (bytes !== undefined) files.set(name, change(Buffer.from(bytes)));
};
const flip = (bytes: Buffer): Buffer => {
  const at = integer(0, bytes.length - 1);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << integer(0, 7));
  return bytes;
};
const overwrite =
  (fill: 'zero' | 'garbage', pages: number) =>
  (bytes: Buffer): Buffer => {
    const from = integer(0, Math.floor(bytes.length / 1024) - 1) * 1024;
    for (let at = from; at < Math.min(bytes.length, from + pages * 1024); at += 1)
      bytes[at] = fill === 'zero' ? 0 : integer(0, 255);
    return bytes;
  };
const all = (original: Original): number => original.marks.flat().length;
/** A page holds about a dozen rows; a damaged inner page hides none from the salvage. */
const rowsPerPage = 16;
const db = 'outbox.db';
const wal = 'outbox.db-wal';

const damages: readonly Damage[] = [
  { name: 'one bit of the file', of: 'closed', lostMost: () => 1, apply: (files) => edit(files, db, flip) },
  {
    name: 'one bit of the log',
    of: 'cut',
    lostMost: () => rowsPerPage * 2,
    apply: (files) => edit(files, wal, flip),
  },
  {
    name: 'a zero page',
    of: 'closed',
    lostMost: () => rowsPerPage,
    apply: (files) => edit(files, db, overwrite('zero', 1)),
  },
  {
    name: 'four garbage pages',
    of: 'closed',
    lostMost: () => rowsPerPage * 4,
    apply: (files) => edit(files, db, overwrite('garbage', 4)),
  },
  {
    name: 'a garbage page in the log',
    of: 'cut',
    lostMost: () => rowsPerPage * 4,
    apply: (files) => edit(files, wal, overwrite('garbage', 1)),
  },
  {
    name: 'garbage for a header',
    of: 'closed',
    lostMost: () => rowsPerPage,
    apply: (files) => edit(files, db, (bytes) => bytes.fill(integer(0, 255), 0, integer(1, 200))),
  },
  {
    name: 'the file cut short',
    of: 'closed',
    lostMost: all,
    apply: (files) => edit(files, db, (bytes) => bytes.subarray(0, integer(0, bytes.length - 1))),
  },
  {
    name: 'the log cut short',
    of: 'cut',
    lostMost: all,
    apply: (files) => edit(files, wal, (bytes) => bytes.subarray(0, integer(0, bytes.length - 1))),
  },
  { name: 'no log', of: 'cut', lostMost: all, apply: (files) => void files.delete(wal) },
  { name: 'no file, only a log', of: 'cut', lostMost: all, apply: (files) => void files.delete(db) },
  {
    name: 'text for a file',
    of: 'closed',
    lostMost: all,
    apply: (files) => void files.set(db, Buffer.from('hello\n'.repeat(integer(1, 900)))),
  },
];

interface Outcome {
  readonly lost: number;
  readonly isReplaced: boolean;
  readonly isIntact: boolean;
  readonly faults: readonly string[];
}

/** Opens a damaged copy as the next start would, twice, and looks at what it gives. */
async function openDamaged(original: Original, damage: Damage): Promise<Outcome> {
  const folder = mkdtempSync(join(root, 'case-'));
  const path = join(folder, db);
  const files = new Map([...original.files].map(([name, bytes]) => [name, Buffer.from(bytes)]));
  damage.apply(files);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  const faults: string[] = [];
  const outbox = await open(path, { clock: impatientClock });
  await outbox.append([record(0, 5000)]);
  await settle(outbox);
  const batches = await drain(outbox);
  const events = batches.flatMap((batch) => batch.events);
  const phases = events
    .filter(({ statusCode }) => statusCode === 4377)
    .map(({ attributes }) => attributes?.['phase']);
  const isReplaced = phases.length > 0;
  if (isReplaced && phases.join() !== 'replaced,salvaged') faults.push(`told as ${phases.join()}`);
  const evidence = readdirSync(folder).filter((name) => /\.damaged-[0-9TZ]+-[0-9a-f]{8}(-wal)?$/.test(name));
  if (isReplaced !== evidence.length > 0) faults.push(`replaced ${isReplaced}, evidence ${evidence.length}`);
  let lost = 0;
  const seen = new Set<string>();
  for (const { boot, events: some } of batches)
    for (const { seq } of some) {
      if (seen.has(`${boot}:${seq}`)) faults.push(`${boot}:${seq} twice`);
      seen.add(`${boot}:${seq}`);
    }
  for (const priority of [0, 1, 2, 3] as const satisfies readonly Priority[]) {
    const found = marksOf(batches, priority).filter((mark) => mark !== 5000);
    const known = new Set(original.marks[priority]);
    if (found.some((mark) => !known.has(mark)))
      faults.push(`class ${priority} holds what was never appended`);
    if (found.some((mark, index) => mark <= (found[index - 1] ?? -1)))
      faults.push(`class ${priority} is out of order`);
    lost += known.size - found.length;
  }
  const { dropped } = await outbox.stats();
  const counted = dropped.reduce((sum, count) => sum + count, 0);
  const { isIntact, values } = await outbox.readState();
  // A log that ends on a whole commit cannot be told from one that never grew: then the state of its time holds.
  const isTold = damage.name !== 'the log cut short';
  if (isTold && isIntact && values.get('commands') === undefined)
    faults.push('the state is gone and counts as intact');
  // A torn last commit of a log is what a power cut leaves; everything else that is gone must show.
  const mayBeSilent = damage.of === 'cut' && damage.name.includes('log');
  if (lost > 0 && !isReplaced && counted < lost && !mayBeSilent) faults.push(`${lost} are gone in silence`);
  if (lost > damage.lostMost(original)) faults.push(`${lost} are gone`);
  if (!marksOf(batches, 0).includes(5000)) faults.push('a new panic is not there');
  await outbox.close();
  const again = await open(path);
  if (marksOf(await drain(again), 0).length !== marksOf(batches, 0).length)
    faults.push('not the same on the next start');
  await again.close();
  rmSync(folder, { recursive: true, force: true });
  return { lost, isReplaced, isIntact, faults };
}

describe('a damaged file', () => {
  it(`always opens, and nothing is lost in silence (${cases} cases)`, async () => {
    const table: Record<
      string,
      { cases: number; replaced: number; stateKept: number; lost: number; lostMost: number }
    > = {};
    const bad: string[] = [];
    for (let count = 0; count < cases; count += 1) {
      const damage = damages[count % damages.length];
      if (damage === undefined) continue;
      const outcome = await openDamaged(damage.of === 'closed' ? closed : cut, damage).catch(
        (thrown: unknown) => ({
          lost: 0,
          isReplaced: false,
          isIntact: false,
          faults: [String(thrown)],
        }),
      );
      const row = (table[damage.name] ??= { cases: 0, replaced: 0, stateKept: 0, lost: 0, lostMost: 0 });
      row.cases += 1;
      row.replaced += Number(outcome.isReplaced);
      row.stateKept += Number(outcome.isIntact);
      row.lost += outcome.lost;
      row.lostMost = Math.max(row.lostMost, outcome.lost);
      if (outcome.faults.length > 0)
        bad.push(`seed ${seed}, case ${count}, ${damage.name}: ${outcome.faults.slice(0, 3).join('; ')}`);
    }
    console.table(table);
    expect(bad).toEqual([]);
  });
});

describe('what is no outbox', () => {
  const folderOf = (name: string): string => {
    const folder = join(root, name);
    mkdirSync(folder);
    return folder;
  };

  it.each([1024, 4096] as const)(
    'a database of another program with pages of %i bytes is left alone, and the error says what to do',
    async (pageSize) => {
      const path = join(folderOf(`foreign-${pageSize}`), db);
      const other = connectSqlite({ path, pageSize });
      other.write([{ sql: 'CREATE TABLE invoices (id INTEGER PRIMARY KEY, total REAL)', params: [] }]);
      other.close();
      await expect(open(path)).rejects.toMatchObject({
        code: 'config',
        hint: expect.stringContaining('storage.path'),
      });
      const after = connectSqlite({ path, pageSize });
      expect(after.read({ sql: "SELECT name FROM sqlite_master WHERE type = 'table'", params: [] })).toEqual([
        { name: 'invoices' },
      ]);
      after.close();
      expect(readdirSync(join(path, '..')).filter((name) => name.includes('.damaged-'))).toEqual([]);
    },
  );

  it('a folder in its place is a clear error', async () => {
    const path = join(folderOf('folder'), db);
    mkdirSync(path);
    await expect(open(path)).rejects.toMatchObject({
      code: 'config',
      hint: expect.stringContaining('storage.path'),
    });
  });

  const isRoot = process.getuid?.() === 0;
  it.skipIf(!isRoot)(
    `a file or folder of another user is a clear error${isRoot ? '' : ' [skipped: needs root to become another user]'}`,
    () => {
      const folder = folderOf('owner');
      const path = join(folder, db);
      cpSync(join(root, 'closed', db), path);
      chmodSync(root, 0o755);
      const child = fileURLToPath(new URL('../support/storage-child.mjs', import.meta.url));
      const ledger = join(folderOf('ledger'), 'ledger');
      chmodSync(join(ledger, '..'), 0o777);
      for (const [fileMode, folderMode] of [
        [0o600, 0o755],
        [0o644, 0o777],
        [0o666, 0o555],
      ] as const) {
        chmodSync(path, fileMode);
        chmodSync(folder, folderMode);
        rmSync(ledger, { force: true });
        const options = {
          path,
          ledger,
          seed: 1,
          steps: 3,
          maxBytes: 16 * 1024 * 1024,
          name: 'other',
          reopenEvery: 0,
        };
        const run = spawnSync(process.execPath, [child, JSON.stringify(options)], {
          uid: 65_534,
          gid: 65_534,
          timeout: 60_000,
        });
        expect(run.status, run.stderr.toString()).toBe(3);
        const said = existsSync(ledger) ? readFileSync(ledger, 'utf8') : '';
        expect(said).toContain('may not read and write it');
        expect(said).toContain('chown');
      }
    },
  );
});
