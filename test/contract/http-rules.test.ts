// What the interface promises beyond what holds for every operation: HEAD, other accounts, devices, events, commands and
// logins. What is made from the list of operations is in http-operations.test.ts.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/operations.ts';
import { storeMany } from '../support/database/stored-events.ts';
import { canary } from '../support/http/canary.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { type HttpService } from '../support/http/http-fixtures.ts';
import { password } from '../support/http/http-service.ts';
import { expectError, fill, isEndless, startSeededService } from '../support/http/operation-calls.ts';

let service: HttpService;
let nowS = 0;
let token = '';
let succeed: Awaited<ReturnType<typeof startSeededService>>['succeed'];

beforeAll(async () => {
  ({ service, nowS, token, succeed } = await startSeededService());
});
afterAll(() => service.close());

describe('HEAD', () => {
  it('answers like GET without a body where nothing changes', async () => {
    const answer = await service.call({
      method: 'HEAD',
      path: '/device/getdevice/truck-17/authorization',
      token,
    });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  it('never runs a GET that changes something', async () => {
    const own = await service.login('acme', 'dispatch');
    const path = '/api/v1/auth/logout/acme/dispatch';
    expect((await service.call({ method: 'HEAD', path, token: own })).status).toBe(405);
    expect((await service.call({ path, token: own })).status).toBe(200);
    expect((await service.call({ path, token: own })).status).toBe(401);
  });
});

describe('another account', () => {
  const reads = operations.filter((operation) => operation.path.includes('{device'));

  it.each(reads.map((operation) => [operation.id, operation] as const))(
    'does not exist for %s',
    async (_id, operation) => {
      const path = (deviceID: string) =>
        fill(operation, servedPaths(operation)[0] ?? '', { deviceID, device: deviceID });
      const foreign = await service.call({ path: path('rival-1'), token });
      const unknown = await service.call({ path: path('nothing'), token });
      expectError(foreign, 404, 'not_found');
      expectError(unknown, 404, 'not_found');
      const plain = (text: string, id: string) => text.replaceAll(id, 'ID').replace(/"requestId":"\w+"/, '');
      expect(plain(foreign.text, 'rival-1')).toBe(plain(unknown.text, 'nothing'));
    },
  );

  it('cannot be written to', async () => {
    const change = { method: 'POST', path: '/api/v1/device/updatedevice/authorization', token };
    expectError(await service.call({ ...change, body: { deviceid: 'rival-1', sms: '1' } }), 404, 'not_found');
    const command = { deviceID: 'rival-1', feature: 'enginecutoff', state: '1' };
    const path = '/api/v1/command/feature/authorization';
    expectError(await service.call({ method: 'POST', path, token, body: command }), 404, 'not_found');
  });

  it('may have a device of the same name, and neither sees the other', async () => {
    const path = '/device/createdevice/authorization';
    const made = await service.call({ method: 'POST', path, token, body: { deviceID: 'shared-name' } });
    expect(made.json()).toMatchObject({ deviceDescription: 'Device shared-name', deviceDriver: '' });
    const rival = await service.login('rival', 'admin');
    const theirs = await service.call({ path: '/device/getdevice/shared-name/authorization', token: rival });
    expect(theirs.json()).toMatchObject({ deviceDescription: canary });
  });

  it('never shows in any answer', async () => {
    for (const operation of operations.filter((one) => !isEndless(one))) {
      expect((await succeed(operation)).text).not.toContain('CANARY');
    }
  });
});

describe('a device', () => {
  const create = (body: unknown) =>
    service.call({ method: 'POST', path: '/api/v1/device/createdevice/authorization', token, body });

  it('that is new has the sensors and states of the interface, all 0', async () => {
    const made = (await create({ deviceID: 'new-1', uniqueid: 490154203237518 })).json();
    expect(made).toMatchObject({
      deviceUnique: '490154203237518',
      deviceLastHeartbeat: 0,
      hasPendingCommands: 'false',
    });
    const sensors = made['sensors'] as Record<string, { state: string }>;
    expect(Object.keys(sensors)).toEqual(['cargoaccess', 'fuel', 'enginecutoff', 'ignition', 'panic']);
    expect(Object.keys(made['state'] as object)).toEqual(['cargoaccess', 'enginecutoff']);
    for (const { state } of [...Object.values(sensors), ...Object.values(made['state'] as typeof sensors)])
      expect(state).toBe('0');
  });

  it('is created and changed by the create operation, in both letter cases', async () => {
    await create({ deviceID: 'new-2', deviceDescription: 'first', sms: '1' });
    const changed = await create({
      deviceid: 'new-2',
      uniqueID: 7,
      devicedescription: 'second',
      devicedriver: 'D',
    });
    expect(changed.json()).toMatchObject({
      deviceDescription: 'second',
      deviceUnique: '7',
      deviceDriver: 'D',
    });
    const twice = expectError(await create({ deviceid: 'new-2', deviceID: 'new-2' }), 422, 'invalid_content');
    expect(twice.errors[0]?.pointer).toBe('/deviceID');
  });

  it('keeps its uniqueid for itself', async () => {
    await create({ deviceID: 'new-3', uniqueid: 99 });
    const { errors } = expectError(await create({ deviceID: 'new-4', uniqueid: 99 }), 422, 'conflict');
    expect(errors).toEqual([{ pointer: '/uniqueid', message: 'belongs to another device' }]);
    expectError(
      await service.call({ path: '/device/getdevice/new-4/authorization', token }),
      404,
      'not_found',
    );
    expect((await create({ deviceID: 'new-3', uniqueid: 99 })).status).toBe(200);
  });

  it('keeps its uniqueid for itself also when many ask for it at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => create({ deviceID: `race-${at}`, uniqueid: 4711 })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(7);
    for (const answer of refused) expectError(answer, 422, 'conflict');
  });

  it.each(['', 'a b', 'a/b', 'a.b', '#', 'x'.repeat(65)])('cannot be called %j', async (deviceID) => {
    expectError(await create({ deviceID }), 422, 'invalid_content');
  });

  it('shows what the vehicle sent', async () => {
    const shown = (await service.call({ path: '/device/getdevice/log-1/authorization', token })).json();
    expect(shown).toMatchObject({
      deviceLastValidLatitude: 43.65107,
      deviceLastValidSpeed: 54,
      deviceLastValidTimestamp: nowS - 60,
      fuelLevelAverage: '0.62',
      sensors: { ignition: { state: '1' }, panic: { state: '1' } },
    });
  });
});

describe('events', () => {
  const range = (startTime: number | string, endTime: number | string) =>
    service.call({
      path: `/api/v1/eventdata/devicemetadata/log-1/${startTime}/${endTime}/authorization`,
      token,
    });
  const codes = async (startTime: number, endTime: number) =>
    ((await range(startTime, endTime)).json()['metadata'] as { statusCode: string }[]).map(
      (entry) => entry.statusCode,
    );

  it('are found by time with both ends included, and 0 means no bound', async () => {
    expect(await codes(0, 0)).toEqual(['61472', '63553']);
    expect(await codes(nowS - 60, nowS - 60)).toEqual(['61472']);
    expect(await codes(nowS - 59, 0)).toEqual(['63553']);
    expect(await codes(0, nowS - 61)).toEqual([]);
  });

  it('have text where the interface specifies text', async () => {
    const [entry] = (await range(0, nowS - 60)).json()['metadata'] as object[];
    expect(entry).toMatchObject({
      latitude: '43.65107',
      longitude: '-79.34702',
      statusCode: '61472',
      count: '1',
    });
  });

  it('are not looked for with a time that is none, or with the ends exchanged', async () => {
    for (const time of ['x', '-1', '1.5', '1e3', '99999999999', '%20']) {
      expect(expectError(await range(time, 0), 422, 'invalid_content').errors[0]?.pointer).toBe('/startTime');
    }
    expectError(await range(nowS, nowS - 1), 422, 'invalid_content');
  });

  it('are never cut short, however many there are, in both forms', async () => {
    await service.device('acme', 'chatty');
    await storeMany(service.db, {
      device: 'chatty',
      count: 20_001,
      boot: 'b',
      of: (i) => ({ timestampMs: i * 1000 }),
    });
    const ask = (endTime: number) =>
      service.call({ path: `/api/v1/eventdata/devicemetadata/chatty/0/${endTime}/authorization`, token });
    const { metadata, eventdata } = (await ask(0)).json() as {
      metadata: { timestamp: number }[];
      eventdata: { devices: { timestamp: number }[] };
    };
    const expected = Array.from({ length: 20_001 }, (_, at) => at + 1);
    expect(metadata.map(({ timestamp }) => timestamp)).toEqual(expected);
    expect(eventdata.devices.map(({ timestamp }) => timestamp)).toEqual(expected);
  });

  it('of the last position and the alerts of a day are found', async () => {
    const listed = async (path: string) => {
      const data = (await service.call({ path, token })).json()['eventdata'] as {
        devices: { statusCode: number; eventID: string }[];
      };
      return data.devices.map(({ statusCode, eventID }) => `${eventID} ${statusCode}`);
    };
    expect(await listed('/api/v1/eventdata/latest/log-1/authorization')).toEqual(['b1:1 61472']);
    expect(await listed('/device/getdeviceactivations/log-1/authorization')).toEqual(['b1:2 63553']);
    await service.device('acme', 'silent');
    expect(await listed('/api/v1/eventdata/latest/silent/authorization')).toEqual([]);
  });

  it('from a clock that ran years ahead hide nothing that follows, and their alerts are shown for a day', async () => {
    await service.device('acme', 'ahead');
    const listed = async (path: string) => {
      const data = (await service.call({ path, token })).json()['eventdata'] as {
        devices: { statusCode: number }[];
      };
      return data.devices.map(({ statusCode }) => statusCode);
    };
    const latest = '/api/v1/eventdata/latest/ahead/authorization';
    const alerts = '/device/getdeviceactivations/ahead/authorization';
    const year2099 = 4_070_908_800_000;
    await service.events('acme', 'ahead', {
      boot: 'a1',
      events: [{ seq: 1, timestamp: year2099, statusCode: 63553, latitude: 0, longitude: 0.000001 }],
    });
    expect(await listed(latest)).toEqual([63553]);
    expect(await listed(alerts)).toEqual([63553]);
    await service.events('acme', 'ahead', {
      boot: 'a1',
      events: [{ seq: 2, timestamp: nowS, statusCode: 61472, latitude: -0.000001, longitude: 0 }],
    });
    expect(await listed(latest)).toEqual([61472]);
    await service.sql(
      `UPDATE events SET received_ms = received_ms - 90000000 WHERE timestamp_ms = ${year2099}`,
    );
    expect(await listed(alerts)).toEqual([]);
    const range = '/api/v1/eventdata/devicemetadata/ahead/0/0/authorization';
    const { metadata } = (await service.call({ path: range, token })).json() as {
      metadata: { latitude: string }[];
    };
    expect(metadata.map(({ latitude }) => latitude)).toEqual(['0.00000', '0.00000']);
  });
});

describe('a clock that is 26 hours ahead', () => {
  const place = (latitude: number) => ({ statusCode: 61472, latitude, longitude: -79 });
  const shown = async (deviceID: string) => {
    const get = async (path: string) => (await service.call({ path: `${path}/authorization`, token })).json();
    const device = await get(`/device/getdevice/${deviceID}`);
    const { devices } = (await get(`/api/v1/eventdata/latest/${deviceID}`))['eventdata'] as {
      devices: readonly { latitude: number; timestamp: number }[];
    };
    const unit = (await get(`/api/v1/diagnostic/diagnostic/${deviceID}`)) as { clockAhead: number | null };
    expect([devices[0]?.latitude ?? 0, devices[0]?.timestamp ?? 0]).toEqual([
      device['deviceLastValidLatitude'],
      device['deviceLastValidTimestamp'],
    ]);
    return { latitude: device['deviceLastValidLatitude'], ahead: unit.clockAhead };
  };
  const aheadS = 26 * 3600;

  it.each([aheadS, 20 * 3600, 20 * 365 * 86_400])(
    'and of others (%i s) is named, and the answers agree',
    async (ahead) => {
      const deviceID = `clock-${ahead}`;
      await service.device('acme', deviceID);
      let seq = 0;
      const send = (timestamp: number, latitude: number) =>
        service.events('acme', deviceID, {
          boot: 'c1',
          events: [{ seq: ++seq, timestamp: timestamp * 1000, ...place(latitude) }],
        });
      const nowS = Math.floor(Date.now() / 1000);
      await send(nowS + ahead, 41);
      await send(nowS + ahead + 1, 42);
      const wrong = await shown(deviceID);
      expect(wrong.latitude).toBe(42);
      expect(Math.abs((wrong.ahead ?? 0) - ahead)).toBeLessThan(120);
      // A right time passes before it, and ends the warning.
      await send(nowS + 60, 43);
      expect(await shown(deviceID)).toEqual({ latitude: 43, ahead: null });
      if (ahead <= 86_400) return;
      await send(nowS + ahead + 2, 44);
      expect((await shown(deviceID)).latitude).toBe(43);
    },
  );
});

describe('a command', () => {
  const send = (code: string) =>
    service.call({ path: `/api/v1/command/send/van-1/${code}/authorization`, token });
  const shown = async () =>
    (await service.call({ path: '/device/getdevice/van-1/authorization', token })).json();
  beforeAll(() => service.device('acme', 'van-1'));

  it.each([
    ['63680', 'enginecutoff', '1'],
    ['63681', 'enginecutoff', '0'],
    ['63637', 'cargoaccess', '0'],
    ['63638', 'cargoaccess', '1'],
  ])(
    '%s is %s %s, shows as pending, and does not change the state before the vehicle reports it',
    async (code, feature, state) => {
      expect((await send(code)).json()).toMatchObject({
        feature,
        state,
        pendingState: state,
        commandState: 'requested',
      });
      expect(await shown()).toMatchObject({
        hasPendingCommands: 'true',
        state: { [feature]: { state: '0', pendingState: state, commandState: 'requested' } },
      });
    },
  );

  it('that is repeated at once is the same command', async () => {
    onTestFinished(holdClock(service));
    const one = (await send('63680')).json()['commandID'];
    expect((await send('63680')).json()['commandID']).toBe(one);
  });

  it('that nothing can follow yet is refused, and so is any other code', async () => {
    for (const code of ['62560', '62601']) expectError(await send(code), 422, 'unsupported');
    for (const code of ['61472', '0', 'x', '063680', '63680.0'])
      expectError(await send(code), 422, 'invalid_content');
  });

  it('with another feature, state or life is refused with a pointer', async () => {
    const good = { deviceID: 'van-1', feature: 'cargoaccess', state: '1' };
    const path = '/api/v1/command/feature/authorization';
    for (const wrong of [{ feature: 'horn' }, { state: '2' }, { state: 1 }, { ttl: 9 }, { ttl: 86_401 }]) {
      const answer = await service.call({ method: 'POST', path, token, body: { ...good, ...wrong } });
      expect(expectError(answer, 422, 'invalid_content').errors[0]?.pointer).toBe(
        `/${Object.keys(wrong)[0]}`,
      );
    }
  });
});

describe('a login', () => {
  const login = (body: object, from = '127.0.0.1') =>
    service.call({ method: 'POST', path: '/auth/login', body, from });

  it('fails with the same error whatever was wrong', async () => {
    const right = { accountID: 'acme', userID: 'dispatch', password };
    const failures = [
      { accountID: 'none' },
      { userID: 'none' },
      { password: 'wrong' },
      { accountID: 'rival' },
    ];
    const texts = await Promise.all(
      failures.map(async (wrong, at) => {
        const answer = await login({ ...right, ...wrong }, `10.2.0.${at}`);
        expectError(answer, 401, 'login_failed');
        return answer.text.replace(/"requestId":"\w+"/, '');
      }),
    );
    expect(new Set(texts).size).toBe(1);
  });

  it('is slowed after failures with 503 and Retry-After, but not for others', async () => {
    service.pin();
    onTestFinished(holdClock(service));
    const from = '10.3.0.1';
    const wrong = { accountID: 'acme', userID: 'guest', password: 'wrong' };
    const answers = await Promise.all(Array.from({ length: 7 }, () => login(wrong, from)));
    const slowed = answers.filter((answer) => answer.status === 503);
    expect(slowed).toHaveLength(2);
    for (const answer of slowed) {
      expectError(answer, 503, 'throttled');
      expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
    expect((await login({ ...wrong, password }, '127.0.0.1')).status).toBe(200);
    expect((await login({ ...wrong, userID: 'dispatch', password }, from)).status).toBe(200);
  });

  it('ends with its user: a suspended user or account cannot go on', async () => {
    await service.user('acme', 'leaver', 'viewer');
    const own = await service.login('acme', 'leaver');
    const read = () => service.call({ path: '/device/getalldevices/authorization', token: own });
    expect((await read()).status).toBe(200);
    await service.sql("UPDATE users SET is_active = 0 WHERE user_id = 'leaver'");
    expectError(await read(), 401, 'unauthorized');
    expectError(await login({ accountID: 'acme', userID: 'leaver', password }), 401, 'login_failed');
  });

  it('is ended only by its own names', async () => {
    const own = await service.login('acme', 'guest');
    for (const names of ['acme/dispatch', 'rival/guest']) {
      expectError(await service.call({ path: `/auth/logout/${names}`, token: own }), 404, 'not_found');
    }
    expect((await service.call({ path: '/auth/logout/acme/guest', token: own })).status).toBe(200);
    expectError(
      await service.call({ path: '/device/getalldevices/authorization', token: own }),
      401,
      'unauthorized',
    );
  });

  it('leaves neither token nor password in log or database', async () => {
    const own = await service.login('acme', 'dispatch');
    await service.call({ path: `/device/getalldevices/authorization?token=${own}`, token: own });
    const secret = own.split('%7C')[2] ?? '';
    expect(secret).toHaveLength(64);
    expect(service.logLines.join('\n')).not.toContain(secret);
    expect(service.logLines.join('\n')).not.toContain(password);
    const stored = await service.sql(
      'SELECT token_hash AS t FROM sessions UNION SELECT password_hash FROM users',
    );
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(JSON.stringify(stored)).not.toContain(password);
  });
});

// Last: it leaves the service with its sessions ended.
describe('at the end', () => {
  it('a session is over after 12 hours without use', async () => {
    const read = () => service.call({ path: '/device/getalldevices/authorization', token });
    for (let hours = 0; hours < 24; hours += 8) {
      service.advance(8 * 3_600_000);
      expect((await read()).status).toBe(200);
    }
    service.advance(12 * 3_600_000);
    expectError(await read(), 401, 'unauthorized');
  });
});
