// Backdates a user's grant at a broker that this program started: a run cannot wait a day until the role counts. It writes into
// that broker's database file; no service does this.
import type { OutboxOptions } from '../agent/outbox.ts';
import { sql } from '../src/sql.ts';

/** A demonstration or a run of hours stays far below it. */
const databaseMostBytes = 16 * 1024 * 1024 * 1024;

/** @param given.path the broker's database; `accountID` null: in every account. */
export async function ageUser(given: {
  readonly openDatabase: OutboxOptions['openDatabase'];
  readonly path: string;
  readonly accountID: string | null;
  readonly userID: string;
}): Promise<void> {
  const { openDatabase, path, accountID, userID } = given;
  const db = await openDatabase({ path, pageSize: 4096, maxBytes: databaseMostBytes });
  try {
    await db.write([
      sql`UPDATE users SET granted_s = 1, granted_by = NULL
        WHERE user_id = ${userID} AND (${accountID} IS NULL OR account_id = ${accountID})`,
    ]);
  } finally {
    await db.close();
  }
}
