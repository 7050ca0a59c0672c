// Login at a provider: who begins must finish, once and in time; claims make users and give roles, deny by default; a user with a
// password is never taken over, and what a claim grants counts as granted by another.
import { afterEach, describe, expect, it } from 'vitest';
import type { Claims } from '../../broker/core/accounts/provider-identity.ts';
import { AppError } from '../../src/core/errors.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { claimsOf, createTestProvider, testProviderRules } from '../support/http/test-provider.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

type Codes = Record<string, Claims | AppError>;

async function start(codes: Codes = {}, changes: Partial<typeof testProviderRules> = {}) {
  const identityProvider = createTestProvider(codes, { ...testProviderRules, ...changes });
  const service = await startHttpService({ identityProvider });
  open.push(service);
  await service.account('acme');
  await service.account('rival');
  const begin = async () => {
    const answer = await service.call({ path: '/api/v1/auth/login/begin' });
    const { loginSecret, authorizationURL } = answer.json() as Record<string, string>;
    const state = new URL(authorizationURL ?? '').searchParams.get('state') ?? '';
    return { loginSecret: loginSecret ?? '', state };
  };
  const finish = (body: unknown) => service.call({ method: 'POST', path: '/api/v1/auth/login/finish', body });
  const logIn = async (code: string) => finish({ ...(await begin()), code });
  const get = (path: string, token: string) => service.call({ path: `/api/v1${path}/authorization`, token });
  const post = (path: string, token: string, body: unknown) =>
    service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
  return { service, begin, finish, logIn, get, post };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const tokenOf = (answer: Awaited<ReturnType<Service['call']>>) => String(answer.json()['token']);
const failed = { status: 401, code: 'login_failed' };
const forbidden = { status: 422, code: 'forbidden' };
const conflict = { status: 422, code: 'conflict' };

describe('a login at the provider', () => {
  it('begins a session that reads what the role allows, and ends at logout', async () => {
    const { logIn, get, service } = await start();
    const answer = await logIn('good-code');
    expect(answer.json()).toMatchObject({ accountID: 'acme', userID: 'from-provider' });
    const token = tokenOf(answer);
    expect((await get('/device/getalldevices', token)).status).toBe(200);
    expect((await get('/user/getallusers', token)).status).toBe(422);
    expect((await service.call({ path: '/api/v1/auth/logout/acme/from-provider', token })).status).toBe(200);
    expect((await get('/device/getalldevices', token)).status).toBe(401);
  });

  it('is off without a provider', async () => {
    const service = await startHttpService({ identityProvider: null });
    open.push(service);
    expect(seen(await service.call({ path: '/api/v1/auth/login/begin' }))).toEqual({
      status: 404,
      code: 'not_found',
    });
  });

  it('is finished once, and a wrong attempt uses it up', async () => {
    const { begin, finish } = await start();
    const first = await begin();
    expect((await finish({ ...first, code: 'good-code' })).status).toBe(200);
    expect(seen(await finish({ ...first, code: 'good-code' }))).toEqual(failed);
    const second = await begin();
    expect(seen(await finish({ ...second, state: first.state, code: 'good-code' }))).toEqual(failed);
    expect(seen(await finish({ ...second, code: 'good-code' }))).toEqual(failed);
    const third = await begin();
    expect(seen(await finish({ ...third, code: 'stolen' }))).toEqual(failed);
    expect(seen(await finish({ ...third, code: 'good-code' }))).toEqual(failed);
  });

  it('is finished by the browser that began it only', async () => {
    const { begin, finish } = await start();
    const [mine, theirs] = [await begin(), await begin()];
    const mixed = { loginSecret: theirs.loginSecret, state: mine.state, code: 'good-code' };
    expect(seen(await finish(mixed))).toEqual(failed);
    expect(seen(await finish({ ...mine, loginSecret: '0'.repeat(64), code: 'good-code' }))).toEqual(failed);
    expect((await finish({ ...mine, code: 'good-code' })).status).toBe(200);
  });

  it('of ten requests with one secret lets one through', async () => {
    const { begin, finish } = await start();
    const body = { ...(await begin()), code: 'good-code' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => finish(body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('expires after ten minutes, and the session after the hours that are set', async () => {
    const { begin, finish, logIn, get, service } = await start();
    const begun = await begin();
    service.advance(601_000);
    expect(seen(await finish({ ...begun, code: 'good-code' }))).toEqual(failed);
    const token = tokenOf(await logIn('good-code'));
    service.advance(4 * 3600_000);
    expect((await get('/device/getalldevices', token)).status).toBe(200);
    service.advance(4 * 3600_000);
    expect((await get('/device/getalldevices', token)).status).toBe(401);
  });

  it('leaves no secret, code or token in the log or the database', async () => {
    const { begin, finish, service } = await start();
    const begun = await begin();
    const token = tokenOf(await finish({ ...begun, code: 'good-code' }));
    const pending = await begin();
    const kept = JSON.stringify([
      await service.rows('SELECT * FROM provider_logins'),
      await service.rows('SELECT * FROM sessions'),
      await service.rows('SELECT * FROM audit'),
      service.logLines,
    ]);
    for (const secret of [begun.loginSecret, pending.loginSecret, pending.state, 'good-code', token])
      expect(kept).not.toContain(secret);
  });

  it('reports that the provider is down, while logins with a password work', async () => {
    const down = new AppError('unavailable', 'The provider is down', { retryAfterS: 5 });
    const { logIn, service } = await start({ down });
    expect(seen(await logIn('down'))).toEqual({ status: 503, code: 'unavailable' });
    expect(await service.login('acme', 'admin')).toContain('acme%7Cadmin');
  });

  it('is limited to a rate for each source', async () => {
    const { service } = await start();
    service.pin();
    holdClock(service);
    const codes: unknown[] = [];
    for (let tries = 0; tries < 200; tries++) {
      codes.push(seen(await service.call({ path: '/api/v1/auth/login/begin', from: '198.51.100.7' })).code);
    }
    expect(codes[0]).toBeUndefined();
    expect(codes).toContain('throttled');
    expect((await service.call({ path: '/api/v1/auth/login/begin', from: '203.0.113.9' })).status).toBe(200);
  });
});

describe('the claims of a provider', () => {
  it('admit no person without a role, an account or a name', async () => {
    const { logIn, service } = await start(
      {
        none: claimsOf('a', [], { org: 'acme' }),
        other: claimsOf('b', ['fleet-admins ', 'Fleet-Admins', 'x'], { org: 'acme' }),
        missing: { sub: 'c', preferred_username: 'c', org: 'acme' },
        proto: {
          ...claimsOf('d', []),
          org: 'acme',
          realm_access: JSON.parse('{"__proto__":{"roles":["fleet-admins"]}}') as unknown,
        },
        nameless: claimsOf('e', ['fleet-viewers'], { preferred_username: '漢字', org: 'acme' }),
        otherAccount: claimsOf('f', ['fleet-viewers'], { org: 'nowhere' }),
        listed: claimsOf('g', ['fleet-viewers'], { org: ['acme'] }),
        unproven: claimsOf('', ['fleet-viewers'], { org: 'acme' }),
      },
      {
        accountID: null,
        accountClaim: 'org',
        accounts: [
          { value: 'acme', accountID: 'acme' },
          { value: 'nowhere', accountID: 'nowhere' },
        ],
      },
    );
    for (const code of [
      'none',
      'other',
      'missing',
      'proto',
      'nameless',
      'otherAccount',
      'listed',
      'unproven',
    ])
      expect([code, seen(await logIn(code))]).toEqual([code, forbidden]);
    expect(await service.rows("SELECT user_id FROM users WHERE user_id <> 'admin'")).toEqual([]);
  });

  it('never take over a user with a password, nor a user of another person', async () => {
    const { logIn, service } = await start({
      admin: claimsOf('subject-1', ['fleet-admins'], { preferred_username: 'admin' }),
      first: claimsOf('subject-2', ['fleet-viewers'], { preferred_username: 'ann.b@example.com' }),
      second: claimsOf('subject-3', ['fleet-viewers'], { preferred_username: 'ann-b@example.com' }),
    });
    expect(seen(await logIn('admin'))).toEqual(conflict);
    expect((await logIn('first')).json()).toMatchObject({ userID: 'ann-b-example-com' });
    expect(seen(await logIn('second'))).toEqual(conflict);
    expect(
      await service.rows("SELECT identity FROM users WHERE account_id = 'acme' AND user_id = 'admin'"),
    ).toEqual([{ identity: null }]);
  });

  it('find a user again by the subject when the name has changed', async () => {
    const { logIn } = await start({
      before: claimsOf('subject-1', ['fleet-viewers'], { preferred_username: 'miller' }),
      after: claimsOf('subject-1', ['fleet-viewers'], { preferred_username: 'smith' }),
    });
    await logIn('before');
    expect((await logIn('after')).json()).toMatchObject({ userID: 'miller' });
  });

  it('change the role at the next login, and a lost role ends every session', async () => {
    const { logIn, get, service } = await start({
      operator: claimsOf('otto', ['fleet-operators', 'fleet-viewers']),
      viewer: claimsOf('otto', ['fleet-viewers']),
      gone: claimsOf('otto', []),
    });
    const admin = await service.login('acme', 'admin');
    const roleOf = async () => (await get('/user/getuser/otto', admin)).json()['roleID'];
    const token = tokenOf(await logIn('operator'));
    expect(await roleOf()).toBe('operator');
    await logIn('viewer');
    expect(await roleOf()).toBe('viewer');
    expect(seen(await logIn('gone'))).toEqual(forbidden);
    expect((await get('/device/getalldevices', token)).status).toBe(401);
  });

  it('make users and roles that two administrators must answer for, as one may run the provider', async () => {
    const { logIn, get, service } = await start({ boss: claimsOf('boss', ['fleet-admins']) });
    const boss = tokenOf(await logIn('boss'));
    const admin = await service.login('acme', 'admin');
    const view = (await get('/user/getuser/boss', admin)).json();
    expect(view).toMatchObject({ roleID: 'admin', isConfirmed: false, grantedBy: 'OpenID Connect' });
    const confirm = (token: string) =>
      service.call({
        method: 'POST',
        path: '/api/v1/user/confirmuser/authorization',
        token,
        body: { userID: 'boss' },
      });
    const waiting = { isConfirmed: false, grantedBy: 'admin' };
    expect(seen(await confirm(boss))).toEqual(conflict);
    expect((await confirm(admin)).json()).toMatchObject(waiting);
    expect(seen(await confirm(admin)), 'the same one again').toEqual(conflict);
    service.advance(25 * 3600_000);
    expect(seen(await confirm(await service.login('acme', 'admin'))), 'a day later').toEqual(conflict);
    await logIn('boss');
    expect((await get('/user/getuser/boss', await service.login('acme', 'admin'))).json()).toMatchObject(
      waiting,
    );
    await service.user('acme', 'berta', 'admin');
    expect((await confirm(await service.login('acme', 'berta'))).json()).toMatchObject({ isConfirmed: true });
    const entries = await service.rows(
      "SELECT actor, action FROM audit WHERE action IN ('user.create', 'user.vouch', 'user.confirm') ORDER BY audit_no",
    );
    expect(entries).toEqual([
      { actor: 'OpenID Connect', action: 'user.create' },
      { actor: 'admin', action: 'user.vouch' },
      { actor: 'berta', action: 'user.confirm' },
    ]);
  });

  it('start the confirmation again when they give a stronger role', async () => {
    const { logIn, service } = await start({
      operator: claimsOf('otto', ['fleet-operators']),
      viewer: claimsOf('otto', ['fleet-viewers']),
    });
    await logIn('viewer');
    await service.sql("UPDATE users SET granted_by = NULL WHERE user_id = 'otto'");
    const grantor = async () =>
      (await service.rows("SELECT granted_by FROM users WHERE user_id = 'otto'"))[0];
    await logIn('viewer');
    expect(await grantor()).toEqual({ granted_by: null });
    await logIn('operator');
    expect(await grantor()).toEqual({ granted_by: 'OpenID Connect' });
  });

  it('make users in the accounts of the table only, each in its own', async () => {
    const { logIn, get, service } = await start(
      {
        ours: claimsOf('otto', ['fleet-admins'], { org: 'org-17' }),
        theirs: claimsOf('rita', ['fleet-admins'], { org: 'org-18' }),
        byName: claimsOf('eve', ['fleet-admins'], { org: 'acme' }),
        both: claimsOf('eve', ['fleet-admins'], { org: ['org-17', 'org-18'] }),
        none: claimsOf('eve', ['fleet-admins']),
        closed: claimsOf('eve', ['fleet-admins'], { org: 'org-19' }),
      },
      {
        accountID: null,
        accountClaim: 'org',
        accounts: [
          { value: 'org-17', accountID: 'acme' },
          { value: 'org-18', accountID: 'rival' },
          { value: 'org-19', accountID: 'closed' },
        ],
      },
    );
    await service.account('closed');
    await service.sql("UPDATE accounts SET is_active = 0 WHERE account_id = 'closed'");
    expect((await logIn('ours')).json()).toMatchObject({ accountID: 'acme', userID: 'otto' });
    const rita = await logIn('theirs');
    expect(rita.json()).toMatchObject({ accountID: 'rival', userID: 'rita' });
    expect((await get('/user/getallusers', tokenOf(rita))).text).not.toContain('otto');
    expect((await get('/user/getuser/otto', tokenOf(rita))).status).toBe(404);
    for (const code of ['byName', 'both', 'none', 'closed']) {
      expect([code, seen(await logIn(code))]).toEqual([code, forbidden]);
    }
    const made = await service.rows(
      "SELECT account_id, user_id FROM users WHERE user_id <> 'admin' ORDER BY user_id",
    );
    expect(made).toEqual([
      { account_id: 'acme', user_id: 'otto' },
      { account_id: 'rival', user_id: 'rita' },
    ]);
  });

  it('limit the devices to known groups where a claim names them', async () => {
    const { logIn, get, service } = await start(
      {
        north: claimsOf('nora', ['fleet-viewers'], { teams: ['north', 'no-such', 7] }),
        all: claimsOf('nora', ['fleet-viewers'], { teams: ['all'] }),
      },
      { groupsClaim: 'teams' },
    );
    await service.sql(
      "INSERT INTO device_groups (account_id, group_id, display_name, description) VALUES ('acme', 'north', 'North', '')",
    );
    await service.device('acme', 'truck-1');
    const admin = await service.login('acme', 'admin');
    const token = tokenOf(await logIn('north'));
    expect((await get('/user/getuser/nora', admin)).json()).toMatchObject({ groups: ['north'] });
    expect((await get('/device/getalldevices', token)).text).not.toContain('truck-1');
    await logIn('all');
    expect((await get('/device/getalldevices', token)).text).toContain('truck-1');
  });
});

describe('a user of the provider', () => {
  it('has no password: none logs in, is set, or proves anything', async () => {
    const { logIn, post, service } = await start({ otto: claimsOf('otto', ['fleet-operators']) });
    const token = tokenOf(await logIn('otto'));
    const [row] = await service.rows("SELECT password_hash FROM users WHERE user_id = 'otto'");
    for (const password of [String(row?.['password_hash']), 'correct horse battery staple']) {
      const body = { accountID: 'acme', userID: 'otto', password };
      expect(seen(await service.call({ method: 'POST', path: '/auth/login', body }))).toEqual(failed);
    }
    const newPassword = 'seven lamps over the yard';
    const change = { currentPassword: 'x', newPassword };
    expect(seen(await post('/user/changepassword', token, change))).toEqual(forbidden);
    const admin = await service.login('acme', 'admin');
    const update = (more: object) => post('/user/updateuser', admin, { userID: 'otto', ...more });
    expect(seen(await update({ password: newPassword }))).toEqual(conflict);
    expect(seen(await update({ roleID: 'admin' }))).toEqual(conflict);
    expect((await update({ groups: ['all'] })).json()).toMatchObject({ hasPassword: false, groups: ['all'] });
  });

  it('logs in again where the password is needed: one cut for one fresh login; a restore needs none', async () => {
    const otto = claimsOf('otto', ['fleet-operators']);
    const { logIn, get, post, service } = await start({
      otto,
      other: claimsOf('other', ['fleet-operators']),
      stale: { ...otto, auth_time: 1 },
      silent: { sub: 'otto' },
    });
    await service.device('acme', 'truck-1');
    await service.sql("UPDATE accounts SET needs_password = 1 WHERE account_id = 'acme'");
    const token = tokenOf(await logIn('otto'));
    const cut = { deviceID: 'truck-1', feature: 'enginecutoff', state: '1' };
    const command = async (password?: string, by = token) => {
      // Past the wait after a wrong password.
      service.advance(31_000);
      return seen(await post('/command/feature', by, password === undefined ? cut : { ...cut, password }));
    };
    const begin = async () => {
      const begun = (await get('/auth/loginagain/begin', token)).json() as Record<string, string>;
      const state = new URL(begun['authorizationURL'] ?? '').searchParams.get('state') ?? '';
      return { loginSecret: begun['loginSecret'] ?? '', state };
    };
    const finish = (body: object, by = token) => post('/auth/loginagain/finish', by, body);
    const needed = { status: 422, code: 'password_needed' };
    const wrong = { status: 422, code: 'password_wrong' };
    expect(await command()).toEqual(needed);
    expect(await command('x')).toEqual(wrong);
    expect((await post('/command/feature', token, { ...cut, state: '0' })).status).toBe(200);
    for (const code of ['other', 'stale', 'silent', 'unknown']) {
      const begun = await begin();
      expect([code, seen(await finish({ ...begun, code }))]).toEqual([code, wrong]);
      expect(seen(await finish({ ...begun, code: 'otto' }))).toEqual(wrong);
      expect(await command(begun.loginSecret)).toEqual(wrong);
    }
    const second = tokenOf(await logIn('otto'));
    const good = await begin();
    expect(await command(good.loginSecret)).toEqual(wrong);
    expect(seen(await finish({ ...good, code: 'otto' }, second))).toEqual(wrong);
    expect((await finish({ ...good, code: 'otto' })).status).toBe(200);
    expect(await command(good.loginSecret, second)).toEqual(wrong);
    expect((await command(good.loginSecret)).status).toBe(200);
    expect(await command(good.loginSecret)).toEqual(wrong);
  });

  it('makes no API token, which would outlive the claims of the provider', async () => {
    const { logIn, post } = await start();
    const token = tokenOf(await logIn('good-code'));
    expect(seen(await post('/auth/token', token, { description: 'for ever' }))).toEqual(conflict);
  });

  it('stays out while an administrator has suspended it', async () => {
    const { logIn, post, get, service } = await start();
    const token = tokenOf(await logIn('good-code'));
    const admin = await service.login('acme', 'admin');
    expect((await post('/user/updateuser', admin, { userID: 'from-provider', isActive: false })).status).toBe(
      200,
    );
    expect((await get('/device/getalldevices', token)).status).toBe(401);
    expect(seen(await logIn('good-code'))).toEqual(failed);
  });

  it('has the devices of the claim only, where one names them', async () => {
    const { logIn, post, service } = await start({}, { groupsClaim: 'teams' });
    await logIn('good-code');
    const admin = await service.login('acme', 'admin');
    const update = (more: object) => post('/user/updateuser', admin, { userID: 'from-provider', ...more });
    expect(seen(await update({ groups: ['all'] }))).toEqual(conflict);
    expect((await update({ userDisplayName: 'Nora' })).json()).toMatchObject({ groups: [] });
  });

  it('never leaves an account without an administrator who has a password', async () => {
    const { logIn, post, service } = await start({ boss: claimsOf('boss', ['fleet-admins']) });
    const boss = tokenOf(await logIn('boss'));
    const update = (changes: object) => post('/user/updateuser', boss, { userID: 'admin', ...changes });
    expect(seen(await update({ isActive: false }))).toEqual(conflict);
    expect(seen(await update({ roleID: 'viewer' }))).toEqual(conflict);
    expect(seen(await post('/user/deleteuser', boss, { userID: 'admin' }))).toEqual(conflict);
    const admin = await service.login('acme', 'admin');
    expect((await post('/user/deleteuser', admin, { userID: 'boss' })).status).toBe(200);
  });

  it('keeps the last administrator of an account in office', async () => {
    const { logIn, service } = await start({
      boss: claimsOf('boss', ['fleet-admins']),
      demoted: claimsOf('boss', ['fleet-viewers']),
    });
    await logIn('boss');
    await service.sql("UPDATE users SET is_active = 0 WHERE account_id = 'acme' AND user_id = 'admin'");
    expect(seen(await logIn('demoted'))).toEqual(conflict);
  });
});
