// Geozones, routes, addresses and people aboard over HTTP: what the interface says to the letter, and every choice that
// stands in the descriptions where it says nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { geozonesMost } from '../../broker/store/geozones/geozones.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let token = '';
const nowS = Math.floor(Date.now() / 1000);

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'dispatch', 'operator');
  await service.user('acme', 'guest', 'viewer');
  await service.user('acme', 'north', 'operator');
  for (const deviceID of ['truck-1', 'truck-2', 'still-1']) await service.device('acme', deviceID);
  await service.device('rival', 'rival-1');
  // `north` sees truck-1 only.
  await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'north'");
  await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')");
  await service.sql(`INSERT INTO group_devices (device_no, group_no)
    SELECT device_no, group_no FROM devices JOIN device_groups ON group_id = 'north' WHERE device_id = 'truck-1'`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
    SELECT 'acme', 'north', group_no FROM device_groups WHERE group_id = 'north'`);
  token = await service.login('acme', 'dispatch');
});

afterAll(() => service.close());

const get = async (path: string, as = token) =>
  service.call({ path: `/api/v1${path}/authorization`, token: as });
const post = async (path: string, body: unknown, as = token) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token: as, body });
const create = async (body: object) => (await post('/geozone/creategeozone', body)).json();
const update = async (body: object) => (await post('/geozone/updategeozone', body)).json();
const zonesOf = async (path: string, as = token) =>
  Object.keys((await get(path, as)).json()['geozones'] as Record<string, unknown>);

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly pointers: readonly string[];
}
async function refusal(call: ReturnType<typeof post>): Promise<Refusal> {
  const answer = await call;
  const error = answer.json()['error'] as { code: string; errors: { pointer: string }[] };
  return {
    status: answer.status,
    code: error.code,
    pointers: error.errors.map(({ pointer }) => pointer),
  };
}
const invalid = (...pointers: string[]): Refusal => ({ status: 422, code: 'invalid_content', pointers });

const square = {
  geozonePoint1lat: '43.65',
  geozonePoint1lng: '-79.35',
  geozonePoint2lat: '43.65',
  geozonePoint2lng: '-79.34',
  geozonePoint3lat: '43.66',
  geozonePoint3lng: '-79.34',
  geozonePoint4lat: '43.66',
  geozonePoint4lng: '-79.35',
};

describe('a geozone', () => {
  it('created with nothing but its id has the defaults of the interface', async () => {
    const made = await create({ geozoneID: 'plain' });
    expect(made).toMatchObject({
      geozoneID: 'plain',
      geozoneDisplayName: '',
      geozoneRadius: 500,
      geozoneType: 3,
      hasUpdateGeozonePrivileges: true,
      status_code: '200',
      success: '1',
    });
    for (let n = 1; n <= 8; n++) expect(made[`geozonePoint${n}`]).toBe('0.00000,0.00000');
    const moments = ['Arrival', 'Departure'].flatMap((moment) =>
      ['EngineOn', 'EngineOff', 'CabinLock', 'CabinUnlock', 'CargoLock', 'CargoUnlock'].map(
        (what) => `geozone${moment}${what}`,
      ),
    );
    const notices = ['Alert', 'Alarm'].flatMap((what) => [`geozone${what}Entry`, `geozone${what}Exit`]);
    for (const name of [...moments, ...notices]) expect(made[name]).toBe(false);
    const { geozoneRefusedBy, ...shown } = made;
    expect(geozoneRefusedBy).toBe(0);
    expect((await get('/geozone/getgeozone/plain')).json()).toEqual(shown);
  });

  it('carries features and sections whose states are null', async () => {
    const made = await create({ geozoneID: 'sections' });
    const cargo = {
      onText: 'Allowed',
      offText: 'Disallowed',
      displayName: 'Cargo Access',
      isNegativeTriggered: false,
      pendingState: null,
      state: null,
    };
    const cutoff = { ...cargo, onText: 'Enabled', offText: 'Disabled', displayName: 'Engine Cutoff' };
    const features = { cargoaccess: cargo, enginecutoff: cutoff };
    expect(made['sections']).toEqual({
      arrive: { displayText: 'Arrival', features },
      depart: { displayText: 'Departure', features },
    });
    expect(made['features']).toEqual({
      cargoaccess: { displayText: 'Cargo Access', states: { 0: 'Disallowed', 1: 'Allowed' } },
      enginecutoff: { displayText: 'Engine Cutoff', states: { 0: 'Disabled', 1: 'Enabled' } },
    });
  });

  it('is changed in the given members only, by the names of the interface', async () => {
    await create({ geozoneID: 'yard', geozoneDisplayName: 'Yard', ...square });
    const changed = await update({
      geozoneID: 'yard',
      geozoneRadius: 700,
      geozoneArrivalCabinUnLock: true,
      geozoneDepartureCargoUnLock: true,
      geozonePoint4lat: '43.67',
      geozonePoint4lng: '-79.36',
    });
    expect(changed).toMatchObject({
      geozoneDisplayName: 'Yard',
      geozoneRadius: 700,
      geozoneArrivalCabinUnlock: true,
      geozoneDepartureCargoUnlock: true,
      geozoneArrivalCargoUnlock: false,
      geozonePoint1: '43.65000,-79.35000',
      geozonePoint4: '43.67000,-79.36000',
    });
    const later = await update({ geozoneID: 'yard', geozoneArrivalCabinUnLock: false });
    expect(later).toMatchObject({ geozoneArrivalCabinUnlock: false, geozoneDepartureCargoUnlock: true });
  });

  it('that is there is changed by create, as with devices', async () => {
    await create({ geozoneID: 'twice', geozoneDisplayName: 'First', geozoneRadius: 900 });
    expect(await create({ geozoneID: 'twice', geozoneDisplayName: 'Second' })).toMatchObject({
      geozoneDisplayName: 'Second',
      geozoneRadius: 900,
    });
  });

  it.each([
    [true, true],
    ['true', true],
    ['1', true],
    [false, false],
    ['false', false],
    ['0', false],
  ])('understands %j for a boolean', async (sent, kept) => {
    await create({ geozoneID: 'flags', geozoneAlertEntry: !kept });
    expect(await update({ geozoneID: 'flags', geozoneAlertEntry: sent })).toMatchObject({
      geozoneAlertEntry: kept,
    });
  });

  it('understands radius and type as text, and points as answers give them', async () => {
    expect(
      await create({
        geozoneID: 'texts',
        geozoneRadius: '800',
        geozoneType: '0',
        geozonePoint1: '1.5,-2.123456',
      }),
    ).toMatchObject({ geozoneRadius: 800, geozoneType: 0, geozonePoint1: '1.50000,-2.12346' });
    expect(await update({ geozoneID: 'texts', geozonePoint1lat: '', geozonePoint1lng: '' })).toMatchObject({
      geozonePoint1: '0.00000,0.00000',
      geozoneWarning: 'no point is set',
    });
  });

  it('may be unfinished: it warns what is missing and contains no point', async () => {
    const half = await create({ geozoneID: 'half', geozonePoint1: '10,10', geozonePoint2: '11,11' });
    expect(half['geozoneWarning']).toContain('three');
    expect(await zonesOf('/geozone/getgeozone/10/10')).toEqual([]);
    const whole = await update({ geozoneID: 'half', geozonePoint3: '10,11' });
    expect(whole['geozoneWarning']).toBe('');
    expect(await zonesOf('/geozone/getgeozone/10.2/10.5')).toEqual(['half']);
  });

  it('refuses invalid members, with a pointer to them', async () => {
    const bad = (members: object) =>
      refusal(post('/geozone/updategeozone', { geozoneID: 'plain', ...members }));
    expect(await bad({ geozoneRadius: 4 })).toEqual(invalid('/geozoneRadius'));
    expect(await bad({ geozoneRadius: '30001' })).toEqual(invalid('/geozoneRadius'));
    expect(await bad({ geozoneType: 5 })).toEqual(invalid('/geozoneType'));
    expect(await bad({ geozoneAlertEntry: 'yes' })).toEqual(invalid('/geozoneAlertEntry'));
    expect(await bad({ geozonePoint1lat: '91', geozonePoint1lng: '0' })).toEqual(
      invalid('/geozonePoint1lat'),
    );
    expect(await bad({ geozonePoint8: '0,180.00001' })).toEqual(invalid('/geozonePoint8'));
    expect(await bad({ geozonePoint1lat: '1' })).toEqual(invalid('/geozonePoint1lng'));
    expect(await bad({ geozonePoint1lat: '1', geozonePoint1lng: '' })).toEqual(invalid('/geozonePoint1lng'));
    expect(await bad({ geozonePoint1: '1,1', geozonePoint1lat: '1', geozonePoint1lng: '1' })).toEqual(
      invalid('/geozonePoint1'),
    );
    expect(await bad({ geozonePoint9lat: '1' })).toEqual(invalid('/geozonePoint9lat'));
    expect(await bad({ geozoneArrivalCargoUnLock: true, geozoneArrivalCargoUnlock: false })).toEqual(
      invalid('/geozoneArrivalCargoUnlock'),
    );
    expect((await get('/geozone/getgeozone/plain')).json()).toMatchObject({ geozoneRadius: 500 });
  });

  it('have one name however its letters were typed', async () => {
    const [composed, apart] = ['Dépôt Zürich'.normalize('NFC'), 'Dépôt Zürich'.normalize('NFD')];
    const made = await post('/geozone/creategeozone', { geozoneID: apart, geozoneDisplayName: apart });
    expect(made.json()).toMatchObject({ geozoneID: composed, geozoneDisplayName: composed });
    for (const name of [composed, apart]) {
      const found = await get(`/geozone/getgeozone/${encodeURIComponent(name)}`);
      expect(found.json()).toMatchObject({ geozoneID: composed });
    }
    for (const type of [3, '3']) {
      expect((await post('/geozone/updategeozone', { geozoneID: apart, geozoneType: type })).status).toBe(
        200,
      );
    }
    for (const type of [5, '5', 1.5, true]) {
      expect((await post('/geozone/updategeozone', { geozoneID: apart, geozoneType: type })).status).toBe(
        422,
      );
    }
    for (const flag of [1, 'yes', null]) {
      const sent = { geozoneID: apart, geozoneAlertEntry: flag };
      expect((await post('/geozone/updategeozone', sent)).status).toBe(422);
    }
  });

  it('cannot ask for two opposites at one moment, also when one was there before', async () => {
    await create({ geozoneID: 'engine', geozoneArrivalEngineOff: true });
    const both = { geozoneID: 'engine', geozoneArrivalEngineOn: true };
    expect(await refusal(post('/geozone/updategeozone', both))).toEqual(invalid('/geozoneArrivalEngineOff'));
    expect(await update({ ...both, geozoneArrivalEngineOff: false })).toMatchObject({
      geozoneArrivalEngineOn: true,
      geozoneArrivalEngineOff: false,
    });
    expect(await update({ geozoneID: 'engine', geozoneDepartureEngineOff: true })).toMatchObject({
      geozoneDepartureEngineOff: true,
    });
  });

  // What is on before, what is sent, and what is on then: of alert and alarm.
  it.each<[string, string, string | null]>([
    ['', '{"alarm":true}', 'alert alarm'],
    ['', '{"alert":true}', 'alert'],
    ['', '{"alert":"1","alarm":"1"}', 'alert alarm'],
    ['', '{"alert":false,"alarm":true}', null],
    ['alert', '{"alarm":true}', 'alert alarm'],
    ['alert alarm', '{"alarm":false}', 'alert'],
    ['alert alarm', '{"alert":false}', ''],
    ['alert alarm', '{"alert":false,"alarm":true}', null],
    ['alert alarm', '{}', 'alert alarm'],
  ])('with "%s" on makes of %s: %s', async (before, sent, wanted) => {
    const of = (values: object, moment: string) =>
      Object.fromEntries(
        Object.entries(values).map(([what, value]) => [
          `geozone${what === 'alert' ? 'Alert' : 'Alarm'}${moment}`,
          value,
        ]),
      );
    const on = (text: string) => ({ alert: text.includes('alert'), alarm: text.includes('alarm') });
    for (const moment of ['Entry', 'Exit']) {
      const geozoneID = `notice ${moment} ${before} ${sent}`;
      await create({ geozoneID, ...of(on(before), moment) });
      const change = { geozoneID, ...of(JSON.parse(sent), moment) };
      if (wanted === null) {
        const fault = invalid(`/geozoneAlarm${moment}`);
        expect(await refusal(post('/geozone/updategeozone', change))).toEqual(fault);
      } else expect(await update(change)).toMatchObject(of(on(wanted), moment));
      const kept = (await get(`/geozone/getgeozone/${encodeURIComponent(geozoneID)}`)).json();
      expect(kept).toMatchObject(of(on(wanted ?? before), moment));
    }
  });

  it('loses none of many changes at once', async () => {
    await create({ geozoneID: 'busy' });
    const names = [
      'geozoneAlertEntry',
      'geozoneAlertExit',
      'geozoneArrivalCargoLock',
      'geozoneDepartureCargoLock',
    ];
    const answers = await Promise.all(
      names.map((name) => post('/geozone/updategeozone', { geozoneID: 'busy', [name]: true })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const kept = (await get('/geozone/getgeozone/busy')).json();
    for (const name of names) expect([name, kept[name]]).toEqual([name, true]);
  });

  it('is deleted once; then it is not found', async () => {
    await create({ geozoneID: 'gone' });
    expect((await post('/geozone/deletegeozone', { geozoneID: 'gone' })).json()).toEqual({
      status_code: '200',
      success: '1',
    });
    for (const answer of [
      await post('/geozone/deletegeozone', { geozoneID: 'gone' }),
      await post('/geozone/updategeozone', { geozoneID: 'gone' }),
      await get('/geozone/getgeozone/gone'),
    ]) {
      expect([answer.status, (answer.json()['error'] as { code: string }).code]).toEqual([404, 'not_found']);
    }
  });

  it('shows viewers that they may not change it, and does not let them', async () => {
    const viewer = await service.login('acme', 'guest');
    expect((await get('/geozone/getgeozone/plain', viewer)).json()['hasUpdateGeozonePrivileges']).toBe(false);
    expect(await refusal(post('/geozone/updategeozone', { geozoneID: 'plain' }, viewer))).toMatchObject({
      status: 422,
      code: 'forbidden',
    });
  });

  it('belongs to its account alone, whatever it is called', async () => {
    const rival = await service.login('rival', 'admin');
    await create({ geozoneID: 'shared', geozoneDisplayName: 'Ours' });
    expect((await get('/geozone/getgeozone/shared', rival)).status).toBe(404);
    expect((await post('/geozone/deletegeozone', { geozoneID: 'shared' }, rival)).status).toBe(404);
    await post(
      '/geozone/creategeozone',
      { geozoneID: 'shared', geozoneDisplayName: 'Theirs', ...square },
      rival,
    );
    expect((await get('/geozone/getgeozone/shared')).json()).toMatchObject({ geozoneDisplayName: 'Ours' });
    expect(await zonesOf('/geozone/getgeozones', rival)).toEqual(['shared']);
    expect(await zonesOf('/geozone/getgeozone/43.655/-79.345', rival)).toEqual(['shared']);
  });

  it('leaves an audit entry with each change, and none with what was refused', async () => {
    await create({ geozoneID: 'audited', geozoneRadius: 600 });
    await update({ geozoneID: 'audited', geozoneAlertExit: true });
    await post('/geozone/updategeozone', { geozoneID: 'audited', geozoneRadius: 1 });
    await post('/geozone/deletegeozone', { geozoneID: 'audited' });
    await post('/geozone/deletegeozone', { geozoneID: 'audited' });
    const entries = await service.rows(
      "SELECT action, detail FROM audit WHERE account_id = 'acme' AND object = 'audited' ORDER BY audit_no",
    );
    expect(entries).toEqual([
      { action: 'geozone.create', detail: '{"geozoneRadius":600}' },
      { action: 'geozone.update', detail: '{"changes":{"geozoneAlertExit":{"from":false,"to":true}}}' },
      { action: 'geozone.delete', detail: '{}' },
    ]);
  });
});

describe('geozones', () => {
  let own = '';
  beforeAll(async () => {
    await service.account('zones');
    own = await service.login('zones', 'admin');
    await service.device('zones', 'truck-1');
    await service.device('zones', 'new-1');
    const at = (geozoneID: string, members: object) =>
      post('/geozone/creategeozone', { geozoneID, ...members }, own);
    await at('10', { geozoneType: 0, geozoneRadius: 1000, geozonePoint1: '43.655,-79.345' });
    await at('9', { geozoneType: 3, ...square });
    await at('__proto__', { geozoneType: 1, geozonePoint1: '43.6,-79.4', geozonePoint2: '43.7,-79.3' });
    await at('corridor', {
      geozoneType: 2,
      geozoneRadius: 200,
      geozonePoint1: '43.6,-79.345',
      geozonePoint2: '43.7,-79.345',
    });
    await at('cafe', { geozoneType: 4, geozonePoint1: '43.655,-79.345' });
    await at('dateline', { geozoneType: 1, geozonePoint1: '-15,177', geozonePoint2: '-20,-178' });
    await at('far', { geozoneType: 0, geozoneRadius: 30_000, geozonePoint1: '-33,151' });
    const event = { timestamp: nowS - 60, statusCode: 61472, latitude: 43.655, longitude: -79.345 };
    await service.events('zones', 'truck-1', { boot: 'b1', events: [{ seq: 1, ...event, geozoneID: '9' }] });
  });

  it('that hold a point are found for every type', async () => {
    // A parsed object lists ids that look like numbers first.
    expect(await zonesOf('/geozone/getgeozone/43.655/-79.345', own)).toEqual([
      '9',
      '10',
      '__proto__',
      'corridor',
    ]);
    expect(await zonesOf('/geozone/getgeozone/43.69/-79.345', own)).toEqual(['__proto__', 'corridor']);
    expect(await zonesOf('/geozone/getgeozone/0/0', own)).toEqual([]);
  });

  it('are found across the antimeridian', async () => {
    for (const longitude of ['177', '179.9', '180', '-180', '-178.5']) {
      expect(await zonesOf(`/geozone/getgeozone/-17/${longitude}`, own)).toEqual(['dateline']);
    }
    for (const longitude of ['176.9', '-177.9', '0']) {
      expect(await zonesOf(`/geozone/getgeozone/-17/${longitude}`, own)).toEqual([]);
    }
  });

  it('refuse a place that is not on Earth', async () => {
    expect(await refusal(get('/geozone/getgeozone/90.1/0', own))).toEqual(invalid('/latitude'));
    expect(await refusal(get('/geozone/getgeozone/0/-180.5', own))).toEqual(invalid('/longitude'));
    expect(await refusal(get('/geozone/getgeozone/north/0', own))).toEqual(invalid('/latitude'));
  });

  it('that hold a device are those of its last valid position', async () => {
    expect(await zonesOf('/geozone/getgeozone/device/truck-1', own)).toHaveLength(4);
    expect(await zonesOf('/geozone/getgeozone/device/new-1', own)).toEqual([]);
    expect((await get('/geozone/getgeozone/device/rival-1', own)).status).toBe(404);
    const north = await service.login('acme', 'north');
    expect((await get('/geozone/getgeozone/device/truck-2', north)).status).toBe(404);
  });

  it('are all listed in the order of ids, keyed by id, also by odd ones', async () => {
    const answer = await get('/geozone/getgeozones', own);
    const text = answer.text;
    const ids = ['10', '9', '__proto__', 'cafe', 'corridor', 'dateline', 'far'];
    const places = ids.map((id) => text.indexOf(`"geozoneID":"${id}"`));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(answer.json()).toMatchObject({ hasUpdateGeozonePrivileges: true, status_code: '200' });
    const again = await service.call({
      path: '/api/v1/geozone/getgeozones/authorization',
      token: own,
      headers: { 'if-none-match': String(answer.headers['etag']) },
    });
    expect(again.status).toBe(304);
  });

  it('are listed by range with count and total', async () => {
    const range = async (offset: number, limit: number) => {
      const answer = (await get(`/geozone/getgeozones/${offset}/${limit}`, own)).json();
      return [Object.keys(answer['geozones'] as object), answer['count'], answer['total']];
    };
    expect(await range(3, 2)).toEqual([['cafe', 'corridor'], 2, 7]);
    expect(await range(6, 10)).toEqual([['far'], 1, 7]);
    expect(await range(100, 10)).toEqual([[], 0, 7]);
    for (const bad of ['0/0', '0/1001', '-1/5', 'a/5']) {
      expect((await get(`/geozone/getgeozones/${bad}`, own)).status).toBe(422);
    }
  });

  it('give event records their names', async () => {
    await post(
      '/geozone/updategeozone',
      { geozoneID: '9', geozoneDisplayName: 'Yard 9', geozoneDescription: 'Gate B' },
      own,
    );
    const record = async () =>
      ((await get('/eventdata/latest/truck-1', own)).json()['eventdata'] as { devices: object[] }).devices[0];
    expect(await record()).toMatchObject({
      geozoneID: '9',
      geozoneDisplayName: 'Yard 9',
      geozoneDescription: 'Gate B',
    });
    await post('/geozone/deletegeozone', { geozoneID: '9' }, own);
    expect(await record()).toMatchObject({ geozoneID: '9', geozoneDisplayName: '', geozoneDescription: '' });
  });

  it('are found among ten thousand, which is the most', async () => {
    const zone = (n: number) => {
      const [south, west] = [(n % 100) / 10, Math.floor(n / 100) / 10];
      const points = `[[${south + 0.01},${west + 0.01}],[${south + 0.05},${west + 0.05}],[0,0],[0,0],[0,0],[0,0],[0,0],[0,0]]`;
      return `('full', 'zone-${String(n).padStart(5, '0')}', '', '', 1, 500, '${points}', '[]',
        ${south + 0.01}, ${south + 0.05}, ${west + 0.01}, ${west + 0.05}, 1, 1)`;
    };
    await service.account('full');
    const full = await service.login('full', 'admin');
    for (let first = 0; first < geozonesMost; first += 500) {
      const rows = Array.from({ length: 500 }, (_unused, index) => zone(first + index));
      await service.sql(`INSERT INTO geozones (account_id, geozone_id, display_name, description, type, radius_m, points,
        switches, south, north, west, east, version, changed_ms) VALUES ${rows.join(', ')}`);
    }
    expect(await zonesOf('/geozone/getgeozone/5.03/7.43', full)).toEqual(['zone-07450']);
    expect(await zonesOf('/geozone/getgeozone/5.06/7.43', full)).toEqual([]);
    expect(await refusal(post('/geozone/creategeozone', { geozoneID: 'more' }, full))).toMatchObject({
      status: 422,
      code: 'conflict',
    });
    expect(
      (await post('/geozone/updategeozone', { geozoneID: 'zone-00001', geozoneRadius: 9 }, full)).status,
    ).toBe(200);
    expect((await get('/geozone/getgeozones/9999/1', full)).json()).toMatchObject({
      count: 1,
      total: geozonesMost,
    });
    expect(await zonesOf('/geozone/getgeozones', full)).toHaveLength(geozonesMost);
  });
});

describe('a route', () => {
  const way = (...points: readonly (readonly [string, string])[]) =>
    Object.fromEntries(
      points.flatMap(([lat, lng], index) => [
        [`routePoint${index + 1}lat`, lat],
        [`routePoint${index + 1}lng`, lng],
      ]),
    );
  const save = (body: object, as = token) => post('/route/routeupdate', body, as);
  const ids = async (as = token) =>
    ((await get('/route/getroutes', as)).json()['routes'] as { routeID: string }[]).map(
      ({ routeID }) => routeID,
    );

  it('is created with its points, and changed in the given members only', async () => {
    const made = await save({
      routeID: 'r1',
      ...way(['43.6', '-79.3'], ['43.7', '-79.4']),
      deviceIDs: ['truck-1'],
    });
    expect(made.json()).toEqual({
      routeID: 'r1',
      routeDisplayName: '',
      routeRadius: 1000,
      routePoint1: '43.60000,-79.30000',
      routePoint2: '43.70000,-79.40000',
      deviceIDs: ['truck-1'],
      hasUpdateRoutePrivileges: true,
      status_code: '200',
      success: '1',
    });
    expect((await save({ routeID: 'r1', routeRadius: 250 })).json()).toMatchObject({
      routeRadius: 250,
      routePoint2: '43.70000,-79.40000',
      deviceIDs: ['truck-1'],
    });
    const shorter = (await save({ routeID: 'r1', ...way(['1', '1'], ['2', '2']), deviceIDs: [] })).json();
    expect(shorter).toMatchObject({ routePoint1: '1.00000,1.00000', deviceIDs: [] });
    expect(await ids()).toEqual(['r1']);
  });

  it('has up to a hundred points, numbered without a gap', async () => {
    const points = Array.from({ length: 100 }, (_unused, n) => [`${n / 10}`, `${n / 5}`] as const);
    expect((await save({ routeID: 'long', ...way(...points) })).json()).toMatchObject({
      routePoint100: '9.90000,19.80000',
    });
    expect(await refusal(save({ routeID: 'new' }))).toEqual(invalid('/routePoint1lat'));
    expect(await refusal(save({ routeID: 'new', ...way(['1', '1']) }))).toEqual(invalid('/routePoint2lat'));
    expect(
      await refusal(
        save({ routeID: 'new', ...way(['1', '1'], ['2', '2']), routePoint4lat: '1', routePoint4lng: '1' }),
      ),
    ).toEqual(invalid('/routePoint3lat'));
    expect(await refusal(save({ routeID: 'new', ...way(['1', '1'], ['95', '2']) }))).toEqual(
      invalid('/routePoint2lat'),
    );
    expect(await refusal(save({ routeID: 'new', routePoint101lat: '1' }))).toEqual(
      invalid('/routePoint101lat'),
    );
    expect(await refusal(save({ routeID: 'new', ...way(['1', '1'], ['x', '2']) }))).toEqual(
      invalid('/routePoint2lat'),
    );
  });

  it('is planned for devices that the caller sees, and changed by users who see all of them', async () => {
    const north = await service.login('acme', 'north');
    const both = { routeID: 'shared', ...way(['1', '1'], ['2', '2']), deviceIDs: ['truck-1', 'truck-2'] };
    expect((await save(both)).json()['deviceIDs']).toEqual(['truck-1', 'truck-2']);
    expect(await refusal(save({ routeID: 'shared', deviceIDs: ['truck-1'] }, north))).toMatchObject({
      code: 'forbidden',
    });
    expect((await save({ routeID: 'shared' })).json()['deviceIDs']).toEqual(['truck-1', 'truck-2']);
    expect(await refusal(save({ routeID: 'shared', deviceIDs: ['truck-1', 'truck-2'] }, north))).toEqual({
      status: 404,
      code: 'not_found',
      pointers: ['/deviceIDs/1'],
    });
    expect((await save({ routeID: 'shared', deviceIDs: ['rival-1'] })).status).toBe(404);
  });

  it('belongs to its account alone, and is deleted with its devices', async () => {
    const rival = await service.login('rival', 'admin');
    await save({ routeID: 'ours', ...way(['1', '1'], ['2', '2']), deviceIDs: ['truck-1'] });
    expect(await ids(rival)).toEqual([]);
    expect((await post('/route/deleteroute', { routeID: 'ours' }, rival)).status).toBe(404);
    expect((await post('/route/deleteroute', { routeID: 'ours' })).status).toBe(200);
    expect((await post('/route/deleteroute', { routeID: 'ours' })).status).toBe(404);
    expect(
      await service.rows(`SELECT COUNT(*) AS left_over FROM route_devices
      WHERE route_no NOT IN (SELECT route_no FROM routes)`),
    ).toEqual([{ left_over: 0 }]);
  });

  it('of many made at once under one name is one, and none of the calls fails', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_unused, n) =>
        save({
          routeID: 'race',
          routeDisplayName: `n${n}`,
          ...way(['1', '1'], ['2', '2']),
          deviceIDs: ['truck-1'],
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await ids()).filter((id) => id === 'race')).toEqual(['race']);
  });
});

describe('an address', () => {
  const set = (body: object, as = token) => post('/device/updateaddress', body, as);
  const records = async () =>
    (
      (await get(`/eventdata/devicemetadata/truck-2/0/0`)).json()['eventdata'] as {
        devices: { timestamp: number; address: string }[];
      }
    ).devices.map(({ timestamp, address }) => [nowS - timestamp, address]);
  const last = async () => (await get('/device/getdevice/truck-2')).json()['deviceLastValidAddress'];

  it('is set for the last position, for a second, and goes with the next position', async () => {
    const at = (seq: number, ago: number, place = {}) => ({
      seq,
      timestamp: nowS - ago,
      statusCode: 61472,
      ...place,
    });
    const here = { latitude: 43.6, longitude: -79.3 };
    await service.events('acme', 'truck-2', {
      boot: 'b1',
      events: [at(1, 300, here), at(2, 200), at(3, 100, here)],
    });
    expect((await set({ deviceID: 'truck-2', timestamp: 0, address: '1 Bay St' })).status).toBe(200);
    expect([await last(), await records()]).toEqual([
      '1 Bay St',
      [
        [300, ''],
        [200, ''],
        [100, '1 Bay St'],
      ],
    ]); // prettier-ignore
    expect((await set({ deviceID: 'truck-2', timestamp: nowS - 300, address: '2 Bay St' })).status).toBe(200);
    expect([await last(), await records()]).toEqual([
      '1 Bay St',
      [
        [300, '2 Bay St'],
        [200, ''],
        [100, '1 Bay St'],
      ],
    ]); // prettier-ignore
    expect((await set({ deviceID: 'truck-2', timestamp: nowS - 100, address: '3 Bay St' })).status).toBe(200);
    expect(await last()).toBe('3 Bay St');
    await service.events('acme', 'truck-2', { boot: 'b1', events: [at(4, 50, here)] });
    expect([await last(), (await records()).at(-1)]).toEqual(['', [50, '']]);
  });

  it('needs a position, and a device that the caller sees', async () => {
    const nothing = { status: 404, code: 'not_found', pointers: [] };
    expect(await refusal(set({ deviceID: 'truck-2', timestamp: nowS - 200, address: 'x' }))).toEqual(nothing);
    expect(await refusal(set({ deviceID: 'truck-2', timestamp: 5, address: 'x' }))).toEqual(nothing);
    expect(await refusal(set({ deviceID: 'still-1', timestamp: 0, address: 'x' }))).toEqual(nothing);
    expect(await refusal(set({ deviceID: 'rival-1', timestamp: 0, address: 'x' }))).toEqual(nothing);
    const north = await service.login('acme', 'north');
    expect(await refusal(set({ deviceID: 'truck-2', timestamp: 0, address: 'x' }, north))).toEqual(nothing);
    const audited = await service.rows(
      "SELECT object FROM audit WHERE action = 'device.address' ORDER BY audit_no",
    );
    expect(audited).toHaveLength(3);
  });
});

describe('people aboard', () => {
  const count = async () => (await get('/device/passengercount/truck-1')).json();

  it('are unknown until the vehicle counts them', async () => {
    expect(await count()).toMatchObject({ passengerCount: null, maxPassengers: null, timestamp: 0 });
  });

  it('are the newest count by event time, whatever the order of arrival', async () => {
    const event = (seq: number, statusCode: number, passengers?: number | string) => ({
      seq,
      timestamp: nowS - 100 + seq,
      statusCode,
      ...(passengers === undefined ? {} : { attributes: { passengers } }),
    });
    await service.events('acme', 'truck-1', { boot: 'b1', events: [event(4, 63533, 1)] });
    await service.events('acme', 'truck-1', { boot: 'b1', events: [event(1, 63534, 2), event(2, 63532, 3)] });
    expect(await count()).toMatchObject({ passengerCount: 1, timestamp: nowS - 96 });
    await service.events('acme', 'truck-1', {
      boot: 'b1',
      events: [event(5, 63532), event(6, 63532, -1), event(7, 63532, '5'), event(8, 61472, 9)],
    });
    expect(await count()).toMatchObject({ passengerCount: 1, timestamp: nowS - 96 });
    await service.sql("UPDATE devices SET max_passengers = 4 WHERE device_id = 'truck-1'");
    expect(await count()).toMatchObject({ maxPassengers: 4 });
  });
});
