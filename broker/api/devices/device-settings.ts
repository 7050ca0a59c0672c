// Further operations on one device: settings, a new secret, deletion. A secret is shown once and never kept or logged; a
// vehicle that is cut off, or has an unfinished command, is never deleted.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { needOwnUnit } from '../../commands/command-request.ts';
import { isDataFault } from '../../core/store-faults.ts';
import { revokeAllCertificates } from '../../store/devices/certificates.ts';
import { deleteDevice, deletionBlockerOf } from '../../store/devices/device-deletion.ts';
import { isThere } from '../../store/devices/device-limit.ts';
import { hashSecret, makeSecret } from '../../store/devices/device-secret.ts';
import { type DeviceRow, replaceSecret, updateDevice } from '../../store/devices/devices.ts';
import { exampleDevice } from '../answers/examples.ts';
import { viewDevice } from '../answers/views.ts';
import type { ApiServices } from '../base/api-services.ts';
import { type Actor, auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { device, envelope, ok } from '../base/shapes.ts';
import { needDevice, unknownDevice } from '../base/visible-device.ts';
import { readDevice } from './device-details.ts';
import { changedMembers, fieldsOf, settingMembers } from './device-members.ts';

const named = { deviceID: Type.String({ description: 'The device' }) } as const;

const settings = operation({
  id: 'deviceSettings',
  method: 'POST',
  path: '/device/settings/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Devices',
  summary: 'Set what else is known of a device',
  description: `An addition to the interface: sets the members of a device that createdevice and updatedevice do not name.
The given members are changed and the others left; an empty text clears one. \`maxPassengers\` is the number of seats that
passengercount shows. Names, members under \`data\` and refusals are as in updatedevice.`,
  params: Type.Object({}),
  body: Type.Object({ ...named, ...settingMembers }, { additionalProperties: false }),
  result: device,
  errors: ['not_found'],
  effects: true,
  examples: {
    body: { deviceID: 'truck-17', deviceDisplayName: 'truck-17', pinColor: '1f77b4' },
    result: exampleDevice,
  },
  async run({ body, caller, source }, services) {
    const { deviceID, ...members } = body;
    const key = { accountID: caller.accountID, deviceID };
    await needDevice(services, caller, deviceID);
    const fields = fieldsOf(members);
    const audited = {
      action: 'device.update',
      object: deviceID,
      detail: changedMembers(fields),
      onlyIf: isThere(key),
    };
    await services.db.write([auditEntry(services, { caller, source }, audited), updateDevice(key, fields)]);
    return viewDevice(await readDevice(services, caller, deviceID), caller);
  },
});

const issueSecret = operation({
  id: 'issueDeviceSecret',
  method: 'POST',
  path: '/device/issuesecret/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Issue the secret of a device',
  description: `An addition to the interface: gives the unit of the device a new MQTT secret (256 random bits) and shows it
this once; the service keeps a hash only. **The old secret and all client certificates of the device stop working at once,
and a unit that is connected with them is cut off within seconds**: be ready to set the new one in the unit. \`username\` is what the unit logs in with.

An \`Idempotency-Key\` means nothing here: a repeated call issues a further secret, and the last one counts.`,
  params: Type.Object({}),
  body: Type.Object(named, { additionalProperties: false }),
  result: Type.Object({
    deviceID: Type.String({ description: 'The device' }),
    username: Type.String({ description: 'MQTT user name and client id: `<accountID>/<deviceID>`' }),
    secret: Type.String({ description: 'MQTT password; cannot be read again' }),
    ...envelope,
  }),
  errors: ['not_found', 'unsupported'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { deviceID: 'truck-17' },
    result: {
      deviceID: 'truck-17',
      username: 'acme/truck-17',
      secret: 'hV5mN0b1cXr8sQ2wE7tY4uI9oP3aD6fG1jK5lZ8xC0v',
    },
  },
  async run({ body, caller, source }, services) {
    const key = { accountID: caller.accountID, deviceID: body.deviceID };
    needOwnUnit(await needDevice(services, caller, body.deviceID));
    const secret = makeSecret(services.entropy);
    const atMs = Math.round(services.clock.utcMs());
    const audited = { action: 'device.issuesecret', object: body.deviceID, onlyIf: isThere(key) };
    await services.db.write([
      auditEntry(services, { caller, source }, audited),
      ...revokeAllCertificates(key, { atMs, isForSecret: true }),
      replaceSecret({ ...key, secretHash: hashSecret(secret), atS: Math.floor(atMs / 1000) }),
    ]);
    services.kick(key, 'its secret was replaced');
    return { deviceID: body.deviceID, username: `${key.accountID}/${key.deviceID}`, secret, ...ok };
  },
});

/** Why a deletion did not happen. */
async function refusalOf(services: ApiServices, row: DeviceRow): Promise<AppError | null> {
  const hindrance = await deletionBlockerOf(services.db, row.deviceNo);
  const name = JSON.stringify(row.deviceID);
  if (hindrance === null) return unknownDevice(row.deviceID);
  if (hindrance.isCutOff) {
    return new AppError('conflict', `The engine of device ${name} is cut off`, {
      hint: 'Enable it again and wait until the vehicle has confirmed that.',
    });
  }
  if (!hindrance.hasPendingCommand) return null;
  return new AppError('conflict', `Device ${name} has a command that has not come to an end`, {
    hint: 'Withdraw it, or wait until it is confirmed or has expired.',
  });
}

/** Deletes a device with its history. @throws AppError `not_found`, `conflict`. */
export async function removeDevice(services: ApiServices, actor: Actor, row: DeviceRow): Promise<void> {
  const { deviceID } = row;
  const atS = Math.floor(services.clock.utcMs() / 1000);
  const detail = { deviceNo: row.deviceNo, uniqueID: row.uniqueID, description: row.description };
  const refusal = await refusalOf(services, row);
  if (refusal !== null) throw refusal;
  try {
    await services.db.write([
      auditEntry(services, actor, { action: 'device.delete', object: deviceID, detail }),
      ...deleteDevice(row, actor.caller.scope, atS),
    ]);
  } catch (thrown) {
    throw (isDataFault(thrown) ? await refusalOf(services, row) : null) ?? thrown;
  }
  services.kick(row, 'it was deleted');
}

const deleteOne = operation({
  id: 'deleteDevice',
  method: 'POST',
  path: '/device/deletedevice/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Delete a device and its history',
  description: `Deletes the device, its secret, states and commands, **and all of its stored events**: deleting a device is
the one way in which an acknowledged event goes before its time. What happened stays in the audit log.

At once the device is in no answer any more, and its unit is cut off and cannot log in; the events themselves are cleared
away in the background. The id is free again: a device created with it later is a new one, with nothing of the old one, and
its unit needs a new secret. What the old unit has not delivered is refused.

While the engine is cut off (\`state.enginecutoff.state\` is \`1\`), or a command has not come to an end, the answer is 422
\`conflict\`: the vehicle could not be released any more. A cut that only waits for a second user goes with the device. A
second call answers 404.`,
  params: Type.Object({}),
  body: Type.Object(named, { additionalProperties: false }),
  result: Type.Object(envelope),
  errors: ['not_found', 'conflict'],
  effects: true,
  examples: { body: { deviceID: 'van-9' } },
  async run({ body, caller, source }, services) {
    const row = await needDevice(services, caller, body.deviceID);
    await removeDevice(services, { caller, source }, row);
    return ok;
  },
});

export const deviceSettingOperations = [settings, issueSecret, deleteOne] as const;
