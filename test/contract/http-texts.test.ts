// What a user can store is what was sent: a URL that is one line, text that is well-formed, an object whose names stand once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let token = '';

beforeAll(async () => {
  service = await startHttpService();
  await service.account('acme');
  await service.device('acme', 'truck-1');
  token = await service.login('acme', 'admin');
});

afterAll(() => service.close());

const post = (path: string, body: unknown) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
const errorOf = (answer: Awaited<ReturnType<typeof post>>) =>
  answer.json()['error'] as { code: string; detail: string; errors?: readonly { pointer: string }[] };

describe('a URL', () => {
  const bad = [
    'https://hooks.example.com/a\r\nX-Evil: 1',
    'https://hooks.example.com/a\nb',
    'https://hooks.example.com/\tb',
    ' https://hooks.example.com/',
    'https://hooks.example.com/ b',
    'https://hooks.example.com/\u0001',
    'https://hooks.example.com/\u007f',
    'https://hooks.example.com/\u2028',
    'https://user@hooks.example.com/',
    'ftp://hooks.example.com/',
    'javascript:alert(1)',
  ];

  it.each(bad)('of a webhook is refused: %j', async (url) => {
    const answer = await post('/notification/updaterule', {
      ruleID: 'r',
      statusCodes: 'alerts',
      webhook: { url },
    });
    expect([answer.status, errorOf(answer).code]).toEqual([422, 'invalid_content']);
    expect(errorOf(answer).errors).toMatchObject([{ pointer: '/webhook/url' }]);
    expect(await service.rows('SELECT rule_id FROM notification_rules')).toEqual([]);
  });

  it.each(bad.map((url) => url.replace('hooks.example.com', 'fcm.googleapis.com')))(
    'of a push subscription is refused: %j',
    async (endpoint) => {
      const keys = { p256dh: 'B'.repeat(87), auth: 'A'.repeat(22) };
      const answer = await post('/notification/subscribe', { endpoint, keys });
      expect(answer.status).toBe(422);
      expect(await service.rows('SELECT push_id FROM push_registrations')).toEqual([]);
    },
  );

  it.each(bad.map((url) => url.replace('hooks.example.com', 'updates.example.com')))(
    'of a release is refused: %j',
    async (url) => {
      const body = { deviceID: 'truck-1', version: '1.0.0', url, sha256: '0'.repeat(64) };
      const answer = await post('/command/firmware', body);
      expect([answer.status, errorOf(answer).code]).toEqual([422, 'invalid_content']);
      expect(await service.rows('SELECT command_id FROM commands')).toEqual([]);
    },
  );
});

describe('text that is not well-formed', () => {
  it.each([
    ['"\\ud800"', '/deviceDescription'],
    ['"a\\udc00b"', '/deviceDescription'],
    ['"\\udc00\\ud800"', '/deviceDescription'],
  ])('is refused with a pointer to it: %s', async (text, pointer) => {
    const answer = await post('/device/createdevice', `{"deviceID":"truck-9","deviceDescription":${text}}`);
    expect([answer.status, errorOf(answer).code]).toEqual([422, 'invalid_content']);
    expect(errorOf(answer).errors).toMatchObject([{ pointer }]);
    expect(await service.rows("SELECT device_id FROM devices WHERE device_id = 'truck-9'")).toEqual([]);
  });

  it('is refused under `data`, in lists and as a name too', async () => {
    const nested = await post(
      '/device/createdevice',
      '{"data":{"deviceID":"truck-9","deviceDriver":"\\ud83d"}}',
    );
    expect(errorOf(nested).errors).toMatchObject([{ pointer: '/data/deviceDriver' }]);
    const listed = await post('/user/updateuser', '{"userID":"admin","groups":["a","\\udfff"]}');
    expect(errorOf(listed).errors).toMatchObject([{ pointer: '/groups/1' }]);
    const named = await post('/settings/savedevice', '{"deviceID":"truck-1","settings":{"\\ud800":1}}');
    expect([named.status, errorOf(named).code]).toEqual([422, 'invalid_content']);
    expect(named.text).not.toContain('\ufffd');
  });

  it('is distinguished from a pair that makes one character', async () => {
    const answer = await post(
      '/device/createdevice',
      '{"deviceID":"truck-8","deviceDescription":"\\ud83d\\ude9a"}',
    );
    expect(answer.json()).toMatchObject({ deviceDescription: '🚚' });
  });
});

describe('a name that stands twice', () => {
  it.each([
    ['{"deviceID":"truck-1","feature":"enginecutoff","state":"0","state":"1"}', '/state'],
    ['{"data":{"deviceID":"truck-1","feature":"enginecutoff","state":"0","st\\u0061te":"1"}}', '/data/state'],
    ['{"deviceID":"truck-1","deviceID":"truck-1","feature":"enginecutoff","state":"1"}', '/deviceID'],
  ])('is refused before anything is done: %s', async (body, pointer) => {
    const answer = await post('/command/feature', body);
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'malformed_json']);
    expect(errorOf(answer).detail).toContain(JSON.stringify(pointer));
    expect(await service.rows('SELECT command_id FROM commands')).toEqual([]);
  });

  it('is rejected deep inside a body, and without a token', async () => {
    const rule =
      '{"ruleID":"r","statusCodes":"alerts","webhook":{"url":"https://a.example/","url":"https://b.example/"}}';
    expect(errorOf(await post('/notification/updaterule', rule)).detail).toContain('"/webhook/url"');
    const login = await service.call({
      method: 'POST',
      path: '/api/v1/auth/login',
      body: '{"accountID":"acme","userID":"admin","userID":"x","password":"y"}',
    });
    expect([login.status, errorOf(login).code]).toEqual([400, 'malformed_json']);
  });
});
