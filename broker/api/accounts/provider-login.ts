// Login at a provider (OpenID Connect), in two steps around the provider's page: the app begins and keeps a secret, and
// finishes with it and the provider's answer. State, nonce and PKCE verifier derive from the secret: only the browser that
// began can finish, and the database alone cannot. No token is ever in a URL.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { hexId } from '../../../src/core/ids.ts';
import { type Claims, decideIdentity } from '../../core/accounts/provider-identity.ts';
import { tokenRandomBytes } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import type { IdentityProvider, LoginSecrets } from '../../ports/identity-provider.ts';
import {
  beginProviderLogin,
  consumeProviderLogin,
  providerLoginS,
} from '../../store/accounts/provider-logins.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import type { ApiServices } from '../base/api-services.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { openSession, sessionMembers } from './opened-session.ts';
import { userOfClaims } from './provider-user.ts';

/** State, nonce and PKCE verifier, each an HMAC of the secret: none of them can be computed from another. */
export function secretsOf(loginSecret: string): LoginSecrets {
  const derive = (use: string): string => createHmac('sha256', loginSecret).update(use).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

/** In constant time. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(one), 'hex'), Buffer.from(hashToken(other), 'hex'));
}

/** Steps of logins from one network: many people of a company may log in at once. */
const loginLimit = { burst: 100, perS: 5, refusal: 'Too many logins from this network' } as const;

/** @throws AppError `not_found` without a provider; `throttled`. */
export function admitted({ identityProvider, takeTurn }: ApiServices, source: string): IdentityProvider {
  if (identityProvider === null) {
    throw new AppError('not_found', 'This service has no login provider', {
      hint: 'Log in with a password: `login`.',
    });
  }
  takeTurn(loginLimit, networkOf(source));
  return identityProvider;
}

/** What finishes a login. @param begunBy the operation that began it. */
export const finishBody = (begunBy: string) =>
  Type.Object(
    {
      loginSecret: Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: `As returned by \`${begunBy}\``,
      }),
      state: Type.String({ minLength: 1, maxLength: 128, description: 'As the provider sent it back' }),
      code: Type.String({ minLength: 1, maxLength: 4096, description: 'As the provider sent it back' }),
      iss: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 512,
          description: 'Issuer, where the provider sent it (RFC 9207)',
        }),
      ),
    },
    { additionalProperties: false },
  );
export type Finishing = Static<ReturnType<typeof finishBody>>;

/** Members of the answer that begins a login. @param secretIs what the secret is for. */
export const begunMembers = (secretIs: string) => ({
  authorizationURL: Type.String({ description: 'Where to send the browser' }),
  loginSecret: Type.String({ description: secretIs }),
  expires: Type.Integer({ description: 'When it can no longer be finished (epoch seconds)' }),
});

interface Begun {
  readonly authorizationURL: string;
  readonly loginSecret: string;
  readonly expires: number;
}

/**
 * Begins a login at the provider. @param again hash of the session whose user logs in again; null: a new session begins.
 * @throws AppError `throttled` when too many have begun; `unavailable`.
 */
export async function beginLogin(
  { db, clock, entropy }: ApiServices,
  provider: IdentityProvider,
  again: string | null,
): Promise<Begun> {
  const loginSecret = hexId(entropy.bytes(tokenRandomBytes));
  const authorizationURL = await provider.authorizationURL(secretsOf(loginSecret), again !== null);
  const nowS = Math.floor(clock.utcMs() / 1000);
  const results = await db.write(beginProviderLogin(hashToken(loginSecret), nowS, again));
  if (results[1]?.changes !== 1)
    throw new AppError('throttled', 'Too many logins have begun', { retryAfterS: 60 });
  return { authorizationURL, loginSecret, expires: nowS + providerLoginS };
}

const begin = operation({
  id: 'beginProviderLogin',
  method: 'GET',
  path: '/auth/login/begin',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a login at the login provider',
  description: `Our addition, for services with a login provider (OpenID Connect); without one 404 \`not_found\`. Keep \`loginSecret\` where only this
browser tab has it (\`sessionStorage\`) and send the browser to \`authorizationURL\`. The provider sends it back to the page that the
operator of the service has set, with \`code\` and \`state\` in the query: finish with \`finishProviderLogin\` within ${providerLoginS / 60} minutes.
While the provider is not reached: 503 \`unavailable\` with \`Retry-After\`; logins with a password go on.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    ...begunMembers('Proves that the same browser finishes; 64 hexadecimal digits'),
  }),
  errors: ['not_found', 'throttled', 'unavailable'],
  effects: true,
  answerIsSecret: true,
  examples: {
    result: {
      authorizationURL: 'https://login.example.com/authorize?client_id=fleet&response_type=code',
      loginSecret: '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      expires: 1763683800,
    },
  },
  async run({ source }, services) {
    return { ...ok, ...(await beginLogin(services, admitted(services, source), null)) };
  },
});

const notBegun = (): AppError =>
  new AppError('login_failed', 'This login was not begun here, has expired, or was finished already', {
    hint: 'Begin again with beginProviderLogin.',
  });

interface From {
  readonly source: string;
  readonly userAgent: string | null;
}

/** Names of the claims, so that the log shows whether the role claim was there; never their values. */
const namesOf = (claims: Claims): readonly string[] =>
  Object.keys(claims)
    .slice(0, 50)
    .map((name) => name.slice(0, 64));

async function finishLogin(services: ApiServices, body: Finishing, { source, userAgent }: From) {
  const { db, clock, log } = services;
  const provider = admitted(services, source);
  const { loginSecret, state, code, iss } = body;
  const secrets = secretsOf(loginSecret);
  // Used up first: of two requests with one secret, one goes on.
  const [taken] = await db.write([
    consumeProviderLogin(hashToken(loginSecret), Math.floor(clock.utcMs() / 1000)),
  ]);
  if (taken?.changes !== 1 || !isSame(state, secrets.state)) throw notBegun();
  const claims = await provider.redeem({ code, state, iss }, secrets);
  const logoutURL = (await provider.logoutURL()) ?? '';
  const decision = decideIdentity(claims, provider.rules);
  if (decision.kind === 'refused') {
    log.warn('provider_user_refused', { reason: decision.reason, source, claims: namesOf(claims) });
  }
  const { accountID, userID, passwordHash } = await userOfClaims(services, decision, source);
  const { issuer, sessionS } = provider.rules;
  const expiresS = Math.floor(clock.utcMs() / 1000) + sessionS;
  const proven = { accountID, userID, passwordHash, source, userAgent, expiresS };
  const token = await openSession(services, { ...proven, detail: { provider: issuer } });
  // The user was deleted meanwhile.
  if (token === null) throw notBegun();
  log.info('login', { accountID, userID, source, isByProvider: true });
  return { token, accountID, userID, expires: expiresS, logoutURL };
}

const finish = operation({
  id: 'finishProviderLogin',
  method: 'POST',
  path: '/auth/login/finish',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Finish a login at the login provider',
  description: `Our addition. Begins the session of the person whom the provider has proven and returns its token, like \`login\`. Send
\`loginSecret\` of \`beginProviderLogin\`, and \`code\`, \`state\` and where there is one \`iss\` from the query of the page that the provider
sent the browser back to; then remove the query from the address. Each login is finished once, and a wrong attempt uses it up:
401 \`login_failed\`, like an expired one, and like what the provider does not confirm.

A user is made at the first login. Without a role from the claims 422 \`forbidden\`, which also ends what sessions the user has. A
user id that another user has answers 422 \`conflict\`: a user with a password is never taken over. The session ends after the
hours that the operator of the service has set, 12 at most; it makes no API tokens. \`logout\` ends it; at a shared desk also send the browser to
\`logoutURL\`, or the next person is let in by the session at the provider. Where the password is needed again see \`beginLoginAgain\`.`,
  params: Type.Object({}),
  body: finishBody('beginProviderLogin'),
  result: Type.Object({
    ...envelope,
    ...sessionMembers,
    logoutURL: Type.String({
      description:
        'Where the browser ends the session at the provider, after `logout`; empty: there is no such page',
    }),
  }),
  errors: ['login_failed', 'not_found', 'forbidden', 'conflict', 'throttled', 'unavailable'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: {
      loginSecret: '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      state: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA',
      code: 'SplxlOBeZQQYbYS6WxSbIA',
    },
    result: {
      token: 'acme%7Cotto%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      accountID: 'acme',
      userID: 'otto',
      expires: 1763726400,
      logoutURL: 'https://login.example.com/logout?client_id=fleet',
    },
  },
  async run({ body, source, userAgent }, services) {
    return { ...ok, ...(await finishLogin(services, body, { source, userAgent })) };
  },
});

export const providerLoginOperations = [begin, finish] as const;

const loginWays = operation({
  id: 'loginWays',
  method: 'GET',
  path: '/auth/login/ways',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Read how users can log in',
  description: `Our addition, for pages that offer a login: \`provider\` is the host of the login provider, for which there is \`beginProviderLogin\`;
empty: users log in with a password only. It says nothing of accounts or users.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    provider: Type.String({ description: 'Host name of the login provider; empty: there is none' }),
  }),
  errors: [],
  effects: false,
  examples: { result: { provider: 'login.example.com' } },
  async run(_input, { identityProvider }) {
    return { ...ok, provider: identityProvider === null ? '' : new URL(identityProvider.rules.issuer).host };
  },
});

/** They stand behind the other ways to log in. */
export const loginWaysOperations = [loginWays] as const;
