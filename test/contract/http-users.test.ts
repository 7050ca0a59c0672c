// Users, groups, tokens and the own account, as an app meets them: who may do what, what an account must never lose, and
// what no answer may reveal.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Role } from '../../broker/core/accounts/session.ts';
import { holdClock } from '../support/http/held-clock.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { password, startHttpService } from '../support/http/http-service.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

let service: HttpService;
let admin = '';

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const device of ['north-1', 'north-2', 'south-1']) await service.device('acme', device);
  await service.device('rival', 'rival-1');
  await service.user('rival', 'only-there', 'viewer');
  admin = await service.login('acme', 'admin');
});

afterAll(() => service.close());

const post = (path: string, body: object, token = admin) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, body, token });
const get = (path: string, token = admin) => service.call({ path: `/api/v1${path}/authorization`, token });
const codeOf = (answer: Awaited<ReturnType<typeof get>>) =>
  (answer.json()['error'] as { code: string } | undefined)?.code ?? answer.status;
const pointersOf = (answer: Awaited<ReturnType<typeof get>>) =>
  (answer.json()['error'] as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer);
let logins = 0;
/** Each from an address of its own. */
const tryLogin = (userID: string, secret = password) => {
  logins += 1;
  return service.call({
    method: 'POST',
    path: '/auth/login',
    body: { accountID: 'acme', userID, password: secret },
    from: `10.9.${Math.floor(logins / 250)}.${logins % 250}`,
  });
};

async function makeUser(userID: string, role: Role, more: object = {}): Promise<string> {
  const made = await post('/user/createuser', { userID, password, roleID: role, ...more });
  expect(made.status, made.text).toBe(200);
  return service.login('acme', userID);
}
const devicesSeen = async (token: string) => {
  const answer = await get('/device/getalldevices', token);
  return (answer.json()['devices'] as { deviceID: string }[]).map(({ deviceID }) => deviceID);
};
const auditOf = async (object: string): Promise<string[]> => {
  const [found] = await service.sql(
    `SELECT action FROM audit WHERE account_id = 'acme' AND object = '${object}' ORDER BY audit_no`,
  );
  return (found?.rows ?? []).map((row) => String(row['action']));
};

describe('a new user', () => {
  it('is a viewer who sees every device by default', async () => {
    const made = await post('/user/createuser', { userID: 'plain', password });
    expect(made.json()).toMatchObject({
      userID: 'plain',
      userDisplayName: 'plain',
      roleID: 'viewer',
      groups: ['all'],
      isActive: true,
      timeZone: 'UTC',
      success: '1',
    });
    expect(await devicesSeen(await service.login('acme', 'plain'))).toHaveLength(3);
  });

  it('with the id of one that is there is refused, and that one keeps groups, role and password', async () => {
    await makeUser('taken', 'operator', { groups: [] });
    await post('/group/updategroup', { groupID: 'g1', devices: ['north-1'] });
    const again = await post('/user/createuser', {
      userID: 'taken',
      password: 'another long enough one',
      groups: ['g1'],
    });
    expect(codeOf(again)).toBe('conflict');
    expect((await get('/user/getuser/taken')).json()).toMatchObject({ roleID: 'operator', groups: [] });
    expect((await tryLogin('taken')).status).toBe(200);
    expect(await auditOf('taken')).toEqual(['user.create', 'login', 'login']);
  });

  it('differs from every other by more than letter case', async () => {
    await makeUser('Dora', 'viewer');
    for (const userID of ['dora', 'DORA', 'Dora']) {
      const again = await post('/user/createuser', { userID, password });
      expect([userID, again.status]).toEqual([userID, 422]);
    }
    expect((await post('/user/createuser', { userID: 'dora-2', password })).status).toBe(200);
  });

  it.each(['nobody', 'a@b..c', '.a@example.org', 'a@192.0.2.1', 'Ann <ann@example.org>', 'ann@exämple.org'])(
    'takes no mailbox that mail cannot reach: %s',
    async (userNotifyEmail) => {
      const answer = await post('/user/createuser', { userID: 'unreached', password, userNotifyEmail });
      expect(answer.status).toBe(422);
    },
  );

  it('that is asked for by many at once is made once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => post('/user/createuser', { userID: 'once', password })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 422, 422, 422, 422]);
    expect((await auditOf('once')).filter((action) => action === 'user.create')).toHaveLength(1);
  });

  it.each([
    ['123456789012'],
    ['passwordpassword'],
    ['P@ssw0rd2024!'],
    ['qwerty-qwerty-1'],
    ['aaaaaaaaaaaaaaaa'],
    ['acme-weakling-1'],
    ['Weakling-acme!!'],
    ['administrator1'],
  ])('cannot have the password %s', async (weak) => {
    const answer = await post('/user/createuser', { userID: 'weakling', password: weak });
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['invalid_content', ['/password']]);
    expect(answer.text).not.toContain(weak);
  });

  it('cannot be in a group that is not there, nor live in a time zone that is none', async () => {
    const fields = { userID: 'nobody', password };
    expect(pointersOf(await post('/user/createuser', { ...fields, groups: ['all', 'none'] }))).toEqual([
      '/groups/1',
    ]);
    expect(pointersOf(await post('/user/createuser', { ...fields, timeZone: 'Mars/Base' }))).toEqual([
      '/timeZone',
    ]);
    expect(codeOf(await get('/user/getuser/nobody'))).toBe('not_found');
  });
});

describe('groups', () => {
  it('limit what a user sees, at once, in every form', async () => {
    const put = await post('/group/updategroup', { groupID: 'north', devices: ['north-1', 'north-2'] });
    expect(put.json()).toMatchObject({ groupID: 'north', devices: ['north-1', 'north-2'] });
    const token = await makeUser('limited', 'operator', { groups: ['north'] });
    expect(await devicesSeen(token)).toEqual(['north-1', 'north-2']);
    expect(codeOf(await get('/device/getdevice/south-1', token))).toBe('not_found');
    await post('/user/updateuser', { userID: 'limited', groups: ['north', 'all'] });
    expect(await devicesSeen(token)).toHaveLength(3);
    await post('/user/updateuser', { userID: 'limited', groups: [] });
    expect(await devicesSeen(token)).toEqual([]);
    await post('/user/updateuser', { userID: 'limited', userDisplayName: 'L' });
    expect((await get('/user/getuser/limited')).json()).toMatchObject({ groups: [], userDisplayName: 'L' });
  });

  it('that are deleted leave their users limited', async () => {
    await post('/group/updategroup', { groupID: 'gone', devices: ['south-1'] });
    const token = await makeUser('left-behind', 'viewer', { groups: ['gone'] });
    expect(await devicesSeen(token)).toEqual(['south-1']);
    expect((await post('/group/deletegroup', { groupID: 'gone' })).status).toBe(200);
    expect(await devicesSeen(token)).toEqual([]);
    expect(codeOf(await post('/group/deletegroup', { groupID: 'gone' }))).toBe('not_found');
    expect(await auditOf('gone')).toEqual(['group.update', 'group.delete']);
  });

  it('are replaced whole or left alone, and take no device that is not there', async () => {
    const list = async () =>
      ((await get('/group/groups')).json()['groups'] as { groupID: string; devices: string[] }[]).find(
        ({ groupID }) => groupID === 'mixed',
      );
    await post('/group/updategroup', { groupID: 'mixed', devices: ['north-1', 'south-1'] });
    await post('/group/updategroup', { groupID: 'mixed', groupDisplayName: 'Mixed' });
    expect(await list()).toMatchObject({ groupDisplayName: 'Mixed', devices: ['north-1', 'south-1'] });
    const wrong = await post('/group/updategroup', {
      groupID: 'mixed',
      devices: ['north-2', 'rival-1', 'x'],
    });
    expect([codeOf(wrong), pointersOf(wrong)]).toEqual(['invalid_content', ['/devices/1', '/devices/2']]);
    expect(await list()).toMatchObject({ devices: ['north-1', 'south-1'] });
    await post('/group/updategroup', { groupID: 'mixed', devices: [] });
    expect(await list()).toMatchObject({ devices: [] });
    expect(codeOf(await post('/group/updategroup', { groupID: 'all' }))).toBe('invalid_content');
  });

  it('of others are not shown to a limited user', async () => {
    await post('/user/updateuser', { userID: 'limited', groups: ['north'] });
    const token = await service.login('acme', 'limited');
    const { groups } = (await get('/group/groups', token)).json() as { groups: { groupID: string }[] };
    expect(groups.map(({ groupID }) => groupID)).toEqual(['north']);
  });

  it('of a thousand devices are kept whole', async () => {
    const devices = Array.from({ length: 1001 }, (_, at) => `many-${String(at).padStart(4, '0')}`);
    await service.sql(`INSERT INTO devices (account_no, account_id, device_id, created_s)
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      SELECT account_no, account_id, 'many-' || substr('000' || i, LENGTH('000' || i) - 3), 1 FROM accounts, n WHERE account_id = 'acme'`);
    const put = await post('/group/updategroup', { groupID: 'many', devices });
    expect(put.json()['devices']).toEqual(devices);
    await service.sql(
      "DELETE FROM group_devices WHERE device_no IN (SELECT device_no FROM devices WHERE device_id LIKE 'many-%')",
    );
    await service.sql("DELETE FROM devices WHERE device_id LIKE 'many-%'");
  });
});

describe('the last active administrator', () => {
  it('cannot be demoted, suspended or deleted', async () => {
    for (const change of [{ roleID: 'operator' }, { isActive: false }, { roleID: 'viewer', groups: [] }]) {
      expect(codeOf(await post('/user/updateuser', { userID: 'admin', ...change }))).toBe('conflict');
    }
    expect(codeOf(await post('/user/deleteuser', { userID: 'admin' }))).toBe('conflict');
    expect((await get('/user/getuser/admin')).json()).toMatchObject({
      roleID: 'admin',
      isActive: true,
      groups: ['all'],
    });
    // A suspended one does not count.
    await makeUser('sleeping', 'admin');
    await post('/user/updateuser', { userID: 'sleeping', isActive: false });
    expect(codeOf(await post('/user/updateuser', { userID: 'admin', isActive: false }))).toBe('conflict');
    await post('/user/deleteuser', { userID: 'sleeping' });
  });

  it.each([
    ['delete', '/user/deleteuser', {}],
    ['demote', '/user/updateuser', { roleID: 'viewer' }],
    ['suspend', '/user/updateuser', { isActive: false }],
  ])('is left when all of them %s each other at the same moment', async (_name, path, change) => {
    for (let round = 0; round < 5; round += 1) {
      const names = ['ann', 'bob', 'cid'];
      const tokens = await Promise.all(names.map((name) => makeUser(`${name}-${round}`, 'admin')));
      await service.sql("UPDATE users SET is_active = 0 WHERE account_id = 'acme' AND user_id = 'admin'");
      await Promise.all(
        tokens.flatMap((token, at) =>
          names
            .filter((_, other) => other !== at)
            .map((name) => post(path, { userID: `${name}-${round}`, ...change }, token)),
        ),
      );
      const [left] = await service.sql(
        "SELECT user_id FROM users WHERE account_id = 'acme' AND role = 'admin' AND is_active = 1",
      );
      expect(left?.rows.length).toBeGreaterThanOrEqual(1);
      await service.sql("UPDATE users SET is_active = 1 WHERE account_id = 'acme' AND user_id = 'admin'");
      for (const name of names) await post('/user/deleteuser', { userID: `${name}-${round}` });
    }
  });

  it('deletes one of two administrators who delete each other', async () => {
    const tokens = await Promise.all(['eve', 'fay'].map((name) => makeUser(name, 'admin')));
    const [eve = '', fay = ''] = tokens;
    const answers = await Promise.all([
      post('/user/deleteuser', { userID: 'fay' }, eve),
      post('/user/deleteuser', { userID: 'eve' }, fay),
    ]);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
    for (const name of ['eve', 'fay']) await post('/user/deleteuser', { userID: name });
  });

  it('rejects the request of a user to delete itself', async () => {
    const token = await makeUser('tired', 'admin');
    expect(codeOf(await post('/user/deleteuser', { userID: 'tired' }, token))).toBe('conflict');
    expect((await post('/user/deleteuser', { userID: 'tired' })).status).toBe(200);
  });
});

describe('what ends a token at once', () => {
  it.each([
    ['deletion of the user', '/user/deleteuser', {}],
    ['suspension of the user', '/user/updateuser', { isActive: false }],
    ['a password set by an administrator', '/user/updateuser', { password: 'a quite different secret' }],
  ])('%s', async (name, path, change) => {
    const userID = `ends-${name.length}`;
    const token = await makeUser(userID, 'viewer');
    const api = await post('/auth/token', { description: 'x' }, token);
    const apiToken = String(api.json()['token']);
    for (const one of [token, apiToken]) expect((await get('/group/groups', one)).status).toBe(200);
    expect((await post(path, { userID, ...change })).status).toBe(200);
    for (const one of [token, apiToken]) expect((await get('/group/groups', one)).status).toBe(401);
    expect((await tryLogin(userID)).status).toBe(401);
    if (path === '/user/updateuser') {
      await post('/user/updateuser', { userID, isActive: true });
      expect((await get('/group/groups', token)).status).toBe(401);
    }
  });

  it('the end of the account, after which no login succeeds', async () => {
    const token = await makeUser('tenant', 'viewer');
    const api = String((await post('/auth/token', { description: 'x' }, token)).json()['token']);
    for (const change of ['expires_s = 1', 'is_active = 0']) {
      await service.sql(`UPDATE accounts SET ${change} WHERE account_id = 'acme'`);
      for (const one of [token, api]) expect((await get('/group/groups', one)).status).toBe(401);
      expect((await tryLogin('tenant')).status).toBe(401);
      await service.sql("UPDATE accounts SET expires_s = NULL, is_active = 1 WHERE account_id = 'acme'");
      expect((await get('/group/groups', token)).status).toBe(200);
    }
  });

  it('a smaller role holds from the next call on', async () => {
    const token = await makeUser('shrinking', 'admin');
    expect((await get('/user/getallusers', token)).status).toBe(200);
    await post('/user/updateuser', { userID: 'shrinking', roleID: 'viewer' });
    expect(codeOf(await get('/user/getallusers', token))).toBe('forbidden');
  });
});

describe('a password', () => {
  it('is changed by its user, which ends the other sessions and not this one', async () => {
    const mine = await makeUser('changer', 'viewer');
    const other = await service.login('acme', 'changer');
    const change = (currentPassword: string, newPassword: string) =>
      post('/user/changepassword', { currentPassword, newPassword }, mine);
    const wrong = await change('not the right one', 'a fresh new secret');
    expect([wrong.status, pointersOf(wrong)]).toEqual([422, ['/currentPassword']]);
    expect(codeOf(await change(password, 'changer-12345'))).toBe('invalid_content');
    expect((await change(password, 'a fresh new secret')).status).toBe(200);
    expect((await get('/group/groups', mine)).status).toBe(200);
    expect((await get('/group/groups', other)).status).toBe(401);
    expect((await tryLogin('changer')).status).toBe(401);
    expect((await tryLogin('changer', 'a fresh new secret')).status).toBe(200);
    expect(await auditOf('changer')).toEqual([
      'user.create',
      'login',
      'login',
      'password.fail',
      'user.password',
      'login.fail',
      'login',
    ]);
  });

  it('of the caller is not set without the old one, not even by an administrator', async () => {
    const answer = await post('/user/updateuser', { userID: 'admin', password: 'a fresh new secret' });
    expect([codeOf(answer), pointersOf(answer)]).toEqual(['conflict', ['/password']]);
    expect((await tryLogin('admin')).status).toBe(200);
  });

  it('is not guessed through a stolen token', async () => {
    service.pin();
    onTestFinished(holdClock(service));
    const token = await makeUser('robbed', 'viewer');
    const answers: (string | number)[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      const body = { currentPassword: `guess number ${tries}`, newPassword: 'a fresh new secret' };
      answers.push(codeOf(await post('/user/changepassword', body, token)));
    }
    expect(answers.slice(0, 3)).toEqual(['invalid_content', 'invalid_content', 'invalid_content']);
    expect(answers.at(-1)).toBe('throttled');
  });

  it('stands in no answer, log or audit entry; nor does a hash', async () => {
    const secret = 'unmistakable secret text';
    const made = await post('/user/createuser', { userID: 'discreet', password: secret });
    const changed = await post('/user/updateuser', { userID: 'discreet', password: `${secret} again` });
    const texts = [
      made.text,
      changed.text,
      (await get('/user/getuser/discreet')).text,
      (await get('/user/getallusers')).text,
      service.logLines.join('\n'),
      JSON.stringify(await service.sql('SELECT * FROM audit')),
    ];
    for (const text of texts) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('$argon2');
    }
  });
});

describe('an API token', () => {
  it('lives by its end and not by its use, and ends then', async () => {
    const login = await makeUser('robot', 'operator');
    const nowS = Math.floor(Date.now() / 1000);
    const made = await post(
      '/auth/token',
      { description: 'night job', expires: nowS + 100 * 24 * 3600 },
      login,
    );
    const { token, tokenID } = made.json() as { token: string; tokenID: string };
    expect(token).toMatch(/^acme%7Crobot%7C[0-9a-f]{64}$/);
    service.advance(40 * dayMs);
    expect((await get('/group/groups', login)).status).toBe(401);
    expect((await get('/group/groups', token)).status).toBe(200);
    // A login afterwards sweeps away what is over, not what lives.
    await service.login('acme', 'robot');
    expect((await get('/group/groups', token)).status).toBe(200);
    const { tokens } = (await get('/auth/tokens', token)).json() as { tokens: object[] };
    expect(tokens).toContainEqual(
      expect.objectContaining({ tokenID, kind: 'api', description: 'night job', isCurrent: true }),
    );
    expect(JSON.stringify(tokens)).not.toContain(token.split('%7C')[2]);
    service.advance(61 * dayMs);
    expect((await get('/group/groups', token)).status).toBe(401);
    service.advance(-101 * dayMs);
    admin = await service.login('acme', 'admin');
  });

  it('has the rights of its user and no more, whatever they become', async () => {
    const login = await makeUser('helper', 'operator', { groups: ['north'] });
    const token = String((await post('/auth/token', { description: 'x' }, login)).json()['token']);
    expect(await devicesSeen(token)).toEqual(['north-1', 'north-2']);
    expect(codeOf(await get('/user/getallusers', token))).toBe('forbidden');
    await post('/user/updateuser', { userID: 'helper', roleID: 'viewer', groups: [] });
    expect(await devicesSeen(token)).toEqual([]);
    expect(codeOf(await post('/device/createdevice', { deviceID: 'x' }, token))).toBe('forbidden');
  });

  it('makes no further token, and lives for a year and a day at most', async () => {
    const login = await makeUser('eternal', 'viewer');
    const token = String((await post('/auth/token', { description: 'x' }, login)).json()['token']);
    expect(codeOf(await post('/auth/token', { description: 'y' }, token))).toBe('forbidden');
    const nowS = Math.floor(Date.now() / 1000);
    for (const expires of [1, nowS - 10, nowS + 367 * 24 * 3600]) {
      expect(codeOf(await post('/auth/token', { description: 'y', expires }, login))).toBe('invalid_content');
    }
  });

  it('is one of fifty at most', async () => {
    const login = await makeUser('hoarder', 'viewer');
    await service.sql(`INSERT INTO sessions (token_hash, token_id, account_id, user_id, kind, created_s, last_used_s, expires_s)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 49)
      SELECT 'hoard-' || i, 'hoard-' || i, 'acme', 'hoarder', 'api', 1, 1, 9999999999 FROM n`);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post('/auth/token', { description: 'x' }, login)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is revoked by its user only', async () => {
    const login = await makeUser('owner', 'viewer');
    const { token, tokenID } = (await post('/auth/token', { description: 'x' }, login)).json() as {
      token: string;
      tokenID: string;
    };
    expect(codeOf(await post('/auth/revoketoken', { tokenID }, admin))).toBe('not_found');
    expect((await post('/auth/revoketoken', { tokenID }, login)).status).toBe(200);
    expect((await get('/group/groups', token)).status).toBe(401);
    expect(codeOf(await post('/auth/revoketoken', { tokenID }, login))).toBe('not_found');
    expect(await auditOf(tokenID)).toEqual(['token.create', 'token.revoke']);
  });
});

describe('an answer never reveals', () => {
  const strip = (text: string) =>
    text.replace(/"requestId":"\w+"/, '').replaceAll(/only-there|not-there/g, 'X');

  it('whether a user exists elsewhere, or here to anyone but administrators', async () => {
    const viewer = await makeUser('curious', 'operator');
    const foreign = strip((await get('/user/getuser/only-there')).text);
    expect(strip((await get('/user/getuser/not-there')).text)).toBe(foreign);
    expect(strip((await get('/user/getuser/only-there', viewer)).text)).toBe(foreign);
    expect(codeOf(await get('/user/getuser/admin', viewer))).toBe('not_found');
    expect((await get('/user/getuser/curious', viewer)).status).toBe(200);
    for (const path of ['/user/updateuser', '/user/deleteuser']) {
      const unknown = await post(path, { userID: 'not-there' });
      expect(codeOf(unknown)).toBe('not_found');
      expect(strip((await post(path, { userID: 'only-there' })).text)).toBe(strip(unknown.text));
    }
  });

  it('whether another account exists', async () => {
    const text = async (accountID: string) =>
      strip((await get(`/auth/checkaccount/${accountID}`)).text).replaceAll(accountID, 'X');
    expect(await text('rival')).toBe(await text('nobody-at-all'));
    expect(codeOf(await post('/auth/updateaccount', { accountID: 'rival' }))).toBe('not_found');
  });
});

describe('the account', () => {
  it('shows its limits to all of its users', async () => {
    const viewer = await makeUser('counter', 'viewer');
    await service.sql(
      "UPDATE accounts SET device_limit = 500, expires_s = 9999999999 WHERE account_id = 'acme'",
    );
    expect((await get('/auth/checkaccount/acme', viewer)).json()).toMatchObject({
      isActive: true,
      expirationTime: 9_999_999_999,
      maximumDevices: 500,
      deviceCount: 3,
    });
    expect(codeOf(await get('/auth/account', viewer))).toBe('forbidden');
  });

  it('keeps events for as long as its administrator sets, within what the operator of the service allows', async () => {
    const set = (retainedDays: number) => post('/auth/updateaccount', { accountID: 'acme', retainedDays });
    expect((await set(30)).json()).toMatchObject({ retainedDays: 30, maximumRetainedDays: 0 });
    expect((await set(0)).json()).toMatchObject({ retainedDays: 0 });
    await service.sql(
      "UPDATE accounts SET retained_most_days = 90, retained_days = 90 WHERE account_id = 'acme'",
    );
    for (const days of [91, 0]) expect(codeOf(await set(days))).toBe('conflict');
    expect((await set(90)).json()).toMatchObject({ retainedDays: 90, maximumRetainedDays: 90 });
    expect((await set(7)).json()).toMatchObject({ retainedDays: 7 });
  });
});

describe('an account', () => {
  it.each([
    [
      'users',
      'user_id, password_hash, role, display_name',
      "'u-' || i, '', 'viewer', ''",
      '/user/createuser',
    ],
    ['device_groups', 'group_id', "'g-' || i", '/group/updategroup'],
  ])('has a thousand %s at most', async (table, columns, values, path) => {
    const extra = table === 'users' ? ', created_s' : '';
    await service.account(`full-${path.length}`);
    await service.sql(`INSERT INTO ${table} (account_id, ${columns}${extra})
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
      SELECT 'full-${path.length}', ${values}${extra === '' ? '' : ', 1'} FROM n`);
    const own = await service.login(`full-${path.length}`, 'admin');
    if (table === 'device_groups') expect((await post(path, { groupID: 'last' }, own)).status).toBe(200);
    const more = { userID: 'more', password, groupID: 'more' };
    const body = table === 'users' ? { userID: more.userID, password } : { groupID: more.groupID };
    expect(codeOf(await post(path, body, own))).toBe('conflict');
    // One that is there can still be changed.
    const there =
      table === 'users'
        ? { path: '/user/updateuser', body: { userID: 'u-1', roleID: 'operator' } }
        : { path, body: { groupID: 'g-1' } };
    expect((await post(there.path, there.body, own)).status).toBe(200);
  });
});

describe('the rule that an engine cut needs a second user', () => {
  const say = (needsApproval: boolean, token = admin) =>
    post('/auth/updateaccount', { accountID: 'acme', needsApproval }, token);
  const state = async () => (await get('/auth/account')).json();
  const grantedEarlier = () =>
    service.sql("UPDATE users SET granted_s = 0, granted_by = NULL WHERE account_id = 'acme'");

  it('is switched on at once, and never off by one administrator alone, however many requests', async () => {
    expect((await say(true)).json()).toMatchObject({ needsApproval: true, approvalOffRequestedBy: '' });
    for (let times = 0; times < 3; times += 1) {
      expect((await say(false)).json()).toMatchObject({
        needsApproval: true,
        approvalOffRequestedBy: 'admin',
      });
    }
    expect((await say(true)).json()).toMatchObject({ approvalOffRequestedBy: '' });
  });

  it('is switched off by two', async () => {
    const second = await makeUser('second', 'admin');
    await grantedEarlier();
    await say(true);
    await say(false, second);
    expect(await state()).toMatchObject({ needsApproval: true, approvalOffRequestedBy: 'second' });
    expect((await say(false)).json()).toMatchObject({ needsApproval: false, approvalOffRequestedBy: '' });
  });

  it('is not switched off with the help of a user just created, promoted or given a password', async () => {
    await say(true);
    const puppet = await makeUser('puppet', 'admin');
    await say(false);
    expect((await say(false, puppet)).json()).toMatchObject({ needsApproval: true });
    await say(true);
    await say(false, puppet);
    expect((await say(false)).json()).toMatchObject({ needsApproval: true });
    await grantedEarlier();
    await post('/user/updateuser', { userID: 'second', password: 'known to the first one' });
    const taken = String((await tryLogin('second', 'known to the first one')).json()['token']);
    expect((await say(false, taken)).json()).toMatchObject({ needsApproval: true });
    await post('/user/updateuser', { userID: 'puppet', roleID: 'viewer' });
    await post('/user/updateuser', { userID: 'puppet', roleID: 'admin' });
    expect((await say(false, puppet)).json()).toMatchObject({ needsApproval: true });
  });

  it('is switched off by the requester after a day, with audit entries', async () => {
    await say(true);
    await say(false);
    service.advance(23 * hourMs);
    admin = await service.login('acme', 'admin');
    expect((await say(false)).json()).toMatchObject({ needsApproval: true });
    service.advance(1 * hourMs);
    expect((await say(false)).json()).toMatchObject({ needsApproval: false });
    expect((await auditOf('acme')).slice(-4)).toEqual([
      'account.askapprovaloff',
      'account.update',
      'account.update',
      'account.approvaloff',
    ]);
  });

  it('drops a request after a week', async () => {
    await say(true);
    await say(false);
    service.advance(8 * dayMs);
    admin = await service.login('acme', 'admin');
    expect((await say(false)).json()).toMatchObject({ needsApproval: true, approvalOffRequestedBy: 'admin' });
  });
});
