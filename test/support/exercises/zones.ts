// Geozones and routes: made, changed, deleted.
import { area, type Bench, createOwnDevice, mustHide, mustRefuse, mustShow } from './bench.ts';

const geozoneID = 'operations-zone';
const routeID = 'operations-route';
const circle = { geozoneType: 0, geozoneRadius: 500, geozonePoint1: '43.640000,-79.380000' };

interface Routes {
  readonly routes: readonly { readonly routeID: string }[];
}

const readRoute = async (bench: Bench): Promise<object | undefined> =>
  (await bench.read<Routes>('/route/getroutes')).routes.find((one) => one.routeID === routeID);

export const zones = area<string>(
  (bench) => createOwnDevice(bench, 'operations-routed'),
  [
    {
      operation: 'createGeozone',
      async run(bench) {
        const body = { geozoneID, geozoneDisplayName: 'Depot', ...circle };
        await bench.call('createGeozone', { as: 'operator', body });
        bench.changed('geozone.create', geozoneID, 'operator');
        const shown = await bench.read<object>(`/geozone/getgeozone/${geozoneID}`);
        mustShow(bench, 'a created geozone', {
          shown,
          wanted: { geozoneDisplayName: 'Depot', geozoneRadius: 500 },
        });
        await mustRefuse(bench, 'createGeozone', { as: 'viewer', body, code: 'forbidden' });
      },
    },
    {
      operation: 'updateGeozone',
      async run(bench) {
        const body = { geozoneID, geozoneDisplayName: 'Depot east', geozoneRadius: 750 };
        await bench.call('updateGeozone', { as: 'operator', body });
        bench.changed('geozone.update', geozoneID, 'operator');
        const shown = await bench.read<object>(`/geozone/getgeozone/${geozoneID}`);
        mustShow(bench, 'a changed geozone', { shown, wanted: body });
        await mustRefuse(bench, 'updateGeozone', { as: 'viewer', body, code: 'forbidden' });
      },
    },
    {
      operation: 'deleteGeozone',
      async run(bench) {
        await bench.call('deleteGeozone', { as: 'operator', body: { geozoneID } });
        bench.changed('geozone.delete', geozoneID, 'operator');
        await mustHide(bench, `/geozone/getgeozone/${geozoneID}`, { code: 'not_found' });
        await mustRefuse(bench, 'deleteGeozone', { body: { geozoneID }, code: 'not_found' });
      },
    },
    {
      operation: 'routeUpdate',
      async run(bench, deviceID) {
        const way = {
          routePoint1lat: '43.65500',
          routePoint1lng: '-79.34500',
          routePoint2lat: '43.64000',
          routePoint2lng: '-79.33000',
        };
        const members = { routeDisplayName: 'To the harbour', deviceIDs: [deviceID] };
        await bench.call('routeUpdate', { as: 'operator', body: { routeID, ...members, ...way } });
        mustShow(bench, 'a created route', {
          shown: await readRoute(bench),
          wanted: { ...members, routePoint2: '43.64000,-79.33000' },
        });
        await bench.call('routeUpdate', { as: 'operator', body: { routeID, routeRadius: 300 } });
        bench.changed('route.update', routeID, 'operator');
        const wanted = { ...members, routeRadius: 300 };
        mustShow(bench, 'a changed route', { shown: await readRoute(bench), wanted });
        const none = { routeID, deviceIDs: ['operations-none'] };
        await mustRefuse(bench, 'routeUpdate', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'deleteRoute',
      async run(bench) {
        await bench.call('deleteRoute', { as: 'operator', body: { routeID } });
        bench.changed('route.delete', routeID, 'operator');
        bench.look((await readRoute(bench)) === undefined, 'a deleted route is listed');
        await mustRefuse(bench, 'deleteRoute', { body: { routeID }, code: 'not_found' });
      },
    },
  ],
);
