// Event data over HTTP: ranges of a device and of the fleet, paging that neither loses nor doubles a record, alerts and their
// summary, and records that people make. A whole broker, real store.
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { activationCodes, codesByCategory } from '../../broker/core/events/activation.ts';
import { storeMany } from '../support/database/stored-events.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
interface Shown {
  readonly eventID: string;
  readonly deviceID: string;
  readonly timestamp: number;
  readonly statusCode: number;
}
interface Listed {
  readonly eventdata: { readonly devices: readonly Shown[] };
  readonly metadata?: readonly object[];
  readonly more?: boolean;
  readonly next?: string | null;
  readonly upTo?: string;
}

let service: Service;
let token = '';
let limited = '';
const nowS = Math.floor(Date.now() / 1000);
const base = nowS - 5 * 86_400;
/** What every device has sent, as the test knows it. */
const sent: Shown[] = [];

const call = (path: string, as = token) => service.call({ path: `/api/v1${path}`, token: as });

async function list(path: string, as = token): Promise<Listed> {
  const answer = await call(path, as);
  expect(answer.status, answer.text.slice(0, 500)).toBe(200);
  return answer.json() as unknown as Listed;
}

async function refusal(path: string, as = token) {
  const answer = await call(path, as);
  const error = answer.json()['error'] as {
    status: number;
    code: string;
    hint: string;
    errors: { pointer: string }[];
  };
  return { status: answer.status, code: error.code, hint: error.hint, pointer: error.errors[0]?.pointer };
}

const ids = ({ eventdata }: Listed): readonly string[] =>
  eventdata.devices.map(({ deviceID, eventID }) => `${deviceID} ${eventID}`);

/** The records that an answer should hold, in its order: event time; records of one second by time only. */
function expected(filter: (one: Shown) => boolean): readonly string[] {
  return sent
    .filter(filter)
    .map(({ deviceID, eventID }) => `${deviceID} ${eventID}`)
    .sort();
}

const sorted = (listed: Listed): readonly string[] => [...ids(listed)].sort();
const inTimeOrder = ({ eventdata }: Listed): boolean =>
  eventdata.devices.every(({ timestamp }, at) => timestamp >= (eventdata.devices[at - 1]?.timestamp ?? 0));

async function send(
  deviceID: string,
  boot: string,
  events: readonly { timestamp: number; statusCode: number }[],
) {
  await service.events('acme', deviceID, {
    boot,
    events: events.map((event, at) => ({ ...event, timestamp: event.timestamp * 1000, seq: at + 1 })),
  });
  sent.push(...events.map((event, at) => ({ ...event, deviceID, eventID: `${boot}:${at + 1}` })));
}

/** Every page of a listing, by its cursor. */
async function pages(path: string, limit: number, as = token): Promise<readonly Listed[]> {
  const found: Listed[] = [];
  let cursor = '';
  for (;;) {
    const page: Listed = await list(`${path}?limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`, as);
    found.push(page);
    if (page.more !== true) return found;
    cursor = page.next ?? '';
  }
}

const devices = ['van-1', 'van-2', 'van-3', 'van-4'];

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'dispatch', 'operator');
  await service.user('acme', 'driver', 'viewer');
  for (const deviceID of devices) await service.device('acme', deviceID);
  await service.device('rival', 'van-1');
  await service.sql(`INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'g')`);
  await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT device_no, 1 FROM devices
    WHERE account_id = 'acme' AND device_id = 'van-2'`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no) VALUES ('acme', 'driver', 1)`);
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'driver'");
  const codes = [61472, 61472, 61714, 63553, 62465, 62673, 63825, 61472];
  for (const [index, deviceID] of devices.entries()) {
    // Late and early ones mixed, several in one second, some days apart.
    const events = Array.from({ length: 120 }, (_unused, at) => ({
      timestamp: base + ((at * 7919 + index * 31) % 200) * 60 + (at > 100 ? 3 * 86_400 : 0),
      statusCode: codes[(at * 5 + index) % codes.length] ?? 61472,
    }));
    await send(deviceID, 'b1', events);
  }
  await service.events('rival', 'van-1', {
    boot: 'b1',
    events: [{ seq: 1, timestamp: (base + 60) * 1000, statusCode: 63553, attributes: { note: 'CANARY' } }],
  });
  token = await service.login('acme', 'dispatch');
  limited = await service.login('acme', 'driver');
});

afterAll(() => service.close());

describe('a range of a device', () => {
  it('holds every record of its time, oldest first, in both forms', async () => {
    const range = `/van-1/${base + 600}/${base + 6000}/authorization`;
    const data = await list(`/eventdata/devicedata${range}`);
    const isIn = (one: Shown) =>
      one.deviceID === 'van-1' && one.timestamp >= base + 600 && one.timestamp <= base + 6000;
    expect(sorted(data)).toEqual(expected(isIn));
    expect(inTimeOrder(data)).toBe(true);
    const both = await list(`/eventdata/devicemetadata${range}`);
    expect(ids(both)).toEqual(ids(data));
    expect(both.metadata).toHaveLength(data.eventdata.devices.length);
    expect(Object.keys(both)).not.toContain('more');
  });

  it('of the last 24 hours is the same as of the times', async () => {
    await service.device('acme', 'today');
    await send(
      'today',
      't1',
      [nowS - 90_000, nowS - 86_000, nowS - 10].map((timestamp) => ({ timestamp, statusCode: 61472 })),
    );
    for (const kind of ['devicedata', 'devicemetadata']) {
      expect(ids(await list(`/eventdata/${kind}/today/authorization`))).toEqual(['today t1:2', 'today t1:3']);
    }
  });
});

describe('a range of the fleet', () => {
  const ranges = fc.tuple(fc.integer({ min: -100, max: 13_000 }), fc.integer({ min: 0, max: 300_000 }));

  it('holds every record of every device, and none of others, whatever the range, the code and the way of asking', async () => {
    const codes = fc.constantFrom('*', '61472', '63553', '62465', '61717', '61714', '63825', '12345');
    await fc.assert(
      fc.asyncProperty(
        ranges,
        codes,
        fc.integer({ min: 1, max: 200 }),
        async ([start, length], code, limit) => {
          const [from, to] = [base + start, base + start + length];
          const path = `/eventdata/fleetdata/${code}/${from}/${to}/authorization`;
          const whole = await list(path);
          const isIn = (one: Shown) =>
            one.timestamp >= from && one.timestamp <= to && (code === '*' || String(one.statusCode) === code);
          expect(sorted(whole)).toEqual(expected(isIn));
          expect(inTimeOrder(whole)).toBe(true);
          const paged = await pages(path, limit);
          expect(paged.flatMap(ids)).toEqual(ids(whole));
          expect(paged.slice(0, -1).every((page) => page.eventdata.devices.length === limit)).toBe(true);
          if (code !== '*') return;
          expect(ids(await list(`/eventdata/fleetdata/${from}/${to}/authorization`))).toEqual(ids(whole));
          expect(ids(await list(`/eventdata/fleetmetadata/${from}/${to}/authorization`))).toEqual(ids(whole));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('shows a user with groups their devices only, in every form', async () => {
    for (const path of [
      '/eventdata/fleetdata/*/0/0/authorization',
      '/eventdata/fleetdata/63553/0/0/authorization',
      '/eventdata/fleetdata/61472/0/0/authorization',
      '/eventdata/fleetmetadata/0/0/authorization',
      '/events/activations/authorization',
    ]) {
      const own = (await list(path)).eventdata.devices.filter(({ deviceID }) => deviceID === 'van-2');
      expect((await list(path, limited)).eventdata.devices, path).toEqual(own);
      expect((await pages(path, 7, limited)).flatMap((page) => page.eventdata.devices)).toEqual(own);
    }
  });

  it('of more than 20,000 records comes whole, in order, and can be paged', async () => {
    await service.device('acme', 'chatty');
    await storeMany(service.db, {
      device: 'chatty',
      count: 20_001,
      boot: 'c',
      of: (i) => ({
        timestampMs: 1_000_000_000_000 + (i % 7) * 1000,
        statusCode: i % 2 === 0 ? 61472 : 63617,
      }),
    });
    for (const path of [
      '/eventdata/devicedata/chatty/0/0/authorization',
      '/eventdata/devicemetadata/chatty/0/0/authorization',
      '/eventdata/fleetdata/*/0/0/authorization',
      '/eventdata/fleetdata/0/0/authorization',
      '/eventdata/fleetmetadata/0/0/authorization',
    ]) {
      const { devices } = (await list(path)).eventdata;
      const own = devices.filter(({ deviceID }) => deviceID === 'chatty');
      expect(own, path).toHaveLength(20_001);
      const at = own.map(({ timestamp }) => timestamp);
      expect(at).toEqual(at.toSorted((one, other) => one - other));
    }
    const all = (await pages('/eventdata/fleetdata/1000000000/1000000010/authorization', 5000)).flatMap(ids);
    expect(all).toHaveLength(20_001);
    expect(new Set(all).size).toBe(20_001);
    const half = await list('/eventdata/fleetdata/63617/1000000000/1000000010/authorization');
    expect(half.eventdata.devices).toHaveLength(10_001);
    await service.sql("DELETE FROM events WHERE boot = 'c'");
  });

  it('refuses a malformed status code', async () => {
    for (const code of ['x', '**', '-1', '1.5', '123456', '']) {
      const answer = await call(`/eventdata/fleetdata/${encodeURIComponent(code)}/0/0/authorization`);
      expect([404, 422], code).toContain(answer.status);
    }
    expect(await refusal('/eventdata/fleetdata/0/0/0/authorization')).toMatchObject({
      status: 422,
      pointer: '/statusCode',
    });
  });
});

describe('the opt-in query', () => {
  const path = '/eventdata/devicedata/van-1/0/0/authorization';

  it('gives only the members asked for, and refuses unknown ones', async () => {
    const { eventdata, upTo } = await list(`${path}?fields=timestamp,speed`);
    expect(Object.keys(eventdata.devices[0] ?? {}).sort()).toEqual(['speed', 'timestamp']);
    expect(Number(upTo)).toBeGreaterThan(0);
    for (const fields of ['', 'timestamp,', 'password', '__proto__', 'timestamp,nonsense']) {
      expect(await refusal(`${path}?fields=${fields}`)).toMatchObject({ status: 422, pointer: '/fields' });
    }
    const both = await list('/eventdata/devicemetadata/van-1/0/0/authorization?fields=count,timestamp');
    expect(both.metadata?.[0]).toEqual({ count: '1', timestamp: both.eventdata.devices[0]?.timestamp });
    expect(Object.keys(both.eventdata.devices[0] ?? {})).toEqual(['timestamp']);
  });

  it('gives what was stored since, late records too, and nothing twice', async () => {
    const first = await list(`${path}?since=0`);
    await send('van-1', 'late', [{ timestamp: base - 86_400, statusCode: 61472 }]);
    const second = await list(`${path}?since=${first.upTo}`);
    expect(ids(second)).toEqual(['van-1 late:1']);
    expect(ids(await list(`${path}?since=${second.upTo}`))).toEqual([]);
  });

  it('refuses a limit, a cursor and parameters that are none', async () => {
    for (const limit of ['0', '5001', 'x', '-1', '1.5', '']) {
      expect((await refusal(`${path}?limit=${limit}`)).status, limit).toBe(422);
    }
    expect((await refusal(`${path}?offset=1`)).status).toBe(422);
    expect((await refusal(`${path}?limit=1&limit=2`)).status).toBe(422);
    const { next } = await list(`${path}?limit=2`);
    const good = next ?? '';
    const changed = good.slice(0, -3) + (good.at(-3) === 'A' ? 'B' : 'A') + good.slice(-2);
    for (const cursor of [
      'x',
      '',
      changed,
      good.slice(1),
      Buffer.from('1.1.000000000000').toString('base64url'),
    ]) {
      expect(await refusal(`${path}?cursor=${cursor}`), cursor).toMatchObject({
        status: 422,
        pointer: '/cursor',
      });
    }
    expect(await refusal(`/eventdata/devicedata/van-2/0/0/authorization?cursor=${good}`)).toMatchObject({
      status: 422,
    });
    expect(await refusal(`/eventdata/fleetdata/*/0/0/authorization?cursor=${good}`)).toMatchObject({
      status: 422,
    });
  });

  it('pages over records that come in meanwhile without losing one', async () => {
    await service.device('acme', 'moving');
    await send(
      'moving',
      'm1',
      [1, 2, 3, 4].map((at) => ({ timestamp: base + at, statusCode: 61472 })),
    );
    const one = await list('/eventdata/devicedata/moving/0/0/authorization?limit=2');
    await send(
      'moving',
      'm2',
      [2, 3, 9].map((at) => ({ timestamp: base + at, statusCode: 61472 })),
    );
    const two = await list(`/eventdata/devicedata/moving/0/0/authorization?limit=9&cursor=${one.next}`);
    expect([...ids(one), ...ids(two)]).toEqual(
      ['m1:1', 'm1:2', 'm2:1', 'm1:3', 'm2:2', 'm1:4', 'm2:3'].map((id) => `moving ${id}`),
    );
  });
});

describe('alerts', () => {
  it('of a device over a range are its records with an alert code', async () => {
    const isAlert = (one: Shown) => one.deviceID === 'van-3' && activationCodes.includes(one.statusCode);
    const found = await list('/device/getdeviceactivations/van-3/0/0/authorization');
    expect(sorted(found)).toEqual(expected(isAlert));
    expect((await pages('/device/getdeviceactivations/van-3/0/0/authorization', 5)).flatMap(ids)).toEqual(
      ids(found),
    );
  });

  it('of the last day are counted by category as listed, for the devices that the user sees', async () => {
    await send(
      'van-2',
      'day',
      [63553, 63825, 62673, 62689, 61968, 62496, 63637, 63625].map((statusCode, at) => ({
        timestamp: nowS - 80_000 + at * 3600,
        statusCode,
      })),
    );
    await send(
      'van-4',
      'day',
      [63553, 64787].map((statusCode) => ({ timestamp: nowS - 30, statusCode })),
    );
    for (const as of [token, limited]) {
      const { devices: listed } = (await list('/events/activations/authorization', as)).eventdata;
      const answer = (await call('/events/activations/summary/authorization', as)).json();
      for (const [category, codes] of Object.entries(codesByCategory)) {
        expect(answer[category], category).toBe(
          listed.filter(({ statusCode }) => codes.includes(statusCode)).length,
        );
      }
    }
    const plain = await service.call({ path: '/events/activations/summary/authorization', token: limited });
    expect(plain.json()).toEqual({
      status_code: '200',
      success: '1',
      fuel: 1,
      activations: 2,
      cargo: 1,
      base: 1,
    });
  });

  it('from a clock that ran years ahead count for a day from their arrival, in list and summary', async () => {
    await service.device('acme', 'ahead');
    await service.sql(
      "DELETE FROM events WHERE device_no IN (SELECT device_no FROM devices WHERE device_id = 'ahead')",
    );
    const counted = async () => (await call('/events/activations/summary/authorization')).json()['base'];
    const before = Number(await counted());
    await service.events('acme', 'ahead', {
      boot: 'a',
      events: [{ seq: 1, timestamp: 4_000_000_000_000, statusCode: 63621 }],
    });
    expect(await counted()).toBe(before + 1);
    await service.sql("UPDATE events SET received_ms = received_ms - 90000000 WHERE boot = 'a'");
    expect(await counted()).toBe(before);
    expect(
      (await list('/events/activations/authorization')).eventdata.devices.some(
        ({ deviceID }) => deviceID === 'ahead',
      ),
    ).toBe(false);
  });
});

describe('a record that a person makes', () => {
  const make = (deviceID: string, code: string, as = token) =>
    call(`/events/createactivation/${deviceID}/${code}/authorization`, as);

  it('is stored once a second, shown like any other, and audited once', async () => {
    await service.device('acme', 'helped');
    let answers: Awaited<ReturnType<typeof make>>[] = [];
    // The second may change between the calls; then there are two.
    do answers = await Promise.all(Array.from({ length: 5 }, () => make('helped', '63553')));
    while (new Set(answers.map(({ text }) => text)).size > 1);
    const [record] = (answers[0]?.json() as unknown as Listed | undefined)?.eventdata.devices ?? [];
    expect(record).toMatchObject({
      deviceID: 'helped',
      statusCode: 63553,
      statusDescription: 'Panic',
      isPositionValid: false,
    });
    const stored = await service.sql(`SELECT attributes FROM events WHERE status_code = 63553 AND device_no =
      (SELECT device_no FROM devices WHERE device_id = 'helped') AND timestamp_ms = ${(record?.timestamp ?? 0) * 1000}`);
    expect(stored[0]?.rows).toEqual([{ attributes: '{"by":"dispatch"}' }]);
    const shown = (await service.call({ path: '/device/getdevice/helped/authorization', token })).json();
    expect(shown).toMatchObject({ sensors: { panic: { state: '1' } } });
    const audit = await service.sql(
      `SELECT object FROM audit WHERE action = 'event.create' AND detail LIKE '%${record?.timestamp}%'`,
    );
    expect(audit[0]?.rows).toEqual([{ object: 'helped' }]);
  });

  it('is one although it is asked for again within ten seconds, until something else was recorded', async () => {
    await service.device('acme', 'calm');
    onTestFinished(holdClock(service));
    const stored = async (code: string) =>
      (
        await service.rows(`SELECT event_no FROM events WHERE status_code = ${code} AND device_no =
          (SELECT device_no FROM devices WHERE device_id = 'calm')`)
      ).length;
    const first = await make('calm', '63553');
    for (const _again of [1, 2, 3]) {
      service.advance(1500);
      expect((await make('calm', '63553')).text).toBe(first.text);
    }
    expect(await stored('63553')).toBe(1);
    // The panic ended meanwhile: the next one is another.
    await make('calm', '63554');
    service.advance(1500);
    expect((await make('calm', '63553')).text).not.toBe(first.text);
    expect(await stored('63553')).toBe(2);
    service.advance(11_000);
    await make('calm', '63553');
    expect(await stored('63553')).toBe(3);
    const audit = await service.rows(
      "SELECT detail FROM audit WHERE action = 'event.create' AND object = 'calm' ORDER BY audit_no",
    );
    expect(audit).toHaveLength(4);
  });

  it('is no sign of life: a device that never reported stays silent', async () => {
    await service.device('acme', 'silent');
    await make('silent', '63553');
    const shown = (await service.call({ path: '/device/getdevice/silent/authorization', token })).json();
    expect(shown).toMatchObject({
      deviceLastHeartbeat: 0,
      deviceLastValidTimestamp: 0,
      sensors: { panic: { state: '1' } },
    });
    const row = await service.rows("SELECT is_online, heartbeat_ms FROM devices WHERE device_id = 'silent'");
    expect(row).toEqual([{ is_online: 0, heartbeat_ms: 0 }]);
  });

  it.each([
    '63680',
    '63681',
    '63637',
    '63638',
    '63539',
    '4352',
    '4355',
    '4362',
    '61472',
    '61968',
    '62465',
    '0',
    '99999',
  ])('never has the code %s, which only a vehicle can report', async (code) => {
    const answer = await make('van-1', code);
    expect([answer.status, answer.json()['error']]).toMatchObject([422, { code: 'invalid_content' }]);
  });

  it('is made for a visible device only, by an operator', async () => {
    expect((await make('none', '63553')).status).toBe(404);
    expect((await make('van-1', '63553', limited)).json()['error']).toMatchObject({ code: 'forbidden' });
    const before = await service.sql('SELECT COUNT(*) AS n FROM events');
    await service.call({
      method: 'HEAD',
      path: '/api/v1/events/createactivation/van-1/63553/authorization',
      token,
    });
    expect(await service.sql('SELECT COUNT(*) AS n FROM events')).toEqual(before);
  });
});
