// The live stream over real sockets: what a reader gets and in which order, how it resumes, what it never gets, and how
// a stream ends from either side.
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
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
let token = '';
let seq = 0;
const open = new Set<StreamReader>();

beforeAll(async () => {
  service = await startHttpService();
  port = await service.http.listen({ host: '127.0.0.1', port: 0 });
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2', 'truck-3']) await service.device('acme', deviceID);
  await service.device('rival', 'truck-1');
  await service.user('acme', 'dispatch', 'operator');
  await service.user('acme', 'guest', 'viewer');
  token = await service.login('acme', 'dispatch');
});

afterEach(async () => {
  for (const reader of open) reader.close();
  for (const reader of open) await reader.ended;
  open.clear();
});

afterAll(() => service.close());

async function read(request: Partial<StreamRequest> = {}): Promise<StreamReader> {
  const reader = await readStream({ port, token, ...request });
  open.add(reader);
  return reader;
}

/** Sends events of a device as its own boot would; gives their event ids. */
async function send(deviceID: string, events: readonly object[], accountID = 'acme'): Promise<string[]> {
  const numbered = events.map((event) => ({ seq: ++seq, timestamp: Date.now(), ...event }));
  await service.events(accountID, deviceID, { boot: 'b1', events: numbered });
  return numbered.map((event) => `b1:${event.seq}`);
}

const panic = { statusCode: 63553, inputs: { panic: true } };
/** Raises no alarm: many cost little. */
const ignitionOn = { statusCode: 62465, inputs: { ignition: true } };
const fix = (latitude: number, more: object = {}) => ({
  statusCode: 61472,
  latitude,
  longitude: 8,
  speed: 50,
  ...more,
});
const isEvent = (eventID: string | undefined) => (message: StreamMessage) =>
  message.data['eventID'] === eventID;
const eventIDs = (reader: StreamReader) =>
  reader.messages().flatMap(({ event, data }) => (event === 'event' ? [data['eventID']] : []));

describe('a live stream', () => {
  it('opens with hello, the newest number, and headers that keep it live', async () => {
    const reader = await read();
    const hello = await reader.until(({ event }) => event === 'hello');
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(reader.text()).toMatch(/^retry: 3000\n/);
    expect(hello).toEqual({
      event: 'hello',
      id: String(hello.data['eventNo']),
      data: { eventNo: expect.any(Number) },
    });
  });

  it('sends every alarm at once, in order, each once', async () => {
    const reader = await read();
    await reader.until(({ event }) => event === 'hello');
    const sent = await send('truck-1', [panic, { statusCode: 62465 }, { statusCode: 62467 }, panic]);
    const last = await reader.until(isEvent(sent[3]));
    expect(eventIDs(reader)).toEqual(sent);
    expect(last.data).toEqual({
      deviceID: 'truck-1',
      eventID: sent[3],
      statusCode: 63553,
      statusDescription: 'Panic',
      timestamp: expect.any(Number),
      creationTime: expect.any(Number),
      isPositionValid: false,
      latitude: 0,
      longitude: 0,
      speed: null,
      heading: null,
      geozoneID: '',
      commandID: null,
      commandState: null,
    });
  });

  it('sends the newest position by event time, one message per device and second', async () => {
    const reader = await read();
    await reader.until(({ event }) => event === 'hello');
    const now = Date.now();
    await send('truck-2', [
      fix(10, { timestamp: now - 2000 }),
      fix(12, { timestamp: now }),
      fix(11, { timestamp: now - 1000 }),
    ]);
    await send('truck-2', [fix(9, { timestamp: now - 3000 })]);
    const moved = await reader.until(
      ({ event, data }) => event === 'device' && data['deviceID'] === 'truck-2',
    );
    expect(moved.data).toEqual({
      deviceID: 'truck-2',
      deviceLastHeartbeat: expect.any(Number),
      deviceLastValidTimestamp: Math.floor(now / 1000),
      deviceLastValidLatitude: 12,
      deviceLastValidLongitude: 8,
      deviceLastValidSpeed: 50,
      deviceLastValidHeading: null,
      deviceLastGeozoneID: '',
    });
    const devices = () =>
      reader.messages().filter(({ event, data }) => event === 'device' && data['deviceID'] === 'truck-2');
    await send('truck-2', [fix(8, { timestamp: now - 4000 })]);
    await reader.until(() => devices().length >= 2);
    expect(devices()[1]?.data).toEqual({ deviceID: 'truck-2', deviceLastHeartbeat: expect.any(Number) });
  });

  it('sends every state change of a command', async () => {
    const reader = await read();
    await reader.until(({ event }) => event === 'hello');
    const body = { deviceID: 'truck-1', feature: 'cargoaccess', state: '1' };
    const asked = await service.call({
      method: 'POST',
      path: '/api/v1/command/feature/authorization',
      token,
      body,
    });
    const { commandID } = asked.json();
    const message = await reader.until(
      ({ event, data }) => event === 'command' && data['commandID'] === commandID,
    );
    expect(message.data).toMatchObject({
      ...body,
      pendingState: '1',
      commandState: 'requested',
      pendingReason: null,
    });
  });

  it('gives only what is asked for', async () => {
    const reader = await read({ query: '?devices=truck-2,nothing&codes=63553&positions=off' });
    await reader.until(({ event }) => event === 'hello');
    const all = await read();
    await all.until(({ event }) => event === 'hello');
    await send('truck-1', [panic]);
    await send('truck-2', [{ statusCode: 62465 }, fix(1)]);
    const sent = await send('truck-2', [panic]);
    await reader.until(isEvent(sent[0]));
    // Positions go to all readers in one pass.
    await all.until(({ event, data }) => event === 'device' && data['deviceID'] === 'truck-2');
    expect(eventIDs(reader)).toEqual(sent);
    expect(reader.messages().map(({ event }) => event)).not.toContain('device');
  });

  it.each([
    '?devices=a/b',
    '?codes=x',
    '?positions=maybe',
    '?lastEventId=x',
    '?nonsense=1',
    `?devices=${'a,'.repeat(300)}a`,
  ])('refuses %s', async (query) => {
    const reader = await read({ query });
    expect(reader.status).toBe(422);
  });
});

describe('a resumed stream', () => {
  it('gets every event that came meanwhile, once, and the newest position of each device', async () => {
    const before = await read();
    await before.until(({ event }) => event === 'hello');
    const seen = await send('truck-1', [panic]);
    await before.until(isEvent(seen[0]));
    const lastEventID = before.lastId();
    before.close();
    await before.ended;
    const missed: string[] = [];
    for (let round = 0; round < 30; round++) {
      missed.push(...(await send('truck-1', [fix(20 + round), panic, { statusCode: 62465 }])).slice(1));
      await send('truck-1', [panic], 'rival');
    }
    const after = await read({ lastEventID });
    const live = await send('truck-3', [panic]);
    await after.until(isEvent(live[0]));
    expect(eventIDs(after)).toEqual([...missed, ...live]);
    const devices = after
      .messages()
      .filter(({ event, data }) => event === 'device' && data['deviceID'] === 'truck-1')
      // The last panic may be read after the stream began: a heartbeat without a position follows then.
      .filter(({ data }) => data['deviceLastValidTimestamp'] !== undefined);
    expect(devices.map(({ data }) => data['deviceLastValidLatitude'])).toEqual([49]);
    expect(after.messages()[0]).toMatchObject({ event: 'hello', id: '' });
  });

  it('is the same with the number in the query, page by page over many events', async () => {
    const start = await read();
    const hello = await start.until(({ event }) => event === 'hello');
    const missed: string[] = [];
    for (let round = 0; round < 4; round++) {
      missed.push(
        ...(await send(
          'truck-2',
          Array.from({ length: 400 }, () => panic),
        )),
      );
    }
    const after = await read({ query: `?lastEventId=${hello.id}` });
    await after.until(isEvent(missed.at(-1)));
    expect(eventIDs(after)).toEqual(missed);
  });

  it.each(['999999999', 'x', '-1', '1.5', '12345678901234567890'])(
    'from %j gets a reset',
    async (lastEventID) => {
      const reader = await read({ lastEventID });
      const reset = await reader.until(({ event }) => event === 'reset');
      expect(reset.data).toMatchObject({ reason: 'unknown', hint: expect.stringContaining('getalldevices') });
      const sent = await send('truck-1', [panic]);
      await reader.until(isEvent(sent[0]));
      expect(eventIDs(reader)).toEqual(sent);
      expect(Number(reset.id)).toBeLessThan(Number(reader.lastId()));
    },
  );

  it('after too long, or too many events, gets a reset and continues from now', async () => {
    await send('truck-1', [panic]);
    const start = await read();
    const { id } = await start.until(({ event }) => event === 'hello');
    await send('truck-1', [panic]);
    await service.sql(`UPDATE events SET received_ms = received_ms - 90000000 WHERE event_no <= ${id}`);
    const late = await read({ lastEventID: id });
    expect((await late.until(({ event }) => event === 'reset')).data).toMatchObject({ reason: 'old' });
    const again = await read();
    const { id: from } = await again.until(({ event }) => event === 'hello');
    again.close();
    for (let round = 0; round < 21; round++)
      await send(
        'truck-1',
        Array.from({ length: 480 }, () => ignitionOn),
      );
    const much = await read({ lastEventID: from });
    expect((await much.until(({ event }) => event === 'reset')).data).toMatchObject({ reason: 'gap' });
    // More than 10,000 events have to be stored first.
  }, 300_000);

  it('counts a quiet week as nothing missed', async () => {
    const [last] = await send('truck-1', [panic]);
    const start = await read();
    const { id } = await start.until(({ event }) => event === 'hello');
    await service.sql(`UPDATE events SET received_ms = received_ms - 600000000 WHERE event_no = ${id}`);
    const reader = await read({ lastEventID: id });
    const sent = await send('truck-1', [panic]);
    await reader.until(isEvent(sent[0]));
    expect(eventIDs(reader)).toEqual(sent);
    expect(reader.messages().map(({ event }) => event)).not.toContain('reset');
    expect(last).not.toBe(sent[0]);
  });
});

describe('a live stream never shows', () => {
  it('anything of another account, live or missed', async () => {
    await service.sql(`UPDATE devices SET description = '${canary}' WHERE account_id = 'rival'`);
    const start = await read();
    const { id } = await start.until(({ event }) => event === 'hello');
    const rival = await read({ token: await service.login('rival', 'admin') });
    await rival.until(({ event }) => event === 'hello');
    const theirs = await send(
      'truck-1',
      [{ ...panic, geozoneID: 'CANARY-zone' }, fix(1, { geozoneID: 'CANARY-zone' })],
      'rival',
    );
    await rival.until(isEvent(theirs[0]));
    await rival.until(({ event }) => event === 'device');
    const resumed = await read({ lastEventID: id });
    const [own] = await send('truck-1', [panic]);
    for (const reader of [start, resumed]) {
      await reader.until(isEvent(own));
      await reader.until(({ event }) => event === 'device');
      expect(reader.text()).not.toContain('CANARY');
      expect(eventIDs(reader)).toEqual([own]);
    }
  });

  it('a device outside of the user’s groups; a change of groups applies within seconds', async () => {
    await service.sql(`UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'guest'`);
    await service.sql(`INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')`);
    const group = `(SELECT group_no FROM device_groups WHERE account_id = 'acme' AND group_id = 'north')`;
    await service.sql(
      `INSERT INTO group_users (account_id, user_id, group_no) SELECT 'acme', 'guest', ${group}`,
    );
    const truck = (id: string) =>
      `(SELECT device_no FROM devices WHERE account_id = 'acme' AND device_id = '${id}')`;
    await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT ${truck('truck-1')}, ${group}`);
    const guest = await service.login('acme', 'guest');
    const start = await read({ token: guest });
    const { id } = await start.until(({ event }) => event === 'hello');
    await send('truck-2', [panic, fix(1)]);
    const [own] = await send('truck-1', [panic]);
    await start.until(isEvent(own));
    const resumed = await read({ token: guest, lastEventID: id });
    await resumed.until(isEvent(own));
    expect(eventIDs(resumed)).toEqual([own]);
    await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT ${truck('truck-2')}, ${group}`);
    await service.sql(`DELETE FROM group_devices WHERE device_no = ${truck('truck-1')}`);
    expect((await start.until(({ event }) => event === 'reset')).data).toMatchObject({ reason: 'scope' });
    await send('truck-1', [panic]);
    const [now] = await send('truck-2', [panic]);
    await start.until(isEvent(now));
    expect(eventIDs(start)).toEqual([own, now]);
    // Afterwards its messages are for this reader, and may come at any moment.
    const [before] = start.text().split('event: reset');
    expect(before).not.toContain('"deviceID":"truck-2"');
  });
});

describe('a stream ends', () => {
  it('with its session: logout, a suspended user, new limits', async () => {
    const own = await service.login('acme', 'dispatch');
    const loggedOut = await read({ token: own });
    await loggedOut.until(({ event }) => event === 'hello');
    await service.call({ path: '/api/v1/auth/logout/acme/dispatch', token: own });
    await loggedOut.ended;
    await service.user('acme', 'leaver', 'viewer');
    const suspended = await read({ token: await service.login('acme', 'leaver') });
    await suspended.until(({ event }) => event === 'hello');
    await service.sql(`UPDATE users SET is_active = 0 WHERE user_id = 'leaver'`);
    await suspended.ended;
    await service.user('acme', 'limited', 'viewer');
    const limited = await read({ token: await service.login('acme', 'limited') });
    await limited.until(({ event }) => event === 'hello');
    await service.sql(`UPDATE users SET sees_all = 0 WHERE user_id = 'limited'`);
    await limited.ended;
  });

  it('and frees its slot when the client disconnects; the sixth of a user is refused', async () => {
    const own = await service.login('acme', 'admin');
    const readers = await Promise.all(Array.from({ length: 5 }, () => read({ token: own })));
    const refused = await read({ token: own });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('10');
    readers[0]?.close();
    await readers[0]?.ended;
    await expect.poll(async () => (await read({ token: own })).status).toBe(200);
  });

  it('also when the client disconnects before it got anything', async () => {
    await service.user('acme', 'hasty', 'viewer');
    const own = await service.login('acme', 'hasty');
    for (let times = 0; times < 60; times++) {
      const path = '/api/v1/events/stream/authorization';
      const request = get({ port, host: '127.0.0.1', path, agent: false, headers: { authorization: own } });
      request.on('error', () => undefined);
      await pause(times % 4);
      request.destroy();
    }
    await expect.poll(async () => (await read({ token: own })).status).toBe(200);
    const readers = await Promise.all(Array.from({ length: 4 }, () => read({ token: own })));
    expect(readers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('when its reader reads nothing and too much waits: the service drops the queue', async () => {
    await service.user('acme', 'sleeper', 'viewer');
    const reader = await read({ token: await service.login('acme', 'sleeper'), query: '?devices=truck-3' });
    await reader.until(({ event }) => event === 'hello');
    reader.pause();
    const isCut = () => service.logLines.some((line) => /live_reader_too_slow.*sleeper/.test(line));
    const sent: string[] = [];
    while (!isCut() && sent.length < 60_000) {
      sent.push(
        ...(await send(
          'truck-3',
          Array.from({ length: 500 }, () => ignitionOn),
        )),
      );
    }
    expect(isCut()).toBe(true);
    reader.resume();
    await reader.ended;
    // What it got is whole: the first so many, without a gap, and it knows where to go on.
    const got = eventIDs(reader);
    expect(got).toEqual(sent.slice(0, got.length));
    expect(got.length).toBeGreaterThan(0);
    expect(got.length).toBeLessThan(sent.length);
    // Some 20,000 events have to be stored first.
  }, 300_000);

  it('does not exist for HEAD', async () => {
    const answer = await service.call({ method: 'HEAD', path: '/api/v1/events/stream/authorization', token });
    expect(answer.status).toBe(405);
  });
});

describe('the service', () => {
  it('ends its streams when it stops', async () => {
    const other = await startHttpService();
    onTestFinished(() => other.close());
    const otherPort = await other.http.listen({ host: '127.0.0.1', port: 0 });
    await other.account('acme');
    const reader = await read({ port: otherPort, token: await other.login('acme', 'admin') });
    await reader.until(({ event }) => event === 'hello');
    await Promise.all([other.close(), reader.ended]);
    expect(reader.text().endsWith('\n\n')).toBe(true);
  });
});
