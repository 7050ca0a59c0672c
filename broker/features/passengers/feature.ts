// The passenger count as the vehicle reported it; the kernel keeps it with the present state of the device.
import { Type } from 'typebox';
import { sql } from '../../../src/sql.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { unknownDevice } from '../../api/base/visible-device.ts';
import { addressOperations } from '../../api/devices/addresses.ts';
import { numberOf, numberOrNull } from '../../store/base/row.ts';
import { visible } from '../../store/base/scope.ts';
import { shape } from '../../store/base/table.ts';
import { feature } from '../feature.ts';

const counts = shape({ passengers: numberOrNull, passengersMs: numberOf, maxPassengers: numberOrNull });

const integerOrNull = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

const passengerCount = operation({
  id: 'passengerCount',
  method: 'GET',
  path: '/device/passengercount/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Devices',
  summary: 'People aboard a device',
  description: `The newest count by event time, whatever the order in which events arrived. A vehicle reports it as the
attribute \`passengers\` (a whole number, 0 to 10000: people aboard after the event) of the status codes 63532
Person_Embark, 63533 Person_Disembark and 63534 Person_Inventory. Events of these codes without it do not change the
count: single steps cannot be added up exactly when some come late. \`passengerCount\` is null while no count was
reported, \`maxPassengers\` while it is not set.`,
  params: Type.Object({ deviceID: Type.String({ description: 'The device' }) }),
  body: null,
  result: Type.Object({
    deviceID: Type.String({ description: 'The device' }),
    passengerCount: integerOrNull('People aboard; null while no count was reported'),
    maxPassengers: integerOrNull('People that it may carry; null while it is not set'),
    timestamp: Type.Integer({
      minimum: 0,
      description: 'When they were counted (epoch seconds); 0 = never, or unknown',
    }),
    ...envelope,
  }),
  errors: ['not_found'],
  effects: false,
  examples: { result: { deviceID: 'truck-17', passengerCount: 2, maxPassengers: 3, timestamp: 1763683200 } },
  async run({ params: { deviceID }, caller }, services) {
    const found = await counts.first(services.db)(sql`
      SELECT d.passengers, d.passengers_ms, d.max_passengers FROM devices d
      WHERE ${visible(caller.scope)} AND d.device_id = ${deviceID}`);
    if (found === null) throw unknownDevice(deviceID);
    return {
      deviceID,
      passengerCount: found.passengers,
      maxPassengers: found.maxPassengers,
      timestamp: Math.floor(found.passengersMs / 1000),
      ...ok,
    };
  },
});

export const passengers = feature({ operations: [passengerCount], follows: addressOperations });
