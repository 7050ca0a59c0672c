// Accounts, their users and sessions, and the audit log. `account_no` is never used again after a deletion.
import { ddl, type Migration } from '../../../src/migrate.ts';

export const accountMigrations: readonly Migration[] = [
  {
    name: '0001-accounts',
    statements: [
      // `expires_s`, `device_limit`, `retained_days`: null = no limit. `needs_approval`: an engine cut then needs a second
      // user. `cuts_per_hour`: restrictive commands of one user. `breaker_s`, `breaker_by`: since when the breaker is open
      // and who tripped it, or null. `cuts_since_ms`: cuts up to then do not count (the breaker was reset).
      // `retained_most_days`: what the service's operator allows; the account itself may keep less. `approval_off_*`: who
      // asked when to switch the second user off. `deleting_s`: since when the account is being deleted, or null.
      ddl(`CREATE TABLE accounts (
        account_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        account_id TEXT NOT NULL UNIQUE,
        display_name TEXT NOT NULL,
        is_active INTEGER NOT NULL DEFAULT 1,
        created_s BIGINT NOT NULL,
        expires_s BIGINT,
        device_limit INTEGER,
        retained_days INTEGER,
        retained_most_days INTEGER,
        time_zone TEXT NOT NULL DEFAULT 'UTC',
        needs_approval INTEGER NOT NULL DEFAULT 0,
        cuts_per_hour INTEGER NOT NULL DEFAULT 20,
        breaker_s BIGINT,
        breaker_by TEXT,
        cuts_since_ms BIGINT NOT NULL DEFAULT 0,
        approval_off_by TEXT,
        approval_off_s BIGINT,
        deleting_s BIGINT)`),
      // `sees_all` 0: the user sees the devices of his groups only, none without a group. `viewed_up_to`: notifications up
      // to this number count as viewed by him. `granted_s`: when somebody else last made him, changed his role, set his
      // password or let him in again: a second person must not be one that the first has just made.
      ddl(`CREATE TABLE users (
        account_id TEXT NOT NULL REFERENCES accounts (account_id),
        user_id TEXT NOT NULL,
        password_hash TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('admin', 'operator', 'viewer')),
        display_name TEXT NOT NULL,
        notify_email TEXT NOT NULL DEFAULT '',
        phone TEXT NOT NULL DEFAULT '',
        time_zone TEXT NOT NULL DEFAULT 'UTC',
        is_active INTEGER NOT NULL DEFAULT 1,
        sees_all INTEGER NOT NULL DEFAULT 1,
        viewed_up_to BIGINT NOT NULL DEFAULT 0,
        created_s BIGINT NOT NULL,
        granted_s BIGINT NOT NULL DEFAULT 0,
        PRIMARY KEY (account_id, user_id))`),
      // `token_id` names a session to people; the token itself is kept as a hash only. `kind`: 'login' or 'api'; an API
      // token lives until `expires_s`, not by use.
      ddl(`CREATE TABLE sessions (
        token_hash TEXT NOT NULL PRIMARY KEY,
        token_id TEXT NOT NULL,
        account_id TEXT NOT NULL,
        user_id TEXT NOT NULL,
        kind TEXT NOT NULL DEFAULT 'login',
        description TEXT NOT NULL DEFAULT '',
        created_s BIGINT NOT NULL,
        last_used_s BIGINT NOT NULL,
        expires_s BIGINT,
        FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id))`),
      ddl('CREATE INDEX sessions_by_user ON sessions (account_id, user_id)'),
    ],
  },
  {
    name: '0001-audit',
    statements: [
      // Append-only. An entry is written in the batch of what it tells of, without a place in the chain; the sealer gives
      // it `chain_no`, `prev_hash` and `hash` in order. `account_id` is no reference: the log outlives an account, whose
      // deletion empties `detail` and keeps `detail_hash`. The chain of '' is the service's own.
      ddl(`CREATE TABLE audit (
        audit_no INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
        account_id TEXT NOT NULL,
        at_ms BIGINT NOT NULL,
        actor TEXT NOT NULL,
        source TEXT NOT NULL,
        action TEXT NOT NULL,
        object TEXT NOT NULL,
        detail TEXT,
        detail_hash TEXT NOT NULL,
        chain_no BIGINT,
        prev_hash TEXT,
        hash TEXT)`),
      ddl('CREATE UNIQUE INDEX audit_chain ON audit (account_id, chain_no) WHERE chain_no IS NOT NULL'),
      ddl('CREATE INDEX audit_unsealed ON audit (audit_no) WHERE chain_no IS NULL'),
    ],
  },
];
