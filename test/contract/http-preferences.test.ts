// Preferences of a user: kept as sent within 8 KiB, for that user alone, and no update is lost.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startHttpService();
  for (const account of ['acme', 'rival']) {
    await service.account(account);
    await service.user(account, 'guest', 'viewer');
  }
  token = await service.login('acme', 'guest');
});
afterAll(() => service.close());

const read = (as = token, headers = {}) =>
  service.call({ path: '/api/v1/user/preferences/authorization', token: as, headers });
interface Sent {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly revision?: number;
}

const save = (preferences: unknown, { as = token, headers = {}, ...more }: Sent = {}) =>
  service.call({
    method: 'POST',
    path: '/api/v1/user/savepreferences/authorization',
    token: as,
    headers,
    body: { preferences, ...more },
  });
const codeOf = (answer: Awaited<ReturnType<Service['call']>>) =>
  (answer.json()['error'] as { code?: string } | undefined)?.code;
const held = async (as = token) => (await read(as)).json()['preferences'];

describe('preferences', () => {
  it('are empty before they are saved, and then as they were sent, letter by letter', async () => {
    expect((await read()).json()).toMatchObject({ preferences: {}, revision: 0 });
    const sent = {
      Units: 'metric',
      units: 1,
      'ключ / ~ " ': { deep: [null, 1.5, '🚚', { a: {} }] },
      list: [],
    };
    expect((await save(sent)).json()).toMatchObject({ preferences: sent, revision: 1 });
    expect(await held()).toEqual(sent);
  });

  it('are those of one user: of no other of the account, and of none of the same name elsewhere', async () => {
    await save({ mine: true });
    const admin = await service.login('acme', 'admin');
    const rival = await service.login('rival', 'guest');
    expect([await held(admin), await held(rival)]).toEqual([{}, {}]);
    await save({ theirs: 1 }, { as: rival });
    expect([await held(), await held(rival)]).toEqual([{ mine: true }, { theirs: 1 }]);
  });

  it('have 8192 bytes as JSON in UTF-8 and not one more', async () => {
    const frame = JSON.stringify({ a: '' }).length;
    expect((await save({ a: 'x'.repeat(8192 - frame) })).status).toBe(200);
    for (const value of ['x'.repeat(8193 - frame), 'ü'.repeat((8194 - frame) / 2)]) {
      const refused = await save({ a: value });
      expect([refused.status, codeOf(refused)]).toEqual([422, 'invalid_content']);
    }
    expect(((await held()) as { a: string }).a).toHaveLength(8192 - frame);
  });

  it.each([[[]], [null], ['text'], [17], [true], [undefined], [{ a: 'nul \u0000' }], [{ '\ud800': 1 }]])(
    'are not %j',
    async (bad) => {
      await save({ kept: 1 });
      expect(codeOf(await save(bad))).toBe('invalid_content');
      expect(await held()).toEqual({ kept: 1 });
    },
  );

  it('take members with the names of built-in ones as any other', async () => {
    const text = '{"preferences":{"constructor":{"prototype":1},"toString":"x"}}';
    const answer = await service.call({
      method: 'POST',
      path: '/api/v1/user/savepreferences/authorization',
      token,
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    expect([200, 400, 422], answer.text).toContain(answer.status);
    expect(({} as Record<string, unknown>)['prototype']).toBeUndefined();
  });

  it('are saved with the ETag of what was read, once', async () => {
    await save({ count: 0 });
    const tag = String((await read()).headers['etag']);
    expect((await read(token, { 'if-none-match': tag })).status).toBe(304);
    const headers = { 'if-match': tag };
    expect((await save({ count: 1 }, { headers })).status).toBe(200);
    expect(codeOf(await save({ count: 2 }, { headers }))).toBe('conflict');
    expect(await held()).toEqual({ count: 1 });
    expect((await save({ count: 3 }, { headers: { 'if-match': '*' } })).status).toBe(200);
    expect(codeOf(await save({ count: 4 }, { headers: { 'if-match': '"never"' } }))).toBe('conflict');
  });

  it('are saved with the revision of what was read, once', async () => {
    const { revision } = (await save({ count: 0 })).json() as { revision: number };
    expect((await save({ count: 1 }, { revision })).json()).toMatchObject({ revision: revision + 1 });
    expect(codeOf(await save({ count: 2 }, { revision }))).toBe('conflict');
  });

  it('lose no update to another at the same moment', async () => {
    await save({ count: 0 });
    const headers = { 'if-match': String((await read()).headers['etag']) };
    const answers = await Promise.all(Array.from({ length: 8 }, (_, count) => save({ count }, { headers })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => codeOf(answer) === 'conflict')).toHaveLength(7);
  });

  it('go with their user', async () => {
    await service.user('acme', 'leaver', 'viewer');
    const leaver = await service.login('acme', 'leaver');
    await save({ secret: 'of the leaver' }, { as: leaver });
    await service.call({
      method: 'POST',
      path: '/api/v1/user/deleteuser/authorization',
      token: await service.login('acme', 'admin'),
      body: { userID: 'leaver' },
    });
    expect(await service.rows("SELECT 1 AS kept FROM user_preferences WHERE user_id = 'leaver'")).toEqual([]);
    await service.user('acme', 'leaver', 'viewer');
    expect(await held(await service.login('acme', 'leaver'))).toEqual({});
  });
});
