// Whose rows a statement may reach. Everything that people read or write about devices goes through here, so that tenants
// stay apart by construction and a user with device groups never sees a device outside of them.
import type { Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';

export interface Scope {
  readonly accountID: string;
  /** User whose groups limit what is seen; null: every device of the account. */
  readonly limitedTo: string | null;
}

/** Condition on the table `devices` under the alias `d`. */
export function visible(scope: Scope): Statement {
  const ofAccount = sql`d.account_id = ${scope.accountID}`;
  if (scope.limitedTo === null) return ofAccount;
  return sql`${ofAccount} AND EXISTS (SELECT 1 FROM group_devices gd JOIN group_users gu ON gu.group_no = gd.group_no
    WHERE gd.device_no = d.device_no AND gu.account_id = ${scope.accountID} AND gu.user_id = ${scope.limitedTo})`;
}

/** The whole account: for the service itself and for objects that belong to no device. */
export function wholeAccount(accountID: string): Scope {
  return { accountID, limitedTo: null };
}
