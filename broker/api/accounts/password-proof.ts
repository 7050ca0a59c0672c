// Proof of a password, throttled: for a login, for changing one's own password, and for what an account wants it again. A wrong account, user and password give
// the same failure, in text and in time.
import { AppError } from '../../../src/core/errors.ts';
import type { LoginAttempt } from '../../core/accounts/login-throttle.ts';
import type { PasswordAsker } from '../../core/accounts/password.ts';
import { networkOf } from '../../core/accounts/source-network.ts';
import { findUser, type UserRow } from '../../store/accounts/accounts.ts';
import { insertAudit } from '../../store/accounts/audit.ts';
import { loginSources } from '../../store/accounts/audit-log.ts';
import { useLoginProof } from '../../store/accounts/provider-logins.ts';
import { hashToken } from '../../store/accounts/sessions.ts';
import type { ApiServices } from '../base/api-services.ts';
import type { Actor } from '../base/audit-entry.ts';

export interface Credentials extends LoginAttempt {
  readonly password: string;
}

/** True when neither user nor account is suspended or expired. */
export function mayAct(user: UserRow, nowS: number): boolean {
  return user.isActive && (user.accountExpiresS === null || nowS < user.accountExpiresS);
}

const askerOf = ({ accountID, userID, address, session }: Credentials): PasswordAsker =>
  session === undefined
    ? { lane: 'login', key: networkOf(address) }
    : { lane: 'session', key: `${accountID}/${userID}` };

/** Not waited for: a known user must not take longer to refuse than an unknown one. */
function recordFailure(credentials: Credentials, action: string, services: ApiServices): void {
  const { accountID, userID, address: source } = credentials;
  const atMs = Math.round(services.clock.utcMs());
  const entry = { accountID, atMs, actor: userID, source, action, object: userID, detail: {} };
  services.db.write([insertAudit(entry)]).catch(() => services.log.warn('login_failure_not_recorded'));
}

/** The throttle forgets at a restart, and knows nothing of other processes; the audit log has every login. */
async function hasLoggedInThere(credentials: Credentials, { db }: ApiServices): Promise<boolean> {
  const network = networkOf(credentials.address);
  return (await loginSources(db, credentials)).some((source) => networkOf(source) === network);
}

export const loginFailed = (): AppError => new AppError('login_failed', 'Account, user or password is wrong');

/** For a logged-in user: the token is valid, so this is no 401, upon which a client would discard it. */
const wrongAgain = (): AppError =>
  new AppError('password_wrong', 'The password is wrong; nothing was done', {
    details: [{ pointer: '/password', message: 'is not the password of the user' }],
  });

const hasNoPassword = (): AppError =>
  new AppError('forbidden', 'You log in at a provider and have no password here; nothing was done', {
    hint: 'A user of the account with a password can do this.',
  });

/** A user of the login provider logs in there again: the secret of that login stands in place of the password. */
async function provesByLogin({ password, session }: Credentials, services: ApiServices): Promise<boolean> {
  if (session === undefined) return false;
  const nowS = Math.floor(services.clock.utcMs() / 1000);
  const proof = { secretHash: hashToken(password), sessionHash: session, nowS };
  const [used] = await services.db.write([useLoginProof(proof)]);
  return used?.changes === 1;
}

/**
 * Proves the password of a logged-in user once more before something that the account wants it for.
 * @param password as sent in the body; undefined: none was sent.
 * @returns the hash that it was proven against.
 * @throws AppError `password_needed`, `password_wrong`, `throttled`.
 */
export async function provePasswordAgain(
  services: ApiServices,
  { caller, source }: Actor,
  password: string | undefined,
): Promise<string> {
  const { accountID, userID, tokenHash: session } = caller;
  if (password !== undefined)
    return provePassword({ accountID, userID, password, address: source, session }, services);
  const isOfProvider = (await findUser(services.db, caller))?.hasPassword === false;
  throw new AppError(
    'password_needed',
    'The account requires the password again for this; nothing was done',
    {
      details: [{ pointer: '/password', message: 'is missing' }],
      hint: isOfProvider
        ? 'Log in at the provider again with beginLoginAgain and finishLoginAgain, and send its loginSecret as the member `password` of the body.'
        : 'Send the password of the user as the member `password` of the body; a call without a body cannot do this.',
    },
  );
}

/**
 * Resolves when the password is right and the user may act. A throttled failure says how long to wait; a service
 * failure does not count against the user.
 * @returns the hash that it was proven against, for the condition of what follows: it may be another one by then.
 * @throws AppError `login_failed`, or `password_wrong` within a session; `throttled`.
 */
export async function provePassword(credentials: Credentials, services: ApiServices): Promise<string> {
  const { db, clock, passwords, throttle, log } = services;
  const { accountID, userID, password, address } = credentials;
  let decision = throttle.begin(credentials, clock.monoMs());
  if (!decision.isAllowed && !decision.isKnown && (await hasLoggedInThere(credentials, services))) {
    throttle.remember(credentials);
    decision = throttle.begin(credentials, clock.monoMs());
  }
  if (!decision.isAllowed) {
    log.warn('login_throttled', { accountID, userID, source: address });
    throw new AppError('throttled', 'Too many failed logins; wait before the next one', {
      retryAfterS: decision.retryAfterS,
    });
  }
  let user: UserRow | null = null;
  let isRight = false;
  try {
    user = await findUser(db, { accountID, userID });
    const able = user !== null && mayAct(user, clock.utcMs() / 1000) ? user : null;
    const known = able?.hasPassword === true ? able.passwordHash : null;
    isRight =
      able?.hasPassword === false && credentials.session !== undefined
        ? await provesByLogin(credentials, services)
        : await passwords.verify(known, password, askerOf(credentials));
  } catch (thrown) {
    throttle.release(credentials);
    throw thrown;
  }
  if (user === null || !isRight) {
    log.warn('login_failed', { accountID, userID, source: address });
    const isAgain = credentials.session !== undefined;
    if (user !== null) recordFailure(credentials, isAgain ? 'password.fail' : 'login.fail', services);
    throw isAgain ? wrongAgain() : loginFailed();
  }
  throttle.succeed(credentials);
  return user.passwordHash;
}

/**
 * The same for the member `currentPassword` of a logged-in user who changes it.
 * @throws AppError `invalid_content` when it is wrong; `throttled`.
 */
export async function proveCurrentPassword(
  credentials: Credentials & { readonly session: string },
  services: ApiServices,
): Promise<string> {
  if ((await findUser(services.db, credentials))?.hasPassword === false) throw hasNoPassword();
  return provePassword(credentials, services).catch((thrown: unknown) => {
    if (!(thrown instanceof AppError) || thrown.code !== 'password_wrong') throw thrown;
    throw new AppError('invalid_content', 'The current password is wrong', {
      details: [{ pointer: '/currentPassword', message: 'is not the password of the user' }],
    });
  });
}
