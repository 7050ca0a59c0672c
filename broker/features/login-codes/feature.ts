// Login by a one-time code that the operator of the service made at the broker's machine.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { loginAgainOperations } from '../../api/accounts/login-again.ts';
import { openSession, sessionMembers } from '../../api/accounts/opened-session.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { sessionLimits } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { consumeLoginCode, findLoginCode, loginCodeS } from '../../store/accounts/login-codes.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { feature } from '../feature.ts';

/** The same for a wrong, used, replaced and expired code, and for a user that may have none. */
const codeFailed = (): AppError =>
  new AppError('login_failed', 'This login code is wrong, has expired, or was used already', {
    hint: 'Log in with a password, or have the operator of the service make another code.',
  });

/** A code cannot be guessed; the limit keeps the database free of such requests. */
const codeLimit = { burst: 60, perS: 1, refusal: 'Too many login codes came from this network' } as const;

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
    ...sessionMembers,
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
  async run({ body: { code }, source, userAgent }, services) {
    const { db, clock, log } = services;
    services.takeTurn(codeLimit, networkOf(source));
    const codeHash = hashToken(code);
    const atS = Math.floor(clock.utcMs() / 1000);
    const owner = await findLoginCode(db, codeHash, atS);
    // Used up first: of two requests with one code, one goes on.
    const [taken] = owner === null ? [] : await db.write([consumeLoginCode(codeHash, atS)]);
    if (owner === null || taken?.changes !== 1) {
      log.warn('login_code_refused', { source });
      throw codeFailed();
    }
    const expiresS = atS + sessionLimits.idleS;
    const proven = { ...owner, source, userAgent, expiresS, detail: { isByCode: true } };
    const token = await openSession(services, proven);
    // The user was deleted or its password changed meanwhile.
    if (token === null) throw codeFailed();
    const { accountID, userID } = owner;
    log.info('login', { accountID, userID, source, isByCode: true });
    return { ...ok, token, accountID, userID, expires: expiresS };
  },
});

export const loginCodes = feature({ operations: [loginByCode], follows: loginAgainOperations });
