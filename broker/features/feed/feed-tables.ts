// How far the feeds are, and which devices their targets know of.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';
import { table } from '../../store/base/table.ts';

export const feeds = table(
  'feeds',
  {
    accountID: 'TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE',
    feedID: 'TEXT NOT NULL',
    /** At its target, the same for all bridges: the target ends the connection of one that has lost the lease. */
    clientID: 'TEXT NOT NULL',
    /** Every event up to this number was acknowledged by the target. */
    sentNo: 'BIGINT NOT NULL',
    /** The same as a time of receipt, UTC ms. */
    sentMs: 'BIGINT NOT NULL',
    /** At most so many events were removed before they could be sent. */
    lost: 'BIGINT NOT NULL DEFAULT 0',
  },
  'PRIMARY KEY (account_id, feed_id)',
);

export const feedTables: readonly Statement[] = [
  feeds.create,
  // Devices with retained messages at the target, so that those of a deleted one are taken back.
  ddl(`CREATE TABLE feed_devices (
    account_id TEXT NOT NULL REFERENCES accounts (account_id) ON DELETE CASCADE,
    feed_id TEXT NOT NULL,
    device_id TEXT NOT NULL,
    PRIMARY KEY (account_id, feed_id, device_id),
    FOREIGN KEY (account_id, feed_id) REFERENCES feeds (account_id, feed_id) ON DELETE CASCADE)`),
];
