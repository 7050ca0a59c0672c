// What is told of a database's address, what its tables are called on PostgreSQL, and where a password comes from.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultOfServer, postgresServer } from '../../src/adapters/database/postgres-server.ts';
import { isPostgresUrl, keyFilePrefix, withoutPassword } from '../../src/core/database-url.ts';
import { toPostgresDdl } from '../../src/core/postgres-ddl.ts';

describe('the address of a database', () => {
  test.each([
    ['./fleetward.db', './fleetward.db'],
    ['postgres://fleet@db.example.com/fleet', 'postgres://fleet@db.example.com/fleet'],
    ['postgres://fleet:hush@db.example.com:5433/fleet', 'postgres://fleet@db.example.com:5433/fleet'],
    [
      'postgresql://fleet:hu:sh@/fleet?host=/run/postgresql',
      'postgresql://fleet@/fleet?host=/run/postgresql',
    ],
    ['postgres://fleet:a@b@db/fleet', 'postgres://fleet@db/fleet'],
    [
      'postgres://db/fleet?user=fleet&password=hush&sslmode=disable',
      'postgres://db/fleet?user=fleet&sslmode=disable',
    ],
  ])('%s is shown as %s', (database, shown) => {
    expect(withoutPassword(database)).toBe(shown);
  });

  test('is never shown with its password', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9._~-]{1,12}$/);
    const secret = fc.stringMatching(/^XX[A-Za-z0-9:@%._~-]{1,20}XX$/);
    fc.assert(
      fc.property(word, secret, word, (user, password, host) => {
        const plain = `postgres://${user}:${encodeURIComponent(password)}@${host}/fleet`;
        const raw = `postgres://${user}:${password}@${host}/fleet`;
        const asked = `postgres://${host}/fleet?password=${encodeURIComponent(password)}&sslmode=disable`;
        for (const url of [plain, raw, asked]) expect(withoutPassword(url)).not.toContain('XX');
      }),
    );
  });

  test('names key files after a SQLite file, and never after a URL', () => {
    expect(keyFilePrefix('./fleetward.db')).toBe('./fleetward.db');
    expect(keyFilePrefix('postgres://u:hush@h/d')).toBe('./fleetward');
    expect(isPostgresUrl('/var/lib/postgres/fleet.db')).toBe(false);
  });
});

describe('a PostgreSQL server', () => {
  const passwordOf = (url: string, environment = {}) => postgresServer(url, environment).client.password;

  test('has its password from the URL, from the environment, or from a password file, in this order', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-pgpass-'));
    const file = join(folder, 'pgpass');
    writeFileSync(
      file,
      '# host:port:db:user:password\nother:*:*:*:no\ndb:5432:fleet:fleet:from\\:file\n*:*:*:*:any\n',
    );
    chmodSync(file, 0o600);
    try {
      const url = 'postgres://fleet@db/fleet';
      expect(passwordOf(url, { PGPASSFILE: file })).toBe('from:file');
      expect(passwordOf('postgres://fleet@elsewhere/fleet', { PGPASSFILE: file })).toBe('any');
      expect(passwordOf(url, { PGPASSFILE: file, PGPASSWORD: 'env' })).toBe('env');
      expect(passwordOf('postgres://fleet:own@db/fleet', { PGPASSFILE: file, PGPASSWORD: 'env' })).toBe(
        'own',
      );
      expect(passwordOf(url, { PGPASSFILE: join(folder, 'none') })).toBeUndefined();
      chmodSync(file, 0o644);
      expect(() => passwordOf(url, { PGPASSFILE: file })).toThrow('others may read');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    ['postgres://u@db.example.com/d', true],
    ['postgres://u@203.0.113.7/d', true],
    ['postgres://u@db.example.com/d?sslmode=disable', false],
    ['postgres://u@127.0.0.1/d', false],
    ['postgres://u@localhost/d', false],
    ['postgres://u@[::1]:5433/d', false],
    ['postgres://u@/d?host=/run/postgresql', false],
    ['postgres://u@%2Frun%2Fpostgresql/d', false],
  ])('at %s is spoken to with TLS: %s, and then must prove its name', (url, isSecure) => {
    const { ssl } = postgresServer(url, { PGPASSWORD: 'x' }).client;
    expect(ssl).toEqual(isSecure ? { rejectUnauthorized: true } : undefined);
  });

  test.each(['postgres://', 'postgres://u@db', 'postgres://db/d', 'postgres://u@db:port/d'])(
    'cannot be %s',
    (url) => {
      expect(() => postgresServer(url, { PGPASSWORD: 'x' })).toThrow(url);
    },
  );

  test('must keep its promises', () => {
    const good = { version: '150018', encoding: 'UTF8', fsync: 'on', full_page_writes: 'on' };
    expect(faultOfServer(good)).toBeNull();
    expect(faultOfServer({ ...good, version: '120022' })).toContain('PostgreSQL 13');
    expect(faultOfServer({ ...good, encoding: 'SQL_ASCII' })).toContain('SQL_ASCII');
    expect(faultOfServer({ ...good, fsync: 'off' })).toContain('fsync');
    expect(faultOfServer({ ...good, full_page_writes: 'off' })).toContain('full_page_writes');
  });
});

test('a table is said in the words of PostgreSQL; everything else is left as it is', () => {
  const table = `CREATE TABLE notes (note_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL DEFAULT '',
    is_read INTEGER NOT NULL, body BLOB, at_ms BIGINT)`;
  expect(
    toPostgresDdl(table),
  ).toBe(`CREATE TABLE notes (note_no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text TEXT COLLATE "C" NOT NULL DEFAULT '',
    is_read BIGINT NOT NULL, body BYTEA, at_ms BIGINT)`);
  const query = "SELECT CAST('TEXT' AS TEXT), CAST(1 AS INTEGER)";
  expect(toPostgresDdl(query)).toBe(query);
});
