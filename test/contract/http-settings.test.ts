// Settings of vehicles over HTTP: who may choose them, what is refused and where, that no change is lost, and that
// people can see where a vehicle's configuration is.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordCompiled, recordFailed, recordHeld } from '../../broker/store/devices/device-configs.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { settingsSchema, standardSettings } from '../../src/core/settings/settings.ts';
import { type HttpService, seedFleet } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
const tokens = new Map<string, string>();

beforeAll(async () => {
  service = await startHttpService();
  await seedFleet(service);
  for (const user of ['admin', 'dispatch', 'guest']) tokens.set(user, await service.login('acme', user));
  tokens.set('rival', await service.login('rival', 'admin'));
});
afterAll(() => service.close());

const get = (path: string, user = 'admin', headers = {}) =>
  service.call({ path: `/api/v1/settings/${path}/authorization`, token: tokens.get(user) ?? '', headers });
const post = (path: string, body: unknown, user = 'admin') =>
  service.call({
    method: 'POST',
    path: `/api/v1/settings/${path}/authorization`,
    token: tokens.get(user) ?? '',
    body,
  });
const deviceNo = async (): Promise<number> =>
  (await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-17' }))?.deviceNo ?? 0;

describe('settings', () => {
  it('of the account and of a device are set by administrators and readable by every user of the account', async () => {
    const saved = await post('saveaccount', { settings: { reporting: { movingS: 30, stoppedS: 900 } } });
    expect(saved.status, saved.text).toBe(200);
    expect(saved.json()).toMatchObject({ revision: 1, settings: { reporting: { movingS: 30 } } });
    const own = await post('savedevice', { deviceID: 'truck-17', settings: { reporting: { movingS: 5 } } });
    expect(own.json()).toMatchObject({
      revision: 1,
      sentSettings: { reporting: { movingS: 5, stoppedS: 900 } },
    });
    for (const user of ['dispatch', 'guest']) {
      expect((await get('account', user)).json()).toMatchObject({ settings: { reporting: { movingS: 30 } } });
      expect((await get('device/truck-17', user)).json()).toMatchObject({
        settings: { reporting: { movingS: 5 } },
      });
      expect((await post('saveaccount', { settings: {} }, user)).status).toBe(422);
      expect((await post('savedevice', { deviceID: 'truck-17', settings: {} }, user)).status).toBe(422);
    }
    expect((await get('account', 'rival')).json()).toMatchObject({ settings: {}, revision: 0 });
    expect((await get('device/truck-17', 'rival')).status).toBe(404);
    expect((await post('savedevice', { deviceID: 'truck-17', settings: {} }, 'rival')).status).toBe(404);
  });

  it('stand in the audit log with what they were and are', async () => {
    const rows = await service.rows(
      "SELECT action, detail FROM audit WHERE action LIKE 'settings.%' ORDER BY audit_no",
    );
    expect(rows.map(({ action }) => action)).toEqual(['settings.saveaccount', 'settings.savedevice']);
    expect(JSON.parse(String(rows[1]?.['detail']))).toEqual({
      changes: { 'reporting.movingS': { from: null, to: 5 } },
    });
  });

  it('replace what was chosen before; what is left out is not chosen any more', async () => {
    await post('savedevice', { deviceID: 'truck-17', settings: { reporting: { turnDeg: 40 } } });
    expect((await get('device/truck-17')).json()).toMatchObject({
      settings: { reporting: { turnDeg: 40 } },
      sentSettings: { reporting: { movingS: 30, turnDeg: 40 } },
    });
  });

  it('are saved only if they are as they were read, where the caller sends the revision', async () => {
    const { revision } = (await get('account')).json() as { revision: number };
    const first = await post('saveaccount', { settings: { reporting: { movingS: 31 } }, revision });
    expect(first.json()).toMatchObject({ revision: revision + 1 });
    const second = await post('saveaccount', { settings: { reporting: { movingS: 32 } }, revision });
    expect(second.json()['error']).toMatchObject({ code: 'conflict', errors: [{ pointer: '/revision' }] });
    expect((await get('account')).json()).toMatchObject({ settings: { reporting: { movingS: 31 } } });
    const many = await Promise.all(
      [33, 34, 35, 36].map((movingS) =>
        post('saveaccount', { settings: { reporting: { movingS } }, revision: revision + 1 }),
      ),
    );
    expect(many.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 422, 422, 422]);
    const device = (await get('device/truck-17')).json() as { revision: number };
    const stale = await post('savedevice', {
      deviceID: 'truck-17',
      settings: {},
      revision: device.revision + 1,
    });
    expect(stale.json()['error']).toMatchObject({ code: 'conflict' });
  });

  it('carry an ETag, by which an unchanged answer is not sent again', async () => {
    const { headers } = await get('account');
    expect(headers['etag']).toBeDefined();
    expect((await get('account', 'admin', { 'if-none-match': String(headers['etag']) })).status).toBe(304);
  });

  it('out of their limits are refused with a pointer to the member, in every table', async () => {
    for (const [table, { properties }] of Object.entries(settingsSchema.properties)) {
      for (const [member, schema] of Object.entries(properties as Record<string, { maximum?: number }>)) {
        if (schema.maximum === undefined) continue;
        const settings = { [table]: { [member]: schema.maximum + 1 } };
        const answer = await post('saveaccount', { settings });
        expect(answer.json()['error'], answer.text).toMatchObject({
          code: 'invalid_content',
          errors: [{ pointer: `/settings/${table}/${member}` }],
        });
      }
    }
    const unknown = await post('saveaccount', { settings: { protection: { cutMode: 'always' } } });
    expect(unknown.json()['error']).toMatchObject({
      code: 'invalid_content',
      errors: [{ pointer: '/settings/protection' }],
    });
    expect((await post('saveaccount', { settings: standardSettings })).status).toBe(200);
  });
});

describe('the configuration of a vehicle', () => {
  const shown = async () => (await get('device/truck-17')).json()['configuration'] as Record<string, unknown>;

  it('is pending, current, failed or faulty as the vehicle and the service report', async () => {
    const no = await deviceNo();
    expect(await shown()).toMatchObject({ state: 'pending', heldVersion: 0 });
    const revisions = { accountRevision: 1000, deviceRevision: 1000 };
    await service.write(recordCompiled({ deviceNo: no, version: 3, sha256: 'a'.repeat(64), ...revisions }));
    expect(await shown()).toMatchObject({ state: 'pending', wantedVersion: 3 });
    await service.write(
      recordFailed(no, { version: 3, reason: 'it failed', retry: false, agentVersion: '1', atMs: 5000 }),
    );
    expect(await shown()).toMatchObject({
      state: 'failed',
      failedVersion: 3,
      failedOn: 5,
      reason: 'it failed',
    });
    await service.write(recordHeld(no, { version: 3, sha256: 'a'.repeat(64) }, 9000));
    expect(await shown()).toMatchObject({ state: 'current', heldVersion: 3, heldOn: 9, reason: '' });
    await service.write(recordHeld(no, { version: 3, sha256: 'b'.repeat(64) }, 9000));
    expect(await shown()).toMatchObject({ state: 'failed' });
  });

  it('is made anew when a geozone of the account changes', async () => {
    const revisionOf = async () =>
      (await service.rows("SELECT revision FROM account_configs WHERE account_id = 'acme'"))[0]?.['revision'];
    const before = Number(await revisionOf());
    const token = tokens.get('admin') ?? '';
    const body = { geozoneID: 'new-zone' };
    for (const verb of ['creategeozone', 'deletegeozone'])
      await service.call({ method: 'POST', path: `/api/v1/geozone/${verb}/authorization`, token, body });
    expect(Number(await revisionOf())).toBe(before + 2);
  });
});
