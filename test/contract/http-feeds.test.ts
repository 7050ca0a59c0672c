// Feeds of events into MQTT brokers of others: each event once and in order, over targets that refuse, hang, close and acknowledge late;
// of one account only; and never a command.
import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFeedFolder } from '../../broker/adapters/feed-folder.ts';
import { feeders } from '../../broker/features/feed/feeder.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { deleteDevice } from '../../broker/store/devices/device-deletion.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { waitUntil } from '../support/machine/wait-until.ts';
import { type FeedReceiver, startFeedReceiver, writeFeed } from '../support/mqtt/feed-target.ts';

type Json = Record<string, unknown>;
type Service = Awaited<ReturnType<typeof startHttpService>>;

let folder = '';
let target: FeedReceiver;
let service: Service;
const dayMs = 86_400_000;

beforeEach(async () => {
  folder = temporaryFolder('feeds');
  target = await startFeedReceiver();
});
afterEach(async () => {
  await service.close();
  await target.close();
  rmSync(folder, { recursive: true });
});

/** A service with these feeds of accounts acme and rival, each with a vehicle. */
async function start(feeds: Readonly<Record<string, object>>): Promise<void> {
  for (const [feedID, more] of Object.entries(feeds))
    writeFeed(folder, feedID, {
      account: 'acme',
      format: 'json',
      url: `mqtt://127.0.0.1:${target.port}`,
      ...more,
    });
  service = await startHttpService({ feeds: await openFeedFolder(folder) });
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    await service.device(accountID, 'van-1');
  }
}
const feedNow = async (): Promise<void> => {
  for (const one of service.api.of(feeders).list) await one.runNow();
};
const standing = () => service.api.of(feeders).list[0]?.standing();
let seq = 0;
/** As many events as that, each a second later. */
const send = (count: number, more: object = {}, deviceID = 'van-1', accountID = 'acme') =>
  service.events(accountID, deviceID, {
    boot: 'b',
    events: Array.from({ length: count }, () => ({
      seq: ++seq,
      timestamp: Date.now() - 60_000 + seq,
      statusCode: 61_472,
      ...more,
    })),
  });
const eventsOf = (deviceID = 'van-1', accountID = 'acme') =>
  target.received
    .filter(({ topic }) => topic === `fleetward/${accountID}/${deviceID}/event`)
    .map(({ text }) => JSON.parse(text) as Json);
const numbersOf = () => eventsOf().map(({ eventID }) => Number(String(eventID).split(':')[1]));
/** The newest message of a topic. */
const newest = (topic: string): string | undefined =>
  target.received.findLast((one) => one.topic === topic)?.text;
const stateOf = (deviceID = 'van-1') =>
  JSON.parse(newest(`fleetward/acme/${deviceID}/state`) ?? 'null') as Json;
async function remove(deviceID: string): Promise<void> {
  const row = await findDevice(service.db, { accountID: 'acme', deviceID });
  if (row === null) throw new Error(`no device ${deviceID}`);
  await service.write(deleteDevice(row, wholeAccount('acme'), 1));
}
const storedNo = async () => (await service.rows('SELECT sent_no FROM feeds'))[0]?.['sent_no'];

describe('a feed of JSON', () => {
  it('publishes each event once, in order, with its identity, and null for what is not known', async () => {
    await start({ home: {} });
    await feedNow();
    const first = seq + 1;
    await send(450, { latitude: 43.7, longitude: -79.4, speed: 27.6 });
    await send(1);
    await feedNow();
    expect(numbersOf()).toEqual(Array.from({ length: 451 }, (_, at) => first + at));
    expect(eventsOf()[0]).toMatchObject({
      deviceID: 'van-1',
      eventID: `b:${first}`,
      statusCode: 61_472,
      latitude: 43.7,
      longitude: -79.4,
      speed: 28,
      heading: null,
      fuelLevel: null,
      isPositionValid: true,
    });
    expect(eventsOf().at(-1)).toMatchObject({ latitude: null, longitude: null, isPositionValid: false });
    const places = eventsOf().map(({ eventNo }) => Number(eventNo));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect(await storedNo()).toBe(places.at(-1));
  });

  it('keeps the state of each vehicle at the target, where what was not reported is null and never false', async () => {
    await start({ home: {} });
    await feedNow();
    expect(stateOf()).toMatchObject({ online: false, position: null, fuelLevel: null, openAlarms: 0 });
    expect(stateOf()['inputs']).toMatchObject({ ignition: null, cabinDoor: null, motion: null });
    await send(1, {
      latitude: 43.7,
      longitude: -79.4,
      inputs: { ignition: true, cabinDoor: false },
      fuelLevel: 0.5,
    });
    await feedNow();
    expect(stateOf()).toMatchObject({ fuelLevel: 0.5, position: { latitude: 43.7, speed: null } });
    expect(stateOf()['inputs']).toMatchObject({ ignition: true, cabinDoor: false, motion: null });
    const states = target.received.filter(({ topic }) => topic.endsWith('/state'));
    expect(states.every(({ isRetained }) => isRetained)).toBe(true);
    expect(
      target.received.filter(({ topic }) => topic.endsWith('/event')).some(({ isRetained }) => isRetained),
    ).toBe(false);
    expect(newest('fleetward/acme/status')).toBe('online');
  });

  it('shows an alarm while it is open', async () => {
    await start({ home: {} });
    await feedNow();
    await send(1, { statusCode: 0xf841 });
    await service.sql("UPDATE alarms SET state = 'new' WHERE account_id = 'acme'");
    const [alarm] = await service.rows("SELECT COUNT(*) AS alarms FROM alarms WHERE state <> 'closed'");
    await feedNow();
    expect(stateOf()['openAlarms']).toBe(Number(alarm?.['alarms']));
  });

  it('sends again, in the same order, what was not acknowledged when the connection ended, and nothing else', async () => {
    await start({ home: {} });
    await feedNow();
    target.setMode('holds');
    const first = seq + 1;
    await send(30);
    const sending = feedNow();
    await waitUntil('the events', () => eventsOf().length === 30);
    target.release(20);
    const acknowledged = Number(eventsOf()[19]?.['eventNo']);
    target.setMode('takes');
    target.end();
    await sending;
    expect(await storedNo()).toBe(acknowledged);
    await feedNow();
    const numbers = Array.from({ length: 30 }, (_, at) => first + at);
    expect(numbersOf()).toEqual([...numbers, ...numbers.slice(20)]);
    expect(new Set(target.received.map(({ clientID }) => clientID)).size).toBe(1);
  });

  it('catches up after days without its target, and begins with what is stored when the operator wants that', async () => {
    await start({ home: {}, old: { history: true, prefix: 'old' } });
    await service.sql('DELETE FROM feeds');
    await send(5);
    await feedNow();
    expect(eventsOf()).toHaveLength(0);
    expect(target.received.filter(({ topic }) => topic === 'old/acme/van-1/event')).toHaveLength(5);
    target.setMode('refuses');
    target.drop();
    const first = seq + 1;
    for (let hour = 0; hour < 24; hour++) {
      service.advance(3_600_000);
      await send(20);
      await feedNow();
    }
    expect(eventsOf()).toHaveLength(0);
    expect(standing()).toMatchObject({ state: 'retrying', fault: 'refused: not authorised' });
    expect(service.queues()).toMatchObject([{ name: 'feeds' }]);
    expect(service.queues()[0]?.oldestS).toBeGreaterThan(80_000);
    target.setMode('takes');
    await feedNow();
    expect(numbersOf()).toEqual(Array.from({ length: 480 }, (_, at) => first + at));
    expect(service.queues()[0]).toMatchObject({ waiting: 0, oldestS: 0 });
  });

  it('counts and logs what was removed by age before it could be sent, and goes on after it', async () => {
    await start({ home: {} });
    await feedNow();
    target.setMode('refuses');
    target.drop();
    await send(10);
    await service.sql("UPDATE accounts SET retained_days = 7 WHERE account_id = 'acme'");
    await service.sql('DELETE FROM events WHERE seq <= $1', [seq - 4]);
    await feedNow();
    service.advance(8 * dayMs);
    target.setMode('takes');
    await feedNow();
    expect(numbersOf()).toEqual([seq - 3, seq - 2, seq - 1, seq]);
    const [row] = await service.rows('SELECT lost FROM feeds');
    expect(row).toEqual({ lost: 6 });
    expect(service.logLines.filter((line) => line.includes('feed_events_removed'))).toHaveLength(1);
  });

  it('takes back what the target keeps of a deleted vehicle, also after a restart', async () => {
    await start({ home: {} });
    await service.device('acme', 'van-2');
    await feedNow();
    expect(stateOf('van-2')).toMatchObject({ deviceID: 'van-2' });
    await remove('van-2');
    target.drop();
    await waitUntil('the empty state', async () => {
      await feedNow();
      return newest('fleetward/acme/van-2/state') === '';
    });
    expect(await service.rows('SELECT device_id FROM feed_devices ORDER BY device_id')).toEqual([
      { device_id: 'van-1' },
    ]);
  });
});

describe('a feed of one account', () => {
  it('holds nothing of another account, and another account sees nothing of it', async () => {
    await start({ home: {}, theirs: { account: 'rival', prefix: 'theirs' } });
    await feedNow();
    await send(3);
    await send(2, {}, 'van-1', 'rival');
    await feedNow();
    expect(eventsOf()).toHaveLength(3);
    const theirs = target.received.filter(({ topic }) => topic.startsWith('theirs/'));
    expect(theirs.every(({ topic }) => topic.startsWith('theirs/rival/'))).toBe(true);
    expect(theirs.filter(({ topic }) => topic.endsWith('/event'))).toHaveLength(2);
    const read = async (accountID: string) => {
      const token = await service.login(accountID, 'admin');
      return (await service.call({ path: '/api/v1/feed/getfeeds/authorization', token })).json();
    };
    expect(await read('acme')).toMatchObject({
      feeds: [{ feedID: 'home', state: 'connected', fault: '', lost: 0, format: 'json' }],
    });
    expect(await read('rival')).toMatchObject({ feeds: [{ feedID: 'theirs' }] });
  });

  it('is shown to administrators only', async () => {
    await start({ home: {} });
    for (const role of ['viewer', 'operator'] as const) {
      await service.user('acme', role, role);
      const token = await service.login('acme', role);
      const answer = await service.call({ path: '/api/v1/feed/getfeeds/authorization', token });
      expect(answer.json()).toMatchObject({ error: { code: 'forbidden' } });
    }
  });

  it('rests while its account is suspended, and loses nothing', async () => {
    await start({ home: {} });
    await feedNow();
    await service.sql("UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'");
    await send(3);
    await feedNow();
    expect(eventsOf()).toHaveLength(0);
    expect(standing()?.state).toBe('closed');
    await service.sql("UPDATE accounts SET is_active = 1 WHERE account_id = 'acme'");
    await feedNow();
    expect(eventsOf()).toHaveLength(3);
  });
});

describe('a target that misbehaves', () => {
  it.each(['refuses', 'closes', 'hangs'] as const)(
    'and %s keeps neither events from being stored nor another feed from its own, and gets all once it behaves',
    async (mode) => {
      const other = await startFeedReceiver();
      await start({ bad: {}, good: { url: `mqtt://127.0.0.1:${other.port}` } });
      await feedNow();
      target.setMode(mode);
      target.drop();
      await send(5);
      const [bad, good] = service.api.of(feeders).list;
      const stuck = bad?.runNow();
      await good?.runNow();
      expect(other.received.filter(({ topic }) => topic.endsWith('/event'))).toHaveLength(5);
      target.setMode('takes');
      target.drop();
      await stuck;
      await waitUntil('the events', async () => {
        await bad?.runNow();
        return eventsOf().length === 5;
      });
      await other.close();
    },
  );
});

describe('a feed for Home Assistant', () => {
  it('discovers each vehicle anew when it is renamed, and takes a deleted one out', async () => {
    await start({ home: { format: 'homeassistant' } });
    await feedNow();
    const topic = 'homeassistant/device/acme/van-1/config';
    const configOf = () => JSON.parse(newest(topic) ?? '{}') as { device?: { name?: string } };
    expect(configOf().device?.name).toBe('van-1');
    const count = () => target.received.filter((one) => one.topic === topic).length;
    await send(1, { speed: 3 });
    await feedNow();
    expect(count()).toBe(1);
    await service.sql("UPDATE devices SET display_name = 'Bob''s van' WHERE account_id = 'acme'");
    await feedNow();
    expect(configOf().device?.name).toBe("Bob's van");
    await remove('van-1');
    await waitUntil('the empty config', async () => {
      await feedNow();
      return newest(topic) === '';
    });
  });
});

describe('a feed for ThingsBoard', () => {
  it('publishes telemetry, attributes and connections of its gateway format', async () => {
    await start({ home: { format: 'thingsboard', user: 'token' } });
    await feedNow();
    await send(1, { latitude: 43.7, longitude: -79.4, inputs: { ignition: false } });
    await feedNow();
    expect(JSON.parse(newest('v1/gateway/telemetry') ?? '')).toEqual({
      'van-1': [
        {
          ts: expect.any(Number),
          values: expect.objectContaining({ latitude: 43.7, ignition: false, eventID: `b:${seq}` }),
        },
      ],
    });
    expect(JSON.parse(newest('v1/gateway/telemetry') ?? '')['van-1'][0].values).not.toHaveProperty('speed');
    expect(newest('v1/gateway/disconnect')).toBe('{"device":"van-1"}');
    expect(newest('v1/gateway/connect')).toBe('{"device":"van-1"}');
    expect(JSON.parse(newest('v1/gateway/attributes') ?? '')).toMatchObject({ 'van-1': { online: true } });
  });
});
