// What an API token may do: its scopes over every operation of the list, the devices and groups that it names, and sessions as
// their users and administrators list and end them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation } from '../../broker/api/base/operation.ts';
import { tokenScopes } from '../../broker/core/accounts/session.ts';
import { createComposer } from '../../broker/live/selection.ts';
import { operations } from '../../broker/operations.ts';
import { type HttpService } from '../support/http/http-fixtures.ts';
import { startSeededService } from '../support/http/operation-calls.ts';

let service: HttpService;
let succeed: Awaited<ReturnType<typeof startSeededService>>['succeed'];
let admin: string;

const guarded = operations.filter(({ access }) => access !== 'public' && access !== 'share');
/** What a token needs for it; null: the operation is for logins, or for every token. */
const rightOf = ({ token }: Operation) => (typeof token === 'object' ? token : null);

const post = (path: string, body: unknown, token: string) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
const get = (path: string, token: string, query = '') =>
  service.call({ path: `/api/v1${path}/authorization${query}`, token });
const codeOf = (answer: Awaited<ReturnType<HttpService['call']>>) =>
  (answer.json()['error'] as { code?: string } | undefined)?.code;

/** A token of the administrator. */
async function tokenWith(body: object, login = admin): Promise<string> {
  const made = await post('/auth/token', { description: 'test', ...body }, login);
  expect(made.status, made.text).toBe(200);
  return String(made.json()['token']);
}

beforeAll(async () => {
  ({ service, succeed, admin } = await startSeededService());
  await service.user('rival', 'guest', 'viewer');
});
afterAll(() => service.close());

describe('the right of a token', () => {
  it('stands at every operation with a session, and at no other', () => {
    const named = operations.filter(({ token }) => token !== undefined);
    expect(named.map(({ id }) => id)).toEqual(guarded.map(({ id }) => id));
  });

  it.each(guarded.map((operation) => [operation.id, operation] as const))('fits %s', (id, operation) => {
    const right = rightOf(operation);
    if (right === null) return;
    const { scope } = right;
    if (scope === 'admin') expect(operation.access).toBe('admin');
    if (operation.access === 'admin') expect(scope).toBe('admin');
    // What changes something and is read all the same: a stream, and the look at a log that is recorded.
    if (scope === 'read' && operation.effects) expect(['streamEvents', 'readLog']).toContain(id);
    if (operation.isOrder === true) expect(scope).toBe('command');
  });
});

describe.each(guarded.map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, operation: Operation) => {
    it('is refused to a token without its scope, and to one that names devices unless it is about devices', async () => {
      // Its fixture ends every token; `http-users.test.ts` shows that no token makes another.
      if (operation.token === 'own' || id === 'token') return;
      const needed = rightOf(operation);
      const others = tokenScopes.filter((scope) => scope !== needed?.scope);
      const token = await tokenWith({ scopes: others });
      const refused = await succeed(operation, { token });
      expect([refused.status, codeOf(refused)], refused.text).toEqual([422, 'forbidden']);
      await service.sql("DELETE FROM sessions WHERE kind = 'api'");
      if (needed === null || needed.ofDevices) return;
      const narrow = await tokenWith({ devices: ['log-1'], scopes: [needed.scope] });
      const beyond = await succeed(operation, { token: narrow });
      expect([beyond.status, codeOf(beyond)], beyond.text).toEqual([422, 'forbidden']);
      await service.sql("DELETE FROM sessions WHERE kind = 'api'");
    });

    it('shows nothing of another device to a token that names one', async () => {
      const needed = rightOf(operation)?.scope;
      if (needed === undefined || operation.produces === 'text/event-stream') return;
      // What is kept in memory for a caller who sees everything must not reach one who does not.
      if (needed === 'read') await succeed(operation, { token: admin });
      const token = await tokenWith({ devices: ['log-1'], scopes: [needed] });
      const answer = await succeed(operation, { token });
      expect([200, 404, 422], answer.text).toContain(answer.status);
      if (answer.status === 200 && id !== 'createDevice') expect(answer.text).not.toContain('truck-17');
      await service.sql("DELETE FROM sessions WHERE kind = 'api'");
    });
  },
);

describe('a token', () => {
  it('may read, and nothing else, unless its maker said more', async () => {
    const token = await tokenWith({});
    expect((await get('/device/getalldevices', token)).status).toBe(200);
    for (const [path, body] of [
      ['/device/updatedevice', { deviceID: 'truck-17', deviceDriver: 'x' }],
      ['/command/feature', { deviceID: 'truck-17', feature: 'enginecutoff', state: '1' }],
      ['/command/feature', { deviceID: 'truck-17', feature: 'enginecutoff', state: '0' }],
      ['/user/createuser', { userID: 'mole', password: 'x'.repeat(20), roleID: 'admin' }],
    ] as const)
      expect(codeOf(await post(path, body, token)), path).toBe('forbidden');
  });

  it('gets no right from a scope that the role of its user does not have', async () => {
    const login = await service.login('acme', 'guest');
    const token = await tokenWith({ scopes: ['command', 'admin', 'write', 'read'] }, login);
    expect(
      codeOf(
        await post('/command/feature', { deviceID: 'truck-17', feature: 'enginecutoff', state: '1' }, token),
      ),
    ).toBe('forbidden');
    expect(codeOf(await get('/user/getallusers', token))).toBe('forbidden');
  });

  it.each([
    [{ scopes: [] }, 'invalid_content'],
    [{ scopes: ['root'] }, 'invalid_content'],
    [{ scopes: 'read' }, 'invalid_content'],
    [{ scopes: ['READ'] }, 'invalid_content'],
    [{ devices: ['rival-1'] }, 'not_found'],
    [{ devices: ['nope'] }, 'not_found'],
    [{ groups: ['nope'] }, 'not_found'],
    [{ devices: Array.from({ length: 51 }, () => 'truck-17') }, 'invalid_content'],
    [{ devices: [''] }, 'invalid_content'],
    [{ groups: null }, 'invalid_content'],
    [{ expires: 9_999_999_999 }, 'invalid_content'],
  ])('is not made with %j', async (body, code) => {
    expect(codeOf(await post('/auth/token', { description: 'bad', ...body }, admin))).toBe(code);
  });

  it('that names a group follows the group, and never goes beyond its user', async () => {
    const token = await tokenWith({ groups: ['north'] });
    const seen = async () => (await get('/device/getalldevices', token)).text;
    expect(await seen()).toContain('truck-17');
    expect(await seen()).not.toContain('log-1');
    await post('/group/updategroup', { groupID: 'north', devices: ['log-1'] }, admin);
    expect(await seen()).toContain('log-1');
    expect(await seen()).not.toContain('truck-17');
    await post('/group/updategroup', { groupID: 'north', devices: ['truck-17'] }, admin);
    expect((await get('/device/getdevice/log-1', token)).status).toBe(404);
  });

  it('that names a device reads no geozones of the account, neither in the list of devices nor in a stream', async () => {
    const zones = async (token: string) =>
      Object.keys((await get('/device/getalldevices', token)).json()['geozones'] as object).length;
    expect(await zones(admin)).toBeGreaterThan(0);
    const token = await tokenWith({ devices: ['truck-17'] });
    expect(await zones(token)).toBe(0);
    const change = {
      kind: 'zone',
      accountID: 'acme',
      deviceNo: null,
      deviceID: null,
      key: '1',
      atMs: 1,
      data: {
        zoneType: 'geozone',
        zoneID: 'Depot',
        change: 'created',
        deviceID: null,
        version: null,
        heldVersion: null,
        changed: 1,
      },
    } as const;
    const selection = { kinds: new Set(['zone'] as const), deviceIDs: null, codes: null, fields: null };
    const within = { userID: null, deviceNos: [1], groupNos: [] };
    expect(createComposer({ accountID: 'acme', limitedTo: null }, selection).change(change)).toContain(
      'Depot',
    );
    expect(
      createComposer({ accountID: 'acme', limitedTo: 'a token', within }, selection).change(change),
    ).toBe('');
  });

  it('that names nothing by two empty lists sees nothing', async () => {
    const token = await tokenWith({ devices: [], groups: [] });
    expect((await get('/device/getalldevices', token)).text).not.toContain('truck-17');
  });

  it('that names a device does not follow its id to another vehicle', async () => {
    await service.device('acme', 'passing');
    const token = await tokenWith({ devices: ['passing'] });
    expect((await get('/device/getdevice/passing', token)).status).toBe(200);
    await post('/device/deletedevice', { deviceID: 'passing' }, admin);
    await service.device('acme', 'passing');
    expect((await get('/device/getdevice/passing', token)).status).toBe(404);
  });

  it('shows its scopes, limits and end in the list, and never itself', async () => {
    const token = await tokenWith({ scopes: ['command', 'read'], devices: ['log-1'], description: 'gate' });
    const { tokens } = (await get('/auth/tokens', admin)).json() as { tokens: Record<string, unknown>[] };
    expect(tokens.find(({ description }) => description === 'gate')).toMatchObject({
      kind: 'api',
      scopes: ['read', 'command'],
      devices: ['log-1'],
      groups: [],
      isLimited: true,
    });
    expect(JSON.stringify(tokens)).not.toContain(token.split('%7C')[2]);
    const own = (await get('/auth/tokens', token)).json() as { tokens: Record<string, unknown>[] };
    expect(own.tokens.map(({ description }) => description)).toEqual(['gate']);
  });
});

describe('the sessions of a user', () => {
  const list = async (token: string, query = '') =>
    (await get('/auth/tokens', token, query)).json()['tokens'] as Record<string, unknown>[];

  it('show the user agent of each client, shortened and printable', async () => {
    await service.user('acme', 'agent-shown', 'viewer');
    const answer = await service.call({
      method: 'POST',
      path: '/api/v1/auth/login',
      headers: { 'user-agent': `Console/2 \u0007${'x'.repeat(500)}` },
      body: { accountID: 'acme', userID: 'agent-shown', password: 'correct horse battery staple' },
    });
    const [session] = await list(String(answer.json()['token']));
    expect(session).toMatchObject({
      kind: 'login',
      scopes: [...tokenScopes],
      isLimited: false,
      isCurrent: true,
    });
    expect(String(session?.['userAgent'])).toMatch(/^Console\/2 x{1,150}$/);
    expect(session?.['expires']).toBeGreaterThan(Number(session?.['lastUsedOn']));
  });

  it('are shown and ended by an administrator of the account only', async () => {
    await service.user('acme', 'seen', 'viewer');
    const theirs = await service.login('acme', 'seen');
    const second = await service.login('acme', 'seen');
    const guest = await service.login('acme', 'guest');
    const rival = await service.login('rival', 'admin');
    const shown = await list(admin, '?userID=seen');
    expect(shown).toHaveLength(2);
    expect(shown.every(({ isCurrent }) => isCurrent === false)).toBe(true);
    const tokenID = String(shown[0]?.['tokenID']);
    for (const token of [guest, rival]) {
      expect((await get('/auth/tokens', token, '?userID=seen')).status).toBe(404);
      expect((await post('/auth/revoketoken', { userID: 'seen', tokenID }, token)).status).toBe(404);
      expect((await post('/auth/revoketoken', { tokenID }, token)).status).toBe(404);
      expect((await post('/auth/revoketokens', { userID: 'seen' }, token)).status).toBe(404);
    }
    expect(await list(admin, '?userID=seen')).toHaveLength(2);
    expect((await post('/auth/revoketoken', { userID: 'seen', tokenID }, admin)).status).toBe(200);
    expect(await list(admin, '?userID=seen')).toHaveLength(1);
    expect((await post('/auth/revoketokens', { userID: 'seen' }, admin)).json()).toMatchObject({ ended: 1 });
    for (const token of [theirs, second]) expect((await get('/group/groups', token)).status).toBe(401);
    const logged = await service.rows(
      "SELECT actor, object FROM audit WHERE action IN ('token.revoke', 'token.revokeall') AND actor = 'admin' ORDER BY audit_no",
    );
    expect(logged).toEqual([
      { actor: 'admin', object: tokenID },
      { actor: 'admin', object: 'seen' },
    ]);
  });

  it('end but the one that asks, all or of one kind', async () => {
    await service.user('acme', 'cleaner', 'viewer');
    const mine = await service.login('acme', 'cleaner');
    const other = await service.login('acme', 'cleaner');
    const program = await tokenWith({ description: 'x' }, mine);
    expect((await post('/auth/revoketokens', { kind: 'login' }, mine)).json()).toMatchObject({ ended: 1 });
    expect((await get('/group/groups', other)).status).toBe(401);
    expect((await get('/group/groups', program)).status).toBe(200);
    expect((await post('/auth/revoketokens', {}, mine)).json()).toMatchObject({ ended: 1 });
    expect((await get('/group/groups', program)).status).toBe(401);
    expect((await post('/auth/revoketokens', {}, mine)).json()).toMatchObject({ ended: 0 });
    expect((await get('/group/groups', mine)).status).toBe(200);
  });
});
