// One device: read, create, change. Every read takes the caller's scope, so another account's device is not found, nor one
// outside of the caller's groups.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { lockAccount } from '../../store/accounts/accounts.ts';
import { isCreatable, isThere } from '../../store/devices/device-limit.ts';
import { findVisibleDevice, insertDevice, updateDevice } from '../../store/devices/devices.ts';
import { exampleDevice } from '../answers/examples.ts';
import { mayUpdateDevices, viewDevice } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { type Caller } from '../base/caller.ts';
import { operation } from '../base/operation.ts';
import { readyJson } from '../base/ready-json.ts';
import { device } from '../base/shapes.ts';
import { needDevice, unknownDevice } from '../base/visible-device.ts';
import { readDevice } from './device-details.ts';
import {
  changedMembers,
  type DeviceChange,
  descriptionText,
  fullAccount,
  generatedFields,
  given,
  newDeviceID,
  shortText,
  uniqueTextOf,
  uniqueValue,
  writeUnique,
} from './device-members.ts';

const getDevice = operation({
  id: 'getDevice',
  method: 'GET',
  path: '/device/getdevice/{deviceID}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Devices',
  summary: 'One device',
  description: `The device with its last position, sensors, feature states and pending commands. While a command is
under way \`hasPendingCommands\` is the text \`true\` and the feature's entry in \`state\` carries \`pendingState\`,
\`pendingReason\` (why the vehicle waits, as a sentence), \`verdict\` (the same as rules, each with what the vehicle saw and what it
needs; null when the vehicle sent none), \`commandState\` and \`commandID\`; a cut that waits for a second user shows there
too, with \`commandState\` \`approval\` and no \`commandID\`. So does what the vehicle is about to do on its own: an order of one of
its geozones or of a service code, and a relay that is to be set again, as it is not as it was confirmed. \`state\` itself changes only when the
vehicle has read its relay back. \`witnesses\` says which sensors can prove that the vehicle stands.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: device,
  errors: ['not_found'],
  effects: false,
  examples: { result: exampleDevice },
  async run({ params, caller }, services) {
    const json = await services.fleet.device(caller, params.deviceID, mayUpdateDevices(caller));
    if (json === null) throw unknownDevice(params.deviceID);
    return readyJson(() => [json]);
  },
});

const spelling = `The members may be sent flat or under a root member \`data\` (an object, or an array of one), their names in
any letter case: \`deviceID\`, \`deviceid\`. Other members are refused (422), and so is a value of another type. \`uniqueid\` is a
JSON integer, or the decimal text of \`deviceUnique\` as answers give it; empty text takes it away.`;

/** @throws AppError `forbidden` when the device is not visible to the caller, who may not create devices. */
async function needRightToCreate(services: ApiServices, caller: Caller, deviceID: string): Promise<void> {
  if (caller.scope.limitedTo === null) return;
  if ((await findVisibleDevice(services.db, caller.scope, deviceID)) !== null) return;
  throw new AppError('forbidden', 'You see the devices of your groups only, and so cannot create one', {
    hint: 'Ask an administrator of the account to create it and to put it into one of your groups.',
  });
}

async function createOrChange(services: ApiServices, actor: Actor, change: DeviceChange): Promise<void> {
  const { key, fields } = change;
  await needRightToCreate(services, actor.caller, key.deviceID);
  const atMs = Math.round(services.clock.utcMs());
  const audited = { object: key.deviceID, detail: changedMembers(fields) };
  const created = { ...generatedFields(key.deviceID), ...fields };
  // One transaction: a new device is complete, one that is there gets the given fields only. The log is asked first,
  // while it is still known which of the two it is.
  const results = await writeUnique(services, change, [
    lockAccount(key.accountID),
    auditEntry(services, actor, { ...audited, action: 'device.create', onlyIf: isCreatable(key) }),
    auditEntry(services, actor, { ...audited, action: 'device.update', onlyIf: isThere(key) }),
    ...insertDevice(key, { createdS: Math.floor(atMs / 1000), fields: created }),
    updateDevice(key, fields),
  ]);
  if (results.at(-1)?.changes !== 1) throw await fullAccount(services, key.accountID);
}

const createDevice = operation({
  id: 'createDevice',
  method: 'POST',
  path: '/device/createdevice/authorization',
  forms: ['versioned', 'plain'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Devices',
  summary: 'Create a device, or change it',
  description: `Creates the device with the sensors \`cargoaccess\`, \`fuel\`, \`enginecutoff\`, \`ignition\`, \`panic\`, all in
state \`0\`, and a description generated from its id when none is given. When the account has a device of that id
already, the given members are changed as by updatedevice: create and update are both served here. A \`uniqueid\` that
another device of the account holds answers 422 \`conflict\`, and so does a new device beyond the number that the account
may have. Who sees the devices of some groups only may change these and cannot create others (422 \`forbidden\`).

${spelling}

The unit's own MQTT secret is issued by \`/device/issuesecret/authorization\`, or at the broker with
\`fleetward-broker device secret <accountID> <deviceID>\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: newDeviceID,
      uniqueid: Type.Optional(uniqueValue),
      sms: Type.Optional(shortText('Telephone number of the unit')),
      deviceDescription: Type.Optional(descriptionText),
      deviceDriver: Type.Optional(shortText('Driver')),
    },
    { additionalProperties: false },
  ),
  result: device,
  errors: ['conflict', 'forbidden'],
  effects: true,
  examples: {
    body: { deviceID: 'truck-17', uniqueid: 356938035643809, deviceDescription: 'Freightliner, Toronto' },
    result: exampleDevice,
  },
  async run({ body, caller, source }, services) {
    const key = { accountID: caller.accountID, deviceID: body.deviceID };
    const fields = given({
      uniqueID: uniqueTextOf(body.uniqueid),
      sms: body.sms,
      description: body.deviceDescription,
      driver: body.deviceDriver,
    });
    await createOrChange(services, { caller, source }, { key, fields });
    return viewDevice(await readDevice(services, caller, key.deviceID), caller);
  },
});

const changeDevice = operation({
  id: 'updateDevice',
  method: 'POST',
  path: '/device/updatedevice/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Devices',
  summary: 'Change a device',
  description: `Changes the given members of an existing device and leaves the others. An unknown device answers 404.

${spelling}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceid: Type.String({ description: 'The device' }),
      uniqueid: Type.Optional(uniqueValue),
      sms: Type.Optional(shortText('Telephone number of the unit')),
      devicedescription: Type.Optional(descriptionText),
      devicedriver: Type.Optional(shortText('Driver')),
    },
    { additionalProperties: false },
  ),
  result: device,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { deviceid: 'truck-17', devicedriver: 'A. Tremblay' }, result: exampleDevice },
  async run({ body, caller, source }, services) {
    const key = { accountID: caller.accountID, deviceID: body.deviceid };
    await needDevice(services, caller, body.deviceid);
    const fields = given({
      uniqueID: uniqueTextOf(body.uniqueid),
      sms: body.sms,
      description: body.devicedescription,
      driver: body.devicedriver,
    });
    const audited = {
      action: 'device.update',
      object: key.deviceID,
      detail: changedMembers(fields),
      onlyIf: isThere(key),
    };
    await writeUnique(services, { key, fields }, [
      auditEntry(services, { caller, source }, audited),
      updateDevice(key, fields),
    ]);
    return viewDevice(await readDevice(services, caller, key.deviceID), caller);
  },
});

export const deviceOperations = [getDevice, createDevice, changeDevice] as const;
