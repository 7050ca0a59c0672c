// A PostgreSQL server of a test's own: made with initdb in a temporary folder, on a unix socket only, small, and ended
// with the test file. Databases are copies of a template, so that each test has a fresh one in milliseconds.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { migrations } from '../../../broker/migrations.ts';
import { openPostgres } from '../../../src/adapters/database/postgres.ts';
import { migrate } from '../../../src/migrate.ts';
import { requires } from '../machine/requires.ts';
import { hangMs, waitUntil } from '../machine/wait-until.ts';

const debianRoot = '/usr/lib/postgresql';

/** Debian keeps the server's programs out of the path. */
function findPrograms(): string | null {
  const versions = existsSync(debianRoot)
    ? readdirSync(debianRoot).sort((a, b) => Number(b) - Number(a))
    : [];
  const found = versions
    .map((version) => join(debianRoot, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'initdb')));
  return found ?? null;
}

const programs = findPrograms();

/** Null: PostgreSQL is there. Else a text for the name of the skipped test. */
export const postgresMissing: string | null =
  programs === null ? requires({ commands: ['initdb'], debian: ['postgresql'] }).missing : null;

/** The server refuses to run as root; then it runs as the user that Debian's package made. */
function runAs(): Runner {
  if (userInfo().uid !== 0) return {};
  const idOf = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: idOf('-u'), gid: idOf('-g') };
}

/** What is done with databases of a server that runs. */
export interface Databases {
  /** Makes a database and gives its URL: an empty one, or a copy of the one that is named. */
  create(template?: string): Promise<string>;
  /** The same with the broker's tables in it. */
  createMigrated(): Promise<string>;
  /** Removes it, also while it is used. */
  drop(url: string): Promise<void>;
}

export interface PostgresBench extends Databases {
  /** Folder of its socket. */
  readonly folder: string;
  /** Ends it as a crash would, or as a service manager does. */
  stop(how: 'immediate' | 'fast'): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const settings = {
  listen_addresses: '',
  shared_buffers: '16MB',
  max_connections: '100',
  min_wal_size: '32MB',
  max_wal_size: '128MB',
  max_parallel_workers: '0',
  autovacuum_naptime: '5s',
  log_min_messages: 'fatal',
} as const;

const urlIn = (folder: string, database: string): string =>
  `postgres://postgres@/${database}?host=${encodeURIComponent(folder)}`;

const nameOf = (url: string): string => new URL(url.replace('@/', '@host/')).pathname.slice(1);

/** Not through our adapter: databases are made outside of transactions. */
async function psql(folder: string, text: string): Promise<void> {
  const args = ['-X', '-q', '-h', folder, '-U', 'postgres', '-d', 'postgres', '-c', text];
  const child = spawn(join(programs ?? '', 'psql'), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: hangMs,
  });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => void (said += bytes.toString()));
  const status = await new Promise((resolve) => void child.once('close', resolve));
  if (status !== 0) throw new Error(`psql: ${said}`);
}

const templateName = 'fleet';
let made = 0;

/** The databases of the server whose socket is in `folder`. */
export function databasesIn(folder: string): Databases {
  const create = async (template = 'template0'): Promise<string> => {
    made += 1;
    const name = `test_${process.pid}_${made}`;
    await psql(folder, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    return urlIn(folder, name);
  };
  return {
    create,
    createMigrated: () => create(templateName),
    drop: (url) => psql(folder, `DROP DATABASE IF EXISTS ${nameOf(url)} WITH (FORCE)`),
  };
}

async function makeTemplate(folder: string): Promise<void> {
  await psql(folder, `CREATE DATABASE ${templateName} TEMPLATE template0`);
  const db = await openPostgres({ url: urlIn(folder, templateName) });
  await migrate(db, migrations);
  await db.close();
}

interface Runner {
  readonly uid?: number;
  readonly gid?: number;
}

function makeCluster(folder: string, runner: Runner): void {
  const args = [
    '-D',
    join(folder, 'data'),
    '-A',
    'trust',
    '-U',
    'postgres',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ];
  const done = spawnSync(join(programs ?? '', 'initdb'), [...args, '--no-sync', '--wal-segsize=4'], {
    ...runner,
    cwd: folder,
    encoding: 'utf8',
    timeout: hangMs,
  });
  if (done.status !== 0) throw new Error(`initdb failed: ${done.stderr}`);
}

async function startServer(folder: string, runner: Runner, changes: Settings): Promise<ChildProcess> {
  const options = Object.entries({ ...settings, unix_socket_directories: folder, ...changes });
  const args = options.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(programs ?? '', 'postgres'), ['-D', join(folder, 'data'), ...args], {
    ...runner,
    cwd: folder,
    stdio: 'ignore',
  });
  const isReady = (): boolean => {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    return (
      spawnSync(join(programs ?? '', 'pg_isready'), ['-q', '-h', folder], { timeout: hangMs }).status === 0
    );
  };
  try {
    await waitUntil('the PostgreSQL server', isReady, { everyMs: 100 });
    return child;
  } catch (error) {
    child.kill('SIGQUIT');
    throw error;
  }
}

type Settings = Readonly<Record<string, string>>;

/** Starts a server; `close` must be called. Needs `postgresMissing === null`. */
export async function startPostgres(changes: Settings = {}): Promise<PostgresBench> {
  const runner = runAs();
  const folder = mkdtempSync(join(tmpdir(), 'fleetward-postgres-'));
  if (runner.uid !== undefined && runner.gid !== undefined) chownSync(folder, runner.uid, runner.gid);
  makeCluster(folder, runner);
  let server: ChildProcess | null = await startServer(folder, runner, changes);
  const databases = databasesIn(folder);
  let template: Promise<void> | null = null;
  const stop = async (how: 'immediate' | 'fast'): Promise<void> => {
    const child = server;
    server = null;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    child.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(late);
  };
  return {
    ...databases,
    async createMigrated() {
      template ??= makeTemplate(folder);
      await template;
      return databases.createMigrated();
    },
    folder,
    stop,
    async start() {
      server = await startServer(folder, runner, changes);
    },
    async close() {
      await stop('immediate');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
