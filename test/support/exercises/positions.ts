// What concerns a place or a payload of a device: its address, links to it, and what could not be read. The devices are connected.
import { statusCodes } from '../../../src/core/events/status-codes.ts';
import {
  area,
  type Bench,
  connectOwnDevice,
  type DeviceConnection,
  mustHide,
  mustRefuse,
  mustShow,
} from './bench.ts';

const deviceID = 'operations-placed';
const place = { latitude: 43.70211, longitude: -79.40123, speed: 61, heading: 93 };
const shareS = 3600;

interface Share {
  readonly shareID: string;
  readonly token: string;
  readonly revokedOn: number;
}

interface State {
  readonly connection: DeviceConnection;
  share: Pick<Share, 'shareID' | 'token'>;
}

const findShare = async (bench: Bench, shareID: string): Promise<Share | undefined> =>
  (await bench.read<{ shares: readonly Share[] }>('/share/shares')).shares.find(
    (one) => one.shareID === shareID,
  );

/** The device reports a position. */
async function begin(bench: Bench): Promise<State> {
  const connection = await connectOwnDevice(bench, deviceID);
  const timestamp = bench.nowS() * 1000;
  const event = { timestamp, statusCode: statusCodes.LOCATION.code, ...place };
  await connection.publish('events', JSON.stringify(event));
  return { connection, share: { shareID: '', token: '' } };
}

export const positions = area<State>(
  begin,
  [
    {
      operation: 'updateAddress',
      async run(bench) {
        const address = '200 Queens Quay East, Toronto';
        await bench.call('updateAddress', { as: 'operator', body: { deviceID, timestamp: 0, address } });
        bench.changed('device.address', deviceID, 'operator');
        const shown = await bench.read<object>(`/device/getdevice/${deviceID}`);
        mustShow(bench, 'a device with an address', { shown, wanted: { deviceLastValidAddress: address } });
        const early = { deviceID, timestamp: 1, address };
        await mustRefuse(bench, 'updateAddress', { body: early, code: 'not_found' });
      },
    },
    {
      operation: 'createShare',
      async run(bench, state) {
        const body = { deviceID, expires: bench.nowS() + shareS, title: 'Your delivery' };
        await mustRefuse(bench, 'createShare', { as: 'viewer', body, code: 'forbidden' });
        state.share = await bench.call<Share>('createShare', { as: 'operator', body });
        const { shareID, token } = state.share;
        bench.secret(token);
        bench.changed('share.create', deviceID, 'operator');
        const listed = await findShare(bench, shareID);
        mustShow(bench, 'a share', { shown: listed, wanted: { deviceID, title: body.title, revokedOn: 0 } });
        const view = await bench.read<{ position: object }>('/share/view', { token });
        mustShow(bench, 'what a share shows', { shown: view.position, wanted: place });
        bench.look(!JSON.stringify(view).includes(deviceID), 'a share names its device');
        await mustHide(bench, '/device/getalldevices', { as: { token }, code: 'forbidden' });
      },
    },
    {
      operation: 'streamShare',
      async run(bench, { share: { token } }) {
        const text = await bench.readBegin('streamShare', { token });
        const isPlace = text.includes('event: position') && text.includes(String(place.latitude));
        bench.look(isPlace, `the stream of a share begins with ${JSON.stringify(text.slice(0, 100))}`);
      },
    },
    {
      operation: 'revokeShare',
      async run(bench, { share: { shareID, token } }) {
        await mustRefuse(bench, 'revokeShare', { as: 'viewer', body: { shareID }, code: 'forbidden' });
        await bench.call('revokeShare', { as: 'operator', body: { shareID } });
        bench.changed('share.revoke', shareID, 'operator');
        const { revokedOn = 0 } = (await findShare(bench, shareID)) ?? {};
        bench.look(revokedOn > 0, 'a revoked share is listed as open');
        await mustHide(bench, '/share/view', { as: { token }, code: 'unauthorized' });
        const none = { shareID: 'none' };
        await mustRefuse(bench, 'revokeShare', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'retryQuarantined',
      async run(bench, { connection }) {
        // Of two events one has no status code: it alone is kept, and cannot be read today either.
        const timestamp = bench.nowS() * 1000;
        const events = [
          { seq: 1, timestamp, statusCode: statusCodes.LOCATION.code, ...place },
          { seq: 2, timestamp },
        ];
        await connection.publish('events', JSON.stringify({ boot: 'retried', events }));
        const body = { deviceID };
        await mustRefuse(bench, 'retryQuarantined', { as: 'operator', body, code: 'forbidden' });
        const isKept = await bench.eventually(
          async () => (await bench.call<{ left: number }>('retryQuarantined', { body })).left === 1,
        );
        bench.look(isKept, 'an event that cannot be read is not kept');
        const { taken } = await bench.call<{ taken: number }>('retryQuarantined', { body });
        bench.look(taken === 0, 'an event that cannot be read was taken in');
        await bench.call('dropQuarantined', { body });
        bench.changed('quarantine.drop', deviceID);
      },
    },
    {
      operation: 'dropQuarantined',
      async run(bench, { connection }) {
        await connection.publish('events', '{"not":"an event"');
        const path = `/device/quarantine?deviceID=${deviceID}`;
        const listed = async () =>
          (await bench.read<{ payloads: readonly { quarantineID: string }[] }>(path)).payloads;
        const isKept = await bench.eventually(async () => (await listed()).length === 1);
        bench.look(isKept, 'a payload that cannot be read is not listed');
        const [{ quarantineID } = { quarantineID: '0' }] = await listed();
        const body = { deviceID, quarantineID };
        await mustRefuse(bench, 'dropQuarantined', { as: 'operator', body, code: 'forbidden' });
        await bench.call('dropQuarantined', { body });
        bench.changed('quarantine.drop', deviceID);
        bench.look((await listed()).length === 0, 'a dropped payload is listed');
        await mustHide(bench, `/device/quarantine/${quarantineID}`, { code: 'not_found' });
        await mustRefuse(bench, 'dropQuarantined', { body, code: 'not_found' });
      },
    },
  ],
  ({ connection }) => connection.close(),
);
