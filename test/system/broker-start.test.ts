// Starts that must refuse, with the real program: a key that vehicles do not obey, tables of another build, a backup that was copied
// into place, a database that is gone. A refused start changes and leaves nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import SqliteConnection from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from '../../src/adapters/database/postgres.ts';
import { ddl } from '../../src/migrate.ts';
import { type PostgresBench, postgresMissing, startPostgres } from '../support/database/postgres.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const missing = whyNotBuilt('broker');
const note = missing === null ? '' : ` [${missing}]`;
const base = temporaryFolder('start');
const program = createBrokerProgram(base);
const ports = ['--http-port', '0', '--mqtt-port', '0'];
afterAll(() => program.killAll());

const sqlOn = (path: string, ...texts: readonly string[]): void => {
  const db = new SqliteConnection(path);
  for (const text of texts) db.exec(text);
  db.close();
};

/** Starts, waits until it serves, and kills it without mercy; gives its log. */
async function serve(database: string, ...flags: readonly string[]): Promise<string> {
  const { child, output, ended } = program.launch(['start', '--database', database, ...ports, ...flags]);
  let code: number | null | undefined;
  void ended.then((value) => (code = value));
  await waitUntil('the broker to serve', () => output.out.includes('broker_ready') || code !== undefined);
  expect(output).toMatchObject({ out: expect.stringContaining('broker_ready') as string });
  child.kill('SIGKILL');
  await ended;
  return output.out;
}

/** A fleet with a device: database, log of a killed broker, key, and a backup without it. */
const template = join(base, 'template');
async function makeTemplate(): Promise<void> {
  mkdirSync(template);
  const on = ['--database', join(template, 'fleet.db')];
  const account = ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-', ...on];
  expect(await program.run(account, 'correct horse battery\n')).toMatchObject({ code: 0 });
  expect(await program.run(['device', 'create', 'acme', 'truck-1', ...on])).toMatchObject({ code: 0 });
  await serve(join(template, 'fleet.db'));
  expect(await program.run(['backup', join(template, 'one.bak'), ...on])).toMatchObject({ code: 0 });
  await serve(join(template, 'fleet.db'));
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => !name.endsWith('-lock'));

interface Case {
  readonly name: string;
  /** What befalls the folder of the fleet; may give another database. */
  readonly take: (folder: string) => string | undefined | void;
  readonly code: 74 | 78;
  readonly words: RegExp;
  /** It starts with `--new-fleet`. */
  readonly mayBegin?: true;
}

const moveAll = (folder: string): void => {
  mkdirSync(join(folder, 'old'));
  for (const name of readdirSync(folder))
    if (name.startsWith('fleet.db')) renameSync(join(folder, name), join(folder, 'old', name));
};

const cases: readonly Case[] = [
  {
    name: 'the signing key is gone',
    take: (folder) => rmSync(`${folder}/fleet.db.signing-key.pem`),
    code: 78,
    words: /no signing key .*fleet\.db\.signing-key\.pem, and 1 devices of the database obey one/,
    mayBegin: true,
  },
  {
    name: 'the signing key is another one',
    take(folder) {
      rmSync(`${folder}/fleet.db.signing-key.pem`);
      const key = execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519'], { encoding: 'utf8' });
      writeFileSync(`${folder}/fleet.db.signing-key.pem`, key, { mode: 0o600 });
    },
    code: 78,
    words: /another signing key/,
    mayBegin: true,
  },
  {
    name: 'mv took the key along, and a backup was restored',
    take(folder) {
      moveAll(folder);
      const args = [
        'dist/broker/main.js',
        'restore',
        `${folder}/one.bak`,
        '--database',
        `${folder}/fleet.db`,
      ];
      execFileSync(process.execPath, args, { stdio: 'ignore' });
    },
    code: 78,
    words: /no signing key/,
  },
  ...[
    'ALTER TABLE devices ADD COLUMN colour TEXT',
    'ALTER TABLE accounts RENAME COLUMN display_name TO shown_name',
    'DROP TABLE shares',
    "UPDATE service_facts SET value = '0000000000000000' WHERE name = 'build'",
    'DROP TABLE service_facts',
  ].map(
    (text): Case => ({
      name: `the tables are of another build: ${text}`,
      take: (folder) => sqlOn(`${folder}/fleet.db`, 'PRAGMA foreign_keys = OFF', text),
      code: 74,
      words: /made by another build of this version/,
    }),
  ),
  {
    name: 'a trigger was dropped',
    take(folder) {
      const db = new SqliteConnection(`${folder}/fleet.db`);
      const name = db.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' LIMIT 1").pluck().get();
      db.exec(`DROP TRIGGER ${String(name)}`);
      db.close();
    },
    code: 74,
    words: /made by another build of this version: changed since then/,
  },
  {
    name: 'a backup was copied over the database, beside the old log',
    take: (folder) => cpSync(`${folder}/one.bak`, `${folder}/fleet.db`),
    code: 74,
    words: /fleet\.db-wal is the log of another database/,
  },
  {
    name: 'a backup was copied into place, without a log',
    take(folder) {
      for (const suffix of ['-wal', '-shm']) rmSync(`${folder}/fleet.db${suffix}`);
      renameSync(`${folder}/one.bak`, `${folder}/fleet.db`);
    },
    code: 74,
    words: /is a backup that was copied here, and not restored/,
  },
  {
    name: 'the database is gone, its log is there',
    take: (folder) => rmSync(`${folder}/fleet.db`),
    code: 78,
    words: /no database .* but its log/,
  },
  {
    name: 'the database and its log are gone, the key is there',
    take: (folder) => ['', '-wal', '-shm'].forEach((suffix) => rmSync(`${folder}/fleet.db${suffix}`)),
    code: 78,
    words: /no database .* but the signing key .* is there/,
    mayBegin: true,
  },
  {
    name: 'the path is misspelt',
    take: (folder) => `${folder}/flete.db`,
    code: 78,
    words: /no database .*flete\.db, but .*fleet\.db is the database of a fleet in the same folder/,
    mayBegin: true,
  },
];

describe.skipIf(missing !== null)(`a start that must refuse${note}`, () => {
  beforeAll(makeTemplate);
  let count = 0;
  const copy = (): string => {
    const folder = join(base, `case-${(count += 1)}`);
    cpSync(template, folder, { recursive: true });
    return folder;
  };

  it.each(cases)('refuses and leaves nothing when $name', async ({ take, code, words, mayBegin }) => {
    const folder = copy();
    const database = take(folder) ?? `${folder}/fleet.db`;
    const before = filesIn(folder);
    const bytes = existsSync(database) ? readFileSync(database) : null;
    for (const args of [
      ['start', ...ports],
      ['account', 'create', 'other', '--admin', 'ann'],
    ]) {
      // Commands that sign nothing need no key.
      if (args[0] === 'account' && code === 78 && existsSync(database)) continue;
      const ended = await program.run([...args, '--database', database]);
      expect(ended.err).toMatch(words);
      expect(ended.code).toBe(code);
      expect(filesIn(folder).filter((name) => !/-(wal|shm)$/.test(name))).toEqual(
        before.filter((name) => !/-(wal|shm)$/.test(name)),
      );
    }
    if (code === 74 && words.source.includes('log of another'))
      expect(readFileSync(database).equals(bytes as Buffer)).toBe(true);
    if (mayBegin === undefined) return;
    await serve(database, '--new-fleet');
    await serve(database);
  });

  it('refuses where a disk of fstab is not mounted, and begins a fleet in a new folder', async () => {
    if (spawnSync('unshare', ['--mount', 'true']).status !== 0) return;
    const disk = join(base, 'disk');
    mkdirSync(join(disk, 'data'), { recursive: true });
    writeFileSync(join(base, 'fstab'), `# <file system> <mount point>\n/dev/sdz1 ${disk} ext4 nofail 0 2\n`);
    const start = (mounts: string) =>
      spawnSync(
        'unshare',
        [
          '--mount',
          'sh',
          '-c',
          `mount --bind ${base}/fstab /etc/fstab; ${mounts} timeout 6 ${process.execPath} dist/broker/main.js start --database ${disk}/data/fleet.db ${ports.join(' ')}`,
        ],
        { encoding: 'utf8' },
      );
    const refused = start('');
    expect([refused.status, refused.stderr]).toEqual([78, expect.stringContaining(`${disk} is not mounted`)]);
    expect(readdirSync(join(disk, 'data'))).toEqual([]);
    expect(start(`mount --bind ${disk} ${disk};`).stdout).toContain('broker_ready');
  });

  it('gives no event number twice after an older copy was put back, by whatever way', async () => {
    const folder = copy();
    const path = `${folder}/fleet.db`;
    sqlOn(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
    cpSync(path, `${folder}/older`);
    expect(await serve(path)).not.toContain('numbers_begin_higher');
    sqlOn(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
    // The same file with other content, as cp makes it.
    cpSync(`${folder}/older`, path);
    expect(await serve(path)).toContain('numbers_begin_higher');
    expect(await serve(path)).not.toContain('numbers_begin_higher');
  });
});

describe.skipIf(missing !== null || postgresMissing !== null)(
  `a start on PostgreSQL that must refuse${note}`,
  () => {
    let server: PostgresBench;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => server?.close());

    it('refuses tables of another build and another key, and goes on with its own', async () => {
      const url = await server.create();
      const key = ['--signing-key-file', join(base, 'pg.pem')];
      const on = ['--database', url, ...key];
      const account = ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-', ...on];
      expect(await program.run(account, 'correct horse battery\n')).toMatchObject({ code: 0 });
      expect(await program.run(['device', 'create', 'acme', 'truck-1', ...on])).toMatchObject({ code: 0 });
      await serve(url, ...key);
      await serve(url, ...key);
      const other = await program.run([
        'start',
        '--database',
        url,
        ...ports,
        '--signing-key-file',
        join(base, 'no.pem'),
      ]);
      expect(other).toMatchObject({ code: 78, err: expect.stringMatching(/no signing key/) as string });
      expect(existsSync(join(base, 'no.pem'))).toBe(false);
      const db = await openPostgres({ url, environment: {} });
      for (const [change, back] of [
        ['ALTER TABLE devices ADD COLUMN colour TEXT', 'ALTER TABLE devices DROP COLUMN colour'],
        [
          'ALTER TABLE accounts RENAME COLUMN display_name TO shown_name',
          'ALTER TABLE accounts RENAME COLUMN shown_name TO display_name',
        ],
        [
          'ALTER TABLE shares ALTER COLUMN expires_s TYPE DOUBLE PRECISION',
          'ALTER TABLE shares ALTER COLUMN expires_s TYPE BIGINT',
        ],
      ] as const) {
        await db.write([ddl(change)]);
        const refused = await program.run(['start', ...on, ...ports]);
        expect(refused).toMatchObject({
          code: 74,
          err: expect.stringMatching(/another build of this version/) as string,
        });
        await db.write([ddl(back)]);
      }
      await db.close();
      await serve(url, ...key);
    });
  },
);
