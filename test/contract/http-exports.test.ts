// Exports and reports over HTTP: files that are well formed and complete, written in constant memory whatever their length,
// and reports whose trips stay the same however the period is cut.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLongReads } from '../../broker/work/long-reads.ts';
import { startHttpService } from '../support/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
interface Trip {
  readonly startTime: number;
  readonly endTime: number;
  readonly distance: number;
  readonly isOpen: boolean;
}

let service: Service;
let token = '';
let rival = '';
const nowS = Math.floor(Date.now() / 1000);
const startS = nowS - 4 * 86_400;
const metre = 1 / 111_195;

const get = (path: string, as = token) => service.call({ path: `/api/v1${path}/authorization`, token: as });

/** Three days of parking and driving, a record each 20 s, sent in the wrong order. */
function days(): readonly object[] {
  const events: object[] = [];
  let metres = 0;
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

describe('an export', () => {
  const range = `${startS}/0`;

  it('as CSV has a line for each record in the order of time', async () => {
    const { text, headers } = await get(`/export/csv/van-1/${range}`);
    expect(headers['content-type']).toContain('text/csv');
    const lines = text.split('\r\n');
    expect(lines).toHaveLength(events.length + 2);
    expect(lines[1]).toMatch(/^van-1,b:1,\d+,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z,/);
    const times = lines.slice(1, -1).map((line) => Number(line.split(',')[2]));
    expect(times).toEqual([...times].sort((one, other) => one - other));
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

  it('is nobody else’s, and no longer than a year', async () => {
    for (const format of ['gpx', 'csv', 'geojson']) {
      expect((await get(`/export/${format}/van-1/0/0`, rival)).status).toBe(404);
      expect((await get(`/export/${format}/van-1/${startS - 400 * 86_400}/0`)).status).toBe(422);
      expect((await get(`/export/${format}/van-1/5/4`)).status).toBe(422);
    }
  });
});

describe('long reads', () => {
  async function* parts() {
    yield 1;
    yield 2;
  }

  it('are four at once for an account, and a place is given back however they end', async () => {
    const reads = createLongReads();
    const open = Array.from({ length: 4 }, () => reads.limit('acme', parts()));
    for (const one of open) await one.next();
    const fifth = () => reads.limit('acme', parts()).next();
    await expect(fifth()).rejects.toMatchObject({ code: 'throttled', retryAfterS: 10 });
    expect((await reads.limit('rival', parts()).next()).value).toBe(1);
    await open[0]?.return();
    expect((await fifth()).value).toBe(1);
    await expect(fifth()).rejects.toMatchObject({ code: 'throttled' });
    await open[1]?.throw(new Error('broken')).catch(() => undefined);
    expect((await fifth()).value).toBe(1);
  });
});
