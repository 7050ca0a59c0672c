// Devices as people handle them over the HTTP service: reading the fleet whole or in parts, settings and secrets, the limit
// of an account, deletion. A whole broker runs in this process.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { nextToPurge } from '../../broker/store/devices/device-deletion.ts';
import { purgeSome } from '../../broker/upkeep/purge.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { storeMany } from '../support/database/stored-events.ts';
import { isDeletedWith, tablesOf } from '../support/database/test-database.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { connectPacket, connectRaw } from '../support/mqtt/raw-mqtt.ts';

let service: HttpService;
let admin = '';
let operator = '';
const nowS = Math.floor(Date.now() / 1000);

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'dispatch', 'operator');
  admin = await service.login('acme', 'admin');
  operator = await service.login('acme', 'dispatch');
});

afterAll(() => service.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  service.call({ path: `/api/v1/device/${path}/authorization`, token: admin, headers });
const post = (path: string, body: unknown, token = admin) =>
  service.call({ method: 'POST', path: `/api/v1/device/${path}/authorization`, token, body });
const fleet = (query = '', headers = {}) =>
  service.call({ path: `/api/v1/device/getalldevices/authorization${query}`, token: admin, headers });
const idsOf = (answer: Awaited<ReturnType<typeof fleet>>) =>
  (answer.json()['devices'] as { deviceID: string }[]).map(({ deviceID }) => deviceID);
const faultOf = (answer: Awaited<ReturnType<typeof fleet>>) =>
  answer.json()['error'] as { code: string; detail: string; errors: { pointer: string; message: string }[] };
const countOf = async (text: string) => Number((await service.sql(text))[0]?.rows[0]?.['n']);
const setLimit = (limit: number | null) =>
  service.sql(`UPDATE accounts SET device_limit = ${limit ?? 'NULL'} WHERE account_id = 'acme'`);
/** The audit entries of one action, oldest first, as `object detail`. */
const audited = async (action: string) =>
  (
    (
      await service.sql(`SELECT object, detail FROM audit WHERE action = '${action}' AND account_id = 'acme'
    ORDER BY audit_no`)
    )[0]?.rows ?? []
  ).map(({ object, detail }) => `${String(object)} ${String(detail)}`);

describe('the list of all devices', () => {
  beforeAll(async () => {
    for (const deviceID of ['a-1', 'a-2', 'a-3', 'a-4', 'a-5']) await service.device('acme', deviceID);
    await service.device('rival', 'a-9');
    await service.sql("UPDATE devices SET created_s = 1000 WHERE account_id = 'acme'");
  });

  it('is complete by default, in the order of ids', async () => {
    const answer = await fleet();
    expect(idsOf(answer)).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5']);
    expect(Object.keys(answer.json())).toEqual([
      'status_code',
      'success',
      'geozones',
      'devices',
      'hasUpdateDevicePrivileges',
    ]);
  });

  it('is answered with 304 while nothing changes, also to HEAD, and anew after a change by anyone', async () => {
    const first = await fleet();
    const etag = String(first.headers['etag']);
    const known = { 'if-none-match': etag };
    const again = await fleet('', known);
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
    const path = '/api/v1/device/getalldevices/authorization';
    expect((await service.call({ method: 'HEAD', path, token: admin, headers: known })).status).toBe(304);
    // As the command line does it, past the service.
    await service.sql("UPDATE devices SET driver = 'M. Roy' WHERE device_id = 'a-2'");
    expect((await fleet('', known)).status).toBe(200);
  });

  it('comes in pages on request, and the pages together are the whole', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const answer = await fleet(`?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      seen.push(...idsOf(answer));
      const { more, next } = answer.json() as { more: boolean; next: string | null };
      expect(more).toBe(next !== null);
      cursor = next;
    } while (cursor !== null);
    expect(seen).toEqual(['a-1', 'a-2', 'a-3', 'a-4', 'a-5']);
    expect((await fleet('?limit=5')).json()).toMatchObject({ more: false, next: null });
    expect((await fleet('?limit=5&cursor=a-5')).json()).toMatchObject({
      devices: [],
      more: false,
      next: null,
    });
  });

  it('holds the members asked for, and always the id', async () => {
    const answer = await fleet('?fields=deviceDriver,state&limit=1');
    const [device] = answer.json()['devices'] as object[];
    expect(Object.keys(device ?? {})).toEqual(['deviceID', 'deviceDriver', 'state']);
  });

  it('holds on request what is new since a revision: reports, changes by people, commands', async () => {
    const from = Number((await fleet('?since=0')).json()['asOf']);
    const since = async () => idsOf(await fleet(`?since=${from}`));
    expect(await since()).toEqual([]);
    await service.events('acme', 'a-1', {
      boot: 'b1',
      events: [{ seq: 1, timestamp: 1_700_000_000, statusCode: 61472, latitude: 1, longitude: 2 }],
    });
    expect(await since()).toEqual(['a-1']);
    await post('settings', { deviceID: 'a-3', pinTag: 'x' });
    expect(await since()).toEqual(['a-1', 'a-3']);
    await service.call({ path: '/api/v1/command/send/a-5/63637/authorization', token: admin });
    const answer = await fleet(`?since=${from}`);
    expect(idsOf(answer)).toEqual(['a-1', 'a-3', 'a-5']);
    expect(answer.json()['isWhole']).toBe(false);
    expect(Number(answer.json()['asOf'])).toBeGreaterThan(from);
    const states = (answer.json()['devices'] as { sensors: object }[]).map(({ sensors }) =>
      Object.keys(sensors),
    );
    expect(states.every((names) => names.length >= 5)).toBe(true);
  });

  it.each([
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', 'x'],
    ['cursor', 'a%20b'],
    ['fields', 'deviceID,nothing'],
    ['since', '-1'],
    ['colour', 'red'],
  ])('refuses %s=%s with a pointer', async (name, value) => {
    const answer = await fleet(`?${name}=${value}`);
    expect(answer.status).toBe(422);
    expect(faultOf(answer).errors[0]?.pointer).toBe(`/${name}`);
  });

  it('is compressed for clients that accept brotli or gzip, with the same ETag', async () => {
    const plain = await fleet();
    for (const [encoding, unpack] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const packed = await fleet('', { 'accept-encoding': encoding });
      expect(packed.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept-encoding' });
      expect(unpack(packed.raw).toString()).toBe(plain.text);
      expect(packed.headers['etag']).toBe(plain.headers['etag']);
    }
    const refused = await fleet('', { 'accept-encoding': 'br;q=0, deflate' });
    expect([refused.headers['content-encoding'], refused.text]).toEqual([undefined, plain.text]);
  });

  it('is whole, packed or not, when it is long', async () => {
    await service.account('large');
    await service.sql(`INSERT INTO devices (account_no, account_id, device_id, created_s)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
      SELECT account_no, account_id, 'd-' || (10000 + i), 1 FROM accounts, n WHERE account_id = 'large'`);
    const token = await service.login('large', 'admin');
    const path = '/api/v1/device/getalldevices/authorization';
    const plain = await service.call({ path, token });
    expect((JSON.parse(plain.text) as { devices: object[] }).devices).toHaveLength(1500);
    const packed = await service.call({ path, token, headers: { 'accept-encoding': 'gzip, br' } });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.raw).toString()).toBe(plain.text);
    expect(packed.raw.length).toBeLessThan(plain.text.length / 10);
    const known = { 'if-none-match': String(plain.headers['etag']) };
    expect((await service.call({ path, token, headers: known })).status).toBe(304);
  });
});

describe('settings of a device', () => {
  beforeAll(() => service.device('acme', 'set-1'));

  it('change what is given, leave the rest, and are cleared by an empty text', async () => {
    const given = {
      deviceDisplayName: 'Truck one',
      deviceType: 'FW-2',
      deviceNotifyEmail: 'ops@example.org',
      pinColor: 'FF8800',
      pinTag: 'north',
      additionalPinDisplay: 'reefer',
      equipmentTypeId: 'T7',
      equipmentTypeDesc: 'Tractor',
    };
    const set = await post('settings', { deviceID: 'set-1', ...given, maxPassengers: 3 }, operator);
    expect(set.json()).toMatchObject(given);
    const cleared = await post('settings', { deviceID: 'set-1', deviceNotifyEmail: '' });
    expect(cleared.json()).toMatchObject({ ...given, deviceNotifyEmail: '' });
    expect(await audited('device.update')).toContain('set-1 {"members":["notifyEmail"]}');
  });

  it.each([
    ['deviceNotifyEmail', 'two@example.org,three@example.org'],
    ['deviceNotifyEmail', 'nobody'],
    ['deviceNotifyEmail', 'ops@example..org'],
    ['deviceNotifyEmail', '.ops@example.org'],
    ['deviceNotifyEmail', 'o..ps@example.org'],
    ['deviceNotifyEmail', 'ops@-example.org'],
    ['deviceNotifyEmail', 'ops@192.0.2.7'],
    ['deviceNotifyEmail', 'öps@example.org'],
    ['pinColor', '#ff8800'],
    ['deviceDisplayName', 'a\u0000b'],
    ['equipmentTypeId', 'x'.repeat(65)],
    ['maxPassengers', 1001],
  ])('refuse %s %j', async (name, value) => {
    const answer = await post('settings', { deviceID: 'set-1', [name]: value });
    expect(answer.status).toBe(422);
    expect(faultOf(answer).errors[0]?.pointer).toBe(`/${name}`);
  });
});

describe('the secret of a device', () => {
  beforeAll(() => service.device('acme', 'sec-1'));

  it('is shown once, kept as a hash, and stands neither in log nor audit', async () => {
    const answer = (await post('issuesecret', { deviceID: 'sec-1' })).json();
    const secret = String(answer['secret']);
    expect(answer).toMatchObject({ username: 'acme/sec-1', deviceID: 'sec-1' });
    expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    const kept =
      JSON.stringify(await service.sql('SELECT * FROM devices')) +
      JSON.stringify(await service.sql('SELECT * FROM audit')) +
      JSON.stringify(await service.sql('SELECT * FROM idempotency_keys'));
    expect(kept).not.toContain(secret);
    expect(service.logLines.join('\n')).not.toContain(secret);
    expect(await audited('device.issuesecret')).toContain('sec-1 {}');
  });

  it('is issued by administrators only, for devices of their account only', async () => {
    expect(faultOf(await post('issuesecret', { deviceID: 'sec-1' }, operator)).code).toBe('forbidden');
    expect(faultOf(await post('issuesecret', { deviceID: 'a-9' })).code).toBe('not_found');
  });

  it('is never compressed, so that its length reveals nothing', async () => {
    const path = '/api/v1/device/issuesecret/authorization';
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await service.call({
      method: 'POST',
      path,
      token: admin,
      body: { deviceID: 'sec-1' },
      headers,
    });
    expect(answer.headers['content-encoding']).toBeUndefined();
  });
});

describe('the limit of an account', () => {
  beforeEach(async () => {
    await setLimit(await countOf("SELECT COUNT(*) AS n FROM devices WHERE account_id = 'acme'"));
  });
  afterAll(() => setLimit(null));

  it('rejects a further device with a clear message, writes nothing, and leaves the others changeable', async () => {
    const before = await audited('device.create');
    const answer = await post('createdevice', { deviceID: 'too-many' });
    expect(answer.status).toBe(422);
    expect(faultOf(answer)).toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/has \d+ of at most \d+/),
    });
    expect((await get('getdevice/too-many')).status).toBe(404);
    expect(await audited('device.create')).toEqual(before);
    expect((await post('createdevice', { deviceID: 'a-1', deviceDriver: 'X' })).status).toBe(200);
  });

  it('holds when many ask for the last place at once', async () => {
    await setLimit((await countOf("SELECT COUNT(*) AS n FROM devices WHERE account_id = 'acme'")) + 1);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => post('createdevice', { deviceID: `last-${at}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(5);
  });
});

describe('a user limited to groups', () => {
  it('changes visible devices, and neither reaches nor creates others', async () => {
    await service.user('acme', 'limited', 'operator');
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'limited'");
    await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')");
    await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT d.device_no, g.group_no
      FROM devices d, device_groups g WHERE d.account_id = 'acme' AND d.device_id = 'a-1'`);
    await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
      SELECT 'acme', 'limited', group_no FROM device_groups`);
    const limited = await service.login('acme', 'limited');
    const change = (deviceID: string) => post('createdevice', { deviceID, deviceDriver: 'L' }, limited);
    expect((await change('a-1')).status).toBe(200);
    const [hidden, fresh] = [await change('a-2'), await change('brand-new')];
    expect(faultOf(hidden)).toMatchObject({ code: 'forbidden' });
    expect(faultOf(hidden).detail).toBe(faultOf(fresh).detail);
    expect((await get('getdevice/a-2')).json()['deviceDriver']).not.toBe('L');
    expect(faultOf(await post('import', { csv: 'deviceID\na-1\n' }, limited)).code).toBe('forbidden');
  });
});

describe('a deleted device', () => {
  const remove = (deviceID: string, token = admin) => post('deletedevice', { deviceID }, token);
  const numberOf = async (deviceID: string) =>
    countOf(`SELECT device_no AS n FROM devices WHERE account_id = 'acme' AND device_id = '${deviceID}'`);
  const eventsOf = (deviceNo: number) =>
    countOf(`SELECT COUNT(*) AS n FROM events WHERE device_no = ${deviceNo}`);
  const purge = async () => {
    const { db, log } = service;
    while ((await purgeSome({ db, log, clock: createSystemClock() })) !== null);
  };
  const fill = (deviceNo: number, count: number) =>
    storeMany(service.db, {
      device: deviceNo,
      count,
      boot: 'b',
      of: (i) => ({ timestampMs: i * 1000, statusCode: 63553 }),
    });

  it('is removed from every answer at once, and its events soon after, in batches', async () => {
    await service.device('acme', 'del-1');
    await service.events('acme', 'del-1', {
      boot: 'b1',
      events: [{ seq: 1, timestamp: nowS, statusCode: 63553 }],
    });
    const deviceNo = await numberOf('del-1');
    await fill(deviceNo, 1700);
    expect((await remove('del-1')).json()).toEqual({ status_code: '200', success: '1' });
    expect((await get('getdevice/del-1')).status).toBe(404);
    expect(idsOf(await fleet())).not.toContain('del-1');
    const all = await service.call({
      path: '/api/v1/eventdata/fleetdata/63553/0/0/authorization',
      token: admin,
    });
    expect(all.text).not.toContain('del-1');
    expect((await remove('del-1')).status).toBe(404);
    expect(await audited('device.delete')).toEqual([expect.stringContaining('del-1')]);
    await purge();
    expect(await eventsOf(deviceNo)).toBe(0);
    expect(await nextToPurge(service.db)).toBeNull();
    for (const table of ['device_states', 'boots', 'commands', 'quarantine', 'group_devices']) {
      expect(await countOf(`SELECT COUNT(*) AS n FROM ${table} WHERE device_no = ${deviceNo}`)).toBe(0);
    }
  });

  it('may be created again: a new one, with nothing of the old one, even while that is cleared away', async () => {
    await service.device('acme', 'del-2');
    await service.events('acme', 'del-2', {
      boot: 'b1',
      events: [{ seq: 1, timestamp: nowS, statusCode: 63553 }],
    });
    const old = await numberOf('del-2');
    await remove('del-2');
    await service.device('acme', 'del-2');
    const fresh = await numberOf('del-2');
    expect(fresh).toBeGreaterThan(old);
    await service.events('acme', 'del-2', {
      boot: 'b1',
      events: [{ seq: 1, timestamp: nowS, statusCode: 61472 }],
    });
    await purge();
    const shown = await service.call({
      path: '/api/v1/eventdata/devicemetadata/del-2/0/0/authorization',
      token: admin,
    });
    expect(
      (shown.json()['metadata'] as { statusCode: string }[]).map(({ statusCode }) => statusCode),
    ).toEqual(['61472']);
    expect(await eventsOf(old)).toBe(0);
  });

  it('is cut off from MQTT within seconds, and its unit cannot come back', async () => {
    const secret = await service.device('acme', 'del-6');
    const connectAgain = async () => {
      const client = await connectRaw(service.mqttPort);
      onTestFinished(() => void client.socket.destroy());
      client.send(connectPacket('acme/del-6', secret));
      return { client, returnCode: (await client.next('connack')).returnCode };
    };
    const { client, returnCode } = await connectAgain();
    expect(returnCode).toBe(0);
    expect((await remove('del-6')).status).toBe(200);
    await client.closed;
    expect((await connectAgain()).returnCode).not.toBe(0);
  });

  it('accepts no further event, also from connections that still hold its number', async () => {
    const ref = { accountID: 'acme', deviceID: 'del-3', deviceNo: 0 };
    await service.device('acme', 'del-3');
    const held = { ...ref, deviceNo: await numberOf('del-3') };
    await remove('del-3');
    const payload = new TextEncoder().encode(
      JSON.stringify({ boot: 'b', events: [{ seq: 1, timestamp: nowS, statusCode: 61472 }] }),
    );
    expect(await service.ingest.submit(held, payload)).toEqual({ kind: 'gone' });
    expect(await service.ingest.submit(held, new Uint8Array([1, 2, 3]))).toEqual({ kind: 'gone' });
    expect(await eventsOf(held.deviceNo)).toBe(0);
  });

  it('is not deleted while its engine is cut off or a command has not ended', async () => {
    await service.device('acme', 'del-4');
    const sent = await service.call({ path: '/api/v1/command/send/del-4/63680/authorization', token: admin });
    expect(sent.status).toBe(200);
    expect(faultOf(await remove('del-4'))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('command'),
    });
    await service.sql(`UPDATE commands SET is_final = 1, command_state = 'confirmed'`);
    await service.sql(`UPDATE device_states SET state = '1' WHERE name = 'enginecutoff'
      AND device_no = ${await numberOf('del-4')}`);
    expect(faultOf(await remove('del-4'))).toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('cut off'),
    });
    expect((await get('getdevice/del-4')).status).toBe(200);
    await service.sql(`UPDATE device_states SET state = '0' WHERE name = 'enginecutoff'`);
    expect((await remove('del-4')).status).toBe(200);
  });

  it('and a command at the same moment: never both', async () => {
    for (let round = 0; round < 10; round++) {
      const deviceID = `race-${round}`;
      await service.device('acme', deviceID);
      const command = () =>
        service.call({ path: `/api/v1/command/send/${deviceID}/63637/authorization`, token: admin });
      const both = round % 2 === 0 ? [remove(deviceID), command()] : [command(), remove(deviceID)];
      const statuses = (await Promise.all(both)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      const left = await countOf(`SELECT COUNT(*) AS n FROM commands c
        WHERE NOT EXISTS (SELECT 1 FROM devices d WHERE d.device_no = c.device_no)`);
      expect(left).toBe(0);
    }
  });

  it('is deleted by an administrator of its account only', async () => {
    await service.device('acme', 'del-5');
    expect(faultOf(await remove('del-5', operator)).code).toBe('forbidden');
    const rival = await service.login('rival', 'admin');
    expect((await remove('del-5', rival)).status).toBe(404);
    expect((await get('getdevice/del-5')).status).toBe(200);
  });

  it('leaves no table behind: every one with rows of a device goes with it or is cleared away', async () => {
    const left: string[] = [];
    for (const { name, columns } of await tablesOf(service.db)) {
      if (!columns.includes('device_no') || (await isDeletedWith(service.db, name, 'devices'))) continue;
      left.push(name);
    }
    // A command that has not ended must hold the device: the others are deleted in the batch. A login at a
    // cluster stays until its connection was ended. Ways go by a trigger, in the commit of the deletion. Visits go within a day. The rest is purged.
    expect(left.sort()).toEqual([
      'alarms',
      'cluster_logins',
      'commands',
      'deleted_devices',
      'devices',
      'events',
      'notification_episodes',
      'notifications',
      'visit_cells',
      'ways',
    ]);
  });
});

describe('an import', () => {
  const csv = (text: string, query = '', token = admin) =>
    service.call({
      method: 'POST',
      path: `/api/v1/device/import/authorization${query}`,
      token,
      body: text,
      headers: { 'content-type': 'text/csv; charset=utf-8' },
    });
  const linesOf = (answer: Awaited<ReturnType<typeof csv>>) =>
    (answer.json()['lines'] as { line: number; deviceID: string; action: string; message: string }[]).map(
      ({ line, deviceID, action, message }) =>
        `${line} ${deviceID} ${action}${message === '' ? '' : `: ${message}`}`,
    );

  it('creates and changes devices, and an empty cell changes nothing', async () => {
    await service.device('acme', 'imp-1');
    await post('updatedevice', { deviceid: 'imp-1', devicedriver: 'Old', sms: '+1' });
    const file =
      'deviceID,uniqueid,deviceDriver,sms,pinColor\r\nimp-1,41,New,,00ff00\r\nimp-2,42,"Roy, M.",,\r\n';
    expect((await csv(file)).json()).toMatchObject({
      created: 1,
      updated: 1,
      unchanged: 0,
      failed: 0,
      lines: [],
    });
    expect((await get('getdevice/imp-1')).json()).toMatchObject({
      deviceUnique: '41',
      deviceDriver: 'New',
      pinColor: '00ff00',
    });
    expect(
      (await service.sql("SELECT sms AS n FROM devices WHERE device_id = 'imp-1'"))[0]?.rows[0]?.['n'],
    ).toBe('+1');
    const made = (await get('getdevice/imp-2')).json();
    expect(made).toMatchObject({
      deviceDriver: 'Roy, M.',
      deviceDescription: 'Device imp-2',
      deviceDisplayName: 'imp-2',
    });
    expect(Object.keys(made['sensors'] as object)).toHaveLength(5);
    expect((await csv(file)).json()).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
    expect(await audited('device.import')).toEqual([' {"created":1,"updated":1,"unchanged":0}']);
  });

  it('reports for each line what would happen, and writes nothing', async () => {
    const file =
      'deviceID,uniqueid,maxPassengers\nimp-1,41,\nimp-1,,\nimp-9,42,\nimp-8,x,2\nimp-7,7\nimp 6,,\nimp-5,5,4\n';
    const answer = await csv(file, '?dryRun=true');
    expect(linesOf(answer)).toEqual([
      '2 imp-1 unchanged',
      '3 imp-1 error: deviceID imp-1 stands on line 2 already',
      '4 imp-9 error: uniqueid 42 belongs to device imp-2',
      expect.stringMatching(/^5 imp-8 error: uniqueid must be integer/),
      '6 imp-7 error: has 2 cells instead of 3',
      '7 imp 6 error: deviceID does not fit: 1 to 64 of `A-Z a-z 0-9 _ -`',
      '8 imp-5 create',
    ]);
    expect(answer.json()).toMatchObject({ created: 1, unchanged: 1, failed: 5 });
    expect((await get('getdevice/imp-5')).status).toBe(404);
  });

  it('writes all or nothing', async () => {
    const answer = await csv('deviceID,pinColor\nimp-20,112233\nimp-21,red\n');
    expect(answer.status).toBe(422);
    expect(faultOf(answer).errors).toEqual([
      { pointer: '/csv', message: expect.stringMatching(/^line 3: pinColor /) },
    ]);
    expect((await get('getdevice/imp-20')).status).toBe(404);
  });

  it('lets devices exchange their hardware ids within one file', async () => {
    expect((await csv('deviceID,uniqueid\nimp-1,42\nimp-2,41\n')).status).toBe(200);
    expect((await get('getdevice/imp-1')).json()['deviceUnique']).toBe('42');
    expect((await get('getdevice/imp-2')).json()['deviceUnique']).toBe('41');
  });

  it.each([
    ['heads in capitals', 'DEVICEID,DeviceDriver\nimp-41,Ann\n'],
    ['an empty last column', 'deviceID,deviceDriver,\nimp-42,Ann,\n'],
    ['several of them, in semicolons', 'DeviceId;DEVICEDRIVER;;;\r\nimp-43;Ann;;;\r\n'],
    ['empty cells beyond the head', 'deviceID,deviceDriver\nimp-44,Ann,, \n'],
  ])('takes %s', async (_what, file) => {
    expect((await csv(file)).json()).toMatchObject({ created: 1, failed: 0 });
  });

  it.each([
    ['a head twice in two cases', 'deviceID,DEVICEID\nimp-45,imp-45\n'],
    ['an empty head between others', 'deviceID,,deviceDriver\nimp-45,,Ann\n'],
  ])('refuses %s', async (_what, file) => {
    expect((await csv(file)).status).toBe(422);
  });

  it('names a line with a cell too many that is not empty', async () => {
    expect(linesOf(await csv('deviceID,deviceDriver,\nimp-46,Ann,x\n', '?dryRun=true'))).toEqual([
      '2 imp-46 error: has 3 cells instead of 2',
    ]);
  });

  it('takes what spreadsheets write: a byte order mark, semicolons, quotes with line breaks', async () => {
    const answer = await csv('\uFEFFdeviceID;deviceDescription\r\nimp-30;"two\r\nlines; ""quoted"""\r\n\r\n');
    expect(answer.json()).toMatchObject({ created: 1 });
    expect((await get('getdevice/imp-30')).json()['deviceDescription']).toBe('two\r\nlines; "quoted"');
  });

  it.each([
    ['no deviceID', 'uniqueid\n1\n', 'names no column deviceID'],
    ['an unknown column', 'deviceID,colour\nx,red\n', '"colour" is not known'],
    ['a column twice', 'deviceID,sms,sms\nx,1,2\n', 'stands twice'],
    ['nothing below the header', 'deviceID\n', 'no line below'],
    ['an open quote', 'deviceID\n"imp-40\n', 'is no CSV'],
    ['nothing', '', 'names no column deviceID'],
  ])('refuses a file with %s', async (_what, file, message) => {
    const answer = await csv(file);
    expect(answer.status, answer.text).toBe(422);
    expect(faultOf(answer).detail).toContain(message);
  });

  it('refuses more than 10,000 lines, and takes 10,000', async () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `bulk-${at}`).join('\n');
    expect(faultOf(await csv(`deviceID\n${lines(10_001)}\n`)).detail).toContain('more than');
    expect((await csv(`deviceID\n${lines(10_000)}\n`)).json()).toMatchObject({ created: 10_000 });
    expect(await countOf("SELECT COUNT(*) AS n FROM devices WHERE device_id LIKE 'bulk-%'")).toBe(10_000);
    expect(
      await countOf(`SELECT COUNT(*) AS n FROM device_states s JOIN devices d ON d.device_no = s.device_no
      WHERE d.device_id LIKE 'bulk-%'`),
    ).toBe(50_000);
  });

  it('keeps to the limit of the account', async () => {
    await setLimit((await countOf("SELECT COUNT(*) AS n FROM devices WHERE account_id = 'acme'")) + 1);
    const answer = await csv('deviceID\nfull-1\nfull-2\n');
    expect(faultOf(answer)).toMatchObject({ code: 'conflict', detail: expect.stringContaining('at most') });
    expect((await get('getdevice/full-1')).status).toBe(404);
    expect((await csv('deviceID\nfull-1\n')).status).toBe(200);
    await setLimit(null);
  });

  it('never reaches devices and hardware ids of another account', async () => {
    const rival = await service.login('rival', 'admin');
    const answer = await csv('deviceID,uniqueid\nimp-1,42\n', '?dryRun=true', rival);
    expect(linesOf(answer)).toEqual(['2 imp-1 create']);
  });
});
