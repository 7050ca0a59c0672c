// Statements on accounts and on the one user that logs in. A user is always read together with its account, so that a
// suspended account can never be used through an active user. Password hashes leave this file only for verification.

import type { Database, Row, Statement } from '../../../src/ports.ts';
import { commaList, sql } from '../../../src/sql.ts';
import { parseRole, type Role } from '../../core/accounts/session.ts';
import { numberOf, numberOrNull, textOf, textOrNull } from '../base/row.ts';
import { visible, wholeAccount } from '../base/scope.ts';

export interface UserKey {
  readonly accountID: string;
  readonly userID: string;
}

export interface UserRow extends UserKey {
  /** Argon2id in PHC form; of a user of the login provider a mark that no password has. */
  readonly passwordHash: string;
  /** False: the user logs in at the provider. */
  readonly hasPassword: boolean;
  readonly role: Role;
  /** False when the user or the account is suspended. */
  readonly isActive: boolean;
  /** End of the account; null when it has none. */
  readonly accountExpiresS: number | null;
}

/** One user of an account, or null. */
export async function findUser(db: Database, key: UserKey): Promise<UserRow | null> {
  const [row] = await db.read(sql`
    SELECT u.account_id, u.user_id, u.password_hash, u.identity, u.role, u.is_active AS user_active,
      a.is_active AS account_active, a.expires_s
    FROM users u JOIN accounts a ON a.account_id = u.account_id
    WHERE u.account_id = ${key.accountID} AND u.user_id = ${key.userID}`);
  if (row === undefined) return null;
  return {
    accountID: textOf(row, 'account_id'),
    userID: textOf(row, 'user_id'),
    passwordHash: textOf(row, 'password_hash'),
    hasPassword: textOrNull(row, 'identity') === null,
    role: parseRole(textOf(row, 'role')),
    isActive: numberOf(row, 'user_active') === 1 && numberOf(row, 'account_active') === 1,
    accountExpiresS: numberOrNull(row, 'expires_s'),
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
  return (await db.read(sql`SELECT 1 AS there FROM accounts WHERE account_id = ${accountID}`)).length > 0;
}

export interface AccountRow {
  readonly accountID: string;
  readonly displayName: string;
  readonly isActive: boolean;
  readonly createdS: number;
  readonly expiresS: number | null;
  readonly deviceLimit: number | null;
  /** Days that events are kept; null: for ever. */
  readonly retainedDays: number | null;
  /** Most days that the service's operator allows; null: no limit. */
  readonly retainedMostDays: number | null;
  /** Null: the limit of the service. */
  readonly eventsPerS: number | null;
  readonly timeZone: string;
  readonly needsApproval: boolean;
  /** Restrictive commands and approvals need the password again. */
  readonly needsPassword: boolean;
  readonly cutsPerHour: number;
  /** Administrator that last asked to switch the rule off; null: none. */
  readonly approvalOffBy: string | null;
  readonly approvalOffS: number | null;
  /** Since when it is being deleted; null when it is not. */
  readonly deletingS: number | null;
}

function toAccount(row: Row): AccountRow {
  return {
    accountID: textOf(row, 'account_id'),
    displayName: textOf(row, 'display_name'),
    isActive: numberOf(row, 'is_active') === 1,
    createdS: numberOf(row, 'created_s'),
    expiresS: numberOrNull(row, 'expires_s'),
    deviceLimit: numberOrNull(row, 'device_limit'),
    retainedDays: numberOrNull(row, 'retained_days'),
    retainedMostDays: numberOrNull(row, 'retained_most_days'),
    eventsPerS: numberOrNull(row, 'events_per_s'),
    timeZone: textOf(row, 'time_zone'),
    needsApproval: numberOf(row, 'needs_approval') === 1,
    needsPassword: numberOf(row, 'needs_password') === 1,
    cutsPerHour: numberOf(row, 'cuts_per_hour'),
    approvalOffBy: textOrNull(row, 'approval_off_by'),
    approvalOffS: numberOrNull(row, 'approval_off_s'),
    deletingS: numberOrNull(row, 'deleting_s'),
  };
}

/** One account, or null. */
export async function findAccount(db: Database, accountID: string): Promise<AccountRow | null> {
  const [row] = await db.read(sql`SELECT * FROM accounts WHERE account_id = ${accountID}`);
  return row === undefined ? null : toAccount(row);
}

/** Accounts in the order of their ids, after `after`; for the service's operator. */
export async function listAccounts(
  db: Database,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly AccountRow[]> {
  const rows = await db.read(sql`
    SELECT * FROM accounts WHERE account_id > ${page.after} ORDER BY account_id LIMIT ${page.limit}`);
  return rows.map(toAccount);
}

/** Devices of an account. */
export async function countDevices(db: Database, accountID: string): Promise<number> {
  const [row] = await db.read(
    sql`SELECT COUNT(*) AS there FROM devices d WHERE ${visible(wholeAccount(accountID))}`,
  );
  return row === undefined ? 0 : numberOf(row, 'there');
}

/** What may be changed of an account; what is not given stays as it is. */
export interface AccountFields {
  readonly displayName?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly expiresS?: number | null | undefined;
  readonly deviceLimit?: number | null | undefined;
  readonly needsApproval?: boolean | undefined;
  readonly needsPassword?: boolean | undefined;
  readonly cutsPerHour?: number | undefined;
  /** What the account itself keeps. */
  readonly retainedDays?: number | null | undefined;
  /** What the service's operator allows. An account that kept as long as it could goes on to do so. */
  readonly retainedMostDays?: number | null | undefined;
  readonly eventsPerS?: number | null | undefined;
}

function retentionMost(days: number | null): Statement {
  const follows = sql`retained_days IS NULL OR retained_days = retained_most_days OR retained_days > ${days}`;
  return sql`retained_days = CASE WHEN ${follows} THEN ${days} ELSE retained_days END, retained_most_days = ${days}`;
}

function assignments(fields: AccountFields): readonly Statement[] {
  const flag = (value: boolean): number => (value ? 1 : 0);
  return [
    fields.displayName === undefined ? null : sql`display_name = ${fields.displayName}`,
    fields.timeZone === undefined ? null : sql`time_zone = ${fields.timeZone}`,
    fields.isActive === undefined ? null : sql`is_active = ${flag(fields.isActive)}`,
    fields.expiresS === undefined ? null : sql`expires_s = ${fields.expiresS}`,
    fields.deviceLimit === undefined ? null : sql`device_limit = ${fields.deviceLimit}`,
    fields.eventsPerS === undefined ? null : sql`events_per_s = ${fields.eventsPerS}`,
    // Changing the setting ends an open request.
    fields.needsApproval === undefined
      ? null
      : sql`needs_approval = ${flag(fields.needsApproval)}, approval_off_by = NULL, approval_off_s = NULL`,
    fields.needsPassword === undefined ? null : sql`needs_password = ${flag(fields.needsPassword)}`,
    fields.cutsPerHour === undefined ? null : sql`cuts_per_hour = ${fields.cutsPerHour}`,
    fields.retainedDays === undefined ? null : sql`retained_days = ${fields.retainedDays}`,
    fields.retainedMostDays === undefined ? null : retentionMost(fields.retainedMostDays),
  ].filter((one) => one !== null);
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
  const changes = commaList([sql`account_id = account_id`, ...assignments(fields)]);
  return sql`UPDATE accounts SET ${changes}
    WHERE account_id = ${accountID} AND deleting_s IS NULL AND ${onlyIf}`;
}

/**
 * Serializes changes of an account's users; first in a batch whose conditions look at other users: two administrators who
 * remove each other must not both succeed.
 */
export function lockAccount(accountID: string): Statement {
  return sql`UPDATE accounts SET account_id = account_id WHERE account_id = ${accountID}`;
}
