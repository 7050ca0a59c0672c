// What a Traccar server forwards, and what the account says about trackers of other makers.
import { type Static, Type } from 'typebox';
import { epochSeconds } from '../../../src/core/epoch-seconds.ts';
import type { ApiServices } from '../../api/base/api-services.ts';
import { auditEntry } from '../../api/base/audit-entry.ts';
import { operation } from '../../api/base/operation.ts';
import { envelope, ok } from '../../api/base/shapes.ts';
import { unknownDevice } from '../../api/base/visible-device.ts';
import { recordOfEvent, recordOfPosition } from './core/traccar-record.ts';
import { keepUnread, submitEvents, trackerFor } from './intake.ts';
import { addsTrackers, setAddsTrackers, trackerOf } from './tracker-statements.ts';

const text = (description: string) => Type.String({ description });
const optional = (description: string) => Type.Optional(Type.Unknown({ description }));

const forwarded = Type.Object({
  position: optional("Traccar's position; absent with an event that has none"),
  event: optional("Traccar's event; absent for a position"),
  device: Type.Object({
    id: Type.Optional(Type.Integer({ description: 'Number of the device at the server' })),
    uniqueId: text('Identifier of the tracker, as its IMEI'),
    name: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Name at the server' })),
  }),
});

/** What became of a record. */
export const taken = Type.Object({
  ...envelope,
  stored: Type.Integer({ description: 'Events that are new' }),
  repeated: Type.Integer({ description: 'Events that were stored before' }),
});
const nothingTaken: Static<typeof taken> = { ...ok, stored: 0, repeated: 0 };

const forward = operation({
  id: 'forwardTraccar',
  method: 'POST',
  path: '/tracker/traccar/authorization',
  forms: ['versioned'],
  access: 'operator',
  token: { scope: 'track', ofDevices: true },
  tag: 'Devices',
  summary: 'Take a position or an event that Traccar forwards',
  description: `An addition to the interface, for a Traccar server: its settings \`forward.url\` and \`event.forward.url\` name this
path, \`forward.header\` and \`event.forward.header\` the token, which needs the scope \`track\` only. It answers 200 once the record is
committed. A record that is sent again is stored once, whatever \`id\` it bears. A record without any time is kept in the quarantine
of its device and answered with 200 too.

A tracker that the account does not know answers 404, unless the account adds them (\`setTrackerSettings\`). The device is then made of
the letters, digits, \`-\` and \`_\` of \`uniqueId\`. Such a device is foreign for ever: no command to it is recorded, and no unit
logs in as it. An id that another device has answers 422 \`conflict\`.

Times are whole seconds. A time before 2000 or a day ahead of \`serverTime\` counts as unknown. Speed is in knots there. A fix that is not
valid, lies at 0, 0 or is a minute older than its message gives no position. Event types without a code here are answered and not kept.`,
  params: Type.Object({}),
  body: forwarded,
  result: taken,
  errors: ['not_found', 'conflict', 'forbidden', 'unavailable'],
  effects: true,
  isIntake: true,
  examples: {
    body: {
      position: {
        id: 0,
        deviceId: 7,
        protocol: 'gt06',
        serverTime: '2025-11-21T00:00:01.000+00:00',
        deviceTime: '2025-11-21T00:00:00.000+00:00',
        fixTime: '2025-11-21T00:00:00.000+00:00',
        valid: true,
        latitude: 43.70211,
        longitude: -79.40123,
        altitude: 0,
        speed: 26.997840172786177,
        course: 93,
        attributes: { ignition: true, sat: 9 },
      },
      device: { id: 7, uniqueId: '356938035643809', name: 'Van 7' },
    },
    result: { stored: 1, repeated: 0 },
  },
  async run({ body, caller, source }, services) {
    const { position, event, device } = body;
    const isEvent = event !== undefined && event !== null;
    const record = isEvent ? recordOfEvent(event, position) : recordOfPosition(position);
    if (record?.events.length === 0) return nothingTaken;
    const { uniqueId, name, id = null } = device;
    const named = { uniqueID: uniqueId.trim(), name: name ?? '', serverDeviceID: id };
    const isAdding = (): Promise<boolean> => addsTrackers(services.db, caller.accountID);
    const tracker = await trackerFor(services, { caller, source }, { named, isAdding });
    if (record !== null)
      return { ...ok, ...(await submitEvents(services, tracker, { ...record, isContact: true })) };
    await keepUnread(services, tracker, body);
    return nothingTaken;
  },
});

const settings = Type.Object({
  ...envelope,
  addsTrackers: Type.Boolean({ description: 'Whether a tracker is added at its first position' }),
  fetchesLost: Type.Boolean({
    description: 'Whether the service fetches what the Traccar server could not forward',
  }),
});

const fetchesFor = ({ traccar }: ApiServices, accountID: string): boolean => traccar?.accountID === accountID;

async function settingsOf(services: ApiServices, accountID: string): Promise<Static<typeof settings>> {
  const isAdding = await addsTrackers(services.db, accountID);
  return { ...ok, addsTrackers: isAdding, fetchesLost: fetchesFor(services, accountID) };
}

const getSettings = operation({
  id: 'trackerSettings',
  method: 'GET',
  path: '/tracker/settings/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Settings for trackers of other makers',
  description: `Whether the account adds trackers by itself, and whether lost positions are fetched. The operator of the service sets the
latter: \`traccar.url\`, \`traccar.tokenFile\` and \`traccar.account\`.`,
  params: Type.Object({}),
  body: null,
  result: settings,
  errors: [],
  effects: false,
  run: ({ caller }, services) => settingsOf(services, caller.accountID),
});

const setSettings = operation({
  id: 'setTrackerSettings',
  method: 'POST',
  path: '/tracker/setsettings/authorization',
  forms: ['versioned'],
  access: 'admin',
  token: { scope: 'admin', ofDevices: false },
  tag: 'Devices',
  summary: 'Change the settings for trackers of other makers',
  description: `Off at first: a tracker that the account does not know is refused. On: it becomes a device at its first position, within the
number of devices that the account may have.`,
  params: Type.Object({}),
  body: Type.Object(
    { addsTrackers: Type.Boolean({ description: 'Whether a tracker is added at its first position' }) },
    { additionalProperties: false },
  ),
  result: settings,
  errors: [],
  effects: true,
  examples: { body: { addsTrackers: true }, result: { addsTrackers: true } },
  async run({ body, caller, source }, services) {
    const { accountID } = caller;
    await services.db.write([
      auditEntry(
        services,
        { caller, source },
        { action: 'trackers.update', object: accountID, detail: body },
      ),
      setAddsTrackers(accountID, body.addsTrackers ? Math.floor(services.clock.utcMs() / 1000) : null),
    ]);
    return settingsOf(services, accountID);
  },
});

const getTracker = operation({
  id: 'getTracker',
  method: 'GET',
  path: '/tracker/gettracker/{deviceID}/authorization',
  forms: ['versioned'],
  access: 'viewer',
  token: { scope: 'read', ofDevices: true },
  tag: 'Devices',
  summary: 'Where the records of a foreign device come from',
  description: `Of a device with \`isForeign\`; any other answers 404. \`fetchesLost\` false: what its Traccar server could not forward
stays missing here, as no address of that server is configured.`,
  params: Type.Object({ deviceID: text('The device') }),
  body: null,
  result: Type.Object({
    ...envelope,
    deviceID: text('The device'),
    uniqueID: text('Its identifier at its sender'),
    source: Type.Enum(['traccar', 'phone'], { description: 'Its sender' }),
    fetchesLost: Type.Boolean({ description: 'Whether lost positions are fetched' }),
    fetchedUpTo: Type.Integer({
      description: 'Lost positions of its server were fetched up to then (epoch seconds); 0: never',
    }),
  }),
  errors: ['not_found'],
  effects: false,
  examples: {
    params: { deviceID: '356938035643809' },
    result: {
      deviceID: '356938035643809',
      uniqueID: '356938035643809',
      source: 'traccar',
      fetchesLost: true,
      fetchedUpTo: 1763683200,
    },
  },
  async run({ params: { deviceID }, caller }, services) {
    const found = await trackerOf(services.db, caller.scope, deviceID);
    if (found === null) throw unknownDevice(deviceID);
    const { uniqueID, serverDeviceID, fetchedMs } = found;
    const fetchesLost = serverDeviceID !== null && fetchesFor(services, caller.accountID);
    const source = serverDeviceID === null ? 'phone' : 'traccar';
    return {
      ...ok,
      deviceID,
      uniqueID,
      source,
      fetchesLost,
      fetchedUpTo: fetchesLost ? epochSeconds(fetchedMs) : 0,
    } as const;
  },
});

export const traccarOperations = [forward, getSettings, setSettings, getTracker] as const;
