// Routes: corridors that vehicles are planned to keep to. A caller limited to groups sees a route with a visible device,
// and changes one whose devices are all visible; one without a device belongs to the whole account.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { type Actor, auditEntry } from '../../api/base/audit-entry.ts';
import { type Caller } from '../../api/base/caller.ts';
import { operation, type Pages } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { pointText } from '../../api/geozones/coordinates.ts';
import { roleCovers } from '../../core/accounts/session.ts';
import { wholeAccount } from '../../store/base/scope.ts';
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
import {
  countRoutes,
  deleteRoute,
  findRoute,
  insertRoute,
  isOwnRoute,
  isRouteAt,
  listOwnRoutes,
  listRouteDevices,
  listRoutes,
  listVisibleIDs,
  mayInsertRoute,
  type RouteKey,
  type RouteRow,
  routesMost,
  setRouteDevices,
  updateRoute,
} from './route-statements.ts';

function viewRoute(
  row: Omit<RouteRow, 'routeNo' | 'version'>,
  { deviceIDs, isOwn }: { readonly deviceIDs: readonly string[]; readonly isOwn: boolean },
  caller: Caller,
): RouteView {
  const points = row.points.map((point, index) => [`routePoint${index + 1}`, pointText(point)] as const);
  return {
    routeID: row.routeID,
    routeDisplayName: row.displayName,
    routeRadius: row.radiusM,
    ...Object.fromEntries(points),
    deviceIDs: [...deviceIDs],
    hasUpdateRoutePrivileges: isOwn && roleCovers(caller.role, 'operator'),
    ...ok,
  };
}

/** @throws AppError `not_found`, with the same message for a device of another account or outside of the caller's groups. */
async function needDevices(
  services: ApiServices,
  caller: Caller,
  deviceIDs: readonly string[],
): Promise<void> {
  const seen = await listVisibleIDs(services.db, caller.scope, deviceIDs);
  const details = deviceIDs.flatMap((id, index) =>
    seen.has(id)
      ? []
      : [{ pointer: `/deviceIDs/${index}`, message: `There is no device ${JSON.stringify(id)}` }],
  );
  const [first] = details;
  if (first !== undefined) throw new AppError('not_found', first.message, { details });
}

/** A route that is planned for no device concerns all of them. */
const ofAll = (): AppError =>
  new AppError(
    'forbidden',
    'A route without a device belongs to the whole account, and you see the devices of your groups',
    {
      details: [{ pointer: '/deviceIDs', message: 'must name at least one device' }],
      hint: 'Name the devices that the route is planned for.',
    },
  );

/** @throws AppError `forbidden` when the route is planned for a device that the caller does not see. */
async function needOwn({ db }: ApiServices, { scope }: Caller, route: RouteRow): Promise<void> {
  if ((await listOwnRoutes(db, scope, [route])).has(route.routeNo)) return;
  throw new AppError(
    'forbidden',
    `Route ${JSON.stringify(route.routeID)} is planned for devices that you do not see`,
    {
      hint: 'Ask an operator or administrator who sees all of its devices.',
    },
  );
}

/** Retries of a change when another request changed the route in between. */
const triesMost = 5;

async function saveRoute(services: ApiServices, actor: Actor, sent: RouteBody): Promise<void> {
  const { routeID, ...detail } = sent;
  const { accountID, scope } = actor.caller;
  const key: RouteKey = { accountID, routeID };
  const isLimited = scope.limitedTo !== null;
  if (isLimited && sent.deviceIDs?.length === 0) throw ofAll();
  for (let tries = 0; tries < triesMost; tries++) {
    const known = await findRoute(services.db, scope, routeID);
    if (known !== null && isLimited) await needOwn(services, actor.caller, known);
    if (known === null && isLimited && sent.deviceIDs === undefined) throw ofAll();
    const content = routeAfter(known, sent);
    const atMs = Math.round(services.clock.utcMs());
    // A version of its own, so that what follows in the batch is for this change and no other.
    const next = Math.floor(services.entropy.fraction() * 2 ** 40);
    const devices =
      sent.deviceIDs === undefined ? [] : setRouteDevices({ ...key, version: next }, scope, sent.deviceIDs);
    const action = known === null ? 'route.create' : 'route.update';
    const onlyIf = known === null ? mayInsertRoute(key) : isRouteAt(scope, routeID, known.version);
    const audit = auditEntry(services, actor, { action, object: routeID, detail, onlyIf });
    const results = await services.db.write(
      // The devices change once the route is there, as it was made or as it is changed.
      known === null
        ? [audit, insertRoute(key, content, { next, atMs }), ...devices]
        : [audit, updateRoute(key, content, { scope, version: known.version, next, atMs }), ...devices],
    );
    if ((results[1]?.changes ?? 0) > 0) return;
    if (
      known === null &&
      isLimited &&
      (await findRoute(services.db, wholeAccount(accountID), routeID)) !== null
    ) {
      if ((await findRoute(services.db, scope, routeID)) !== null) continue;
      throw new AppError('conflict', `The id ${JSON.stringify(routeID)} is taken`, {
        details: [{ pointer: '/routeID', message: 'is that of a route of other devices' }],
        hint: 'Choose another id.',
      });
    }
    if (known === null && (await countRoutes(services.db, accountID)) >= routesMost) {
      throw new AppError('conflict', `The account has ${routesMost} routes, which is the most`);
    }
  }
  throw new AppError(
    'unavailable',
    `Route ${routeID} was changed by other requests during all attempts; nothing was changed`,
    {
      retryAfterS: 1,
    },
  );
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
  token: { scope: 'write', ofDevices: false },
  tag: 'Routes',
  summary: 'Create a route, or change it',
  description: `Creates the route when the account has none of that id; otherwise changes the given members and leaves the
others. The way is sent as \`routePoint<n>lat\` and \`routePoint<n>lng\` (decimal degrees as text, five decimals are kept),
n from 1 to ${pointsMost} without a gap, at least two; when any point is sent, those sent are the whole way. A new route
needs its points.

\`deviceIDs\` (at most ${devicesMost}) replaces the devices that the route is planned for; a device that the caller may not see
answers 404. A caller who is limited to groups changes only routes that are planned for devices that the caller sees and no others,
and names at least one: 422 \`forbidden\` otherwise, and 422 \`conflict\` when the id is that of a route that the caller does not see. An account has at most ${routesMost}
routes (422 \`conflict\`). Lines between points are straight in longitude and latitude, as with geozones.`,
  params: Type.Object({}),
  body: routeBody,
  result: route,
  errors: ['not_found', 'conflict', 'invalid_content', 'unavailable'],
  effects: true,
  examples: {
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
    const row = await findRoute(services.db, caller.scope, sent.routeID);
    if (row === null) throw new AppError('not_found', `There is no route ${JSON.stringify(sent.routeID)}`);
    const devices = await listRouteDevices(services.db, caller.scope, [row]);
    const own = await listOwnRoutes(services.db, caller.scope, [row]);
    const deviceIDs = devices.get(row.routeNo) ?? [];
    return viewRoute(row, { deviceIDs, isOwn: own.has(row.routeNo) }, caller);
  },
});

const remove = operation({
  id: 'deleteRoute',
  method: 'POST',
  path: '/route/deleteroute/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: false },
  tag: 'Routes',
  summary: 'Delete a route',
  description: `Our addition. Deletes the route, for every device that it is planned for. An unknown route answers 404, and so
does one that is planned for no device that the caller sees; one that is planned for others too 422 \`forbidden\`.`,
  params: Type.Object({}),
  body: routeKeyBody,
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { routeID: 'old-run' } },
  async run({ body: { routeID }, caller, source }, services) {
    const { scope } = caller;
    const audited = { action: 'route.delete', object: routeID, onlyIf: isOwnRoute(scope, routeID) };
    const results = await services.db.write([
      auditEntry(services, { caller, source }, audited),
      deleteRoute(scope, routeID),
    ]);
    if ((results[1]?.changes ?? 0) === 0) {
      const row = await findRoute(services.db, scope, routeID);
      if (row !== null) await needOwn(services, caller, row);
      throw new AppError('not_found', `There is no route ${JSON.stringify(routeID)}`);
    }
    return ok;
  },
});

/** Routes of one read, each with up to a few hundred devices. */
const routesPerPage = 20;

async function* allRoutes(services: ApiServices, caller: Caller): Pages<RouteView> {
  const { scope } = caller;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly RouteRow[] = await listRoutes(services.db, scope, {
      after,
      limit: routesPerPage,
    });
    const devices = await listRouteDevices(services.db, scope, rows);
    const own = await listOwnRoutes(services.db, scope, rows);
    yield rows.map((row) =>
      viewRoute(row, { deviceIDs: devices.get(row.routeNo) ?? [], isOwn: own.has(row.routeNo) }, caller),
    );
    after = rows.length < routesPerPage ? undefined : rows.at(-1)?.routeID;
  }
}

const getRoutes = operation({
  id: 'getRoutes',
  method: 'GET',
  path: '/route/getroutes/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Routes',
  summary: 'All routes of the account',
  description: `Every route of the account in the order of ids, with its points along the way and the devices it is planned
for, those that the caller may see. A caller who is limited to groups gets the routes that are planned for a visible device.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    routes: Type.Array(route, { description: 'In the order of route ids' }),
    hasUpdateRoutePrivileges: Type.Boolean({ description: 'Whether the caller may change routes' }),
  }),
  errors: [],
  effects: false,
  examples: { result: { routes: [exampleRoute], hasUpdateRoutePrivileges: true } },
  async run({ caller }, services) {
    return {
      ...ok,
      routes: allRoutes(services, caller),
      hasUpdateRoutePrivileges: roleCovers(caller.role, 'operator'),
    };
  },
});

export const routeOperations = [change, remove, getRoutes] as const;
