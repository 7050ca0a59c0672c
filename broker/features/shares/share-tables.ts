// Share links of vehicles and trips.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { column, table } from '../../store/base/table.ts';

export const shares = table(
  'shares',
  {
    shareNo: column('INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT', 'hidden'),
    shareID: 'TEXT NOT NULL UNIQUE',
    /** As in `sessions`. */
    tokenHash: column('TEXT NOT NULL UNIQUE', 'hidden'),
    accountID: column('TEXT NOT NULL', 'hidden'),
    /** User who made it. */
    userID: 'TEXT NOT NULL',
    /** The API token that made it, with which it ends; null: a login. */
    byTokenHash: column('TEXT', 'hidden'),
    deviceNo: column('INTEGER NOT NULL REFERENCES devices (device_no) ON DELETE CASCADE', 'hidden'),
    kind: "TEXT NOT NULL CHECK (kind IN ('live', 'trip'))",
    /** For people, from its maker; the only text of the account that a holder sees. */
    title: 'TEXT NOT NULL',
    /** Event time of a trip, both ends included; null for a live share. */
    fromMs: 'BIGINT',
    toMs: 'BIGINT',
    createdS: 'BIGINT NOT NULL',
    expiresS: 'BIGINT NOT NULL',
    /** When it was revoked; null: it was not. */
    revokedS: 'BIGINT',
    /** Seconds in which it was opened. */
    uses: 'BIGINT NOT NULL DEFAULT 0',
    /** 0: never. */
    lastUsedS: 'BIGINT NOT NULL DEFAULT 0',
  },
  'FOREIGN KEY (account_id, user_id) REFERENCES users (account_id, user_id) ON DELETE CASCADE',
);

export const shareTables: readonly Statement[] = [
  shares.create,
  ddl('CREATE INDEX shares_by_account ON shares (account_id, share_no)'),
  ddl('CREATE INDEX shares_by_user ON shares (account_id, user_id)'),
  ddl('CREATE INDEX shares_by_device ON shares (device_no)'),
];
