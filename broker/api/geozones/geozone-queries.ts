// Reads of geozones by id, place and device, all of them or some. Each concerns every device of the account: a user who
// sees any device sees all geozones, others none.
import { Type } from 'typebox';
import { seesAny } from '../../store/base/scope.ts';
import { countGeozones, findGeozone } from '../../store/geozones/geozones.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { readPoints } from './coordinates.ts';
import { geozone, geozoneMap, latitudePattern, longitudePattern } from './geozone-shapes.ts';
import { exampleGeozone, geozoneMeanings } from './geozone-texts.ts';
import {
  mayUpdateGeozones,
  unknownZone,
  viewGeozone,
  viewZones,
  viewZonesAt,
  viewZonesFrom,
} from './geozone-views.ts';

const get = operation({
  id: 'getGeozone',
  method: 'GET',
  path: '/geozone/getgeozone/{geozoneID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Geozones',
  summary: 'One geozone',
  description: `The geozone of that name.

${geozoneMeanings}`,
  params: Type.Object({ geozoneID: Type.String({ description: 'Name of the geozone' }) }),
  body: null,
  result: geozone,
  errors: ['not_found'],
  effects: false,
  examples: { params: { geozoneID: 'depot' }, result: exampleGeozone },
  async run({ params, caller }, services) {
    const isShown = await seesAny(services.db, caller.scope);
    const key = { accountID: caller.accountID, geozoneID: params.geozoneID };
    const row = isShown ? await findGeozone(services.db, key) : null;
    if (row === null) throw unknownZone(params.geozoneID);
    return viewGeozone(row, mayUpdateGeozones(caller));
  },
});

const privileges = Type.Boolean({ description: 'Whether the caller may change geozones' });
const several = { ...envelope, geozones: geozoneMap, hasUpdateGeozonePrivileges: privileges };
const exampleSeveral = { ...ok, geozones: { depot: exampleGeozone }, hasUpdateGeozonePrivileges: true };

const getAt = operation({
  id: 'getGeozonesAt',
  method: 'GET',
  path: '/geozone/getgeozone/{latitude}/{longitude}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Geozones',
  summary: 'Geozones that hold a point',
  description: `Every geozone of the account that holds the point, keyed by id; empty when none does. Points of interest
(type 4) hold nothing. The border of circles, corridors and rectangles is inside.`,
  params: Type.Object({
    latitude: Type.String({ pattern: `^${latitudePattern}$`, description: 'Decimal degrees, -90 to 90' }),
    longitude: Type.String({ pattern: `^${longitudePattern}$`, description: 'Decimal degrees, -180 to 180' }),
  }),
  body: null,
  result: Type.Object(several),
  errors: ['invalid_content'],
  effects: false,
  examples: { params: { latitude: '43.65107', longitude: '-79.34702' }, result: exampleSeveral },
  async run({ params, caller }, services) {
    const latitude = { name: 'latitude', text: params.latitude };
    const longitude = { name: 'longitude', text: params.longitude };
    const [at] = readPoints([{ latitude, longitude }]);
    return {
      ...ok,
      geozones: at === undefined ? {} : viewZonesAt(services, caller, at),
      hasUpdateGeozonePrivileges: mayUpdateGeozones(caller),
    };
  },
});

const getOfDevice = operation({
  id: 'getGeozonesOfDevice',
  method: 'GET',
  path: '/geozone/getgeozone/device/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Geozones',
  summary: 'Geozones that hold a device',
  description: `Every geozone of the account that holds the last valid position of the device, keyed by id; empty when none
does or the device never had a position. This is plain geometry at the time of the call: the vehicle applies hysteresis
at borders, so its own \`deviceLastGeozoneID\` may differ there.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: Type.Object(several),
  errors: ['not_found'],
  effects: false,
  examples: { result: exampleSeveral },
  async run({ params, caller }, services) {
    const device = await needDevice(services, caller, params.deviceID);
    return {
      ...ok,
      geozones: device.fixMs === 0 ? {} : viewZonesAt(services, caller, device),
      hasUpdateGeozonePrivileges: mayUpdateGeozones(caller),
    };
  },
});

const getAll = operation({
  id: 'getGeozones',
  method: 'GET',
  path: '/geozone/getgeozones/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Geozones',
  summary: 'All geozones of the account',
  description: 'Every geozone of the account, keyed by id, in the order of ids.',
  params: Type.Object({}),
  body: null,
  result: Type.Object(several),
  errors: [],
  effects: false,
  isConditional: true,
  examples: { result: exampleSeveral },
  async run({ caller }, services) {
    return {
      ...ok,
      geozones: viewZones(services, caller),
      hasUpdateGeozonePrivileges: mayUpdateGeozones(caller),
    };
  },
});

/** Most geozones of one range. */
const rangeMost = 1000;

const getRange = operation({
  id: 'getGeozonesRange',
  method: 'GET',
  path: '/geozone/getgeozones/{offset}/{limit}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Geozones',
  summary: 'Some geozones of the account',
  description: `Geozones in the order of ids, from the one at \`offset\` (0 = the first), at most \`limit\` (1 to ${rangeMost}).
\`count\` is how many this answer holds, \`total\` how many the account has.`,
  params: Type.Object({
    offset: Type.String({ pattern: '^[0-9]{1,6}$', description: 'Geozones to skip' }),
    limit: Type.String({ pattern: '^([1-9][0-9]{0,2}|1000)$', description: `1 to ${rangeMost}` }),
  }),
  body: null,
  result: Type.Object({
    ...several,
    count: Type.Integer({ description: 'Geozones in this answer' }),
    total: Type.Integer({ description: 'Geozones of the account' }),
  }),
  errors: [],
  effects: false,
  examples: { params: { offset: '0', limit: '100' }, result: { ...exampleSeveral, count: 1, total: 1 } },
  async run({ params, caller }, services) {
    const offset = Number(params.offset);
    const limit = Number(params.limit);
    const isShown = await seesAny(services.db, caller.scope);
    const total = isShown ? await countGeozones(services.db, caller.accountID) : 0;
    return {
      ...ok,
      geozones: viewZonesFrom(services, caller, { offset, limit }),
      hasUpdateGeozonePrivileges: mayUpdateGeozones(caller),
      count: Math.max(0, Math.min(limit, total - offset)),
      total,
    };
  },
});

export const geozoneQueryOperations = [get, getAt, getOfDevice, getAll, getRange] as const;
