// Statements on sessions: logins and API tokens. The table holds the SHA-256 of a token, never the token: who reads the
// database or a backup cannot act as anybody. 256 random bits need no slow hash.
import { createHash } from 'node:crypto';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { decideSession, parseRole, type Role, type SessionTimes, sessionLimits } from '../core/session.ts';
import type { UserKey } from './accounts.ts';
import { numberOf, numberOrNull, textOf } from './row.ts';

export interface SessionRow extends UserKey, SessionTimes {
  readonly tokenHash: string;
  readonly role: Role;
  /** False: the groups of the user limit what he sees. */
  readonly seesAll: boolean;
}

/** What the table holds of a token: SHA-256 in hexadecimal. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * The session of a token; null when there is none, or its user or account is suspended. Whether its time is over says
 * `decideSession`.
 */
export async function findSession(db: Database, tokenHash: string): Promise<SessionRow | null> {
  const [row] = await db.read(sql`
    SELECT s.token_hash, s.account_id, s.user_id, s.created_s, s.last_used_s, s.expires_s, u.role, u.sees_all,
      a.expires_s AS account_expires_s
    FROM sessions s
      JOIN users u ON u.account_id = s.account_id AND u.user_id = s.user_id
      JOIN accounts a ON a.account_id = s.account_id
    WHERE s.token_hash = ${tokenHash} AND u.is_active = 1 AND a.is_active = 1`);
  if (row === undefined) return null;
  return {
    tokenHash: textOf(row, 'token_hash'),
    accountID: textOf(row, 'account_id'),
    userID: textOf(row, 'user_id'),
    createdS: numberOf(row, 'created_s'),
    lastUsedS: numberOf(row, 'last_used_s'),
    expiresS: numberOrNull(row, 'expires_s'),
    accountExpiresS: numberOrNull(row, 'account_expires_s'),
    role: parseRole(textOf(row, 'role')),
    seesAll: numberOf(row, 'sees_all') === 1,
  };
}

/** A part of the hash names a session to people. */
const tokenIDLength = 16;

/** The name of a token for people; it gives no right. */
export function tokenIDOf(tokenHash: string): string {
  return tokenHash.slice(0, tokenIDLength);
}

/** Logins of one user; the oldest end when a further one begins. */
const loginsMost = 100;
/** API tokens of one user; a further one is refused. */
export const apiTokensMost = 50;

/**
 * Begins a session, ends those of anybody that are over, and keeps the newest `loginsMost` of this user. The first
 * result changes 0 rows when the user's password is no longer the one of `passwordHash`.
 */
export function beginSession(
  session: UserKey & { readonly tokenHash: string; readonly passwordHash: string; readonly atS: number },
): readonly Statement[] {
  const { accountID, userID, tokenHash, atS } = session;
  return [
    sql`INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s)
      SELECT ${tokenHash}, ${tokenIDOf(tokenHash)}, account_id, user_id, ${atS}, ${atS} FROM users
      WHERE account_id = ${accountID} AND user_id = ${userID} AND password_hash = ${session.passwordHash}`,
    sql`DELETE FROM sessions
      WHERE (kind = 'login' AND (last_used_s <= ${atS - sessionLimits.idleS}
        OR created_s <= ${atS - sessionLimits.absoluteS})) OR expires_s <= ${atS}`,
    sql`DELETE FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'login'
      AND token_hash NOT IN (
        SELECT token_hash FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'login'
        ORDER BY created_s DESC, last_used_s DESC LIMIT ${loginsMost})`,
  ];
}

/** A token for a program, made by a user in a login of his. */
export interface NewApiToken extends UserKey {
  readonly tokenHash: string;
  readonly description: string;
  readonly atS: number;
  readonly expiresS: number;
  /** The session that asks: only a login can make tokens, so that a token never outlives itself by a new one. */
  readonly byTokenHash: string;
}

/** Makes an API token; changes 0 rows when the asking session is no login, or the user has `apiTokensMost`. */
export function insertApiToken(token: NewApiToken): Statement {
  const { accountID, userID, tokenHash, atS } = token;
  return sql`
    INSERT INTO sessions (token_hash, token_id, account_id, user_id, kind, description, created_s, last_used_s, expires_s)
    SELECT ${tokenHash}, ${tokenIDOf(tokenHash)}, ${accountID}, ${userID}, 'api', ${token.description}, ${atS}, ${atS},
      ${token.expiresS}
    FROM sessions by_login WHERE by_login.token_hash = ${token.byTokenHash} AND by_login.kind = 'login'
      AND (SELECT COUNT(*) FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND kind = 'api'
        AND expires_s > ${atS}) < ${apiTokensMost}`;
}

/** A session as its own user sees it. */
export interface TokenRow {
  readonly tokenID: string;
  readonly tokenHash: string;
  readonly kind: 'login' | 'api';
  readonly description: string;
  readonly createdS: number;
  readonly lastUsedS: number;
  readonly expiresS: number | null;
}

/** Sessions of one user that are not over, newest first; at most `loginsMost` and `apiTokensMost` of a kind. */
export async function listSessions(db: Database, user: UserKey, nowS: number): Promise<readonly TokenRow[]> {
  const rows = await db.read(sql`
    SELECT token_id, token_hash, kind, description, created_s, last_used_s, expires_s FROM sessions
    WHERE account_id = ${user.accountID} AND user_id = ${user.userID}
    ORDER BY created_s DESC, token_id LIMIT ${loginsMost + apiTokensMost}`);
  const found = rows.map((row) => ({
    tokenID: textOf(row, 'token_id'),
    tokenHash: textOf(row, 'token_hash'),
    kind: textOf(row, 'kind') === 'api' ? ('api' as const) : ('login' as const),
    description: textOf(row, 'description'),
    createdS: numberOf(row, 'created_s'),
    lastUsedS: numberOf(row, 'last_used_s'),
    expiresS: numberOrNull(row, 'expires_s'),
  }));
  return found.filter((session) => decideSession(session, nowS) !== 'ended');
}

/** Condition: the user has a session of this name. */
export function hasToken(user: UserKey, tokenID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM sessions WHERE account_id = ${user.accountID} AND user_id = ${user.userID}
    AND token_id = ${tokenID})`;
}

/** Ends one session of a user by its name; changes 0 rows when he has none of that name. */
export function revokeToken(user: UserKey, tokenID: string): Statement {
  return sql`DELETE FROM sessions
    WHERE account_id = ${user.accountID} AND user_id = ${user.userID} AND token_id = ${tokenID}`;
}

/** Notes that a session is in use; time never goes back. */
export function touchSession(tokenHash: string, atS: number): Statement {
  return sql`UPDATE sessions SET last_used_s = ${atS} WHERE token_hash = ${tokenHash} AND last_used_s < ${atS}`;
}

/** Ends a session; doing it twice is no fault. */
export function endSession(tokenHash: string): Statement {
  return sql`DELETE FROM sessions WHERE token_hash = ${tokenHash}`;
}
