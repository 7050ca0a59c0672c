// Devices: read, create, change. Every read takes the caller's account, so another account's device is not found.
import { Type } from 'typebox';
import { AppError } from '../../src/core/errors.ts';
import { idPatternSource } from '../../src/core/ids.ts';
import type { Statement } from '../../src/ports.ts';
import { isDataFault } from '../group-commit.ts';
import { type CommandRow, unfinishedCommands, unfinishedOf } from '../store/commands.ts';
import {
  type DeviceFields,
  type DeviceKey,
  type DeviceRow,
  deviceStates,
  findVisibleDevice,
  insertDevice,
  listDevices,
  listStates,
  updateDevice,
} from '../store/devices.ts';
import { holderOfUniqueID } from '../store/unique-ids.ts';
import { exampleDevice } from './examples.ts';
import { type ApiServices, type Caller, operation, type Pages } from './operation.ts';
import { type DeviceView, device, envelope, ok } from './shapes.ts';
import { type DeviceParts, mayUpdateDevices, viewDevice } from './views.ts';

/** @throws AppError `not_found`, in the same words for a device of another account or outside of the caller's groups. */
export async function needDevice(
  services: ApiServices,
  caller: Caller,
  deviceID: string,
): Promise<DeviceRow> {
  const row = await findVisibleDevice(services.db, caller.scope, deviceID);
  if (row === null) throw new AppError('not_found', `there is no device ${JSON.stringify(deviceID)}`);
  return row;
}

/** A device with its states and pending commands. */
export async function readParts(
  services: ApiServices,
  caller: Caller,
  deviceID: string,
): Promise<DeviceParts> {
  const row = await needDevice(services, caller, deviceID);
  const [states, pending] = await Promise.all([
    deviceStates(services.db, row.deviceNo),
    unfinishedOf(services.db, row.deviceNo),
  ]);
  return { row, states, pending };
}

/** Devices read at once: a few milliseconds of work, then others have their turn. */
const devicesPerPage = 200;

async function viewPage(
  services: ApiServices,
  caller: Caller,
  rows: readonly DeviceRow[],
): Promise<readonly DeviceView[]> {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = { from: first.deviceID, to: last.deviceID };
  const [states, commands] = await Promise.all([
    listStates(services.db, caller.scope, span),
    unfinishedCommands(services.db, caller.scope, span),
  ]);
  const pending = new Map<number, CommandRow[]>();
  for (const command of commands) {
    pending.set(command.deviceNo, [...(pending.get(command.deviceNo) ?? []), command]);
  }
  return rows.map((row) =>
    viewDevice(
      { row, states: states.get(row.deviceNo) ?? new Map(), pending: pending.get(row.deviceNo) ?? [] },
      caller,
    ),
  );
}

async function* allDevices(services: ApiServices, caller: Caller): Pages<DeviceView> {
  let after = '';
  for (;;) {
    const rows = await listDevices(services.db, caller.scope, { after, limit: devicesPerPage });
    if (rows.length > 0) yield await viewPage(services, caller, rows);
    const last = rows.at(-1);
    if (last === undefined || rows.length < devicesPerPage) return;
    after = last.deviceID;
  }
}

const getAllDevices = operation({
  id: 'getAllDevices',
  method: 'GET',
  path: '/device/getalldevices/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Devices',
  summary: 'All devices of the account',
  description: `Every device of the account in the order of device ids, each with its last position, sensors, feature
states and pending commands. \`geozones\` is an object keyed by geozone id; it is empty in this version.`,
  params: Type.Object({}),
  body: null,
  result: Type.Object({
    ...envelope,
    geozones: Type.Record(Type.String(), Type.Unknown(), { description: 'Geozone id -> geozone; empty' }),
    devices: Type.Array(device, { description: 'In the order of device ids' }),
    hasUpdateDevicePrivileges: Type.Boolean({ description: 'Whether the caller may update devices' }),
  }),
  errors: [],
  effects: false,
  examples: {
    params: {},
    body: null,
    result: { ...ok, geozones: {}, devices: [exampleDevice], hasUpdateDevicePrivileges: true },
  },
  async run({ caller }, services) {
    return {
      ...ok,
      geozones: {},
      devices: allDevices(services, caller),
      hasUpdateDevicePrivileges: mayUpdateDevices(caller),
    };
  },
});

const getDevice = operation({
  id: 'getDevice',
  method: 'GET',
  path: '/device/getdevice/{deviceID}/authorization',
  forms: ['versioned', 'plain'],
  access: 'viewer',
  tag: 'Devices',
  summary: 'One device',
  description: `The device with its last position, sensors, feature states and pending commands. While a command is
under way \`hasPendingCommands\` is the text \`true\` and the feature's entry in \`state\` carries \`pendingState\`,
\`pendingReason\` (why the vehicle waits), \`commandState\` and \`commandID\`. \`state\` itself changes only when the
vehicle has read its relay back.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: device,
  errors: ['not_found'],
  effects: false,
  examples: { params: { deviceID: 'truck-17' }, body: null, result: exampleDevice },
  async run({ params, caller }, services) {
    return viewDevice(await readParts(services, caller, params.deviceID), caller);
  },
});

const newDeviceID = Type.String({ pattern: idPatternSource, description: '1 to 64 of `A-Z a-z 0-9 _ -`' });

// Largest integer that JSON carries exactly everywhere; an IMEI has 15 digits.
const uniqueNumber = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Unique hardware identifier (IMEI or the like), unique within the account',
});
const shortText = (description: string) => Type.String({ maxLength: 128, description });

interface Wish {
  readonly key: DeviceKey;
  readonly fields: DeviceFields;
}

async function checkUnique(services: ApiServices, { key, fields }: Wish): Promise<void> {
  const holder = await holderOfUniqueID(services.db, {
    accountID: key.accountID,
    uniqueID: fields.uniqueID ?? '',
  });
  if (holder === null || holder === key.deviceID) return;
  throw new AppError('conflict', `uniqueid ${fields.uniqueID} belongs to device ${holder}`, {
    details: [{ pointer: '/uniqueid', message: `belongs to device ${holder}` }],
    hint: 'Give that device another uniqueid first.',
  });
}

/** Writes what names a uniqueid. Of two calls at once that claim one number the later is told so, as if it had come later. */
async function writeUnique(services: ApiServices, wish: Wish, batch: readonly Statement[]): Promise<void> {
  await checkUnique(services, wish);
  try {
    await services.db.write(batch);
  } catch (thrown) {
    if (isDataFault(thrown)) await checkUnique(services, wish);
    throw thrown;
  }
}

/** Only the members that were sent. */
const given = (fields: { readonly [Name in keyof DeviceFields]: string | undefined }): DeviceFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const spelling = `The members may be sent flat or under a root member \`data\` (an object, or an array of one). Both
documented letter cases are understood: \`deviceID\`/\`deviceid\`, \`uniqueID\`/\`uniqueid\`,
\`deviceDescription\`/\`devicedescription\`, \`deviceDriver\`/\`devicedriver\`. Other members are refused (422), and so is
a value of another type: \`uniqueid\` is a JSON integer, not text.`;

const createDevice = operation({
  id: 'createDevice',
  method: 'POST',
  path: '/device/createdevice/authorization',
  forms: ['versioned', 'plain'],
  access: 'operator',
  tag: 'Devices',
  summary: 'Create a device, or change it',
  description: `Creates the device with the sensors \`cargoaccess\`, \`fuel\`, \`enginecutoff\`, \`ignition\`, \`panic\`, all in
state \`0\`, and a description generated from its id when none is given. When the account has a device of that id
already, the given members are changed as by updatedevice: create and update are both served here. A \`uniqueid\` that
another device of the account holds answers 422 \`conflict\`.

${spelling}

The unit's own MQTT secret is issued at the broker: \`fleetward-broker device secret <accountID> <deviceID>\`.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: newDeviceID,
      uniqueid: Type.Optional(uniqueNumber),
      sms: Type.Optional(shortText('Telephone number of the unit')),
      deviceDescription: Type.Optional(shortText('Description')),
      deviceDriver: Type.Optional(shortText('Driver')),
    },
    { additionalProperties: false },
  ),
  result: device,
  errors: ['conflict'],
  effects: true,
  examples: {
    params: {},
    body: { deviceID: 'truck-17', uniqueid: 356938035643809, deviceDescription: 'Freightliner, Toronto' },
    result: exampleDevice,
  },
  async run({ body, caller }, services) {
    const key = { accountID: caller.accountID, deviceID: body.deviceID };
    const fields = given({
      uniqueID: body.uniqueid?.toString(),
      sms: body.sms,
      description: body.deviceDescription,
      driver: body.deviceDriver,
    });
    const generated = { description: `Device ${body.deviceID}`, displayName: body.deviceID };
    const createdS = Math.floor(services.clock.utcMs() / 1000);
    // One transaction: a new device is complete, one that is there gets the given fields only.
    await writeUnique(services, { key, fields }, [
      ...insertDevice(key, { createdS, fields: { ...generated, ...fields } }),
      updateDevice(key, fields),
    ]);
    return viewDevice(await readParts(services, caller, key.deviceID), caller);
  },
});

const changeDevice = operation({
  id: 'updateDevice',
  method: 'POST',
  path: '/device/updatedevice/authorization',
  forms: ['versioned'],
  access: 'operator',
  tag: 'Devices',
  summary: 'Change a device',
  description: `Changes the given members of an existing device and leaves the others. An unknown device answers 404.

${spelling}`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceid: Type.String({ description: 'The device' }),
      uniqueid: Type.Optional(uniqueNumber),
      sms: Type.Optional(shortText('Telephone number of the unit')),
      devicedescription: Type.Optional(shortText('Description')),
      devicedriver: Type.Optional(shortText('Driver')),
    },
    { additionalProperties: false },
  ),
  result: device,
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: {
    params: {},
    body: { deviceid: 'truck-17', devicedriver: 'A. Tremblay' },
    result: exampleDevice,
  },
  async run({ body, caller }, services) {
    const key = { accountID: caller.accountID, deviceID: body.deviceid };
    await needDevice(services, caller, body.deviceid);
    const fields = given({
      uniqueID: body.uniqueid?.toString(),
      sms: body.sms,
      description: body.devicedescription,
      driver: body.devicedriver,
    });
    await writeUnique(services, { key, fields }, [updateDevice(key, fields)]);
    return viewDevice(await readParts(services, caller, key.deviceID), caller);
  },
});

export const deviceOperations = [getAllDevices, getDevice, createDevice, changeDevice] as const;
