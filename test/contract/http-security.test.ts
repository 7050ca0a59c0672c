// What hostile clients try: forged tokens, floods, slow and broken requests, paths that want out. The answer is always one of
// the interface's codes, and no other client is delayed.
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { defaultRequestRates } from '../../broker/core/scheduling/request-rates.ts';
import { holdClock } from '../support/http/held-clock.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { type HttpServiceLimits, password, startHttpService } from '../support/http/http-service.ts';

const codeOf = (answer: Awaited<ReturnType<HttpService['call']>>) =>
  (answer.json()['error'] as { code: string } | undefined)?.code;
const read = '/api/v1/device/getalldevices/authorization';

async function startWithUsers(limits: HttpServiceLimits = {}): Promise<HttpService> {
  const service = await startHttpService(limits);
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  await service.user('acme', 'guest', 'viewer');
  return service;
}

describe('a forged token', () => {
  let service: HttpService;
  let token = '';
  beforeAll(async () => {
    service = await startWithUsers();
    token = await service.login('acme', 'guest');
  });
  afterAll(() => service.close());

  const random = () => token.split('%7C')[2] ?? '';
  const forgeries: readonly (readonly [string, () => string])[] = [
    ['names another account with a valid random part', () => `rival%7Cguest%7C${random()}`],
    ['names another user with a valid random part', () => `acme%7Cadmin%7C${random()}`],
    ['has the names in other case', () => token.replace('acme', 'ACME').replace('guest', 'Guest')],
    ['has the random part in other case', () => `acme%7Cguest%7C${random().toUpperCase()}`],
    ['is cut short', () => token.slice(0, -1)],
    ['is longer', () => `${token}0`],
    ['has its separators in lower case', () => token.replaceAll('%7C', '%7c')],
    ['has its separators decoded', () => token.replaceAll('%7C', '|')],
    ['is encoded twice', () => token.replaceAll('%7C', '%257C')],
    ['has a fourth part', () => `${token}%7C${random()}`],
    ['is the random part alone', random],
    ['has a quote in a name', () => `acme'%7Cguest%7C${random()}`],
    ['has no names', () => `%7C%7C${random()}`],
    ['is sent twice in one header', () => `${token}, ${token}`],
    ['is the hash that the database holds', () => 'f'.repeat(64)],
    ['is basic authentication', () => `Basic ${Buffer.from(`guest:${password}`).toString('base64')}`],
  ];

  it.each(forgeries)('%s gets the same 401', async (_what, forge) => {
    const answer = await service.call({ path: read, token: forge() });
    expect([answer.status, codeOf(answer)]).toEqual([401, 'unauthorized']);
    expect(answer.text).not.toMatch(/rival|admin/);
  });

  it('that is valid is accepted with and without Bearer, in any letter case', async () => {
    for (const prefix of ['', 'Bearer ', 'bearer ', 'BEARER  ']) {
      expect((await service.call({ path: read, token: `${prefix}${token}` })).status).toBe(200);
    }
  });

  it('is not taken from the query, a cookie, or another header', async () => {
    const elsewhere = {
      cookie: `authorization=${token}`,
      'x-authorization': token,
      'proxy-authorization': token,
    };
    expect((await service.call({ path: `${read}?authorization=${token}`, headers: elsewhere })).status).toBe(
      401,
    );
  });
});

describe('a path', () => {
  let service: HttpService;
  let token = '';
  beforeAll(async () => {
    service = await startWithUsers();
    token = await service.login('acme', 'guest');
  });
  afterAll(() => service.close());

  it.each([
    '..%2f..%2fetc%2fpasswd',
    '%2e%2e%2f%2e%2e%2f',
    '..%5c..%5cwindows',
    '%00',
    'a%00.json',
    "x'%20OR%201=1--",
    '%25',
    '%E2%80%AE',
    '*',
    '%23',
    '__proto__',
    'constructor',
  ])('with the device id %s finds nothing and leaves nothing', async (id) => {
    const answer = await service.call({ path: `/api/v1/device/getdevice/${id}/authorization`, token });
    expect([answer.status, codeOf(answer)]).toEqual([404, 'not_found']);
  });

  it.each([
    '/api/v1/../../etc/passwd',
    '//etc/passwd',
    '/docs/..%2f..%2fpackage.json',
    '/docs/static/..%2f..%2f..%2fpackage.json',
  ])('%s leads nowhere', async (path) => {
    const answer = await service.call({ path });
    expect([400, 404]).toContain(answer.status);
    expect(answer.text).not.toContain('"dependencies"');
  });
});

describe('a flood', () => {
  const rates = { token: { burst: 5, perS: 2 }, failures: { burst: 3, perS: 1 } };
  let service: HttpService;
  beforeEach(async () => {
    service = await startWithUsers({ rates });
    holdClock(service);
  });
  afterEach(() => service.close());

  it('of one token is answered with 503 and Retry-After, and other tokens are served', async () => {
    const [mine, theirs] = [await service.login('acme', 'guest'), await service.login('rival', 'admin')];
    const answers = [];
    for (let at = 0; at < 8; at++) answers.push(await service.call({ path: read, token: mine }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 503, 503, 503]);
    const [first, last] = [answers[0], answers.at(-1)];
    expect(first?.headers).toMatchObject({
      'ratelimit-policy': '"token";q=5;w=3',
      ratelimit: '"token";r=4;t=1',
    });
    expect(last?.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"token";r=0;t=3' });
    expect(codeOf(last as NonNullable<typeof last>)).toBe('throttled');
    expect((await service.call({ path: read, token: theirs })).status).toBe(200);
    service.advance(1000);
    expect((await service.call({ path: read, token: mine })).status).toBe(200);
  });

  it('of wrong tokens from one address is throttled, without affecting others', async () => {
    const right = await service.login('acme', 'guest');
    expect((await service.call({ path: read, token: right, from: '10.0.0.1' })).status).toBe(200);
    const guess = (at: number) => `acme%7Cguest%7C${String(at).padStart(64, '0')}`;
    const statuses: number[] = [];
    for (let at = 0; at < 6; at++) {
      statuses.push((await service.call({ path: read, token: guess(at), from: '10.0.0.1' })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 503, 503, 503]);
    // Who was right before goes on, also at that address; and any other address is untouched.
    expect((await service.call({ path: read, token: right, from: '10.0.0.1' })).status).toBe(200);
    expect((await service.call({ path: read, token: guess(9), from: '10.0.0.2' })).status).toBe(401);
    // A token that was not used before, as after a login or a restart, goes on too.
    const fresh = await service.login('acme', 'guest');
    expect((await service.call({ path: read, token: fresh, from: '10.0.0.1' })).status).toBe(200);
    service.advance(1000);
    expect((await service.call({ path: read, token: guess(7), from: '10.0.0.1' })).status).toBe(401);
  });

  it('of requests without a token does not count as guessing', async () => {
    for (let at = 0; at < 10; at++) expect((await service.call({ path: read })).status).toBe(401);
  });

  it('never reaches probes and documents', async () => {
    const token = await service.login('acme', 'guest');
    for (let at = 0; at < 6; at++) await service.call({ path: read, token });
    for (const path of ['/livez', '/readyz', '/openapi.json', '/docs/']) {
      expect((await service.call({ path, token })).status).toBe(200);
    }
  });

  it('is far above what a person or a console asks for', () => {
    expect(defaultRequestRates.token.burst).toBeGreaterThanOrEqual(60);
    expect(defaultRequestRates.token.perS).toBeGreaterThanOrEqual(30);
  });
});

describe('guessing', () => {
  let service: HttpService;
  beforeAll(async () => {
    service = await startWithUsers();
    holdClock(service);
  });
  afterAll(() => service.close());
  const login = (userID: string, from: string, secret = 'wrong password 12') =>
    service.call({
      method: 'POST',
      path: '/auth/login',
      body: { accountID: 'acme', userID, password: secret },
      from,
    });

  it('of one password for many users from one address is slowed', async () => {
    service.pin();
    const statuses: number[] = [];
    for (let at = 0; at < 40; at++) statuses.push((await login(`user-${at}`, '10.9.0.1')).status);
    expect(statuses.slice(0, 30).every((status) => status === 401)).toBe(true);
    expect(statuses).toContain(503);
  });

  it('at a user never locks out that user at a known address', async () => {
    expect((await login('guest', '10.9.1.1', password)).status).toBe(200);
    for (let at = 0; at < 30; at++) await login('guest', `10.9.2.${at}`);
    expect((await login('guest', '10.9.1.1', password)).status).toBe(200);
  });
});

describe('on the wire', () => {
  const host = '127.0.0.1';
  let service: HttpService;
  let port = 0;
  beforeAll(async () => {
    service = await startWithUsers();
    port = await service.http.listen({ host, port: 0 });
  });
  afterAll(() => service.close());

  /** Sends bytes as they are and gives everything that comes back until the connection ends. */
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      let answer = '';
      const socket = connect({ host, port }, () => socket.write(text));
      socket.setEncoding('utf8');
      socket.on('data', (part: string) => {
        answer += part;
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  const post = (lines: readonly string[], body: string) =>
    `POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n${body}`;

  it.each([
    ['two lengths', post(['Content-Length: 2', 'Content-Length: 3'], '{}x')],
    ['a length and chunks', post(['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n')],
    ['an odd transfer coding', post(['Transfer-Encoding: xchunked'], '{}')],
    ['a length that is none', post(['Content-Length: 2x'], '{}')],
    ['a space before the colon', post(['Content-Length : 2'], '{}')],
    ['a folded header', post(['X-A: 1', ' folded: 2', 'Content-Length: 2'], '{}')],
    ['a bare line feed', 'GET /livez HTTP/1.1\nHost: x\nConnection: close\n\n'],
    ['a null in a header', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: \u0000\r\nConnection: close\r\n\r\n'],
    ['a bad chunk', post(['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')],
    ['many headers', `GET /livez HTTP/1.1\r\nHost: x\r\n${'X: yyyyy\r\n'.repeat(5000)}\r\n`],
  ])('a request with %s is refused with 400 and the connection ends', async (_what, text) => {
    expect(await exchange(text)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a second request behind one that was refused is not answered', async () => {
    const smuggled = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    const answer = await exchange(
      post(['Content-Length: 0', 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`),
    );
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(answer).not.toContain('"status":"ok"');
  });

  it('a body that is longer than it may be is refused before it has come', async () => {
    const answer = await exchange(
      post(['Content-Type: application/json', 'Content-Length: 99999999'], '{"a":'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('a compressed body is refused, not unpacked: a small one could stand for a huge one', async () => {
    const answer = await service.call({
      method: 'POST',
      path: '/auth/login',
      body: '\u001f\u008b',
      headers: { 'content-encoding': 'gzip' },
    });
    expect([answer.status, codeOf(answer)]).toEqual([406, 'not_acceptable']);
  });

  it('that sends a byte now and then is rejected and closed, without delaying others', async () => {
    // Long enough for a request that is sent at once, also on a slow machine.
    const short = await startWithUsers({ requestMs: 3000 });
    onTestFinished(() => short.close());
    const at = { host, port: await short.http.listen({ host, port: 0 }) };
    const slow = [
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Slow: ',
      'POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{',
    ];
    const ends = slow.map(
      (text) =>
        new Promise<string>((resolve) => {
          let answer = '';
          const socket = connect(at);
          // Queued in this order, however long the connection takes.
          socket.write(text);
          const drip = setInterval(() => socket.writable && socket.write('x'), 20);
          onTestFinished(() => void socket.destroy());
          socket.setEncoding('utf8');
          socket.on('data', (part: string) => {
            answer += part;
          });
          socket.on('error', () => undefined);
          socket.on('close', () => {
            clearInterval(drip);
            resolve(answer);
          });
        }),
    );
    expect((await fetch(`http://${host}:${at.port}/livez`)).status).toBe(200);
    const [headers, body] = await Promise.all(ends);
    expect(headers).toMatch(/^HTTP\/1\.1 400 .*took too long/s);
    expect(body).toMatch(/^HTTP\/1\.1 400 .*took too long/s);
  });
});
