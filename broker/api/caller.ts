// From the `authorization` header to the caller: the first thing every operation with a token does, before it looks at
// anything else of the request. Whatever is wrong with a token, the answer is the same.
import { AppError, messageOf } from '../../src/core/errors.ts';
import { decideSession, parseToken, tokenOf } from '../core/session.ts';
import { findSession, hashToken, touchSession } from '../store/sessions.ts';
import type { ApiServices, Caller } from './operation.ts';

const refusal = (message: string): AppError =>
  new AppError('unauthorized', message, {
    hint: 'Log in at /api/v1/auth/login and send the token in the request header `authorization`.',
  });

/**
 * The caller of a session that lives, by the hash of its token; null once it has ended. Notes that it is in use.
 * @throws AppError `storage` when the sessions cannot be read.
 */
export async function callerOf(
  tokenHash: string,
  services: Pick<ApiServices, 'db' | 'clock' | 'log'>,
): Promise<Caller | null> {
  const { db, clock, log } = services;
  const session = await findSession(db, tokenHash);
  const nowS = Math.floor(clock.utcMs() / 1000);
  const life = session === null ? 'ended' : decideSession(session, nowS);
  if (session === null || life === 'ended') return null;
  if (life === 'touch') {
    try {
      await db.write([touchSession(session.tokenHash, nowS)]);
    } catch (thrown) {
      // Reading must go on when the disk is full; the session only ends a little earlier.
      log.warn('session-touch-failed', { reason: messageOf(thrown) });
    }
  }
  const { accountID, userID, role, seesAll } = session;
  // An administrator is never limited: he could change his own groups.
  const limitedTo = seesAll || role === 'admin' ? null : userID;
  return { accountID, userID, role, tokenHash, scope: { accountID, limitedTo } };
}

/** @throws AppError `unauthorized`; `storage` when the sessions cannot be read. */
export async function authenticate(
  header: string | undefined,
  services: Pick<ApiServices, 'db' | 'clock' | 'log'>,
): Promise<Caller> {
  const token = tokenOf(header);
  const named = token === null ? null : parseToken(token);
  if (token === null || named === null) {
    throw refusal(
      header === undefined
        ? 'the request carries no token'
        : 'what the header `authorization` carries is no token of this service',
    );
  }
  const caller = await callerOf(hashToken(token), services);
  const isNamed = caller !== null && caller.accountID === named.accountID && caller.userID === named.userID;
  if (!isNamed) throw refusal('the token is wrong, or its session has ended');
  return caller;
}
