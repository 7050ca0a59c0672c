// Web pages of other origins: a listed one reads every answer and may send every header of the operations; no other page may, and
// nothing that a browser holds is ever used.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

const listed = 'https://console.example.com';
const devices = '/api/v1/device/getalldevices/authorization';
type Service = Awaited<ReturnType<typeof startHttpService>>;

let service: Service;
let token = '';

beforeAll(async () => {
  service = await startHttpService({ origins: [listed, 'http://localhost:5173'] });
  await service.account('acme');
  await service.device('acme', 'truck-1');
  token = await service.login('acme', 'admin');
});

afterAll(() => service.close());

const corsOf = (headers: Readonly<Record<string, unknown>>) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const preflight = (origin: string, path = devices, wanted: Readonly<Record<string, string>> = {}) =>
  service.call({
    method: 'OPTIONS',
    path,
    headers: { origin, 'access-control-request-method': 'GET', ...wanted },
  });

describe('a page of a listed origin', () => {
  it('is answered before it asks, with the methods and headers of the operations and without a token', async () => {
    const answer = await preflight(listed, devices, {
      'access-control-request-headers': 'authorization,last-event-id',
    });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': listed,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers':
        'authorization, content-type, idempotency-key, if-none-match, last-event-id',
      'access-control-max-age': '7200',
      vary: 'origin',
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    expect(answer.headers).not.toHaveProperty('access-control-allow-private-network');
  });

  it.each(['/api/v1/auth/login', '/api/v1/events/stream/authorization', '/api/v1/nothing/here'])(
    'is answered before it asks for %s',
    async (path) => {
      expect((await preflight('http://localhost:5173', path)).status).toBe(204);
    },
  );

  it('reads answers, and the headers that apps use', async () => {
    const { status, headers } = await service.call({ path: devices, token, headers: { origin: listed } });
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(listed);
    const exposed = String(headers['access-control-expose-headers']).split(', ');
    expect(exposed).toEqual(
      expect.arrayContaining(['etag', 'retry-after', 'content-disposition', 'ratelimit', 'x-request-id']),
    );
    expect(String(headers['vary'])).toBe('origin, accept-encoding');
  });

  it.each([
    ['a missing token', { path: devices }, 401],
    ['an unknown path', { path: '/api/v1/nothing/authorization' }, 404],
    ['a wrong method', { method: 'PUT', path: devices }, 405],
    ['a wrong query', { path: `${devices}?nonsense=1`, isLoggedIn: true }, 422],
  ] as const)('reads the error after %s', async (_title, asked, status) => {
    const { isLoggedIn, ...request } = { isLoggedIn: false, ...asked };
    const answer = await service.call({
      ...request,
      ...(isLoggedIn ? { token } : {}),
      headers: { origin: listed },
    });
    expect(answer.status).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe(listed);
  });

  it('reads that an answer is unchanged', async () => {
    const { headers } = await service.call({ path: devices, token, headers: { origin: listed } });
    const again = await service.call({
      path: devices,
      token,
      headers: { origin: listed, 'if-none-match': String(headers['etag']) },
    });
    expect(again.status).toBe(304);
    expect(again.headers).toMatchObject({ 'access-control-allow-origin': listed });
    expect(String(again.headers['vary'])).toContain('origin');
  });
});

describe('a page of another origin', () => {
  it.each([
    'https://console.example.com.evil.example',
    'https://evil.example',
    'http://console.example.com',
    'https://console.example.com:8443',
    'https://console.example.com/',
    'HTTPS://CONSOLE.EXAMPLE.COM',
    'null',
    '*',
    '',
    `${listed}, https://evil.example`,
  ])('as %j gets no permission', async (origin) => {
    const asked = await preflight(origin);
    expect([asked.status, corsOf(asked.headers)]).toEqual([405, []]);
    const answer = await service.call({ path: devices, token, headers: { origin } });
    expect([answer.status, corsOf(answer.headers)]).toEqual([200, []]);
    expect(String(answer.headers['vary'])).toContain('origin');
  });

  it('that is no page gets what it always got', async () => {
    const answer = await service.call({ path: devices, token });
    expect([answer.status, corsOf(answer.headers)]).toEqual([200, []]);
    expect((await service.call({ method: 'OPTIONS', path: devices })).status).toBe(405);
  });
});

describe('without listed origins', () => {
  it('no page gets permission, and answers do not differ by origin', async () => {
    const plain = await startHttpService();
    try {
      await plain.account('acme');
      const headers = { origin: listed, 'access-control-request-method': 'GET' };
      const asked = await plain.call({ method: 'OPTIONS', path: devices, headers });
      expect([asked.status, corsOf(asked.headers), asked.headers['vary']]).toEqual([405, [], undefined]);
    } finally {
      await plain.close();
    }
  });
});
