// What a live stream sends beside events and positions: connections, approvals, geozones and routes, releases. Each to the people
// who may see it, at once, again after a break, and with the members that they chose.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { liveKinds, liveMembers } from '../../broker/core/live/live-kinds.ts';
import { recordFailed, recordHeld } from '../../broker/store/devices/device-configs.ts';
import { findDevice, recordHello, setAllOffline, setOnline } from '../../broker/store/devices/devices.ts';
import { decodeHello } from '../../src/core/wire/wire.ts';
import { helloOf, jsonBytes } from '../support/broker/broker-bench.ts';
import { canary } from '../support/http/canary.ts';
import {
  readStream,
  type StreamMessage,
  type StreamReader,
  type StreamRequest,
} from '../support/http/event-stream.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
let port = 0;
const tokens: Record<string, string> = {};
const open = new Set<StreamReader>();

const truck = (deviceID: string, accountID = 'acme') =>
  `(SELECT device_no FROM devices WHERE account_id = '${accountID}' AND device_id = '${deviceID}')`;

beforeAll(async () => {
  service = await startHttpService();
  port = await service.http.listen({ host: '127.0.0.1', port: 0 });
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  await service.device('rival', 'truck-1');
  for (const userID of ['olga', 'otto']) await service.user('acme', userID, 'operator');
  for (const userID of ['north', 'nobody']) await service.user('acme', userID, 'viewer');
  await service.sql(`UPDATE users SET sees_all = 0 WHERE user_id IN ('north', 'nobody')`);
  await service.sql(`INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
    SELECT 'acme', 'north', group_no FROM device_groups`);
  await service.sql(`INSERT INTO group_devices (device_no, group_no)
    SELECT ${truck('truck-1')}, group_no FROM device_groups`);
  for (const userID of ['admin', 'olga', 'otto', 'north', 'nobody'])
    tokens[userID] = await service.login('acme', userID);
  tokens['rival'] = await service.login('rival', 'admin');
});

beforeEach(async () => {
  // Changes of earlier tests must not be sent to the readers of this one: so much later they are old.
  service.advance(600_000);
});

afterEach(async () => {
  for (const reader of open) reader.close();
  for (const reader of open) await reader.ended;
  open.clear();
  await service.sql('UPDATE accounts SET needs_approval = 0');
});

afterAll(() => service.close());

async function read(who: string, request: Partial<StreamRequest> = {}): Promise<StreamReader> {
  const reader = await readStream({ port, token: tokens[who] ?? '', ...request });
  open.add(reader);
  if (reader.status === 200) await reader.until(({ event }) => event === 'hello');
  return reader;
}

const post = async (who: string, path: string, body: object) => {
  const answer = await service.call({
    method: 'POST',
    path: `/api/v1/${path}/authorization`,
    token: tokens[who] ?? '',
    body,
  });
  expect([answer.status, path, answer.text]).toEqual([200, path, answer.text]);
  return answer.json();
};

const has =
  (event: string, data: Readonly<Record<string, unknown>> = {}) =>
  (message: StreamMessage): boolean =>
    message.event === event && Object.entries(data).every(([name, value]) => message.data[name] === value);
const of = (reader: StreamReader, event: string) =>
  reader.messages().flatMap((message) => (message.event === event ? [message.data] : []));

let seq = 0;
/** Waits until every reader has what was committed before, and sends this one an event after it. */
async function mark(reader: StreamReader): Promise<void> {
  seq += 1;
  const events = [{ seq, timestamp: Date.now(), statusCode: 63553 }];
  // Changes are read in passes over all kinds, each after the one before. What is in the second of two was committed before it began.
  const zones = await read('otto', { query: '?kinds=zone' });
  for (const pass of [1, 2]) {
    const geozoneID = `mark ${seq} ${pass}`;
    await post('admin', 'geozone/creategeozone', { geozoneID });
    await zones.until(has('zone', { zoneID: geozoneID }));
  }
  zones.close();
  await service.events('acme', 'truck-1', { boot: 'b1', events });
  const eventID = `b1:${seq}`;
  await reader.until(has('event', { eventID }));
}

const deviceNoOf = async (deviceID: string, accountID = 'acme'): Promise<number> => {
  const row = await findDevice(service.db, { accountID, deviceID });
  return row?.deviceNo ?? expect.fail('no device');
};

async function greet(deviceID: string, changes: object = {}, accountID = 'acme'): Promise<void> {
  const hello = decodeHello(jsonBytes({ ...helloOf('b1'), ...changes }));
  if (hello === null) expect.fail('no hello');
  await service.write([recordHello(await deviceNoOf(deviceID, accountID), hello, { atMs: now() })]);
}
let laterMs = 0;
beforeEach(() => void (laterMs += 600_000));
const now = (): number => Date.now() + laterMs;

const leave = async (deviceID: string, accountID = 'acme'): Promise<void> => {
  const mark = { atMs: now(), cause: 'closed' } as const;
  await service.write([setOnline(await deviceNoOf(deviceID, accountID), false, mark)]);
};

describe('a live stream sends', () => {
  it('when a unit goes online and offline, since when and why, once each', async () => {
    const reader = await read('admin', { query: '?kinds=presence,event' });
    const beganS = now() / 1000;
    await greet('truck-2');
    const online = await reader.until(has('presence', { deviceID: 'truck-2', online: true }));
    const since = expect.any(Number) as number;
    expect(online.data).toEqual({ deviceID: 'truck-2', online: true, since, cause: 'hello' });
    expect(online.data['since']).toBeGreaterThanOrEqual(Math.floor(beganS));
    expect(online.data['since']).toBeLessThanOrEqual(now() / 1000);
    // The same connection says hello again: nothing has changed.
    await greet('truck-2');
    await mark(reader);
    // The mark is an event of truck-1, which says no hello: that makes truck-1 present too.
    expect(of(reader, 'presence').filter(({ deviceID }) => deviceID === 'truck-2')).toHaveLength(1);
    await leave('truck-2');
    await reader.until(has('presence', { deviceID: 'truck-2', online: false, cause: 'closed' }));
    await greet('truck-2');
    await service.write([setAllOffline(now())]);
    await reader.until(has('presence', { deviceID: 'truck-2', online: false, cause: 'service' }));
  });

  it('every step of a cut that waits for a second user', async () => {
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    const reader = await read('admin', { query: '?kinds=approval' });
    const cut = { deviceID: 'truck-1', feature: 'enginecutoff', state: '1', reason: 'stolen' };
    const ask = async () => String((await post('olga', 'command/feature', cut))['approvalID']);
    const first = await ask();
    const waits = await reader.until(has('approval', { approvalID: first }));
    const listed = await service.call({
      path: '/api/v1/command/approvals/authorization',
      token: tokens['admin'] ?? '',
    });
    expect((listed.json()['approvals'] as unknown[])[0]).toEqual({ ...waits.data, signOptions: null });
    expect(waits.data).toMatchObject({ approvalState: 'pending', requestedBy: 'olga', reason: 'stolen' });
    await post('otto', 'command/refuse', { approvalID: first });
    await reader.until(has('approval', { approvalID: first, approvalState: 'refused', decidedBy: 'otto' }));
    const second = await ask();
    await post('olga', 'command/withdraw', { approvalID: second });
    await reader.until(has('approval', { approvalID: second, approvalState: 'withdrawn' }));
    const third = await ask();
    const { commandID } = await post('otto', 'command/approve', { approvalID: third });
    await reader.until(has('approval', { approvalID: third, approvalState: 'approved', commandID }));
    const fourth = await ask();
    service.advance(3_600_000);
    laterMs += 3_600_000;
    await reader.until(has('approval', { approvalID: fourth, approvalState: 'expired' }));
  });

  it('when geozones and routes are created, changed and deleted', async () => {
    const reader = await read('admin', { query: '?kinds=zone' });
    await post('admin', 'geozone/creategeozone', { geozoneID: 'Main depot' });
    await post('admin', 'geozone/updategeozone', { geozoneID: 'Main depot', geozoneRadius: 700 });
    const way = {
      routePoint1lat: '43.1',
      routePoint1lng: '8.1',
      routePoint2lat: '43.2',
      routePoint2lng: '8.2',
    };
    await post('admin', 'route/routeupdate', { routeID: 'run', deviceIDs: ['truck-2'], ...way });
    await post('admin', 'route/deleteroute', { routeID: 'run' });
    await post('admin', 'geozone/deletegeozone', { geozoneID: 'Main depot' });
    await reader.until(has('zone', { zoneType: 'geozone', change: 'deleted' }));
    expect(of(reader, 'zone').map(({ zoneType, zoneID, change }) => [zoneType, zoneID, change])).toEqual([
      ['geozone', 'Main depot', 'created'],
      ['geozone', 'Main depot', 'changed'],
      ['route', 'run', 'created'],
      ['route', 'run', 'deleted'],
      ['geozone', 'Main depot', 'deleted'],
    ]);
  });

  it('which configuration a vehicle holds or refuses', async () => {
    const reader = await read('admin', { query: '?kinds=zone' });
    const deviceNo = await deviceNoOf('truck-1');
    await service.write(recordHeld(deviceNo, { version: 7, sha256: 'a' }, now()));
    const held = await reader.until(has('zone', { zoneType: 'configuration', change: 'held' }));
    expect(held.data).toMatchObject({ deviceID: 'truck-1', heldVersion: 7, zoneID: null });
    const failed = { version: 8, reason: 'no', retry: false, agentVersion: '1', atMs: now() + 1 };
    await service.write(recordFailed(deviceNo, failed));
    const refused = await reader.until(has('zone', { change: 'refused' }));
    expect(refused.data).toMatchObject({ version: 8, heldVersion: 7 });
  });

  it('what runs on a unit, and how its update goes', async () => {
    const reader = await read('admin', { query: '?kinds=release' });
    await greet('truck-1', { agentVersion: '2.0.0' });
    const before = await reader.until(has('release', { agentVersion: '2.0.0' }));
    expect(before.data).toMatchObject({
      deviceID: 'truck-1',
      commandID: null,
      commandState: null,
      version: null,
    });
    const job = {
      deviceID: 'truck-1',
      version: '2.1.0',
      url: 'https://updates.example.com/a.tar.gz',
      sha256: 'a'.repeat(64),
    };
    await leave('truck-1');
    const { commandID } = await post('admin', 'command/firmware', job);
    await reader.until(has('release', { commandID, version: '2.1.0', agentVersion: '2.0.0' }));
    await post('admin', 'command/cancel', { commandID });
    await reader.until(has('release', { commandID, commandState: 'cancelled' }));
    await greet('truck-1', { agentVersion: '2.1.0' });
    await reader.until(has('release', { agentVersion: '2.1.0', commandID }));
  });

  it('only members that the reference names', async () => {
    const reader = await read('admin');
    await greet('truck-2', { agentVersion: '3.0.0' });
    await post('admin', 'geozone/creategeozone', { geozoneID: 'names' });
    await post('admin', 'command/feature', { deviceID: 'truck-2', feature: 'cargoaccess', state: '1' });
    await mark(reader);
    await reader.until(has('device'));
    await reader.until(has('alarm'));
    for (const { event, data } of reader.messages()) {
      if (event === 'hello') continue;
      expect([event, liveKinds]).toEqual([event, expect.arrayContaining([event])]);
      expect(liveMembers[event as keyof typeof liveMembers]).toEqual(
        expect.arrayContaining(Object.keys(data)),
      );
    }
    expect(new Set(reader.messages().map(({ event }) => event))).toEqual(
      new Set(['hello', 'event', 'device', 'command', 'presence', 'zone', 'release', 'alarm']),
    );
  });
});

describe('a reader chooses', () => {
  it('members: each message then has these only, and the device', async () => {
    const reader = await read('admin', { query: '?fields=online,statusCode,zoneID,eventID' });
    await leave('truck-2');
    await greet('truck-2');
    await post('admin', 'geozone/creategeozone', { geozoneID: 'chosen' });
    await mark(reader);
    expect(of(reader, 'presence')).toContainEqual({ deviceID: 'truck-2', online: true });
    expect(of(reader, 'zone')).toContainEqual({ zoneID: 'chosen', deviceID: null });
    expect(of(reader, 'event')).toContainEqual({
      deviceID: 'truck-1',
      statusCode: 63553,
      eventID: `b1:${seq}`,
    });
    expect([...of(reader, 'device'), ...of(reader, 'release')]).toEqual([]);
    expect(reader.messages()[0]?.data).toEqual({ eventNo: expect.any(Number) });
  });

  it('kinds of messages, while other readers choose others', async () => {
    const [events, presences] = [
      await read('admin', { query: '?kinds=event' }),
      await read('admin', { query: '?kinds=presence' }),
    ];
    await leave('truck-1');
    await greet('truck-1');
    await mark(events);
    await presences.until(has('presence', { deviceID: 'truck-1', online: true }));
    expect(new Set(events.messages().map(({ event }) => event))).toEqual(new Set(['hello', 'event']));
    expect(new Set(presences.messages().map(({ event }) => event))).toEqual(new Set(['hello', 'presence']));
  });

  it('devices: messages about other devices do not come', async () => {
    const reader = await read('admin', { query: '?devices=truck-1&kinds=presence,event' });
    for (const deviceID of ['truck-1', 'truck-2']) {
      await leave(deviceID);
      await greet(deviceID);
    }
    await mark(reader);
    expect(new Set(of(reader, 'presence').map(({ deviceID }) => deviceID))).toEqual(new Set(['truck-1']));
  });

  it.each([
    'kinds=nonsense',
    'kinds=',
    'kinds=Event',
    'kinds=event,,device',
    'kinds=__proto__',
    'kinds=hello',
    'fields=nonsense',
    'fields=',
    'fields=deviceid',
    'fields=constructor',
    `fields=${'online,'.repeat(200)}online`,
  ])('nothing unknown: %s answers 422', async (query) => {
    const reader = await read('admin', { query: `?${query}` });
    expect(reader.status).toBe(422);
  });

  it('an unknown member, and the error suggests a known one', async () => {
    const asked = await service.call({
      path: '/api/v1/events/stream/authorization?fields=speeed',
      token: tokens['admin'] ?? '',
    });
    expect(asked.json()['error']).toMatchObject({
      code: 'invalid_content',
      detail: expect.stringContaining('speeed'),
      hint: expect.stringContaining('speed'),
    });
  });
});

describe('a resumed stream', () => {
  it('sends what changed meanwhile, of its own account only', async () => {
    const start = await read('admin');
    const { id: lastEventID } = await start.until(has('hello'));
    start.close();
    await start.ended;
    await leave('truck-2');
    await greet('truck-2', { agentVersion: '4.0.0' });
    await post('admin', 'geozone/creategeozone', { geozoneID: 'missed' });
    await post('admin', 'geozone/deletegeozone', { geozoneID: 'missed' });
    await post('rival', 'geozone/creategeozone', { geozoneID: `${canary} zone` });
    await leave('truck-1', 'rival');
    const reader = await read('admin', { lastEventID });
    await mark(reader);
    expect(of(reader, 'presence')).toContainEqual(
      expect.objectContaining({ deviceID: 'truck-2', online: true }),
    );
    expect(of(reader, 'release')).toContainEqual(expect.objectContaining({ agentVersion: '4.0.0' }));
    expect(of(reader, 'zone')).toContainEqual(
      expect.objectContaining({ zoneID: 'missed', change: 'deleted' }),
    );
    expect(reader.text()).not.toContain(canary);
  });

  it('asks to read geozones again when too many changed', async () => {
    const start = await read('admin');
    const { id: lastEventID } = await start.until(has('hello'));
    start.close();
    await post('admin', 'geozone/creategeozone', { geozoneID: 'buried' });
    await service.sql(
      `INSERT INTO audit (account_id, at_ms, actor, source, action, object, detail, detail_hash)
        SELECT 'acme', $1, 'x', '', 'auth.login', 'x', '{}', '' FROM
        (SELECT 1 FROM audit a, audit b, audit c, audit d LIMIT 4100) AS many`,
      [now()],
    );
    const reader = await read('admin', { lastEventID, query: '?kinds=zone' });
    for (const zoneType of ['geozone', 'route'])
      await reader.until(has('zone', { zoneType, zoneID: null, change: 'changed' }));
  });
});

describe('a live stream never shows', () => {
  it('anything of another account', async () => {
    const [ours, theirs] = [await read('admin'), await read('rival')];
    await leave('truck-1', 'rival');
    await greet('truck-1', { agentVersion: canary }, 'rival');
    await post('rival', 'geozone/creategeozone', { geozoneID: `${canary} live` });
    await theirs.until(has('zone', { zoneID: `${canary} live` }));
    await theirs.until(has('release', { agentVersion: canary }));
    await mark(ours);
    expect(ours.text()).not.toContain(canary);
    expect(of(ours, 'presence')).toEqual([]);
  });

  it('a device outside of the groups, nor the name of a route; and nothing to a user without devices', async () => {
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    const [north, unassigned] = [await read('north'), await read('nobody')];
    const way = {
      routePoint1lat: '43.1',
      routePoint1lng: '8.1',
      routePoint2lat: '43.2',
      routePoint2lng: '8.2',
    };
    await leave('truck-2');
    await greet('truck-2', { agentVersion: '5.0.0' });
    const cut = { feature: 'enginecutoff', state: '1' };
    await post('olga', 'command/feature', { deviceID: 'truck-2', ...cut, reason: 'hidden' });
    await post('olga', 'command/feature', { deviceID: 'truck-1', ...cut });
    await post('admin', 'route/routeupdate', { routeID: 'hidden run', deviceIDs: ['truck-2'], ...way });
    await post('admin', 'geozone/creategeozone', { geozoneID: 'shown' });
    await north.until(has('zone', { zoneID: 'shown' }));
    await north.until(has('approval', { deviceID: 'truck-1' }));
    await north.until(has('zone', { zoneType: 'route', zoneID: null }));
    await mark(north);
    expect(north.text()).not.toContain('truck-2');
    expect(north.text()).not.toContain('hidden');
    const { id } = await unassigned.until(has('hello'));
    const resumed = await read('nobody', { lastEventID: id });
    await mark(north);
    for (const reader of [unassigned, resumed])
      expect(new Set(reader.messages().map(({ event }) => event))).toEqual(new Set(['hello']));
  });

  it('more once a group has lost a device, also while the stream is open', async () => {
    const [one, other] = [await read('north'), await read('north')];
    await service.sql(`DELETE FROM group_devices`);
    for (const reader of [one, other]) await reader.until(has('reset', { reason: 'scope' }));
    await leave('truck-1');
    await greet('truck-1', { agentVersion: '6.0.0' });
    await post('admin', 'geozone/creategeozone', { geozoneID: 'after' });
    await mark(await read('admin'));
    for (const reader of [one, other]) {
      expect(of(reader, 'presence')).toEqual([]);
      expect(reader.text()).not.toContain('6.0.0');
      expect(reader.text()).not.toContain('after');
    }
    await service.sql(`INSERT INTO group_devices (device_no, group_no)
      SELECT ${truck('truck-1')}, group_no FROM device_groups`);
    for (const reader of [one, other])
      await reader.until((message) => message.event === 'reset' && of(reader, 'reset').length === 2);
  });
});
