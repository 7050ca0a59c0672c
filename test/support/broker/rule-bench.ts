// What tests of rules and deliveries begin with: an account with devices, a rule, and a store that fails.
import { migrations } from '../../../broker/migrations.ts';
import type { RuleDefinition } from '../../../broker/store/notifications/rules.ts';
import { AppError } from '../../../src/core/errors.ts';
import { migrate } from '../../../src/migrate.ts';
import type { Database, Log } from '../../../src/ports.ts';

export const quietLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quietLog };

/** A rule about nothing, with a webhook. */
export const webhookRule: RuleDefinition = {
  displayName: 'r1',
  isActive: true,
  statusCodes: [],
  kinds: [],
  offlineAfterS: 900,
  devices: [],
  groups: [],
  silenceS: 0,
  quietHours: null,
  webhook: { url: 'https://hooks.example.com/' },
  email: null,
  language: 'en',
  push: null,
  alarm: null,
  escalatesAfterS: null,
};

/** Makes the tables, the account `acme`, and its devices in the order of their numbers. */
export async function createFleet(db: Database, deviceIDs: readonly string[]): Promise<void> {
  await migrate(db, migrations);
  const run = (sql: string) => db.write([{ sql, params: [] }]);
  await run("INSERT INTO accounts (account_id, display_name, created_s) VALUES ('acme', 'acme', 1)");
  for (const id of deviceIDs)
    await run(
      `INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', '${id}', 1)`,
    );
}

export type Fate = 'before' | 'after' | 'no';

/** Fails before a write, or after it as a connection does that breaks before the answer. */
export function flakyStore(db: Database, fateOf: () => Fate): Database {
  const broken = () => new AppError('storage', 'the disk is gone');
  return {
    read: (statement) => db.read(statement),
    async write(batch) {
      const fate = fateOf();
      if (fate === 'before') throw broken();
      const results = await db.write(batch);
      if (fate === 'after') throw broken();
      return results;
    },
    close: () => db.close(),
  };
}
