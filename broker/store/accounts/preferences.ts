// Statements on the preferences of users: one JSON text each, which only apps understand.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { numberOf, textOf } from '../base/row.ts';
import type { UserKey } from './accounts.ts';

export interface Preferences {
  /** A JSON object. */
  readonly text: string;
  /** Grows by one with every change; 0: nothing was saved yet. */
  readonly revision: number;
}

/** The preferences of a user. */
export async function findPreferences(db: Database, user: UserKey): Promise<Preferences> {
  const [row] = await db.read(sql`SELECT preferences, revision FROM user_preferences
    WHERE account_id = ${user.accountID} AND user_id = ${user.userID}`);
  if (row === undefined) return { text: '{}', revision: 0 };
  return { text: textOf(row, 'preferences'), revision: numberOf(row, 'revision') };
}

/**
 * Saves the preferences of a user; changes 0 rows when the user was deleted, or they are not of the expected revision.
 * @param expected null: whatever they are now.
 */
export function savePreferences(
  { accountID, userID }: UserKey,
  { text, expected }: { readonly text: string; readonly expected: number | null },
): Statement {
  const saved = sql`COALESCE((SELECT s.revision FROM user_preferences s
    WHERE s.account_id = ${accountID} AND s.user_id = ${userID}), 0)`;
  const fits = expected === null ? sql`1 = 1` : sql`${saved} = ${expected}`;
  return sql`INSERT INTO user_preferences (account_id, user_id, preferences, revision)
    SELECT u.account_id, u.user_id, ${text}, 1 FROM users u
    WHERE u.account_id = ${accountID} AND u.user_id = ${userID} AND ${fits}
    ON CONFLICT (account_id, user_id) DO UPDATE SET preferences = excluded.preferences,
      revision = user_preferences.revision + 1
      WHERE CAST(${expected} AS BIGINT) IS NULL OR user_preferences.revision = ${expected}`;
}
