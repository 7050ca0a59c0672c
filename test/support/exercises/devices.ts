// Devices: created, changed, imported, enrolled, deleted.
import {
  area,
  type Bench,
  createOwnDevice,
  type DeviceConnection,
  type Enrolled,
  mustHide,
  mustRefuse,
  mustShow,
  truckIDs,
} from './bench.ts';
import { ownedID } from './owner.ts';

const deviceID = 'operations-device';
const imported = ['operations-import-1', 'operations-import-2'] as const;
const importedWithSecret = 'operations-import-3';

const readDevice = (bench: Bench, id: string = deviceID): Promise<object> =>
  bench.read<object>(`/device/getdevice/${id}`);

export const devices = area(
  () => null,
  [
    {
      operation: 'createDevice',
      async run(bench) {
        const members = { deviceDescription: 'Box truck', deviceDriver: 'A. Tremblay' };
        await bench.call('createDevice', { as: 'operator', body: { deviceID, ...members } });
        bench.changed('device.create', deviceID, 'operator');
        mustShow(bench, 'a created device', { shown: await readDevice(bench), wanted: members });
        const other = { deviceID: 'operations-none' };
        await mustRefuse(bench, 'createDevice', { as: 'viewer', body: other, code: 'forbidden' });
        await mustHide(bench, '/device/getdevice/operations-none', { code: 'not_found' });
      },
    },
    {
      operation: 'updateDevice',
      async run(bench) {
        const body = { deviceid: deviceID, devicedescription: 'Box truck, repaired' };
        await bench.call('updateDevice', { as: 'operator', body });
        bench.changed('device.update', deviceID, 'operator');
        const wanted = { deviceDescription: body.devicedescription, deviceDriver: 'A. Tremblay' };
        mustShow(bench, 'a changed device', { shown: await readDevice(bench), wanted });
        const none = { deviceid: 'operations-none' };
        await mustRefuse(bench, 'updateDevice', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'deviceSettings',
      async run(bench) {
        const members = { deviceDisplayName: 'Truck 17', pinColor: '1f77b4', equipmentTypeDesc: 'Reefer' };
        await bench.call('deviceSettings', { as: 'operator', body: { deviceID, ...members } });
        bench.changed('device.update', deviceID, 'operator');
        mustShow(bench, 'settings of a device', { shown: await readDevice(bench), wanted: members });
        await mustRefuse(bench, 'deviceSettings', { as: 'viewer', body: { deviceID }, code: 'forbidden' });
      },
    },
    {
      operation: 'importDevices',
      async run(bench) {
        const lines = imported.map((id) => `${id},from a file`);
        const csv = ['deviceID,deviceDescription', ...lines].join('\n');
        const answer = await bench.call<object>('importDevices', { as: 'operator', body: { csv } });
        bench.changed('device.import', '', 'operator');
        mustShow(bench, 'an import', { shown: answer, wanted: { created: imported.length, failed: 0 } });
        for (const id of imported) {
          const shown = await readDevice(bench, id);
          mustShow(bench, 'an imported device', { shown, wanted: { deviceDescription: 'from a file' } });
        }
        // One line at fault: nothing is written.
        const half = 'deviceID\noperations-half\n!\n';
        await mustRefuse(bench, 'importDevices', { body: { csv: half }, code: 'invalid_content' });
        await mustHide(bench, '/device/getdevice/operations-half', { code: 'not_found' });
      },
    },
    {
      operation: 'importDevicesWithSecrets',
      async run(bench) {
        const csv = `deviceID\n${importedWithSecret}\n`;
        const { lines } = await bench.call<{ lines: readonly Enrolled[] }>('importDevicesWithSecrets', {
          body: { csv },
        });
        bench.changed('device.issuesecret', importedWithSecret);
        const secret = lines[0]?.secret ?? '';
        bench.secret(secret);
        const connection = await bench.connect({ deviceID: importedWithSecret, secret });
        connection.close();
        bench.look(connection.isIn, 'an imported device was not let in with its secret');
        const ofOperator = { as: 'operator', body: { csv }, code: 'forbidden' } as const;
        await mustRefuse(bench, 'importDevicesWithSecrets', ofOperator);
      },
    },
    {
      operation: 'issueDeviceSecret',
      async run(bench) {
        const { secret } = await bench.call<Enrolled>('issueDeviceSecret', { body: { deviceID } });
        bench.secret(secret);
        bench.changed('device.issuesecret', deviceID);
        const connection: DeviceConnection = await bench.connect({ deviceID, secret });
        connection.close();
        bench.look(connection.isIn, 'a device was not let in with the secret that was issued');
        const ofOperator = { as: 'operator', body: { deviceID }, code: 'forbidden' } as const;
        await mustRefuse(bench, 'issueDeviceSecret', ofOperator);
      },
    },
    {
      operation: 'deleteDevice',
      async run(bench) {
        const id = await createOwnDevice(bench, 'operations-gone');
        await mustRefuse(bench, 'deleteDevice', {
          as: 'operator',
          body: { deviceID: id },
          code: 'forbidden',
        });
        await bench.call('deleteDevice', { body: { deviceID: id } });
        bench.changed('device.delete', id);
        await mustHide(bench, `/device/getdevice/${id}`, { code: 'not_found' });
        await mustRefuse(bench, 'deleteDevice', { body: { deviceID: id }, code: 'not_found' });
      },
    },
  ],
);

interface Devices {
  readonly devices: readonly { readonly deviceID: string }[];
}

interface Orders {
  readonly commands: readonly { readonly commandID: string; readonly hasEnded: boolean }[];
}

/** Orders that wait keep a device from being deleted, as its engine may be cut off: they are withdrawn. */
async function withdrawOrders(bench: Bench): Promise<void> {
  for (const id of [...truckIDs, ownedID]) {
    await mustRefuse(bench, 'deleteDevice', { body: { deviceID: id }, code: 'conflict' });
    const { commands } = await bench.read<Orders>(`/command/list/${id}`);
    for (const { commandID } of commands.filter(({ hasEnded }) => !hasEnded)) {
      await bench.call('cancelCommand', { body: { commandID } });
      bench.changed('command.cancel', id);
    }
  }
}

/** The last area: all devices of the exercise are deleted in one call. */
export const deletion = area(
  () => null,
  [
    {
      operation: 'deleteDevices',
      async run(bench) {
        await withdrawOrders(bench);
        const { devices: all } = await bench.read<Devices>('/device/getalldevices');
        const deviceIDs = all.map((one) => one.deviceID);
        const body = { deviceIDs: [...deviceIDs, 'operations-none'] };
        await mustRefuse(bench, 'deleteDevices', { as: 'operator', body, code: 'forbidden' });
        const answer = await bench.call<object>('deleteDevices', { body });
        for (const id of deviceIDs) bench.changed('device.delete', id);
        mustShow(bench, 'a deletion', { shown: answer, wanted: { done: deviceIDs.length, failed: 1 } });
        const left = await bench.read<Devices>('/device/getalldevices');
        bench.look(left.devices.length === 0, `${left.devices.length} deleted devices are listed`);
        await mustRefuse(bench, 'deleteDevices', { body: { deviceIDs }, code: 'not_found' });
      },
    },
  ],
);
