// Statements that only tests need: a user without an administrator, and the number of unreadable payloads.
import type { Role } from '../../../broker/core/accounts/session.ts';
import type { DeviceKey } from '../../../broker/core/device-key.ts';
import type { UserKey } from '../../../broker/store/accounts/accounts.ts';
import { numberOf } from '../../../broker/store/base/row.ts';
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';

/** Creates a user of an existing account; changes 0 rows when the id is taken. */
export function insertUser(
  user: UserKey & { readonly passwordHash: string; readonly role: Role; readonly createdS: number },
): Statement {
  return sql`
    INSERT INTO users (account_id, user_id, password_hash, role, display_name, is_active, created_s)
    VALUES (${user.accountID}, ${user.userID}, ${user.passwordHash}, ${user.role}, ${user.userID}, 1,
      ${user.createdS})
    ON CONFLICT (account_id, user_id) DO NOTHING`;
}

/** Number of kept payloads of a device. */
export async function countQuarantine(db: Database, key: DeviceKey): Promise<number> {
  const [row] = await db.read(sql`
    SELECT COUNT(*) AS kept FROM quarantine q JOIN devices d ON d.device_no = q.device_no
    WHERE d.account_id = ${key.accountID} AND d.device_id = ${key.deviceID}`);
  return row === undefined ? 0 : numberOf(row, 'kept');
}
