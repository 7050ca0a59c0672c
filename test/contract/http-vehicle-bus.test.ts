// Values of the vehicle bus over HTTP: the newest of each with its source and time, in each answer that shows the present of a device, and for
// callers who may see the device only.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { busValueNames, busValues } from '../../src/core/events/bus-values.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
let token = '';
let rival = '';
let guest = '';
const nowS = Math.floor(Date.now() / 1000);

const get = async (path: string, by = token) => {
  const answer = await service.call({ path: `/api/v1${path}/authorization`, token: by });
  return { status: answer.status, ...answer.json() } as Record<string, unknown>;
};
const busOf = async (deviceID: string): Promise<unknown> =>
  (await get(`/device/getdevice/${deviceID}`))['vehicleBus'];

let seq = 0;
const report = (deviceID: string, agoS: number, attributes: Readonly<Record<string, unknown>>) => {
  seq += 1;
  const event = { seq, timestamp: (nowS - agoS) * 1000, statusCode: 61472, latitude: 43.6, longitude: -79.3 };
  return service.events('acme', deviceID, { boot: 'b', events: [{ ...event, attributes }] });
};

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2', 'van-1']) await service.device('acme', deviceID);
  await service.user('acme', 'guest', 'viewer');
  await service.sql(`UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'guest'`);
  [token, rival, guest] = await Promise.all([
    service.login('acme', 'admin'),
    service.login('rival', 'admin'),
    service.login('acme', 'guest'),
  ]);
  await report('truck-1', 120, { busSpeed: 54.2, rpm: 1180, vin: 'WDB9634031L738256', dtcs: '110/15 639/9' });
  await report('truck-1', 60, { rpm: 620, parkingBrake: true });
  await report('van-1', 60, { reason: 'none', voltage: 13.8 });
});

afterAll(() => service.close());

const expected = {
  busSpeed: { value: 54.2, unit: 'km/h', source: 'J1939 SPN 84', timestamp: nowS - 120 },
  rpm: { value: 620, unit: '1/min', source: 'J1939 SPN 190', timestamp: nowS - 60 },
  parkingBrake: { value: true, unit: '', source: 'J1939 SPN 70', timestamp: nowS - 60 },
  vin: { value: 'WDB9634031L738256', unit: '', source: 'J1939 VI', timestamp: nowS - 120 },
  dtcs: { value: '110/15 639/9', unit: '', source: 'J1939 DM1', timestamp: nowS - 120 },
};

describe('the vehicle bus', () => {
  it('is in the device, the list, the latest record and the metadata: the newest of each value, with its time', async () => {
    expect(await busOf('truck-1')).toEqual(expected);
    const list = (await get('/device/getalldevices'))['devices'] as readonly Record<string, unknown>[];
    expect(list.map((one) => one['vehicleBus'])).toEqual([expected, null, null]);
    expect((await get('/eventdata/latest/truck-1'))['vehicleBus']).toEqual(expected);
    expect((await get('/eventdata/devicemetadata/truck-1/0/0'))['vehicleBus']).toEqual(expected);
  });

  it('is null for a vehicle that reported none', async () => {
    expect(await busOf('van-1')).toBeNull();
    expect(await get('/eventdata/latest/van-1')).toMatchObject({ status: 200, vehicleBus: null });
    expect(await get('/eventdata/latest/truck-2')).toMatchObject({ status: 200, vehicleBus: null });
  });

  it('shows nothing to another account, nor to a user whose groups do not have the device', async () => {
    for (const by of [rival, guest])
      for (const path of [
        '/device/getdevice/truck-1',
        '/eventdata/latest/truck-1',
        '/eventdata/devicemetadata/truck-1/0/0',
      ])
        expect(await get(path, by)).toMatchObject({ status: 404 });
    for (const by of [rival, guest]) expect((await get('/device/getalldevices', by))['devices']).toEqual([]);
  });

  it('keeps a newer value when an older one comes late, and takes codes that have ended', async () => {
    await report('truck-2', 30, { rpm: 900, dtcs: '' });
    await report('truck-2', 300, { rpm: 1500, dtcs: '110/15', coolant: 84 });
    expect(await busOf('truck-2')).toMatchObject({
      rpm: { value: 900, timestamp: nowS - 30 },
      dtcs: { value: '', timestamp: nowS - 30 },
      coolant: { value: 84, unit: '°C', timestamp: nowS - 300 },
    });
  });

  it('leaves out what a unit sends of another kind than the value is', async () => {
    await report('truck-2', 20, {
      rpm: 'fast',
      busSpeed: true,
      parkingBrake: 1,
      vin: 'x'.repeat(201),
      driverCard1: 'a\u0000b',
      fuelRate: null,
      __proto__: 1,
    });
    const bus = (await busOf('truck-2')) as Record<string, unknown>;
    expect(bus['rpm']).toMatchObject({ value: 900 });
    expect(Object.keys(bus)).toEqual(['rpm', 'coolant', 'dtcs']);
  });

  it('has every value that a unit can report', async () => {
    const example = { number: 1, state: false, text: '' } as const;
    const all = Object.fromEntries(busValueNames.map((name) => [name, example[busValues[name].kind]]));
    const texts = { vin: 'WDB9634031L738256', driverCard2: 'D  DF000123456780' };
    await report('van-1', 10, { ...all, ...texts });
    expect(Object.keys((await busOf('van-1')) as object)).toEqual(busValueNames);
  });
});
