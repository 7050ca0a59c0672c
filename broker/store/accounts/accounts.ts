// Statements on accounts and on the one user that logs in. A user is always read together with its account, so that a
// suspended account can never be used through an active user. Password hashes leave this file only for verification.

import type { Database, Statement } from '../../../src/ports.ts';
import { commaList, sql } from '../../../src/sql.ts';
import { findsRow, flagOf, numberOrNull, readNumber, textOf } from '../base/row.ts';
import { visible, wholeAccount } from '../base/scope.ts';
import { assignments, type Changes, type Infer, shape } from '../base/table.ts';
import { accounts, users } from '../schema/accounts.ts';

export interface UserKey {
  readonly accountID: string;
  readonly userID: string;
}

const userOfAccount = shape({
  accountID: textOf,
  userID: textOf,
  /** Argon2id in PHC form; of a user of the login provider a mark that no password has. */
  passwordHash: textOf,
  /** False: the user logs in at the provider. */
  hasPassword: flagOf,
  role: users.columns.role,
  /** False when the user or the account is suspended. */
  isActive: flagOf,
  /** End of the account; null when it has none. */
  accountExpiresS: numberOrNull,
});
export type UserRow = Infer<typeof userOfAccount>;

/** One user of an account, or null. */
export function findUser(db: Database, key: UserKey): Promise<UserRow | null> {
  return userOfAccount.first(
    db,
  )(sql`SELECT u.account_id, u.user_id, u.password_hash, CASE WHEN u.identity IS NULL THEN 1 ELSE 0 END AS has_password,
        u.role, u.is_active * a.is_active AS is_active, a.expires_s AS account_expires_s
      FROM users u JOIN accounts a ON a.account_id = u.account_id
      WHERE u.account_id = ${key.accountID} AND u.user_id = ${key.userID}`);
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

/** Creates the first administrator of an account; changes 0 rows when it has users already. */
export function insertFirstAdmin(
  user: UserKey & { readonly passwordHash: string; readonly createdS: number },
): Statement {
  return sql`
    INSERT INTO users (account_id, user_id, password_hash, role, display_name, is_active, created_s)
    SELECT ${user.accountID}, ${user.userID}, ${user.passwordHash}, 'admin', ${user.userID}, 1, ${user.createdS}
    WHERE NOT EXISTS (SELECT 1 FROM users WHERE account_id = ${user.accountID})`;
}

/** True when there is an account of that id. */
export async function accountExists(db: Database, accountID: string): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 FROM accounts WHERE account_id = ${accountID}`);
}

export type AccountRow = Infer<typeof accounts>;

/** One account, or null. */
export function findAccount(db: Database, accountID: string): Promise<AccountRow | null> {
  return accounts.first(db)(sql`SELECT * FROM accounts WHERE account_id = ${accountID}`);
}

/** Accounts in the order of their ids, after `after`; for the service's operator. */
export function listAccounts(
  db: Database,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly AccountRow[]> {
  return accounts.all(db)(sql`
    SELECT * FROM accounts WHERE account_id > ${page.after} ORDER BY account_id LIMIT ${page.limit}`);
}

/** Devices of an account. */
export async function countDevices(db: Database, accountID: string): Promise<number> {
  const count = sql`SELECT COUNT(*) AS devices FROM devices d WHERE ${visible(wholeAccount(accountID))}`;
  return (await readNumber(db)(count)) ?? 0;
}

/** Changeable members of an account; absent members stay unchanged. */
export interface AccountFields extends Changes<typeof accounts> {
  /** Limit by the service's operator. An account at the old limit moves to the new one. */
  readonly retainedMostDays?: number | null | undefined;
}

function retentionMost(days: number | null): Statement {
  const follows = sql`retained_days IS NULL OR retained_days = retained_most_days OR retained_days > ${days}`;
  return sql`retained_days = CASE WHEN ${follows} THEN ${days} ELSE retained_days END, retained_most_days = ${days}`;
}

/** Condition: there is such an account, and it is not being deleted. */
export function isKept(accountID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${accountID} AND deleting_s IS NULL)`;
}

/** Changes the given fields; changes 0 rows when there is no such account, it is being deleted, or `onlyIf` fails. */
export function updateAccount(
  accountID: string,
  fields: AccountFields,
  onlyIf: Statement = sql`1 = 1`,
): Statement {
  // Without any field the statement still shows whether the account exists.
  const { needsApproval, retainedMostDays } = fields;
  const changes = commaList([
    sql`account_id = account_id`,
    ...assignments(accounts.marked('edited'), fields),
    // Changing the setting ends an open request.
    ...(needsApproval === undefined ? [] : [sql`approval_off_by = NULL, approval_off_s = NULL`]),
    ...(retainedMostDays === undefined ? [] : [retentionMost(retainedMostDays)]),
  ]);
  return sql`UPDATE accounts SET ${changes}
    WHERE account_id = ${accountID} AND deleting_s IS NULL AND ${onlyIf}`;
}

/**
 * Serializes changes of an account's users. It comes first in a batch whose conditions read other users: two
 * administrators who remove each other must not both succeed.
 */
export function lockAccount(accountID: string): Statement {
  return sql`UPDATE accounts SET account_id = account_id WHERE account_id = ${accountID}`;
}
