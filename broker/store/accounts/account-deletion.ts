// Statements that delete an account: it is closed first, then its rows are removed in small batches, devices first and the
// account's row last. The audit log stays with its chain; its details are emptied.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { DeviceRef } from '../../core/device-key.ts';
import { findsRow, numberOf, readTexts, textOf } from '../base/row.ts';

/**
 * Tables with rows of an account, except its devices' tables, each with its primary key, in reference order. Events and
 * audit log have separate statements.
 */
export const accountTables: readonly (readonly [table: string, key: string])[] = [
  ['sessions', 'token_hash'],
  ['login_codes', 'code_hash'],
  ['idempotency_keys', 'key_hash'],
  ['notification_views', 'account_id, user_id, notification_no'],
  ['push_registrations', 'registration_no'],
  ['user_preferences', 'account_id, user_id'],
  ['deliveries', 'delivery_no'],
  ['alarms', 'alarm_no'],
  ['notifications', 'notification_no'],
  ['notification_rules', 'rule_no'],
  ['owner_documents', 'account_id, pin'],
  ['geozones', 'account_id, geozone_id'],
  ['account_configs', 'account_id'],
  ['group_users', 'account_id, user_id, group_no'],
  ['device_groups', 'group_no'],
  ['users', 'account_id, user_id'],
];

/** Rows deleted by one statement. */
const rowsAtOnce = 500;

/** Devices of an account whose engine is cut off or about to be: after the deletion they could never be restored. */
const cutDevices = (accountID: Statement): Statement => sql`
  SELECT d.device_id FROM devices d WHERE d.account_id = ${accountID} AND (
    EXISTS (SELECT 1 FROM device_states s
      WHERE s.device_no = d.device_no AND s.name = 'enginecutoff' AND s.state = '1')
    OR EXISTS (SELECT 1 FROM commands c
      WHERE c.device_no = d.device_no AND c.feature = 'enginecutoff' AND c.state = '1' AND c.is_final = 0))`;

/** Devices that prevent the deletion of an account, at most ten of them. */
export function devicesCutOff(db: Database, accountID: string): Promise<readonly string[]> {
  return readTexts(db)(sql`
    ${cutDevices(sql`${accountID}`)} ORDER BY d.device_id LIMIT 10`);
}

/** Condition: the account exists, is not being deleted, and no device prevents the deletion. */
export function mayDelete(accountID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts a WHERE a.account_id = ${accountID} AND a.deleting_s IS NULL
    AND NOT EXISTS (${cutDevices(sql`a.account_id`)}))`;
}

/** Closes an account permanently; changes 1 row, or 0 unless `mayDelete`. */
export function beginDeletion(accountID: string, atS: number): Statement {
  return sql`UPDATE accounts SET is_active = 0, deleting_s = ${atS}
    WHERE account_id = ${accountID} AND ${mayDelete(accountID)}`;
}

/** Accounts that are being deleted, oldest first; at most a hundred. */
export function accountsToClear(db: Database): Promise<readonly string[]> {
  return readTexts(db)(sql`
    SELECT account_id FROM accounts WHERE deleting_s IS NOT NULL ORDER BY deleting_s, account_id LIMIT 100`);
}

/**
 * Reopens an account, also one whose deletion waits for a device that is cut off after all. Changes 0
 * rows when it has no users any more.
 */
export function resumeAccount(accountID: string): Statement {
  return sql`UPDATE accounts SET is_active = 1, deleting_s = NULL WHERE account_id = ${accountID}
    AND EXISTS (SELECT 1 FROM users u WHERE u.account_id = accounts.account_id)`;
}

/** Remaining devices after the one of this number. */
export async function devicesLeft(
  db: Database,
  accountID: string,
  page: { readonly afterNo: number; readonly limit: number },
): Promise<readonly DeviceRef[]> {
  const rows = await db.read(sql`
    SELECT device_no, device_id FROM devices WHERE account_id = ${accountID} AND device_no > ${page.afterNo}
    ORDER BY device_no LIMIT ${page.limit}`);
  return rows.map((row) => ({
    accountID,
    deviceID: textOf(row, 'device_id'),
    deviceNo: numberOf(row, 'device_no'),
  }));
}

/** Drops the commands that devices have not carried out, except engine cuts, which must end first. */
export function dropCommands(deviceNo: number): Statement {
  return sql`DELETE FROM commands
    WHERE device_no = ${deviceNo} AND is_final = 0 AND NOT (feature = 'enginecutoff' AND state = '1')`;
}

/** Deletes some rows of one of `accountTables` or of a feature's; changes 0 rows when none is left. */
export function clearTable([table, key]: readonly [string, string], accountID: string): Statement {
  const owner = (id: string): string =>
    key.startsWith('account_no,')
      ? `account_no = (SELECT account_no FROM accounts WHERE account_id = ${id})`
      : `account_id = ${id}`;
  return {
    sql: `DELETE FROM ${table} WHERE ${owner('$1')}
      AND (${key}) IN (SELECT ${key} FROM ${table} WHERE ${owner('$2')} LIMIT ${rowsAtOnce})`,
    params: [accountID, accountID],
  };
}

/** Empties some details of the audit log and keeps their hashes; returns the entry numbers. */
export function emptyDetails(accountID: string): Statement {
  return sql`UPDATE audit SET detail = NULL WHERE audit_no IN (
      SELECT audit_no FROM audit WHERE account_id = ${accountID} AND detail IS NOT NULL LIMIT ${rowsAtOnce})`;
}

/** True while events of deleted devices of the account remain. */
export async function hasEventsLeft(db: Database, accountID: string): Promise<boolean> {
  return findsRow(db)(
    sql`SELECT 1 AS there FROM deleted_devices WHERE account_id = ${accountID} AND is_purged = 0 LIMIT 1`,
  );
}

/** Condition: the account exists and is being deleted. */
export function isBeingDeleted(accountID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM accounts WHERE account_id = ${accountID} AND deleting_s IS NOT NULL)`;
}

/** Deletes the account's row. Changes 0 rows when it is deleted already. */
export function endDeletion(accountID: string): Statement {
  return sql`DELETE FROM accounts WHERE account_id = ${accountID} AND deleting_s IS NOT NULL`;
}
