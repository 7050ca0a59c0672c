// Callers who share an address, a connection table or a processor with a client that misbehaves: none of them is locked out,
// kept waiting or left without a sign of it in the log.
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { createLoginThrottle, throttleSteps } from '../../broker/core/accounts/login-throttle.ts';
import { operations } from '../../broker/operations.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { prepareCall } from '../support/http/http-fixtures.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import { fill, startSeededService } from '../support/http/operation-calls.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';
import { hangMs } from '../support/machine/wait-until.ts';

const host = '127.0.0.1';
type Service = Awaited<ReturnType<typeof startHttpService>>;
const v1 = (path: string) => `/api/v1${path}/authorization`;

const login = (service: Service, userID: string, secret: string, from = '10.0.0.7') =>
  service.call({
    method: 'POST',
    path: '/api/v1/auth/login',
    body: { accountID: 'acme', userID, password: secret },
    from,
  });

describe('behind one address', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startHttpService();
    service.pin();
    // Delays after wrong passwords begin at a second.
    holdClock(service);
    await service.account('acme');
    await service.user('acme', 'ann', 'viewer');
  });
  afterEach(() => service.close());

  it('a user with the right password waits at most 30 s after the last wrong one of a neighbour', async () => {
    expect((await login(service, 'ann', password)).status).toBe(200);
    for (let at = 0; at < 40; at++) {
      await login(service, 'ann', 'wrong password 12');
      service.advance(31_000);
    }
    await login(service, 'ann', 'wrong password 12');
    const waits = Number((await login(service, 'ann', password)).headers['retry-after']);
    expect(waits).toBeLessThanOrEqual(30);
    service.advance(waits * 1000);
    expect((await login(service, 'ann', password)).status).toBe(200);
  });

  it('does not throttle a user who logged in from there before a restart because of guesses from elsewhere', async () => {
    const databasePath = join(temporaryFolder('neighbours'), 'broker.db');
    const before = await startHttpService({ databasePath });
    before.pin();
    await before.account('acme');
    expect((await login(before, 'admin', password)).status).toBe(200);
    await before.close();
    const after = await startHttpService({ databasePath });
    onTestFinished(() => after.close());
    after.pin();
    holdClock(after);
    for (let at = 0; at < 40; at++) await login(after, `user-${at}`, 'wrong password 12');
    expect((await login(after, 'user-41', 'wrong password 12')).status).toBe(503);
    expect((await login(after, 'admin', password)).status).toBe(200);
    expect((await login(after, 'admin', password, '10.0.0.8')).status).toBe(200);
  });

  it('blocks a client for at most a minute, whichever counter is spent', () => {
    for (const { longestDelayMs } of Object.values(throttleSteps))
      expect(longestDelayMs).toBeLessThanOrEqual(60_000);
  });

  it('a wrong current password is an invalid content, and counts for that session alone', async () => {
    const token = await service.login('acme', 'ann');
    const change = (currentPassword: string) =>
      service.call({
        method: 'POST',
        path: v1('/user/changepassword'),
        token,
        body: { currentPassword, newPassword: 'seven lamps over the yard' },
        from: '10.0.0.9',
      });
    const first = await change('wrong password 12');
    expect([first.status, first.json()['error']]).toEqual([
      422,
      expect.objectContaining({
        code: 'invalid_content',
        errors: [{ pointer: '/currentPassword', message: 'is not the password of the user' }],
      }),
    ]);
    const statuses: number[] = [];
    for (let at = 0; at < 40; at++) statuses.push((await change('wrong password 12')).status);
    // A stolen token guesses no faster than a login does.
    expect(statuses.filter((status) => status === 422).length).toBeLessThan(10);
    expect(statuses.at(-1)).toBe(503);
    // Neither the user nor others are held up at that address.
    expect((await login(service, 'ann', password, '10.0.0.9')).status).toBe(200);
    expect((await login(service, 'admin', password, '10.0.0.9')).status).toBe(200);
  });

  it('a user holds a hundred logins, and the oldest ends', async () => {
    const token = await service.login('acme', 'ann');
    const check = async (one: string) =>
      (await service.call({ path: v1('/device/getalldevices'), token: one })).status;
    expect(await check(token)).toBe(200);
    const laterS = Math.floor(service.api.clock.utcMs() / 1000) + 2;
    const others = Array.from(
      { length: 99 },
      (_unused, at) => `('other-${at}', 'x${at}', 'acme', 'ann', ${laterS}, ${laterS})`,
    );
    await service.sql(
      `INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s) VALUES ${others.join()}`,
    );
    expect(await check(token)).toBe(200);
    service.advance(4000);
    const newest = await service.login('acme', 'ann');
    expect(await check(token)).toBe(401);
    expect(await check(newest)).toBe(200);
    const [row] = await service.rows("SELECT COUNT(*) AS found FROM sessions WHERE user_id = 'ann'");
    expect(Number(row?.['found'])).toBe(100);
  });
});

describe('a login within the same second as a hundred others', () => {
  it('is never the one that ends', async () => {
    const service = await startHttpService();
    onTestFinished(() => service.close());
    await service.account('acme');
    const nowS = Math.floor(Date.now() / 1000) + 5;
    // Hashes on both sides of any that will be made.
    const others = Array.from(
      { length: 100 },
      (_unused, at) =>
        `('${at % 2 === 0 ? 'f' : '0'}${String(at).padStart(63, at % 2 === 0 ? 'f' : '0')}', 'x${at}', 'acme', 'admin', ${nowS}, ${nowS})`,
    );
    await service.sql(
      `INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s) VALUES ${others.join()}`,
    );
    for (let at = 0; at < 5; at++) {
      const token = await service.login('acme', 'admin');
      expect((await service.call({ path: v1('/device/getalldevices'), token })).status).toBe(200);
    }
  });
});

describe('a source with many connections', () => {
  const connections = { all: 30, ofSource: 20, reserved: 6, reservedOfSource: 3 };
  let service: Service;
  let port = 0;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    // What is idle keeps its place for as long as the test looks.
    service = await startHttpService({ connections, requestMs: 2 * hangMs });
    port = await service.http.listen({ host, port: 0 });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await service.close();
  });

  const open = (from: string): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect({ host, port, localAddress: from }, () => resolve(socket));
      socket.on('error', () => resolve(socket));
      sockets.push(socket);
    });
  const ask = (path: string, from: string): Promise<string> =>
    new Promise((resolve) => {
      let answer = '';
      const socket = connect({ host, port, localAddress: from }, () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
      );
      socket.setEncoding('utf8').on('data', (part: string) => {
        answer += part;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(answer));
    });
  const flood = (from: string, count: number) => Promise.all(Array.from({ length: count }, () => open(from)));

  it('takes no connections of other sources', async () => {
    await flood('127.0.0.2', 100);
    expect(await ask('/openapi.json', '127.0.0.3')).toMatch(/^HTTP\/1\.1 200 /);
    await expect.poll(() => service.logLines.join('\n')).toContain('"event":"http_connections_refused"');
    const warnings = service.logLines.filter((line) => line.includes('http_connections_refused'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('127.0.0.2');
  });

  it('leaves a slot for the health checks, from its own address too', async () => {
    await flood('127.0.0.2', 18);
    await flood('127.0.0.3', 12);
    expect(await ask('/livez', '127.0.0.2')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('/livez', '127.0.0.4')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('/readyz', '127.0.0.4')).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await ask('/openapi.json', '127.0.0.4');
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused.toLowerCase()).toContain('connection: close');
    expect(service.logLines.join('\n')).not.toContain('http_failure');
  });

  it('gets them back when they are closed', async () => {
    await flood('127.0.0.2', 25);
    for (const socket of sockets.splice(0)) socket.destroy();
    await expect.poll(() => ask('/openapi.json', '127.0.0.2')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('many wrong logins', () => {
  it('do not keep a read waiting: it is answered before most of them', async () => {
    const service = await startHttpService();
    onTestFinished(() => service.close());
    service.pin();
    await service.account('acme');
    await service.device('acme', 'truck-1');
    const token = await service.login('acme', 'admin');
    const state = { answered: 0 };
    const guesses = Array.from({ length: 60 }, (_unused, at) =>
      login(service, `user-${at}`, 'wrong password 12', `10.1.0.${at}`).then(
        () => void (state.answered += 1),
      ),
    );
    // Compressed on the threads that passwords are hashed on.
    for (let at = 0; at < 10; at++) {
      const answer = await service.call({
        path: v1('/device/getdevice/truck-1'),
        token,
        headers: { 'accept-encoding': 'gzip' },
      });
      expect(answer.status).toBe(200);
    }
    expect(state.answered).toBeLessThan(30);
    await Promise.all(guesses);
  });
});

describe('a body that nothing needs', () => {
  let service: Service;
  let port = 0;
  beforeAll(async () => {
    service = await startHttpService();
    port = await service.http.listen({ host, port: 0 });
  });
  afterAll(() => service.close());

  /** Sends a head and then bytes until the connection ends; gives the answer and how many could be sent. */
  const pour = (head: string, chunk: string): Promise<{ answer: string; sent: number }> =>
    new Promise((resolve) => {
      let answer = '';
      let sent = 0;
      const socket = connect({ host, port }, () => {
        socket.write(head);
        const more = (): void => {
          if (socket.destroyed || sent > 100_000_000) return void socket.destroy();
          sent += chunk.length;
          socket.write(chunk, () => setImmediate(more));
        };
        more();
      });
      socket.setEncoding('utf8').on('data', (part: string) => {
        answer += part;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve({ answer, sent }));
    });
  const block = 'x'.repeat(65_536);

  it.each([
    ['a path that is not there', '/nowhere'],
    ['no token', v1('/device/createdevice')],
    ['a verb that the path does not know', '/livez'],
  ])('is not read on because of %s', async (_what, path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    const lengths = [
      [`${head}Content-Length: 100000000\r\n\r\n`, block],
      [`${head}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${block}\r\n`],
    ] as const;
    for (const [text, chunk] of lengths) {
      const { answer, sent } = await pour(text, chunk);
      expect(answer).toMatch(/^HTTP\/1\.1 40[145] /);
      expect(answer.toLowerCase()).toContain('connection: close');
      // What lies in the buffers of the system.
      expect(sent).toBeLessThan(20_000_000);
    }
  });

  it.each(['/livez', '/openapi.json'])('is not read on either when GET %s is answered', async (path) => {
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n`;
    const { answer, sent } = await pour(head, block);
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^]*[}\]]$/);
    expect(sent).toBeLessThan(20_000_000);
  });

  it('keeps its connection when the body is a short one', async () => {
    const answers = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect({ host, port }, () => {
        socket.write('POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
        setTimeout(
          () => socket.write('12345GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
          50,
        );
      });
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      socket.on('close', () => resolve(text));
    });
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });

  it('with a content coding is rejected with that reason', async () => {
    const answer = await fetch(`http://${host}:${port}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify({ accountID: 'acme', userID: 'ann', password })),
    });
    expect(answer.status).toBe(406);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'not_acceptable',
        message: expect.stringContaining('gzip'),
        hint: expect.stringContaining('Content-Encoding'),
      },
    });
  });
});

describe('a proxy that is not trusted', () => {
  it('is logged once, with the missing setting', async () => {
    const service = await startHttpService();
    onTestFinished(() => service.close());
    service.pin();
    for (const from of ['10.0.0.1', '10.0.0.1', '10.0.0.2']) {
      await service.call({ path: '/livez', from, headers: { 'x-forwarded-for': '192.0.2.7' } });
    }
    const warnings = service.logLines.filter((line) => line.includes('http_proxy_not_trusted'));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('10.0.0.1');
    expect(warnings[0]).toContain('trustedProxies');
  });

  it('is silent where it is trusted, or where there is none', async () => {
    const service = await startHttpService({ trustedProxies: ['10.0.0.0/8'] });
    onTestFinished(() => service.close());
    service.pin();
    await service.call({ path: '/livez', from: '10.0.0.1', headers: { 'x-forwarded-for': '192.0.2.7' } });
    await service.call({ path: '/livez', from: '192.0.2.9' });
    expect(service.logLines.join('\n')).not.toContain('http_proxy_not_trusted');
  });
});

describe('a trusted proxy that adds the port of the client', () => {
  it.each([
    ['IPv4', (at: number) => `192.0.2.7:${40_000 + at}`],
    ['IPv6', (at: number) => `[2001:db8::7]:${40_000 + at}`],
    [
      'IPv4 behind a second proxy with a port',
      (at: number) => `192.0.2.7:${40_000 + at}, 10.9.0.1:${at + 1}`,
    ],
  ])('does not make each connection of %s another source', async (_name, forwarded) => {
    const service = await startHttpService({ trustedProxies: ['10.0.0.0/8'] });
    onTestFinished(() => service.close());
    service.pin();
    holdClock(service);
    await service.account('acme');
    const statuses: number[] = [];
    for (let at = 0; at < 12; at++) {
      const answer = await service.call({
        method: 'POST',
        path: '/api/v1/auth/login',
        body: { accountID: 'acme', userID: 'admin', password: 'wrong password 12' },
        from: '10.0.0.1',
        headers: { 'x-forwarded-for': forwarded(at) },
      });
      statuses.push(answer.status);
    }
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(5);
  });
});

describe('an unknown query parameter', () => {
  it('is rejected with the same error by every operation but those of phones, which keep it', async () => {
    const { service, tokenOf } = await startSeededService();
    onTestFinished(() => service.close());
    service.pin();
    const tolerant: string[] = [];
    for (const operation of operations) {
      const prepared = await prepareCall(service, operation);
      const token = prepared.token ?? tokenOf(operation);
      const answer = await service.call({
        method: operation.method,
        path: `${fill(operation, servedPaths(operation)[0] ?? '', prepared.params)}?nonesuch=1`,
        ...(token === undefined ? {} : { token }),
        body: prepared.body ?? (operation.body === null ? undefined : operation.examples.body),
      });
      const error = answer.json()['error'] as { errors?: unknown } | undefined;
      const isRefused = answer.status === 422 && JSON.stringify(error?.errors).includes('"/nonesuch"');
      if (!isRefused) tolerant.push(`${operation.id} ${answer.status}`);
    }
    expect(tolerant).toEqual(['phonePosition 200', 'phoneLocation 200']);
  });
});

describe('the throttle of logins', () => {
  it('counts failures of a session apart from those of logins', () => {
    const throttle = createLoginThrottle();
    const attempt = { accountID: 'acme', userID: 'ann', address: '192.0.2.7' };
    for (let at = 0; at < 50; at++) throttle.begin({ ...attempt, session: 'a' }, 0);
    expect(throttle.begin({ ...attempt, session: 'a' }, 0).isAllowed).toBe(false);
    expect(throttle.begin({ ...attempt, session: 'b' }, 0).isAllowed).toBe(true);
    expect(throttle.begin(attempt, 0).isAllowed).toBe(true);
  });
});
