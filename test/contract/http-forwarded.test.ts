// What a Traccar server forwards and phones send, with bodies as Traccar makes them: each record once, with its own time and no more
// than it says, in no device but its own, and no command to it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lostPositions } from '../../broker/features/trackers/lost-positions.ts';
import type { TraccarServer } from '../../broker/ports/traccar-server.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Json = Readonly<Record<string, unknown>>;
type Service = Awaited<ReturnType<typeof startHttpService>>;

const base = Date.UTC(2026, 4, 7, 9, 48, 15);
/** As Jackson writes times at Traccar. */
const iso = (ms: number): string => new Date(ms).toISOString().replace('Z', '+00:00');

/** As in issue 4529 of Traccar, with the members that its JSON has today. */
const positionAt = (ms: number, more: Json = {}): Json => ({
  id: 0,
  attributes: { batteryLevel: 53, distance: 0, totalDistance: 5922.96, motion: false },
  deviceId: 1,
  protocol: 'osmand',
  serverTime: iso(ms + 3770),
  deviceTime: iso(ms),
  fixTime: iso(ms),
  valid: true,
  latitude: 21.1416013,
  longitude: 99.6410078,
  altitude: 0,
  speed: 0,
  course: 90,
  address: null,
  accuracy: 2200,
  network: null,
  geofenceIds: null,
  ...more,
});
const deviceOf = (uniqueId: string, id = 1): Json => ({
  id,
  attributes: {},
  groupId: 0,
  calendarId: 0,
  name: `Van ${uniqueId}`,
  uniqueId,
  status: 'online',
  lastUpdate: iso(base),
  positionId: 0,
  phone: null,
  model: null,
  contact: null,
  category: null,
  disabled: false,
  expirationTime: null,
});

let service: Service;
let admin = '';
let token = '';
let stored: readonly Json[] = [];
let asked: readonly (readonly number[])[] = [];
/** The API of the server: what it stored, in the spelling of its database. */
const traccar: TraccarServer = {
  accountID: 'acme',
  everyS: 86_400,
  find: async (uniqueID) => (uniqueID === 'lost' ? 77 : null),
  async positions(deviceID, fromMs, toMs) {
    asked = [...asked, [deviceID, fromMs, toMs]];
    const at = (one: Json): number => Date.parse(String(one['fixTime']));
    return stored.filter((one) => one['deviceId'] === deviceID && at(one) >= fromMs && at(one) <= toMs);
  },
};

const post = (path: string, body: object, as = admin) =>
  service.call({ method: 'POST', path: `/api/v1${path}`, body, ...(as === '' ? {} : { token: as }) });
const forward = (body: object, as = token) => post('/tracker/traccar/authorization', body, as);
const codeOf = (answer: { json(): Json }) => (answer.json()['error'] as { code?: string } | undefined)?.code;
const rowsOf = (deviceID: string): Promise<readonly Json[]> =>
  service.rows(`SELECT e.* FROM events e JOIN devices d ON d.device_no = e.device_no
    WHERE d.device_id = '${deviceID}' ORDER BY e.event_no`);
const view = async (deviceID: string) =>
  (await service.call({ path: `/api/v1/device/getdevice/${deviceID}/authorization`, token: admin })).json();
const tokenOf = async (body: object): Promise<string> =>
  String((await post('/auth/token/authorization', { description: 'traccar', ...body })).json()['token']);

beforeAll(async () => {
  service = await startHttpService({ traccar });
  await service.account('acme');
  await service.account('rival');
  await service.device('acme', 'truck-1');
  admin = await service.login('acme', 'admin');
  token = await tokenOf({ scopes: ['track'] });
});
afterAll(() => service.close());

describe('a tracker', () => {
  it('is refused until the account adds trackers, and is a foreign device from then on', async () => {
    const body = { position: positionAt(base), device: deviceOf('86/34 x') };
    const refused = await forward(body);
    expect([refused.status, codeOf(refused)]).toEqual([404, 'not_found']);
    expect(refused.text).toContain('setTrackerSettings');
    await post('/tracker/setsettings/authorization', { addsTrackers: true });
    expect((await forward(body)).json()).toMatchObject({ stored: 1, repeated: 0 });
    expect(await view('86-34-x')).toMatchObject({
      isForeign: true,
      deviceDisplayName: 'Van 86/34 x',
      authorities: { read: true, update: true, command: false },
      deviceLastValidTimestamp: base / 1000,
    });
  });

  it('never takes an id of another device', async () => {
    for (const uniqueId of ['truck-1', '86-34 x', '86/34-x']) {
      const answer = await forward({ position: positionAt(base), device: deviceOf(uniqueId) });
      expect([answer.status, codeOf(answer)], uniqueId).toEqual([422, 'conflict']);
    }
    expect(await rowsOf('truck-1')).toEqual([]);
    const nameless = await forward({
      position: positionAt(base),
      device: { ...deviceOf(''), uniqueId: ' ' },
    });
    expect(codeOf(nameless)).toBe('invalid_content');
  });

  it('takes no command, alone, with others or as a release, and no secret', async () => {
    const [deviceID, feature] = ['86-34-x', 'enginecutoff'];
    for (const state of ['0', '1']) {
      const one = await post('/command/feature/authorization', { deviceID, feature, state });
      expect([one.status, codeOf(one)], state).toEqual([422, 'unsupported']);
      expect(one.text).toContain('another maker');
      const many = await post('/command/devices/authorization', { deviceIDs: [deviceID], feature, state });
      expect(many.json()).toMatchObject({ done: 0, failed: 1, items: [{ error: { code: 'unsupported' } }] });
    }
    for (const path of ['/device/issuesecret', '/device/createenrolmentcode'])
      expect(codeOf(await post(`${path}/authorization`, { deviceID })), path).toBe('unsupported');
    expect(await service.rows('SELECT * FROM commands')).toEqual([]);
  });

  it('is written to by a token with the scope for it only, in its own account', async () => {
    const body = { position: positionAt(base + 1000), device: deviceOf('86/34 x') };
    for (const scopes of [['read'], ['write'], ['command'], ['admin']])
      expect(codeOf(await forward(body, await tokenOf({ scopes }))), String(scopes)).toBe('forbidden');
    const narrow = await tokenOf({ scopes: ['track'], devices: ['truck-1'] });
    expect(codeOf(await forward(body, narrow))).toBe('forbidden');
    expect((await post('/device/updatedevice/authorization', { deviceid: 'truck-1' }, token)).status).toBe(
      422,
    );
    const rival = await service.login('rival', 'admin');
    expect(codeOf(await forward(body, rival))).toBe('not_found');
  });
});

describe('a record', () => {
  it('is stored once, whatever its id, and however its server spells it later', async () => {
    const device = deviceOf('once');
    const one = positionAt(base + 400, {
      speed: 26.997840172786177,
      altitude: 76.123456789,
      course: 12.3456789,
    });
    expect((await forward({ position: one, device })).json()).toMatchObject({ stored: 1 });
    // A repeat after the server has stored it, and the same from MySQL: whole seconds, six digits, members in another order.
    const attributes = { motion: false, totalDistance: 1, distance: 9, batteryLevel: 53 };
    const spellings: readonly Json[] = [
      { ...one, id: 4711, address: 'Yonge Street' },
      {
        ...one,
        id: 4711,
        speed: 26.9978,
        altitude: 76.1235,
        course: 12.3457,
        fixTime: iso(base),
        deviceTime: iso(base),
        attributes,
      },
    ];
    for (const position of spellings)
      expect((await forward({ position, device })).json()).toMatchObject({ stored: 0, repeated: 1 });
    const all = await Promise.all(
      Array.from({ length: 20 }, () => forward({ position: positionAt(base + 5000), device })),
    );
    expect(all.reduce((sum, answer) => sum + Number(answer.json()['stored']), 0)).toBe(1);
    // Another place in the same second is another record.
    const next = positionAt(base + 400, { latitude: 21.1416014 });
    expect((await forward({ position: next, device })).json()).toMatchObject({ stored: 1 });
    const rows = await rowsOf('once');
    expect(rows).toHaveLength(3);
    expect(rows[0]).toMatchObject({ timestamp_ms: base, speed: 50, altitude: 76.123456789 });
  });

  const cases: readonly (readonly [string, Json, Json])[] = [
    [
      'late, with its own time',
      positionAt(base - 86_400_000),
      { timestamp_ms: base - 86_400_000, status_code: 61472 },
    ],
    [
      'without a valid fix',
      positionAt(base, { valid: false }),
      { latitude: null, speed: null, status_code: 61536 },
    ],
    ['at 0, 0', positionAt(base, { latitude: 0, longitude: 0 }), { latitude: null, longitude: null }],
    [
      'with an old fix',
      positionAt(base, { fixTime: iso(base - 61_000) }),
      { timestamp_ms: base, latitude: null },
    ],
    [
      'of 1970',
      positionAt(base, { fixTime: iso(0), deviceTime: iso(0) }),
      { timestamp_ms: base + 4000, time_quality: 'server', latitude: null },
    ],
    [
      'of 2080',
      positionAt(base, { fixTime: iso(base * 2), deviceTime: iso(base * 2) }),
      { timestamp_ms: base + 4000, time_quality: 'server' },
    ],
    [
      'without an altitude, or a course at rest',
      positionAt(base),
      { altitude: null, heading: null, speed: 0 },
    ],
    [
      'with attributes that mean the same',
      positionAt(base, {
        attributes: {
          ignition: true,
          odometer: 123_456,
          fuelLevel: 62,
          sat: 9,
          hdop: 0.8,
          hours: 7_200_000,
          blocked: true,
          fuelUsed: 7,
          raw: '7878',
        },
      }),
      {
        odometer: 123.456,
        fuel_level: 0.62,
        satellites: 9,
        hdop: 0.8,
        inputs: '{"ignition":true}',
        outputs: null,
        attributes:
          '{"engineHours":2,"protocol":"osmand","ignition":true,"odometer":123456,"fuelLevel":62,"sat":9,"hdop":0.8,"blocked":true,"traccar.fuelUsed":7}',
      },
    ],
    [
      'with an alarm that has a code',
      positionAt(base, { attributes: { alarm: 'sos' } }),
      { status_code: 63553 },
    ],
    [
      'with one that has none',
      positionAt(base, { attributes: { alarm: 'lock' } }),
      { status_code: 61472, attributes: '{"protocol":"osmand","alarm":"lock"}' },
    ],
    [
      'with more attributes than fit',
      positionAt(base, { attributes: { a: 'x'.repeat(1500), b: 'y'.repeat(1500) } }),
      { status_code: 61472 },
    ],
    [
      'of a hostile server',
      positionAt(base, { latitude: 'NaN', attributes: { alarm: 'constructor', __proto__: 1, x: [[[]]] } }),
      { latitude: null },
    ],
  ];
  it.each(cases.map((one, at) => [one[0], at, one[1], one[2]] as const))(
    '%s',
    async (_name, at, position, wanted) => {
      const device = deviceOf(`case-${at}`);
      expect((await forward({ position, device })).json()).toMatchObject({ stored: 1 });
      expect((await forward({ position, device })).json()).toMatchObject({ stored: 0, repeated: 1 });
      const rows = await rowsOf(`case-${at}`);
      expect(rows).toEqual([expect.objectContaining(wanted)]);
      expect(await service.rows('SELECT * FROM quarantine')).toEqual([]);
    },
  );

  it('without any time is kept in the quarantine and answered', async () => {
    const position = positionAt(base, { fixTime: null, deviceTime: null, serverTime: null });
    const answer = await forward({ position, device: deviceOf('case-0') });
    expect([answer.status, answer.json()]).toEqual([
      200,
      expect.objectContaining({ stored: 0, repeated: 0 }),
    ]);
    expect(await service.rows('SELECT * FROM quarantine')).toHaveLength(1);
  });

  it('of an event is the alarm of its position, a change, or of no interest', async () => {
    const device = deviceOf('events');
    const position = positionAt(base, { attributes: { alarm: 'tow,sos' } });
    const eventOf = (type: string, attributes: Json = {}): Json => ({
      id: 9,
      attributes,
      deviceId: 1,
      type,
      eventTime: iso(base),
      positionId: 4711,
      geofenceId: 0,
      maintenanceId: 0,
    });
    expect((await forward({ position, device })).json()).toMatchObject({ stored: 2 });
    for (const [event, outcome] of [
      [eventOf('alarm', { alarm: 'sos' }), { stored: 0, repeated: 1 }],
      [eventOf('alarm', { alarm: 'constructor' }), { stored: 0, repeated: 0 }],
      [eventOf('ignitionOff'), { stored: 1, repeated: 0 }],
      [eventOf('geofenceEnter'), { stored: 0, repeated: 0 }],
    ] as const)
      expect(
        (await forward({ event, position: { ...position, id: 4711 }, device })).json(),
        String(event['type']),
      ).toMatchObject(outcome);
    const offline = { event: eventOf('deviceOffline'), device: deviceOf('never-seen') };
    expect((await forward(offline)).json()).toMatchObject({ stored: 0 });
    expect((await rowsOf('events')).map((row) => row['status_code'])).toEqual([63601, 63553, 62467]);
    expect(await service.rows("SELECT 1 FROM devices WHERE device_id = 'never-seen'")).toEqual([]);
  });
});

it('fetches what the server could not forward, once, as no sign of life', async () => {
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  const device = deviceOf('lost', 77);
  const own = (ms: number): Json => positionAt(ms, { deviceId: 77, latitude: 40 + (nowMs - ms) / 1e8 });
  // The number of the device counts as the server says it now.
  await forward({ position: own(nowMs - 7_200_000), device: { ...device, id: 5 } });
  const before = await view('lost');
  // It stored these, and one more that arrived.
  stored = [7_200_000, 3_600_000, 1_800_000, 60_000].map((ago) => ({ ...own(nowMs - ago), id: ago }));
  const lost = service.api.of(lostPositions);
  await lost.runNow();
  expect(await rowsOf('lost')).toHaveLength(4);
  expect(await view('lost')).toMatchObject({
    deviceLastValidTimestamp: (nowMs - 60_000) / 1000,
    deviceLastHeartbeat: before['deviceLastHeartbeat'],
  });
  const state = await service.call({ path: '/api/v1/tracker/gettracker/lost/authorization', token: admin });
  expect(state.json()).toMatchObject({ source: 'traccar', uniqueID: 'lost', fetchesLost: true });
  asked = [];
  stored = [...stored, own(nowMs - 120_000)];
  await lost.runNow();
  expect(await rowsOf('lost')).toHaveLength(5);
  // The next look goes back a little only.
  const [, fromMs = 0] = asked.find(([id]) => id === 77) ?? [];
  expect(nowMs - fromMs).toBeLessThan(15 * 60_000);
});

describe('a phone', () => {
  const coords = {
    latitude: -6.1148096,
    longitude: 106.6837015,
    accuracy: 3.8,
    speed: 18.67,
    speed_accuracy: 0.26,
    heading: 63,
    heading_accuracy: 0.28,
    altitude: 35.7,
    altitude_accuracy: 3.8,
  };
  const location: Json = {
    event: 'motionchange',
    is_moving: false,
    uuid: '0e9a2473-a9a7-4c00-997b-fb97d2154e75',
    timestamp: '2021-07-21T08:06:34.444Z',
    odometer: 0,
    coords,
    activity: { type: 'still', confidence: 100 },
    battery: { is_charging: false, level: 0.79 },
    extras: {},
  };
  let phones = 0;
  /** A phone of its own, and the path with its key. */
  const phone = async () => {
    const deviceID = `phone-of-${++phones}`;
    const made = await post('/tracker/createphonekey/authorization', { deviceID });
    return { deviceID, path: String(made.json()['path']) };
  };
  const formType = 'application/x-www-form-urlencoded';

  // Inputs of `OsmAndProtocolDecoderTest.java` and `OwnTracksProtocolDecoderTest.java` of Traccar (Apache 2.0), August 2026.
  const queries: readonly (readonly [query: string, wanted: Json])[] = [
    [
      'id=123456&timestamp=1377177267&cell=257,02,16,2224&cell=257,02,16,2223,-90&wifi=00-14-22-01-23-45,-80&wifi=00-1C-B3-09-85-15,-70',
      {
        timestamp_ms: 1_377_177_267_000,
        status_code: 61536,
        latitude: null,
        attributes:
          '{"cell":"257,02,16,2224 257,02,16,2223,-90","wifi":"00-14-22-01-23-45,-80 00-1C-B3-09-85-15,-70"}',
      },
    ],
    [
      'id=902064&lat=42.06288&lon=-88.23412&timestamp=2016-01-27T18%3A55%3A47Z&hdop=6.0&altitude=224.0&speed=0.0',
      {
        timestamp_ms: Date.UTC(2016, 0, 27, 18, 55, 47),
        status_code: 61472,
        latitude: 42.06288,
        longitude: -88.23412,
        altitude: 224,
        speed: 0,
        heading: null,
        hdop: 6,
      },
    ],
    [
      'id=902064&lat=42.06288&lon=-88.23412&timestamp=1442068686579&hdop=6.0&altitude=224.0&speed=27&batt=87',
      { timestamp_ms: 1_442_068_686_579, speed: 50.004, attributes: '{"hdop":6,"batteryLevel":87}' },
    ],
    [
      'lat=49.60688&lon=6.15788&timestamp=2014-06-04+09%3A10%3A11&altitude=384.7&speed=0.0&id=353861053849681',
      { timestamp_ms: Date.UTC(2014, 5, 4, 9, 10, 11) },
    ],
    [
      'id=123456&timestamp=1377177267&lat=60.0&lon=30.0&speed=0.0&bearing=0.0&altitude=0&hdop=0.0',
      { speed: 0, heading: null, altitude: null, hdop: null },
    ],
    ['id=123456&timestamp=1377177267&lat=60.0&lon=30.0', { speed: null, heading: null, altitude: null }],
    [
      'lat=60.0&lon=30.0&speed=0.0&heading=0.0&vacc=0&hacc=0&altitude=0&deviceid=123456',
      { time_quality: 'server', latitude: 60, altitude: null },
    ],
    [
      'id=861001000719969&lat=41.666667&lon=-0.883333&altitude=350.059479&speed=0.000000&batt=87',
      { altitude: 350.059479 },
    ],
    ['id=123456&timestamp=1377177267&location=60.0,30.0', { latitude: 60, longitude: 30 }],
    [
      'id=123456789012345&timestamp=1504763810&lat=40.7232948571&lon=-74.0061408571&bearing=7.19889788244&speed=40&ignition=true&rpm=933&fuel=24',
      {
        speed: 74.08,
        heading: 7.19889788244,
        inputs: '{"ignition":true}',
        attributes: '{"rpm":933,"ignition":true,"fuel":24}',
      },
    ],
    // Of Traccar Client 8 with its alarm, and of GPSLogger.
    [
      'id=1&timestamp=1377177267&lat=60&lon=30&speed=0.0&bearing=0.0&altitude=0.0&accuracy=4.5&batt=87.0&charge=true&mock=true&alarm=sos&notificationToken=of-the-phone&driverUniqueId=0042',
      {
        status_code: 63553,
        attributes:
          '{"driverUniqueId":"0042","accuracy":4.5,"batteryLevel":87,"charge":true,"mock":true,"alarm":"sos"}',
      },
    ],
    [
      'lat=12.193&lon=19.111&timestamp=2016-03-05T21:24:29.949+02:00&valid=false&bearing=359',
      { timestamp_ms: Date.UTC(2016, 2, 5, 19, 24, 29, 949), status_code: 61536, latitude: null },
    ],
    ['lat=12.193&lon=19.111&timestamp=1457205869&bearing=359.0', { speed: null, heading: 359 }],
  ];
  it.each(queries)('sends %s by GET, by POST and as a form, and it is stored once', async (query, wanted) => {
    const { deviceID, path } = await phone();
    const hasTime = query.includes('timestamp');
    const ways: readonly Parameters<Service['call']>[0][] = [
      { path: `${path}?${query}` },
      { method: 'POST', path: `${path}?${query}` },
      { method: 'POST', path: `${path}?${query}`, headers: { 'content-type': formType }, body: '' },
      { method: 'POST', path, headers: { 'content-type': formType }, body: query },
      { method: 'POST', path, headers: { 'content-type': '' }, body: query },
    ];
    for (const [at, way] of ways.entries())
      expect((await service.call(way)).json(), String(at)).toMatchObject({
        stored: at > 0 && hasTime ? 0 : 1,
        result: 'ok',
      });
    const [row, ...more] = await rowsOf(deviceID);
    expect(row).toMatchObject(wanted);
    expect(more).toHaveLength(hasTime ? 0 : 4);
  });

  const unknownFix = { speed_accuracy: -1, speed: -1, heading: -1, altitude: 0, altitude_accuracy: -1 };
  const bodies: readonly (readonly [name: string, body: Json, wanted: readonly Json[]])[] = [
    [
      'Traccar Client',
      { location, device_id: '8737767034' },
      [
        {
          timestamp_ms: Date.UTC(2021, 6, 21, 8, 6, 34, 444),
          speed: 67.212,
          heading: 63,
          altitude: 35.7,
          odometer: null,
          attributes:
            '{"accuracy":3.8,"batteryLevel":79,"event":"motionchange","motion":false,"activity":"still"}',
        },
      ],
    ],
    [
      'Traccar Client that knows a place only',
      {
        location: {
          ...location,
          mock: true,
          coords: { latitude: 37.785834000000001, longitude: -122.406417, accuracy: 5, ...unknownFix },
          battery: { level: -1, is_charging: false },
        },
      },
      [{ latitude: 37.785834, speed: null, heading: null, altitude: null }],
    ],
    [
      'Traccar Client with members of its user, and an alarm',
      {
        location: {
          ...location,
          odometer: 1200.5,
          alarm: 'sos',
          extras: { alarm: 'tow', bool: false, double: 1.345, list: [1] },
        },
      },
      [
        {
          status_code: 63553,
          odometer: null,
          attributes:
            '{"alarm":"sos","bool":false,"double":1.345,"accuracy":3.8,"batteryLevel":79,"event":"motionchange","motion":false,"tripOdometer":1200.5,"activity":"still"}',
        },
      ],
    ],
    [
      'an app on the same library that sends several at once',
      { location: [location, { timestamp: '2021-07-21T08:06:35Z', battery: { level: 0.5 } }] },
      [{ latitude: -6.1148096 }, { status_code: 61536, latitude: null, attributes: '{"batteryLevel":50}' }],
    ],
    [
      'OwnTracks',
      {
        cog: 271,
        lon: 2.29513,
        acc: 5,
        vel: 61,
        vac: 21,
        lat: 48.85833,
        tst: 1_497_349_316,
        alt: 167,
        _type: 'location',
        tid: 'JJ',
        t: 'u',
        batt: 67,
      },
      [
        {
          timestamp_ms: 1_497_349_316_000,
          speed: 61,
          heading: 271,
          altitude: 167,
          attributes: '{"accuracy":5,"batteryLevel":67,"event":"u"}',
        },
      ],
    ],
    ['OwnTracks without a place', { _type: 'lwt', tst: 1_497_349_316 }, []],
    [
      'Overland',
      {
        locations: [
          {
            type: 'Feature',
            geometry: { type: 'Point', coordinates: [-122.030581, 37.3318] },
            properties: {
              timestamp: '2015-10-01T08:00:00-0700',
              altitude: 0,
              vertical_accuracy: -1,
              speed: 4,
              horizontal_accuracy: 30,
              motion: ['driving'],
              battery_state: 'charging',
              battery_level: 0.8,
            },
          },
        ],
      },
      [
        {
          timestamp_ms: Date.UTC(2015, 9, 1, 15),
          latitude: 37.3318,
          longitude: -122.030581,
          speed: 14.4,
          altitude: null,
          attributes: '{"accuracy":30,"batteryLevel":80,"charge":true}',
        },
      ],
    ],
  ];
  it.each(bodies)('of %s is read, and each record is stored once', async (_name, body, wanted) => {
    const { deviceID, path } = await phone();
    for (const stored of [wanted.length, 0]) {
      const answer = await service.call({ method: 'POST', path, body });
      expect(answer.json()).toMatchObject({ stored, repeated: wanted.length - stored, result: 'ok' });
    }
    expect(await rowsOf(deviceID)).toEqual(wanted.map((one) => expect.objectContaining(one)));
  });

  it('with a clock that cannot be right need not repeat its record, and loses no alarm', async () => {
    const { deviceID, path } = await phone();
    const times = ['noon', '0', '', '-1', '99999999999999', '1e300', '1970-01-01T00:00:00Z'];
    for (const timestamp of times) {
      const query = `lat=43.5&lon=-79.5&alarm=sos&timestamp=${encodeURIComponent(timestamp)}`;
      const answer = await service.call({ path: `${path}?${query}` });
      expect(answer.json(), timestamp).toMatchObject({ stored: 1 });
    }
    const broken = [
      'lat=43.5&lon=&timestamp=1457205869',
      'location=43.5&timestamp=1457205870',
      'lat=x&lon=y&timestamp=1457205871',
    ];
    for (const query of broken) expect((await service.call({ path: `${path}?${query}` })).status).toBe(200);
    const rows = await rowsOf(deviceID);
    expect(rows).toHaveLength(times.length + broken.length);
    for (const [at, timestamp] of times.entries())
      expect(rows[at]).toMatchObject({
        status_code: 63553,
        time_quality: 'server',
        latitude: null,
        attributes: expect.stringContaining(
          `"timestamp":${JSON.stringify(timestamp)},"lat":43.5,"lon":-79.5`,
        ),
      });
    for (const row of rows.slice(times.length))
      expect(row).toMatchObject({ status_code: 61536, latitude: null });
    expect(rows.at(-1)).toMatchObject({ attributes: '{"lat":"x","lon":"y"}' });
  });

  it('keeps what is of no app that is known, and what comes too fast', async () => {
    const { deviceID, path } = await phone();
    const known = { location };
    for (const body of [
      {},
      { _type: 'encrypted', data: 'x' },
      { latitude: 1 },
      { locations: 7 },
      { location: null },
      { location: Array.from({ length: 1001 }, () => location) },
    ]) {
      const answer = await service.call({ method: 'POST', path, body });
      expect([answer.status, codeOf(answer)]).toEqual([422, 'invalid_content']);
    }
    for (const way of [
      { body: '{"location":', headers: { 'content-type': 'application/json' } },
      { body: 'lat=1&lon=1', headers: { 'content-type': 'text/csv' } },
    ])
      expect((await service.call({ method: 'POST', path, ...way })).status).toBeGreaterThanOrEqual(400);
    expect(await rowsOf(deviceID)).toEqual([]);
    const many = Array.from({ length: 1000 }, (_, at) => ({
      ...location,
      timestamp: iso(base + at * 1000),
    }));
    const statuses: number[] = [];
    for (let at = 0; at < 8; at++)
      statuses.push((await service.call({ method: 'POST', path, body: { location: many } })).status);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(503);
    expect(await rowsOf(deviceID)).toHaveLength(1000);
    const other = await phone();
    expect((await service.call({ method: 'POST', path: other.path, body: known })).status).toBe(200);
  });

  it('has one key, which a new one ends, and never that of a unit or of a tracker', async () => {
    const { deviceID, path } = await phone();
    expect((await service.call({ path: path.replace(/.\/auth/, '/auth') })).status).toBe(404);
    await post('/tracker/createphonekey/authorization', { deviceID });
    for (const way of [{ path }, { method: 'POST', path, body: { location } }] as const)
      expect((await service.call(way)).status).toBe(404);
    for (const taken of ['truck-1', '86-34-x', 'once'])
      expect(codeOf(await post('/tracker/createphonekey/authorization', { deviceID: taken })), taken).toBe(
        'conflict',
      );
    expect(service.logLines.join()).not.toContain(path.split('/').at(-2));
  });
});
