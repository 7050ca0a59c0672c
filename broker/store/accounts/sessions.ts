// Statements on sessions: logins and API tokens. The table holds the SHA-256 of a token, never the token, so a copy of the
// database gives no access. 256 random bits need no slow hash.
import { hash } from 'node:crypto';
import type { Database, Statement } from '../../../src/ports.ts';
import { pointRead, sql } from '../../../src/sql.ts';
import { decideSession, sessionLimits, type TokenScope } from '../../core/accounts/session.ts';
import { flagOf, numberOf, numberOrNull, textOf } from '../base/row.ts';
import { type Infer, shape } from '../base/table.ts';
import { type NamedDevices, sessions, users } from '../schema/accounts.ts';
import type { UserKey } from './accounts.ts';

const sessionOfToken = shape({
  tokenHash: textOf,
  accountID: textOf,
  userID: textOf,
  createdS: numberOf,
  lastUsedS: numberOf,
  expiresS: numberOrNull,
  accountExpiresS: numberOrNull,
  role: users.columns.role,
  /** False: the user's groups limit the visible devices. */
  seesAll: flagOf,
  scopes: sessions.columns.scopes,
  deviceLimit: sessions.columns.deviceLimit,
  /** Of the account, see `schema/fleet-revisions.ts`. */
  fleetRevision: numberOf,
});
export type SessionRow = Infer<typeof sessionOfToken>;

/** The stored form of a token: SHA-256 in hexadecimal. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/**
 * The session of a token; null when there is none, or its user or account is suspended. `decideSession` decides whether it
 * has expired.
 */
export function findSession(db: Database, tokenHash: string): Promise<SessionRow | null> {
  return sessionOfToken.first(db)(
    pointRead(sql`
    SELECT s.token_hash, s.account_id, s.user_id, s.created_s, s.last_used_s, s.expires_s, s.kind, s.scopes,
      s.device_limit, u.role, u.sees_all, a.expires_s AS account_expires_s, a.fleet_revision
    FROM sessions s
      JOIN users u ON u.account_id = s.account_id AND u.user_id = s.user_id
      JOIN accounts a ON a.account_id = s.account_id
    WHERE s.token_hash = ${tokenHash} AND u.is_active = 1 AND a.is_active = 1`),
  );
}

/** Length of the part of the hash that identifies a session in answers. */
const tokenIDLength = 16;

/** The public id of a token; it grants nothing. */
export function tokenIDOf(tokenHash: string): string {
  return tokenHash.slice(0, tokenIDLength);
}

/** Characters kept of what a client calls itself. */
export const userAgentMost = 160;
/** Logins of one user; the oldest end when a further one begins. */
export const loginsMost = 100;
/** API tokens of one user; a further one is refused. */
export const apiTokensMost = 50;

/**
 * Begins a session, ends expired sessions of all users, and keeps the newest `loginsMost` of this user. The first
 * result changes 0 rows when the user's password is no longer the one of `passwordHash`.
 */
export function beginSession(
  session: UserKey & {
    readonly tokenHash: string;
    readonly passwordHash: string;
    readonly atS: number;
    /** What the client calls itself, at most `userAgentMost` characters. */
    readonly userAgent: string;
    /** When it ends in any case; null: after `sessionLimits`. */
    readonly expiresS: number | null;
  },
): readonly Statement[] {
  const { accountID, userID, tokenHash, atS, expiresS } = session;
  return [
    sql`INSERT INTO sessions (token_hash, token_id, account_id, user_id, user_agent, created_s, last_used_s,
        expires_s)
      SELECT ${tokenHash}, ${tokenIDOf(tokenHash)}, account_id, user_id, ${session.userAgent}, ${atS}, ${atS},
        CAST(${expiresS} AS BIGINT) FROM users
      WHERE account_id = ${accountID} AND user_id = ${userID} AND password_hash = ${session.passwordHash}`,
    sql`DELETE FROM sessions
      WHERE (kind = 'login' AND (last_used_s <= ${atS - sessionLimits.idleS}
        OR created_s <= ${atS - sessionLimits.absoluteS})) OR expires_s <= ${atS}`,
    sql`DELETE FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'login'
      AND token_hash <> ${tokenHash} AND token_hash NOT IN (
        SELECT token_hash FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'login'
          AND token_hash <> ${tokenHash}
        ORDER BY created_s DESC, last_used_s DESC LIMIT ${loginsMost - 1})`,
  ];
}

/** A token for a program, created by a user in a login session. */
export interface NewApiToken extends UserKey {
  readonly tokenHash: string;
  readonly description: string;
  readonly scopes: readonly TokenScope[];
  readonly deviceLimit: NamedDevices | null;
  readonly atS: number;
  readonly expiresS: number;
  /** The session of the request: only a login can create tokens, so that a token cannot extend its own life with a new one. */
  readonly byTokenHash: string;
}

/**
 * Makes an API token; changes 0 rows when the asking session is no login with a password, or the user has `apiTokensMost`. A token
 * would outlive what the login provider says of its user.
 */
export function insertApiToken(token: NewApiToken): Statement {
  const { accountID, userID, tokenHash, atS, deviceLimit } = token;
  const limit = deviceLimit === null ? null : JSON.stringify(deviceLimit);
  return sql`
    INSERT INTO sessions (token_hash, token_id, account_id, user_id, kind, description, scopes, device_limit, created_s,
      last_used_s, expires_s)
    SELECT ${tokenHash}, ${tokenIDOf(tokenHash)}, ${accountID}, ${userID}, 'api', ${token.description},
      ${token.scopes.join(' ')}, CAST(${limit} AS TEXT), ${atS}, ${atS}, ${token.expiresS}
    FROM sessions by_login WHERE by_login.token_hash = ${token.byTokenHash} AND by_login.kind = 'login'
      AND by_login.expires_s IS NULL AND (SELECT COUNT(*) FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'api'
        AND expires_s > ${atS}) < ${apiTokensMost}`;
}

/** A session in answers to its own user. */
export type TokenRow = Infer<typeof sessions>;

/** Sessions of one user that are not over, newest first; at most `loginsMost` and `apiTokensMost` of a kind. */
export async function listSessions(db: Database, user: UserKey, nowS: number): Promise<readonly TokenRow[]> {
  const found = await sessions.all(
    db,
  )(sql`SELECT * FROM sessions WHERE account_id = ${user.accountID} AND user_id = ${user.userID}
      ORDER BY created_s DESC, token_id LIMIT ${loginsMost + apiTokensMost}`);
  return found.filter((session) => decideSession(session, nowS) !== 'ended');
}

/** Condition: the user has a session of this name. */
export function hasToken(user: UserKey, tokenID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM sessions WHERE account_id = ${user.accountID} AND user_id = ${user.userID}
    AND token_id = ${tokenID})`;
}

/** Ends push registrations of a user, under a condition on `push_registrations`: a signed-out browser gets no more pushes. */
export function endPush({ accountID, userID }: UserKey, which: Statement): Statement {
  return sql`DELETE FROM push_registrations WHERE account_id = ${accountID} AND user_id = ${userID} AND ${which}`;
}

/** Ends one session of a user by its public id; the last result changes 0 rows when the user has none of that id. */
export function revokeToken(user: UserKey, tokenID: string): readonly Statement[] {
  const one = sql`account_id = ${user.accountID} AND user_id = ${user.userID} AND token_id = ${tokenID}`;
  return [
    endPush(user, sql`session_hash IN (SELECT token_hash FROM sessions WHERE ${one})`),
    sql`DELETE FROM sessions WHERE ${one}`,
  ];
}

/** Which sessions of a user end. */
export interface EndedSessions extends UserKey {
  /** The session that goes on; null: none does. */
  readonly exceptHash: string | null;
  /** Null: logins and API tokens. */
  readonly kind: 'login' | 'api' | null;
}

function areEnded({ accountID, userID, exceptHash, kind }: EndedSessions): Statement {
  const ofKind = kind === null ? sql`` : sql` AND kind = ${kind}`;
  return sql`account_id = ${accountID} AND user_id = ${userID} AND token_hash <> ${exceptHash ?? ''}${ofKind}`;
}

/** Condition: there is a session to end. */
export function hasOtherSessions(ended: EndedSessions): Statement {
  return sql`EXISTS (SELECT 1 FROM sessions WHERE ${areEnded(ended)})`;
}

/** Ends the sessions of a user but one; the last result changes as many rows as it ends. */
export function revokeSessions(ended: EndedSessions): readonly Statement[] {
  const { kind, exceptHash } = ended;
  // With the logins end the registrations of sessions that have run out.
  const which =
    kind === 'api'
      ? sql`session_hash IN (SELECT token_hash FROM sessions WHERE ${areEnded(ended)})`
      : sql`session_hash <> ${exceptHash ?? ''}`;
  return [endPush(ended, which), sql`DELETE FROM sessions WHERE ${areEnded(ended)}`];
}

/** Records that a session was used; the time never decreases. */
export function touchSession(tokenHash: string, atS: number): Statement {
  return sql`UPDATE sessions SET last_used_s = ${atS} WHERE token_hash = ${tokenHash} AND last_used_s < ${atS}`;
}

/** Ends a session; idempotent. */
export function endSession(user: UserKey, tokenHash: string): readonly Statement[] {
  return [
    endPush(user, sql`session_hash = ${tokenHash}`),
    sql`DELETE FROM sessions WHERE token_hash = ${tokenHash}`,
  ];
}
