// Login by a one-time code of the command line: works once, in time, for exactly its user; never where a cut needs a second user; stays
// nowhere; and makes a session that ends by itself and makes no tokens.
import { afterEach, describe, expect, it } from 'vitest';
import { makeLoginCode } from '../../broker/accounts/login-code.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import type { SqlValue } from '../../src/ports.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(identityProvider?: null) {
  const service = await startHttpService(identityProvider === undefined ? {} : { identityProvider });
  open.push(service);
  for (const account of ['acme', 'rival']) await service.account(account);
  await service.user('acme', 'dispatch', 'operator');
  const { clock } = service.api;
  const ports = { db: service.db, clock, entropy: createSystemEntropy(), passwords: createPasswords() };
  const make = async (accountID = 'acme', userID = 'admin') =>
    (await makeLoginCode(ports, { accountID, userID })).code;
  const logIn = (code: unknown, from = '127.0.0.1') =>
    service.call({ method: 'POST', path: '/api/v1/auth/login/code', body: { code }, from });
  const set = (text: string, params: readonly SqlValue[] = []) => service.sql(text, params);
  return { service, ports, make, logIn, set };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const tokenOf = (answer: Awaited<ReturnType<Service['call']>>) => String(answer.json()['token']);
const failed = { status: 401, code: 'login_failed' };
const well = { status: 200, code: undefined };

describe('a login code', () => {
  it('begins a session of its user, in the account of its user, with the rights of its user', async () => {
    const { service, make, logIn } = await start();
    const answer = await logIn(await make('acme', 'dispatch'));
    expect(answer.json()).toMatchObject({ accountID: 'acme', userID: 'dispatch' });
    const token = tokenOf(answer);
    const get = (path: string) => service.call({ path: `/api/v1${path}/authorization`, token });
    expect((await get('/device/getalldevices')).status).toBe(200);
    expect(seen(await get('/user/getallusers')).code).toBe('forbidden');
    expect((await service.call({ path: '/api/v1/auth/logout/acme/dispatch', token })).status).toBe(200);
    expect((await get('/device/getalldevices')).status).toBe(401);
  });

  it('works once, also of ten requests at the same time', async () => {
    const { make, logIn } = await start();
    const code = await make();
    const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(9);
    expect(seen(await logIn(code))).toEqual(failed);
  });

  it('expires after 15 minutes', async () => {
    const { service, make, logIn } = await start();
    holdClock(service);
    const [first, second] = [await make(), await make('acme', 'dispatch')];
    service.advance(899_000);
    expect(seen(await logIn(first))).toEqual(well);
    service.advance(2000);
    expect(seen(await logIn(second))).toEqual(failed);
  });

  it('is void once the user has a newer one, and leaves those of other users', async () => {
    const { make, logIn } = await start();
    const [old, others, rivals] = [await make(), await make('acme', 'dispatch'), await make('rival')];
    const fresh = await make();
    expect(seen(await logIn(old))).toEqual(failed);
    for (const code of [fresh, others, rivals]) expect(seen(await logIn(code))).toEqual(well);
  });

  it.each([
    ['the password was changed', "UPDATE users SET password_hash = 'another' WHERE user_id = 'admin'"],
    ['the user is suspended', "UPDATE users SET is_active = 0 WHERE user_id = 'admin'"],
    ['the account is suspended', 'UPDATE accounts SET is_active = 0'],
    ['the account is over', 'UPDATE accounts SET expires_s = 1'],
    ['the account is being deleted', 'UPDATE accounts SET deleting_s = 1'],
    ['a cut needs a second user', 'UPDATE accounts SET needs_approval = 1'],
    [
      'the user became one of the login provider',
      "UPDATE users SET identity = 'https://x y' WHERE user_id = 'admin'",
    ],
    ['the user was deleted', "DELETE FROM users WHERE user_id = 'admin'"],
  ])('is void once %s', async (_why, change) => {
    const { service, make, logIn, set } = await start();
    const code = await make();
    await service.sql('DELETE FROM sessions');
    await set(change);
    expect(seen(await logIn(code))).toEqual(failed);
    expect(await service.rows('SELECT * FROM sessions')).toEqual([]);
  });

  it('is not made for an account whose cuts need a second user, nor for what is not there or suspended', async () => {
    const { service, make, set } = await start();
    await expect(make('nope')).rejects.toMatchObject({ code: 'not_found' });
    await expect(make('acme', 'nope')).rejects.toMatchObject({ code: 'not_found' });
    const before = await service.rows(
      "SELECT * FROM audit WHERE action = 'logincode.create' ORDER BY audit_no",
    );
    await set("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    await expect(make()).rejects.toThrow('needs a second user');
    await set("UPDATE accounts SET needs_approval = 0 WHERE account_id = 'acme'");
    await set("UPDATE users SET is_active = 0 WHERE account_id = 'acme'");
    await expect(make()).rejects.toThrow('suspended');
    await set("UPDATE users SET identity = user_id, is_active = 1 WHERE account_id = 'acme'");
    await expect(make()).rejects.toThrow('login provider');
    expect(await service.rows('SELECT * FROM login_codes')).toEqual([]);
    expect(
      await service.rows("SELECT * FROM audit WHERE action = 'logincode.create' ORDER BY audit_no"),
    ).toEqual(before);
  });

  it('begins a session that ends after 12 hours whatever its use, and makes no API token', async () => {
    const { service, make, logIn } = await start();
    const token = tokenOf(await logIn(await make()));
    const made = await service.call({
      method: 'POST',
      path: '/api/v1/auth/token/authorization',
      token,
      body: { description: 'Nightly report', scopes: ['read'] },
    });
    expect(made.status).not.toBe(200);
    const read = () => service.call({ path: '/api/v1/device/getalldevices/authorization', token });
    for (let hour = 0; hour < 11; hour += 1) {
      service.advance(3600_000);
      expect((await read()).status).toBe(200);
    }
    service.advance(3600_000);
    expect((await read()).status).toBe(401);
  });

  it('proves no password where the account wants it again', async () => {
    const { service, make, logIn, set } = await start();
    await service.device('acme', 'truck-17');
    await set("UPDATE accounts SET needs_password = 1 WHERE account_id = 'acme'");
    const code = await make();
    const token = tokenOf(await logIn(code));
    const cut = (extra: object) =>
      service.call({
        method: 'POST',
        path: '/api/v1/command/feature/authorization',
        token,
        body: { deviceID: 'truck-17', feature: 'enginecutoff', state: '1', ...extra },
      });
    expect(seen(await cut({})).code).toBe('password_needed');
    expect(seen(await cut({ password: code })).code).toBe('password_wrong');
  });

  it('is in no log, table or audit entry, and both its making and its use are audited', async () => {
    const { service, make, logIn } = await start();
    const used = await make();
    const token = tokenOf(await logIn(used));
    const pending = await make('acme', 'dispatch');
    await logIn('A'.repeat(43));
    const audit = await service.rows(
      'SELECT account_id, actor, action, object, detail FROM audit ORDER BY audit_no',
    );
    const kept = JSON.stringify([
      await service.rows('SELECT * FROM login_codes'),
      await service.rows('SELECT * FROM sessions'),
      audit,
      service.logLines,
    ]);
    for (const secret of [used, pending, token]) expect(kept).not.toContain(secret);
    const made = audit.filter(({ action }) => action === 'logincode.create');
    expect(made.map(({ account_id: of, object, actor }) => [of, object, actor])).toEqual(
      expect.arrayContaining([
        ['acme', 'admin', 'operator'],
        ['', 'admin', 'operator'],
        ['acme', 'dispatch', 'operator'],
      ]),
    );
    expect(audit.find(({ action }) => action === 'login')).toMatchObject({
      account_id: 'acme',
      object: 'admin',
    });
    expect(service.logLines.some((line) => line.includes('login_code_refused'))).toBe(true);
  });

  it.each([
    ['no code', undefined],
    ['a number', 7],
    ['an empty text', ''],
    ['a short code', 'A'.repeat(42)],
    ['a long code', 'A'.repeat(44)],
    ['a list', ['A'.repeat(43)]],
    ['an object', { $ne: null }],
    ['other characters', `${'A'.repeat(42)}'`],
    ['a line feed at its end', `${'A'.repeat(43)}\n`],
    ['its own hash', 'a'.repeat(64)],
  ])('is refused as %s before it is looked up', async (_what, code) => {
    const { logIn } = await start();
    expect(seen(await logIn(code))).toMatchObject({ status: 422 });
  });

  it('is not taken from the address', async () => {
    const { service, make } = await start();
    const code = await make();
    const answer = await service.call({
      method: 'POST',
      path: `/api/v1/auth/login/code?code=${code}`,
      body: {},
    });
    expect(answer.status).toBe(422);
  });

  it('is taken at a rate for each network, and codes of one network hold up no other', async () => {
    const { service, make, logIn } = await start();
    service.pin();
    holdClock(service);
    const code = await make();
    const codes = [];
    for (let tries = 0; tries < 70; tries += 1)
      codes.push(seen(await logIn('A'.repeat(43), '198.51.100.7')).code);
    expect(codes).toContain('throttled');
    expect(seen(await logIn(code, '203.0.113.9'))).toEqual(well);
    expect(await service.login('acme', 'dispatch')).toContain('acme%7Cdispatch');
  });
});

describe('the ways to log in', () => {
  it('name the host of the login provider, and nothing without one', async () => {
    const path = '/api/v1/auth/login/ways';
    const [withOne, without] = [await start(), await start(null)];
    expect((await withOne.service.call({ path })).json()['provider']).toMatch(/^[a-z0-9.:-]+$/);
    expect((await without.service.call({ path })).json()['provider']).toBe('');
  });
});
