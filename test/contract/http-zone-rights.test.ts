// Rights over geozones and routes follow the devices that they concern: a geozone every device of the account, a route those
// that it is planned for. A user who is limited to groups neither changes nor sees what concerns none of the visible devices.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
const tokens = new Map<string, string>();

beforeAll(async () => {
  service = await startHttpService();
  await service.account('acme');
  for (const userID of ['dispatch', 'north', 'nobody']) await service.user('acme', userID, 'operator');
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id IN ('north', 'nobody')");
  await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')");
  await service.sql(`INSERT INTO group_devices (device_no, group_no)
    SELECT device_no, group_no FROM devices JOIN device_groups ON group_id = 'north' WHERE device_id = 'truck-1'`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
    SELECT 'acme', 'north', group_no FROM device_groups WHERE group_id = 'north'`);
  for (const userID of ['admin', 'dispatch', 'north', 'nobody']) {
    tokens.set(userID, await service.login('acme', userID));
  }
});

afterAll(() => service.close());

const get = (who: string, path: string) =>
  service.call({ path: `/api/v1${path}/authorization`, token: tokens.get(who) ?? '' });
const post = (who: string, path: string, body: unknown) =>
  service.call({
    method: 'POST',
    path: `/api/v1${path}/authorization`,
    token: tokens.get(who) ?? '',
    body,
  });
const seen = (answer: Awaited<ReturnType<typeof post>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const forbidden = { status: 422, code: 'forbidden' };
const unknown = { status: 404, code: 'not_found' };

describe('a geozone', () => {
  const zone = {
    geozoneID: 'yard',
    geozoneType: 0,
    geozoneRadius: 30_000,
    geozonePoint1: '43.65000,-79.35000',
  };

  it.each(['north', 'nobody'])('is neither made, changed nor deleted by %s', async (who) => {
    const cutting = { ...zone, geozoneID: `by-${who}`, geozoneArrivalEngineOff: true };
    expect(seen(await post(who, '/geozone/creategeozone', cutting))).toEqual(forbidden);
    expect((await post('dispatch', '/geozone/creategeozone', zone)).status).toBe(200);
    for (const path of ['/geozone/creategeozone', '/geozone/updategeozone', '/geozone/deletegeozone']) {
      expect(seen(await post(who, path, { geozoneID: 'yard' })), path).toEqual(forbidden);
    }
    expect(await service.rows('SELECT geozone_id FROM geozones')).toEqual([{ geozone_id: 'yard' }]);
    expect(
      await service.rows(`SELECT action FROM audit WHERE actor = '${who}' AND action <> 'login'`),
    ).toEqual([]);
  });

  it('is not changed by a user who was limited to groups after the token check', async () => {
    const late = service.call({
      method: 'POST',
      path: '/api/v1/geozone/deletegeozone/authorization',
      token: tokens.get('dispatch') ?? '',
      body: { geozoneID: 'yard' },
    });
    // Both are under way at once: whichever is first, a zone is never deleted by a user who is limited by then.
    const [answer] = await Promise.all([
      late,
      service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'dispatch'"),
    ]);
    const left = await service.rows(
      "SELECT actor FROM audit WHERE action = 'geozone.delete' ORDER BY audit_no",
    );
    expect(left).toHaveLength(answer.status === 200 ? 1 : 0);
    expect(seen(await post('dispatch', '/geozone/creategeozone', { ...zone, geozoneID: 'z' }))).toEqual(
      forbidden,
    );
    await service.sql("UPDATE users SET sees_all = 1 WHERE user_id = 'dispatch'");
    expect((await post('dispatch', '/geozone/creategeozone', zone)).status).toBe(200);
  });

  it('is visible to users who see any device, as it concerns every device, and to no others', async () => {
    const paths = [
      '/geozone/getgeozones',
      '/geozone/getgeozones/0/10',
      '/geozone/getgeozone/43.65/-79.35',
      '/device/getalldevices',
    ];
    for (const path of paths) {
      const zonesFor = async (who: string) =>
        Object.keys((await get(who, path)).json()['geozones'] as object);
      expect(await zonesFor('dispatch'), path).toEqual(['yard']);
      expect(await zonesFor('north'), path).toEqual(['yard']);
      expect(await zonesFor('nobody'), path).toEqual([]);
    }
    expect((await get('nobody', '/geozone/getgeozones/0/10')).json()).toMatchObject({ count: 0, total: 0 });
    expect(seen(await get('nobody', '/geozone/getgeozone/yard'))).toEqual(unknown);
    const shown = await get('north', '/geozone/getgeozone/yard');
    expect(shown.json()).toMatchObject({ geozoneID: 'yard', hasUpdateGeozonePrivileges: false });
    expect((await get('north', '/geozone/getgeozones')).json()).toMatchObject({
      hasUpdateGeozonePrivileges: false,
    });
    expect((await get('admin', '/geozone/getgeozone/yard')).json()).toMatchObject({
      hasUpdateGeozonePrivileges: true,
    });
  });
});

describe('a route', () => {
  const way = {
    routePoint1lat: '1',
    routePoint1lng: '1',
    routePoint2lat: '2',
    routePoint2lng: '2',
  };
  const save = (who: string, body: object) => post(who, '/route/routeupdate', body);
  const routesOf = async (who: string) =>
    ((await get(who, '/route/getroutes')).json()['routes'] as { routeID: string }[]).map(
      ({ routeID }) => routeID,
    );

  it('is created, changed and deleted by users who see all of its devices', async () => {
    const made = await save('north', { routeID: 'own', ...way, deviceIDs: ['truck-1'] });
    expect(made.json()).toMatchObject({ deviceIDs: ['truck-1'], hasUpdateRoutePrivileges: true });
    expect((await save('north', { routeID: 'own', routeRadius: 300 })).status).toBe(200);
    expect((await post('north', '/route/deleteroute', { routeID: 'own' })).status).toBe(200);
  });

  it('without a device is one of the whole account', async () => {
    for (const body of [way, { ...way, deviceIDs: [] }]) {
      expect(seen(await save('north', { routeID: 'free', ...body }))).toEqual(forbidden);
      expect(seen(await save('nobody', { routeID: 'free', ...body }))).toEqual(forbidden);
    }
    expect((await save('dispatch', { routeID: 'free', ...way })).status).toBe(200);
    expect(seen(await post('north', '/route/deleteroute', { routeID: 'free' }))).toEqual(unknown);
    expect((await save('north', { routeID: 'mine', ...way, deviceIDs: ['truck-1'] })).status).toBe(200);
    expect(seen(await save('north', { routeID: 'mine', deviceIDs: [] }))).toEqual(forbidden);
    expect(await routesOf('dispatch')).toEqual(['free', 'mine']);
    expect(await routesOf('north')).toEqual(['mine']);
    expect(await routesOf('nobody')).toEqual([]);
  });

  it('with a device outside of the caller’s groups is not changed or deleted', async () => {
    const both = { routeID: 'shared', ...way, deviceIDs: ['truck-1', 'truck-2'] };
    expect((await save('dispatch', both)).status).toBe(200);
    for (const change of [{ routeRadius: 50 }, { deviceIDs: ['truck-1'] }, { deviceIDs: [] }]) {
      expect(seen(await save('north', { routeID: 'shared', ...change }))).toEqual(forbidden);
    }
    expect(seen(await post('north', '/route/deleteroute', { routeID: 'shared' }))).toEqual(forbidden);
    expect(seen(await post('nobody', '/route/deleteroute', { routeID: 'shared' }))).toEqual(unknown);
    const routes = (await get('north', '/route/getroutes')).json()['routes'] as object[];
    expect(routes).toMatchObject([
      { routeID: 'mine', hasUpdateRoutePrivileges: true },
      { routeID: 'shared', deviceIDs: ['truck-1'], hasUpdateRoutePrivileges: false },
    ]);
    expect((await get('dispatch', '/route/getroutes')).text).toContain('"truck-2"');
  });

  it('of others keeps its id, and the conflict reveals nothing of it', async () => {
    expect((await save('dispatch', { routeID: 'theirs', ...way, deviceIDs: ['truck-2'] })).status).toBe(200);
    const taken = await save('north', { routeID: 'theirs', ...way, deviceIDs: ['truck-1'] });
    expect(seen(taken)).toEqual({ status: 422, code: 'conflict' });
    expect(taken.text).not.toContain('truck-2');
    expect((await get('dispatch', '/route/getroutes')).json()['routes']).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ routeID: 'theirs', deviceIDs: ['truck-2'] })]),
    );
  });
});
