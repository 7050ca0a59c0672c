// The address of a position, given by whoever looked it up: the service itself asks no map service. It names a place and
// never changes one.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import { isPositioned, isPositionIn, setAddressIn, setLastAddress } from '../../store/addresses.ts';
import { operation } from '../operation.ts';
import { envelope, ok } from '../shapes.ts';
import { trail } from '../trail.ts';
import { needDevice } from './devices.ts';

const updateAddress = operation({
  id: 'updateAddress',
  method: 'POST',
  path: '/device/updateaddress/authorization',
  forms: ['versioned'],
  access: 'operator',
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
  examples: {
    params: {},
    body: { deviceID: 'truck-17', timestamp: 0, address: '200 Queens Quay East, Toronto' },
    result: ok,
  },
  async run({ body, caller, source }, services) {
    const { deviceID, timestamp, address } = body;
    const { db } = services;
    await needDevice(services, caller, deviceID);
    const target = { scope: caller.scope, deviceID };
    const span = { ...target, fromMs: timestamp * 1000, toMs: timestamp * 1000 + 999 };
    const isLast = timestamp === 0;
    const deed = {
      action: 'device.address',
      object: deviceID,
      detail: { timestamp },
      onlyIf: isLast ? isPositioned(target) : await isPositionIn(db, span),
    };
    const given = { address, atMs: Math.round(services.clock.utcMs()) };
    const [, ...results] = await db.write([
      trail(services, { caller, source }, deed),
      ...(await (isLast ? setLastAddress(db, target, given) : setAddressIn(db, span, given))),
    ]);
    if (results.every(({ changes }) => changes === 0)) {
      const what = isLast ? 'no position yet' : `no record with a position at ${timestamp}`;
      throw new AppError('not_found', `device ${deviceID} has ${what}`);
    }
    return ok;
  },
});

export const addressOperations = [updateAddress] as const;
