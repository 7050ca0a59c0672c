// The interface that the customer wrote down, as a list: every path of it is served with its verb, in every form that it
// lists. The 21 operations of known shape stand as written; those known by name only at the paths that we chose.
import { describe, expect, it } from 'vitest';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/operations.ts';

/** After `/api/v1`. */
const known = [
  'POST /auth/login',
  'GET /auth/logout/{}/{}',
  'GET /device/getalldevices/authorization',
  'GET /device/getdevice/{}/authorization',
  'GET /device/getdeviceactivations/{}/authorization',
  'POST /device/createdevice/authorization',
  'POST /device/updatedevice/authorization',
  'GET /eventdata/devicemetadata/{}/{}/{}/authorization',
  'GET /eventdata/latest/{}/authorization',
  'GET /eventdata/fleetmetadata/{}/{}/authorization',
  'GET /eventdata/fleetdata/{}/{}/{}/authorization',
  'GET /events/activations/summary/authorization',
  'POST /geozone/creategeozone/authorization',
  'POST /geozone/updategeozone/authorization',
  'GET /geozone/getgeozone/{}/authorization',
  'POST /command/feature/authorization',
  'GET /command/send/{}/{}/authorization',
  'GET /notificationqueue/getMessages/authorization',
  'POST /notificationqueue/setMessages/authorization',
  'GET /metrics/getMonitorMetaData/authorization',
] as const;

/** After the base address: the forms without `/api/v1`, and the path that the interface writes without a slash. */
const elsewhere = [
  'POST /auth/login',
  'GET /auth/logout/{}/{}',
  'POST /device/createdevice/authorization',
  'GET /device/getalldevices/authorization',
  'GET /device/getdevice/{}/authorization',
  'GET /device/getdeviceactivations/{}/authorization',
  'GET /eventdata/fleetmetadata/{}/{}/authorization',
  'GET /events/activations/summary/authorization',
  'GET /api/v1notification/unregister-push/{}/authorization',
  'GET /api/v1notification/register-push/{}/authorization',
] as const;

/** After `/api/v1`: known by name only. */
const byName = {
  TOKEN: 'POST /auth/token/authorization',
  firmware: 'POST /command/firmware/authorization',
  'feature engineCutoff': 'POST /command/feature/enginecutoff/authorization',
  createUser: 'POST /user/createuser/authorization',
  updateUser: 'POST /user/updateuser/authorization',
  deleteUser: 'POST /user/deleteuser/authorization',
  deletedevice: 'POST /device/deletedevice/authorization',
  deleteGeozone: 'POST /geozone/deletegeozone/authorization',
  updateAddress: 'POST /device/updateaddress/authorization',
  routeUpdate: 'POST /route/routeupdate/authorization',
  'updatedevice cargoAccess': 'POST /device/updatedevice/cargoaccess/authorization',
  'updatedevice engineCutoff': 'POST /device/updatedevice/enginecutoff/authorization',
  groups: 'GET /group/groups/authorization',
  getGeozones: 'GET /geozone/getgeozones/authorization',
  'getGeozones range': 'GET /geozone/getgeozones/{}/{}/authorization',
  diagnosticall: 'GET /diagnostic/diagnosticall/authorization',
  diagnostic: 'GET /diagnostic/diagnostic/{}/authorization',
  getUser: 'GET /user/getuser/{}/authorization',
  checkaccount: 'GET /auth/checkaccount/{}/authorization',
  getAllPushNotifications: 'GET /notification/getallpushnotifications/authorization',
  lostVehicles: 'GET /device/lostvehicles/authorization',
  'lostVehicles by minutes': 'GET /device/lostvehicles/{}/authorization',
  setViewed: 'GET /notification/setviewed/{}/authorization',
  activations: 'GET /events/activations/authorization',
  getRoutes: 'GET /route/getroutes/authorization',
  'register-push': 'GET /notification/register-push/{}/authorization',
  passengerCount: 'GET /device/passengercount/{}/authorization',
  createActivation: 'GET /events/createactivation/{}/{}/authorization',
  getNotifications: 'GET /notificationqueue/getnotifications/authorization',
  'getGeozone by point': 'GET /geozone/getgeozone/{}/{}/authorization',
  'getGeozone by device': 'GET /geozone/getgeozone/device/{}/authorization',
  deviceMetadata: 'GET /eventdata/devicemetadata/{}/authorization',
  deviceData: 'GET /eventdata/devicedata/{}/authorization',
  'deviceData range': 'GET /eventdata/devicedata/{}/{}/{}/authorization',
  'fleetData range': 'GET /eventdata/fleetdata/{}/{}/authorization',
  'getDeviceActivations range': 'GET /device/getdeviceactivations/{}/{}/{}/authorization',
  getDeviceNotifications: 'GET /notificationqueue/getdevicenotifications/{}/authorization',
} as const;

const served = new Set(
  operations.flatMap((operation) =>
    servedPaths(operation).map((path) => `${operation.method} ${path.replace(/\{\w+\}/g, '{}')}`),
  ),
);
const versioned = (line: string): string => line.replace(' ', ' /api/v1');

describe('the interface', () => {
  it.each(known)('has %s', (line) => {
    expect(served).toContain(versioned(line));
  });

  it.each(elsewhere)('has %s without the version, or as it is written', (line) => {
    expect(served).toContain(line);
  });

  it.each(Object.entries(byName))('has the operation %s', (_name, line) => {
    expect(served).toContain(versioned(line));
  });

  it('has every further path of ours below a group of its own style, ending as all do', () => {
    for (const line of served) {
      if (/ (\/api\/v1)?\/auth\/log(in|out)/.test(line)) continue;
      // Without a token there is nothing to authorize.
      if (/^GET (\/api\/v1)?\/statuscodes$/.test(line)) continue;
      expect(line).toMatch(/ \/(api\/v1\/?)?[A-Za-z-]+(\/[A-Za-z-]+|\/\{\})*\/authorization$/);
    }
  });
});
