// One-time codes at the login: from the first app on no login by the password alone. A code works once, a guesser makes nobody else wait, and the secret
// is shown once.
import { afterEach, describe, expect, it } from 'vitest';
import { sql } from '../../src/sql.ts';
import { createAuthenticatorApp } from '../support/http/authenticator-app.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import { createSoftwarePasskey } from '../support/http/software-passkey.ts';

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
const throttled = { status: 503, code: 'throttled' };
const stepMs = 30_000;
/** A network from which the user has logged in, and one from which nobody has. */
const [home, away] = ['192.0.2.1', '198.51.100.7'];

async function start(role: 'operator' | 'admin' = 'operator') {
  const service = await startHttpService();
  open.push(service);
  holdClock(service);
  for (const account of ['acme', 'rival']) await service.account(account);
  await service.user('acme', 'dispatch', role);
  const post = (path: string, body: object, token?: string, from = home) =>
    service.call({
      method: 'POST',
      path: `/api/v1/auth${path}`,
      body,
      from,
      ...(token === undefined ? {} : { token }),
    });
  const user = { accountID: 'acme', userID: 'dispatch', password };
  const logIn = (from = home) => post('/login', user, undefined, from);
  const token = String((await logIn()).json()['token']);
  const begin = (body: object = { password }, as = token) => post('/totp/begin/authorization', body, as);
  const confirm = (code: string, as = token) => post('/totp/confirm/authorization', { code }, as);
  const remove = (body: object = { password }, as = token) => post('/totp/delete/authorization', body, as);
  const read = async (as = token) =>
    (await service.call({ path: '/api/v1/auth/totp/authorization', token: as })).json()['totp'];
  const nowMs = () => service.api.clock.utcMs();
  const logInBy = (code: string, { from = home, ...change }: { from?: string; password?: string } = {}) =>
    post('/login/totp', { ...user, ...change, code }, undefined, from);
  /** An app of the user whose first code was used, and its recovery codes. */
  const added = async () => {
    const secret = String((await begin()).json()['secret']);
    const app = createAuthenticatorApp(secret);
    const answer = await confirm(app.code(nowMs()));
    expect(seen(answer)).toEqual(well);
    service.advance(stepMs);
    const codes = answer.json()['codes'] as readonly string[];
    return { secret, codes, code: (steps = 0) => app.code(nowMs(), steps) };
  };
  return { service, token, post, logIn, logInBy, begin, confirm, remove, read, added, nowMs };
}

/** A code that is none of those that count now. */
const wrongOf = (...right: readonly string[]): string =>
  ['000000', '000001', '000002', '000003'].find((one) => !right.includes(one)) ?? '';

describe('an authenticator app', () => {
  it('is needed at the login of its user, and of no other, once its first code was confirmed', async () => {
    const { begin, confirm, logIn, logInBy, post, nowMs, read, service } = await start();
    const answer = (await begin()).json();
    const app = createAuthenticatorApp(String(answer['secret']));
    expect(answer['otpauthURL']).toContain(`secret=${String(answer['secret'])}&`);
    expect(seen(await logIn())).toEqual(well);
    expect(await read()).toBeNull();
    expect(seen(await confirm(wrongOf(...[-1, 0, 1].map((step) => app.code(nowMs(), step)))))).toMatchObject({
      code: 'invalid_content',
    });
    expect(seen(await logIn())).toEqual(well);
    expect(seen(await confirm(app.code(nowMs())))).toEqual(well);
    expect(seen(await logIn())).toEqual({ status: 401, code: 'code_needed' });
    const admin = { accountID: 'acme', userID: 'admin', password };
    expect(seen(await post('/login', admin))).toEqual(well);
    service.advance(stepMs);
    const session = await logInBy(app.code(nowMs()));
    expect(session.json()).toMatchObject({ accountID: 'acme', userID: 'dispatch' });
    const token = String(session.json()['token']);
    expect((await service.call({ path: '/api/v1/device/getalldevices/authorization', token })).status).toBe(
      200,
    );
    expect(await read()).toMatchObject({ recoveryCodes: 10, lastUsed: Math.floor(nowMs() / 1000) });
  });

  it('says nothing of itself to a wrong password, which begins no session with the right code either', async () => {
    const { added, post, logInBy } = await start();
    const { code } = await added();
    const wrong = { password: `${password}!` };
    const body = { accountID: 'acme', userID: 'dispatch', ...wrong };
    expect(seen(await post('/login', body))).toEqual(failed);
    expect(seen(await logInBy(code(), wrong))).toEqual(failed);
    expect(seen(await logInBy(code()))).toEqual(well);
  });

  it('gives codes that count one step early and late, and no further', async () => {
    const { added, logInBy, service } = await start();
    const { code } = await added();
    for (const [steps, expected] of [
      [-2, failed],
      [2, failed],
      [-1, well],
      [0, well],
      [1, well],
    ] as const) {
      service.advance(3 * stepMs);
      expect([steps, seen(await logInBy(code(steps)))]).toEqual([steps, expected]);
    }
  });

  it('gives codes that work once, and none before a later one, the confirming one included', async () => {
    const { begin, confirm, logInBy, nowMs } = await start();
    const app = createAuthenticatorApp(String((await begin()).json()['secret']));
    expect(seen(await confirm(app.code(nowMs())))).toEqual(well);
    expect(seen(await logInBy(app.code(nowMs())))).toEqual(failed);
    expect(seen(await logInBy(app.code(nowMs(), 1)))).toEqual(well);
    for (const steps of [-1, 0, 1]) expect(seen(await logInBy(app.code(nowMs(), steps)))).toEqual(failed);
  });

  it('begins one session with one code, also of twenty requests at the same time at each bridge', async () => {
    const { added, logInBy, service } = await start();
    const { code, codes } = await added();
    // Tries are counted one after another: as many at once as the limit lets through gain one session.
    for (const text of [code(), codes[0] ?? '']) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => logInBy(text)));
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      const later = await logInBy(text);
      const all = [...answers, later].filter(({ status }) => status === 200);
      expect(all).toHaveLength(1);
    }
    const logins = await service.rows(
      "SELECT detail FROM audit WHERE action = 'login' AND detail LIKE '%isBy%' AND object = 'dispatch'",
    );
    expect(logins).toHaveLength(2);
  });

  it('makes a guesser wait up to an hour, who locks neither the user where they log in, nor a recovery code, nor anybody for ever', async () => {
    const { added, logInBy, service, post } = await start();
    const { code, codes } = await added();
    const guess = () => logInBy(wrongOf(code(-1), code(), code(1)), { from: away });
    for (let at = 0; at < 5; at += 1) expect(seen(await guess())).toEqual(failed);
    let most = 0;
    for (let at = 0; at < 12; at += 1) {
      const refused = await guess();
      expect(seen(refused)).toEqual(throttled);
      const waitS = Number(refused.headers['retry-after']);
      most = Math.max(most, waitS);
      service.advance(waitS * 1000);
      expect(seen(await guess())).toEqual(failed);
    }
    expect(most).toBe(3600);
    // Another network is no way around it; the one of the user is not touched.
    const elsewhere = { from: '203.0.113.9' };
    expect(seen(await logInBy(code(), elsewhere))).toEqual(throttled);
    expect(seen(await logInBy(code()))).toEqual(well);
    expect(seen(await logInBy(codes[3] ?? '', elsewhere))).toEqual(well);
    expect(
      seen(await post('/login', { accountID: 'acme', userID: 'admin', password }, undefined, away)),
    ).toEqual(well);
    service.advance(3_600_000);
    expect(seen(await logInBy(code(), { from: '203.0.113.77' }))).toEqual(well);
    // A right code begins the count anew.
    expect(seen(await guess())).toEqual(failed);
    const audited = await service.rows("SELECT source FROM audit WHERE action = 'totp.fail'");
    expect(audited).toHaveLength(18);
  });

  it('lets no guesses through at once that it would not let through one after another', async () => {
    const { added, logInBy } = await start();
    const { code } = await added();
    const wrong = wrongOf(code(-1), code(), code(1));
    const answers = await Promise.all(Array.from({ length: 30 }, () => logInBy(wrong, { from: away })));
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
  });

  it('has ten recovery codes, which work once each, as they are typed', async () => {
    const { added, logInBy, read } = await start();
    const { codes } = await added();
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect(seen(await logInBy(first))).toEqual(well);
    expect(seen(await logInBy(first))).toEqual(failed);
    expect(seen(await logInBy(second.toLowerCase().replaceAll('-', ' ')))).toEqual(well);
    expect(await read()).toMatchObject({ recoveryCodes: 8 });
    expect(seen(await logInBy('AAAA-AAAA-AAAA-AAAA'))).toEqual(failed);
  });

  it('is set up with the password, in the session that began, within ten minutes', async () => {
    const { service, begin, confirm, logIn, nowMs } = await start();
    const second = String((await logIn()).json()['token']);
    expect(seen(await begin({})).code).toBe('password_needed');
    expect(seen(await begin({ password: 'wrong' })).code).toBe('password_wrong');
    const code = async () => createAuthenticatorApp(String((await begin()).json()['secret'])).code(nowMs());
    expect(seen(await confirm(await code(), second)).code).toBe('conflict');
    const late = await code();
    service.advance(601_000);
    expect(seen(await confirm(late)).code).toBe('conflict');
    expect(seen(await logIn())).toEqual(well);
  });

  it('is replaced by a new one only once that was confirmed, with its recovery codes', async () => {
    const { begin, confirm, added, logInBy, nowMs, service, read } = await start();
    const old = await added();
    const app = createAuthenticatorApp(String((await begin()).json()['secret']));
    expect(seen(await logInBy(old.code()))).toEqual(well);
    expect(seen(await confirm(app.code(nowMs())))).toEqual(well);
    service.advance(stepMs);
    expect(seen(await logInBy(old.code()))).toEqual(failed);
    expect(seen(await logInBy(old.codes[0] ?? ''))).toEqual(failed);
    expect(seen(await logInBy(app.code(nowMs())))).toEqual(well);
    expect(await read()).toMatchObject({ recoveryCodes: 10 });
  });

  it('is taken off by its user, and by an administrator of the account, who ends the sessions of that user', async () => {
    const { service, added, remove, token, logIn, read, begin } = await start();
    const [admin, rival] = [await service.login('acme', 'admin'), await service.login('rival', 'admin')];
    expect(seen(await remove()).code).toBe('not_found');
    await added();
    expect(seen(await remove({})).code).toBe('password_needed');
    expect(seen(await remove())).toEqual(well);
    expect(seen(await logIn())).toEqual(well);
    expect(await read()).toBeNull();
    await added();
    expect(await read(admin)).toBeNull();
    const other = { userID: 'dispatch', password };
    expect(seen(await remove(other, rival)).code).toBe('not_found');
    await service.user('acme', 'guest', 'viewer');
    expect(seen(await remove(other, await service.login('acme', 'guest'))).code).toBe('forbidden');
    expect(seen(await remove(other, admin))).toEqual(well);
    expect(seen(await begin({ password }, token)).code).toBe('unauthorized');
    expect(seen(await logIn())).toEqual(well);
    const audited = await service.rows(
      "SELECT action, actor, object FROM audit WHERE action LIKE 'totp.%' ORDER BY audit_no",
    );
    expect(
      audited.map((row) => `${String(row['action'])} ${String(row['actor'])} ${String(row['object'])}`),
    ).toEqual([
      'totp.add dispatch dispatch',
      'totp.delete dispatch dispatch',
      'totp.add dispatch dispatch',
      'totp.delete admin dispatch',
    ]);
  });

  it('stands beside a passkey: each of them begins a session, and the password alone none', async () => {
    const { service, token, post, added, logIn, logInBy } = await start();
    const key = createSoftwarePasskey();
    const challengeOf = (answer: Answer) => (answer.json()['options'] as { challenge: string }).challenge;
    const challenge = challengeOf(await post('/passkeys/begin/authorization', { password }, token));
    const response = key.create({ challenge });
    expect(seen(await post('/passkeys/add/authorization', { name: 'ring', response }, token))).toEqual(well);
    expect(seen(await logIn())).toEqual({ status: 401, code: 'passkey_needed' });
    const { code } = await added();
    expect(seen(await logIn())).toEqual({ status: 401, code: 'code_needed' });
    expect(seen(await logInBy(code()))).toEqual(well);
    const login = challengeOf(await service.call({ path: '/api/v1/auth/login/passkey/begin' }));
    expect(seen(await post('/login/passkey', { response: key.get({ challenge: login }) }))).toEqual(well);
  });

  it('shows its secret once: it stands in no later answer, no log line and no audit entry, and of recovery codes only hashes are kept', async () => {
    const { service, added, logInBy, read, remove } = await start();
    const { secret, codes, code } = await added();
    await logInBy(code());
    await logInBy(wrongOf(code(-1), code(), code(1)));
    await logInBy(codes[0] ?? '');
    const said = [
      JSON.stringify(await read()),
      service.logLines.join('\n'),
      JSON.stringify(await service.rows('SELECT * FROM audit')),
      JSON.stringify(await service.rows('SELECT * FROM totp_recovery')),
    ].join('\n');
    const [row] = await service.rows('SELECT secret FROM totp');
    for (const text of [
      secret,
      String(row?.['secret']),
      ...codes,
      ...codes.map((one) => one.replaceAll('-', '')),
    ])
      expect(said).not.toContain(text);
    await remove();
    for (const table of ['totp', 'totp_setups', 'totp_recovery', 'totp_tries'])
      expect([table, await service.rows(`SELECT * FROM ${table}`)]).toEqual([table, []]);
  });

  it('of a suspended user begins no session, and goes with a deleted one', async () => {
    const { service, added, logInBy } = await start();
    const { code } = await added();
    await service.sql("UPDATE users SET is_active = 0 WHERE account_id = 'acme' AND user_id = 'dispatch'");
    expect(seen(await logInBy(code()))).toEqual(failed);
    await service.sql("DELETE FROM sessions WHERE user_id = 'dispatch'");
    await service.sql("DELETE FROM users WHERE account_id = 'acme' AND user_id = 'dispatch'");
    expect(await service.db.read(sql`SELECT * FROM totp`)).toEqual([]);
  });
});
