// Login by a one-time code that the operator of the service made at the broker's machine, and what a page for logins has to know.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { formatToken, sessionLimits, tokenRandomBytes } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { consumeLoginCode, findLoginCode, loginCodeS } from '../../store/accounts/login-codes.ts';
import { beginSession, hashToken, tokenIDOf } from '../../store/accounts/sessions.ts';
import { type ApiServices, operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { shortened } from './auth.ts';

/** The same for a wrong, used, replaced and expired code, and for a user that may have none. */
const codeFailed = (): AppError =>
  new AppError('login_failed', 'This login code is wrong, has expired, or was used already', {
    hint: 'Log in with a password, or have the operator of the service make another code.',
  });

/** @throws AppError `throttled`. */
function admit({ loginCodes, clock }: ApiServices, source: string): void {
  const network = networkOf(source);
  const nowMs = clock.monoMs();
  if (loginCodes.take(network, nowMs)) return;
  throw new AppError('throttled', 'Too many login codes came from this network', {
    retryAfterS: Math.ceil(loginCodes.stateOf(network, nowMs).waitMs / 1000),
  });
}

interface Attempt {
  readonly code: string;
  readonly source: string;
  readonly userAgent: string | null;
}

async function logInByCode(services: ApiServices, { code, source, userAgent }: Attempt) {
  const { db, clock, entropy, log } = services;
  admit(services, source);
  const codeHash = hashToken(code);
  const atMs = Math.round(clock.utcMs());
  const atS = Math.floor(atMs / 1000);
  const owner = await findLoginCode(db, codeHash, atS);
  // Used up first: of two requests with one code, one goes on.
  const [taken] = owner === null ? [] : await db.write([consumeLoginCode(codeHash, atS)]);
  if (owner === null || taken?.changes !== 1) {
    log.warn('login_code_refused', { source });
    throw codeFailed();
  }
  const { accountID, userID, passwordHash } = owner;
  const token = formatToken({ accountID, userID }, entropy.bytes(tokenRandomBytes));
  const tokenHash = hashToken(token);
  const expiresS = atS + sessionLimits.idleS;
  const detail = { tokenID: tokenIDOf(tokenHash), isByCode: true };
  const [begun] = await db.write([
    ...beginSession({
      accountID,
      userID,
      tokenHash,
      passwordHash,
      userAgent: shortened(userAgent),
      atS,
      expiresS,
    }),
    insertAudit({ accountID, atMs, actor: userID, source, action: 'login', object: userID, detail }),
  ]);
  // The user was deleted or its password changed meanwhile.
  if (begun?.changes !== 1) throw codeFailed();
  log.info('login', { accountID, userID, source, isByCode: true });
  return { token, accountID, userID, expires: expiresS };
}

const loginByCode = operation({
  id: 'loginByCode',
  method: 'POST',
  path: '/auth/login/code',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a session with a one-time code',
  description: `Our addition. Exchanges a code that \`fleetward-broker account login-code\` has made for a token, like \`login\`. A code works once,
within ${loginCodeS / 60} minutes; a newer one of the user and a change of its password void it. All others answer 401 \`login_failed\`. Send it in the body
only: an address is logged, a body is not.

The session ends after ${sessionLimits.idleS / 3600} hours, makes no API tokens, and knows no password: where the account wants it again, send it.`,
  params: Type.Object({}),
  body: Type.Object(
    { code: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'As the command line printed it' }) },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    token: Type.String({ description: '`<accountID>%7C<userID>%7C<random>`' }),
    accountID: Type.String({ description: 'The account' }),
    userID: Type.String({ description: 'The user within the account' }),
    expires: Type.Integer({ description: 'When the session ends at the latest (epoch seconds)' }),
  }),
  errors: ['login_failed', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { code: 'mJ5k2pQ0vXw8Zr3tYc7Hn1Lb6Gd9Fs4Ae-Ui_Oo0Kqg' },
    result: {
      token: 'acme%7Cdispatch%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      accountID: 'acme',
      userID: 'dispatch',
      expires: 1763726400,
    },
  },
  async run({ body, source, userAgent }, services) {
    return { ...ok, ...(await logInByCode(services, { code: body.code, source, userAgent })) };
  },
});

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

export const loginCodeOperations = [loginByCode, loginWays] as const;
