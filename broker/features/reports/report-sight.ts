// What the owner of a report schedule may see, read when a report is made and again when it is delivered, and the vehicles that a
// schedule names within it.
import { createHash } from 'node:crypto';
import type { Database, Row } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { parseRole } from '../../core/accounts/session.ts';
import type { UserKey } from '../../store/accounts/accounts.ts';
import { fixedList } from '../../store/base/fixed-list.ts';
import { flagOf, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { type Infer, shape } from '../../store/base/table.ts';

export const owners = shape({
  role: (row) => parseRole(textOf(row, 'role')),
  seesAll: flagOf,
  isActive: flagOf,
});
export type Owner = Infer<typeof owners>;

/** The owner of a schedule; null: there is no such user. */
export function findOwner(db: Database, { accountID, userID }: UserKey): Promise<Owner | null> {
  return owners.first(db)(sql`SELECT role, sees_all, is_active FROM users
    WHERE account_id = ${accountID} AND user_id = ${userID}`);
}

/** The devices that an owner may have in a report; null: none, as the user is not there, suspended, or a viewer. */
export function scopeOfOwner({ accountID, userID }: UserKey, owner: Owner | null): Scope | null {
  if (owner === null || !owner.isActive || owner.role === 'viewer') return null;
  return { accountID, limitedTo: owner.seesAll || owner.role === 'admin' ? null : userID };
}

const pageSize = 1000;

export interface Vehicle {
  readonly deviceID: string;
  readonly name: string;
}

const toVehicle = (row: Row): Vehicle => {
  const deviceID = textOf(row, 'device_id');
  return { deviceID, name: textOf(row, 'display_name') || deviceID };
};

/** Every device of a scope in the order of ids. */
export async function vehiclesIn(db: Database, scope: Scope): Promise<readonly Vehicle[]> {
  const found: Vehicle[] = [];
  for (let after = ''; ; ) {
    const rows = await db.read(sql`SELECT d.device_id, d.display_name FROM devices d
      WHERE ${visible(scope)} AND d.device_id > ${after} ORDER BY d.device_id LIMIT ${pageSize}`);
    found.push(...rows.map(toVehicle));
    const last = found.at(-1);
    if (last === undefined || rows.length < pageSize) return found;
    after = last.deviceID;
  }
}

/** Names what a scope shows: the same text as long as it shows the same devices. */
export async function sightOf(db: Database, scope: Scope): Promise<string> {
  if (scope.limitedTo === null) return 'all';
  const hash = createHash('sha256');
  for (const { deviceID } of await vehiclesIn(db, scope)) hash.update(`${deviceID}\n`);
  return hash.digest('hex');
}

/** Those of the groups (at most 100) that the scope reaches: of a user with groups, the own ones. */
async function groupsIn(
  db: Database,
  { accountID, limitedTo }: Scope,
  groups: readonly string[],
): Promise<ReadonlySet<string>> {
  if (groups.length === 0) return new Set();
  const own =
    limitedTo === null
      ? sql``
      : sql` AND EXISTS (SELECT 1 FROM group_users gu WHERE gu.group_no = g.group_no
          AND gu.account_id = ${accountID} AND gu.user_id = ${limitedTo})`;
  const rows = await db.read(sql`SELECT g.group_id FROM device_groups g
    WHERE g.account_id = ${accountID} AND g.group_id IN (${fixedList(groups)})${own}`);
  return new Set(rows.map((row) => textOf(row, 'group_id')));
}

export interface Selected {
  /** In the order of ids. */
  readonly vehicles: readonly Vehicle[];
  /** Ids that name nothing within the scope. */
  readonly missingDevices: readonly string[];
  readonly missingGroups: readonly string[];
}

/** The vehicles that are named (at most 100 of each); with none named all of the scope. */
export async function selectVehicles(
  db: Database,
  scope: Scope,
  { devices, groups }: { readonly devices: readonly string[]; readonly groups: readonly string[] },
): Promise<Selected> {
  if (devices.length === 0 && groups.length === 0) {
    return { vehicles: await vehiclesIn(db, scope), missingDevices: [], missingGroups: [] };
  }
  const known = await groupsIn(db, scope, groups);
  const named =
    devices.length === 0
      ? []
      : await db.read(sql`SELECT d.device_id, d.display_name FROM devices d
          WHERE ${visible(scope)} AND d.device_id IN (${fixedList(devices)})`);
  const grouped =
    known.size === 0
      ? []
      : await db.read(sql`SELECT DISTINCT d.device_id, d.display_name
          FROM device_groups g JOIN group_devices m ON m.group_no = g.group_no
            JOIN devices d ON d.device_no = m.device_no
          WHERE g.account_id = ${scope.accountID} AND g.group_id IN (${fixedList([...known])}) AND ${visible(scope)}`);
  const found = new Map(
    [...named, ...grouped].map(toVehicle).map((one): [string, Vehicle] => [one.deviceID, one]),
  );
  return {
    vehicles: [...found.values()].toSorted((one, other) => (one.deviceID < other.deviceID ? -1 : 1)),
    missingDevices: devices.filter((id) => !found.has(id)),
    missingGroups: groups.filter((id) => !known.has(id)),
  };
}

/** Those of the mailboxes (at most 100) that administrators gave to active users of the account, in lower case. */
export async function mailboxesOfUsers(
  db: Database,
  accountID: string,
  mailboxes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (mailboxes.length === 0) return new Set();
  const rows = await db.read(sql`SELECT DISTINCT LOWER(u.notify_email) AS mailbox FROM users u
    WHERE u.account_id = ${accountID} AND u.is_active = 1
      AND LOWER(u.notify_email) IN (${fixedList(mailboxes.map((one) => one.toLowerCase()))})`);
  return new Set(rows.map((row) => textOf(row, 'mailbox')));
}
