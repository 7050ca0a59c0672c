// From the `authorization` header to the caller: the first step of every operation with a token. Every invalid token gets
// the same answer.
import { AppError, messageOf } from '../../../src/core/errors.ts';
import type { Clock, Database, Log } from '../../../src/ports.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import type { Role, TokenScope } from '../../core/accounts/session.ts';
import { decideSession, tokenIn } from '../../core/accounts/session.ts';
import { findSession, hashToken, type SessionRow, touchSession } from '../../store/accounts/sessions.ts';

/** Who calls: always from a live session. */
export interface Caller {
  readonly accountID: string;
  readonly userID: string;
  readonly role: Role;
  /** SHA-256 of the token, the key of the session. */
  readonly tokenHash: string;
  /** Devices that the caller may see; every statement about devices takes it. */
  readonly scope: Scope;
  /** Scopes that limit an API token below its role; null: a login, which has no scopes. */
  readonly scopes: readonly TokenScope[] | null;
  /** The account's `fleet_revision` when the session was read: what an answer shows of devices must not be older. */
  readonly fleetRevision: number;
}

/** The holder of a link: no user, and it reaches nothing but what the link names. */
export interface LinkCaller extends Caller {
  /** As the feature that gave the link knows it. */
  readonly link: object;
}

/** Whether a caller holds a link. */
export function isLinkCaller(caller: Caller): caller is LinkCaller {
  return 'link' in caller;
}

/** Finds the caller of a link by its token; null when there is no such link that is open. */
export type LinkCallers = (
  token: string,
  services: Pick<SessionDeps, 'db' | 'clock'>,
) => Promise<LinkCaller | null>;

/** What a session is read with. */
interface SessionDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const refusal = (message: string): AppError =>
  new AppError('unauthorized', message, {
    hint: 'Log in at /api/v1/auth/login and send the token in the request header `authorization`.',
  });

/** The scope of a user, limited to what its API token names. */
function scopeOf(
  ofUser: Scope,
  { tokenHash, deviceLimit }: Pick<SessionRow, 'tokenHash' | 'deviceLimit'>,
): Scope {
  if (deviceLimit === null) return ofUser;
  const { accountID, limitedTo: userID } = ofUser;
  const deviceNos = Object.values(deviceLimit.devices);
  const groupNos = Object.values(deviceLimit.groups);
  // No user has a name with a space. The user's limit is part of the name: it may change while the token lives.
  const limitedTo = `${userID ?? '*'} ${tokenHash}`;
  return { accountID, limitedTo, within: { userID, deviceNos, groupNos } };
}

/**
 * The caller of a session that lives, by the hash of its token; null once it has ended. Notes that it is in use.
 * @throws AppError `storage` when the sessions cannot be read.
 */
export async function callerOf(tokenHash: string, services: SessionDeps): Promise<Caller | null> {
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
      log.warn('session_touch_failed', { reason: messageOf(thrown) });
    }
  }
  const { accountID, userID, role, seesAll, scopes, deviceLimit, fleetRevision } = session;
  // Administrators are never limited, as they could change their own groups.
  const limitedTo = seesAll || role === 'admin' ? null : userID;
  const scope = scopeOf({ accountID, limitedTo }, { tokenHash, deviceLimit });
  return { accountID, userID, role, tokenHash, scope, scopes, fleetRevision };
}

/** @throws AppError `unauthorized`, with the same message for each token that is not valid; `storage` when they cannot be read. */
export async function authenticate(
  header: string | undefined,
  services: SessionDeps & { callerOfLink(token: string): Promise<LinkCaller | null> },
): Promise<Caller> {
  const sent = tokenIn(header);
  if (sent === null) {
    throw refusal(
      header === undefined
        ? 'The request carries no token'
        : 'The header `authorization` carries no token of this service',
    );
  }
  const { token, owner } = sent;
  // There are two shapes of tokens, and only one of them holds names.
  const caller =
    owner === null ? await services.callerOfLink(token) : await callerOf(hashToken(token), services);
  const isNamed = owner === null || (caller?.accountID === owner.accountID && caller.userID === owner.userID);
  if (caller === null || !isNamed) throw refusal('The token is wrong, or its session has ended');
  return caller;
}
