// Groups of devices: members of a group see its devices. Only administrators change groups; a user limited to groups sees
// its own.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { idPatternSource } from '../../../src/core/ids.ts';
import {
  deleteGroup,
  devicesOfGroup,
  findGroup,
  type GroupRow,
  groupDevicesMost,
  groupsMost,
  listGroups,
  putGroup,
  unknownDevices,
} from '../../store/accounts/groups.ts';
import type { ApiServices } from '../base/api-services.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { lineText, needKnown } from '../base/input-members.ts';
import { operation, type Pages } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { everyDevice } from './user-view.ts';

const group = Type.Object({
  groupID: Type.String({ description: 'Identifier within the account' }),
  groupDisplayName: Type.String({ description: 'Name for people' }),
  groupDescription: Type.String({ description: 'Description; may be empty' }),
  devices: Type.Array(Type.String(), { description: 'Ids of its devices that the caller may see' }),
});
type GroupView = Static<typeof group>;

const exampleGroup: GroupView = {
  groupID: 'north',
  groupDisplayName: 'North yard',
  groupDescription: '',
  devices: ['truck-17'],
};

async function viewGroup({ db }: ApiServices, caller: Caller, row: GroupRow): Promise<GroupView> {
  return {
    groupID: row.groupID,
    groupDisplayName: row.displayName,
    groupDescription: row.description,
    devices: [...(await devicesOfGroup(db, caller.scope, row.groupID))],
  };
}

const groupsPerRead = 100;

/** One group a page: each may hold thousands of devices. */
async function* allGroups(services: ApiServices, caller: Caller): Pages<GroupView> {
  let after = '';
  for (;;) {
    const rows = await listGroups(services.db, caller.scope, { after, limit: groupsPerRead });
    for (const row of rows) yield [await viewGroup(services, caller, row)];
    const last = rows.at(-1);
    if (last === undefined || rows.length < groupsPerRead) return;
    after = last.groupID;
  }
}

const groups = operation({
  id: 'groups',
  method: 'GET',
  path: '/group/groups/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: false },
  tag: 'Groups',
  summary: 'Groups of devices',
  description: `Every group of the account in the order of group ids, with the ids of its devices. A user who is limited to groups
sees only their own groups.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({ ...envelope, groups: Type.Array(group) }),
  errors: [],
  effects: false,
  examples: { result: { groups: [exampleGroup] } },
  async run({ caller }, services) {
    return { ...ok, groups: allGroups(services, caller) };
  },
});

const updateGroup = operation({
  id: 'updateGroup',
  method: 'POST',
  path: '/group/updategroup/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Groups',
  summary: 'Create a group, or change it',
  description: `Creates the group, or changes the given members of the one that is there. \`devices\` replaces the whole list (at most
${groupDevicesMost}); without it the devices stay as they are. A device that does not exist answers 422 with a pointer to
it, and nothing is changed. Who is in a group stands at the user (\`groups\` of createUser and updateUser). An account has at
most ${groupsMost} groups. \`${everyDevice}\` is no group id: it stands for every device.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      groupID: Type.String({ pattern: idPatternSource, description: '1 to 64 of `A-Z a-z 0-9 _ -`' }),
      groupDisplayName: Type.Optional(lineText(128, 'Name for people; the id when absent')),
      groupDescription: Type.Optional(lineText(500, 'Description')),
      devices: Type.Optional(
        Type.Array(Type.String({ maxLength: 64 }), {
          maxItems: groupDevicesMost,
          uniqueItems: true,
          description: 'Ids of all devices of the group',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({ ...group.properties, ...envelope }),
  errors: ['conflict'],
  effects: true,
  examples: {
    body: { groupID: 'north', groupDisplayName: 'North yard', devices: ['truck-17'] },
    result: exampleGroup,
  },
  async run({ body, caller, source }, services) {
    const { groupID, groupDisplayName: displayName, groupDescription: description, devices } = body;
    const { accountID } = caller;
    if (groupID === everyDevice) {
      throw new AppError(
        'invalid_content',
        `/groupID must not be ${everyDevice}: it stands for every device`,
        {
          details: [{ pointer: '/groupID', message: 'stands for every device' }],
        },
      );
    }
    if (devices !== undefined) {
      const unknown = await unknownDevices(services.db, accountID, devices);
      needKnown(devices, { unknown, member: 'devices', what: 'device' });
    }
    const detail = { displayName, description, deviceCount: devices?.length };
    const audited = { action: 'group.update', object: groupID, detail };
    const results = await services.db.write(
      putGroup({ accountID, groupID, displayName, description, devices }, (onlyIf) =>
        auditEntry(services, { caller, source }, { ...audited, onlyIf }),
      ),
    );
    const row = await findGroup(services.db, { accountID, groupID });
    if (results[2]?.changes !== 1 || row === null) {
      throw new AppError('conflict', `The account has ${groupsMost} groups already`, {
        hint: 'Delete a group that is no longer used.',
      });
    }
    return { ...(await viewGroup(services, caller, row)), ...ok };
  },
});

const removeGroup = operation({
  id: 'deleteGroup',
  method: 'POST',
  path: '/group/deletegroup/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Groups',
  summary: 'Delete a group',
  description: `Deletes the group; its devices stay. Its users stay limited: who was in no other group sees no device
afterwards, never more than before. An unknown group answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    { groupID: Type.String({ minLength: 1, maxLength: 64, description: 'The group' }) },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { groupID: 'old-yard' } },
  async run({ body, caller, source }, services) {
    const { groupID } = body;
    const results = await services.db.write(
      deleteGroup({ accountID: caller.accountID, groupID }, (onlyIf) =>
        auditEntry(services, { caller, source }, { action: 'group.delete', object: groupID, onlyIf }),
      ),
    );
    if (results.at(-1)?.changes !== 1) {
      throw new AppError('not_found', `There is no group ${JSON.stringify(groupID)}`);
    }
    return ok;
  },
});

export const groupOperations = [groups, updateGroup, removeGroup] as const;
