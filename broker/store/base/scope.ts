// Scope of a statement: the devices that it may reach. Every statement on behalf of users uses it, so tenants are isolated
// by construction and a user never sees devices outside its groups.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { DeviceLimit, Scope } from '../../core/accounts/scope.ts';
import { findsRow } from './row.ts';

/** The user whose groups limit a scope; null: none. */
export function limitingUser({ limitedTo, within }: Scope): string | null {
  return within === undefined ? limitedTo : within.userID;
}

/** Condition on the table `devices` under the alias `d`: named by the limit. */
function isNamed({ deviceNos, groupNos }: DeviceLimit): Statement {
  const byDevice = deviceNos.length === 0 ? sql`1 = 0` : sql`d.device_no IN (${valueList(deviceNos)})`;
  if (groupNos.length === 0) return byDevice;
  return sql`(${byDevice} OR EXISTS (SELECT 1 FROM group_devices lg
    WHERE lg.device_no = d.device_no AND lg.group_no IN (${valueList(groupNos)})))`;
}

/** Condition on the table `devices` under the alias `d`. */
export function visible(scope: Scope): Statement {
  const { accountID, within } = scope;
  const named = within === undefined ? sql`` : sql` AND ${isNamed(within)}`;
  const ofAccount = sql`d.account_id = ${accountID}${named}`;
  const userID = limitingUser(scope);
  if (userID === null) return ofAccount;
  return sql`${ofAccount} AND EXISTS (SELECT 1 FROM group_devices gd JOIN group_users gu ON gu.group_no = gd.group_no
    WHERE gd.device_no = d.device_no AND gu.account_id = ${accountID} AND gu.user_id = ${userID})`;
}

/** Condition: the user may change what concerns every device of the account, as no groups limit it. */
export function commandsAll(user: { readonly accountID: string; readonly userID: string }): Statement {
  return sql`EXISTS (SELECT 1 FROM users wu WHERE wu.account_id = ${user.accountID} AND wu.user_id = ${user.userID}
    AND wu.is_active = 1 AND (wu.role = 'admin' OR (wu.role = 'operator' AND wu.sees_all = 1)))`;
}

/** Whether the caller sees a device at all. */
export async function seesAny(db: Database, scope: Scope): Promise<boolean> {
  if (scope.limitedTo === null) return true;
  return findsRow(db)(sql`SELECT 1 FROM devices d WHERE ${visible(scope)} LIMIT 1`);
}

/** The whole account: for the service itself and for objects that belong to no device. */
export function wholeAccount(accountID: string): Scope {
  return { accountID, limitedTo: null };
}
