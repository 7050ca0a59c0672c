// Statements on routes and the devices they are planned for. Rights over a route follow these devices: a caller limited to
// groups sees a route with at least one visible device, and changes one with visible devices only.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql, valueList } from '../../../src/sql.ts';
import type { Scope } from '../../core/accounts/scope.ts';
import { followed } from '../../store/base/live-topic.ts';
import { numberOf, readNumber, readTexts, textOf } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import type { Infer } from '../../store/base/table.ts';
import { pointsText } from '../../store/geozones/geozones.ts';
import { routes } from './route-tables.ts';

/** Most routes of one account. */
export const routesMost = 1000;

export interface RouteKey {
  readonly accountID: string;
  readonly routeID: string;
}

export type RouteRow = Infer<typeof routes>;
export type RouteContent = Pick<RouteRow, 'displayName' | 'radiusM' | 'points'>;

/** Condition on `routes r`: planned for a visible device, or the caller is not limited to groups. */
function isShown(scope: Scope): Statement {
  const ofAccount = sql`r.account_id = ${scope.accountID}`;
  if (scope.limitedTo === null) return ofAccount;
  return sql`${ofAccount} AND EXISTS (SELECT 1 FROM route_devices rd JOIN devices d ON d.device_no = rd.device_no
    WHERE rd.route_no = r.route_no AND ${visible(scope)})`;
}

/** Condition on `routes r`: the caller sees it and every device that it is planned for. */
function isOwn(scope: Scope): Statement {
  if (scope.limitedTo === null) return isShown(scope);
  return sql`${isShown(scope)} AND NOT EXISTS (SELECT 1 FROM route_devices rd
    JOIN devices d ON d.device_no = rd.device_no WHERE rd.route_no = r.route_no AND NOT (${visible(scope)}))`;
}

/** One route that the caller sees, or null. */
export function findRoute(db: Database, scope: Scope, routeID: string): Promise<RouteRow | null> {
  return routes.first(db)(sql`SELECT r.* FROM routes r WHERE ${isShown(scope)} AND r.route_id = ${routeID}`);
}

/** Routes that the caller sees, by id. */
export function listRoutes(
  db: Database,
  scope: Scope,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly RouteRow[]> {
  return routes.all(db)(sql`
    SELECT r.* FROM routes r WHERE ${isShown(scope)} AND r.route_id > ${page.after}
    ORDER BY r.route_id LIMIT ${page.limit}`);
}

/** Which of the routes the caller may change, by number. */
export async function listOwnRoutes(
  db: Database,
  scope: Scope,
  of: readonly Pick<RouteRow, 'routeNo'>[],
): Promise<ReadonlySet<number>> {
  if (scope.limitedTo === null) return new Set(of.map(({ routeNo }) => routeNo));
  if (of.length === 0) return new Set();
  const numbers = valueList(of.map(({ routeNo }) => routeNo));
  const rows = await db.read(sql`SELECT r.route_no FROM routes r
    WHERE ${isOwn(scope)} AND r.route_no IN (${numbers})`);
  return new Set(rows.map((row) => numberOf(row, 'route_no')));
}

/** Number of routes of the account. */
export async function countRoutes(db: Database, accountID: string): Promise<number> {
  return (
    (await readNumber(db)(sql`SELECT COUNT(*) AS count FROM routes WHERE account_id = ${accountID}`)) ?? 0
  );
}

/** Devices of the routes that the caller may see, by id: route number -> device ids. */
export async function listRouteDevices(
  db: Database,
  scope: Scope,
  of: readonly Pick<RouteRow, 'routeNo'>[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (of.length === 0) return new Map();
  const rows = await db.read(sql`
    SELECT rd.route_no, d.device_id FROM route_devices rd JOIN devices d ON d.device_no = rd.device_no
    WHERE rd.route_no IN (${valueList(of.map(({ routeNo }) => routeNo))}) AND ${visible(scope)}
    ORDER BY rd.route_no, d.device_id`);
  const devices = new Map<number, string[]>();
  for (const row of rows) {
    const routeNo = numberOf(row, 'route_no');
    const known = devices.get(routeNo);
    if (known === undefined) devices.set(routeNo, [textOf(row, 'device_id')]);
    else known.push(textOf(row, 'device_id'));
  }
  return devices;
}

/** Which of the devices the caller may see. */
export async function listVisibleIDs(
  db: Database,
  scope: Scope,
  deviceIDs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (deviceIDs.length === 0) return new Set();
  return new Set(
    await readTexts(db)(sql`SELECT d.device_id FROM devices d
      WHERE ${visible(scope)} AND d.device_id IN (${valueList(deviceIDs)})`),
  );
}

const noRoute = ({ accountID, routeID }: RouteKey): Statement =>
  sql`NOT EXISTS (SELECT 1 FROM routes WHERE account_id = ${accountID} AND route_id = ${routeID})`;
const isBelowLimit = (accountID: string): Statement =>
  sql`(SELECT COUNT(*) FROM routes WHERE account_id = ${accountID}) < ${routesMost}`;

/** Condition: there is no such route and the account is below its limit. */
export function mayInsertRoute(key: RouteKey): Statement {
  return sql`${noRoute(key)} AND ${isBelowLimit(key.accountID)}`;
}

/** Condition: the route is at the version that was read and the caller may change it. */
export function isRouteAt(scope: Scope, routeID: string, version: number): Statement {
  return sql`EXISTS (SELECT 1 FROM routes r
    WHERE ${isOwn(scope)} AND r.route_id = ${routeID} AND r.version = ${version})`;
}

/** Creates a route, at a version that no other one has; changes 0 rows when the id is taken or the limit is reached. */
export function insertRoute(
  key: RouteKey,
  route: RouteContent,
  { next, atMs }: { readonly next: number; readonly atMs: number },
): Statement {
  return followed(sql`
    INSERT INTO routes (account_id, route_id, display_name, radius_m, points, version, changed_ms)
    SELECT account_id, ${key.routeID}, ${route.displayName}, ${route.radiusM}, ${pointsText(route.points)}, ${next}, ${atMs}
    FROM accounts WHERE account_id = ${key.accountID} AND ${isBelowLimit(key.accountID)}
    ON CONFLICT (account_id, route_id) DO NOTHING`);
}

interface RouteChange {
  readonly scope: Scope;
  /** As it was read. */
  readonly version: number;
  /** As it is afterwards. */
  readonly next: number;
  readonly atMs: number;
}

/** Changes a route; 0 rows when it is deleted or no longer at `version`. */
export function updateRoute(
  key: RouteKey,
  route: RouteContent,
  { scope, version, next, atMs }: RouteChange,
): Statement {
  return followed(sql`
    UPDATE routes SET display_name = ${route.displayName}, radius_m = ${route.radiusM},
      points = ${pointsText(route.points)}, version = ${next}, changed_ms = ${atMs}
    WHERE account_id = ${key.accountID} AND route_id = ${key.routeID} AND ${isRouteAt(scope, key.routeID, version)}`);
}

/**
 * Plans the route for the given devices of those that the caller sees, and for no other of them; devices that the caller does
 * not see stay as they are. Does nothing unless the route is at `version`.
 */
export function setRouteDevices(
  route: RouteKey & { readonly version: number },
  scope: Scope,
  deviceIDs: readonly string[],
): readonly Statement[] {
  const { accountID, routeID, version } = route;
  const routeNo = sql`(SELECT route_no FROM routes
    WHERE account_id = ${accountID} AND route_id = ${routeID} AND version = ${version})`;
  const remove = sql`DELETE FROM route_devices WHERE route_no = ${routeNo}
    AND device_no IN (SELECT d.device_no FROM devices d WHERE ${visible(scope)})`;
  if (deviceIDs.length === 0) return [remove];
  const add = sql`INSERT INTO route_devices (route_no, device_no)
    SELECT r.route_no, d.device_no FROM routes r JOIN devices d ON d.account_id = r.account_id
    WHERE r.account_id = ${accountID} AND r.route_id = ${routeID} AND r.version = ${version}
      AND ${visible(scope)} AND d.device_id IN (${valueList(deviceIDs)})
    ON CONFLICT (route_no, device_no) DO NOTHING`;
  return [remove, add];
}

/** Condition: the route exists and the caller may change it. */
export function isOwnRoute(scope: Scope, routeID: string): Statement {
  return sql`EXISTS (SELECT 1 FROM routes r WHERE ${isOwn(scope)} AND r.route_id = ${routeID})`;
}

/** Deletes a route that the caller may change, with its devices. Changes 0 rows when there is none. */
export function deleteRoute(scope: Scope, routeID: string): Statement {
  return followed(sql`DELETE FROM routes WHERE account_id = ${scope.accountID} AND route_id = ${routeID}
    AND ${isOwnRoute(scope, routeID)}`);
}
