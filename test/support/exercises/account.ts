// The account: its members, its settings, its groups.
import { area, createOwnDevice, mustRefuse, mustShow } from './bench.ts';

const groupID = 'operations-group';

interface Group {
  readonly groupID: string;
  readonly devices: readonly string[];
}

export const account = area<string>(
  (bench) => createOwnDevice(bench, 'operations-grouped'),
  [
    {
      operation: 'updateAccount',
      async run(bench) {
        const { accountID } = bench;
        const change = { accountDisplayName: 'Operations Haulage', timeZone: 'America/Toronto' };
        await bench.call('updateAccount', { body: { accountID, ...change } });
        bench.changed('account.update', accountID);
        const shown = await bench.read<object>('/auth/account');
        mustShow(bench, 'the changed account', { shown, wanted: change });
        await mustRefuse(bench, 'updateAccount', { body: { accountID: 'simulation' }, code: 'not_found' });
        const ofOperator = { as: 'operator', body: { accountID }, code: 'forbidden' } as const;
        await mustRefuse(bench, 'updateAccount', ofOperator);
      },
    },
    {
      operation: 'saveAccountSettings',
      async run(bench) {
        const settings = { zones: { dwellS: 7 } };
        await bench.call('saveAccountSettings', { body: { settings } });
        bench.changed('settings.saveaccount', bench.accountID);
        const shown = await bench.read<object>('/settings/account');
        mustShow(bench, 'settings of the account', { shown, wanted: { settings } });
        const late = { settings: {}, revision: 999 };
        await mustRefuse(bench, 'saveAccountSettings', { body: late, code: 'conflict' });
      },
    },
    {
      operation: 'saveDeviceSettings',
      async run(bench, deviceID) {
        const settings = { reporting: { movingS: 11 } };
        await bench.call('saveDeviceSettings', { body: { deviceID, settings } });
        bench.changed('settings.savedevice', deviceID);
        const shown = await bench.read<object>(`/settings/device/${deviceID}`);
        mustShow(bench, 'settings of a device', { shown, wanted: { settings } });
        const none = { deviceID: 'operations-none', settings };
        await mustRefuse(bench, 'saveDeviceSettings', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'updateGroup',
      async run(bench, deviceID) {
        const group = { groupID, groupDisplayName: 'North yard', devices: [deviceID] };
        await bench.call('updateGroup', { body: group });
        bench.changed('group.update', groupID);
        const { groups } = await bench.read<{ groups: readonly Group[] }>('/group/groups');
        const shown = groups.find((one) => one.groupID === groupID);
        mustShow(bench, 'a created group', { shown, wanted: group });
        const none = { groupID, devices: ['operations-none'] };
        await mustRefuse(bench, 'updateGroup', { body: none, code: 'invalid_content' });
      },
    },
    {
      operation: 'changeGroupDevices',
      async run(bench, deviceID) {
        await bench.call('changeGroupDevices', { body: { groupID, remove: [deviceID] } });
        bench.changed('group.removedevice', deviceID);
        const { groups } = await bench.read<{ groups: readonly Group[] }>('/group/groups');
        const shown = groups.find((one) => one.groupID === groupID);
        mustShow(bench, 'a group that a device left', { shown, wanted: { devices: [] } });
        const none = { groupID: 'operations-none', add: [deviceID] };
        await mustRefuse(bench, 'changeGroupDevices', { body: none, code: 'not_found' });
      },
    },
    {
      operation: 'deleteGroup',
      async run(bench) {
        await bench.call('deleteGroup', { body: { groupID } });
        bench.changed('group.delete', groupID);
        const { groups } = await bench.read<{ groups: readonly Group[] }>('/group/groups');
        bench.look(!groups.some((one) => one.groupID === groupID), 'a deleted group is listed');
        await mustRefuse(bench, 'deleteGroup', { body: { groupID }, code: 'not_found' });
      },
    },
  ],
);
