// Exports and reports over HTTP: files that are well formed and complete, written in constant memory whatever their length,
// and reports whose trips stay the same however the period is cut.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExportLimit, exportLimits } from '../../broker/scheduling/per-account-limits.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
interface Trip {
  readonly startTime: number;
  readonly endTime: number;
  readonly distance: number;
  readonly isOpen: boolean;
  readonly maximumSpeed: number | null;
  readonly busDistance: number | null;
  readonly busFuelUsed: number | null;
  readonly busEngineHours: number | null;
  readonly driverUniqueIds: readonly string[];
}

let service: Service;
let token = '';
let rival = '';
const nowS = Math.floor(Date.now() / 1000);
const startS = nowS - 4 * 86_400;
const metre = 1 / 111_195;

const get = (path: string, as = token) => service.call({ path: `/api/v1${path}/authorization`, token: as });

/** The key of a driver, who has the first drive of each day. */
const ann = '0200000000000A11';

/** Three days of parking and driving, a record each 20 s, sent in the wrong order. */
function days(): readonly object[] {
  const events: object[] = [];
  let metres = 0;
  let saidKm = Number.NEGATIVE_INFINITY;
  // As a unit reports its bus: in steps of 1 km, and while the vehicle is awake.
  const busOf = (isDriving: boolean): object => {
    const km = Number((80_000 + metres / 1000).toFixed(1));
    if (!isDriving || km - saidKm < 1) return {};
    saidKm = km;
    return { attributes: { busOdometer: km, fuelUsed: km / 4, engineHours: km / 50, rpm: 1200 } };
  };
  const driverOf = (hour: number): object => {
    if (hour === 5.5) return { statusCode: 4400, attributes: { driverUniqueId: ann } };
    return hour === 8 ? { statusCode: 4401, attributes: { previousDriverUniqueId: ann } } : {};
  };
  for (let second = 0; second < 3 * 86_400; second += 20) {
    const hour = (second / 3600) % 24;
    const isDriving = (hour > 6 && hour < 7.3) || (hour > 11.9 && hour < 12.1) || hour > 22.5 || hour < 1;
    if (isDriving) metres += 300;
    // Silent at night, but for a heartbeat.
    if (hour > 2 && hour < 5 && second % 1800 !== 0) continue;
    events.push({
      seq: events.length + 1,
      timestamp: (startS + second) * 1000,
      statusCode: isDriving ? 61714 : 61472,
      latitude: Number((43 + metres * metre + Math.sin(second) * 8 * metre).toFixed(6)),
      longitude: -79.3,
      speed: isDriving ? 54 : 0,
      inputs: { ignition: isDriving },
      ...busOf(isDriving),
      ...driverOf(hour),
    });
  }
  return events;
}

const events = days();

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['van-1', 'van-2', 'parked', 'long']) await service.device('acme', deviceID);
  await service.sql(`UPDATE devices SET description = '=HYPERLINK("x") <b>&"' WHERE device_id = 'van-2'`);
  for (let last = events.length; last > 0; last -= 400) {
    await service.events('acme', 'van-1', { boot: 'b', events: events.slice(Math.max(0, last - 400), last) });
  }
  token = await service.login('acme', 'admin');
  rival = await service.login('rival', 'admin');
});

afterAll(() => service.close());

const trips = async (from: number, to: number): Promise<readonly Trip[]> =>
  (await get(`/report/trips/van-1/${from}/${to}`)).json()['trips'] as readonly Trip[];

describe('the report of trips', () => {
  it('finds the drives of three days, over midnight too, whatever the order of arrival', async () => {
    const found = await trips(startS, 0);
    // At midnight the first day begins on the way.
    expect(found).toHaveLength(1 + 3 * 3);
    expect(found[3]).toMatchObject({ isOpen: false });
    expect(Math.abs((found[1]?.distance ?? 0) - 1.3 * 54)).toBeLessThan(0.5);
    expect(found.at(-1)).toMatchObject({ isOpen: true });
  });

  it('lists each trip once, and as it is, however the time is cut into periods', async () => {
    const whole = await trips(startS, startS + 3 * 86_400);
    const cuts = fc.array(fc.integer({ min: 1, max: 3 * 86_400 - 1 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(cuts, async (times) => {
        const edges = [0, ...[...times].sort((one, other) => one - other), 3 * 86_400 + 1];
        const parts: Trip[] = [];
        for (const [at, edge] of edges.slice(1).entries()) {
          const from = edges[at] ?? 0;
          if (edge > from) parts.push(...(await trips(startS + from, startS + edge - 1)));
        }
        expect(parts).toEqual(whole);
      }),
      { numRuns: 12 },
    );
  });

  it('adds up to the summary, of the device and in that of the fleet', async () => {
    const found = await trips(startS, 0);
    const stops = (await get(`/report/stops/van-1/${startS}/0`)).json()['stops'] as { stopTime: number }[];
    const [one] = (await get(`/report/summary/van-1/${startS}/0`)).json()['devices'] as Record<
      string,
      number
    >[];
    expect(one).toMatchObject({
      trips: found.length,
      stops: stops.length,
      stopTime: stops.reduce((sum, { stopTime }) => sum + stopTime, 0),
      maximumSpeed: 54,
    });
    expect(one?.['distance']).toBeCloseTo(
      found.reduce((sum, { distance }) => sum + distance, 0),
      6,
    );
    const fleet = (await get(`/report/summary/*/${startS}/0`)).json()['devices'] as Record<string, unknown>[];
    expect(fleet.map((device) => device['deviceID'])).toEqual(['long', 'parked', 'van-1', 'van-2']);
    expect(fleet[2]).toEqual(one);
    expect(fleet[0]).toMatchObject({ trips: 0, distance: 0, startFuelLevel: null });
  });

  it('names the drivers of each trip by the keys of which the vehicle said that they count, and none where it said nothing', async () => {
    for (const { startTime, driverUniqueIds } of await trips(startS, 0)) {
      const hour = ((startTime - startS) / 3600) % 24;
      expect(driverUniqueIds).toEqual(hour > 5 && hour < 8 ? [ann] : []);
    }
  });

  it('shows beside the distance what the vehicle counted on its bus, and null for a vehicle without one', async () => {
    const found = await trips(startS, 0);
    for (const { distance, busDistance, busFuelUsed, busEngineHours } of found) {
      expect(Math.abs((busDistance ?? 0) - distance)).toBeLessThan(1.5);
      expect(busFuelUsed).toBeCloseTo((busDistance ?? 0) / 4, 0);
      expect(busEngineHours).toBeCloseTo((busDistance ?? 0) / 50, 1);
    }
    const [one] = (await get(`/report/summary/van-1/${startS}/0`)).json()['devices'] as Trip[];
    const sum = found.reduce((all, { busDistance }) => all + (busDistance ?? 0), 0);
    expect(one?.busDistance).toBeCloseTo(sum, 2);
    const [none] = (await get(`/report/summary/van-2/${startS}/0`)).json()['devices'] as Trip[];
    expect(none).toMatchObject({ busDistance: null, busFuelUsed: null, busEngineHours: null });
  });

  it('refuses a period that is too long and a device that is not there', async () => {
    const long = await get(`/report/trips/van-1/${startS - 400 * 86_400}/0`);
    expect([long.status, long.json()['error']]).toMatchObject([422, { code: 'invalid_content' }]);
    expect((await get('/report/trips/van-1/0/0')).status).toBe(200);
    expect((await get('/report/summary/*/0/0')).status).toBe(422);
    for (const kind of ['trips', 'stops', 'summary']) {
      expect((await get(`/report/${kind}/van-1/0/0`, rival)).status).toBe(404);
    }
    expect((await get('/report/summary/*/1/100', rival)).json()['devices']).toEqual([]);
  });
});

/** One record of a device, with what it says. */
const record = (seq: number, timestamp: number, said: object = {}) => ({
  seq,
  timestamp: timestamp * 1000,
  statusCode: 61472,
  latitude: 43.6,
  longitude: -79.3,
  ...said,
});

describe('a parked vehicle', () => {
  it.each([36, 5 * 24, 40 * 24])(
    'is one stop over a year of periods, with a heartbeat every %i hours',
    async (hours) => {
      const deviceID = `asleep-${hours}`;
      await service.device('acme', deviceID);
      const dayS = 86_400;
      const beganS = nowS - 360 * dayS;
      const sent = [record(1, beganS), record(2, beganS + 600)];
      for (let at = beganS + hours * 3600; at < nowS; at += hours * 3600) {
        // Some without a position, and with the jitter of another sky.
        sent.push(record(sent.length + 1, at, { latitude: 43.6 + (sent.length % 3) * 80 * metre }));
        sent.push({ seq: sent.length + 1, timestamp: (at + 60) * 1000, statusCode: 61536 } as never);
      }
      await service.events('acme', deviceID, { boot: 'b', events: sent });
      const found: { startTime: number; endTime: number }[] = [];
      for (let from = beganS - dayS; from < nowS; from += 30 * dayS) {
        const answer = await get(`/report/stops/${deviceID}/${from}/${from + 30 * dayS - 1}`);
        found.push(...(answer.json()['stops'] as typeof found));
      }
      expect(found).toHaveLength(1);
      expect(found[0]?.startTime).toBe(beganS);
    },
  );
});

describe('what a receiver shows', () => {
  it('wrongly is no mileage, no top speed and no line; every record stays in the lists', async () => {
    await service.device('acme', 'jumpy');
    const fromS = nowS - 40_000;
    const sent: object[] = [];
    for (let second = 0; second < 7200; second += 20) {
      const isDriving = second >= 3600 && second < 4200;
      const isWrong = (second >= 1200 && second < 2400) || (second >= 3800 && second < 3900);
      const metres = Math.min(600, Math.max(0, second - 3600)) * 15;
      sent.push(
        record(sent.length + 1, fromS + second, {
          latitude: Number((43.6 + metres * metre + (isWrong ? 8 : 0)).toFixed(6)),
          speed: isWrong ? 655 : isDriving ? 54 : 0,
          inputs: { ignition: isDriving },
        }),
      );
    }
    sent.push(record(sent.length + 1, fromS + 7210, { latitude: 0, longitude: 0, satellites: 0 }));
    await service.events('acme', 'jumpy', { boot: 'b', events: sent });
    const found = (await get(`/report/trips/jumpy/${fromS}/0`)).json()['trips'] as Trip[];
    expect(found).toMatchObject([{ maximumSpeed: 54 }]);
    expect(found[0]?.distance).toBeCloseTo(9, 0);
    const gpx = (await get(`/export/gpx/jumpy/${fromS}/0`)).text;
    const segments = gpx.split('<trkseg>').slice(1);
    const latitudes = segments.map((text) =>
      [...text.matchAll(/lat="([\d.]+)"/g)].map(([, lat]) => Number(lat)),
    );
    expect(latitudes.flat()).toHaveLength(sent.length - 1);
    for (const one of latitudes) expect(Math.max(...one) - Math.min(...one)).toBeLessThan(1);
    const lines = JSON.parse((await get(`/export/geojson/jumpy/${fromS}/0`)).text) as {
      features: { geometry: { type: string; coordinates: number[][] } }[];
    };
    const drawn = lines.features.filter(({ geometry }) => geometry?.type === 'LineString');
    expect(drawn.flatMap(({ geometry }) => geometry.coordinates).every(([, lat = 0]) => lat < 44)).toBe(true);
    const csv = (await get(`/export/csv/jumpy/${fromS}/0`)).text.trimEnd().split('\r\n');
    expect(csv).toHaveLength(sent.length + 1);
    // The last known position is a place.
    const device = (await get('/device/getdevice/jumpy')).json();
    expect(device['deviceLastValidLatitude']).toBeCloseTo(43.681, 2);
  });

  it('without a speed and a heading has none: null in records, empty in files', async () => {
    await service.device('acme', 'mute');
    const sent = [0, 1, 2].map((at) => record(at + 1, nowS - 300 + at * 60, { latitude: 43.6 + at * 0.01 }));
    await service.events('acme', 'mute', { boot: 'b', events: sent });
    const unknown = { speed: null, heading: null };
    const { eventdata } = (await get(`/eventdata/devicedata/mute/${nowS - 400}/0`)).json() as {
      eventdata: { devices: object[] };
    };
    expect(eventdata.devices).toMatchObject([unknown, unknown, unknown]);
    expect((await get('/device/getdevice/mute')).json()).toMatchObject({
      deviceLastValidSpeed: null,
      deviceLastValidHeading: null,
    });
    expect((await get('/report/trips/mute/0/0')).json()['trips']).toMatchObject([{ maximumSpeed: null }]);
    const [, line = ''] = (await get('/export/csv/mute/0/0')).text.split('\r\n');
    expect(line.split(',').slice(10, 12)).toEqual(['', '']);
    // A speed that is known is not held against a later position that says none.
    await service.events('acme', 'mute', {
      boot: 'c',
      events: [record(1, nowS - 60, { speed: 0, heading: 0 })],
    });
    expect((await get('/device/getdevice/mute')).json()).toMatchObject({ deviceLastValidSpeed: 0 });
    await service.events('acme', 'mute', { boot: 'c', events: [record(2, nowS - 50)] });
    expect((await get('/device/getdevice/mute')).json()).toMatchObject({
      deviceLastValidSpeed: null,
      deviceLastValidHeading: null,
    });
  });
});

describe('a calendar period', () => {
  const ask = (path: string, zone = '') =>
    service.call({ path: `/api/v1${path}/authorization${zone === '' ? '' : `?timeZone=${zone}`}`, token });
  const edgeS = Date.UTC(2026, 9, 31, 22, 30) / 1000;

  it('is October where people are, with its 745 hours, for the whole fleet too', async () => {
    expect((await ask('/report/summary/*/2026-10/2026-10', 'Europe/Berlin')).status).toBe(200);
    expect((await ask('/report/summary/*/2026-10-01/2026-10-31', 'Europe/Berlin')).status).toBe(200);
    expect((await ask('/report/summary/*/2026-10-01/2026-11-01', 'Europe/Berlin')).status).toBe(422);
    const [from, to] = [Date.UTC(2026, 8, 30, 22) / 1000, Date.UTC(2026, 9, 31, 23) / 1000 - 1];
    expect((await ask(`/report/summary/*/${from}/${to}`)).status).toBe(200);
  });

  it('is of the time zone that is named, or else of the user', async () => {
    await service.device('acme', 'edge');
    const sent = [record(1, edgeS), record(2, edgeS + 600)];
    await service.events('acme', 'edge', { boot: 'b', events: sent });
    const stopsOf = async (path: string, zone?: string) =>
      ((await ask(`/report/stops/edge/${path}`, zone)).json()['stops'] as unknown[]).length;
    expect(await stopsOf('2026-10/2026-10', 'Europe/Berlin')).toBe(1);
    expect(await stopsOf('2026-11/2026-11', 'Europe/Berlin')).toBe(0);
    expect(await stopsOf('2026-10/2026-10', 'Asia/Tokyo')).toBe(0);
    expect(await stopsOf('2026-11-01/2026-11-01', 'Asia/Tokyo')).toBe(1);
    await service.sql(`UPDATE users SET time_zone = 'Asia/Tokyo' WHERE account_id = 'acme'`);
    expect(await stopsOf('2026-11/0')).toBe(1);
    const { headers } = await ask('/export/csv/edge/2026-10/2026-11');
    expect(headers['content-disposition']).toContain('edge_2026-10_2026-11.csv');
  });

  it.each(['2026-13/0', '2026-02-30/0', '2026-11/2026-10', '2026/0', '2026-1/0'])(
    'refuses %s',
    async (range) => {
      expect((await ask(`/report/trips/van-1/${range}`)).status).toBe(422);
    },
  );

  it('refuses a time zone that there is not', async () => {
    expect((await ask('/report/trips/van-1/2026-10/0', 'Europe/Nowhere')).status).toBe(422);
  });
});

describe('an export', () => {
  const range = `${startS}/0`;

  it('as CSV has a line for each record in the order of time', async () => {
    const { text, headers } = await get(`/export/csv/van-1/${range}`);
    expect(headers['content-type']).toContain('text/csv');
    const lines = text.split('\r\n');
    expect(lines).toHaveLength(events.length + 2);
    expect(lines[0]?.startsWith('\ufeffdeviceID,eventID,')).toBe(true);
    expect(lines[1]).toMatch(/^van-1,b:1,\d+,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z,/);
    const times = lines.slice(1, -1).map((line) => Number(line.split(',')[2]));
    expect(times).toEqual([...times].sort((one, other) => one - other));
  });

  it('as CSV has the separator that is asked for', async () => {
    const as = async (separator: string) =>
      service.call({ path: `/api/v1/export/csv/van-1/${range}/authorization?separator=${separator}`, token });
    expect((await as('semicolon')).text.split('\r\n')[1]).toMatch(/^van-1;b:1;\d+;/);
    expect((await as('tab')).text.split('\r\n')[1]).toMatch(/^van-1\tb:1\t\d+\t/);
    expect((await as('pipe')).status).toBe(422);
  });

  it('as GeoJSON has a point for each record, and lines that do not cross a silence', async () => {
    const { text } = await get(`/export/geojson/van-1/${range}`);
    const { type, features } = JSON.parse(text) as {
      type: string;
      features: {
        geometry: { type: string; coordinates: unknown[] };
        properties: { from: string; to: string };
      }[];
    };
    expect(type).toBe('FeatureCollection');
    const lines = features.filter(({ geometry }) => geometry.type === 'LineString');
    expect(features.length - lines.length).toBe(events.length);
    for (const { geometry } of lines) expect(geometry.coordinates.length).toBeGreaterThan(1);
    // The nights: half-hourly heartbeats between 2 and 5 join nothing.
    expect(lines.length).toBeGreaterThanOrEqual(4);
  });

  it('as GPX has a segment for each stretch, and is well formed', async () => {
    const { text } = await get(`/export/gpx/van-1/${range}`);
    expect(text.match(/<trkpt /g)).toHaveLength(events.length);
    expect((text.match(/<trkseg>/g) ?? []).length).toBeGreaterThanOrEqual(4);
    expect(text.match(/<trkseg>/g)?.length).toBe(text.match(/<\/trkseg>/g)?.length);
    expect(text.endsWith('</trk>\n</gpx>\n')).toBe(true);
  });

  it('of records without any position, or of none, is a whole file too', async () => {
    await service.events('acme', 'van-2', {
      boot: 'b',
      events: [
        { seq: 1, timestamp: (nowS - 60) * 1000, statusCode: 61536 },
        { seq: 2, timestamp: (nowS - 50) * 1000, statusCode: 61472, latitude: 1, longitude: 180 },
        { seq: 3, timestamp: (nowS - 40) * 1000, statusCode: 64807 },
        { seq: 4, timestamp: (nowS - 30) * 1000, statusCode: 61472, latitude: 1, longitude: -180 },
      ],
    });
    const gpx = (await get('/export/gpx/van-2/0/0')).text;
    expect(gpx).toContain('<desc>=HYPERLINK(&quot;x&quot;) &lt;b&gt;&amp;&quot;</desc>');
    expect(gpx.match(/<trkseg>/g)).toHaveLength(2);
    expect((await get('/export/gpx/parked/0/0')).text).not.toContain('<trkseg>');
    expect(JSON.parse((await get('/export/geojson/parked/0/0')).text)).toEqual({
      type: 'FeatureCollection',
      features: [],
    });
    expect((await get('/export/csv/parked/0/0')).text.trim().split('\r\n')).toHaveLength(1);
  });

  it('covers only devices of the caller, and at most a year', async () => {
    for (const format of ['gpx', 'csv', 'geojson']) {
      expect((await get(`/export/${format}/van-1/0/0`, rival)).status).toBe(404);
      expect((await get(`/export/${format}/van-1/${startS - 400 * 86_400}/0`)).status).toBe(422);
      expect((await get(`/export/${format}/van-1/5/4`)).status).toBe(422);
    }
  });
});

describe('long reads', () => {
  it('have a share for each token, user and account, and a place is given back when the answer has ended', () => {
    const reads = createExportLimit();
    const never = new AbortController().signal;
    const owner = (accountID: string, userID: string, tokenHash: string) => ({
      accountID,
      userID,
      tokenHash,
    });
    const open = Array.from({ length: exportLimits.token }, () => new AbortController());
    for (const { signal } of open) reads.begin(owner('acme', 'ann', 't1'), signal);
    const further = () => reads.begin(owner('acme', 'ann', 't1'), never);
    const full = (count: number, whose: string) =>
      expect.objectContaining({
        code: 'throttled',
        retryAfterS: 10,
        message: `${count} exports and reports of ${whose} run already`,
      });
    expect(further).toThrow(full(exportLimits.token, 'this token'));
    reads.begin(owner('acme', 'ann', 't2'), never);
    expect(() => reads.begin(owner('acme', 'ann', 't3'), never)).toThrow(
      full(exportLimits.user, 'this user'),
    );
    reads.begin(owner('acme', 'bob', 't4'), never);
    open[0]?.abort();
    further();
    expect(further).toThrow(full(exportLimits.token, 'this token'));
    // An answer that has ended takes no place, for nothing would give it back.
    reads.begin(owner('rival', 'ann', 't5'), AbortSignal.abort());
    expect(reads.count()).toBe(exportLimits.user + 1);
  });
});

describe('a thinned track', () => {
  interface Listed {
    readonly eventdata: { readonly devices: readonly Record<string, unknown>[] };
    readonly thinning: { readonly records: number; readonly kept: number; readonly maximumDeviation: number };
  }
  const track = async (query: string, as = token) => {
    const path = `/api/v1/eventdata/devicedata/van-1/${startS}/0/authorization${query}`;
    const answer = await service.call({ path, token: as });
    return { status: answer.status, body: answer.json() as unknown as Listed, error: answer.json()['error'] };
  };

  it('has at most so many records, all of them records of the whole one, and says what was left out', async () => {
    const whole = (await track('')).body.eventdata.devices;
    const { status, body } = await track('?points=300');
    expect(status).toBe(200);
    const kept = body.eventdata.devices;
    expect(kept.length).toBeLessThanOrEqual(300);
    expect(kept.length).toBeGreaterThan(200);
    expect(body.thinning).toMatchObject({ records: whole.length, kept: kept.length });
    expect(body.thinning.maximumDeviation).toBeGreaterThan(0);
    const texts = whole.map((record) => JSON.stringify(record));
    const places = kept.map((record) => texts.indexOf(JSON.stringify(record)));
    expect(places).toEqual([...places].sort((one, other) => one - other));
    expect([places[0], places.at(-1)]).toEqual([0, whole.length - 1]);
    expect((await track('?points=300')).body).toEqual(body);
  });

  it('has each record where the ignition changed, and both ends of the silent nights', async () => {
    const kept = (await track('?points=2&fields=timestamp')).body.eventdata.devices.map((one) =>
      Number(one['timestamp']),
    );
    const sent = events as readonly { timestamp: number; inputs: { ignition: boolean } }[];
    for (const [index, event] of sent.entries()) {
      const before = sent[index - 1];
      if (before === undefined || before.inputs.ignition === event.inputs.ignition) continue;
      expect(kept).toContain(event.timestamp / 1000);
    }
    expect(kept.length).toBeLessThan(150);
  });

  it.each([
    '?points=1',
    '?points=0',
    '?points=5001',
    '?points=x',
    '?points=-5',
    '?points=',
    '?points=10&limit=5',
    '?points=10&cursor=x',
    '?points=10&since=0',
    '?points=2&points=3',
  ])('refuses %s', async (query) => {
    const { status, error } = await track(query);
    expect([status, error]).toMatchObject([422, { code: 'invalid_content' }]);
  });

  it('is of a device that the caller sees only', async () => {
    expect((await track('?points=10', rival)).status).toBe(404);
  });

  it('is exported in every format, with lines that break at gaps only', async () => {
    const path = (format: string, query: string) =>
      service.call({ path: `/api/v1/export/${format}/van-1/${startS}/0/authorization${query}`, token });
    const csv = (await path('csv', '?points=400')).text.trimEnd().split('\r\n');
    expect(csv.length - 1).toBeLessThanOrEqual(400);
    const [whole, thinned] = [(await path('gpx', '')).text, (await path('gpx', '?points=400')).text];
    const segments = (text: string) => text.split('<trkseg>').length - 1;
    expect(segments(thinned)).toBeLessThanOrEqual(segments(whole));
    expect(thinned.split('<trkpt').length - 1).toBe(csv.length - 1);
    const json = JSON.parse((await path('geojson', '?points=400')).text) as {
      features: { geometry: { type: string } | null }[];
    };
    expect(json.features.filter(({ geometry }) => geometry?.type === 'Point')).toHaveLength(csv.length - 1);
    expect((await path('csv', '?points=1')).status).toBe(422);
    expect((await path('csv', '?limit=1')).status).toBe(422);
  });

  it('gives back its place among the reports, also when the caller leaves early', async () => {
    for (let turn = 0; turn < 12; turn += 1) expect((await track('?points=50')).status).toBe(200);
  });
});
