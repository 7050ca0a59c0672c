// Accounts, their users and sessions, the audit log, idempotency keys.
import { ddl } from '../../../src/migrate.ts';
import type { Row, Statement } from '../../../src/ports.ts';
import { parseScopes, type TokenScope } from '../../core/accounts/session.ts';
import { flagOf, textOf, textOrNull } from '../base/row.ts';
import { column, type Reader, table } from '../base/table.ts';

/** Devices and groups by id, with their permanent numbers: a reused id names another one. */
export interface NamedDevices {
  readonly devices: Readonly<Record<string, number>>;
  readonly groups: Readonly<Record<string, number>>;
}

function numbersOf(value: unknown): Readonly<Record<string, number>> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}

/** A stored limit. A text of another form names nothing, so that the token sees nothing. */
function limitOf(row: Row, name: string): NamedDevices | null {
  const text = textOrNull(row, name);
  if (text === null) return null;
  const stored: unknown = JSON.parse(text);
  const { devices, groups } = { devices: null, groups: null, ...(stored as object) };
  return { devices: numbersOf(devices), groups: numbersOf(groups) };
}

/** Of a login null. */
function scopesOf(row: Row): readonly TokenScope[] | null {
  const text = textOrNull(row, 'scopes');
  if (text !== null) return parseScopes(text);
  return textOf(row, 'kind') === 'login' ? null : [];
}

// `expires_s`, `device_limit`, `retained_days`: null = no limit. `needs_approval`: an engine cut then needs a second
// user. `needs_password`: restrictive commands and approvals then need the password again. `cuts_per_hour`: vehicles that one user may cut
// within an hour. `breaker_s`, `breaker_by`: time and user that opened the account's breaker; null while it is closed. `cuts_since_ms`: a reset of the
// breaker; earlier cuts do not count.
// `events_per_s`: set by the service's operator in place of `ingest.accountEventsPerS`; null: that one.
// `retained_most_days`: limit set by the service's operator; the account itself may keep less. `approval_off_*`: open request
// to switch the second-person rule off. `deleting_s`: since when the account is being deleted, or null.
// `fleet_revision`: grows with every commit that changes what a list of the account's devices shows. `members_revision`,
// `zones_revision`: its value when devices or groups came or went, and when a geozone changed; see `fleet-revisions.ts`.
// `record_revision` grows when something changes that records of events show of their device, and with addresses;
// `removed_revision` when events past the retention of the account are removed.
export const accounts = table('accounts', {
  accountNo: column('INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT', 'hidden'),
  accountID: 'TEXT NOT NULL UNIQUE',
  displayName: column('TEXT NOT NULL', 'edited'),
  isActive: column('INTEGER NOT NULL DEFAULT 1', flagOf, 'edited'),
  createdS: 'BIGINT NOT NULL',
  expiresS: column('BIGINT', 'edited'),
  deviceLimit: column('INTEGER', 'edited'),
  /** Days that events are kept; null: for ever. */
  retainedDays: column('INTEGER', 'edited'),
  /** Most days that the service's operator allows; null: no limit. */
  retainedMostDays: 'INTEGER',
  /** Null: the limit of the service. */
  eventsPerS: column('INTEGER', 'edited'),
  timeZone: column("TEXT NOT NULL DEFAULT 'UTC'", 'edited'),
  needsApproval: column('INTEGER NOT NULL DEFAULT 0', flagOf, 'edited'),
  /** Restrictive commands and approvals need the password again. */
  needsPassword: column('INTEGER NOT NULL DEFAULT 0', flagOf, 'edited'),
  cutsPerHour: column('INTEGER NOT NULL DEFAULT 20', 'edited'),
  /** What maps draw below the vehicles unless a user chooses otherwise, see `getMaps`; null: not chosen. */
  baseMap: column('TEXT', 'edited'),
  breakerS: column('BIGINT', 'hidden'),
  breakerBy: column('TEXT', 'hidden'),
  cutsSinceMs: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  /** Administrator that last asked to switch the rule off; null: none. */
  approvalOffBy: 'TEXT',
  approvalOffS: 'BIGINT',
  /** Since when it is being deleted; null when it is not. */
  deletingS: 'BIGINT',
  fleetRevision: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  membersRevision: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  zonesRevision: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  recordRevision: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
  removedRevision: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
});

// `sees_all` 0: the user sees the devices of its groups only, none without a group. `viewed_up_to`: notifications up
// to this number are viewed. `granted_s`: last time another user created it, changed its role, set its password,
// re-enabled it or gave it more devices: a second person must not be a user that the first has just created.
// `granted_by`: the administrator of an unconfirmed grant; null: confirmed, or none. `breaker_s`: since when the
// user's cuts are refused after too many; null: they are not. `identity`: issuer and subject at the
// login provider, separated by a space; null: a user with a password. One with an identity has a mark in place of the hash,
// which no password has.
export const users = table(
  'users',
  {
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id)',
    userID: 'TEXT NOT NULL',
    passwordHash: column('TEXT NOT NULL', 'hidden', 'edited'),
    role: column("TEXT NOT NULL CHECK (role IN ('admin', 'operator', 'viewer'))", 'edited'),
    displayName: column('TEXT NOT NULL', 'edited'),
    notifyEmail: column("TEXT NOT NULL DEFAULT ''", 'edited'),
    phone: column("TEXT NOT NULL DEFAULT ''", 'edited'),
    timeZone: column("TEXT NOT NULL DEFAULT 'UTC'", 'edited'),
    isActive: column('INTEGER NOT NULL DEFAULT 1', flagOf, 'edited'),
    /** False: only the devices of the user's groups. */
    seesAll: column('INTEGER NOT NULL DEFAULT 1', flagOf, 'edited'),
    viewedUpTo: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    createdS: 'BIGINT NOT NULL',
    grantedS: column('BIGINT NOT NULL DEFAULT 0', 'hidden'),
    /** The administrator whose grant is not confirmed yet; null: none is pending. */
    grantedBy: 'TEXT',
    breakerS: column('BIGINT', 'hidden'),
    /** Issuer and subject of a user of the login provider; null: a user with a password. */
    identity: 'TEXT',
  },
  'PRIMARY KEY (account_id, user_id)',
);

// `token_id` names a session to people; the token itself is kept as a hash only. `kind`: 'login' or 'api'; an API
// token lives until `expires_s`, not by use, and so does a login at the provider. `scopes`: what an API token may do, separated by spaces; null: a login.
// `device_limit`: the devices and groups that it names, as JSON (`DeviceLimit` with ids); null: all that its user sees.
// `user_agent`: of the login, shortened.
export const sessions = table(
  'sessions',
  {
    tokenHash: 'TEXT NOT NULL PRIMARY KEY',
    tokenID: 'TEXT NOT NULL',
    accountID: 'TEXT NOT NULL',
    userID: 'TEXT NOT NULL',
    kind: column("TEXT NOT NULL DEFAULT 'login'", textOf as Reader<'login' | 'api'>),
    description: "TEXT NOT NULL DEFAULT ''",
    userAgent: "TEXT NOT NULL DEFAULT ''",
    scopes: column('TEXT', scopesOf),
    deviceLimit: column('TEXT', limitOf),
    createdS: 'BIGINT NOT NULL',
    lastUsedS: 'BIGINT NOT NULL',
    expiresS: 'BIGINT',
  },
  'FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id)',
);

// Append-only. An entry is written in the batch of what it records, without a place in the chain; the sealer gives
// it `chain_no`, `prev_hash` and `hash` in order. `account_id` is no reference: the log outlives an account, whose
// deletion empties `detail` and keeps `detail_hash`. The chain of '' is the service's own.
export const audit = table('audit', {
  auditNo: 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT',
  accountID: 'TEXT NOT NULL',
  atMs: 'BIGINT NOT NULL',
  actor: 'TEXT NOT NULL',
  source: 'TEXT NOT NULL',
  action: 'TEXT NOT NULL',
  object: 'TEXT NOT NULL',
  detail: 'TEXT',
  detailHash: 'TEXT NOT NULL',
  chainNo: 'BIGINT',
  prevHash: 'TEXT',
  hash: 'TEXT',
});

export const accountTables: readonly Statement[] = [
  accounts.create,
  users.create,
  ddl('CREATE UNIQUE INDEX users_by_identity ON users (account_id, identity) WHERE identity IS NOT NULL'),
  // Logins at the provider that have begun. `secret_hash`: SHA-256 of the secret that the app holds; the table gives no access.
  // `session_hash`: the session whose user logs in again to prove who asks; null: a new session is to begin. `state`: 'begun',
  // 'taken' while the provider is asked, 'proven' until the proof is used.
  ddl(`CREATE TABLE provider_logins (
    secret_hash TEXT NOT NULL PRIMARY KEY,
    session_hash TEXT,
    state TEXT NOT NULL DEFAULT 'begun',
    begun_s BIGINT NOT NULL,
    expires_s BIGINT NOT NULL)`),
  ddl('CREATE INDEX provider_logins_by_end ON provider_logins (expires_s)'),
  // One-time codes that begin a session, made at the broker's machine. `code_hash`: SHA-256 of the code. `password_hash`: that of the
  // user when the code was made; a code ends with the password. No reference: a row lives for minutes and blocks nothing.
  ddl(`CREATE TABLE login_codes (
    code_hash TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    expires_s BIGINT NOT NULL)`),
  ddl('CREATE INDEX login_codes_by_user ON login_codes (account_id, user_id)'),
  ddl('CREATE INDEX login_codes_by_end ON login_codes (expires_s)'),
  sessions.create,
  // `preferences`: a JSON object that only apps read. `revision`: grows with every change.
  ddl(`CREATE TABLE user_preferences (
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    preferences TEXT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (account_id, user_id),
    FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id))`),
  ddl('CREATE INDEX sessions_by_user ON sessions (account_id, user_id)'),
  audit.create,
  ddl('CREATE UNIQUE INDEX audit_chain ON audit (account_id, chain_no) WHERE chain_no IS NOT NULL'),
  ddl('CREATE INDEX audit_unsealed ON audit (audit_no) WHERE chain_no IS NULL'),
  // The last sealed entry of each chain, written in the batch that seals it: a chain whose newest rows were removed ends before
  // its head. `signed`: the head with the key of the service, so that a row made by another program shows. It never goes back.
  ddl(`CREATE TABLE audit_heads (
    account_id TEXT NOT NULL PRIMARY KEY,
    chain_no BIGINT NOT NULL,
    hash TEXT NOT NULL,
    signed TEXT NOT NULL)`),
  // `account_id` is no reference: a row lives for a day and blocks nothing. `answer` is null while the first request
  // runs, and stays null when its outcome is unknown.
  ddl(`CREATE TABLE idempotency_keys (
    key_hash TEXT NOT NULL PRIMARY KEY,
    account_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    is_order INTEGER NOT NULL,
    request_hash TEXT NOT NULL,
    claimed_ms BIGINT NOT NULL,
    answer TEXT)`),
  ddl('CREATE INDEX idempotency_keys_by_user ON idempotency_keys (account_id, is_order, user_id)'),
  ddl('CREATE INDEX idempotency_keys_by_age ON idempotency_keys (claimed_ms)'),
  ddl('CREATE INDEX audit_by_account ON audit (account_id, audit_no)'),
  ddl('CREATE INDEX audit_by_object ON audit (account_id, object, audit_no)'),
];
