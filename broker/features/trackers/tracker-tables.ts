// Trackers of other makers: their name at the server that sends their records, and the accounts that take new ones.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { column, table } from '../../store/base/table.ts';

export const trackers = table(
  'trackers',
  {
    deviceNo: 'INTEGER NOT NULL PRIMARY KEY REFERENCES devices (device_no) ON DELETE CASCADE',
    accountID: column('TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE', 'hidden'),
    /** As its server or its phone names it; the device id is made of it and may lose characters. */
    uniqueID: 'TEXT NOT NULL',
    /** Number of the device at its Traccar server; null: a phone, which sends by itself. */
    serverDeviceID: 'BIGINT',
    /** SHA-256 of the key of a phone; null: it has none. */
    keyHash: column('TEXT UNIQUE', 'hidden'),
    /** Positions that its server stored before this time were fetched, UTC ms. */
    fetchedMs: 'BIGINT NOT NULL',
  },
  'UNIQUE (account_id, unique_id)',
);

export const trackerTables: readonly Statement[] = [
  trackers.create,
  ddl(`CREATE TABLE tracker_accounts (
    account_id TEXT NOT NULL PRIMARY KEY REFERENCES accounts (account_id) ON DELETE CASCADE,
    since_s BIGINT NOT NULL)`),
];
