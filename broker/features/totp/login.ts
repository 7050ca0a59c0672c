// Login by password and one-time code. Tries are counted in the database, for all processes: of each network from which the user has logged in before by
// itself, and of all others together, so that a guesser elsewhere makes no user wait who logs in where they always do.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { openSession, sessionMembers } from '../../api/accounts/opened-session.ts';
import { loginFailed, provePassword } from '../../api/accounts/password-proof.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { passwordMost } from '../../core/accounts/password.ts';
import { sessionLimits } from '../../core/accounts/session.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { loginSources } from '../../store/accounts/audit-log.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import { nextTryS, stepOfCode, tryRules, typedCode } from './one-time-code.ts';
import {
  countTry,
  findTotp,
  findTries,
  forgetTries,
  type TotpRow,
  type Tries,
  useRecovery,
  useStep,
} from './totp-store.ts';

/** Logins from one network: many people of a company may log in at once. */
const loginLimit = { burst: 100, perS: 5, refusal: 'Too many logins from this network' } as const;

/** Before the code is looked at. @throws AppError `throttled`. */
async function takeTry({ db }: ApiServices, of: Tries, nowS: number): Promise<void> {
  const seen = await findTries(db, of);
  const waitS = (seen?.nextS ?? 0) - nowS;
  // One of many at the same moment goes on.
  const [counted] = waitS > 0 ? [] : await db.write([countTry(of, seen, nextOf(seen, nowS))]);
  if (counted?.changes === 1) return;
  throw new AppError('throttled', 'Too many codes that are not right; wait before the next one', {
    retryAfterS: Math.max(1, waitS),
    hint: 'A recovery code works at once. An administrator can take the authenticator app off a user.',
  });
}

function nextOf(seen: { readonly tries: number; readonly triedS: number } | null, nowS: number) {
  const isForgotten = seen === null || nowS - seen.triedS >= tryRules.forgetS;
  const tries = isForgotten ? 1 : seen.tries + 1;
  return { tries, nowS, nextS: nextTryS(tries, nowS) };
}

async function triesOf(services: ApiServices, user: UserKey, source: string): Promise<Tries> {
  const network = networkOf(source);
  const isKnown = (await loginSources(services.db, user)).some((one) => networkOf(one) === network);
  return { accountID: user.accountID, userID: user.userID, network: isKnown ? network : '' };
}

/** Uses a code up. @returns whether it was right, and unused. */
async function spend(services: ApiServices, row: TotpRow, text: string, source: string): Promise<boolean> {
  const { db, clock } = services;
  const nowS = Math.floor(clock.utcMs() / 1000);
  const typed = typedCode(text);
  if (typed?.kind === 'recovery')
    return (await db.write([useRecovery(row, hashToken(typed.code))]))[0]?.changes === 1;
  const tries = await triesOf(services, row, source);
  await takeTry(services, tries, nowS);
  const secret = Buffer.from(row.secret, 'base64url');
  const step = stepOfCode(typed?.code ?? '', { secret, nowS, lastStep: row.lastStep });
  if (step === null) return false;
  // Of two requests with one code, one goes on.
  const [used] = await db.write([useStep(row, step, nowS)]);
  if (used?.changes !== 1) return false;
  await db.write([forgetTries(tries)]);
  return true;
}

/** The same for a wrong code, an old one, one that was used, and of a user without an app. */
const failed = (): AppError =>
  new AppError('login_failed', 'The code is not right, or was used already', {
    hint: 'Type the newest code; one works once. Set the clock of the phone by its network. A recovery code works too.',
  });

const loginByTotp = operation({
  id: 'loginByTotp',
  method: 'POST',
  path: '/auth/login/totp',
  forms: ['versioned'],
  access: 'public',
  tag: 'Authentication',
  summary: 'Begin a session with a password and a one-time code',
  description: `Our addition, where \`login\` answers 401 \`code_needed\`. \`code\` is the present one of the authenticator app, or a recovery code; spaces and hyphens
do not count. A code works once, within half a minute before and after its time. A wrong account, user, password and code all answer 401 \`login_failed\`. After ${tryRules.free} wrong
codes further ones answer 503 \`throttled\` with \`Retry-After\`: the wait grows up to an hour, for each network from which the user has logged in before, and for all
others together. Recovery codes never wait. The session ends as one of \`login\` does.`,
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
      code: Type.String({ minLength: 1, maxLength: 32, description: 'Code of the app, or a recovery code' }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...envelope, ...sessionMembers }),
  errors: ['login_failed', 'throttled'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { accountID: 'acme', userID: 'dispatch', password: 'correct horse battery staple', code: '287082' },
    result: {
      token: 'acme%7Cdispatch%7C0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0',
      accountID: 'acme',
      userID: 'dispatch',
      expires: 1763726400,
    },
  },
  async run({ body: { accountID, userID, password, code }, source, userAgent }, services) {
    const { db, clock, log } = services;
    services.takeTurn(loginLimit, networkOf(source));
    const user = { accountID, userID };
    const passwordHash = await provePassword({ ...user, password, address: source }, services);
    const row = await findTotp(db, user);
    if (row === null) throw failed();
    if (!(await spend(services, row, code, source))) {
      const atMs = Math.round(clock.utcMs());
      const entry = {
        accountID,
        atMs,
        actor: userID,
        source,
        action: 'totp.fail',
        object: userID,
        detail: {},
      };
      await db.write([insertAudit(entry)]);
      log.warn('totp_refused', { accountID, userID, source });
      throw failed();
    }
    const isRecovery = typedCode(code)?.kind === 'recovery';
    const detail = isRecovery ? { isByRecoveryCode: true } : { isByTotp: true };
    const proven = { ...user, passwordHash, source, userAgent, expiresS: null, detail };
    const token = await openSession(services, proven);
    // The user was deleted or its password changed meanwhile.
    if (token === null) throw loginFailed();
    log.info('login', { ...user, source, ...detail });
    const expires = Math.floor(clock.utcMs() / 1000) + sessionLimits.absoluteS;
    return { ...ok, token, ...user, expires };
  },
});

export const totpLoginOperations = [loginByTotp] as const;
