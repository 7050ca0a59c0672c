// Passkeys: a login that needs no password, and from the first one on no login by the password alone. Each step works once, for the session and
// the origin that it was begun for.
import { afterEach, describe, expect, it } from 'vitest';
import { sql } from '../../src/sql.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import { type Ceremony, createSoftwarePasskey } from '../support/http/software-passkey.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
type Answer = Awaited<ReturnType<Service['call']>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

const seen = (answer: Answer) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const well = { status: 200, code: undefined };
const failed = { status: 401, code: 'login_failed' };

async function start(options: Parameters<typeof startHttpService>[0] = {}) {
  const service = await startHttpService(options);
  open.push(service);
  for (const account of ['acme', 'rival']) await service.account(account);
  await service.user('acme', 'dispatch', 'operator');
  const token = await service.login('acme', 'dispatch');
  const post = (path: string, body: object, as: string | undefined = token) =>
    service.call({
      method: 'POST',
      path: `/api/v1${path}`,
      body,
      ...(as === undefined ? {} : { token: as }),
    });
  const challengeOf = (answer: Answer) =>
    (answer.json()['options'] as { readonly challenge: string }).challenge;
  const beginAdd = async (as = token) =>
    challengeOf(await post('/auth/passkeys/begin/authorization', { password }, as));
  const add = (response: object, as = token) =>
    post('/auth/passkeys/add/authorization', { name: 'ring', response }, as);
  const beginLogin = async () =>
    challengeOf(await service.call({ path: '/api/v1/auth/login/passkey/begin' }));
  const logIn = (response: object) =>
    service.call({ method: 'POST', path: '/api/v1/auth/login/passkey', body: { response } });
  const logInByPassword = (userID = 'dispatch') =>
    service.call({
      method: 'POST',
      path: '/api/v1/auth/login',
      body: { accountID: 'acme', userID, password },
    });
  const list = (as = token) => service.call({ path: '/api/v1/auth/passkeys/authorization', token: as });
  /** A passkey of the user. */
  const added = async () => {
    const key = createSoftwarePasskey();
    expect(seen(await add(key.create({ challenge: await beginAdd() })))).toEqual(well);
    return key;
  };
  return { service, token, post, beginAdd, add, beginLogin, logIn, logInByPassword, list, added };
}

describe('a passkey', () => {
  it('begins a session of its user without a password, and counts its use', async () => {
    const { service, added, beginLogin, logIn, list } = await start();
    const key = await added();
    expect((await list()).json()['passkeys']).toMatchObject([
      { passkeyID: key.id, name: 'ring', lastUsed: null },
    ]);
    const answer = await logIn(key.get({ challenge: await beginLogin() }));
    expect(answer.json()).toMatchObject({ accountID: 'acme', userID: 'dispatch' });
    const token = String(answer.json()['token']);
    expect((await service.call({ path: '/api/v1/device/getalldevices/authorization', token })).status).toBe(
      200,
    );
    const [used] = (await list()).json()['passkeys'] as readonly { readonly lastUsed: number | null }[];
    expect(used?.lastUsed).not.toBeNull();
  });

  it('ends the login by password alone of its user, and of no other', async () => {
    const { added, logInByPassword, post, token } = await start();
    expect(seen(await logInByPassword())).toEqual(well);
    const key = await added();
    expect(seen(await logInByPassword())).toEqual({ status: 401, code: 'passkey_needed' });
    expect(seen(await logInByPassword('admin'))).toEqual(well);
    const body = { passkeyID: key.id, password };
    expect(seen(await post('/auth/passkeys/delete/authorization', body, token))).toEqual(well);
    expect(seen(await logInByPassword())).toEqual(well);
  });

  it('says nothing of itself to a wrong password', async () => {
    const { service, added } = await start();
    await added();
    const body = { accountID: 'acme', userID: 'dispatch', password: `${password}!` };
    expect(seen(await service.call({ method: 'POST', path: '/api/v1/auth/login', body }))).toEqual(failed);
  });

  const forged: readonly (readonly [string, Partial<Ceremony>])[] = [
    ['of another origin', { origin: 'http://localhost.example.com' }],
    ['of another relying party', { rpID: 'example.com' }],
    ['of another challenge', { challenge: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA' }],
    ['without its user verified', { flags: 0b001 }],
    ['without its user present', { flags: 0b100 }],
    ['of the other ceremony', { said: { type: 'webauthn.other' } }],
  ];
  it.each(forged)('is refused in a response %s, at both ceremonies', async (_name, part) => {
    const { added, beginAdd, add, beginLogin, logIn, list } = await start();
    const key = await added();
    const [fresh, challenge] = [createSoftwarePasskey(), await beginAdd()];
    expect(seen(await add(fresh.create({ challenge, ...part })))).toMatchObject({ code: 'invalid_content' });
    expect((await list()).json()['passkeys']).toHaveLength(1);
    expect(seen(await logIn(key.get({ challenge: await beginLogin(), ...part })))).toEqual(failed);
  });

  it('is refused with the signature of another, with a flipped bit of its own, and unknown', async () => {
    const { added, beginLogin, logIn } = await start();
    const [key, other] = [await added(), createSoftwarePasskey()];
    const get = async (of: typeof key) => of.get({ challenge: await beginLogin() });
    expect(seen(await logIn(await get(other)))).toEqual(failed);
    expect(seen(await logIn({ ...(await get(other)), id: key.id, rawId: key.id }))).toEqual(failed);
    for (const member of ['authenticatorData', 'signature'] as const) {
      const good = await get(key);
      const bytes = Buffer.from(good.response[member], 'base64url');
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      const bad = { ...good, response: { ...good.response, [member]: bytes.toString('base64url') } };
      expect(seen(await logIn(bad))).toEqual(failed);
    }
    expect(seen(await logIn(await get(key)))).toEqual(well);
  });

  it('works once for a challenge, also of ten requests at the same time', async () => {
    const { added, beginLogin, logIn } = await start();
    const key = await added();
    const response = key.get({ challenge: await beginLogin() });
    const answers = await Promise.all(Array.from({ length: 10 }, () => logIn(response)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is refused once a copy of it has counted further', async () => {
    const { added, beginLogin, logIn } = await start();
    const key = await added();
    for (let at = 0; at < 3; at += 1)
      expect(seen(await logIn(key.get({ challenge: await beginLogin() })))).toEqual(well);
    expect(seen(await logIn(key.get({ challenge: await beginLogin() }, 3)))).toEqual(failed);
  });

  it('expires as a ceremony after five minutes', async () => {
    const { service, added, beginLogin, logIn } = await start();
    holdClock(service);
    const key = await added();
    const challenge = await beginLogin();
    service.advance(301_000);
    expect(seen(await logIn(key.get({ challenge })))).toEqual(failed);
  });

  it('is added in the session that began only, with the password, and is nobody else’s afterwards', async () => {
    const { service, post, beginAdd, add, added, logInByPassword } = await start();
    const second = String((await logInByPassword()).json()['token']);
    const begin = (body: object) => post('/auth/passkeys/begin/authorization', body);
    expect(seen(await begin({})).code).toBe('password_needed');
    expect(seen(await begin({ password: 'wrong' })).code).toBe('password_wrong');
    const response = createSoftwarePasskey().create({ challenge: await beginAdd() });
    expect(seen(await add(response, second)).code).toBe('invalid_content');
    const key = await added();
    const admin = await service.login('acme', 'admin');
    const again = key.create({ challenge: await beginAdd(admin) });
    expect(seen(await add(again, admin)).code).toBe('conflict');
  });

  it('is not listed, used or deleted across users and accounts, but deleted by an administrator of the account', async () => {
    const { service, post, list, added } = await start();
    const key = await added();
    const [admin, rival] = [await service.login('acme', 'admin'), await service.login('rival', 'admin')];
    const remove = (body: object, as: string) =>
      post('/auth/passkeys/delete/authorization', { password, ...body }, as);
    for (const as of [admin, rival]) {
      expect((await list(as)).json()['passkeys']).toEqual([]);
      expect(seen(await remove({ passkeyID: key.id }, as)).code).toBe('not_found');
    }
    expect(seen(await remove({ userID: 'dispatch' }, rival)).code).toBe('not_found');
    await service.user('acme', 'guest', 'viewer');
    const guest = await service.login('acme', 'guest');
    expect(seen(await remove({ userID: 'dispatch' }, guest)).code).toBe('forbidden');
    expect(seen(await remove({}, admin)).code).toBe('invalid_content');
    expect(seen(await remove({ userID: 'dispatch' }, admin))).toEqual(well);
    expect((await list()).json()['passkeys']).toEqual([]);
  });

  it('of a suspended user begins no session, and goes with a deleted one', async () => {
    const { service, added, beginLogin, logIn } = await start();
    const key = await added();
    await service.sql("UPDATE users SET is_active = 0 WHERE account_id = 'acme' AND user_id = 'dispatch'");
    expect(seen(await logIn(key.get({ challenge: await beginLogin() })))).toEqual(failed);
    await service.sql("DELETE FROM sessions WHERE user_id = 'dispatch'");
    await service.sql("DELETE FROM users WHERE account_id = 'acme' AND user_id = 'dispatch'");
    expect(await service.db.read(sql`SELECT * FROM passkeys`)).toEqual([]);
  });

  it('stands at most ten times for a user', async () => {
    const { added, post } = await start();
    for (let at = 0; at < 10; at += 1) await added();
    const begin = await post('/auth/passkeys/begin/authorization', { password });
    expect(seen(begin).code).toBe('conflict');
  });
});
