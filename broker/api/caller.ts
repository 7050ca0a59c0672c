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

/** @throws AppError `unauthorized`; `storage` when the sessions cannot be read. */
export async function authenticate(
  header: string | undefined,
  services: Pick<ApiServices, 'db' | 'clock' | 'log'>,
): Promise<Caller> {
  const { db, clock, log } = services;
  const token = tokenOf(header);
  const named = token === null ? null : parseToken(token);
  if (token === null || named === null) throw refusal('the request carries no token');
  const session = await findSession(db, hashToken(token));
  const isNamed =
    session !== null && session.accountID === named.accountID && session.userID === named.userID;
  const nowS = Math.floor(clock.utcMs() / 1000);
  const life = isNamed ? decideSession(session, nowS) : 'ended';
  if (session === null || life === 'ended') throw refusal('the token is wrong, or its session has ended');
  if (life === 'touch') {
    try {
      await db.write([touchSession(session.tokenHash, nowS)]);
    } catch (thrown) {
      // Reading must go on when the disk is full; the session only ends a little earlier.
      log.warn('session-touch-failed', { reason: messageOf(thrown) });
    }
  }
  const { accountID, userID, role, tokenHash, seesAll } = session;
  // An administrator is never limited: he could change his own groups.
  const limitedTo = seesAll || role === 'admin' ? null : userID;
  return { accountID, userID, role, tokenHash, scope: { accountID, limitedTo } };
}
