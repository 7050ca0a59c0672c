// The limit of devices per account, enforced as conditions in the statements, so that two concurrent calls cannot both take the
// last one.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { type DeviceKey } from '../../core/device-key.ts';
import { numberOf, numberOrNull } from '../base/row.ts';

/** Condition on `accounts`: one more device stays within its limit. */
export function isBelowLimit(accountID: string): Statement {
  return sql`(device_limit IS NULL OR device_limit > (SELECT COUNT(*) FROM devices n WHERE n.account_id = ${accountID}))`;
}

/** Condition: the account has a device of that id. */
export function isThere(key: DeviceKey): Statement {
  return sql`EXISTS (SELECT 1 FROM devices WHERE account_id = ${key.accountID} AND device_id = ${key.deviceID})`;
}

/** Condition: the account has no device of that id and is below its limit. */
export function isCreatable(key: DeviceKey): Statement {
  const room = sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${key.accountID} AND ${isBelowLimit(key.accountID)})`;
  return sql`NOT ${isThere(key)} AND ${room}`;
}

/** Fails the batch with a fault of the data when the account exceeds its limit. Comes last. */
export function needRoom(accountID: string): Statement {
  return sql`UPDATE accounts SET created_s = CASE WHEN device_limit IS NULL OR device_limit >= (
      SELECT COUNT(*) FROM devices n WHERE n.account_id = ${accountID}) THEN created_s ELSE NULL END
    WHERE account_id = ${accountID}`;
}

/** Most devices that the account may have, and how many it has; null without a limit. */
export async function freeDevices(
  db: Database,
  accountID: string,
): Promise<{ readonly limit: number; readonly count: number } | null> {
  const [row] = await db.read(sql`
    SELECT device_limit, (SELECT COUNT(*) FROM devices n WHERE n.account_id = a.account_id) AS device_count
    FROM accounts a WHERE account_id = ${accountID}`);
  const limit = row === undefined ? null : numberOrNull(row, 'device_limit');
  return row === undefined || limit === null ? null : { limit, count: numberOf(row, 'device_count') };
}
