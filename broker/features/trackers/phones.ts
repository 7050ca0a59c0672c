// Phones that send their position: OsmAnd, and Traccar Client from version 9 on. The path holds a key for each phone, as these apps
// send no header, and an id proves nothing.
import { Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { newDeviceID } from '../../api/devices/device-members.ts';
import { hashSecret, makeSecret } from '../../store/devices/device-secret.ts';
import { eventOfLocation, eventOfQuery } from './core/phone-record.ts';
import type { BareEvent } from './core/traccar-record.ts';
import { submitEvents, trackerFor } from './intake.ts';
import { lostPositions } from './lost-positions.ts';
import { taken } from './traccar.ts';
import { findPhone, setKey } from './tracker-statements.ts';

const paths = {
  osmand: '/tracker/osmand/{key}/authorization',
  client: '/tracker/phone/{key}/authorization',
} as const;
const pathOf = (path: string, secret: string): string => `/api/v1${path.replace('{key}', secret)}`;
const params = Type.Object({ key: Type.String({ maxLength: 64, description: 'Key of the phone' }) });
const key = 'hV5mN0b1cXr8sQ2wE7tY4uI9oP3aD6fG1jK5lZ8xC0v';

const makeKey = operation({
  id: 'createPhoneKey',
  method: 'POST',
  path: '/tracker/createphonekey/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Let a phone send its position',
  description: `Makes a foreign device, or takes one that a phone is already, and gives its new key once; the one before stops working. The
phone sends to one of the paths of this service. Who has the key can send positions of this device, and nothing else.`,
  params: Type.Object({}),
  body: Type.Object(
    {
      deviceID: newDeviceID,
      displayName: Type.Optional(Type.String({ maxLength: 128, description: 'Its name' })),
    },
    { additionalProperties: false },
  ),
  result: Type.Object({
    ...envelope,
    deviceID: Type.String({ description: 'The device' }),
    osmandPath: Type.String({ description: 'Where OsmAnd sends to, with the key; cannot be read again' }),
    clientPath: Type.String({ description: 'Where Traccar Client sends to, with the key' }),
  }),
  errors: ['conflict'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { deviceID: 'phone-ann', displayName: 'Ann' },
    result: {
      deviceID: 'phone-ann',
      osmandPath: pathOf(paths.osmand, key),
      clientPath: pathOf(paths.client, key),
    },
  },
  async run({ body, caller, source }, services) {
    const { deviceID, displayName = '' } = body;
    const actor = { caller, source };
    const named = { uniqueID: deviceID, name: displayName, serverDeviceID: null };
    const phone = await trackerFor(services, actor, { named, isAdding: async () => true });
    if (phone.serverDeviceID !== null)
      throw new AppError('conflict', `${deviceID} is a tracker that a Traccar server sends`, {
        hint: 'Choose another device id for the phone.',
      });
    const secret = makeSecret(services.entropy);
    await services.db.write([
      auditEntry(services, actor, { action: 'device.issuekey', object: phone.deviceID }),
      setKey(phone.deviceNo, hashSecret(secret)),
    ]);
    return {
      ...ok,
      deviceID: phone.deviceID,
      osmandPath: pathOf(paths.osmand, secret),
      clientPath: pathOf(paths.client, secret),
    };
  },
});

/** @throws AppError `not_found` for a wrong key; `throttled`; `invalid_content` for a record without a time. */
async function take(services: ApiServices, sentKey: string, event: BareEvent | null) {
  const keyHash = hashSecret(sentKey);
  const phone = await findPhone(services.db, keyHash, Math.floor(services.clock.utcMs() / 1000));
  if (phone === null)
    throw new AppError('not_found', 'No phone has this key', {
      hint: 'An administrator makes one: createPhoneKey.',
    });
  if (!services.of(lostPositions).admitPhone(keyHash))
    throw new AppError('throttled', 'This phone sends too often', { retryAfterS: 1 });
  if (event === null) throw invalidAt('/timestamp', 'is no time');
  return {
    ...ok,
    ...(await submitEvents(services, phone, { events: [event], identity: null, isContact: true })),
  };
}

const parameter = (description: string) => Type.Optional(Type.String({ maxLength: 64, description }));

const position = operation({
  id: 'phonePosition',
  method: 'GET',
  path: paths.osmand,
  forms: ['versioned'],
  access: 'public',
  tag: 'Devices',
  summary: 'Take a position of OsmAnd',
  description: `An addition to the interface, for the online tracking of OsmAnd. The key in the path is the right. It answers 200 once the
position is committed; the same one again is stored once. Without \`timestamp\` the position is of now.`,
  params,
  query: Type.Object(
    {
      id: parameter('Not read: the key names the phone'),
      lat: parameter('Degrees, WGS 84'),
      lon: parameter('Degrees, WGS 84'),
      timestamp: parameter('Epoch seconds or milliseconds, or a date (RFC 3339)'),
      speed: parameter('Knots'),
      bearing: parameter('Degrees from true north'),
      altitude: parameter('Metres'),
      accuracy: parameter('Metres'),
      hdop: parameter('Dilution of precision'),
      batt: parameter('Percent'),
      charge: parameter('true while it charges'),
    },
    { additionalProperties: false },
  ),
  body: null,
  result: taken,
  errors: ['not_found', 'throttled', 'invalid_content', 'unavailable'],
  effects: true,
  examples: { params: { key }, result: { stored: 1, repeated: 0 } },
  run: ({ params: sent, query }, services) =>
    take(services, sent.key, eventOfQuery(query, services.clock.utcMs())),
});

const location = operation({
  id: 'phoneLocation',
  method: 'POST',
  path: paths.client,
  forms: ['versioned'],
  access: 'public',
  tag: 'Devices',
  summary: 'Take a location of Traccar Client',
  description: `An addition to the interface, for Traccar Client from version 9 on. The key in the path is the right; \`device_id\` is not read. It
answers 200 once the location is committed; the same one again is stored once. Negative values are unknown ones, speed is in metres a second.`,
  params,
  body: Type.Object({
    location: Type.Unknown({ description: 'The location, with `timestamp` and `coords`' }),
  }),
  result: taken,
  errors: ['not_found', 'throttled', 'invalid_content', 'unavailable'],
  effects: true,
  isIntake: true,
  examples: {
    params: { key },
    body: {
      location: {
        timestamp: '2025-11-21T00:00:00.000Z',
        coords: {
          latitude: 43.70211,
          longitude: -79.40123,
          speed: 13.9,
          heading: 93,
          accuracy: 5,
          altitude: 76,
        },
        battery: { level: 0.79, is_charging: false },
      },
    },
    result: { stored: 1, repeated: 0 },
  },
  run: ({ params: sent, body }, services) => take(services, sent.key, eventOfLocation(body.location)),
});

export const phoneOperations = [makeKey, position, location] as const;
