// Statements on accounts and their users. A user is always read together with his account, so that a suspended
// account can never be used through an active user. Password hashes leave this file only for verification.

import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { parseRole, type Role } from '../core/session.ts';
import { numberOf, textOf } from './row.ts';

export interface UserKey {
  readonly accountID: string;
  readonly userID: string;
}

export interface UserRow extends UserKey {
  /** Argon2id in PHC form. */
  readonly passwordHash: string;
  readonly role: Role;
  /** False when the user or the account is suspended. */
  readonly isActive: boolean;
}

/** One user of an account, or null. */
export async function findUser(db: Database, key: UserKey): Promise<UserRow | null> {
  const [row] = await db.read(sql`
    SELECT u.account_id, u.user_id, u.password_hash, u.role, u.is_active AS user_active,
      a.is_active AS account_active
    FROM users u JOIN accounts a ON a.account_id = u.account_id
    WHERE u.account_id = ${key.accountID} AND u.user_id = ${key.userID}`);
  if (row === undefined) return null;
  return {
    accountID: textOf(row, 'account_id'),
    userID: textOf(row, 'user_id'),
    passwordHash: textOf(row, 'password_hash'),
    role: parseRole(textOf(row, 'role')),
    isActive: numberOf(row, 'user_active') === 1 && numberOf(row, 'account_active') === 1,
  };
}

/** Creates an account; changes 0 rows when there is one of that id. */
export function insertAccount(account: {
  readonly accountID: string;
  readonly displayName: string;
  readonly createdS: number;
}): Statement {
  return sql`
    INSERT INTO accounts (account_id, display_name, is_active, created_s)
    VALUES (${account.accountID}, ${account.displayName}, 1, ${account.createdS})
    ON CONFLICT (account_id) DO NOTHING`;
}

/** Creates a user of an account that is there; changes 0 rows when there is one of that id. */
export function insertUser(
  user: UserKey & { readonly passwordHash: string; readonly role: Role; readonly createdS: number },
): Statement {
  return sql`
    INSERT INTO users (account_id, user_id, password_hash, role, display_name, is_active, created_s)
    VALUES (${user.accountID}, ${user.userID}, ${user.passwordHash}, ${user.role}, ${user.userID}, 1,
      ${user.createdS})
    ON CONFLICT (account_id, user_id) DO NOTHING`;
}

/** True when there is an account of that id. */
export async function accountExists(db: Database, accountID: string): Promise<boolean> {
  return (await db.read(sql`SELECT 1 AS there FROM accounts WHERE account_id = ${accountID}`)).length > 0;
}
