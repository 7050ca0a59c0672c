// Statements on groups of devices. Groups limit which devices a user sees: deleting one must never show a user more than
// before, so a limited user stays limited.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { fixedList, listMost } from '../base/fixed-list.ts';
import { numberOf, readNumber, readTexts, textOf } from '../base/row.ts';
import { limitingUser, visible, wholeAccount } from '../base/scope.ts';
import type { Infer } from '../base/table.ts';
import { deviceGroups } from '../schema/devices.ts';
import { lockAccount } from './accounts.ts';

/** Groups of one account. */
export const groupsMost = 1000;
/** Devices of one group. The whole fleet needs no group: a user with `all` sees every device. */
export const groupDevicesMost = 5000;

export interface GroupKey {
  readonly accountID: string;
  readonly groupID: string;
}

export type GroupRow = Infer<typeof deviceGroups>;

/** One group of an account, or null. */
export function findGroup(db: Database, key: GroupKey): Promise<GroupRow | null> {
  return deviceGroups.first(db)(
    sql`SELECT * FROM device_groups WHERE account_id = ${key.accountID} AND group_id = ${key.groupID}`,
  );
}

/** Condition on `device_groups g`: every group of the account, or only those of a limited user. */
function visibleGroup(scope: Scope): Statement {
  const { accountID, within } = scope;
  const named =
    within === undefined ? sql`` : sql` AND g.group_no IN (${valueList([0, ...within.groupNos])})`;
  const ofAccount = sql`g.account_id = ${accountID}${named}`;
  const userID = limitingUser(scope);
  if (userID === null) return ofAccount;
  return sql`${ofAccount} AND EXISTS (SELECT 1 FROM group_users gu WHERE gu.group_no = g.group_no
    AND gu.account_id = ${accountID} AND gu.user_id = ${userID})`;
}

/** The number of a group that the caller may see, or null. */
export function findVisibleGroup(db: Database, scope: Scope, groupID: string): Promise<number | null> {
  return readNumber(db)(
    sql`SELECT g.group_no FROM device_groups g WHERE ${visibleGroup(scope)} AND g.group_id = ${groupID}`,
  );
}

/** Groups that the caller may see in the order of their ids, after `after`. */
export function listGroups(
  db: Database,
  scope: Scope,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly GroupRow[]> {
  return deviceGroups.all(db)(sql`
    SELECT g.* FROM device_groups g WHERE ${visibleGroup(scope)} AND g.group_id > ${page.after}
    ORDER BY g.group_id LIMIT ${page.limit}`);
}

/** Ids of the devices of one group that the caller may see; at most `groupDevicesMost`. */
export function devicesOfGroup(db: Database, scope: Scope, groupID: string): Promise<readonly string[]> {
  // A separate subquery: visibility is checked only for devices of the group.
  return readTexts(db)(sql`
    SELECT d.device_id FROM devices d
    WHERE ${visible(scope)} AND d.device_no IN (
      SELECT m.device_no FROM device_groups g JOIN group_devices m ON m.group_no = g.group_no
      WHERE g.account_id = ${scope.accountID} AND g.group_id = ${groupID})
    ORDER BY d.device_id LIMIT ${groupDevicesMost}`);
}

function slices(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / listMost) }, (_, at) =>
    ids.slice(at * listMost, (at + 1) * listMost),
  );
}

/** The given ids without a device in the account. */
export async function unknownDevices(
  db: Database,
  accountID: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const known = new Set<string>();
  for (const slice of slices(ids)) {
    const rows = await db.read(sql`
      SELECT d.device_id FROM devices d
      WHERE ${visible(wholeAccount(accountID))} AND d.device_id IN (${fixedList(slice)})`);
    for (const row of rows) known.add(textOf(row, 'device_id'));
  }
  return ids.filter((id) => !known.has(id));
}

/** The given ids without a group in the account. */
export async function unknownGroups(
  db: Database,
  accountID: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await db.read(sql`SELECT group_id FROM device_groups WHERE account_id = ${accountID}`);
  const known = new Set(rows.map((row) => textOf(row, 'group_id')));
  return ids.filter((id) => !known.has(id));
}

/** A group to save; absent members stay unchanged. */
export interface GroupInput extends GroupKey {
  readonly displayName?: string | undefined;
  readonly description?: string | undefined;
  /** All of its devices. */
  readonly devices?: readonly string[] | undefined;
}

/** Condition: the group exists, or the account is below its limit. */
function isBelowLimit({ accountID, groupID }: GroupKey): Statement {
  return sql`(EXISTS (SELECT 1 FROM device_groups WHERE account_id = ${accountID} AND group_id = ${groupID})
    OR (SELECT COUNT(*) FROM device_groups WHERE account_id = ${accountID}) < ${groupsMost})`;
}

/**
 * Creates a group or changes it. The third result changes 1 row, or 0 when the account has `groupsMost` already.
 * @param audit gives the audit entry of it under a condition.
 */
export function putGroup(input: GroupInput, audit: (onlyIf: Statement) => Statement): readonly Statement[] {
  const { accountID, groupID, displayName, description, devices } = input;
  const groupNo = sql`(SELECT group_no FROM device_groups WHERE account_id = ${accountID} AND group_id = ${groupID})`;
  const joins = slices(devices ?? []).map(
    (slice) => sql`INSERT INTO group_devices (device_no, group_no)
      SELECT d.device_no, g.group_no FROM devices d JOIN device_groups g ON g.account_id = d.account_id
      WHERE ${visible(wholeAccount(accountID))} AND g.group_id = ${groupID} AND d.device_id IN (${fixedList(slice)})
      ON CONFLICT (device_no, group_no) DO NOTHING`,
  );
  return [
    lockAccount(accountID),
    audit(isBelowLimit(input)),
    sql`INSERT INTO device_groups (account_id, group_id, display_name, description)
      SELECT ${accountID}, ${groupID}, ${displayName ?? groupID}, ${description ?? ''} WHERE ${isBelowLimit(input)}
      ON CONFLICT (account_id, group_id) DO UPDATE SET
        display_name = COALESCE(${displayName ?? null}, device_groups.display_name),
        description = COALESCE(${description ?? null}, device_groups.description)`,
    ...(devices === undefined ? [] : [sql`DELETE FROM group_devices WHERE group_no = ${groupNo}`, ...joins]),
  ];
}

/**
 * Deletes a group. The last result changes 1 row, or 0 when there was none.
 * @param audit gives the audit entry of it under a condition.
 */
export function deleteGroup(key: GroupKey, audit: (onlyIf: Statement) => Statement): readonly Statement[] {
  const { accountID, groupID } = key;
  const groupNo = sql`(SELECT group_no FROM device_groups WHERE account_id = ${accountID} AND group_id = ${groupID})`;
  return [
    audit(sql`EXISTS ${groupNo}`),
    sql`DELETE FROM group_devices WHERE group_no = ${groupNo}`,
    sql`DELETE FROM group_users WHERE group_no = ${groupNo}`,
    sql`DELETE FROM device_groups WHERE account_id = ${accountID} AND group_id = ${groupID}`,
  ];
}

/** A device and a group of one account. */
export interface GroupDevice extends GroupKey {
  readonly deviceID: string;
}

/** The pair of both numbers, where both exist. */
const pairOf = ({ accountID, groupID, deviceID }: GroupDevice): Statement =>
  sql`FROM devices d JOIN device_groups g ON g.account_id = d.account_id
    WHERE ${visible(wholeAccount(accountID))} AND g.group_id = ${groupID} AND d.device_id = ${deviceID}`;

const isMember = sql`EXISTS (SELECT 1 FROM group_devices m
  WHERE m.device_no = d.device_no AND m.group_no = g.group_no)`;
const hasRoom = sql`(SELECT COUNT(*) FROM group_devices m WHERE m.group_no = g.group_no) < ${groupDevicesMost}`;

/**
 * Adds a device to a group. The last result changes 1 row, or 0 when it is in it already, the group is full or one of both does not exist.
 * @param audit gives the audit entry of it under a condition.
 */
export function joinGroup(
  device: GroupDevice,
  audit: (onlyIf: Statement) => Statement,
): readonly Statement[] {
  const joining = sql`${pairOf(device)} AND NOT ${isMember} AND ${hasRoom}`;
  return [
    lockAccount(device.accountID),
    audit(sql`EXISTS (SELECT 1 ${joining})`),
    sql`INSERT INTO group_devices (device_no, group_no) SELECT d.device_no, g.group_no ${joining}
      ON CONFLICT (device_no, group_no) DO NOTHING`,
  ];
}

/**
 * Takes a device out of a group. The last result changes 1 row, or 0 when it is not in it.
 * @param audit gives the audit entry of it under a condition.
 */
export function leaveGroup(
  device: GroupDevice,
  audit: (onlyIf: Statement) => Statement,
): readonly Statement[] {
  const leaving = sql`${pairOf(device)} AND ${isMember}`;
  return [
    lockAccount(device.accountID),
    audit(sql`EXISTS (SELECT 1 ${leaving})`),
    sql`DELETE FROM group_devices WHERE (device_no, group_no) IN (SELECT d.device_no, g.group_no ${leaving})`,
  ];
}

/** True when the device is in the group; null when either does not exist. */
export async function groupStateOf(
  db: Database,
  device: GroupDevice,
): Promise<{ readonly isMember: boolean } | null> {
  const [row] = await db.read(
    sql`SELECT CASE WHEN ${isMember} THEN 1 ELSE 0 END AS is_member ${pairOf(device)}`,
  );
  return row === undefined ? null : { isMember: numberOf(row, 'is_member') === 1 };
}
