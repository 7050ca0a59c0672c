// Asking a unit for its health, its log and its position, as an integrator does it: the answer is the unit's, every question
// and every read of a log is audited, and no user reaches a vehicle of another account.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
let token = '';
let guest = '';
let rival = '';

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  for (const accountID of ['acme', 'rival']) await service.user(accountID, 'dispatch', 'operator');
  await service.user('acme', 'guest', 'viewer');
  [token, guest, rival] = await Promise.all([
    service.login('acme', 'dispatch'),
    service.login('acme', 'guest'),
    service.login('rival', 'dispatch'),
  ]);
});

afterAll(() => service.close());

beforeEach(() => service.sql('DELETE FROM device_requests'));

const ask = async (body: object, by = token) => {
  const answer = await service.call({
    method: 'POST',
    path: '/api/v1/diagnostic/request/authorization',
    token: by,
    body,
  });
  const json = answer.json();
  return { json, error: json['error'], status: answer.status, requestID: String(json['requestID']) };
};
const get = async (path: string, by = token) => {
  const answer = await service.call({ path: `/api/v1${path}/authorization`, token: by });
  return { status: answer.status, ...answer.json() } as Record<string, unknown> & { status: number };
};
const audited = async (action: string) =>
  (
    await service.rows(`SELECT actor, object, detail FROM audit WHERE action = '${action}' ORDER BY audit_no`)
  ).map(({ actor, object, detail }) => ({ actor, object, ...JSON.parse(String(detail)) }));
let seq = 0;
const report = (statusCode: number, more: object, deviceID = 'truck-1') => {
  seq += 1;
  return service.events('acme', deviceID, {
    boot: 'b1',
    events: [{ seq, timestamp: Date.now(), statusCode, ...more }],
  });
};

describe('a request', () => {
  it('waits for the unit, shows its answer, and is audited once', async () => {
    const asked = await ask({ deviceID: 'truck-1', kind: 'diagnostic', ttl: 600 });
    expect(asked.status).toBe(200);
    expect(asked.json).toMatchObject({
      requestState: 'requested',
      hasEnded: false,
      issuer: 'dispatch',
      parts: 0,
    });
    expect(Number(asked.json['expires']) - Number(asked.json['issued'])).toBe(600);
    const { requestID } = asked;
    expect((await ask({ deviceID: 'truck-1', kind: 'diagnostic' }))['requestID']).toBe(requestID);
    expect(await audited('device.request')).toEqual([
      { actor: 'dispatch', object: 'truck-1', requestID, kind: 'diagnostic', ttlS: 600 },
    ]);
    expect(await get(`/diagnostic/request/${requestID}`)).toMatchObject({ status: 200, answer: {} });
    await report(64_816, {
      attributes: { kind: 'diagnostic', requestID, queueDepth: 2, voltage: 13.1, gps: 'fix', disk: 900 },
    });
    expect(await get(`/diagnostic/request/${requestID}`)).toMatchObject({
      requestState: 'answered',
      hasEnded: true,
      answer: { queueDepth: 2, voltage: 13.1 },
    });
    expect(await get('/diagnostic/diagnostic/truck-1')).toMatchObject({
      queueDepth: 2,
      voltage: 13.1,
      gps: 'fix',
      disk: 900,
    });
    expect((await get('/diagnostic/requests/truck-1'))['requests']).toMatchObject([
      { requestID, requestState: 'answered' },
    ]);
  });

  it('for another thing waits its turn', async () => {
    await ask({ deviceID: 'truck-1', kind: 'log' });
    expect(await ask({ deviceID: 'truck-1', kind: 'diagnostic' })).toMatchObject({
      status: 422,
      error: { code: 'conflict' },
    });
    expect((await ask({ deviceID: 'truck-2', kind: 'diagnostic' })).status).toBe(200);
    expect((await ask({ deviceID: 'truck-1', kind: 'position' })).status).toBe(200);
  });

  it('is for operators, of the own account, about the own devices', async () => {
    const { requestID } = await ask({ deviceID: 'truck-1', kind: 'log' });
    expect(await ask({ deviceID: 'truck-1', kind: 'log' }, guest)).toMatchObject({
      status: 422,
      error: { code: 'forbidden' },
    });
    expect((await ask({ deviceID: 'truck-1', kind: 'log' }, rival)).status).toBe(404);
    for (const path of [
      `/diagnostic/request/${requestID}`,
      `/diagnostic/log/${requestID}`,
      '/diagnostic/requests/truck-1',
    ]) {
      expect((await get(path, rival)).status, path).toBe(404);
      expect((await get(path, guest)).status, path).toBe(422);
    }
    for (const wrong of [{ kind: 'reboot' }, { ttl: 59 }, { ttl: 604_801 }])
      expect((await ask({ deviceID: 'truck-1', kind: 'log', ...wrong })).status).toBe(422);
  });
});

describe('a log', () => {
  it('is readable as far as it has arrived, by permitted users, and every read is audited', async () => {
    const before = (await audited('device.readlog')).length;
    const { requestID } = await ask({ deviceID: 'truck-1', kind: 'log' });
    const part = (at: number) => ({
      attributes: { kind: 'log', requestID, part: at, parts: 2, text: `line ${at}\n` },
    });
    await report(64_816, part(2));
    expect(await get(`/diagnostic/log/${requestID}`)).toMatchObject({
      isWhole: false,
      parts: 2,
      received: 1,
      log: 'line 2\n',
    });
    const voltage = (await get('/diagnostic/diagnostic/truck-1'))['voltage'];
    await report(64_816, part(1));
    expect(await get(`/diagnostic/log/${requestID}`)).toMatchObject({
      isWhole: true,
      received: 2,
      log: 'line 1\nline 2\n',
    });
    // A log is no health report.
    expect((await get('/diagnostic/diagnostic/truck-1'))['voltage']).toBe(voltage);
    expect((await audited('device.readlog')).slice(before)).toEqual([
      { actor: 'dispatch', object: 'truck-1', requestID },
      { actor: 'dispatch', object: 'truck-1', requestID },
    ]);
    // What stands in an event of a log is shown by no other operation.
    const shown = await service.call({
      path: '/api/v1/eventdata/devicedata/truck-1/authorization',
      token: guest,
    });
    expect([shown.status, shown.text.includes('line 1')]).toEqual([200, false]);
  });

  it('of a request that asked for none is not there', async () => {
    const { requestID } = await ask({ deviceID: 'truck-2', kind: 'diagnostic' });
    expect(await get(`/diagnostic/log/${requestID}`)).toMatchObject({
      status: 422,
      error: { code: 'conflict' },
    });
  });
});

describe('locate now', () => {
  const send = () => get('/command/send/truck-1/61504');

  it('is a request in the form of a command, and moves no relay', async () => {
    const asked = await send();
    expect(asked).toMatchObject({
      status: 200,
      feature: 'position',
      commandState: 'requested',
      pendingState: '1',
      approvalID: '',
    });
    expect((await send())['commandID']).toBe(asked['commandID']);
    expect(await service.rows('SELECT 1 AS one FROM commands')).toEqual([]);
    const requestID = String(asked['commandID']);
    await report(61_504, {
      latitude: 43.65,
      longitude: -79.34,
      speed: 12,
      attributes: { kind: 'position', requestID, gps: 'fix', fixAgeS: 0 },
    });
    expect(await get(`/diagnostic/request/${requestID}`)).toMatchObject({
      kind: 'position',
      requestState: 'answered',
      answer: { gps: 'fix', latitude: 43.65, longitude: -79.34, speed: 12 },
    });
    expect(await get('/device/getdevice/truck-1')).toMatchObject({ deviceLastValidLatitude: 43.65 });
    expect((await send())['commandID']).not.toBe(requestID);
  });

  it('is for operators and the own devices', async () => {
    expect((await get('/command/send/truck-1/61504', guest)).status).toBe(422);
    expect((await get('/command/send/truck-1/61504', rival)).status).toBe(404);
  });
});

describe('a rehearsal', () => {
  const rules = JSON.stringify([['ignition_off', 1, 'off', 'off', null]]);
  const judged = (requestID: string, kind: string, deviceID = 'truck-2') =>
    report(64_816, { attributes: { kind, requestID, code: 'allowed', rules } }, deviceID);

  it('of an unlock is a question of its own beside that of a cut, and takes no other answer', async () => {
    const cut = await ask({ deviceID: 'truck-2', kind: 'interlock' });
    const unlock = await ask({ deviceID: 'truck-2', kind: 'interlock_cargo' });
    expect([cut.status, unlock.status]).toEqual([200, 200]);
    expect(unlock.requestID).not.toBe(cut.requestID);
    expect((await ask({ deviceID: 'truck-2', kind: 'interlock_cargo' })).requestID).toBe(unlock.requestID);
    const voltage = (await get('/diagnostic/diagnostic/truck-2'))['voltage'];
    const verdictOf = async (requestID: string) => (await get(`/diagnostic/request/${requestID}`))['verdict'];
    await judged(unlock.requestID, 'interlock');
    await judged(unlock.requestID, 'interlock_cargo', 'truck-1');
    expect(await verdictOf(unlock.requestID)).toBe(null);
    await judged(unlock.requestID, 'interlock_cargo');
    expect(await verdictOf(unlock.requestID)).toMatchObject({ code: 'allowed' });
    expect(await verdictOf(cut.requestID)).toBe(null);
    // It is no health report.
    expect((await get('/diagnostic/diagnostic/truck-2'))['voltage']).toBe(voltage);
  });
});
