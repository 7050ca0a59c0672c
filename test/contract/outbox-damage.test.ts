// Hundreds of ways in which the outbox's files can be damaged, from a seed: flipped bits, lost pages, cut files, garbage,
// missing or foreign logs. The outbox opens each; what it cannot give back was on the damaged bytes; it says so once, and
// keeps the evidence. FLEETWARD_TEST_DAMAGE sets the number of cases.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageBytes } from '../../agent/core/outbox/page-carving.ts';
import { connectSqlite } from '../../src/adapters/database/sqlite.ts';
import { extent } from '../support/extent.ts';
import { createLuck } from '../support/hostile/hostile-truth.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs } from '../support/machine/wait-until.ts';
import { open } from '../support/storage/outbox-bench.ts';
import {
  database,
  type Files,
  log,
  makeOriginal,
  type Original,
  type Outcome,
  openDamaged,
  silence,
} from '../support/storage/outbox-damage.ts';
import { campaignSeed } from '../support/storage/storage-run.ts';

const cases = Number(process.env['FLEETWARD_TEST_DAMAGE'] ?? extent({ gate: 60, nightly: 160 }));
const seed = campaignSeed();
const luck = createLuck(seed);
const root = temporaryFolder('damage', existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
const integer = (low: number, high: number): number => low + Math.floor(luck() * (high - low + 1));

let originals: Readonly<Record<'closed' | 'cut' | 'worn', Original>>;

beforeAll(async () => {
  originals = {
    closed: await makeOriginal(root, 'closed'),
    cut: await makeOriginal(root, 'cut'),
    worn: await makeOriginal(root, 'worn'),
  };
});

interface Damage {
  readonly name: string;
  readonly of: 'closed' | 'cut' | 'worn';
  /** Most events that may be gone for good. */
  lostMost(original: Original): number;
  /** Most that may be gone in silence: the end of a log that was cut cannot be told from one that never grew. */
  readonly silentMost?: number;
  /** So much is damaged that no number can be given. */
  readonly isUnknowable?: true;
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
    const from = integer(0, Math.floor(bytes.length / pageBytes) - 1) * pageBytes;
    for (let at = from; at < Math.min(bytes.length, from + pages * pageBytes); at += 1)
      bytes[at] = fill === 'zero' ? 0 : integer(0, 255);
    return bytes;
  };
/** Puts the pages of one place into another. */
const copyPages =
  (isSwap: boolean) =>
  (bytes: Buffer): Buffer => {
    const pages = Math.floor(bytes.length / pageBytes);
    const [from, to] = [integer(0, pages - 1) * pageBytes, integer(0, pages - 1) * pageBytes];
    const kept = Buffer.from(bytes.subarray(to, to + pageBytes));
    bytes.copy(bytes, to, from, from + pageBytes);
    if (isSwap) kept.copy(bytes, from);
    return bytes;
  };
const all = (original: Original): number => original.marks.size;
/** A page holds about a dozen rows; a damaged inner page hides none from the salvage. */
const rowsPerPage = 16;
/** Two commits: the last one, and the one before whose only mark of being whole is the last. */
const logEnd = 40;

/** What is done to every kind of file that is closed. */
const pageDamages = (of: 'closed' | 'worn'): readonly Damage[] => [
  { name: `one bit of the file`, of, lostMost: () => 1, apply: (files) => edit(files, database, flip) },
  {
    name: 'a zero page',
    of,
    lostMost: () => rowsPerPage,
    apply: (files) => edit(files, database, overwrite('zero', 1)),
  },
  {
    name: 'four garbage pages',
    of,
    lostMost: () => rowsPerPage * 4,
    isUnknowable: true,
    apply: (files) => edit(files, database, overwrite('garbage', 4)),
  },
  {
    name: 'a page over another',
    of,
    lostMost: () => rowsPerPage,
    apply: (files) => edit(files, database, copyPages(false)),
  },
  {
    name: 'two pages swapped',
    of,
    lostMost: () => 0,
    apply: (files) => edit(files, database, copyPages(true)),
  },
  {
    name: 'garbage for a header',
    of,
    lostMost: () => rowsPerPage,
    apply: (files) => edit(files, database, (bytes) => bytes.fill(integer(0, 255), 0, integer(1, 200))),
  },
  {
    name: 'the file cut short',
    of,
    lostMost: all,
    isUnknowable: true,
    apply: (files) => edit(files, database, (bytes) => bytes.subarray(0, integer(0, bytes.length - 1))),
  },
];

const damages: readonly Damage[] = [
  ...pageDamages('closed'),
  ...pageDamages('worn'),
  {
    name: 'one bit of the log',
    of: 'cut',
    lostMost: () => rowsPerPage * 2,
    silentMost: logEnd,
    isUnknowable: true,
    apply: (files) => edit(files, log, flip),
  },
  {
    name: 'a garbage page in the log',
    of: 'cut',
    lostMost: () => rowsPerPage * 4,
    silentMost: logEnd,
    isUnknowable: true,
    apply: (files) => edit(files, log, overwrite('garbage', 1)),
  },
  {
    name: 'garbage for the header and first frame of the log',
    of: 'cut',
    lostMost: () => rowsPerPage,
    isUnknowable: true,
    apply: (files) =>
      edit(files, log, (bytes) => {
        for (let at = 0; at < 32 + 24 + pageBytes; at += 1) bytes[at] = integer(0, 255);
        return bytes;
      }),
  },
  {
    name: 'the log cut short',
    of: 'cut',
    lostMost: all,
    silentMost: Number.POSITIVE_INFINITY,
    isUnknowable: true,
    apply: (files) => edit(files, log, (bytes) => bytes.subarray(0, integer(0, bytes.length - 1))),
  },
  {
    name: 'no log',
    of: 'cut',
    lostMost: all,
    isUnknowable: true,
    apply: (files) => void files.delete(log),
  },
  {
    name: 'no file, only a log',
    of: 'cut',
    lostMost: all,
    isUnknowable: true,
    apply: (files) => void files.delete(database),
  },
  {
    name: 'text for a file',
    of: 'closed',
    lostMost: all,
    isUnknowable: true,
    apply: (files) => void files.set(database, Buffer.from('hello\n'.repeat(integer(1, 900)))),
  },
];

async function faultsOf(damage: Damage): Promise<Outcome> {
  const original = originals[damage.of];
  const outcome = await openDamaged(root, original, damage.apply);
  const isKnown = outcome.told[1] !== null || damage.isUnknowable === true;
  const untold = outcome.lost <= (damage.silentMost ?? 0) && !outcome.isReplaced ? [] : silence(outcome);
  const faults = [
    ...outcome.faults.filter(
      (fault) => damage.silentMost !== Number.POSITIVE_INFINITY || !fault.startsWith('the state'),
    ),
    ...untold,
    ...(outcome.lost > damage.lostMost(original) ? [`${outcome.lost} are gone`] : []),
    ...(isKnown ? [] : ['how many are gone is not known']),
  ];
  return { ...outcome, faults };
}

const failed = (thrown: unknown): Outcome => ({
  lost: 0,
  isReplaced: false,
  isIntact: false,
  told: [0, 0],
  faults: [thrown instanceof Error ? String(thrown.stack) : String(thrown)],
});

describe('a damaged file', () => {
  it(`always opens, and nothing is lost in silence (${cases} cases)`, { timeout: 1_800_000 }, async () => {
    const table: Record<string, Record<string, number>> = {};
    const bad: string[] = [];
    for (let count = 0; count < cases; count += 1) {
      const damage = damages[count % damages.length];
      if (damage === undefined) continue;
      const outcome = await faultsOf(damage).catch(failed);
      const row = (table[`${damage.of}: ${damage.name}`] ??= {
        cases: 0,
        replaced: 0,
        stateKept: 0,
        lost: 0,
        lostMost: 0,
        toldMost: 0,
        unknown: 0,
      });
      const add = (key: string, value: number): void => void (row[key] = (row[key] ?? 0) + value);
      add('cases', 1);
      add('replaced', Number(outcome.isReplaced));
      add('stateKept', Number(outcome.isIntact));
      add('lost', outcome.lost);
      add('toldMost', outcome.told[1] ?? 0);
      add('unknown', Number(outcome.told[1] === null));
      row['lostMost'] = Math.max(row['lostMost'] ?? 0, outcome.lost);
      if (outcome.faults.length > 0)
        bad.push(`seed ${seed}, case ${count}, ${damage.name}: ${outcome.faults.slice(0, 3).join('; ')}`);
    }
    console.table(table);
    expect(bad).toEqual([]);
  });

  it.each(['closed', 'worn'] as const)(
    '%s, with every page zeroed in turn: every loss is reported',
    async (of) => {
      const pages = Math.floor((originals[of].files.get(database)?.length ?? 0) / pageBytes);
      const bad: string[] = [];
      for (let page = 0; page < pages; page += extent({ gate: 4, nightly: 1 })) {
        const damage: Damage = {
          name: `page ${page}`,
          of,
          lostMost: () => rowsPerPage,
          apply: (files) =>
            edit(files, database, (bytes) => bytes.fill(0, page * pageBytes, (page + 1) * pageBytes)),
        };
        const { faults } = await faultsOf(damage).catch(failed);
        if (faults.length > 0) bad.push(`page ${page}: ${faults.slice(0, 3).join('; ')}`);
      }
      expect(bad).toEqual([]);
    },
  );
});

describe('what is no outbox', () => {
  const folderOf = (name: string): string => {
    const folder = join(root, name);
    mkdirSync(folder);
    return folder;
  };

  it.each([512, 4096] as const)(
    'a database of another program with pages of %i bytes is left alone, and the error says what to do',
    async (pageSize) => {
      const path = join(folderOf(`foreign-${pageSize}`), database);
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
    const path = join(folderOf('folder'), database);
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
      const path = join(folder, database);
      cpSync(join(root, 'closed', database), path);
      chmodSync(root, 0o755);
      const child = fileURLToPath(new URL('../support/storage/storage-child.mjs', import.meta.url));
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
          timeout: hangMs,
        });
        expect(run.status, run.stderr.toString()).toBe(3);
        const said = existsSync(ledger) ? readFileSync(ledger, 'utf8') : '';
        expect(said).toContain('may not read and write it');
        expect(said).toContain('chown');
      }
    },
  );
});
