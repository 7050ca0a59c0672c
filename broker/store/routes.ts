// Statements on routes and on the devices they are planned for. A route belongs to the account; which devices of a route
// a caller sees, adds and takes away goes through his scope.
import type { Point } from '../../src/core/geo.ts';
import type { Database, Row, Statement } from '../../src/ports.ts';
import { sql, valueList } from '../../src/sql.ts';
import { pointsOf, pointsText } from './geozones.ts';
import { numberOf, textOf } from './row.ts';
import { type Scope, visible } from './scope.ts';

/** Most routes of one account. */
export const routesMost = 1000;

export interface RouteKey {
  readonly accountID: string;
  readonly routeID: string;
}

export interface RouteContent {
  readonly displayName: string;
  readonly radiusM: number;
  /** Along the way. */
  readonly points: readonly Point[];
}

export interface RouteRow extends RouteContent {
  readonly routeNo: number;
  readonly routeID: string;
  /** Grows with every change. */
  readonly version: number;
}

const toRoute = (row: Row): RouteRow => ({
  routeNo: numberOf(row, 'route_no'),
  routeID: textOf(row, 'route_id'),
  displayName: textOf(row, 'display_name'),
  radiusM: numberOf(row, 'radius_m'),
  points: pointsOf(row),
  version: numberOf(row, 'version'),
});

/** One route, or null. */
export async function findRoute(db: Database, key: RouteKey): Promise<RouteRow | null> {
  const [row] = await db.read(
    sql`SELECT * FROM routes WHERE account_id = ${key.accountID} AND route_id = ${key.routeID}`,
  );
  return row === undefined ? null : toRoute(row);
}

/** Routes by id. */
export async function listRoutes(
  db: Database,
  page: { readonly accountID: string; readonly after: string; readonly limit: number },
): Promise<readonly RouteRow[]> {
  const rows = await db.read(sql`
    SELECT * FROM routes WHERE account_id = ${page.accountID} AND route_id > ${page.after}
    ORDER BY route_id LIMIT ${page.limit}`);
  return rows.map(toRoute);
}

/** Number of routes of the account. */
export async function countRoutes(db: Database, accountID: string): Promise<number> {
  const [row] = await db.read(sql`SELECT COUNT(*) AS count FROM routes WHERE account_id = ${accountID}`);
  return row === undefined ? 0 : numberOf(row, 'count');
}

/** Devices of the routes that the caller may see, by id: route number -> device ids. */
export async function listRouteDevices(
  db: Database,
  scope: Scope,
  routes: readonly Pick<RouteRow, 'routeNo'>[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  if (routes.length === 0) return new Map();
  const rows = await db.read(sql`
    SELECT rd.route_no, d.device_id FROM route_devices rd JOIN devices d ON d.device_no = rd.device_no
    WHERE rd.route_no IN (${valueList(routes.map(({ routeNo }) => routeNo))}) AND ${visible(scope)}
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
  const rows = await db.read(sql`SELECT d.device_id FROM devices d
    WHERE ${visible(scope)} AND d.device_id IN (${valueList(deviceIDs)})`);
  return new Set(rows.map((row) => textOf(row, 'device_id')));
}

const noRoute = ({ accountID, routeID }: RouteKey): Statement =>
  sql`NOT EXISTS (SELECT 1 FROM routes WHERE account_id = ${accountID} AND route_id = ${routeID})`;
const hasRoom = (accountID: string): Statement =>
  sql`(SELECT COUNT(*) FROM routes WHERE account_id = ${accountID}) < ${routesMost}`;

/** Holds while there is no such route and the account has room for it. */
export function mayInsertRoute(key: RouteKey): Statement {
  return sql`${noRoute(key)} AND ${hasRoom(key.accountID)}`;
}

/** Holds while the route is as it was read. */
export function isRouteAt({ accountID, routeID }: RouteKey, version: number): Statement {
  return sql`EXISTS (SELECT 1 FROM routes
    WHERE account_id = ${accountID} AND route_id = ${routeID} AND version = ${version})`;
}

/** Creates a route; changes 0 rows when there is one of that id or no room. */
export function insertRoute(key: RouteKey, route: RouteContent, atMs: number): Statement {
  return sql`
    INSERT INTO routes (account_id, route_id, display_name, radius_m, points, version, changed_ms)
    SELECT account_id, ${key.routeID}, ${route.displayName}, ${route.radiusM}, ${pointsText(route.points)}, 1, ${atMs}
    FROM accounts WHERE account_id = ${key.accountID} AND ${hasRoom(key.accountID)}
    ON CONFLICT (account_id, route_id) DO NOTHING`;
}

/** Changes a route; 0 rows when it is gone or no longer at `version`. */
export function updateRoute(
  key: RouteKey,
  route: RouteContent,
  { version, atMs }: { readonly version: number; readonly atMs: number },
): Statement {
  return sql`
    UPDATE routes SET display_name = ${route.displayName}, radius_m = ${route.radiusM},
      points = ${pointsText(route.points)}, version = version + 1, changed_ms = ${atMs}
    WHERE account_id = ${key.accountID} AND route_id = ${key.routeID} AND version = ${version}`;
}

/**
 * Plans the route for the given devices of those that the caller sees, and for no other of them; devices that he does
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

/** Holds while the route is there. */
export function isRoute(key: RouteKey): Statement {
  return sql`NOT (${noRoute(key)})`;
}

/** Deletes a route with its devices; the last statement changes 0 rows when there is none. */
export function deleteRoute({ accountID, routeID }: RouteKey): readonly Statement[] {
  return [
    sql`DELETE FROM route_devices WHERE route_no IN (
      SELECT route_no FROM routes WHERE account_id = ${accountID} AND route_id = ${routeID})`,
    sql`DELETE FROM routes WHERE account_id = ${accountID} AND route_id = ${routeID}`,
  ];
}
