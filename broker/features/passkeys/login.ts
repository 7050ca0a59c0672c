// Login by a passkey. The authenticator has verified its user, so that nothing else is needed.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { openSession, sessionMembers } from '../../api/accounts/opened-session.ts';
import { mayAct } from '../../api/accounts/password-proof.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { sessionLimits } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { findUser } from '../../store/accounts/accounts.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { begun } from './begun.ts';
import { authenticated, authenticationOptions, clientDataOf, relyingPartyOf } from './ceremony.ts';
import { ceremonyS, consumeCeremony, countUse, findPasskey, type PasskeyRow } from './passkey-store.ts';
import { type AuthenticationResponse, authenticationResponse, browserOptions } from './shapes.ts';

/** Steps of logins from one network: many people of a company may log in at once. */
const loginLimit = { burst: 100, perS: 5, refusal: 'Too many logins from this network' } as const;

const beginPasskeyLogin = operation({
  id: 'beginPasskeyLogin',
  method: 'GET',
  path: '/auth/login/passkey/begin',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a login by passkey',
  description: `Our addition. Give the \`options\` to the browser (\`navigator.credentials.get\`), and finish with \`loginByPasskey\` within ${ceremonyS / 60} minutes.
They name no user: nobody learns here who has a passkey.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, options: browserOptions }),
  errors: ['throttled'],
  effects: true,
  answerIsSecret: true,
  examples: { result: { options: { challenge: 'p0Gv2b7Xr9oKQh1sVtYc3Jm5Zl8NwEaDfUiTgRkSxHA' } } },
  async run({ source }, services) {
    services.takeTurn(loginLimit, networkOf(source));
    const party = relyingPartyOf(services.consoleUrl);
    return { ...ok, options: { ...(await authenticationOptions(party, await begun(services, null))) } };
  },
});

/** The same for an unknown passkey, a wrong signature, another origin, and a login that was not begun. */
const failed = (): AppError =>
  new AppError('login_failed', 'This passkey begins no session here', {
    hint: 'Begin again with beginPasskeyLogin. An administrator, or the operator of the service with `account login-code`, helps who has lost a key.',
  });

/** The passkey that a response proves, its use counted. @throws AppError `login_failed`. */
async function proven(services: ApiServices, response: AuthenticationResponse): Promise<PasskeyRow> {
  const { db, clock } = services;
  const nowS = Math.floor(clock.utcMs() / 1000);
  const said = clientDataOf(response.response.clientDataJSON);
  if (said === null) throw failed();
  const ceremony = { challengeHash: hashToken(said.challenge), sessionHash: null, nowS };
  // Used up first: of two requests with one response, one goes on.
  const [taken] = await db.write([consumeCeremony(ceremony)]);
  const passkey = taken?.changes === 1 ? await findPasskey(db, response.id) : null;
  if (passkey === null) throw failed();
  const party = relyingPartyOf(services.consoleUrl, said.origin);
  const counter = await authenticated(response, party, { challenge: said.challenge, passkey });
  const [used] = counter === null ? [] : await db.write([countUse(passkey, counter, nowS)]);
  if (used?.changes !== 1) throw failed();
  return passkey;
}

const loginByPasskey = operation({
  id: 'loginByPasskey',
  method: 'POST',
  path: '/auth/login/passkey',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a session by passkey',
  description: `Our addition. Takes the browser's answer to \`beginPasskeyLogin\`, once, and returns a token, like \`login\`. Everything that proves no passkey of
a user who may log in answers 401 \`login_failed\`. The session ends as one of \`login\` does.`,
  params: Type.Object({}),
  body: Type.Object({ response: authenticationResponse }, { additionalProperties: false }),
  result: Type.Object({ ...envelope, ...sessionMembers }),
  errors: ['login_failed', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: {
      response: {
        id: 'q0Jx3hYbT1uC9nFvR7sLwA',
        rawId: 'q0Jx3hYbT1uC9nFvR7sLwA',
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
          authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
          signature: 'MEUCIQDx',
        },
      },
    },
    result: {
      token: 'acme%7Cdispatch%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      accountID: 'acme',
      userID: 'dispatch',
      expires: 1763726400,
    },
  },
  async run({ body: { response }, source, userAgent }, services) {
    const { db, clock, log } = services;
    services.takeTurn(loginLimit, networkOf(source));
    const { accountID, userID, name } = await proven(services, response).catch((thrown: unknown) => {
      log.warn('passkey_refused', { source });
      throw thrown;
    });
    const nowS = Math.floor(clock.utcMs() / 1000);
    const user = await findUser(db, { accountID, userID });
    if (user === null || !mayAct(user, nowS)) throw failed();
    const expiresS = nowS + sessionLimits.absoluteS;
    const begin = { accountID, userID, passwordHash: user.passwordHash, source, userAgent, expiresS: null };
    const token = await openSession(services, { ...begin, detail: { passkey: name } });
    // The user was deleted or its password changed meanwhile.
    if (token === null) throw failed();
    log.info('login', { accountID, userID, source, isByPasskey: true });
    return { ...ok, token, accountID, userID, expires: expiresS };
  },
});

export const passkeyLoginOperations = [beginPasskeyLogin, loginByPasskey] as const;
