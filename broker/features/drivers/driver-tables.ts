// Drivers, and the spans of time in which a key was theirs. Records keep the id of the key alone.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { column, table } from '../../store/base/table.ts';

export const drivers = table(
  'drivers',
  {
    /** Random: it names the driver in the audit log, which keeps no name. */
    driverNo: 'BIGINT NOT NULL PRIMARY KEY',
    accountID: column('TEXT NOT NULL REFERENCES accounts (account_id)', 'hidden'),
    driverID: 'TEXT NOT NULL',
    displayName: 'TEXT NOT NULL',
    phone: 'TEXT NOT NULL',
    note: 'TEXT NOT NULL',
    /** When the driver left; null: still drives. */
    leftMs: 'BIGINT',
  },
  'UNIQUE (account_id, driver_id)',
);

export const driverTables: readonly Statement[] = [
  drivers.create,
  // No two spans of a key overlap. `from_ms` 0: from the first record on. `until_ms`: no longer part of it; NULL: still.
  ddl(`CREATE TABLE driver_keys (
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    key_id TEXT NOT NULL,
    from_ms BIGINT NOT NULL,
    until_ms BIGINT,
    driver_no BIGINT NOT NULL REFERENCES drivers (driver_no) ON DELETE CASCADE,
    PRIMARY KEY (account_id, key_id, from_ms),
    CHECK (until_ms IS NULL OR until_ms > from_ms))`),
  ddl('CREATE INDEX driver_keys_by_driver ON driver_keys (driver_no)'),
  // One row for each account with drivers. Every change raises the version that it was planned on, so of two at once the second fails.
  ddl(`CREATE TABLE driver_lists (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (account_id),
    version BIGINT NOT NULL)`),
];
