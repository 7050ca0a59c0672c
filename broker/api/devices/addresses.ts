// Street addresses of positions, supplied by clients: the service itself asks no map service. An address never changes a
// position.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { touchRecords } from '../../store/base/record-revision.ts';
import { isPositioned, isPositionIn, setAddressIn, setLastAddress } from '../../store/events/addresses.ts';
import { auditEntry } from '../base/audit-entry.ts';
import { operation } from '../base/operation.ts';
import { envelope, ok } from '../base/shapes.ts';
import { needDevice } from '../base/visible-device.ts';

const updateAddress = operation({
  id: 'updateAddress',
  method: 'POST',
  path: '/device/updateaddress/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'write', ofDevices: true },
  tag: 'Devices',
  summary: 'Set the address of a position',
  description: `Sets the street address of a position of the device: with \`timestamp\` 0 of the last valid position, else of
every record with a position at that second of event time (\`deviceLastValidAddress\` follows when that is the last one).
An address that was there is replaced, empty text takes it away. The next position of the vehicle begins without one.

With \`timestamp\` 0 the vehicle may have moved on since its position was read: send the \`deviceLastValidTimestamp\` that
belongs to what was looked up. A device without a position, or no record with one at that second, answers 404.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: Type.String({ description: 'The device' }),
      timestamp: Type.Integer({
        minimum: 0,
        maximum: 9_999_999_999,
        description: 'Event time of the position (epoch seconds); 0 = the last position',
      }),
      address: Type.String({ maxLength: 256, description: 'Street address' }),
    },
    { additionalProperties: false },
  ),
  result: Type.Object(envelope),
  errors: ['not_found'],
  effects: true,
  examples: { body: { deviceID: 'truck-17', timestamp: 0, address: '200 Queens Quay East, Toronto' } },
  async run({ body, caller, source }, services) {
    const { deviceID, timestamp, address } = body;
    const { db } = services;
    await needDevice(services, caller, deviceID);
    const target = { scope: caller.scope, deviceID };
    const span = { ...target, fromMs: timestamp * 1000, toMs: timestamp * 1000 + 999 };
    const isLast = timestamp === 0;
    const audited = {
      action: 'device.address',
      object: deviceID,
      detail: { timestamp },
      onlyIf: isLast ? isPositioned(target) : await isPositionIn(db, span),
    };
    const [, , ...results] = await db.write([
      touchRecords(caller.accountID),
      auditEntry(services, { caller, source }, audited),
      ...(await (isLast ? setLastAddress(db, target, address) : setAddressIn(db, span, address))),
    ]);
    if (results.every(({ changes }) => changes === 0)) {
      const what = isLast ? 'no position yet' : `no record with a position at ${timestamp}`;
      throw new AppError('not_found', `Device ${deviceID} has ${what}`);
    }
    return ok;
  },
});

export const addressOperations = [updateAddress] as const;
