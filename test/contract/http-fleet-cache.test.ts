// The list of devices comes from memory; here it is compared, after every kind of change by every way, with the same list read from
// the store, for each kind of caller. A change that is not seen, or a device that the caller may not see, differs.
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonText } from '../../broker/adapters/http/fastify-answer.ts';
import { gzipPieces } from '../../broker/adapters/http/gzip-pieces.ts';
import { authenticate } from '../../broker/api/base/caller.ts';
import { deviceListOperations } from '../../broker/api/devices/device-list.ts';
import { createFleetCache } from '../../broker/api/fleet/fleet-cache.ts';
import type { FleetCache } from '../../broker/ports/fleet-cache.ts';
import { answerEnded } from '../../broker/scheduling/per-account-limits.ts';
import { AppError } from '../../src/core/errors.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

const path = '/api/v1/device/getalldevices/authorization';
const [getAllDevices] = deviceListOperations;

let service: HttpService;
const tokens = new Map<string, string>();
const tokenOf = (userID: string): string => tokens.get(userID) ?? expect.fail(`no token of ${userID}`);
const devices = Array.from({ length: 300 }, (_unused, at) => `d-${String(at).padStart(3, '0')}`);

/** Nothing is held, so everything is read from the store. */
const nothingHeld: FleetCache = {
  part: async () => null,
  zones: async () => null,
  device: async () => null,
  unchanged: async () => null,
};

async function fromStore(userID: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const caller = await authenticate(tokenOf(userID), service.api);
  const nothing = { lastEventID: null, ifMatch: null, userAgent: null };
  const input = { params: {}, query, body: null, caller, source: '', arrivedUs: 0, ...nothing };
  const until = () => new AbortController().signal;
  const answer = await getAllDevices.run({ ...input, until }, { ...service.api, fleet: nothingHeld });
  return JSON.parse(await jsonText(answer));
}

const call = (userID: string, query: Readonly<Record<string, string>> = {}, headers = {}) =>
  service.call({ path: `${path}?${new URLSearchParams(query).toString()}`, token: tokenOf(userID), headers });

const queries: readonly Readonly<Record<string, string>>[] = [
  {},
  { limit: '7' },
  { cursor: 'd-150' },
  { cursor: 'd-149x', limit: '200' },
  { fields: 'deviceDriver,state' },
  { since: '0' },
];

interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

const rowsOf = async (userID: string, query: Readonly<Record<string, string>> = {}) =>
  JSON.parse((await call(userID, { form: 'rows', ...query })).text) as Rows;

interface Listed {
  readonly deviceID: string;
  readonly deviceLastHeartbeat: number;
  readonly fuelLevelAverage: string | null;
  readonly isForeign: boolean;
  readonly sensors: { readonly ignition: { readonly state: string | null } };
  readonly state: Readonly<Record<'enginecutoff' | 'cargoaccess', Readonly<Record<string, string | null>>>>;
}

/** What the row of a device must hold, by the list of devices and the health of the units. */
function inRow(device: Listed, health: { readonly online: boolean; readonly features: readonly string[] }) {
  const { state, sensors, deviceLastHeartbeat, fuelLevelAverage } = device;
  const reported = (known: string | null | undefined) => (deviceLastHeartbeat === 0 ? null : known);
  const pending = (['enginecutoff', 'cargoaccess'] as const).flatMap((feature) => {
    const { pendingState, commandState, commandID, approvalID } = state[feature];
    return pendingState === null
      ? []
      : [{ feature, state: pendingState, commandState, commandID, approvalID }];
  });
  return {
    ...device,
    fuelLevelAverage: fuelLevelAverage === null ? null : Number(fuelLevelAverage),
    ignition: reported(sensors.ignition.state),
    enginecutoff: reported(state.enginecutoff['state']),
    cargoaccess: reported(state.cargoaccess['state']),
    online: health.online,
    features: health.features,
    pending: pending.length === 0 ? null : pending,
  };
}

/** The rows of every caller, and the same made of the list and the health of the units. */
async function compareRows(): Promise<void> {
  for (const userID of tokens.keys()) {
    const { devices: listed } = (await fromStore(userID, {})) as { readonly devices: readonly Listed[] };
    const answer = await service.call({
      path: '/api/v1/diagnostic/diagnosticall/authorization',
      token: tokenOf(userID),
    });
    const { diagnostics } = answer.json() as {
      readonly diagnostics: readonly { online: boolean; features: string[] }[];
    };
    const { columns, rows } = await rowsOf(userID);
    const wanted = listed.map((device, at) => {
      const members: Readonly<Record<string, unknown>> = inRow(
        device,
        diagnostics[at] ?? expect.fail('a device has no health'),
      );
      return columns.map((name) => members[name]);
    });
    expect([userID, rows]).toEqual([userID, wanted]);
  }
}

/** Every caller and query, from memory and from the store; the same text. */
async function compare(): Promise<void> {
  for (const userID of tokens.keys()) {
    for (const query of queries) {
      const answer = await call(userID, query);
      expect([userID, query, JSON.parse(answer.text)]).toEqual([
        userID,
        query,
        await fromStore(userID, query),
      ]);
    }
    const visible = (await fromStore(userID, {})) as { devices: { deviceID: string }[] };
    for (const device of visible.devices.filter((_unused, at) => at % 50 === 0)) {
      const one = await service.call({
        path: `/api/v1/device/getdevice/${device.deviceID}/authorization`,
        token: tokenOf(userID),
      });
      // It is a whole answer of its own, with the members of every answer.
      expect(one.json()).toMatchObject(device);
    }
  }
}

const asAdmin = async (target: string, body?: unknown) => {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1${target}/authorization`,
    token: tokenOf('admin'),
    ...(body === undefined ? {} : { body }),
  });
  expect([target, answer.status, answer.text]).toEqual([target, 200, answer.text]);
};

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.device('rival', 'd-007');
  for (const deviceID of devices) await service.device('acme', deviceID);
  await service.user('acme', 'dispatch', 'operator');
  await service.user('acme', 'eyes', 'viewer');
  await service.user('acme', 'north', 'operator');
  for (const userID of ['admin', 'dispatch', 'eyes', 'north'])
    tokens.set(userID, await service.login('acme', userID));
  await asAdmin('/group/updategroup', {
    groupID: 'g',
    devices: devices.filter((_unused, at) => at % 3 === 0),
  });
  await asAdmin('/user/updateuser', { userID: 'north', groups: ['g'] });
});
afterAll(() => service.close());

describe('the fleet in memory', () => {
  it('shows each caller what the store holds for them', async () => {
    await compare();
    expect(JSON.parse((await call('north')).text)).toMatchObject({ devices: { length: 100 } });
  });

  const changes: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'events',
      () =>
        service.events('acme', 'd-003', {
          boot: 'b1',
          events: [
            { seq: 1, timestamp: 1_700_000_000, statusCode: 61_472, latitude: 1, longitude: 2, speed: 80 },
            { seq: 2, timestamp: 1_700_000_001, statusCode: 62_465, inputs: { ignition: true } },
          ],
        }),
    ],
    [
      'settings of a device',
      () => asAdmin('/device/settings', { deviceID: 'd-150', pinTag: 'é"\\"authorities":{' }),
    ],
    [
      'a command',
      () => asAdmin('/command/feature', { deviceID: 'd-006', feature: 'enginecutoff', state: '1' }),
    ],
    [
      'its replacement',
      () => asAdmin('/command/feature', { deviceID: 'd-006', feature: 'enginecutoff', state: '0' }),
    ],
    ['a new device', () => asAdmin('/device/createdevice', { deviceID: 'd-150b' })],
    ['an import', () => asAdmin('/device/import', { csv: 'deviceID,deviceDriver\nd-001,A\nd-400,B\n' })],
    [
      'an address',
      () => asAdmin('/device/updateaddress', { deviceID: 'd-003', timestamp: 0, address: 'Yard' }),
    ],
    ['a group', () => asAdmin('/group/updategroup', { groupID: 'g', devices: ['d-001', 'd-150b'] })],
    ['rights of a user', () => asAdmin('/user/updateuser', { userID: 'north', groups: ['all'] })],
    ['rights taken back', () => asAdmin('/user/updateuser', { userID: 'north', groups: ['g'] })],
    ['a geozone', () => asAdmin('/geozone/creategeozone', { geozoneID: 'yard' })],
    [
      'a changed geozone',
      () => asAdmin('/geozone/updategeozone', { geozoneID: 'yard', geozoneDisplayName: 'Yard' }),
    ],
    ['no geozone', () => asAdmin('/geozone/deletegeozone', { geozoneID: 'yard' })],
    ['a deleted device', () => asAdmin('/device/deletedevice', { deviceID: 'd-150b' })],
    [
      'a change past the service',
      () => service.sql("UPDATE devices SET driver = 'X' WHERE device_id = 'd-200'"),
    ],
    ['a group without devices', () => asAdmin('/group/updategroup', { groupID: 'g', devices: [] })],
    ['no group', () => asAdmin('/group/deletegroup', { groupID: 'g' })],
  ];
  it.each(changes)('shows %s at once', async (_name, change) => {
    await call('admin');
    const before = await call('admin', {}, {});
    await change();
    const known = { 'if-none-match': String(before.headers['etag']) };
    expect((await call('admin', {}, known)).status).toBe(200);
    await compare();
    await compareRows();
  });

  it('is the same as rows for each caller, whole, in pages and since a revision', async () => {
    await compareRows();
    const { rows } = await rowsOf('admin');
    const first = await call('admin', { form: 'rows', limit: '200' });
    const { next, more, rows: page } = JSON.parse(first.text) as Rows & { next: string; more: boolean };
    expect([more, page]).toEqual([true, rows.slice(0, 200)]);
    expect((await rowsOf('admin', { cursor: next })).rows).toEqual(rows.slice(200));
    const { asOf } = (await call('admin', { form: 'rows', since: '0' })).json() as { asOf: number };
    await asAdmin('/device/updatedevice', { deviceID: 'd-017', deviceDriver: 'M. Roy' });
    const since = await call('admin', { form: 'rows', since: String(asOf) });
    const { rows: changed, isWhole } = JSON.parse(since.text) as Rows & { isWhole: boolean };
    expect([changed.map(([deviceID]) => deviceID), isWhole]).toEqual([['d-017'], false]);
    expect((await call('admin', { form: 'rows', fields: 'state' })).status).toBe(422);
    expect((await call('admin', { form: 'table' })).status).toBe(422);
  });

  it('shows in a row whether a unit is connected, what it is fitted with, and what it does on its own', async () => {
    await service.sql(
      `UPDATE devices SET is_online = 1, features = '["enginecutoff"]' WHERE device_id = 'd-009'`,
    );
    await service.events('acme', 'd-009', {
      boot: 'b1',
      events: [
        {
          seq: 1,
          timestamp: Date.now(),
          statusCode: 61_472,
          commandID: 'local-1',
          commandState: 'armed',
          attributes: { feature: 'enginecutoff', source: 'zone', state: '1' },
        },
      ],
    });
    await compareRows();
    const { columns, rows } = await rowsOf('admin');
    const row = rows.find(([deviceID]) => deviceID === 'd-009') ?? [];
    expect(Object.fromEntries(columns.map((name, at) => [name, row[at]]))).toMatchObject({
      online: true,
      features: ['enginecutoff'],
      pending: [{ feature: 'enginecutoff', state: '1', commandState: 'armed', commandID: null }],
    });
  });

  it('gives since a revision only what changed, and the whole list when devices were added or deleted', async () => {
    const since = async (asOf: number) =>
      (await call('admin', { since: String(asOf) })).json() as {
        devices: { deviceID: string }[];
        asOf: number;
        isWhole: boolean;
      };
    const first = await since(0);
    expect(first.isWhole).toBe(true);
    expect(await since(first.asOf)).toMatchObject({ devices: [], isWhole: false });
    await asAdmin('/device/settings', { deviceID: 'd-042', pinTag: 'x' });
    await asAdmin('/command/feature', { deviceID: 'd-043', feature: 'cargoaccess', state: '1' });
    const second = await since(first.asOf);
    expect([second.isWhole, second.devices.map(({ deviceID }) => deviceID)]).toEqual([
      false,
      ['d-042', 'd-043'],
    ]);
    await asAdmin('/device/deletedevice', { deviceID: 'd-044' });
    const third = await since(second.asOf);
    expect([third.isWhole, third.devices.some(({ deviceID }) => deviceID === 'd-044')]).toEqual([
      true,
      false,
    ]);
    expect((await since(third.asOf + 1e6)).isWhole).toBe(true);
  });

  it('is not read anew when a client leaves while its view waits, or too many wait', async () => {
    const { db, clock } = service.api;
    let reads = 0;
    const read: typeof db.read = (statement) => {
      reads += 1;
      return db.read(statement);
    };
    const fleet = createFleetCache({ db: { ...db, read }, clock });
    const caller = await authenticate(tokenOf('eyes'), service.api);
    const until = new AbortController().signal;
    const whole = {
      mayUpdate: false,
      names: null,
      after: '',
      limit: null,
      since: null,
      userID: 'eyes',
      until,
    };
    const view = { ...whole, names: new Set(['state']) };
    const work = async (make: () => Promise<void>) => make();
    expect(await fleet.part(caller, { ...whole, inTurn: work })).toMatchObject({ isWhole: true });
    const readsOnce = reads;
    expect(readsOnce).toBeGreaterThan(0);
    for (const fault of [answerEnded(), new AppError('throttled', 'Too many wait')]) {
      const refused = fleet.part(caller, { ...view, inTurn: () => Promise.reject(fault) });
      await expect(refused).rejects.toBe(fault);
    }
    const part = await fleet.part(caller, { ...view, inTurn: work });
    expect(Buffer.concat([...(part?.pieces() ?? [])]).toString()).toContain('"deviceID":"d-299"');
    expect(reads).toBe(readsOnce);
    // A few that changed wait for no view of another caller either.
    await asAdmin('/device/updatedevice', { deviceID: 'd-001', deviceDescription: 'Anew' });
    const later = await authenticate(tokenOf('eyes'), service.api);
    const busy = () => Promise.reject(new AppError('throttled', 'Too many wait'));
    const remade = await fleet.part(later, { ...whole, inTurn: busy });
    expect(Buffer.concat([...(remade?.pieces() ?? [])]).toString()).toContain('Anew');
  });

  it('is the same in gzip, made of parts that were packed before', async () => {
    const plain = await call('admin');
    for (let times = 0; times < 2; times++) {
      const packed = await call('admin', {}, { 'accept-encoding': 'br, gzip' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(packed.raw).toString()).toBe(plain.text);
    }
  });
});

it('joins packed parts of any lengths to one gzip text', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.string(), fc.string({ minLength: 1024, maxLength: 3000 }))),
      async (texts) => {
        const pieces = texts.map((text) => Buffer.from(text));
        const packed: Buffer[] = [];
        for await (const part of gzipPieces(pieces)) packed.push(part);
        expect(gunzipSync(Buffer.concat(packed)).toString()).toBe(texts.join(''));
      },
    ),
  );
});
