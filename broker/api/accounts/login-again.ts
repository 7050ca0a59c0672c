// Replaces the password for users of the login provider: they log in there again, within their session. The provider must have
// asked the person again. The secret of that login then proves one request, within two minutes.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { isFreshLogin } from '../../core/accounts/provider-identity.ts';
import {
  consumeLoginAgain,
  type LoginAgain,
  loginAgainBegun,
  proveLoginAgain,
  providerLoginS,
  providerProofS,
} from '../../store/accounts/provider-logins.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { findProfile } from '../../store/accounts/users.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import type { Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import {
  admitted,
  beginLogin,
  begunMembers,
  type Finishing,
  finishBody,
  isSame,
  secretsOf,
} from './provider-login.ts';

/** Issuer and subject of the caller. @throws AppError `conflict` for a user with a password. */
async function identityOf({ db }: ApiServices, { accountID, userID }: Caller): Promise<string> {
  const profile = await findProfile(db, { accountID, userID });
  if (profile?.identity != null) return profile.identity;
  throw new AppError('conflict', 'You have a password here: send it where it is needed');
}

const begin = operation({
  id: 'beginLoginAgain',
  method: 'GET',
  path: '/auth/loginagain/begin/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Begin to log in again at the login provider',
  description: `Our addition, for users of the login provider, where the account wants the password again (\`needsPassword\`). As
\`beginProviderLogin\`, but within the session of the token, which goes on: the provider asks the person anew. Finish with \`finishLoginAgain\`
within ${providerLoginS / 60} minutes. A user with a password gets 422 \`conflict\`.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    ...begunMembers('Finishes this login, and then stands in place of the password'),
  }),
  errors: ['not_found', 'conflict', 'throttled', 'unavailable'],
  effects: true,
  answerIsSecret: true,
  examples: {
    result: {
      authorizationURL: 'https://login.example.com/authorize?client_id=fleet&response_type=code&prompt=login',
      loginSecret: '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      expires: 1763683800,
    },
  },
  async run({ caller, source }, services) {
    const provider = admitted(services, source);
    await identityOf(services, caller);
    return { ...ok, ...(await beginLogin(services, provider, caller.tokenHash)) };
  },
});

/** For a logged-in user: the token is valid, so this is no 401, upon which a client would discard it. */
const notProven = (): AppError =>
  new AppError(
    'password_wrong',
    'The login was not made anew by this user, or has expired; nothing was proven',
    {
      hint: 'Begin again with beginLoginAgain.',
    },
  );

async function finishAgain(services: ApiServices, body: Finishing, actor: Actor): Promise<number> {
  const { db, clock } = services;
  const { caller, source } = actor;
  const provider = admitted(services, source);
  const { loginSecret, state, code, iss } = body;
  const secrets = secretsOf(loginSecret);
  const atS = (): number => Math.floor(clock.utcMs() / 1000);
  const login: LoginAgain = {
    secretHash: hashToken(loginSecret),
    sessionHash: caller.tokenHash,
    nowS: atS(),
  };
  const begunS = await loginAgainBegun(db, login);
  const [taken] = await db.write([consumeLoginAgain(login)]);
  if (begunS === null || taken?.changes !== 1 || !isSame(state, secrets.state)) throw notProven();
  const claims = await provider.redeem({ code, state, iss }, secrets).catch((thrown: unknown) => {
    throw thrown instanceof AppError && thrown.code === 'login_failed' ? notProven() : thrown;
  });
  const identity = await identityOf(services, caller);
  if (!isFreshLogin(claims, { identity, issuer: provider.rules.issuer, begunS })) throw notProven();
  const nowS = atS();
  const [proven] = await db.write([
    proveLoginAgain({ ...login, nowS }),
    auditEntry(services, actor, { action: 'login.again', object: caller.userID }),
  ]);
  if (proven?.changes !== 1) throw notProven();
  return nowS + providerProofS;
}

const finish = operation({
  id: 'finishLoginAgain',
  method: 'POST',
  path: '/auth/loginagain/finish/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: 'none',
  tag: 'Authentication',
  summary: 'Finish logging in again at the login provider',
  description: `Our addition. Takes what \`finishProviderLogin\` takes, within the session that began. From then on, and for ${providerProofS / 60} minutes, the
\`loginSecret\` stands in place of the \`password\` of one request of this session. 422 \`password_wrong\` when another person logged in, when the
provider did not ask anew, and for a login that was not begun here, has expired or was finished already.`,
  params: Type.Object({}),
  body: finishBody('beginLoginAgain'),
  result: Type.Object({
    ...envelope,
    expires: Type.Integer({ description: 'When the proof ends (epoch seconds)' }),
  }),
  errors: ['not_found', 'conflict', 'password_wrong', 'throttled', 'unavailable'],
  effects: true,
  // A repeat is known by a hash of the body, which would be a hash of the secret.
  answerIsSecret: true,
  examples: {
    body: {
      loginSecret: '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      state: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA',
      code: 'SplxlOBeZQQYbYS6WxSbIA',
    },
    result: { expires: 1763683920 },
  },
  async run({ body, caller, source }, services) {
    return { ...ok, expires: await finishAgain(services, body, { caller, source }) };
  },
});

export const loginAgainOperations = [begin, finish] as const;
