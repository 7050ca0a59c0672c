// The statement that finds the device of an account with a hardware id. It reads one account only: whether another account
// has the same hardware must never show.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { textOf } from '../base/row.ts';

/** The device of the account with that hardware id, or null; the empty id belongs to no device. */
export async function holderOfUniqueID(
  db: Database,
  key: { readonly accountID: string; readonly uniqueID: string },
): Promise<string | null> {
  if (key.uniqueID === '') return null;
  const [row] = await db.read(sql`
    SELECT device_id FROM devices WHERE account_id = ${key.accountID} AND unique_id = ${key.uniqueID}
    ORDER BY device_id LIMIT 1`);
  return row === undefined ? null : textOf(row, 'device_id');
}
