// Phones that send their position, all to one path. It holds a key for each phone, as these apps send no header, and an id proves
// nothing.
import { type Static, Type } from 'typebox';
import { AppError } from '../../../src/core/errors.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { invalidAt } from '../../api/base/input-members.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { newDeviceID } from '../../api/devices/device-members.ts';
import { hashSecret, makeSecret } from '../../store/devices/device-secret.ts';
import { eventsOfParameters, recordsOfBody } from './core/phone-record.ts';
import type { BareEvent } from './core/traccar-record.ts';
import { submitEvents, trackerFor } from './intake.ts';
import { lostPositions } from './lost-positions.ts';
import { taken } from './traccar.ts';
import { findPhone, setKey } from './tracker-statements.ts';

const path = '/tracker/phone/{key}/authorization';
const pathOf = (secret: string): string => `/api/v1${path.replace('{key}', secret)}`;
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
phone sends to that path of this service. Who has the key can send positions of this device, and nothing else.`,
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
    path: Type.String({ description: 'Where the phone sends to, with its key; cannot be read again' }),
  }),
  errors: ['conflict'],
  effects: true,
  answerIsSecret: true,
  examples: {
    body: { deviceID: 'phone-ann', displayName: 'Ann' },
    result: { deviceID: 'phone-ann', path: pathOf(key) },
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
    return { ...ok, deviceID: phone.deviceID, path: pathOf(secret) };
  },
});

/** Overland keeps its batch until it reads this; other apps need the status only. */
const phoneTaken = Type.Object({
  ...taken.properties,
  result: Type.Literal('ok', { description: 'For the app Overland' }),
});

/** Overland sends at most so many locations in a call. */
const recordsMost = 1000;
const knownBodies = 'of Traccar Client, `locations` of Overland, or `_type` of OwnTracks without encryption';

/**
 * Stores what a phone sent. A record that can be read in part is stored in part, so that the phone need not repeat it.
 * @throws AppError `not_found` for a wrong key; `throttled`; `invalid_content` for a body of no known app: the phone keeps it.
 */
async function take(
  services: ApiServices,
  sentKey: string,
  recordsAt: (nowMs: number) => readonly (readonly BareEvent[])[] | null,
): Promise<Static<typeof phoneTaken>> {
  const keyHash = hashSecret(sentKey);
  const nowMs = services.clock.utcMs();
  const phone = await findPhone(services.db, keyHash, Math.floor(nowMs / 1000));
  if (phone === null)
    throw new AppError('not_found', 'No phone has this key', {
      hint: 'An administrator makes one: createPhoneKey.',
    });
  const records = recordsAt(nowMs);
  if (records === null) throw invalidAt('/location', `is missing: send that ${knownBodies}`);
  if (records.length > recordsMost) throw invalidAt('', `must not have more than ${recordsMost} locations`);
  if (!services.of(lostPositions).admitPhone(keyHash, records.length))
    throw new AppError('throttled', 'This phone sends too often', { retryAfterS: 1 });
  const of = { events: records.flat(), identity: null, isContact: true };
  return { ...ok, ...(await submitEvents(services, phone, of)), result: 'ok' };
}

const parameter = (description: string) => Type.Optional(Type.String({ description }));
const parameters = Type.Object(
  {
    id: parameter('Not read: the key names the phone'),
    lat: parameter('Degrees, WGS 84'),
    lon: parameter('Degrees, WGS 84'),
    location: parameter('`lat,lon` in place of these two'),
    valid: parameter('false: the fix is not valid'),
    timestamp: parameter('Epoch seconds or milliseconds, or a date; without a zone UTC'),
    speed: parameter('Knots'),
    bearing: parameter('Degrees from true north; also `heading`'),
    altitude: parameter('Metres; 0 is unknown'),
    accuracy: parameter('Metres'),
    hdop: parameter('Dilution of precision'),
    batt: parameter('Percent'),
    charge: parameter('true while it charges'),
    alarm: parameter('`sos` and other alarms of Traccar'),
    driverUniqueId: parameter('Key of the driver'),
  },
  { additionalProperties: true },
);

const common = {
  path,
  forms: ['versioned'],
  access: 'public',
  tag: 'Devices',
  params,
  query: parameters,
  result: phoneTaken,
  errors: ['not_found', 'throttled', 'invalid_content', 'unavailable'],
  effects: true,
} as const;
const rules = `An addition to the interface. The key in the path is the right. It answers 200 once the position is committed; the same one
again is stored once. Parameters that are not listed become attributes, as at Traccar. Without \`timestamp\` the position is of now. A time
that cannot be read, lies before 2000 or a day ahead is replaced by now: such a record has no place, and what was sent are attributes.
A record of now is another one each time.`;

const position = operation({
  ...common,
  id: 'phonePosition',
  method: 'GET',
  summary: 'Take a position of a phone as parameters',
  description: `For OsmAnd and GPSLogger. ${rules}`,
  body: null,
  examples: { params: { key }, result: { stored: 1, repeated: 0 } },
  run: ({ params: sent, query }, services) =>
    take(services, sent.key, (nowMs) => [eventsOfParameters(query, nowMs)]),
});

/** Parameters by their name; several of one name in a list. */
function parametersOf(form: string): Readonly<Record<string, readonly string[]>> {
  const sent = new URLSearchParams(form);
  return Object.fromEntries([...new Set(sent.keys())].map((name) => [name, sent.getAll(name)]));
}

const location = operation({
  ...common,
  id: 'phoneLocation',
  method: 'POST',
  summary: 'Take positions of a phone',
  description: `For Traccar Client of any version, OwnTracks in HTTP mode, Overland, and any app that sends the parameters of
\`phonePosition\` as a form or in the address. ${rules} Negative values of a JSON body are unknown ones. A body of another form
answers 422, and the phone keeps it.`,
  body: Type.Object({
    location: Type.Optional(
      Type.Unknown({ description: 'The location of Traccar Client, with `timestamp` and `coords`' }),
    ),
    form: parameter('The parameters, percent-encoded'),
  }),
  textBody: { mediaType: 'application/x-www-form-urlencoded', member: 'form' },
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
  run: ({ params: sent, query, body }, services) => {
    const { form, ...json } = body;
    return take(services, sent.key, (nowMs) =>
      form === undefined
        ? recordsOfBody(json, nowMs)
        : [eventsOfParameters({ ...parametersOf(form), ...query }, nowMs)],
    );
  },
});

export const phoneOperations = [makeKey, position, location] as const;
