// Statements on the users of an account as its administrators manage them. An account never loses its last active administrator
// with a password. Every statement that could remove one has that condition, and the batch begins with `lockAccount`: of two
// administrators who remove each other one succeeds.
import type { Database, Statement } from '../../../src/ports.ts';
import { commaList, sql, valueList } from '../../../src/sql.ts';
import type { Role } from '../../core/accounts/session.ts';
import { textOf } from '../base/row.ts';
import { assignments, type Changes, type Infer } from '../base/table.ts';
import { users } from '../schema/accounts.ts';
import { lockAccount, type UserKey } from './accounts.ts';
import { endPush } from './sessions.ts';

/** Users of one account. */
export const usersMost = 1000;

export interface UserProfile extends Infer<typeof users> {
  readonly groups: readonly string[];
}

/** First and last user id of a page, both included. */
interface UserSpan {
  readonly from: string;
  readonly to: string;
}

/** Groups of the users of one page: user id -> group ids. */
async function groupsOf(
  db: Database,
  accountID: string,
  span: UserSpan,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db.read(sql`
    SELECT gu.user_id, g.group_id FROM group_users gu JOIN device_groups g ON g.group_no = gu.group_no
    WHERE gu.account_id = ${accountID} AND gu.user_id BETWEEN ${span.from} AND ${span.to}
    ORDER BY gu.user_id, g.group_id`);
  const groups = new Map<string, string[]>();
  for (const row of rows) {
    const userID = textOf(row, 'user_id');
    groups.set(userID, [...(groups.get(userID) ?? []), textOf(row, 'group_id')]);
  }
  return groups;
}

/** One user of an account with its groups, or null. */
export async function findProfile(db: Database, key: UserKey): Promise<UserProfile | null> {
  const profile = await users.first(db)(
    sql`SELECT * FROM users WHERE account_id = ${key.accountID} AND user_id = ${key.userID}`,
  );
  if (profile === null) return null;
  const groups = await groupsOf(db, key.accountID, { from: key.userID, to: key.userID });
  return { ...profile, groups: groups.get(key.userID) ?? [] };
}

/** Users of an account in the order of their ids, after `after`. */
export async function listProfiles(
  db: Database,
  accountID: string,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly UserProfile[]> {
  const profiles = await users.all(
    db,
  )(sql`SELECT * FROM users WHERE account_id = ${accountID} AND user_id > ${page.after}
      ORDER BY user_id LIMIT ${page.limit}`);
  const [first, last] = [profiles[0], profiles.at(-1)];
  if (first === undefined || last === undefined) return [];
  const groups = await groupsOf(db, accountID, { from: first.userID, to: last.userID });
  return profiles.map((profile) => ({ ...profile, groups: groups.get(profile.userID) ?? [] }));
}

/** Members of a user that an administrator may set; absent members stay unchanged. */
export interface UserFields extends Changes<typeof users> {
  readonly groups?: readonly string[] | undefined;
}

/** The user row that this hash was made for: its salt is random, so no other has it. */
const isHolder = (key: UserKey, passwordHash: string): Statement =>
  sql`EXISTS (SELECT 1 FROM users WHERE account_id = ${key.accountID} AND user_id = ${key.userID}
    AND password_hash = ${passwordHash})`;

const joinGroup = (key: UserKey, groupID: string, onlyIf: Statement): Statement =>
  sql`INSERT INTO group_users (account_id, user_id, group_no)
    SELECT ${key.accountID}, ${key.userID}, group_no FROM device_groups
    WHERE account_id = ${key.accountID} AND group_id = ${groupID} AND ${onlyIf}
    ON CONFLICT (account_id, user_id, group_no) DO NOTHING`;

export interface NewUser extends UserKey {
  readonly fields: UserFields & { readonly passwordHash: string; readonly role: Role };
  readonly createdS: number;
  /** The administrator, or the login provider, that creates the user. */
  readonly grantedBy: string;
  /** Issuer and subject of a user of the login provider; null: a user with a password. */
  readonly identity: string | null;
}

/** Statements of the change's batch, each under the condition that it is given. */
export interface UserRecord {
  /** The audit entry. */
  readonly audit: (onlyIf: Statement) => Statement;
  /** Notifies the administrators of a user who may approve once confirmed. */
  readonly notify: (onlyIf: Statement) => readonly Statement[];
}

/** Condition: the account has no user of this id or identity, and is below its limit. */
function mayCreate({ accountID, userID, identity }: NewUser): Statement {
  return sql`NOT EXISTS (SELECT 1 FROM users WHERE account_id = ${accountID}
      AND (LOWER(user_id) = LOWER(${userID}) OR identity = CAST(${identity} AS TEXT)))
    AND (SELECT COUNT(*) FROM users WHERE account_id = ${accountID}) < ${usersMost}`;
}

/**
 * Creates a user. The second result changes 1 row, or 0 when there is one of that id, in any letter case, or the account has `usersMost`.
 */
export function createUser(user: NewUser, record: UserRecord): readonly Statement[] {
  const { accountID, userID, fields, createdS, grantedBy, identity } = user;
  const isNew = isHolder(user, fields.passwordHash);
  return [
    lockAccount(accountID),
    sql`INSERT INTO users (account_id, user_id, password_hash, role, display_name, notify_email, phone, time_zone,
        is_active, sees_all, created_s, granted_s, granted_by, identity)
      SELECT ${accountID}, ${userID}, ${fields.passwordHash}, ${fields.role}, ${fields.displayName ?? userID},
        ${fields.notifyEmail ?? ''}, ${fields.phone ?? ''}, COALESCE(${fields.timeZone ?? null}, a.time_zone),
        ${fields.isActive === false ? 0 : 1}, ${fields.seesAll === false ? 0 : 1}, ${createdS}, ${createdS}, CAST(${grantedBy} AS TEXT),
        CAST(${identity} AS TEXT)
      FROM accounts a WHERE a.account_id = ${accountID} AND ${mayCreate(user)}`,
    record.audit(isNew),
    ...(fields.role === 'viewer' ? [] : record.notify(isNew)),
    ...(fields.groups ?? []).map((groupID) => joinGroup(user, groupID, isNew)),
  ];
}

/**
 * Condition: the user exists, and is no administrator or the account has another active one with a password. Users of a login
 * provider do not count: it may be down.
 */
function isSpared({ accountID, userID }: UserKey): Statement {
  return sql`EXISTS (SELECT 1 FROM users u WHERE u.account_id = ${accountID} AND u.user_id = ${userID}
    AND (u.role <> 'admin' OR u.is_active = 0 OR EXISTS (SELECT 1 FROM users o
      WHERE o.account_id = ${accountID} AND o.user_id <> ${userID} AND o.role = 'admin' AND o.is_active = 1
        AND o.identity IS NULL)))`;
}

const isThere = ({ accountID, userID }: UserKey): Statement =>
  sql`EXISTS (SELECT 1 FROM users u WHERE u.account_id = ${accountID} AND u.user_id = ${userID})`;

/** Ends every session of a user, or every one but `exceptHash`. */
function endSessions(
  key: UserKey,
  options: { readonly exceptHash?: string; readonly onlyIf?: Statement } = {},
): readonly Statement[] {
  const { exceptHash = '', onlyIf = sql`1 = 1` } = options;
  return [
    endPush(key, sql`session_hash <> ${exceptHash} AND ${onlyIf}`),
    sql`DELETE FROM sessions WHERE account_id = ${key.accountID} AND user_id = ${key.userID}
      AND token_hash <> ${exceptHash} AND ${onlyIf}`,
  ];
}

/**
 * Condition on `users`: the change grants more rights, or lets another person act as this user. The user then stops counting as
 * a second person until a day has passed and another administrator has confirmed it. A save without changes keeps the
 * state. A pending confirmation stays with its first grantor, unless a new password transfers the user.
 */
function grantsOf({ accountID, userID, fields }: UserChange): Statement {
  const { passwordHash, role, isActive, seesAll, groups = [] } = fields;
  const grants = [
    passwordHash === undefined ? null : sql`1 = 1`,
    role === undefined ? null : sql`role <> ${role}`,
    isActive === true ? sql`is_active = 0` : null,
    seesAll === true ? sql`sees_all = 0` : null,
    groups.length === 0
      ? null
      : sql`EXISTS (SELECT 1 FROM device_groups g WHERE g.account_id = ${accountID} AND g.group_id IN (${valueList(groups)})
          AND sees_all = 0 AND NOT EXISTS (SELECT 1 FROM group_users gu WHERE gu.group_no = g.group_no
            AND gu.account_id = ${accountID} AND gu.user_id = ${userID}))`,
  ].filter((one) => one !== null);
  return sql`(${grants.reduce<Statement>((one, other) => sql`${one} OR ${other}`, sql`1 = 0`)})`;
}

/** Condition: the change grants more to a user who may approve afterwards. */
function makesApprover(change: UserChange, onlyIf: Statement): Statement {
  const { accountID, userID, fields } = change;
  const role = fields.role === undefined ? sql`role` : sql`CAST(${fields.role} AS TEXT)`;
  return sql`EXISTS (SELECT 1 FROM users WHERE account_id = ${accountID} AND user_id = ${userID}
    AND ${role} IN ('operator', 'admin') AND ${grantsOf(change)}) AND ${onlyIf}`;
}

/** Records the grant and its grantor; must precede the change that `grantsOf` compares with. */
function recordGrants(change: UserChange, onlyIf: Statement): Statement {
  const { accountID, userID, fields, nowS, actor } = change;
  const grantedBy = fields.passwordHash === undefined ? sql`COALESCE(granted_by, ${actor})` : sql`${actor}`;
  return sql`UPDATE users SET granted_s = ${nowS}, granted_by = ${grantedBy}
    WHERE account_id = ${accountID} AND user_id = ${userID} AND ${grantsOf(change)} AND ${onlyIf}`;
}

/** A change of a user by an administrator. */
export interface UserChange extends UserKey {
  readonly fields: UserFields;
  readonly nowS: number;
  /** The administrator that changes the user. */
  readonly actor: string;
}

/**
 * Changes a user. The last result changes 1 row. It changes 0, and nothing was changed, when the user is missing or the account
 * would lose its last active administrator with a password. A new password and a suspension end the user's sessions.
 */
export function changeUser(change: UserChange, record: UserRecord): readonly Statement[] {
  const { accountID, userID, fields } = change;
  const takesAway = (fields.role !== undefined && fields.role !== 'admin') || fields.isActive === false;
  const onlyIf = takesAway ? isSpared(change) : isThere(change);
  const isEnding = fields.passwordHash !== undefined || fields.isActive === false;
  const leave = sql`DELETE FROM group_users WHERE account_id = ${accountID} AND user_id = ${userID} AND ${onlyIf}`;
  const joins = (fields.groups ?? []).map((groupID) => joinGroup(change, groupID, onlyIf));
  const set = commaList([sql`user_id = user_id`, ...assignments(users.marked('edited'), fields)]);
  return [
    lockAccount(accountID),
    record.audit(onlyIf),
    ...record.notify(makesApprover(change, onlyIf)),
    recordGrants(change, onlyIf),
    ...(isEnding ? endSessions(change, { onlyIf }) : []),
    ...(fields.groups === undefined ? [] : [leave, ...joins]),
    sql`UPDATE users SET ${set} WHERE account_id = ${accountID} AND user_id = ${userID} AND ${onlyIf}`,
  ];
}

/** A user's own new password. */
export interface OwnPassword extends UserKey {
  /** The one that was proven. */
  readonly oldHash: string;
  readonly passwordHash: string;
  /** The session that goes on; the others end. */
  readonly tokenHash: string;
}

/**
 * Sets a user's own password. The last result changes 1 row, or 0 when the old password is no longer valid; then nothing was
 * changed.
 * @param audit gives the audit entry of it under a condition.
 */
export function changeOwnPassword(
  change: OwnPassword,
  audit: (onlyIf: Statement) => Statement,
): readonly Statement[] {
  const onlyIf = isHolder(change, change.oldHash);
  return [
    audit(onlyIf),
    ...endSessions(change, { exceptHash: change.tokenHash, onlyIf }),
    sql`UPDATE users SET password_hash = ${change.passwordHash}
      WHERE account_id = ${change.accountID} AND user_id = ${change.userID} AND password_hash = ${change.oldHash}`,
  ];
}

/** Tables whose rows of a user are deleted with it. */
export const userTables = [
  'sessions',
  'login_codes',
  'group_users',
  'notification_views',
  'push_registrations',
  'idempotency_keys',
  'user_preferences',
] as const;

/**
 * Deletes a user with its sessions. The last result changes 1 row. It changes 0, and nothing was changed, when the user is
 * missing or is the last active administrator with a password.
 * @param audit gives the audit entry of it under a condition.
 */
export function deleteUser(key: UserKey, audit: (onlyIf: Statement) => Statement): readonly Statement[] {
  const { accountID, userID } = key;
  const onlyIf = isSpared(key);
  return [
    lockAccount(accountID),
    audit(onlyIf),
    ...userTables.map((table) => {
      const ofUser = {
        sql: `DELETE FROM ${table} WHERE account_id = $1 AND user_id = $2`,
        params: [accountID, userID],
      };
      return sql`${ofUser} AND ${onlyIf}`;
    }),
    sql`DELETE FROM users WHERE account_id = ${accountID} AND user_id = ${userID} AND ${onlyIf}`,
  ];
}
