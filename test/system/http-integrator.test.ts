// The service as it answers an integrator with nothing but the text of the interface: names as the text writes them, ids as they
// were returned, positions that can be drawn. Over real sockets.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, pathVariables, servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/operations.ts';
import { type HttpService, prepareCall } from '../support/http/http-fixtures.ts';
import { bodyOf, fill, isEndless, startSeededService } from '../support/http/operation-calls.ts';

type Json = Readonly<Record<string, unknown>>;

let seeded: Awaited<ReturnType<typeof startSeededService>>;
let service: HttpService;
let base = '';

beforeAll(async () => {
  seeded = await startSeededService();
  ({ service } = seeded);
  base = `http://127.0.0.1:${await service.http.listen({ host: '127.0.0.1', port: 0 })}`;
});
afterAll(() => service.close());

interface Sent {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly body?: unknown;
}

async function ask(path: string, { method, token = seeded.token, body }: Sent = {}) {
  const answer = await fetch(`${base}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: token,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, json: (): Json => JSON.parse(text) as Json };
}

/** The answer of a call that must succeed. */
async function need(path: string, sent: Sent = {}): Promise<Json> {
  const { status, text } = await ask(path, sent);
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as Json;
}

const listed = operations.map((operation) => [operation.id, operation] as const);
const answering = listed.filter(([, operation]) => !isEndless(operation));

/** Sends an operation so that it succeeds, with its path and body changed. */
async function succeedWith(
  operation: Operation,
  change: { readonly path?: (path: string) => string; readonly body?: (body: Json) => Json },
) {
  const { params, body = bodyOf(operation), token } = await prepareCall(service, operation);
  const filled = fill(operation, (change.path ?? ((path) => path))(servedPaths(operation)[0] ?? ''), params);
  const sent = body === undefined ? undefined : (change.body ?? ((same: Json) => same))(body as Json);
  return ask(filled, {
    method: operation.method,
    token: token ?? seeded.tokenOf(operation) ?? '',
    body: sent,
  });
}

describe('the operation "feature engineCutoff"', () => {
  it('has a path of its own that asks for the cutoff without naming the feature', async () => {
    const made = await need('/api/v1/command/feature/engineCutoff/authorization', {
      body: { deviceID: 'truck-17', state: '1', reason: 'stolen' },
    });
    expect(made).toMatchObject({ feature: 'enginecutoff', state: '1', commandState: 'requested' });
    const shown = await need('/api/v1/device/getdevice/truck-17/authorization');
    expect(shown).toMatchObject({
      hasPendingCommands: 'true',
      state: { enginecutoff: { pendingState: '1', commandID: made['commandID'] } },
    });
  });

  it('takes no other feature', async () => {
    const answer = await ask('/api/v1/command/feature/enginecutoff/authorization', {
      body: { deviceID: 'truck-17', feature: 'cargoaccess', state: '1' },
    });
    expect(answer.status).toBe(422);
  });
});

describe('the fixed segments of a path', () => {
  /** Letters of the fixed segments in the other case; variables stay. */
  const swapped = (path: string): string =>
    path
      .split(/(\{\w+\})/)
      .map((part) =>
        part.startsWith('{')
          ? part
          : part.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase())),
      )
      .join('');

  it.each(answering)('of %s are found in any letter case', async (_id, operation) => {
    const { status, text } = await succeedWith(operation, { path: swapped });
    expect({ status, text }).toMatchObject({ status: 200 });
  });

  it('are found as the text writes the operations that it only names', async () => {
    for (const path of [
      '/api/v1/geozone/getGeozones/authorization',
      '/api/v1/eventdata/deviceData/truck-17/authorization',
      '/api/v1/user/getUser/dispatch/authorization',
      '/api/v1/device/lostVehicles/authorization',
      '/device/getAllDevices/authorization',
    ]) {
      await need(path, { token: seeded.admin });
    }
  });

  it('answer 405 to a wrong verb in any letter case', async () => {
    expect((await ask('/api/v1/user/createUser/authorization')).status).toBe(405);
  });

  it('leave the case of ids alone: another case is another object', async () => {
    await need('/api/v1/device/createdevice/authorization', { body: { deviceID: 'Case-1' } });
    expect(await need('/API/V1/DEVICE/GETDEVICE/Case-1/AUTHORIZATION')).toMatchObject({ deviceID: 'Case-1' });
    expect((await ask('/api/v1/device/getdevice/case-1/authorization')).status).toBe(404);
  });
});

describe('a path that is none', () => {
  const hintOf = async (path: string, method = 'GET'): Promise<string> => {
    const answer = await ask(path, { method, token: '' });
    expect(answer.status).toBe(404);
    return String((answer.json()['error'] as Json)['hint']);
  };

  it.each([
    ['POST', '/api/v1/createUser/authorization', 'POST /api/v1/user/createuser/authorization'],
    ['GET', '/api/v1/getGeozones/authorization', 'GET /api/v1/geozone/getgeozones/authorization'],
    [
      'GET',
      '/api/v1/eventdata/deviceData/truck-17',
      'GET /api/v1/eventdata/devicedata/{deviceID}/authorization',
    ],
    [
      'GET',
      '/api/v1/device/getdevices/authorization',
      'GET /api/v1/device/getdevice/{deviceID}/authorization',
    ],
    ['GET', '/api/v1/device/getaldevices/authorization', 'GET /api/v1/device/getalldevices/authorization'],
    [
      'GET',
      '/api/v1/device/getDeviceNotifications/truck-17/authorization',
      'GET /api/v1/notificationqueue/getdevicenotifications/{deviceID}/authorization',
    ],
    ['GET', '/geozone/getgeozones/authorization', 'GET /api/v1/geozone/getgeozones/authorization'],
    [
      'POST',
      '/api/v1/command/engineCutoff/authorization',
      'POST /api/v1/command/feature/enginecutoff/authorization',
    ],
    [
      'GET',
      '/api/v1/notification/unregister-push/p/authorization',
      'GET /api/v1notification/unregister-push/{pushID}/authorization',
    ],
  ])('%s %s is answered with the operation that was probably meant', async (method, path, meant) => {
    expect(await hintOf(path, method)).toContain(`Did you mean ${meant}?`);
  });

  it.each([
    ['GET', '/device/getalldevices/authorization?LIMIT=2', '/LIMIT is not known here; did you mean limit?'],
    ['GET', '/device/getalldevices/authorization?limt=2', '/limt is not known here; did you mean limit?'],
    ['GET', '/device/getalldevices/authorization?colour=2', '/colour is not known here'],
    [
      'POST',
      '/api/v1/device/updatedevice/authorization',
      '/deviceDrivers is not known here; did you mean devicedriver?',
    ],
  ])('names the member that was probably meant by %s %s', async (method, path, detail) => {
    const body = method === 'POST' ? { deviceID: 'truck-17', deviceDrivers: 'Ann' } : undefined;
    const { status, text } = await ask(path, { method, body });
    expect(status).toBe(422);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'invalid_content', detail } });
  });

  it('suggests nothing where nothing is close, and quotes nothing that was sent', async () => {
    for (const path of [
      '/wp-login.php',
      '/api/v1/nothing/like/it/authorization',
      `/api/v1/${'a/'.repeat(200)}`,
    ]) {
      expect(await hintOf(path)).not.toContain('Did you mean');
    }
    const hint = await hintOf('/api/v1/device/getdevic/rival-1/authorization');
    expect(hint).toContain('Did you mean GET /api/v1/device/getdevice/{deviceID}/authorization?');
    expect(hint).not.toContain('rival-1');
  });

  it('suggests the same to every caller, whether the object exists or not', async () => {
    const one = await hintOf('/api/v1/device/getdevic/rival-1/authorization');
    expect(await hintOf('/api/v1/device/getdevic/no-such/authorization')).toBe(one);
  });
});

describe('an id', () => {
  const numeric = '356938035643817';

  it('uniqueid is taken as it is returned, and as a number', async () => {
    const path = '/api/v1/device/createdevice/authorization';
    const made = await need(path, { body: { deviceID: 'ids-1', uniqueid: numeric } });
    expect(made['deviceUnique']).toBe(numeric);
    const change = '/api/v1/device/updatedevice/authorization';
    for (const uniqueid of [made['deviceUnique'], Number(made['deviceUnique'])]) {
      expect(await need(change, { body: { deviceid: 'ids-1', uniqueid } })).toMatchObject({
        deviceUnique: numeric,
      });
    }
    expect((await ask(path, { body: { deviceID: 'ids-2', uniqueid: numeric } })).status).toBe(422);
    for (const uniqueid of ['x', '1.5', '-1', ' 1', '0x10', '99999999999999999', 1.5, -1, true]) {
      expect((await ask(path, { body: { deviceID: 'ids-3', uniqueid } })).status, String(uniqueid)).toBe(422);
    }
  });

  it('uniqueid of a device without one is empty, and is taken so', async () => {
    const path = '/api/v1/device/createdevice/authorization';
    const made = await need(path, { body: { deviceID: 'ids-4' } });
    expect(made['deviceUnique']).toBe('');
    const given = await need(path, { body: { deviceID: 'ids-4', uniqueid: 77_001 } });
    expect(given['deviceUnique']).toBe('77001');
    const again = await need('/api/v1/device/updatedevice/authorization', {
      body: { deviceid: 'ids-4', uniqueid: made['deviceUnique'] },
    });
    expect(again['deviceUnique']).toBe('');
    await need(path, { body: { deviceID: 'ids-5', uniqueid: '' } });
  });

  it('keeps no leading zeros as a uniqueid: text and number name the same unit', async () => {
    const made = await need('/api/v1/device/createdevice/authorization', {
      body: { deviceID: 'ids-6', uniqueid: '0077002' },
    });
    expect(made['deviceUnique']).toBe('77002');
  });

  const isID = (name: string): boolean => /id$/i.test(name);
  const bodied = answering.filter(
    ([, { body }]) => body !== null && Object.keys(body.properties).some((name) => isID(name)),
  );

  it.each(bodied)('is taken by %s whatever the case of its member', async (_id, operation) => {
    for (const respell of [
      (name: string) => name.replace(/ID$/i, 'id'),
      (name: string) => name.replace(/ID$/i, 'ID'),
      (name: string) => name.toLowerCase(),
    ]) {
      const { status, text } = await succeedWith(operation, {
        body: (body) =>
          Object.fromEntries(
            Object.entries(body).map(([name, value]) => [isID(name) ? respell(name) : name, value]),
          ),
      });
      expect({ status, text }).toMatchObject({ status: 200 });
    }
  });

  /** Members and variables of the operations that hold an id or number which an answer gives in decimal digits. */
  const isDecimal = (value: unknown): boolean =>
    (typeof value === 'string' && /^[0-9]{1,15}$/.test(value)) || typeof value === 'number';
  const numbered = answering.filter(([, { body, examples }]) =>
    Object.entries((body === null ? {} : (examples.body as Json)) ?? {}).some(
      ([name, value]) => (isID(name) || name === 'upTo') && isDecimal(value),
    ),
  );

  it.each(numbered)('in digits is taken by %s as number and as text', async (_id, operation) => {
    for (const form of [String, Number]) {
      const { status, text } = await succeedWith(operation, {
        body: (body) =>
          Object.fromEntries(
            Object.entries(body).map(([name, value]) => [
              name,
              (isID(name) || name === 'upTo') && isDecimal(value) ? form(value as string) : value,
            ]),
          ),
      });
      expect({ status, text }).toMatchObject({ status: 200 });
    }
  });

  /** Of devices that another server forwards, and of no other. */
  const isOfTrackers = (id: string): boolean => id === 'getTracker';

  it('of a device is taken in every path, body and query that has one, as it was returned', async () => {
    // In both cases, digits only, and of the greatest length: every form that a device id has.
    for (const deviceID of ['4711', 'A-b_9', `x${'9'.repeat(63)}`]) {
      const made = await need('/api/v1/device/createdevice/authorization', { body: { deviceID } });
      for (const [id, operation] of listed) {
        const variable = pathVariables(operation.path).find(
          (name) => name === 'deviceID' || name === 'device',
        );
        if (variable === undefined || isEndless(operation) || isOfTrackers(id)) continue;
        const path = fill(operation, servedPaths(operation)[0] ?? '', {
          [variable]: String(made['deviceID']),
        });
        const { status, text } = await ask(path, {
          method: operation.method,
          token: seeded.tokenOf(operation),
        });
        expect({ id, status, text }).toMatchObject({ status: 200 });
      }
    }
  });
});

describe('a name', () => {
  const names = [
    'Main depot',
    'Hof 3/4 (Süd), Köln',
    '東京 第1倉庫',
    "L'entrepôt – Montréal & Cie.",
    'Склад №1',
    '🚚 yard',
    '50% dock?#1',
    '"North" \\ old',
  ];

  it.each(names)('%j names a geozone in every operation', async (geozoneID) => {
    const made = await need('/api/v1/geozone/creategeozone/authorization', { body: { geozoneID } });
    expect(made).toMatchObject({ geozoneID, geozoneRadius: 500, geozoneType: 3 });
    const encoded = encodeURIComponent(String(made['geozoneID']));
    expect(await need(`/api/v1/geozone/getgeozone/${encoded}/authorization`)).toMatchObject({ geozoneID });
    expect(
      await need('/api/v1/geozone/updategeozone/authorization', {
        body: { geozoneID, geozoneDisplayName: geozoneID },
      }),
    ).toMatchObject({ geozoneDisplayName: geozoneID });
    const all = await need('/api/v1/device/getalldevices/authorization');
    expect(Object.keys(all['geozones'] as object)).toContain(geozoneID);
    await need('/api/v1/geozone/deletegeozone/authorization', { body: { geozoneID } });
    expect((await ask(`/api/v1/geozone/getgeozone/${encoded}/authorization`)).status).toBe(404);
  });

  it.each(names)('%j names a route', async (routeID) => {
    const made = await need('/api/v1/route/routeupdate/authorization', {
      body: {
        routeID,
        routePoint1lat: '43.6',
        routePoint1lng: '-79.3',
        routePoint2lat: '43.7',
        routePoint2lng: '-79.4',
      },
    });
    expect(made).toMatchObject({ routeID });
    await need('/api/v1/route/deleteroute/authorization', { body: { routeID } });
  });

  it.each(names)('%j describes devices, drivers, users and groups', async (name) => {
    const device = { deviceID: 'named', deviceDescription: name, deviceDriver: name };
    expect(await need('/api/v1/device/createdevice/authorization', { body: device })).toMatchObject(device);
    const settings = { deviceID: 'named', deviceDisplayName: name };
    expect(await need('/api/v1/device/settings/authorization', { body: settings })).toMatchObject({
      deviceDisplayName: name,
    });
    const user = { userID: 'guest', userDisplayName: name };
    const { admin: token } = seeded;
    expect(await need('/api/v1/user/updateuser/authorization', { body: user, token })).toMatchObject(user);
    const group = { groupID: 'named', groupDisplayName: name };
    expect(await need('/api/v1/group/updategroup/authorization', { body: group, token })).toMatchObject(
      group,
    );
  });

  it.each([
    ['', 'empty'],
    [' ', 'a space'],
    [' depot', 'a space before it'],
    ['depot ', 'a space after it'],
    ['.', 'a path that every client takes away'],
    ['..', 'a path that every client takes away'],
    ['a\nb', 'a line break'],
    ['a\tb', 'a tab'],
    ['a\u0085b', 'a control character of Latin-1'],
    ['a\u2028b', 'a line separator'],
    ['a\u202eb', 'a turn of the writing direction'],
    ['x'.repeat(65), '65 characters'],
    ['a\ud800b', 'half a character'],
  ])('%j is refused as the name of a geozone or route: it is %s', async (name) => {
    for (const [path, body] of [
      ['/api/v1/geozone/creategeozone/authorization', { geozoneID: name }],
      [
        '/api/v1/route/routeupdate/authorization',
        { routeID: name, routePoint1lat: '1', routePoint1lng: '1', routePoint2lat: '2', routePoint2lng: '2' },
      ],
    ] as const) {
      expect((await ask(path, { body })).status).toBe(422);
    }
  });

  it('holds no control character wherever people write one', async () => {
    const text = 'a\u0007b';
    for (const [path, body] of [
      ['/api/v1/device/createdevice/authorization', { deviceID: 'named', deviceDescription: text }],
      ['/api/v1/device/updatedevice/authorization', { deviceid: 'truck-17', devicedriver: text }],
      ['/api/v1/geozone/creategeozone/authorization', { geozoneID: 'bell', geozoneDisplayName: text }],
      ['/api/v1/geozone/creategeozone/authorization', { geozoneID: 'bell', geozoneDescription: text }],
      [
        '/api/v1/route/routeupdate/authorization',
        {
          routeID: 'bell',
          routeDisplayName: text,
          routePoint1lat: '1',
          routePoint1lng: '1',
          routePoint2lat: '2',
          routePoint2lng: '2',
        },
      ],
    ] as const) {
      const { status, text: answer } = await ask(path, { body });
      expect({ status, answer }).toMatchObject({ status: 422 });
    }
  });

  it('of a geozone comes back in the events of a vehicle', async () => {
    await need('/api/v1/geozone/creategeozone/authorization', {
      body: { geozoneID: 'Main depot', geozoneDescription: 'By the harbour' },
    });
    await service.device('acme', 'visitor');
    await service.events('acme', 'visitor', {
      boot: 'v1',
      events: [
        {
          seq: 1,
          timestamp: seeded.nowS - 5,
          statusCode: 61968,
          latitude: 43.6,
          longitude: -79.3,
          geozoneID: 'Main depot',
        },
      ],
    });
    expect(await need('/api/v1/eventdata/latest/visitor/authorization')).toMatchObject({
      eventdata: { devices: [{ geozoneID: 'Main depot', geozoneDescription: 'By the harbour' }] },
    });
  });
});

describe('a position', () => {
  const place = { latitude: 43.65107, longitude: -79.34702 };
  const send = async (deviceID: string, boot: string, events: readonly object[]) => {
    await service.events('acme', deviceID, {
      boot,
      events: events.map((event, at) => ({ seq: at + 1, timestamp: seeded.nowS - 300 + at, ...event })),
    });
  };
  const metadataOf = async (deviceID: string, query = ''): Promise<readonly Json[]> =>
    (await need(`/api/v1/eventdata/devicemetadata/${deviceID}/0/0/authorization${query}`))[
      'metadata'
    ] as Json[];
  const latestOf = async (deviceID: string): Promise<readonly Json[]> =>
    ((await need(`/api/v1/eventdata/latest/${deviceID}/authorization`))['eventdata'] as { devices: Json[] })
      .devices;

  beforeAll(async () => {
    for (const deviceID of ['pins', 'blind', 'parked']) await service.device('acme', deviceID);
    await send('pins', 'p1', [{ statusCode: 61472, ...place }, { statusCode: 64835 }, { statusCode: 63553 }]);
    await send('blind', 'b1', [{ statusCode: 61536 }]);
    await send('parked', 'k1', [
      { statusCode: 61715, ...place },
      ...Array.from({ length: 5 }, () => ({ statusCode: 61716, ...place })),
      { statusCode: 61713, ...place },
      { statusCode: 61716, latitude: 43.7, longitude: -79.34702 },
      { statusCode: 61536 },
      { statusCode: 61536 },
    ]);
  });

  it('differs from none in metadata', async () => {
    expect(
      (await metadataOf('pins')).map(({ isPositionValid, latitude }) => [isPositionValid, latitude]),
    ).toEqual([
      [true, '43.65107'],
      [false, '0.00000'],
      [false, '0.00000'],
    ]);
  });

  it('is what `latest` gives: the newest record that has one', async () => {
    expect(await latestOf('pins')).toMatchObject([{ statusCode: 61472, isPositionValid: true, ...place }]);
    await need('/api/v1/events/createactivation/pins/63553/authorization');
    expect(await latestOf('pins')).toMatchObject([{ statusCode: 61472, isPositionValid: true, ...place }]);
    await send('pins', 'p2', [
      { statusCode: 61714, timestamp: seeded.nowS - 10, latitude: 43.7, longitude: -79.4 },
    ]);
    expect(await latestOf('pins')).toMatchObject([{ statusCode: 61714, latitude: 43.7 }]);
    // Late records change nothing.
    await send('pins', 'p3', [
      { statusCode: 61714, timestamp: seeded.nowS - 1000, latitude: 1, longitude: 1 },
    ]);
    expect(await latestOf('pins')).toMatchObject([{ latitude: 43.7 }]);
  });

  it('is not made up for a device that never had one', async () => {
    expect(await latestOf('blind')).toEqual([]);
  });

  it('is one metadata entry for all consecutive records with the same values, and `count` is their number', async () => {
    const entries = await metadataOf('parked');
    expect(entries.map(({ statusCode, latitude, count }) => [statusCode, latitude, count])).toEqual([
      ['61715', '43.65107', '1'],
      ['61716', '43.65107', '5'],
      ['61713', '43.65107', '1'],
      ['61716', '43.70000', '1'],
      ['61536', '0.00000', '1'],
      ['61536', '0.00000', '1'],
    ]);
    expect(entries[1]).toMatchObject({ timestamp: seeded.nowS - 299 });
    const { eventdata } = await need('/api/v1/eventdata/devicemetadata/parked/0/0/authorization');
    expect((eventdata as { devices: Json[] }).devices).toHaveLength(10);
    expect((await metadataOf('parked', '?fields=count')).map(({ count }) => count)).toEqual([
      '1',
      '5',
      '1',
      '1',
      '1',
      '1',
    ]);
  });
});

describe('the sensor `fuel`', () => {
  it.each([
    [0.561, '1', '0.561'],
    [1, '1', '1'],
    [0.0004, '0', '0'],
    [0, '0', '0'],
  ])(
    'of a tank that is %d full has the state %s of its two texts, and the level beside it',
    async (fuelLevel, state, level) => {
      const deviceID = `tank-${String(fuelLevel).replace('.', '-')}`;
      await service.device('acme', deviceID);
      await service.events('acme', deviceID, {
        boot: 't1',
        events: [{ seq: 1, timestamp: seeded.nowS - 60, statusCode: 4384, fuelLevel }],
      });
      const sensor = { onText: 'Present', offText: 'Empty', state };
      const shown = await need(`/api/v1/device/getdevice/${deviceID}/authorization`);
      expect(shown).toMatchObject({
        sensors: { fuel: sensor },
        fuelLevelAverage: level,
        fuelLevels: [level],
      });
      const metadata = await need(`/api/v1/eventdata/devicemetadata/${deviceID}/0/0/authorization`);
      expect(metadata).toMatchObject({ sensors: { fuel: sensor } });
      const { devices } = (await need('/api/v1/device/getalldevices/authorization')) as { devices: Json[] };
      expect(devices.find((one) => one['deviceID'] === deviceID)).toMatchObject({
        sensors: { fuel: sensor },
      });
    },
  );
});

describe('the activation summary', () => {
  it('counts alerts: a door, a lock that moved and a crossing without an alert are reports', async () => {
    await service.account('quiet');
    await service.device('quiet', 'van');
    const token = await service.login('quiet', 'admin');
    const reports = [62672, 62673, 62677, 62688, 62689, 62693, 63637, 63638];
    const alerts = [63625, 63553, 63826, 63601];
    await service.events('quiet', 'van', {
      boot: 'q1',
      events: [
        ...[...reports, ...alerts].map((statusCode) => ({ statusCode })),
        { statusCode: 61968, geozoneID: 'yard', attributes: { alert: false } },
        { statusCode: 62000, geozoneID: 'yard', attributes: { alert: true } },
      ].map((event, at) => ({ seq: at + 1, timestamp: seeded.nowS - 300 + at, ...event })),
    });
    const inOrder = (codes: readonly number[]) => [...codes].sort((one, other) => one - other);
    const wanted = inOrder([...alerts, 62000]);
    expect(await need('/api/v1/events/activations/summary/authorization', { token })).toMatchObject({
      fuel: 1,
      activations: 1,
      cargo: 1,
      base: 2,
    });
    for (const path of [
      '/api/v1/events/activations/authorization',
      '/device/getdeviceactivations/van/authorization',
    ]) {
      const { eventdata } = (await need(path, { token })) as {
        eventdata: { devices: { statusCode: number }[] };
      };
      expect(inOrder(eventdata.devices.map(({ statusCode }) => statusCode))).toEqual(wanted);
    }
    expect(await need('/api/v1/metrics/getMonitorMetaData/authorization', { token })).toMatchObject({
      alarms: 5,
    });
  });
});
