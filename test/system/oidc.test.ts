// Login by OpenID Connect with the built broker and a real provider in a process of its own: a person logs in at its page, and
// everything that an attacker could alter on the way is refused.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLyingProvider } from '../support/http/lying-provider.ts';
import { logInAtProvider, startProvider } from '../support/http/oidc-browser.ts';
import { whyNotBuilt } from '../support/machine/requires.ts';
import {
  createBrokerSetup,
  type Program,
  provision,
  startBroker,
} from '../support/programs/fleet-processes.ts';

const why = whyNotBuilt('broker');
const redirectUrl = 'http://127.0.0.1:9/console/';
const clientSecret = 'a secret of the test with : and /';
const roles = (...names: readonly string[]) => ({ realm_access: { roles: names } });
const people = {
  otto: { preferred_username: 'otto@example.com', name: 'Otto', ...roles('fleet-operators', 'other') },
  nobody: { preferred_username: 'nobody', ...roles('other') },
  bare: { preferred_username: 'bare' },
  usurper: { preferred_username: 'admin', ...roles('fleet-admins') },
};

describe.skipIf(why !== null)(`login by OpenID Connect ${why ?? ''}`, () => {
  const setup = createBrokerSetup('oidc');
  const secretFile = join(setup.folder, 'client-secret');
  let provider: Awaited<ReturnType<typeof startProvider>>;
  let broker: Program;

  const flagsFor = (issuer: string) => [
    `--oidc-issuer=${issuer}`,
    '--oidc-client-id=fleet',
    `--oidc-client-secret-file=${secretFile}`,
    `--oidc-redirect-url=${redirectUrl}`,
    '--oidc-account-id=demo',
    '--oidc-role-claim=realm_access.roles',
    '--oidc-roles=fleet-operators=operator,fleet-admins=admin',
  ];
  const restart = async (issuer: string): Promise<void> => {
    broker.signal('SIGTERM');
    await broker.ended();
    broker = await startBroker(setup, flagsFor(issuer));
  };

  beforeAll(async () => {
    writeFileSync(secretFile, `${clientSecret}\n`, { mode: 0o600 });
    provider = await startProvider({ redirectUrl, clientSecret, people });
    provision(setup, 'van-01');
    broker = await startBroker(setup, flagsFor(provider.issuer));
  });

  afterAll(async () => {
    broker.signal('SIGKILL');
    await broker.ended();
    await provider.stop();
  });

  const api = async (path: string, options: RequestInit = {}) => {
    const answer = await fetch(`http://127.0.0.1:${setup.httpPort}/api/v1${path}`, options);
    const body = (await answer.json()) as Record<string, string> & { error?: { code: string } };
    return { status: answer.status, body, code: body.error?.code };
  };
  const begin = async (path = '/auth/login/begin', headers = {}) => {
    const { body } = await api(path, { headers });
    return { authorizationURL: body['authorizationURL'] ?? '', loginSecret: body['loginSecret'] ?? '' };
  };
  const finish = (body: object, path = '/auth/login/finish', headers = {}) =>
    api(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  /** Everything up to the page of the app; the address may be altered on the way. */
  const comeBack = async (
    login: string,
    alter: (url: URL) => void = () => undefined,
    begun: Promise<{ authorizationURL: string; loginSecret: string }> = begin(),
  ) => {
    const { authorizationURL, loginSecret } = await begun;
    const url = new URL(authorizationURL);
    alter(url);
    const { code = '', state = '', iss = '' } = await logInAtProvider(url.href, { login, redirectUrl });
    return { loginSecret, code, state, iss };
  };
  const refused = { status: 401, code: 'login_failed' };

  it('logs a person in with the role of the claims, until logout', async () => {
    const { status, body } = await finish(await comeBack('otto'));
    expect({ status, ...body }).toMatchObject({ status: 200, accountID: 'demo', userID: 'otto-example-com' });
    const headers = { authorization: body['token'] ?? '' };
    expect((await api('/device/getalldevices/authorization', { headers })).status).toBe(200);
    const user = await api('/user/getuser/otto-example-com/authorization', { headers });
    expect(user.body).toMatchObject({ roleID: 'operator', userDisplayName: 'Otto', isConfirmed: false });
    expect((await api('/auth/logout/demo/otto-example-com', { headers })).status).toBe(200);
    expect(body['logoutURL']).toBe(`${provider.issuer}/session/end?client_id=fleet`);
    expect((await fetch(body['logoutURL'] ?? '')).status).toBe(200);
    expect((await api('/device/getalldevices/authorization', { headers })).status).toBe(401);
  });

  it('proves a person again by a login that the provider asked for anew', async () => {
    const { body } = await finish(await comeBack('otto'));
    const headers = { authorization: body['token'] ?? '' };
    const again = (login: string, alter?: (url: URL) => void) =>
      comeBack(login, alter, begin('/auth/loginagain/begin/authorization', headers));
    const finishAgain = (back: object) => finish(back, '/auth/loginagain/finish/authorization', headers);
    const wrong = { status: 422, code: 'password_wrong' };
    expect(await finishAgain(await again('nobody'))).toMatchObject(wrong);
    const silent = await again('otto', (url) => {
      url.searchParams.delete('prompt');
      url.searchParams.delete('max_age');
    });
    expect(await finishAgain(silent)).toMatchObject(wrong);
    expect(await finishAgain(await again('otto'))).toMatchObject({ status: 200 });
  });

  it('asks with PKCE, state and nonce, and never with a secret', async () => {
    const { authorizationURL, loginSecret } = await begin();
    const asked = Object.fromEntries(new URL(authorizationURL).searchParams);
    expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', client_id: 'fleet' });
    expect(asked['redirect_uri']).toBe(redirectUrl);
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]?.length).toBe(43);
    expect(authorizationURL).not.toContain(loginSecret);
    expect(authorizationURL).not.toContain(clientSecret);
  });

  it('refuses a wrong state, and one of another login', async () => {
    const back = await comeBack('otto');
    expect(await finish({ ...back, state: `${back.state}x` })).toMatchObject(refused);
    const [mine, other] = [await comeBack('otto'), await begin()];
    expect(await finish({ ...mine, loginSecret: other.loginSecret })).toMatchObject(refused);
  });

  it('refuses a code that was used, also in a new login', async () => {
    const back = await comeBack('otto');
    expect(await finish(back)).toMatchObject({ status: 200 });
    expect(await finish(back)).toMatchObject(refused);
    const next = await comeBack('otto');
    expect(await finish({ ...next, code: back.code })).toMatchObject(refused);
  });

  it('refuses another nonce, another challenge and another issuer', async () => {
    const nonce = await comeBack('otto', (url) => url.searchParams.set('nonce', 'x'.repeat(43)));
    expect(await finish(nonce)).toMatchObject(refused);
    const challenge = await comeBack('otto', (url) => url.searchParams.set('code_challenge', 'x'.repeat(43)));
    expect(await finish(challenge)).toMatchObject(refused);
    const issuer = await comeBack('otto');
    expect(await finish({ ...issuer, iss: 'https://evil.example.com' })).toMatchObject(refused);
  });

  it('admits no person to whom the claims give no role', async () => {
    for (const login of ['nobody', 'bare', 'unknown-person']) {
      expect(await finish(await comeBack(login))).toMatchObject({ status: 422, code: 'forbidden' });
    }
  });

  it('does not take over a user with a password', async () => {
    expect(await finish(await comeBack('usurper'))).toMatchObject({ status: 422, code: 'conflict' });
    const { accountID, userID, password } = { accountID: 'demo', userID: 'admin', password: setup.password };
    const answer = await api('/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ accountID, userID, password }),
    });
    expect(answer.status).toBe(200);
  });

  it('finishes a login that began before a restart', async () => {
    const back = await comeBack('otto');
    await restart(provider.issuer);
    expect(await finish(back)).toMatchObject({ status: 200 });
  });

  it('logs neither the client secret nor a code, token or state', async () => {
    const back = await comeBack('otto');
    const { body } = await finish(back);
    const log = JSON.stringify(broker.lines) + broker.complaints();
    for (const secret of [clientSecret, back.code, back.state, back.loginSecret, body['token'] ?? '-'])
      expect(log).not.toContain(secret);
  });

  it('takes no provider that names another issuer', async () => {
    await restart(provider.issuer.replace('127.0.0.1', 'localhost'));
    expect(await api('/auth/login/begin')).toMatchObject({ status: 503, code: 'unavailable' });
  });

  it('stops while a provider leaves a login unanswered', async () => {
    const silent = await startLyingProvider({ onSettings: () => undefined });
    await restart(silent.issuer);
    const login = api('/auth/login/begin').catch((thrown: unknown) => thrown);
    await expect.poll(silent.asked).toBe(1);
    broker.signal('SIGTERM');
    await broker.ended();
    await login;
    await silent.close();
    broker = await startBroker(setup, flagsFor(provider.issuer));
  });

  it('starts without the provider, and finds it when it is back', async () => {
    await restart('http://127.0.0.1:9');
    expect(await api('/auth/login/begin')).toMatchObject({ status: 503, code: 'unavailable' });
    expect((await fetch(`http://127.0.0.1:${setup.httpPort}/readyz`)).status).toBe(200);
    await restart(provider.issuer);
    const back = await comeBack('otto');
    await provider.stop();
    expect(await finish(back)).toMatchObject({ status: 503, code: 'unavailable' });
  });
});
