// Address of the PostgreSQL server, and its required properties: the URL with its password and encryption, and the
// settings that every new session must confirm. A server that could lose an acknowledged event is refused.
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withoutPassword } from '../../core/database-url.ts';
import { AppError } from '../../core/errors.ts';
import type { Row, Statement } from '../../ports.ts';

export interface PostgresServer {
  /** For messages and logs: without a password. */
  readonly shown: string;
  readonly client: {
    readonly connectionString: string;
    readonly password?: string;
    readonly ssl?: { readonly rejectUnauthorized: true };
  };
}

/** The environment variables that matter, as libpq knows them. */
export interface PostgresEnvironment {
  readonly PGPASSWORD?: string | undefined;
  readonly PGPASSFILE?: string | undefined;
}

/** Target of the URL, as a password file names it. */
interface Target {
  readonly host: string;
  readonly port: string;
  readonly database: string;
  readonly user: string;
}

/** Fields of a line of a password file; `\` keeps a colon. */
function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:\\.|[^:\\])+|(?<=:)(?=:|$)|^(?=:)/g)].map(([field]) =>
    field.replace(/\\(.)/g, '$1'),
  );
}

/**
 * The password of the first line that fits (`host:port:database:user:password`, `*` fits all; PostgreSQL 15, 34.16).
 */
function passwordFrom(text: string, target: Target): string | undefined {
  const wanted = [target.host, target.port, target.database, target.user];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    if (fields.length === 5 && wanted.every((one, at) => fields[at] === '*' || fields[at] === one))
      return fields[4];
  }
  return undefined;
}

/** @throws AppError `config` when others may read it: libpq would not take it either. */
function readPasswordFile(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return '';
  if ((found.mode & 0o077) !== 0) {
    throw new AppError('config', `others may read the password file ${path}`, { hint: `chmod 600 ${path}` });
  }
  return readFileSync(path, 'utf8');
}

const isLocal = (host: string): boolean =>
  host === '' ||
  host.startsWith('/') ||
  host === 'localhost' ||
  host === '::1' ||
  /^127(\.\d{1,3}){3}$/.test(host);

function parse(url: string): {
  readonly target: Target;
  readonly password: string;
  readonly parameters: URLSearchParams;
} {
  try {
    // No host, or the folder of a socket, is nothing that a URL knows; the driver takes it all the same.
    const [, head = '', socket] = /^([a-z]+:\/\/(?:[^@/]*@)?)(%2f[^/:?]*|(?=\/))/i.exec(url) ?? [];
    const parsed = new URL(
      socket === undefined ? url : `${head}socket.invalid${url.slice(head.length + socket.length)}`,
    );
    const parameters = parsed.searchParams;
    const named = socket === undefined ? parsed.hostname.replace(/^\[|\]$/g, '') : decodeURIComponent(socket);
    const user = decodeURIComponent(parsed.username);
    return {
      target: {
        host: parameters.get('host') ?? named,
        port: parameters.get('port') ?? (parsed.port === '' ? '5432' : parsed.port),
        database: decodeURIComponent(parsed.pathname.slice(1)),
        user: parameters.get('user') ?? user,
      },
      password: parameters.get('password') ?? decodeURIComponent(parsed.password),
      parameters,
    };
  } catch {
    throw new AppError('config', `${withoutPassword(url)} is no address of a PostgreSQL database`, {
      hint: 'Write postgres://user@host:5432/database; with a socket postgres://user@/database?host=/run/postgresql.',
    });
  }
}

/** @throws AppError `config`. */
export function postgresServer(url: string, environment: PostgresEnvironment): PostgresServer {
  const { target, password, parameters } = parse(url);
  const shown = withoutPassword(url);
  if (target.database === '' || target.user === '') {
    throw new AppError('config', `${shown} names no ${target.user === '' ? 'user' : 'database'}`);
  }
  const file = environment.PGPASSFILE ?? join(homedir(), '.pgpass');
  const found =
    password === '' ? (environment.PGPASSWORD ?? passwordFrom(readPasswordFile(file), target)) : password;
  // Positions and password hashes leave this machine encrypted, to a server that proves its name, unless the URL
  // explicitly says otherwise.
  const isOpen = isLocal(target.host) || parameters.has('sslmode');
  return {
    shown,
    client: {
      connectionString: url,
      ...(found === undefined ? {} : { password: found }),
      ...(isOpen ? {} : { ssl: { rejectUnauthorized: true } }),
    },
  };
}

/** What a session is asked for first; see `faultOfServer`. */
export const serverQuestion = `SELECT current_setting('server_version_num') AS version,
  current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, pg_is_in_recovery() AS is_standby`;

/** Settings of a session. A shorter time-out for statements is no protection for a batch; that is the adapter's. */
export function sessionSettings(of: {
  readonly isReader: boolean;
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleMs: number;
}): readonly Statement[] {
  const settings = [
    "SET client_encoding = 'UTF8'",
    'SET standard_conforming_strings = on',
    "SET bytea_output = 'hex'",
    'SET extra_float_digits = 1',
    'SET jit = off',
    "SET default_transaction_isolation = 'read committed'",
    `SET default_transaction_read_only = ${of.isReader ? 'on' : 'off'}`,
    `SET statement_timeout = ${of.statementMs}`,
    `SET lock_timeout = ${of.lockMs}`,
    `SET idle_in_transaction_session_timeout = ${of.idleMs}`,
    // A commit waits for the disk, whatever the server's default is; a stricter one (a standby) is kept.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  ];
  return settings.map((sql) => ({ sql, params: [] }));
}

/** The oldest version that this is tried with in mind; older ones get no more repairs (PostgreSQL, versioning policy). */
const oldestVersion = 130_000;

/** Reason why a server cannot be used; null when it can. */
export function faultOfServer(row: Row): string | null {
  if (Number(row['version']) < oldestVersion) return 'the server is older than PostgreSQL 13';
  if (row['encoding'] !== 'UTF8')
    return `the encoding of the database is ${String(row['encoding'])} and not UTF8`;
  if (row['fsync'] !== 'on') return 'the server runs with fsync off and would lose acknowledged events';
  if (row['full_page_writes'] !== 'on')
    return 'the server runs with full_page_writes off and could lose acknowledged events';
  return null;
}
