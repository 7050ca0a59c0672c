// The one-time code that restores an engine where the vehicle has no network. It can cut and unlock nothing; it is shown
// once and is in no log, audit entry or stored answer.
import { Type } from 'typebox';
import { showServiceCode } from '../../commands/service-codes.ts';
import { isThere } from '../../store/devices/device-limit.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';

const showCode = operation({
  id: 'showServiceCode',
  method: 'POST',
  path: '/device/servicecode/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'command', ofDevices: true },
  tag: 'Devices',
  summary: 'Show a one-time code that restores the engine at the vehicle',
  description: `An addition to the interface, for a vehicle that cannot be reached: gives a code of 8 digits that a person
enters at the vehicle, with the service button or at the unit itself. **It restores the engine and does nothing else**, works
once, and only on this vehicle. It has no time limit, because the vehicle may not know the time; using a newer code makes the
older ones void, and so does a new device secret. The vehicle reports every try as an event as soon as it has a network.

At the vehicle, five wrong codes lock the entry for an hour. A vehicle accepts a code as long as no more than 100 were shown
since the last that was used. Each call shows a further code; an \`Idempotency-Key\` means nothing here.`,
  params: Type.Object({}),
  body: Type.Object(
    { deviceID: Type.String({ description: 'The device' }) },
    { additionalProperties: false },
  ),
  result: Type.Object({
    deviceID: Type.String({ description: 'The device' }),
    code: Type.String({ description: '8 digits; cannot be read again' }),
    number: Type.Integer({
      description: 'Which code of this device it is; the vehicle names it when it is used',
    }),
    ...envelope,
  }),
  errors: ['not_found', 'conflict'],
  effects: true,
  isOrder: true,
  answerIsSecret: true,
  examples: { body: { deviceID: 'truck-17' }, result: { deviceID: 'truck-17', code: '90317204', number: 3 } },
  async run({ body, caller, source }, services) {
    const { deviceID } = body;
    const { accountID } = caller;
    const { deviceNo } = await needDevice(services, caller, deviceID);
    const audited = {
      action: 'device.servicecode',
      object: deviceID,
      onlyIf: isThere({ accountID, deviceID }),
    };
    const audit = auditEntry(services, { caller, source }, audited);
    const { code, number } = await showServiceCode(services.db, { accountID, deviceID, deviceNo }, audit);
    return { deviceID, code, number, ...ok };
  },
});

export const serviceCodeOperations = [showCode] as const;
