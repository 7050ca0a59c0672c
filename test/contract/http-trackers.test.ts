// Trackers of other makers, as a client of the service sees them: no hello, no retained state, no relays that are read back, perhaps a
// connection for each message. What was heard counts, zones alert, and what was never reported is unknown.
import mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueDeviceSecret } from '../../broker/accounts/issue-device-secret.ts';
import { projectBatch } from '../../broker/core/events/projection.ts';
import { findDevice, setAllOffline, setOnline } from '../../broker/store/devices/devices.ts';
import { createZoneWatcher } from '../../broker/zones/zone-watcher.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { bridgesOfTest, startHttpService } from '../support/http/http-service.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

type Json = Record<string, unknown>;
const minuteMs = 60_000;
const position = 61_472;

let service: Awaited<ReturnType<typeof startHttpService>>;
let token = '';
let laterMs = 0;
const nowMs = () => Date.now() + laterMs;
const advance = (ms: number): void => {
  laterMs += ms;
  service.advance(ms);
};

beforeAll(async () => {
  service = await startHttpService();
  await service.account('acme');
  token = await service.login('acme', 'admin');
});
afterAll(() => service.close());

async function ask(path: string, body?: unknown): Promise<Json> {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/${path.replace('?', '/authorization?')}${path.includes('?') ? '' : '/authorization'}`,
    token,
    ...(body === undefined ? {} : { body }),
  });
  if (answer.status === 401) {
    // The time that passes here ends the session.
    token = await service.login('acme', 'admin');
    return ask(path, body);
  }
  expect(answer.status, answer.text).toBe(200);
  return answer.json();
}
const health = async (deviceID: string) => {
  const { online, lastHeartbeat, lastHello } = await ask(`diagnostic/diagnostic/${deviceID}`);
  return { online, isHeard: lastHeartbeat !== 0, lastHello };
};
/** A position, now, without a boot: each is a payload of its own. */
const send = (deviceID: string, more: object = {}) =>
  service.events('acme', deviceID, {
    timestamp: Math.round(nowMs()),
    statusCode: position,
    latitude: 43,
    longitude: -79,
    ...more,
  });
const inbox = async (deviceID: string) => {
  await service.notices.runAll();
  const { notifications } = await ask('notificationqueue/getnotifications');
  const own = (notifications as Json[]).filter((one) => one['deviceID'] === deviceID);
  return own.map(({ kind, timestamp }) => ({ kind, timestamp })).toReversed();
};
const kindsOf = async (deviceID: string) => (await inbox(deviceID)).map(({ kind }) => kind);
/** Sends as often as a tracker does, each time a period later. */
async function sendEvery(deviceID: string, periodMs: number, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    advance(periodMs);
    await send(deviceID);
  }
}
/** Whether the device is online after so many minutes of silence, one after the other. */
async function onlineAfter(deviceID: string, ...silences: readonly number[]) {
  const seen: unknown[] = [];
  let passed = 0;
  for (const silence of silences) {
    advance((silence - passed) * minuteMs);
    passed = silence;
    await service.notices.runAll();
    seen.push((await health(deviceID)).online);
  }
  return seen;
}

describe('presence', () => {
  it('is of what was heard last, not of a hello or an open connection', async () => {
    await service.device('acme', 'shelf');
    await service.device('acme', 'van');
    expect(await health('shelf')).toEqual({ online: false, isHeard: false, lastHello: 0 });
    await send('van');
    expect(await health('van')).toEqual({ online: true, isHeard: true, lastHello: 0 });
    const { onlineDevices, offlineDevices } = await ask('metrics/getMonitorMetaData');
    expect([onlineDevices, offlineDevices]).toEqual([1, 1]);
  });

  it.each([
    // Minutes between messages, and minutes of silence with what they mean.
    ['each 10 s', 1 / 6, [9, 11], [true, false]],
    ['each 5 min', 5, [14, 16], [true, false]],
    ['each hour', 60, [90, 170, 190], [true, true, false]],
    ['once a day', 1440, [2000, 4000, 4500], [true, true, false]],
  ] as const)(
    'lasts as long as the own rhythm of a device: %s',
    async (name, minutes, silences, expected) => {
      const deviceID = `rhythm-${name.replaceAll(' ', '-')}`;
      await service.device('acme', deviceID);
      await sendEvery(deviceID, minutes * minuteMs, 8);
      expect(await onlineAfter(deviceID, ...silences)).toEqual(expected);
      await send(deviceID);
      expect(await health(deviceID)).toMatchObject({ online: true });
    },
  );

  it('forgets one long outage', async () => {
    await service.device('acme', 'repaired');
    await sendEvery('repaired', minuteMs, 5);
    advance(20 * 86_400_000);
    await sendEvery('repaired', minuteMs, 5);
    expect(await onlineAfter('repaired', 59, 61)).toEqual([true, false]);
  });

  it('of a unit with an agent is its connection, until another unit takes its place', async () => {
    await service.device('acme', 'swapped');
    const atMs = Math.round(nowMs());
    await service.sql(`UPDATE devices SET hello_ms = ${atMs}, is_online = 0, presence_ms = ${atMs}, presence_cause = 'closed'
      WHERE device_id = 'swapped'`);
    // Stored while its connection ended.
    await send('swapped');
    expect(await health('swapped')).toMatchObject({ online: false });
    advance(2 * minuteMs);
    await send('swapped');
    expect(await health('swapped')).toMatchObject({ online: true });
  });

  it('does not end with a connection, nor with the service', async () => {
    await service.device('acme', 'short');
    await send('short');
    const [row] = await service.rows("SELECT device_no FROM devices WHERE device_id = 'short'");
    const mark = { atMs: Math.round(nowMs()), cause: 'closed' } as const;
    await service.write([setOnline(Number(row?.['device_no']), false, mark), setAllOffline(mark.atMs)]);
    expect(await health('short')).toMatchObject({ online: true });
  });
});

describe('device_offline', () => {
  it('is reported of a tracker once, since it was last heard, and ends when it is heard again', async () => {
    for (const deviceID of ['quiet', 'unheard']) await service.device('acme', deviceID);
    const rule = { ruleID: 'quiet', kinds: ['device_offline', 'device_online'], offlineAfterS: 1800 };
    await ask('notification/updaterule', { ...rule, devices: ['quiet', 'unheard'], push: {} });
    await sendEvery('quiet', minuteMs, 3);
    const heardS = Math.floor(nowMs() / 1000);
    expect(await onlineAfter('quiet', 25)).toEqual([false]);
    expect(await kindsOf('quiet')).toEqual([]);
    advance(6 * minuteMs);
    for (let times = 0; times < 3; times += 1) {
      const [offline, ...others] = await inbox('quiet');
      expect([offline?.kind, others]).toEqual(['device_offline', []]);
      expect(Math.abs(Number(offline?.timestamp) - heardS)).toBeLessThan(60);
      advance(10 * minuteMs);
    }
    await send('quiet');
    expect(await kindsOf('quiet')).toEqual(['device_offline', 'device_online']);
    advance(86_400_000);
    expect(await kindsOf('quiet')).toEqual(['device_offline', 'device_online', 'device_offline']);
    expect(await kindsOf('unheard')).toEqual([]);
  });
});

const circle = (geozoneID: string, latitude: number) =>
  ask('geozone/creategeozone', {
    geozoneID,
    geozoneType: 0,
    geozoneRadius: 300,
    geozonePoint1: `${latitude.toFixed(5)},-79.00000`,
    geozoneAlertEntry: true,
    geozoneAlertExit: true,
    geozoneAlarmEntry: true,
    geozoneArrivalEngineOff: true,
  });
/** Records of crossings, in the order of their times. */
async function crossingsOf(deviceID: string): Promise<readonly string[]> {
  const { eventdata } = await ask(`eventdata/devicedata/${deviceID}/0/0`);
  const crossed = (eventdata as { devices: Json[] }).devices.filter(({ statusCode }) =>
    [61_968, 62_000].includes(Number(statusCode)),
  );
  return crossed.map(
    ({ statusCode, geozoneID }) => `${statusCode === 61_968 ? 'in' : 'out'} ${String(geozoneID)}`,
  );
}
const settled = (deviceID: string, expected: readonly string[]) =>
  waitUntil('the crossings', async () => (await crossingsOf(deviceID)).length >= expected.length)
    .then(() => crossingsOf(deviceID))
    .then((found) => expect(found.toSorted()).toEqual(expected.toSorted()));

describe('a zone', () => {
  beforeAll(async () => {
    await circle('yard', 43);
    await circle('depot', 44);
    await service.device('acme', 'tracker');
  });
  /** A minute later, so many km north of the yard. */
  const goTo = (km: number, more: object = {}) => {
    advance(minuteMs);
    return send('tracker', { latitude: 43 + km / 111.195, ...more });
  };

  it('alerts when a tracker enters and leaves it, as it does of a vehicle, and asks the tracker for nothing', async () => {
    await goTo(0, { speed: 30 });
    await goTo(2, { speed: 60 });
    await settled('tracker', ['out yard']);
    await goTo(0.1, { speed: 30 });
    await settled('tracker', ['out yard', 'in yard']);
    await service.notices.runAll();
    const { alarms } = await ask('alarm/alarms');
    const own = (alarms as Json[]).filter(({ deviceID }) => deviceID === 'tracker');
    expect(own.map(({ statusCode, geozoneID }) => [statusCode, geozoneID])).toContainEqual([61968, 'yard']);
    expect(await service.rows('SELECT 1 AS one FROM commands')).toEqual([]);
  });

  it('does not alert in the service for a unit with an agent, which watches by itself', async () => {
    await service.device('acme', 'agent');
    await service.sql(`UPDATE devices SET hello_ms = ${Math.round(nowMs())}, is_online = 1, presence_cause = 'hello'
      WHERE device_id = 'agent'`);
    const before = (await crossingsOf('tracker')).length;
    for (const latitude of [43, 43.02, 43]) {
      advance(minuteMs);
      await send('agent', { latitude });
    }
    // What came later is done, so this would be.
    await goTo(2, { speed: 60 });
    await waitUntil('the tracker', async () => (await crossingsOf('tracker')).length > before);
    await goTo(0.1, { speed: 30 });
    await waitUntil('the tracker', async () => (await crossingsOf('tracker')).length > before + 1);
    expect(await crossingsOf('agent')).toEqual([]);
  });

  it('does not alert by late, repeated or doubtful positions, nor when it is drawn around the tracker', async () => {
    const lateMs = Math.round(nowMs()) - 30_000;
    await send('tracker', { timestamp: lateMs, latitude: 44 });
    await goTo(111.195);
    await goTo(0.12, { satellites: 1, speed: 0 });
    await circle('drawn', 43);
    await goTo(0.1);
    await goTo(0.1);
    await goTo(3, { speed: 60 });
    await settled('tracker', ['out yard', 'in yard', 'out yard', 'in yard', 'out yard', 'out drawn']);
  });

  it('goes on where it stood when the service starts again, and with a second one beside it', async () => {
    const row = (await findDevice(service.db, { accountID: 'acme', deviceID: 'tracker' })) ?? expect.fail();
    const opened = ['first', 'second'].map(() =>
      createZoneWatcher({
        ...service,
        db: service.db,
        clock: { ...createSystemClock() },
        submit: service.ingest.submit,
      }),
    );
    const before = ['out yard', 'in yard', 'out yard', 'in yard', 'out yard', 'out drawn'];
    await goTo(0.05, { speed: 20 });
    await settled('tracker', [...before, 'in yard', 'in drawn']);
    // Two processes that know nothing but the store take the same position.
    advance(minuteMs);
    const event = {
      seq: 0,
      timestamp: Math.round(nowMs()),
      upMs: null,
      timeQuality: 'rtc',
      statusCode: position,
      latitude: 43.02,
      longitude: -79,
    } as const;
    for (const watcher of opened) {
      watcher.onCommitted({
        device: row,
        boot: null,
        fresh: [event],
        eventNos: [2 ** 40],
        receivedMs: Math.round(nowMs()),
        projection: projectBatch({ boot: '', events: [event] }, nowMs()),
      });
    }
    await Promise.all(opened.map((watcher) => watcher.close()));
    const found = await crossingsOf('tracker');
    expect(found.slice(before.length + 2).toSorted()).toEqual(['out drawn', 'out yard']);
  });
});

describe('a sensor that the tracker never reported', () => {
  it('is unknown, and what it reports is known', async () => {
    await service.device('acme', 'sensors');
    const states = async () => {
      const { sensors, state, deviceEngineOff, cargoUnlocked } = await ask('device/getdevice/sensors');
      const stateOf = (of: unknown) =>
        Object.fromEntries(
          Object.entries(of as Record<string, Json>).map(([name, one]) => [name, one['state']]),
        );
      return {
        ...stateOf(sensors),
        engine: (state as Record<string, Json>)['enginecutoff']?.['state'],
        deviceEngineOff,
        cargoUnlocked,
      };
    };
    const unknown = {
      ignition: null,
      panic: null,
      fuel: null,
      enginecutoff: null,
      cargoaccess: null,
      engine: null,
    };
    // The interface has a newly created device with all states '0'.
    expect(await states()).toMatchObject({ ignition: '0', engine: '0' });
    await send('sensors');
    expect(await states()).toEqual({ ...unknown, deviceEngineOff: '', cargoUnlocked: '' });
    await send('sensors', { inputs: { ignition: false }, outputs: { enginecutoff: true } });
    expect(await states()).toEqual({
      ...unknown,
      ignition: '0',
      enginecutoff: '1',
      engine: '1',
      deviceEngineOff: 'true',
      cargoUnlocked: '',
    });
  });
});

describe.skipIf(bridgesOfTest > 1)('a real client that is no agent', () => {
  const user = 'acme/pub';
  const topic = `fleet/v1/${user}/events`;
  let secret = '';
  beforeAll(async () => {
    await service.device('acme', 'pub');
    const key = { accountID: 'acme', deviceID: 'pub' };
    secret = await issueDeviceSecret(service.db, createSystemEntropy(), createSystemClock(), key);
  });
  const connect = (more: mqtt.IClientOptions = {}) =>
    mqtt.connect(`mqtt://127.0.0.1:${service.mqttPort}`, {
      clientId: user,
      username: user,
      password: secret,
      protocolVersion: 4,
      reconnectPeriod: 0,
      ...more,
    });
  const ended = (client: mqtt.MqttClient) =>
    new Promise<string>((resolve) => {
      let reason = '';
      client.on('error', (error) => void (reason = error.message));
      client.on('close', () => resolve(reason));
    });
  const quarantined = async () =>
    (await ask('device/quarantine?deviceID=pub'))['payloads'] as readonly { reason: string; topic: string }[];

  it.each([0, 1] as const)('is online after it published with QoS %i and left', async (qos) => {
    const before = (await ask('diagnostic/diagnostic/pub'))['lastHeartbeat'];
    advance(2000);
    const client = connect({ keepalive: 1800 });
    const over = ended(client);
    client.publish(
      topic,
      JSON.stringify({ timestamp: Math.round(nowMs()), statusCode: position, latitude: 43, longitude: -79 }),
      { qos },
      () => client.end(),
    );
    await over;
    await waitUntil(
      'the message',
      async () => (await ask('diagnostic/diagnostic/pub'))['lastHeartbeat'] !== before,
    );
    expect(await health('pub')).toEqual({ online: true, isHeard: true, lastHello: 0 });
  });

  it.each([
    ['a keep alive of 0', { keepalive: 0 }, null, /keep alive of 0 s: set one of 1 to 1800 s/],
    ['a keep alive of an hour', { keepalive: 3600 }, null, /keep alive of 3600 s: set one of 1 to 1800 s/],
    [
      'a will elsewhere',
      { will: { topic: 'gone', payload: 'x', qos: 0, retain: false } },
      null,
      /will: topic is not one/,
    ],
    [
      'more than 64 KiB',
      {},
      { payload: 'x'.repeat(70_000) },
      /packet of 700\d\d bytes: send at most .*65536 bytes/,
    ],
    [
      'a retained message',
      {},
      { payload: '{}', retain: true },
      /retained messages .*without the retain flag/,
    ],
    ['QoS 2', {}, { payload: '{}', qos: 2 }, /QoS 2 .*publish with QoS 1 or 0/],
    [
      'more than 500 events',
      {},
      {
        payload: JSON.stringify({
          boot: 'b',
          events: Array.from({ length: 501 }, (_unused, at) => ({ seq: at + 1, statusCode: position })),
        }),
        qos: 1,
        isTaken: true,
      },
      /501 events: send at most 500/,
    ],
  ] as const)('is refused for %s, and people find why', async (_title, options, message, reason) => {
    const client = connect({ ...(options as mqtt.IClientOptions) });
    const over = ended(client);
    client.on('connect', () => {
      if (message === null) return;
      const isTaken = 'isTaken' in message;
      const { payload, ...flags } = { qos: 1 as const, retain: false, ...message };
      client.publish(topic, payload, flags, () => (isTaken ? client.end() : undefined));
    });
    await over;
    await waitUntil('the reason', async () => (await quarantined()).some((one) => reason.test(one.reason)));
    expect(service.logLines.some((line) => reason.test(line))).toBe(true);
  });

  it('is not accused by a client without its secret', async () => {
    const before = await quarantined();
    const client = connect({ keepalive: 3000, password: 'wrong' });
    await ended(client);
    expect(await quarantined()).toEqual(before);
  });
});
