// Accounts at the command line, and the listener of the service's operator, as real processes on a real file: what is
// said, with which exit code, and what a running broker makes of it.
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { createBrokerProgram } from '../support/programs/broker-program.ts';

const program = fileURLToPath(new URL('../../dist/broker/main.js', import.meta.url));
const folder = temporaryFolder('accounts');
const database = join(folder, 'fleet.db');
const password = 'correct horse battery staple';
const { launch, run, killAll } = createBrokerProgram(folder);

afterAll(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

const account = (action: string, ...args: readonly string[]) =>
  run(['account', action, ...args, '--database', database]);

interface Ready {
  readonly httpPort: number;
  readonly adminPort?: number;
}

async function start(...args: readonly string[]) {
  const started = launch(['start', '--database', database, '--http-port', '0', '--mqtt-port', '0', ...args]);
  const ready = await new Promise<Ready>((resolve, reject) => {
    started.child.stdout.on('data', () => {
      const line = started.output.out.split('\n').find((text) => text.includes('"broker_ready"'));
      if (line !== undefined) resolve(JSON.parse(line) as Ready);
    });
    started.child.on('close', () => reject(new Error(started.output.err)));
  });
  return { ...started, ready };
}

describe.skipIf(!existsSync(program))(
  `accounts at the command line${existsSync(program) ? '' : ' [skipped: not built]'}`,
  () => {
    it('are created, listed, shown and limited, for people and for programs', async () => {
      for (const name of ['acme', 'rival']) {
        const made = await run(
          ['account', 'create', name, '--admin', 'ann', '--password-file', '-', '--database', database],
          `${password}\n`,
        );
        expect(made).toMatchObject({ code: 0, err: '' });
      }
      await run(['device', 'create', 'acme', 'truck-17', '--database', database]);
      const table = await account('list');
      expect(table.out).toMatch(/ACCOUNT\s+STATE\s+DEVICES\nacme\s+active\s+1\nrival\s+active\s+0\n/);
      const limited = await account('limit', 'acme', '--devices', '1', '--expires', '2999-12-31', '--json');
      expect(JSON.parse(limited.out)).toMatchObject({
        accountID: 'acme',
        maximumDevices: 1,
        expirationTime: 32_503_593_600,
      });
      expect((await account('show', 'acme')).out).toMatch(/\ndevices: 1 \(at most 1\)\n/);
      expect(await run(['device', 'create', 'acme', 'two', '--database', database])).toMatchObject({
        code: 65,
        err: expect.stringContaining('account limit'),
      });
      // A code that makes its device obeys the limit too, and none is made of a device that is there.
      for (const name of ['two', 'truck-17'])
        expect(await run(['device', 'code', 'acme', name, '--create', '--database', database])).toMatchObject(
          { code: 65, out: '' },
        );
      const freed = await account('limit', 'acme', '--devices', 'none', '--expires', 'none', '--json');
      expect(JSON.parse(freed.out)).toMatchObject({ maximumDevices: 0, expirationTime: 0 });
    });

    it('show the code that restores an engine, each time the next one, and note it without the code', async () => {
      const show = (...args: readonly string[]) =>
        run(['device', 'service-code', 'acme', ...args, '--database', database]);
      const first = JSON.parse((await show('truck-17', '--json')).out) as { code: string };
      expect(first).toMatchObject({
        deviceID: 'truck-17',
        number: 0,
        code: expect.stringMatching(/^[0-9]{8}$/),
      });
      const second = await show('truck-17');
      expect(second.out).toMatch(/^[0-9]{8} {3}\(shown once, works once, restores the engine of truck-17/);
      expect(await show('nobody')).toMatchObject({ code: 66, err: expect.stringContaining('nobody') });
      expect(await run(['audit', 'verify', '--database', database])).toMatchObject({ code: 0 });
      expect(readFileSync(database).includes(Buffer.from(first.code))).toBe(false);
    });

    it('make a one-time login code, shown once and kept as a hash', async () => {
      const made = JSON.parse((await account('login-code', 'acme', 'ann', '--json')).out) as { code: string };
      expect(made).toMatchObject({
        accountID: 'acme',
        userID: 'ann',
        code: expect.stringMatching(/^[\w-]{43}$/),
      });
      const shown = await account('login-code', 'acme', 'ann');
      expect(shown.out).toMatch(
        /^code: [\w-]{43} {3}\(shown once, works once, until .*Z\)\n.*\/console\/login#code=[\w-]{43}\n$/,
      );
      expect(await account('login-code', 'acme', 'nobody')).toMatchObject({ code: 66, out: '' });
      expect(await account('login-code', 'nobody', 'ann')).toMatchObject({ code: 66, out: '' });
      expect(await run(['audit', 'verify', '--database', database])).toMatchObject({ code: 0 });
      expect(readFileSync(database).includes(Buffer.from(made.code))).toBe(false);
    });

    it.each([
      ['an unknown account', ['show', 'nobody'], 66, 'nobody'],
      ['no limit', ['limit', 'acme'], 64, '--devices'],
      [
        'a map of no name',
        ['create', 'third', '--admin', 'ann', '--base-map', '../x'],
        64,
        '--base-map "../x"',
      ],
      ['a limit that is none', ['limit', 'acme', '--devices', '0'], 64, '--devices "0"'],
      ['a day that is none', ['limit', 'acme', '--expires', '2026-02-99'], 64, '--expires'],
      ['a deletion without --yes', ['delete', 'acme'], 64, 'Add --yes'],
      ['a weak password', ['create', 'weak', '--admin', 'ann', '--password-file', '-'], 64, 'password'],
      ['an unknown action', ['destroy', 'acme'], 64, '--help'],
    ])(
      'report what is wrong with %s, and end with its exit code',
      async (_name, [action = '', ...args], code, message) => {
        const ended = await account(action, ...args);
        expect(ended).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
        expect(ended.err).not.toContain('    at ');
      },
    );

    it('are not looked for in a database that is not there', async () => {
      expect(await run(['account', 'list', '--database', join(folder, 'none.db')])).toMatchObject({
        code: 66,
        err: expect.stringContaining('none.db'),
      });
    });

    it('are suspended, resumed and deleted under a running broker, which refuses their tokens at once', async () => {
      const { child, ended, output, ready } = await start();
      const base = `http://127.0.0.1:${ready.httpPort}`;
      expect(ready.adminPort).toBeUndefined();
      const login = () =>
        fetch(`${base}/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ accountID: 'acme', userID: 'ann', password }),
        });
      const { token } = (await (await login()).json()) as { token: string };
      const read = async () =>
        (await fetch(`${base}/device/getalldevices/authorization`, { headers: { authorization: token } }))
          .status;
      expect(await read()).toBe(200);
      expect((await account('suspend', 'acme')).out).toContain('account acme: suspended');
      expect([await read(), (await login()).status]).toEqual([401, 401]);
      expect((await account('resume', 'acme')).out).toContain('account acme: active');
      expect(await read()).toBe(200);
      expect(await account('delete', 'acme', '--yes', '--json')).toMatchObject({
        code: 0,
        out: '{"accountID":"acme","isDeleted":true}\n',
      });
      expect([await read(), (await login()).status]).toEqual([401, 401]);
      expect((await account('list')).out).not.toContain('acme');
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(output.err).toBe('');
    });

    it("have a listener of the operator's own, only with a token file that no other user can read", async () => {
      const file = join(folder, 'admin.token');
      expect(await run(['admin-token', '--file', file])).toMatchObject({ code: 0, err: '' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(await run(['admin-token', '--file', file])).toMatchObject({ code: 78 });
      const token = readFileSync(file, 'utf8').trim();
      const { child, ended, output, ready } = await start('--admin-token-file', file, '--admin-port', '0');
      const ask = async (port: number, authorization: string) => {
        const url = `http://127.0.0.1:${port}/api/v1/admin/accounts/authorization`;
        const answer = await fetch(url, { headers: { authorization } });
        return [answer.status, await answer.json()];
      };
      expect(await ask(ready.adminPort ?? 0, token)).toMatchObject([
        200,
        { accounts: [{ accountID: 'rival' }] },
      ]);
      const wrong = `${token.startsWith('0') ? '1' : '0'}${token.slice(1)}`;
      expect((await ask(ready.adminPort ?? 0, wrong))[0]).toBe(401);
      expect((await ask(ready.httpPort, token))[0]).toBe(404);
      child.kill('SIGTERM');
      expect(await ended).toBe(0);
      expect(output.out).not.toContain(token);
    });

    it('refuse to open that listener to the network, or with a file that is none', async () => {
      const base = ['start', '--database', database, '--http-port', '0', '--mqtt-port', '0'];
      const none = await run([...base, '--admin-token-file', join(folder, 'missing')]);
      expect(none).toMatchObject({ code: 78, err: expect.stringContaining('admin-token --file') });
      const wide = await run([...base, '--admin-host', '0.0.0.0']);
      expect(wide).toMatchObject({ code: 78, err: expect.stringContaining('--admin-host') });
    });
  },
);
