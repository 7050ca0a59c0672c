// Deletion of many devices, each by the rules of a single one: a vehicle that is cut off, or has an unfinished command, stays.
import { Type } from 'typebox';
import { bulkMembers, bulkText, countItems, eachDevice, itemMembers, manyDevices } from '../base/bulk.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';
import { removeDevice } from './device-settings.ts';

const devicesMost = 100;

const deleteDevices = operation({
  id: 'deleteDevices',
  method: 'POST',
  path: '/device/deletedevices/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Delete many devices and their history',
  description: `Our addition: \`deleteDevice\` for up to ${devicesMost} devices, **with all of their stored events**. A device whose engine is cut off, or that has a command
which has not come to an end, is not deleted (422 \`conflict\` in its item).

${bulkText}`,
  params: Type.Object({}),
  body: Type.Object({ deviceIDs: manyDevices(devicesMost) }, { additionalProperties: false }),
  result: Type.Object({
    ...envelope,
    ...bulkMembers,
    items: Type.Array(Type.Object(itemMembers), { description: 'In the order of the request' }),
  }),
  errors: ['not_found'],
  effects: true,
  examples: {
    body: { deviceIDs: ['van-9'] },
    result: { done: 1, failed: 0, items: [{ deviceID: 'van-9', status: 200, error: null }] },
  },
  async run({ body, caller, source }, services) {
    const outcomes = await eachDevice(services, body.deviceIDs, {
      atOnce: 10,
      run: async (deviceID) =>
        removeDevice(services, { caller, source }, await needDevice(services, caller, deviceID)),
    });
    const items = outcomes.map(({ deviceID, status, error }) => ({ deviceID, status, error }));
    return { ...ok, ...countItems(items), items };
  },
});

export const deviceDeletionOperations = [deleteDevices] as const;
