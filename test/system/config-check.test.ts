// `config check` on a built broker, as `nginx -t`: it finds what a start would end with, says what to do about it, and changes
// nothing; a start that fails for one of these leaves neither a key nor a database.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/broker/certificates.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const folder = temporaryFolder('config-check');
const at = (name: string): string => join(folder, name);
const file = (name: string, text = 'secret\n', mode = 0o600): string => {
  writeFileSync(at(name), text);
  chmodSync(at(name), mode);
  return at(name);
};
const authority = createAuthority(folder);
const good = authority.issue('localhost', 30);
for (const key of ['ca.key', 'localhost30.key']) chmodSync(at(key), 0o600);
const expired = authority.issue('localhost', -1);
chmodSync(expired.keyFile, 0o600);
const isRoot = process.getuid?.() === 0;
/** A user without any right, as the service's own. */
const lesser = 65_534;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the broker in the folder of the fleet, as this user or a lesser one. */
function run(
  args: readonly string[],
  { uid, env }: { uid?: number; env?: Record<string, string> } = {},
): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: at('fleet'),
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  return { code: status, out: stdout, err: stderr };
}
const check = (...args: readonly string[]): Ended => run(['config', 'check', ...args]);
const start = (...args: readonly string[]): Ended =>
  run(['start', '--http-port=0', '--mqtt-port=0', ...args]);

beforeAll(() => {
  mkdirSync(at('fleet'));
});

/** Flags of each setting that names a file, with the file left open. */
const fileSettings: Readonly<Record<string, (path: string) => readonly string[]>> = {
  'http.tls.certFile': (path) => [`--http-tls-cert-file=${path}`, `--http-tls-key-file=${good.keyFile}`],
  'mqtt.tls.keyFile': (path) => [`--mqtt-tls-cert-file=${good.certFile}`, `--mqtt-tls-key-file=${path}`],
  'admin.tokenFile': (path) => [`--admin-token-file=${path}`],
  'metrics.tokenFile': (path) => ['--metrics-port=0', `--metrics-token-file=${path}`],
  'notify.smtp.passwordFile': (path) => [
    '--notify-smtp-host=mail.example.com',
    '--notify-smtp-from=fleet@example.com',
    '--notify-smtp-user=fleet',
    `--notify-smtp-password-file=${path}`,
  ],
  'oidc.clientSecretFile': (path) => [
    '--oidc-issuer=https://id.example.com',
    '--oidc-client-id=fleetward',
    `--oidc-client-secret-file=${path}`,
    '--oidc-redirect-url=https://fleet.example.com/console/',
    '--oidc-account-id=acme',
    '--oidc-role-claim=roles',
    '--oidc-roles=fleet-admins=admin',
  ],
  'enrolment.caPassphraseFile': (path) => [
    `--enrolment-ca-cert-file=${authority.caFile}`,
    `--enrolment-ca-key-file=${at('ca.key')}`,
    `--enrolment-ca-passphrase-file=${path}`,
  ],
  'enrolment.mqttCaFile': (path) => [`--enrolment-mqtt-ca-file=${path}`],
  'cluster.passwordFile': (path) => [
    '--ingress=amqp://bridge@127.0.0.1:1/fleet',
    '--cluster-management-urls=http://127.0.0.1:1',
    `--cluster-management-password-file=${at('password')}`,
    `--cluster-password-file=${path}`,
    '--database=postgres://fleet@127.0.0.1:1/fleet',
  ],
  maps: (path) => [`--maps=${path}`],
  console: (path) => [`--console=${path}`],
};

describe.skipIf(!existsSync(program))(
  `config check${existsSync(program) ? '' : ' [skipped: not built]'}`,
  () => {
    beforeAll(() => {
      file('password');
    });

    it.each(Object.entries(fileSettings))('opens the file of %s', (setting, flagsOf) => {
      const { code, err } = check(...flagsOf(at('missing')));
      expect([code, err]).toEqual([78, expect.stringContaining(at('missing'))]);
      expect(err).toContain(setting);
      // A start says the same, and leaves nothing behind.
      expect(start(...flagsOf(at('missing')))).toMatchObject({ code: 78 });
      expect(readdirSync(at('fleet'))).toEqual([]);
    });

    it('names every fault at once', () => {
      const { code, err } = check(
        `--admin-token-file=${at('missing-1')}`,
        `--enrolment-mqtt-ca-file=${at('missing-2')}`,
        '--http-port=8099',
        '--mqtt-port=8099',
        '--database=nowhere/fleet.db',
      );
      expect(code).toBe(78);
      for (const part of ['missing-1', 'missing-2', 'both 8099', 'nowhere/fleet.db'])
        expect(err).toContain(part);
    });

    it.each([
      [
        'of an address that this machine has not',
        ['--http-host=192.0.2.1', '--insecure-listen'],
        '--http-host',
      ],
      ['of a folder that is a file', [`--database=${at('password')}/fleet.db`], 'database'],
      ['of a key that is none', [`--signing-key-file=${at('password')}`], 'signing key file'],
      ['of a Web Push key that is none', [`--vapid-key-file=${at('password')}`], at('password')],
      ['of a variable that is misspelt', [], 'FLEETWARD_HTTP_PORT'],
    ])('finds the fault %s', (_what, args, message) => {
      const { code, err } = run(['config', 'check', ...args], {
        env: args.length === 0 ? { FLEETWARD_HTTP_PROT: '80' } : {},
      });
      expect([code, err]).toEqual([78, expect.stringContaining(message)]);
    });

    it('passes beside the running service, with every file in order, and says what has expired', () => {
      const token = at('admin.token');
      expect(run(['admin-token', '--file', token])).toMatchObject({ code: 0 });
      const { code, out, err } = check(
        `--admin-token-file=${token}`,
        `--http-tls-cert-file=${good.certFile}`,
        `--http-tls-key-file=${good.keyFile}`,
        `--mqtt-tls-cert-file=${expired.certFile}`,
        `--mqtt-tls-key-file=${expired.keyFile}`,
      );
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain('is valid');
      expect(out).toMatch(/note: mqtt\.tls\.certFile .* has expired on/);
      expect(readdirSync(at('fleet'))).toEqual([]);
    });

    describe('of ports', () => {
      const taken: Server = createServer();
      let port = 0;
      beforeAll(async () => {
        await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
        const address = taken.address();
        port = typeof address === 'object' && address !== null ? address.port : 0;
      });
      afterAll(() => void taken.close());

      it('passes with a port that the service itself has; a start ends, and leaves nothing behind', () => {
        expect(check(`--http-port=${port}`, '--mqtt-port=0')).toMatchObject({ code: 0 });
        expect(run(['start', `--http-port=${port}`, '--mqtt-port=0'])).toMatchObject({ code: 69 });
        expect(readdirSync(at('fleet')).filter((name) => name.endsWith('.pem'))).toEqual([]);
      });
    });

    it.skipIf(!isRoot)('finds what only the user of the service may not', () => {
      const secret = file('root.secret');
      chmodSync(folder, 0o711);
      chownSync(at('fleet'), lesser, lesser);
      const unreadable = run(['config', 'check', `--admin-token-file=${secret}`], { uid: lesser });
      expect(unreadable).toMatchObject({ code: 78, err: expect.stringContaining(`chmod 640 ${secret}`) });
      const low = run(['config', 'check', '--http-port=443'], { uid: lesser });
      expect(low).toMatchObject({ code: 78, err: expect.stringContaining('below 1024') });
      mkdirSync(at('locked'), { mode: 0o755 });
      const locked = run(['config', 'check', `--database=${at('locked')}/fleet.db`], { uid: lesser });
      expect(locked).toMatchObject({ code: 78, err: expect.stringContaining('chown') });
      const fine = run(['config', 'check', '--http-port=0'], { uid: lesser });
      expect(fine).toMatchObject({ code: 0 });
    });
  },
);
