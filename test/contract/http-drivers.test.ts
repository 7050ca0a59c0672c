// Drivers over HTTP: a name is found by key and time, so a key that is handed on renames nothing; it belongs to one driver at a time; an
// erased driver leaves the bare key; and names are shown with the rights of a vehicle or of the whole account only.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
interface Span {
  readonly keyID: string;
  readonly startTime: number;
  readonly endTime: number;
}
interface Driver {
  readonly driverID: string;
  readonly driverDisplayName: string;
  readonly keys: readonly Span[];
  readonly leftTime: number;
  readonly lastDeviceID: string;
  readonly auditObject: string;
}
interface Named {
  readonly driverUniqueId: string;
  readonly driverID: string | null;
  readonly driverDisplayName: string | null;
}

let service: Service;
const tokens = new Map<string, string>();
const nowS = Math.floor(Date.now() / 1000);
const startS = nowS - 2 * 86_400;
const metre = 1 / 111_195;
const phone = '+1 416 555 0199';
/** Keys of: two trips of van-1 and one of van-2; the second trip of van-1; nobody, refused by van-2. */
const [key, other, refused] = ['0200000000000A11', '0A00B1C2D3', '0200000000000BAD'];
/** Trips of van-1 begin and end here, s after the start. */
const [first, second] = [[3600, 5400] as const, [10_800, 12_600] as const];

const call = (as: string, path: string, body?: object) =>
  service.call({
    ...(body === undefined ? {} : { method: 'POST', body }),
    path: `/api/v1${path}`,
    token: tokens.get(as) ?? '',
  });
const put = (as: string, body: object) => call(as, '/driver/driverupdate/authorization', body);
const end = (as: string, body: object) => call(as, '/driver/deletedriver/authorization', body);
const list = async (as = 'admin') => (await call(as, '/driver/getdrivers/authorization')).json();
const driver = async (driverID: string): Promise<Driver | undefined> =>
  ((await list())['drivers'] as readonly Driver[]).find((one) => one.driverID === driverID);
const unknown = async () =>
  (await list())['unknownKeys'] as readonly { keyID: string; deviceID: string; isRefused: boolean }[];
const trips = async (as: string, deviceID: string, query = '') =>
  ((await call(as, `/report/trips/${deviceID}/${startS}/0/authorization${query}`)).json()['trips'] ??
    []) as readonly { driverUniqueIds: readonly string[]; drivers: readonly Named[] }[];
const names = async (as = 'admin', deviceID = 'van-1') =>
  (await trips(as, deviceID)).map(({ drivers }) => drivers.map((one) => one.driverDisplayName));
const codeOf = (answer: Awaited<ReturnType<typeof call>>) => {
  const error = answer.json()['error'] as { code?: string; errors?: { pointer: string }[] } | undefined;
  return [error?.code, error?.errors?.[0]?.pointer];
};

/** Records of a vehicle that drives in these seconds, and what its reader says. */
function day(
  drives: readonly (readonly [number, number])[],
  said: ReadonlyMap<number, object>,
): readonly object[] {
  const events: object[] = [];
  let metres = 0;
  for (let atS = 0; atS <= 14_400; atS += 60) {
    const isDriving = drives.some(([from, to]) => atS > from && atS <= to);
    if (isDriving) metres += 900;
    const place = { latitude: 43 + metres * metre, longitude: -79.3 };
    const speed = isDriving ? 54 : 0;
    const timestamp = startS + atS;
    events.push({ timestamp, statusCode: 61_714, ...place, speed, inputs: { ignition: isDriving } });
    const more = said.get(atS);
    if (more !== undefined) events.push({ timestamp, ...more });
  }
  return events.map((event, at) => ({ seq: at + 1, ...event }));
}
const identified = (driverUniqueId: string) => ({ statusCode: 4400, attributes: { driverUniqueId } });
const cleared = { statusCode: 4401, attributes: {} };

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['van-1', 'van-2']) await service.device('acme', deviceID);
  await service.events('acme', 'van-1', {
    boot: 'b',
    events: day(
      [first, second],
      new Map<number, object>([
        [first[0], identified(key)],
        [first[1] + 600, cleared],
        [second[0], identified(other)],
        [second[0] + 900, identified(key)],
      ]),
    ),
  });
  await service.events('acme', 'van-2', {
    boot: 'b',
    events: day(
      [first],
      // As another maker of units writes it.
      new Map<number, object>([
        [first[0], identified(key.toLowerCase())],
        [9000, { statusCode: 4402, attributes: { keyUniqueId: refused } }],
      ]),
    ),
  });
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'vera', 'viewer');
  // Sees van-1 alone.
  await service.user('acme', 'gus', 'operator');
  tokens.set('admin', await service.login('acme', 'admin'));
  await call('admin', '/group/updategroup/authorization', { groupID: 'yard', devices: ['van-1'] });
  await call('admin', '/user/updateuser/authorization', { userID: 'gus', groups: ['yard'] });
  for (const userID of ['olga', 'vera', 'gus']) tokens.set(userID, await service.login('acme', userID));
  tokens.set('rival', await service.login('rival', 'admin'));
});
afterAll(() => service.close());

describe('the keys of drivers', () => {
  it('are listed as unknown with the vehicle that named them last, until they are given to a driver', async () => {
    expect(await unknown()).toMatchObject([
      { keyID: key, deviceID: 'van-1', isRefused: false },
      { keyID: other, deviceID: 'van-1', isRefused: false },
      { keyID: refused, deviceID: 'van-2', isRefused: true },
    ]);
    expect(await names()).toEqual([[null], [null, null]]);
    const made = await put('olga', {
      driverID: 'ann',
      driverDisplayName: ' Ann Tremblay ',
      phone,
      keys: [{ keyID: key }],
    });
    expect(made.status, made.text).toBe(200);
    expect((await unknown()).map(({ keyID }) => keyID)).toEqual([other, refused]);
    expect(await driver('ann')).toMatchObject({
      driverDisplayName: 'Ann Tremblay',
      keys: [{ keyID: key, startTime: 0, endTime: 0 }],
      leftTime: 0,
      lastDeviceID: 'van-1',
    });
    expect(await names()).toEqual([['Ann Tremblay'], [null, 'Ann Tremblay']]);
    // The record keeps the id as it came.
    expect((await trips('admin', 'van-2'))[0]).toMatchObject({
      driverUniqueIds: [key.toLowerCase()],
      drivers: [{ driverUniqueId: key.toLowerCase(), driverID: 'ann', driverDisplayName: 'Ann Tremblay' }],
    });
  });

  it('are found however their hex digits are spelled, and any other id as it is', async () => {
    const spelled = ['02 00 00 00 00 00 0a 11', '02:00:00:00:00:00:0A:11', '02-00-00-00-00-00-0a-11'];
    for (const keyID of spelled) {
      expect((await put('olga', { driverID: 'ann', keys: [{ keyID }] })).status).toBe(200);
      expect((await driver('ann'))?.keys).toEqual([{ keyID: key, startTime: 0, endTime: 0 }]);
    }
    expect(
      (await put('olga', { driverID: 'tag', driverDisplayName: 'T', keys: [{ keyID: ' Card-7 ' }] })).status,
    ).toBe(200);
    expect((await driver('tag'))?.keys[0]?.keyID).toBe('Card-7');
    await end('admin', { driverID: 'tag', erase: true });
  });

  it('do not rename the past when one is handed over, even on the way', async () => {
    const atS = startS + second[0] + 1200;
    const bob = { driverID: 'bob', driverDisplayName: 'Bob Roy', keys: [{ keyID: key, startTime: atS }] };
    expect(codeOf(await put('olga', bob))).toEqual(['conflict', '/keys/0/keyID']);
    expect(await driver('bob')).toBeUndefined();
    expect((await put('olga', { ...bob, takesOver: true })).status).toBe(200);
    expect((await driver('ann'))?.keys).toEqual([{ keyID: key, startTime: 0, endTime: atS }]);
    expect(await names()).toEqual([['Ann Tremblay'], [null, 'Ann Tremblay', 'Bob Roy']]);
    expect(await names('admin', 'van-2')).toEqual([['Ann Tremblay']]);
    // Of each driver every key at its time, and no trip of another.
    for (const [driverID, count] of [
      ['ann', 2],
      ['bob', 1],
      ['eve', 0],
    ] as const)
      expect(await trips('admin', 'van-1', `?driverID=${driverID}`), driverID).toHaveLength(count);
  });

  it('begin without a given time where the last owner ended', async () => {
    await put('olga', {
      driverID: 'eve',
      driverDisplayName: 'Eve',
      keys: [{ keyID: refused, startTime: 0, endTime: nowS - 500 }],
    });
    await put('olga', { driverID: 'fay', driverDisplayName: 'Fay', keys: [{ keyID: refused }] });
    expect((await driver('fay'))?.keys).toEqual([{ keyID: refused, startTime: nowS - 500, endTime: 0 }]);
    for (const driverID of ['eve', 'fay']) await end('admin', { driverID, erase: true });
  });

  it('belong to one driver at a time, whatever is sent at once', async () => {
    const race = ['r1', 'r2', 'r3', 'r4'].map((driverID) =>
      put('olga', { driverID, driverDisplayName: driverID, keys: [{ keyID: 'RACE', startTime: nowS - 99 }] }),
    );
    const done = (await Promise.all(race)).map(({ status }) => status).toSorted((one, other) => one - other);
    expect(done).toEqual([200, 422, 422, 422]);
    expect(await service.rows(`SELECT COUNT(*) AS count FROM driver_keys WHERE key_id = 'RACE'`)).toEqual([
      { count: 1 },
    ]);
    for (const driverID of ['r1', 'r2', 'r3', 'r4']) await end('admin', { driverID, erase: true });
  });

  const keyID = 'K-1';
  it.each<readonly [string, object, string]>([
    ['a key without a character', { keys: [{ keyID: '' }] }, '/keys/0/keyID'],
    ['a key of spaces', { keys: [{ keyID: '  ' }] }, '/keys/0/keyID'],
    ['a key with a line break', { keys: [{ keyID: 'a\nb' }] }, '/keys/0/keyID'],
    ['a key that is too long', { keys: [{ keyID: 'x'.repeat(65) }] }, '/keys/0/keyID'],
    ['a key that is a number', { keys: [{ keyID: 7 }] }, '/keys/0/keyID'],
    ['the same key twice', { keys: [{ keyID }, { keyID }] }, '/keys/1'],
    [
      'the same key in two spellings',
      { keys: [{ keyID: '0a00b1c2d3' }, { keyID: '0A-00-B1-C2-D3' }] },
      '/keys/1',
    ],
    [
      'spans of a key that overlap',
      {
        keys: [
          { keyID, startTime: 10, endTime: 30 },
          { keyID, startTime: 29 },
        ],
      },
      '/keys/1',
    ],
    ['an end before its start', { keys: [{ keyID, startTime: 100, endTime: 99 }] }, '/keys/0/endTime'],
    ['a span without length', { keys: [{ keyID, startTime: 100, endTime: 100 }] }, '/keys/0/endTime'],
    ['a start in the future', { keys: [{ keyID, startTime: nowS + 9000 }] }, '/keys/0/startTime'],
    ['a start before the epoch', { keys: [{ keyID, startTime: -1 }] }, '/keys/0/startTime'],
    ['no name', { driverDisplayName: '  ' }, '/driverDisplayName'],
    ['a member that is not known', { email: 'ann@example.com' }, '/email'],
    ['too many spans', { keys: Array.from({ length: 51 }, (_, at) => ({ keyID: `k${at}` })) }, '/keys'],
  ])('are refused for %s, and nothing is changed', async (_what, body, pointer) => {
    const before = await list();
    const answer = await put('olga', { driverID: 'new', driverDisplayName: 'New', ...body });
    expect(codeOf(answer), answer.text).toEqual(['invalid_content', pointer]);
    expect(await list()).toEqual(before);
  });
});

describe('the names of drivers', () => {
  it('are listed to users who see the whole account, and to no others', async () => {
    for (const as of ['admin', 'olga', 'vera'])
      expect(((await list(as))['drivers'] as unknown[]).length, as).toBe(2);
    expect(codeOf(await call('gus', '/driver/getdrivers/authorization'))[0]).toBe('forbidden');
    expect(codeOf(await put('gus', { driverID: 'ann', note: 'x' }))[0]).toBe('forbidden');
    expect(codeOf(await end('gus', { driverID: 'ann' }))[0]).toBe('forbidden');
    expect(codeOf(await put('vera', { driverID: 'ann', note: 'x' }))[0]).toBe('forbidden');
    expect((await list('rival'))['drivers']).toEqual([]);
    expect(codeOf(await end('rival', { driverID: 'ann' }))[0]).toBe('not_found');
  });

  it('stand on the trips of a vehicle for everybody who sees it, and for nobody else', async () => {
    expect(await names('vera')).toEqual([['Ann Tremblay'], [null, 'Ann Tremblay', 'Bob Roy']]);
    expect(await names('gus')).toEqual([['Ann Tremblay'], [null, 'Ann Tremblay', 'Bob Roy']]);
    expect((await call('gus', `/report/trips/van-2/${startS}/0/authorization`)).status).toBe(404);
    expect((await call('rival', `/report/trips/van-1/${startS}/0/authorization`)).status).toBe(404);
  });

  it('are in no log, nor is a telephone number, and the audit log can be erased of none', async () => {
    await put('olga', { driverID: 'ann', note: 'Night shift', phone });
    const audit = JSON.stringify(await service.rows(`SELECT * FROM audit WHERE action LIKE 'driver.%'`));
    expect(audit).toContain('driver.update');
    for (const text of [phone, 'Ann Tremblay', '"ann"', 'Night shift']) {
      expect(audit).not.toContain(text);
      expect(service.logLines.join('\n')).not.toContain(text);
    }
  });
});

describe('a driver', () => {
  it('who leaves keeps the name of what was driven, and no key', async () => {
    expect((await end('olga', { driverID: 'bob' })).status).toBe(200);
    const left = await driver('bob');
    expect(left?.leftTime).toBeGreaterThanOrEqual(nowS);
    expect(left?.keys[0]?.endTime).toBe(left?.leftTime);
    expect(await names()).toEqual([['Ann Tremblay'], [null, 'Ann Tremblay', 'Bob Roy']]);
    // The key goes to the next driver without a question.
    expect(
      (await put('olga', { driverID: 'cy', driverDisplayName: 'Cy', keys: [{ keyID: key }] })).status,
    ).toBe(200);
    expect((await driver('cy'))?.keys[0]?.startTime).toBe(left?.leftTime);
    expect((await put('olga', { driverID: 'bob', note: 'is back' })).status).toBe(200);
    expect((await driver('bob'))?.leftTime).toBe(0);
  });

  it('who is erased leaves the bare key, and nothing in the store', async () => {
    expect(codeOf(await end('olga', { driverID: 'ann', erase: true }))[0]).toBe('forbidden');
    const { auditObject } = (await driver('ann')) as Driver;
    expect((await end('admin', { driverID: 'ann', erase: true })).status).toBe(200);
    expect(await driver('ann')).toBeUndefined();
    expect(await names()).toEqual([[null], [null, 'Bob Roy']]);
    expect((await trips('admin', 'van-1'))[0]?.driverUniqueIds).toEqual([key]);
    for (const table of ['drivers', 'driver_keys', 'audit'])
      expect(JSON.stringify(await service.rows(`SELECT * FROM ${table}`)), table).not.toMatch(
        /Tremblay|0199/,
      );
    expect(
      await service.rows(
        `SELECT action FROM audit WHERE object = '${auditObject}' ORDER BY audit_no DESC LIMIT 1`,
      ),
    ).toEqual([{ action: 'driver.erase' }]);
    expect(codeOf(await end('admin', { driverID: 'ann' }))[0]).toBe('not_found');
  });
});
