// Devices that join and leave a group, without sending its whole list: two administrators at once do not undo each other's change.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import {
  findGroup,
  type GroupDevice,
  groupDevicesMost,
  groupStateOf,
  joinGroup,
  leaveGroup,
} from '../../store/accounts/groups.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { bulkMembers, bulkText, countItems, eachDevice, itemMembers } from '../base/bulk.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';

const devicesMost = 200;

const devices = (description: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: devicesMost,
      uniqueItems: true,
      description: `${description}, each once, at most ${devicesMost}`,
    }),
  );

const item = Type.Object({
  ...itemMembers,
  isChanged: Type.Boolean({ description: 'False: it was so already, or it failed' }),
});

/** True when the group changed. @throws AppError `not_found`, `conflict`. */
async function changeOne(
  services: ApiServices,
  actor: Actor,
  { isJoining, ...member }: GroupDevice & { readonly isJoining: boolean },
): Promise<boolean> {
  await needDevice(services, actor.caller, member.deviceID);
  const action = isJoining ? 'group.adddevice' : 'group.removedevice';
  const audited = { action, object: member.deviceID, detail: { groupID: member.groupID } };
  const change = isJoining ? joinGroup : leaveGroup;
  const results = await services.db.write(
    change(member, (onlyIf) => auditEntry(services, actor, { ...audited, onlyIf })),
  );
  if (results.at(-1)?.changes === 1) return true;
  const state = await groupStateOf(services.db, member);
  if (state === null) throw new AppError('not_found', 'The group or the device was deleted meanwhile');
  if (!isJoining || state.isMember) return false;
  throw new AppError('conflict', `The group has ${groupDevicesMost} devices already`, {
    hint: 'Make a second group; a user may be in both.',
  });
}

interface GroupChange {
  readonly groupID: string;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** The devices of both lists. @throws AppError `invalid_content`, `not_found`. */
async function needChange(services: ApiServices, accountID: string, change: GroupChange) {
  const { groupID, add = [], remove = [] } = change;
  const twice = remove.findIndex((deviceID) => add.includes(deviceID));
  const fault =
    twice >= 0
      ? { pointer: `/remove/${twice}`, message: 'is in `add` too' }
      : add.length + remove.length === 0
        ? { pointer: '/add', message: 'must name a device, or `remove` must' }
        : null;
  if (fault !== null) {
    throw new AppError('invalid_content', `${fault.pointer} ${fault.message}`, { details: [fault] });
  }
  if ((await findGroup(services.db, { accountID, groupID })) === null) {
    throw new AppError('not_found', `There is no group ${JSON.stringify(groupID)}`);
  }
  return { deviceIDs: [...add, ...remove], joining: new Set(add) };
}

const changeGroupDevices = operation({
  id: 'changeGroupDevices',
  method: 'POST',
  path: '/group/changedevices/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Groups',
  summary: 'Add devices to a group, or take them out',
  description: `Our addition: up to ${devicesMost} devices join the group and as many leave it; its other devices stay as they are. A device that is in the group
already, or was not in it, has status 200 and \`isChanged\` false.

${bulkText}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      groupID: Type.String({ pattern: idPatternSource, description: 'The group' }),
      add: devices('Devices that join'),
      remove: devices('Devices that leave'),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    ...bulkMembers,
    items: Type.Array(item, { description: '`add`, then `remove`, in the order of the request' }),
  }),
  errors: ['not_found', 'invalid_content'],
  effects: true,
  examples: {
    body: { groupID: 'north', add: ['truck-17'] },
    result: {
      done: 1,
      failed: 0,
      items: [{ deviceID: 'truck-17', status: 200, error: null, isChanged: true }],
    },
  },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    const { deviceIDs, joining } = await needChange(services, accountID, body);
    const outcomes = await eachDevice(services, deviceIDs, {
      atOnce: 20,
      run: (deviceID) => {
        const member = { accountID, groupID: body.groupID, deviceID, isJoining: joining.has(deviceID) };
        return changeOne(services, { caller, source }, member);
      },
    });
    const items = outcomes.map(({ value, ...outcome }) => ({ ...outcome, isChanged: value === true }));
    return { ...ok, ...countItems(items), items };
  },
});

export const groupDeviceOperations = [changeGroupDevices] as const;
