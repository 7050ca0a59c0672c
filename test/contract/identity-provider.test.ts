// The client of a login provider against one that lies, is slow, or answers without end: nothing but a token that it signed for this
// service and this login proves a person, and nothing that it sends fills the memory or stands in the log.
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openIdentityProvider } from '../../broker/adapters/identity-provider.ts';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Log } from '../../src/ports.ts';
import {
  type Behaviour,
  hmacToken,
  type Json,
  keys,
  publicPem,
  sendJson,
  sendWithoutEnd,
  signToken,
  startLyingProvider,
  unsignedToken,
} from '../support/http/lying-provider.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const secrets = { state: 'state-of-the-test', nonce: 'nonce-of-the-test', verifier: 'v'.repeat(43) };
const code = 'code-of-the-test';

async function start(behaviour: Behaviour, flags: Readonly<Record<string, string>> = {}) {
  const provider = await startLyingProvider(behaviour);
  open.push(provider);
  const lines: string[] = [];
  const write = (event: string, fields: object = {}): void => {
    lines.push(JSON.stringify({ event, ...fields }));
  };
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  const time = { monoMs: 0 };
  const clock = { monoMs: () => time.monoMs, utcMs: () => Date.now(), after: () => () => undefined };
  const config = loadBrokerConfig({
    file: null,
    env: {},
    flags: {
      'oidc-issuer': provider.issuer,
      'oidc-client-id': 'fleet',
      'oidc-redirect-url': 'https://fleet.example.com/console/',
      'oidc-account-id': 'acme',
      'oidc-roles': 'fleet-admins=admin',
      ...flags,
    },
  });
  const client = openIdentityProvider(config.value.oidc, { clock, log });
  if (client === null) throw new Error('no provider is set');
  const redeem = async (answer: object = {}) => {
    try {
      const claims = await client.redeem({ code, state: secrets.state, iss: undefined, ...answer }, secrets);
      return String(claims['sub']);
    } catch (thrown) {
      return thrown instanceof AppError ? thrown.code : `a fault: ${String(thrown)}`;
    }
  };
  const claimsWith = (changes: Json = {}): Json => {
    const nowS = Math.floor(Date.now() / 1000);
    const { nonce } = secrets;
    return { iss: provider.issuer, sub: 'otto', aud: 'fleet', iat: nowS, exp: nowS + 60, nonce, ...changes };
  };
  return { client, redeem, lines, claimsWith, time, issuer: provider.issuer };
}

/** What comes of an ID token that is made of good claims. */
async function outcomeOf(make: (claims: Json) => string, settings: Json = {}): Promise<string> {
  let token = '';
  const { redeem, claimsWith, lines } = await start({
    settings,
    onToken: (_request, reply) =>
      sendJson(reply, { access_token: 'access-of-the-test', token_type: 'bearer', id_token: token }),
  });
  token = make(claimsWith());
  const outcome = await redeem();
  expect(lines.join(), 'the log').not.toMatch(/-of-the-test|eyJ/);
  return outcome;
}

const nowS = (): number => Math.floor(Date.now() / 1000);

describe('an ID token', () => {
  // Its terms are judged to the second.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
  afterEach(() => void vi.useRealTimers());

  it('proves a person when it is signed for this service and this login', async () => {
    expect(await outcomeOf((claims) => signToken(claims))).toBe('otto');
  });

  it('may be of a clock that is half a minute behind or ahead', async () => {
    expect(await outcomeOf((claims) => signToken({ ...claims, exp: nowS() - 20 }))).toBe('otto');
    expect(await outcomeOf((claims) => signToken({ ...claims, nbf: nowS() + 20 }))).toBe('otto');
  });

  it.each<[string, () => Json]>([
    ['another audience', () => ({ aud: 'other' })],
    ['several audiences without this one', () => ({ aud: ['other', 'fleet2'] })],
    ['an authorized party that is another client', () => ({ aud: ['fleet', 'other'], azp: 'other' })],
    ['no audience', () => ({ aud: undefined })],
    ['another issuer', () => ({ iss: 'https://login.example.com' })],
    ['no issuer', () => ({ iss: undefined })],
    ['no subject', () => ({ sub: undefined })],
    ['a subject that is a number', () => ({ sub: 7 })],
    ['another nonce', () => ({ nonce: 'x' })],
    ['no nonce', () => ({ nonce: undefined })],
    ['an end that has passed', () => ({ exp: nowS() - 40 })],
    ['no end', () => ({ exp: undefined })],
    ['an end as text', () => ({ exp: '9999999999' })],
    ['a begin that has not come', () => ({ nbf: nowS() + 40 })],
  ])('with %s proves nothing', async (_name, changes) => {
    expect(await outcomeOf((claims) => signToken({ ...claims, ...changes() }))).toBe('login_failed');
  });

  it.each<[string, (claims: Json) => string]>([
    ['no signature', unsignedToken],
    ['the name of an algorithm without a signature', (claims) => signToken(claims).replace(/[^.]+$/, '')],
    ['a signature of another key', (claims) => signToken(claims, {}, keys.other.privateKey)],
    ['a key that the provider does not publish', (claims) => signToken(claims, { kid: 'two' })],
    ['a signature made with the public key as a secret', (claims) => hmacToken(claims, publicPem())],
    ['a signature made with the client id as a secret', (claims) => hmacToken(claims, 'fleet')],
    ['another algorithm in the header', (claims) => signToken(claims, { alg: 'PS256' })],
    ['an extension that must be understood', (claims) => signToken(claims, { crit: ['x'], x: 1 })],
    [
      'a key of its own',
      (claims) =>
        signToken(claims, { jwk: keys.other.publicKey.export({ format: 'jwk' }) }, keys.other.privateKey),
    ],
    [
      'changed claims',
      (claims) =>
        signToken(claims).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify({ ...claims, sub: 'admin' })).toString('base64url')}.`,
        ),
    ],
    ['no dots', () => 'token'],
    ['no text', () => ''],
  ])('with %s proves nothing, whatever algorithms the provider names', async (_name, make) => {
    expect(await outcomeOf(make)).toBe('login_failed');
    const anything = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256', 'PS256'] };
    expect(await outcomeOf(make, anything)).toBe('login_failed');
  });

  it('is asked for with the state of this login, from this issuer', async () => {
    const { redeem } = await start({});
    expect(await redeem({ state: 'x' })).toBe('login_failed');
    expect(await redeem({ iss: 'https://login.example.com' })).toBe('login_failed');
    const named = await start({ settings: { authorization_response_iss_parameter_supported: true } });
    expect(await named.redeem(), 'the provider always names itself').toBe('login_failed');
  });
});

describe('a provider', () => {
  it.each<[string, (issuer: string) => Json]>([
    ['has another name', () => ({ issuer: 'https://login.example.com' })],
    ['has a slash at its end', (issuer) => ({ issuer: `${issuer}/` })],
    ['serves many customers under a template', (issuer) => ({ issuer: `${issuer}/{tenantid}` })],
    ['has a page without https', () => ({ authorization_endpoint: 'ftp://127.0.0.1/' })],
    ['has a page that is a script', () => ({ authorization_endpoint: 'javascript:alert(1)' })],
    ['has no page', () => ({ authorization_endpoint: undefined })],
  ])('that %s is not used', async (_name, settings) => {
    const behaviour = { settings: {} };
    const { client, lines, issuer } = await start(behaviour);
    behaviour.settings = settings(issuer);
    await expect(client.authorizationURL(secrets, false)).rejects.toMatchObject({ code: 'unavailable' });
    expect(lines.join()).toContain('provider_not_found');
  });

  it.each<[string, NonNullable<Behaviour['onToken']>]>([
    ['answers without end', (_request, reply) => sendWithoutEnd(reply)],
    [
      'sends the browser of the service elsewhere',
      (_request, reply) => reply.writeHead(302, { location: '/keys' }).end(),
    ],
    ['breaks the connection', (request) => request.socket.destroy()],
    [
      'answers with a page',
      (_request, reply) => reply.writeHead(200, { 'content-type': 'text/html' }).end('<p>down</p>'),
    ],
    [
      'answers with half a text',
      (_request, reply) =>
        reply
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"access_token":"token-of-the-test'),
    ],
    ['has a fault', (_request, reply) => sendJson(reply, { error: 'server_error' }, 500)],
    ['does not accept this service', (_request, reply) => sendJson(reply, { error: 'invalid_client' }, 401)],
  ])('that %s is unavailable, not a wrong login', async (_name, answer) => {
    const sockets = new Set<Socket>();
    const counted: typeof answer = (request, reply) => {
      sockets.add(request.socket);
      return answer(request, reply);
    };
    const asToken = await start({ onToken: counted });
    expect(await asToken.redeem()).toBe('unavailable');
    expect(asToken.lines.join()).not.toContain('-of-the-test');
    const asSettings = await start({ onSettings: counted });
    expect(await asSettings.redeem()).toBe('unavailable');
    // What the client took, and what lies in the buffers of the system.
    const bytes = [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it('that gives no keys is unavailable, and the login is not proven', async () => {
    let token = '';
    const { redeem, claimsWith } = await start({
      onToken: (_request, reply) =>
        sendJson(reply, { access_token: 'x', token_type: 'bearer', id_token: token }),
      onKeys: (_request, reply) => sendWithoutEnd(reply),
    });
    token = signToken(claimsWith());
    expect(await redeem()).toBe('unavailable');
  });

  it('names the page at which its session ends, unless that is a script', async () => {
    const named = async (page: unknown) => {
      const { client } = await start({ settings: { end_session_endpoint: page } });
      return client.logoutURL();
    };
    expect(await named('https://login.example.com/logout?a=b')).toBe(
      'https://login.example.com/logout?a=b&client_id=fleet',
    );
    expect(await named('javascript:alert(1)')).toBeNull();
    expect(await named(undefined)).toBeNull();
  });

  it('that does not know the code names the reason in the log', async () => {
    const { redeem, lines } = await start({});
    expect(await redeem()).toBe('login_failed');
    expect(lines.join()).toContain('invalid_grant');
  });

  it('that is slow holds 64 logins for ten seconds, and no further one', async () => {
    const { redeem, client } = await start({
      // One byte a second: it never ends, and is never silent.
      onToken: (_request, reply) => {
        reply.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => reply.write(' '), 1000);
        reply.on('close', () => clearInterval(drip));
      },
    });
    await client.authorizationURL(secrets, false);
    let ended = 0;
    const held = Array.from({ length: 64 }, () => redeem().finally(() => (ended += 1)));
    expect(await redeem()).toBe('unavailable');
    expect(ended, 'the further one waits for none of them').toBe(0);
    expect(new Set(await Promise.all(held))).toEqual(new Set(['unavailable']));
  });

  it('that is back is found again after some seconds, and asked once meanwhile', async () => {
    const asked: string[] = [];
    const behaviour: { onSettings?: NonNullable<Behaviour['onSettings']> } = {
      onSettings: (request, reply) => {
        asked.push(request.url ?? '');
        sendJson(reply, {}, 503);
      },
    };
    const { client, time } = await start(behaviour);
    for (let tries = 0; tries < 20; tries++) {
      await expect(client.authorizationURL(secrets, false)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(asked).toHaveLength(1);
    delete behaviour.onSettings;
    time.monoMs += 10_000;
    expect(await client.authorizationURL(secrets, false)).toContain('code_challenge');
  });
});
