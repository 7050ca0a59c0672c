// Login and logout. A wrong account, user and password give the same failure, in text and in time; the login throttle slows
// guessing and must never lock out the right user.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { passwordMost } from '../../core/accounts/password.ts';
import { endSession, loginsMost, tokenIDOf } from '../../store/accounts/sessions.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { openSession } from './opened-session.ts';
import { type Credentials, loginFailed, provePassword } from './password-proof.ts';

async function logIn(
  credentials: Credentials,
  userAgent: string | null,
  services: ApiServices,
): Promise<string> {
  const { accountID, userID, address: source } = credentials;
  const passwordHash = await provePassword(credentials, services);
  // Only after the right password: a wrong one does not show what the user has.
  const needed = await services.needsMore({ accountID, userID });
  if (needed !== null) throw needed;
  const proven = { accountID, userID, passwordHash, source, userAgent, expiresS: null };
  const token = await openSession(services, proven);
  if (token === null) throw loginFailed();
  services.log.info('login', { accountID, userID, source });
  return token;
}

const login = operation({
  id: 'login',
  method: 'POST',
  path: '/auth/login',
  forms: ['versioned', 'plain'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a session',
  description: `Returns the token that every other operation requires in the request header \`authorization\`, exactly as
returned here (\`Bearer <token>\` is accepted too; basic authentication is ignored).

A token ends after 12 hours without use, 30 days after login, at logout, when the password is changed, when its
user or account is suspended, is deleted or expires, and when its user logs in while ${loginsMost} newer logins are open. For programs there are longer-lived tokens: see \`token\`.
A wrong account, user and password all answer 401 \`login_failed\`, the right ones of a user with a passkey 401 \`passkey_needed\` (see \`loginByPasskey\`), with an
authenticator app 401 \`code_needed\` (see \`loginByTotp\`). After some failures further attempts answer 503
\`throttled\` with \`Retry-After\`: the wait grows per user and source address, up to a minute.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      accountID: Type.String({ minLength: 1, maxLength: 64, description: 'The account' }),
      userID: Type.String({ minLength: 1, maxLength: 64, description: 'The user within the account' }),
      password: Type.String({
        minLength: 1,
        maxLength: passwordMost,
        description: 'The password of the user',
      }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    token: Type.String({ description: '`<accountID>%7C<userID>%7C<random>`' }),
  }),
  errors: ['login_failed', 'passkey_needed', 'code_needed', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { accountID: 'acme', userID: 'dispatch', password: 'correct horse battery staple' },
    result: { token: 'acme%7Cdispatch%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0' },
  },
  async run({ body, source, userAgent }, services) {
    return { ...ok, token: await logIn({ ...body, address: source }, userAgent, services) };
  },
});

const logout = operation({
  id: 'logout',
  method: 'GET',
  path: '/auth/logout/{accountID}/{userID}',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: 'own',
  tag: 'Authentication',
  summary: 'End the session of the token',
  description: `Ends exactly the session whose token is sent. The names in the path must be those of the token,
else 404. The token is invalid afterwards: the same call again answers 401. Other sessions of the user stay open.`,
  params: Type.Object({
    accountID: Type.String({ description: 'The account of the token' }),
    userID: Type.String({ description: 'The user of the token' }),
  }),
  body: null,
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { params: { accountID: 'acme', userID: 'dispatch' } },
  async run({ params, caller, source }, services) {
    if (params.accountID !== caller.accountID || params.userID !== caller.userID) {
      throw new AppError('not_found', 'The token belongs to no session of this account and user', {
        hint: 'Send the account and user that the token was given to.',
      });
    }
    const audited = {
      action: 'logout',
      object: caller.userID,
      detail: { tokenID: tokenIDOf(caller.tokenHash) },
    };
    await services.db.write([
      ...endSession(caller, caller.tokenHash),
      auditEntry(services, { caller, source }, audited),
    ]);
    services.log.info('logout', { accountID: caller.accountID, userID: caller.userID });
    return ok;
  },
});

export const authOperations = [login, logout] as const;
