// `fleetward-broker ca` as an operator uses it: what it makes is what OpenSSL takes in its strictest mood, keys are for their
// owner alone and are never overwritten, and every mistake ends with its exit code and a plain message.
import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { revocationFault } from '../../broker/core/accounts/client-certificate.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { sql } from '../../src/sql.ts';
import { requires, whyNotBuilt } from '../support/machine/requires.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs } from '../support/machine/wait-until.ts';
import { runProgram } from '../support/programs/fleet-processes.ts';

const tools = requires({ commands: ['openssl'], debian: ['openssl'] });
const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const why = tools.missing ?? whyNotBuilt('broker');
const dayMs = 24 * 3600_000;

describe.skipIf(why !== null)(`the authority of the broker ${why ?? ''}`, () => {
  const folder = temporaryFolder('ca');
  const dir = join(folder, 'ca');
  const database = join(folder, 'fleet.db');

  const run = (...args: readonly string[]) => {
    const at = ['--database', database, ...(args[0] === 'revoke' || args.length === 0 ? [] : ['--dir', dir])];
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'ca', ...args, ...at], {
      encoding: 'utf8',
      timeout: hangMs,
    });
    return { code: status, out: stdout, err: stderr };
  };
  const verify = (purpose: string, file: string): string =>
    execFileSync(
      'openssl',
      ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', join(dir, 'ca.crt.pem'), join(dir, file)],
      {
        encoding: 'utf8',
        stdio: 'pipe',
      },
    );
  const read = (name: string) => new X509Certificate(readFileSync(join(dir, `${name}.crt.pem`)));
  const daysLeft = (name: string) => Math.round((Date.parse(read(name).validTo) - Date.now()) / dayMs);

  it('is made once, readable by its owner only, and signs end entities only', () => {
    expect(run('init', '--name', 'Acme fleet')).toMatchObject({ code: 0, err: '' });
    expect(statSync(join(dir, 'ca.key.pem')).mode & 0o777).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    const text = execFileSync('openssl', ['x509', '-in', join(dir, 'ca.crt.pem'), '-noout', '-text'], {
      encoding: 'utf8',
    });
    expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
    expect(text).toMatch(/Key Usage: critical\s+Certificate Sign, CRL Sign\n/);
    expect(read('ca').subject).toBe('CN=Acme fleet');
    const key = readFileSync(join(dir, 'ca.key.pem'), 'utf8');
    expect(run('init')).toMatchObject({ code: 65, err: expect.stringContaining('never overwritten') });
    expect(readFileSync(join(dir, 'ca.key.pem'), 'utf8')).toBe(key);
  });

  it('makes certificates of listeners with their names and addresses, and for nothing else', () => {
    const { code, out } = run('server', '--names', 'fleet.example.com,*.eu.example.com,10.0.0.7,2001:db8::7');
    expect([code, out]).toEqual([0, expect.stringContaining('[mqtt.tls]')]);
    const name = 'server-fleet.example.com';
    expect(verify('sslserver', `${name}.crt.pem`)).toContain('OK');
    expect(() => verify('sslclient', `${name}.crt.pem`)).toThrow();
    expect(read(name).subjectAltName).toBe(
      'DNS:fleet.example.com, DNS:*.eu.example.com, IP Address:10.0.0.7, IP Address:2001:DB8:0:0:0:0:0:7',
    );
    expect(daysLeft(name)).toBe(397);
    expect(statSync(join(dir, `${name}.key.pem`)).mode & 0o777).toBe(0o600);
    expect(run('server', '--names', 'fleet.example.com')).toMatchObject({ code: 65 });
  });

  it('makes certificates of devices that are there, recorded, and of any where there is no database', () => {
    const revokedMs = Date.now();
    const apart = run('device', 'acme', 'truck-9');
    expect([apart.code, apart.out]).toEqual([0, expect.stringContaining('ca revoke --cert')]);
    expect(verify('sslclient', 'device-acme.truck-9.crt.pem')).toContain('OK');
    expect(() => verify('sslserver', 'device-acme.truck-9.crt.pem')).toThrow();
    // The broker that does not know it judges it by when it was made: no revocation before that ends it.
    const fromMs = Date.parse(read('device-acme.truck-9').validFrom);
    const unknown = { isKnown: false, isRevoked: false };
    expect(revocationFault({ fromMs }, { ...unknown, cutMs: revokedMs })).toBeNull();
    expect(revocationFault({ fromMs }, { ...unknown, cutMs: Date.now() + 1 })).toMatch(/older/);
    expect(fromMs).toBeLessThanOrEqual(Date.now());
    runProgram(
      'broker',
      ['account', 'create', 'acme', '--admin', 'ann', '--password-file', '-', '--database', database],
      'correct horse battery staple',
    );
    runProgram('broker', ['device', 'create', 'acme', 'truck-1', '--database', database]);
    expect(JSON.parse(run('device', 'acme', 'truck-1', '--json').out)).toMatchObject({ isRecorded: true });
    const files = readdirSync(dir).length;
    expect(run('device', 'acme', 'truck-2')).toMatchObject({
      code: 66,
      err: expect.stringContaining('no device truck-2'),
    });
    expect(readdirSync(dir)).toHaveLength(files);
  });

  it('renews what ends soon, with the same key and names, a device’s as well as its own', () => {
    expect(run('renew').out).toContain('No certificate expires within 30 days');
    expect(run('server', '--names', 'short.example.com', '--days', '10').code).toBe(0);
    const name = 'server-short.example.com';
    const old = { key: readFileSync(join(dir, `${name}.key.pem`), 'utf8'), serial: read(name).serialNumber };
    expect(run('renew', '--days', '90').out).toContain(`${name}.crt.pem`);
    expect(daysLeft(name)).toBe(90);
    expect(verify('sslserver', `${name}.crt.pem`)).toContain('OK');
    expect(readFileSync(join(dir, `${name}.key.pem`), 'utf8')).toBe(old.key);
    expect(read(name).serialNumber).not.toBe(old.serial);
    expect(read(name).subjectAltName).toBe('DNS:short.example.com');
    expect(run('renew', 'device-acme.truck-1.crt.pem').code).toBe(0);
    // Everything that it signed before still leads to it.
    expect(run('renew', '--authority', '--days', '4000').code).toBe(0);
    expect(daysLeft('ca')).toBe(4000);
    expect(verify('sslserver', `${name}.crt.pem`)).toContain('OK');
    expect(verify('sslclient', 'device-acme.truck-1.crt.pem')).toContain('OK');
  });

  it('revokes one by number or file, or all of a device, and lists what holds', async () => {
    const serial = read('device-acme.truck-1').serialNumber;
    expect(run('revoke', '--serial', serial)).toMatchObject({
      code: 0,
      out: expect.stringContaining('Revoked'),
    });
    const states = () =>
      (JSON.parse(run('list', '--json').out) as { certificates: { what: string; state: string }[] })
        .certificates;
    expect(states().find(({ what }) => what === 'device-acme.truck-1')?.state).toBe('revoked');
    expect(states().filter(({ what }) => what === 'recorded for acme/truck-1')).toMatchObject([
      { state: 'good' },
    ]);
    expect(run('revoke', 'acme', 'truck-1').code).toBe(0);
    expect(
      states()
        .filter(({ state }) => state === 'good')
        .map(({ what }) => what),
    ).not.toContain('recorded for acme/truck-1');
    expect(run('revoke', '--cert', join(dir, 'device-acme.truck-9.crt.pem'))).toMatchObject({ code: 66 });
    expect(run('revoke', '--serial', 'abc')).toMatchObject({
      code: 66,
      err: expect.stringContaining('--cert'),
    });
    expect(run('revoke')).toMatchObject({ code: 64 });
    expect(run('revoke', 'acme', 'truck-1', '--serial', 'abc')).toMatchObject({ code: 64 });
    const db = openSqlite({ path: database, pageSize: 4096 });
    const entries = await db.read(
      sql`SELECT action FROM audit WHERE account_id = 'acme' AND object = 'truck-1'`,
    );
    await db.close();
    expect(entries.map(({ action }) => action)).toEqual([
      'device.create',
      'device.issuesecret',
      'device.certify',
      'device.certify',
      'device.revokecertificate',
      'device.revokecertificate',
    ]);
  });

  it('keeps its key under a passphrase where it was given one', () => {
    const passphrase = join(folder, 'passphrase');
    writeFileSync(passphrase, 'seven lamps\n', { mode: 0o600 });
    const locked = ['--dir', join(folder, 'locked')];
    const runLocked = (...args: readonly string[]) =>
      spawnSync(process.execPath, [program, 'ca', ...args, ...locked], {
        encoding: 'utf8',
        cwd: folder,
        timeout: hangMs,
      });
    expect(runLocked('init', '--passphrase-file', passphrase).status).toBe(0);
    expect(readFileSync(join(folder, 'locked', 'ca.key.pem'), 'utf8')).toContain('ENCRYPTED');
    expect(runLocked('server', '--names', 'a.example')).toMatchObject({
      status: 78,
      stderr: expect.stringContaining('passphrase'),
    });
    expect(runLocked('server', '--names', 'a.example', '--passphrase-file', passphrase).status).toBe(0);
  });

  it.each([
    ['a name that is none', ['server', '--names', 'fleet_example'], 64],
    ['a life that is too long', ['server', '--names', 'a.example', '--days', '826'], 64],
    ['an account that is none', ['device', 'a.b', 'truck'], 64],
    ['no command', [], 64],
    ['a certificate that is not there', ['renew', 'server-none.crt.pem'], 66],
    ['the authority as one of its certificates', ['renew', 'ca.crt.pem'], 64],
  ])('refuses %s', (_what, args, code) => {
    expect(run(...args)).toMatchObject({ code, err: expect.not.stringContaining('    at ') });
  });
});
