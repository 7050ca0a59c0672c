// Routes: corridors that vehicles are planned to keep to. A route belongs to the account; of its devices everybody sees
// and changes only those of his groups.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import {
  countRoutes,
  deleteRoute,
  findRoute,
  insertRoute,
  isRoute,
  isRouteAt,
  listRouteDevices,
  listRoutes,
  listVisibleIDs,
  mayInsertRoute,
  type RouteKey,
  type RouteRow,
  routesMost,
  setRouteDevices,
  updateRoute,
} from '../../store/routes.ts';
import { type ApiServices, type Caller, operation, type Pages } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { type Doer, trail } from '../trail.ts';
import { pointText } from './coordinates.ts';
import { mayUpdateGeozones } from './geozone-views.ts';
import { routeAfter } from './route-input.ts';
import {
  devicesMost,
  pointsMost,
  type RouteBody,
  type RouteView,
  route,
  routeBody,
  routeKeyBody,
} from './route-shapes.ts';

function viewRoute(
  row: Omit<RouteRow, 'routeNo' | 'version'>,
  deviceIDs: readonly string[],
  caller: Caller,
): RouteView {
  const points = row.points.map((point, index) => [`routePoint${index + 1}`, pointText(point)] as const);
  return {
    routeID: row.routeID,
    routeDisplayName: row.displayName,
    routeRadius: row.radiusM,
    ...Object.fromEntries(points),
    deviceIDs: [...deviceIDs],
    hasUpdateRoutePrivileges: mayUpdateGeozones(caller),
    ...ok,
  };
}

/** @throws AppError `not_found`, in the same words for a device of another account or outside of the caller's groups. */
async function needDevices(
  services: ApiServices,
  caller: Caller,
  deviceIDs: readonly string[],
): Promise<void> {
  const seen = await listVisibleIDs(services.db, caller.scope, deviceIDs);
  const details = deviceIDs.flatMap((id, index) =>
    seen.has(id)
      ? []
      : [{ pointer: `/deviceIDs/${index}`, message: `there is no device ${JSON.stringify(id)}` }],
  );
  const [first] = details;
  if (first !== undefined) throw new AppError('not_found', first.message, { details });
}

/** Times that a change is tried again when somebody else changed the route in between. */
const triesMost = 5;

async function saveRoute(services: ApiServices, doer: Doer, sent: RouteBody): Promise<void> {
  const { routeID, ...detail } = sent;
  const { accountID, scope } = doer.caller;
  const key: RouteKey = { accountID, routeID };
  for (let tries = 0; tries < triesMost; tries++) {
    const known = await findRoute(services.db, key);
    const content = routeAfter(known, sent);
    const atMs = Math.round(services.clock.utcMs());
    const version = known?.version ?? 1;
    const devices =
      sent.deviceIDs === undefined ? [] : setRouteDevices({ ...key, version }, scope, sent.deviceIDs);
    const action = known === null ? 'route.create' : 'route.update';
    const onlyIf = known === null ? mayInsertRoute(key) : isRouteAt(key, version);
    const audit = trail(services, doer, { action, object: routeID, detail, onlyIf });
    // The devices of a route that is there change while it is still as it was read; those of a new one once it is there.
    const results = await services.db.write(
      known === null
        ? [audit, insertRoute(key, content, atMs), ...devices]
        : [audit, ...devices, updateRoute(key, content, { version, atMs })],
    );
    const written = known === null ? results[1] : results.at(-1);
    if ((written?.changes ?? 0) > 0) return;
    if (known === null && (await countRoutes(services.db, accountID)) >= routesMost) {
      throw new AppError('conflict', `the account has ${routesMost} routes, which is the most`);
    }
  }
  throw new AppError('unavailable', `route ${routeID} is being changed by others all the time`, {
    retryAfterS: 1,
  });
}

const exampleWay = {
  sent: {
    routePoint1lat: '43.65500',
    routePoint1lng: '-79.34500',
    routePoint2lat: '43.64000',
    routePoint2lng: '-79.33000',
  },
  shown: { routePoint1: '43.65500,-79.34500', routePoint2: '43.64000,-79.33000' },
};

const exampleRoute: RouteView = {
  routeID: 'harbour-run',
  routeDisplayName: 'Depot to harbour',
  routeRadius: 500,
  ...exampleWay.shown,
  deviceIDs: ['truck-17'],
  hasUpdateRoutePrivileges: true,
  ...ok,
};

const change = operation({
  id: 'routeUpdate',
  method: 'POST',
  path: '/route/routeupdate/authorization',
  forms: ['versioned'],
  access: 'operator',
  tag: 'Routes',
  summary: 'Create a route, or change it',
  description: `Creates the route when the account has none of that id; otherwise changes the given members and leaves the
others. The way is sent as \`routePoint<n>lat\` and \`routePoint<n>lng\` (decimal degrees as text, five decimals are kept),
n from 1 to ${pointsMost} without a gap, at least two; when any point is sent, those sent are the whole way. A new route
needs its points.

\`deviceIDs\` (at most ${devicesMost}) replaces the devices that the route is planned for, among those that the caller may
see; a device that he may not see answers 404, and those planned by others stay. An account has at most ${routesMost}
routes (422 \`conflict\`). Lines between points are straight in longitude and latitude, as with geozones.`,
  params: Type.Object({}),
  body: routeBody,
  result: route,
  errors: ['not_found', 'conflict', 'invalid_content', 'unavailable'],
  effects: true,
  examples: {
    params: {},
    body: {
      routeID: 'harbour-run',
      routeDisplayName: 'Depot to harbour',
      routeRadius: 500,
      ...exampleWay.sent,
      deviceIDs: ['truck-17'],
    },
    result: exampleRoute,
  },
  async run({ body: sent, caller, source }, services) {
    if (sent.deviceIDs !== undefined) await needDevices(services, caller, sent.deviceIDs);
    await saveRoute(services, { caller, source }, sent);
    const row = await findRoute(services.db, { accountID: caller.accountID, routeID: sent.routeID });
    if (row === null) throw new AppError('not_found', `there is no route ${JSON.stringify(sent.routeID)}`);
    const devices = await listRouteDevices(services.db, caller.scope, [row]);
    return viewRoute(row, devices.get(row.routeNo) ?? [], caller);
  },
});

const remove = operation({
  id: 'deleteRoute',
  method: 'POST',
  path: '/route/deleteroute/authorization',
  forms: ['versioned'],
  access: 'operator',
  tag: 'Routes',
  summary: 'Delete a route',
  description: `Our addition. Deletes the route, for every device that it is planned for. An unknown route answers 404.`,
  params: Type.Object({}),
  body: routeKeyBody,
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { params: {}, body: { routeID: 'old-run' }, result: ok },
  async run({ body: { routeID }, caller, source }, services) {
    const key: RouteKey = { accountID: caller.accountID, routeID };
    const deed = { action: 'route.delete', object: routeID, onlyIf: isRoute(key) };
    const results = await services.db.write([trail(services, { caller, source }, deed), ...deleteRoute(key)]);
    if ((results.at(-1)?.changes ?? 0) === 0) {
      throw new AppError('not_found', `there is no route ${JSON.stringify(routeID)}`);
    }
    return ok;
  },
});

/** Routes of one read, each with up to a few hundred devices. */
const routesPerPage = 20;

async function* allRoutes(services: ApiServices, caller: Caller): Pages<RouteView> {
  const { accountID, scope } = caller;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly RouteRow[] = await listRoutes(services.db, {
      accountID,
      after,
      limit: routesPerPage,
    });
    const devices = await listRouteDevices(services.db, scope, rows);
    yield rows.map((row) => viewRoute(row, devices.get(row.routeNo) ?? [], caller));
    after = rows.length < routesPerPage ? undefined : rows.at(-1)?.routeID;
  }
}

const getRoutes = operation({
  id: 'getRoutes',
  method: 'GET',
  path: '/route/getroutes/authorization',
  forms: ['versioned'],
  access: 'viewer',
  tag: 'Routes',
  summary: 'All routes of the account',
  description: `Every route of the account in the order of ids, with its points along the way and the devices it is planned
for, those that the caller may see.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    routes: Type.Array(route, { description: 'In the order of route ids' }),
    hasUpdateRoutePrivileges: Type.Boolean({ description: 'Whether the caller may change routes' }),
  }),
  errors: [],
  effects: false,
  examples: {
    params: {},
    body: null,
    result: { ...ok, routes: [exampleRoute], hasUpdateRoutePrivileges: true },
  },
  async run({ caller }, services) {
    return {
      ...ok,
      routes: allRoutes(services, caller),
      hasUpdateRoutePrivileges: mayUpdateGeozones(caller),
    };
  },
});

export const routeOperations = [change, remove, getRoutes] as const;
