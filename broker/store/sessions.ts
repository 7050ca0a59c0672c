// Statements on sessions. The table holds the SHA-256 of a token, never the token: who reads the database or a backup
// cannot act as anybody. 256 random bits need no slow hash.
import { createHash } from 'node:crypto';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { parseRole, type Role, type SessionTimes, sessionLimits } from '../core/session.ts';
import type { UserKey } from './accounts.ts';
import { numberOf, textOf } from './row.ts';

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

/** The session of a token; null when there is none, or its user or account is suspended. */
export async function findSession(db: Database, tokenHash: string): Promise<SessionRow | null> {
  const [row] = await db.read(sql`
    SELECT s.token_hash, s.account_id, s.user_id, s.created_s, s.last_used_s, u.role, u.sees_all
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
    role: parseRole(textOf(row, 'role')),
    seesAll: numberOf(row, 'sees_all') === 1,
  };
}

/** A part of the hash names a session to people. */
const tokenIdLength = 16;

/** Sessions of one user; the oldest end when a further one begins. */
const sessionsMost = 100;

/** Begins a session, ends those of anybody that are over, and keeps the newest `sessionsMost` of this user. */
export function beginSession(
  session: UserKey & { readonly tokenHash: string; readonly atS: number },
): readonly Statement[] {
  const { accountID, userID, tokenHash, atS } = session;
  return [
    sql`DELETE FROM sessions
      WHERE last_used_s <= ${atS - sessionLimits.idleS} OR created_s <= ${atS - sessionLimits.absoluteS}`,
    sql`INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s)
      VALUES (${tokenHash}, ${tokenHash.slice(0, tokenIdLength)}, ${accountID}, ${userID}, ${atS}, ${atS})`,
    sql`DELETE FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID} AND token_hash NOT IN (
      SELECT token_hash FROM sessions WHERE account_id = ${accountID} AND user_id = ${userID}
      ORDER BY created_s DESC, last_used_s DESC LIMIT ${sessionsMost})`,
  ];
}

/** Notes that a session is in use; time never goes back. */
export function touchSession(tokenHash: string, atS: number): Statement {
  return sql`UPDATE sessions SET last_used_s = ${atS} WHERE token_hash = ${tokenHash} AND last_used_s < ${atS}`;
}

/** Ends a session; doing it twice is no fault. */
export function endSession(tokenHash: string): Statement {
  return sql`DELETE FROM sessions WHERE token_hash = ${tokenHash}`;
}
