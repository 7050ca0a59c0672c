// Trackers of other makers: refused until the account adds them, stored once, never cut; and a phone with its key.
import { area, type Bench, mustHide, mustRefuse, mustShow } from './bench.ts';

const uniqueId = 'operations-tracker';
const phone = 'operations-phone';
const wasStored = { stored: 1, repeated: 0 };

const positionOf = (bench: Bench) => {
  const at = new Date(bench.nowS() * 1000).toISOString();
  const place = { latitude: 43.7, longitude: -79.4, speed: 27, course: 90, altitude: 0, valid: true };
  return {
    id: 0,
    deviceId: 7,
    protocol: 'gt06',
    serverTime: at,
    deviceTime: at,
    fixTime: at,
    ...place,
    attributes: {},
  };
};

const keyOf = async (bench: Bench): Promise<string> => {
  const { path } = await bench.call<{ path: string }>('createPhoneKey', {
    body: { deviceID: phone },
  });
  bench.changed('device.issuekey', phone);
  const key = path.split('/').at(-2) ?? '';
  bench.secret(key);
  return key;
};

export const trackers = area(
  (bench) => ({ body: { position: positionOf(bench), device: { id: 7, uniqueId, name: 'Van' } }, key: '' }),
  [
    {
      operation: 'setTrackerSettings',
      async run(bench, { body }) {
        await mustRefuse(bench, 'forwardTraccar', { as: 'operator', body, code: 'not_found' });
        await bench.call('setTrackerSettings', { body: { addsTrackers: true } });
        bench.changed('trackers.update', bench.accountID);
        const shown = await bench.read<object>('/tracker/settings');
        mustShow(bench, 'settings of trackers', { shown, wanted: { addsTrackers: true } });
      },
    },
    {
      operation: 'forwardTraccar',
      async run(bench, { body }) {
        const first = await bench.call<object>('forwardTraccar', { as: 'operator', body });
        bench.changed('device.create', uniqueId, 'operator');
        mustShow(bench, 'a forwarded position', { shown: first, wanted: wasStored });
        const again = await bench.call<object>('forwardTraccar', { as: 'operator', body });
        mustShow(bench, 'its repeat', { shown: again, wanted: { stored: 0, repeated: 1 } });
        const shown = await bench.read<object>(`/device/getdevice/${uniqueId}`);
        mustShow(bench, 'a foreign device', { shown, wanted: { isForeign: true, deviceLastValidSpeed: 50 } });
        const order = { deviceID: uniqueId, feature: 'enginecutoff', state: '1' };
        await mustRefuse(bench, 'commandFeature', { body: order, code: 'unsupported' });
        await mustHide(bench, '/tracker/gettracker/operations-none', { code: 'not_found' });
      },
    },
    {
      operation: 'createPhoneKey',
      async run(bench, state) {
        state.key = await keyOf(bench);
        bench.changed('device.create', phone);
        await mustRefuse(bench, 'createPhoneKey', {
          as: 'operator',
          body: { deviceID: phone },
          code: 'forbidden',
        });
      },
    },
    {
      operation: 'phonePosition',
      async run(bench, { key }) {
        const shown = await bench.call<object>('phonePosition', { as: null, params: { key } });
        mustShow(bench, 'a sign of life of a phone', { shown, wanted: wasStored });
        await mustRefuse(bench, 'phonePosition', { as: null, params: { key: 'x' }, code: 'not_found' });
      },
    },
    {
      operation: 'phoneLocation',
      async run(bench, { key }) {
        const coords = {
          latitude: 43.7,
          longitude: -79.4,
          speed: 10,
          heading: 90,
          accuracy: 5,
          altitude: 76,
        };
        const body = { location: { timestamp: new Date(bench.nowS() * 1000).toISOString(), coords } };
        const shown = await bench.call<object>('phoneLocation', { as: null, params: { key }, body });
        mustShow(bench, 'a location of a phone', { shown, wanted: wasStored });
        const next = await keyOf(bench);
        bench.look(next !== key, 'a new key is the one before');
        await mustRefuse(bench, 'phoneLocation', { as: null, params: { key }, body, code: 'not_found' });
      },
    },
  ],
);
