// Listings of events that the reading thread writes as text: the same bytes as members written one by one, whatever the records
// hold, wherever they lie and however they are asked for; and never a text that was true before a change, nor one of others.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { viewEvent } from '../../broker/api/answers/views.ts';
import { createTextCache } from '../../broker/core/events/text-cache.ts';
import { type EventRow, toEvent } from '../../broker/store/events/events.ts';
import { removedAtOnce, removeEvents } from '../../broker/store/events/retention.ts';
import { wholeSlices } from '../../broker/store/slices/slices.ts';
import { statusText } from '../../src/core/events/status-codes.ts';
import { degreesText } from '../../src/core/geo/geo.ts';
import { openNextSlice, storedEvents, storeEvents } from '../support/database/stored-events.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let token = '';
let limited = '';
let deviceNos = new Map<string, number>();
const nowS = Math.floor(Date.now() / 1000);
const dayS = 86_400;
const baseMs = (nowS - 3 * dayS) * 1000;
const endS = nowS + dayS;
const devices = ['van-1', 'van-2'] as const;
const codes = [61472, 63553, 62465, 4096] as const;
const weird = 'Ünï "q" \\ \u2028 </script> 🚚\n';

interface Listed {
  readonly eventdata: { readonly devices: readonly object[] };
  readonly metadata?: readonly object[];
  readonly more?: boolean;
  readonly next?: string | null;
}

async function list(path: string, as = token): Promise<{ readonly json: Listed; readonly text: string }> {
  const answer = await service.call({ path: `/api/v1${path}`, token: as });
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  return { json: answer.json() as unknown as Listed, text: answer.text };
}

/** Everything of the account in the order of a listing, read without any of its ways. */
async function known(isSeen: (deviceID: string) => boolean = () => true): Promise<readonly EventRow[]> {
  const rows = await storedEvents(service.db);
  const names = new Map([...deviceNos].map(([id, no]) => [no, id]));
  return rows
    .filter((row) => names.has(Number(row['device_no'])))
    .map((row) => toEvent({ ...row, device_id: names.get(Number(row['device_no'])) ?? '' }))
    .filter(({ deviceID }) => isSeen(deviceID))
    .sort((one, other) => one.timestampMs - other.timestampMs || one.eventNo - other.eventNo);
}

async function descriptions(): Promise<ReadonlyMap<string, Record<string, unknown>>> {
  const rows = await service.rows("SELECT * FROM devices WHERE account_id = 'acme'");
  return new Map(rows.map((row) => [String(row['device_id']), row]));
}

async function zones() {
  const rows = await service.rows("SELECT * FROM geozones WHERE account_id = 'acme'");
  return new Map(
    rows.map((row) => [
      String(row['geozone_id']),
      { description: String(row['description']), displayName: String(row['display_name']) },
    ]),
  );
}

/** The records as the service wrote them before, with members that were chosen. */
async function recordsOf(
  rows: readonly EventRow[],
  fields: readonly string[] | null = null,
): Promise<string> {
  const [texts, names] = [await descriptions(), await zones()];
  const views = rows.map((row) =>
    viewEvent(row, { description: String(texts.get(row.deviceID)?.['description']), zones: names }),
  );
  const chosen = views.map((view) =>
    fields === null
      ? view
      : Object.fromEntries(Object.entries(view).filter(([name]) => fields.includes(name))),
  );
  return JSON.stringify(chosen);
}

/** The entries of metadata, one by one. */
async function pinsOf(rows: readonly EventRow[]): Promise<string> {
  const texts = await descriptions();
  const pins: Record<string, unknown>[] = [];
  for (const row of rows) {
    const pin = {
      statusDescription: statusText(row.statusCode),
      creationTime: Math.floor(row.receivedMs / 1000),
      timestamp: Math.floor(row.timestampMs / 1000),
      pinColor: texts.get(row.deviceID)?.['pin_color'],
      latitude: degreesText(row.latitude ?? 0),
      longitude: degreesText(row.longitude ?? 0),
      isPositionValid: row.latitude !== null && row.longitude !== null,
      count: '1',
      pinTag: texts.get(row.deviceID)?.['pin_tag'],
      deviceID: row.deviceID,
      statusCode: String(row.statusCode),
    };
    const last = pins.at(-1);
    const isSame = (['statusCode', 'latitude', 'longitude', 'isPositionValid'] as const).every(
      (name) => last?.[name] === pin[name],
    );
    if (last !== undefined && isSame && pin.isPositionValid)
      last['count'] = String(Number(last['count']) + 1);
    else pins.push(pin);
  }
  return JSON.stringify(pins);
}

const ofDevice = (text: string): string => text.slice(text.indexOf('"devices":') + '"devices":'.length);
/** The text of a member's list, which ends where the list does. */
const expectList = (text: string, list: string): void =>
  expect(ofDevice(text).slice(0, list.length)).toBe(list);

interface Sent {
  readonly device: string;
  readonly atMs: number;
  readonly statusCode: number;
  readonly place: { readonly latitude: number; readonly longitude: number } | null;
  readonly boot: string;
  readonly geozoneID: string;
}

const event = fc.record({
  device: fc.constantFrom(...devices),
  atMs: fc.oneof(
    fc.integer({ min: 0, max: 2 * dayS * 1000 }),
    // Many of one moment, and around the ends of blocks.
    fc.constantFrom(7_200_000, 7_199_999, 7_200_001, 14_400_000),
  ),
  statusCode: fc.constantFrom(...codes),
  place: fc.option(
    fc.record({
      latitude: fc.oneof(
        fc.constantFrom(0, -0.000001, 90, 43.65),
        fc.double({ min: -90, max: 90, noNaN: true }),
      ),
      longitude: fc.oneof(fc.constantFrom(-180, 43.5), fc.double({ min: -180, max: 180, noNaN: true })),
    }),
    { freq: 4 },
  ),
  boot: fc.constantFrom('b1', '9c1d4a7e20b35f68', '@176', weird),
  geozoneID: fc.constantFrom('', 'depot', 'gone', weird),
});

let seq = 0;
async function store(events: readonly Sent[]): Promise<void> {
  await storeEvents(
    service.db,
    events.map(({ device, atMs, statusCode, place, boot, geozoneID }) => {
      seq += 1;
      const timestampMs = baseMs + atMs;
      const deviceNo = deviceNos.get(device) ?? 0;
      const at = { latitude: place?.latitude ?? null, longitude: place?.longitude ?? null };
      return {
        deviceNo,
        boot,
        seq,
        timestampMs,
        receivedMs: timestampMs + 900,
        statusCode,
        geozoneID,
        ...at,
      };
    }),
  );
}

const range = `0/${endS}/authorization`;
const fleetOf = (code: number): string => `/eventdata/fleetdata/${code}/${range}`;
const dataOf = (device: string): string => `/eventdata/devicedata/${device}/${range}`;
const metadataOf = (device: string): string => `/eventdata/devicemetadata/${device}/${range}`;

/** The records of a listing, read page by page; each page is asked for twice. */
async function paged(path: string, as: string, limit: number): Promise<readonly object[]> {
  const found: object[] = [];
  let cursor = '';
  for (;;) {
    const asked = `${path}?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const [{ json, text }, again] = [await list(asked, as), await list(asked, as)];
    expect(again.text).toBe(text);
    expect(json.eventdata.devices.length).toBeLessThanOrEqual(limit);
    found.push(...json.eventdata.devices);
    if (json.more !== true) return found;
    cursor = json.next ?? '';
  }
}

async function expectAll(): Promise<void> {
  const rows = await known();
  for (const device of devices) {
    const own = rows.filter(({ deviceID }) => deviceID === device);
    expectList((await list(dataOf(device))).text, await recordsOf(own));
    const { text } = await list(metadataOf(device));
    expectList(text, await recordsOf(own));
    const pins = await pinsOf(own);
    expect(text.slice(text.indexOf('"metadata":') + '"metadata":'.length).slice(0, pins.length)).toBe(pins);
  }
  for (const code of codes.filter((one) => one !== 61472)) {
    const coded = rows.filter(({ statusCode }) => statusCode === code);
    expectList((await list(fleetOf(code))).text, await recordsOf(coded));
    const seen = coded.filter(({ deviceID }) => deviceID === 'van-2');
    expectList((await list(fleetOf(code), limited)).text, await recordsOf(seen));
    for (const limit of [9, 5000]) {
      expect(JSON.stringify(await paged(fleetOf(code), token, limit))).toBe(await recordsOf(coded));
      expect(JSON.stringify(await paged(fleetOf(code), limited, limit))).toBe(await recordsOf(seen));
    }
  }
}

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'driver', 'viewer');
  for (const deviceID of devices) await service.device('acme', deviceID);
  await service.device('rival', 'van-1');
  await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'g')");
  await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT device_no, 1 FROM devices
    WHERE account_id = 'acme' AND device_id = 'van-2'`);
  await service.sql("INSERT INTO group_users (account_id, user_id, group_no) VALUES ('acme', 'driver', 1)");
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'driver'");
  await service.sql(`UPDATE devices SET description = $1 WHERE device_id = 'van-2'`, [weird]);
  const rows = await service.rows("SELECT device_no, device_id FROM devices WHERE account_id = 'acme'");
  deviceNos = new Map(rows.map((row) => [String(row['device_id']), Number(row['device_no'])]));
  token = await service.login('acme', 'admin');
  limited = await service.login('acme', 'driver');
});
afterAll(() => service.close());

const post = async (path: string, body: object) => {
  const answer = await service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
  expect(answer.status, answer.text).toBe(200);
};

describe('a listing written by the reading thread', () => {
  it('is byte by byte that of its members, whatever comes in, late, in other slices, and between two calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 40 }), fc.boolean(), async (events, isNext) => {
        await store(events);
        if (isNext) await openNextSlice(service.db, baseMs + 3 * dayS * 1000);
        await expectAll();
        // From what is kept.
        await expectAll();
      }),
      { numRuns: 12 },
    );
  });

  it('gives every page once, and the members that were asked for in their order', async () => {
    const rows = await known();
    const own = rows.filter(({ deviceID }) => deviceID === 'van-1');
    for (const limit of [1, 7, own.length, 5000]) {
      for (const path of [dataOf('van-1'), metadataOf('van-1')]) {
        expect(JSON.stringify(await paged(path, token, limit))).toBe(await recordsOf(own));
      }
    }
    for (const fields of [
      ['speed'],
      ['commandID', 'timestamp', 'eventID'],
      ['count', 'latitude'],
      ['pinTag'],
    ]) {
      const { json, text } = await list(`${metadataOf('van-1')}?fields=${fields.join()}`);
      expectList(text, await recordsOf(own, fields));
      const pins = JSON.parse(await pinsOf(own)) as object[];
      const chosen = pins.map((pin) =>
        Object.fromEntries(Object.entries(pin).filter(([name]) => fields.includes(name))),
      );
      expect(JSON.stringify(json.metadata)).toBe(JSON.stringify(chosen));
    }
  });

  it('shows every change of a device, a geozone, an address and the records themselves at once', async () => {
    await store([
      {
        device: 'van-1',
        atMs: 5000,
        statusCode: 63553,
        place: { latitude: 43.6, longitude: -79.3 },
        boot: 'c1',
        geozoneID: 'yard',
      },
    ]);
    await expectAll();
    await post('/device/updatedevice', { deviceID: 'van-1', deviceDescription: 'Blue "van"' });
    await expectAll();
    await post('/geozone/creategeozone', {
      geozoneID: 'yard',
      geozoneDescription: 'The yard',
      geozoneType: 0,
      geozoneRadius: 800,
      geozonePoint1: '43.64000,-79.37000',
    });
    await expectAll();
    await post('/geozone/deletegeozone', { geozoneID: 'yard' });
    await expectAll();
    const address = encodeURIComponent('12 Queens Quay "W"');
    const at = Math.floor((baseMs + 5000) / 1000);
    await post('/device/updateaddress', {
      deviceID: 'van-1',
      timestamp: at,
      address: decodeURIComponent(address),
    });
    await expectAll();
    await expectAll();
    const deviceNo = deviceNos.get('van-1') ?? 0;
    const old = (await known()).filter((row) => row.deviceID === 'van-1' && row.seq % 3 === 0);
    for (const { sliceNo } of await wholeSlices(service.db))
      for (let at = 0; at < old.length; at += removedAtOnce)
        await service.db.write(removeEvents({ sliceNo, deviceNo }, old.slice(at, at + removedAtOnce)));
    await expectAll();
  });

  it('shows nothing of a device that was deleted, whose events may still be there', async () => {
    await expectAll();
    await post('/device/deletedevice', { deviceID: 'van-1' });
    deviceNos = new Map([...deviceNos].filter(([deviceID]) => deviceID !== 'van-1'));
    const coded = (await known()).filter(({ statusCode }) => statusCode === 63553);
    expectList((await list(fleetOf(63553))).text, await recordsOf(coded));
    const answer = await service.call({ path: `/api/v1${dataOf('van-1')}`, token });
    expect(answer.status).toBe(404);
    // A new device of the name has none of its records.
    await service.device('acme', 'van-1');
    expect((await list(dataOf('van-1'))).json.eventdata.devices).toEqual([]);
  });

  it('is found by its own account only', async () => {
    const rival = await service.login('rival', 'admin');
    for (const path of [dataOf('van-1'), fleetOf(63553), fleetOf(62465)]) {
      expect((await list(path, rival)).json.eventdata.devices).toEqual([]);
      expect((await list(`${path}?limit=5000`, rival)).json.eventdata.devices).toEqual([]);
    }
    const answer = await service.call({ path: `/api/v1${dataOf('van-2')}`, token: rival });
    expect(answer.status).toBe(404);
  });
});

describe('the cache of texts', () => {
  it('finds a text by an equal proof only, and keeps no more bytes than it may', () => {
    const cache = createTextCache<string>(10_000, (text) => text.length);
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            fc.integer({ min: 0, max: 30 }),
            fc.integer({ min: 0, max: 3 }),
            fc.integer({ max: 12_000, min: 0 }),
          ),
        ),
        (steps) => {
          cache.clear();
          const newest = new Map<string, readonly [proof: string, text: string]>();
          for (const [key, proof, length] of steps) {
            const text = `${key} ${proof}`.padEnd(length);
            cache.keep(String(key), String(proof), text);
            newest.set(String(key), [String(proof), text]);
            expect(cache.size()).toBeLessThanOrEqual(10_000);
            for (const [known, [right, kept]] of newest) {
              expect(cache.find(known, 'other')).toBeNull();
              const found = cache.find(known, right);
              if (found !== null) expect(found).toBe(kept);
            }
          }
        },
      ),
    );
  });
});
