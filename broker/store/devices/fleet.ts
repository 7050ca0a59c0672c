// The revisions of an account's fleet, which validate answers in memory. See `schema/fleet-revisions.ts`.
import type { Database, Statement } from '../../../src/ports.ts';
import { pointRead, sql } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { numberOf, readNumber, textOf } from '../base/row.ts';
import { visible } from '../base/scope.ts';

export interface FleetRevisions {
  /** Of the newest change of anything below. */
  readonly fleet: number;
  /** Of the newest change of which devices there are, and which a user sees. */
  readonly members: number;
  /** Of the newest change of a geozone. */
  readonly zones: number;
}

/** Of an account that is not there. */
export const noRevisions: FleetRevisions = { fleet: 0, members: 0, zones: 0 };

/**
 * True when the devices changed after `since` cannot update a list of that revision: devices came, went or were hidden from a
 * user, or the revision was never given. @param since null: everything is requested.
 */
export function needsWholeList({ fleet, members }: FleetRevisions, since: number | null): boolean {
  return since === null || since < members || since > fleet;
}

/** Null: there is no such account. */
export async function fleetRevisions(db: Database, accountID: string): Promise<FleetRevisions | null> {
  const [row] = await db.read(sql`SELECT fleet_revision, members_revision, zones_revision FROM accounts
    WHERE account_id = ${accountID}`);
  if (row === undefined) return null;
  return {
    fleet: numberOf(row, 'fleet_revision'),
    members: numberOf(row, 'members_revision'),
    zones: numberOf(row, 'zones_revision'),
  };
}

/**
 * Lifts the revisions of all accounts above any earlier one, at the start of a process: a restored database must not reuse a
 * number for something else. @param nowUs epoch microseconds.
 */
export function liftFleetRevisions(nowUs: number): Statement {
  return sql`UPDATE accounts SET fleet_revision = ${nowUs}, members_revision = ${nowUs}, zones_revision = ${nowUs}
    WHERE fleet_revision < ${nowUs}`;
}

/** For a change that no trigger sees: one of the device's records, which may be that of its last position. */
export function changeRevision(deviceNo: number): Statement {
  return sql`UPDATE devices SET heartbeat_ms = heartbeat_ms WHERE device_no = ${deviceNo}`;
}

export interface FleetMember {
  readonly deviceNo: number;
  readonly deviceID: string;
}

/** How many devices an account has. */
export const countDevices = async (db: Database, accountID: string): Promise<number> =>
  (await readNumber(db)(sql`SELECT COUNT(*) AS devices FROM devices WHERE account_id = ${accountID}`)) ?? 0;

/** Members of one read. */
const membersPerPage = 2000;

/** The devices that a caller sees, by device id. */
export async function fleetMembers(db: Database, scope: Scope): Promise<readonly FleetMember[]> {
  const members: FleetMember[] = [];
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly FleetMember[] = (
      await db.read(sql`SELECT d.device_no, d.device_id FROM devices d
        WHERE ${visible(scope)} AND d.device_id > ${after} ORDER BY d.device_id LIMIT ${membersPerPage}`)
    ).map((row) => ({ deviceNo: numberOf(row, 'device_no'), deviceID: textOf(row, 'device_id') }));
    members.push(...rows);
    after = rows.length < membersPerPage ? undefined : rows.at(-1)?.deviceID;
  }
  return members;
}

/** Of one device that the caller may see; null when there is none. */
export async function deviceRevision(
  db: Database,
  scope: Scope,
  deviceID: string,
): Promise<{ readonly deviceNo: number; readonly revision: number } | null> {
  const [row] = await db.read(
    pointRead(
      sql`SELECT d.device_no, d.revision FROM devices d WHERE ${visible(scope)} AND d.device_id = ${deviceID}`,
    ),
  );
  return row === undefined
    ? null
    : { deviceNo: numberOf(row, 'device_no'), revision: numberOf(row, 'revision') };
}
