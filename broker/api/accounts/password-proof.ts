// Proof of a password, throttled: for a login, and for whoever wants to change his own. A wrong account, user and
// password are one and the same failure, in words and in time.
import { AppError } from '../../../src/core/errors.ts';
import type { LoginAttempt } from '../../core/login-throttle.ts';
import { findUser, type UserRow } from '../../store/accounts.ts';
import { insertAudit } from '../../store/audit.ts';
import type { ApiServices } from '../operation.ts';

export interface Credentials extends LoginAttempt {
  readonly password: string;
}

/** Whether a user may act at all: neither he nor his account is suspended or over. */
function mayAct(user: UserRow, nowS: number): boolean {
  return user.isActive && (user.accountExpiresS === null || nowS < user.accountExpiresS);
}

/** Not waited for: a known user must not take longer to refuse than an unknown one. */
function recordFailure(credentials: Credentials, action: string, services: ApiServices): void {
  const { accountID, userID, address: source } = credentials;
  const atMs = Math.round(services.clock.utcMs());
  const entry = { accountID, atMs, actor: userID, source, action, object: userID, detail: {} };
  services.db.write([insertAudit(entry)]).catch(() => services.log.warn('login-failure-not-recorded'));
}

export const loginFailed = (): AppError => new AppError('login_failed', 'account, user or password is wrong');

/**
 * Resolves when the password is right and the user may act. A throttled failure says how long to wait; a service
 * failure does not count against the user.
 * @returns the hash that it was proven against, for the condition of what follows: it may be another one by then.
 * @throws AppError `login_failed` or `throttled`.
 */
export async function provePassword(credentials: Credentials, services: ApiServices): Promise<string> {
  const { db, clock, passwords, throttle, log } = services;
  const { accountID, userID, password, address } = credentials;
  const decision = throttle.begin(credentials, clock.monoMs());
  if (!decision.isAllowed) {
    log.warn('login-throttled', { accountID, userID, source: address });
    throw new AppError('throttled', 'too many failed logins; wait before the next one', {
      retryAfterS: decision.retryAfterS,
    });
  }
  let user: UserRow | null = null;
  let isRight = false;
  try {
    user = await findUser(db, { accountID, userID });
    const known = user !== null && mayAct(user, clock.utcMs() / 1000) ? user.passwordHash : null;
    isRight = await passwords.verify(known, password);
  } catch (thrown) {
    throttle.release(credentials);
    throw thrown;
  }
  if (user === null || !isRight) {
    log.warn('login-failed', { accountID, userID, source: address });
    if (user !== null) recordFailure(credentials, 'login.fail', services);
    throw loginFailed();
  }
  throttle.succeed(credentials);
  return user.passwordHash;
}
