// Attacks with knowledge of the source code: bodies that are costly to refuse, networks full of addresses, clients that ask and never
// read, ids and cursors of others. What is costly is counted in work that is refused, never measured in time.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createLoginThrottle } from '../../broker/core/accounts/login-throttle.ts';
import { networkOf } from '../../broker/core/accounts/source-network.ts';
import { operations } from '../../broker/operations.ts';
import { createPageLimit, exportLimits, pageLimits } from '../../broker/scheduling/per-account-limits.ts';
import { storeMany } from '../support/database/stored-events.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { type HttpService, seedFleet } from '../support/http/http-fixtures.ts';
import { type HttpServiceLimits, startHttpService } from '../support/http/http-service.ts';
import { hangMs, waitUntil } from '../support/machine/wait-until.ts';

type Answer = Awaited<ReturnType<HttpService['call']>>;
const errorOf = (answer: Answer) =>
  answer.json()['error'] as { code: string; detail: string; errors?: readonly object[] };
const v1 = (path: string) => `/api/v1${path}/authorization`;

/** A service that ends with the test, also when that fails. */
async function startForTest(limits: HttpServiceLimits = {}): Promise<HttpService> {
  const service = await startHttpService(limits);
  onTestFinished(() => service.close());
  return service;
}

describe('a body that is costly to check', () => {
  let service: HttpService;
  let admin = '';
  beforeAll(async () => {
    service = await startHttpService();
    await service.account('acme');
    admin = await service.login('acme', 'admin');
  });
  afterAll(() => service.close());
  const post = (path: string, body: unknown) =>
    service.call({ method: 'POST', path: v1(path), token: admin, body });

  it.each([
    ['lists that never end', '['.repeat(1_000_000)],
    ['lists that end', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['objects', `${'{"data":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['lists in a member', `{"deviceID":${'['.repeat(400_000)}${']'.repeat(400_000)}}`],
  ])('because of %s in each other is refused before it is parsed', async (_what, body) => {
    const answer = await post('/device/createdevice', body);
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'malformed_json']);
    expect(errorOf(answer).detail).toContain('nested');
  });

  it('may hold brackets in its texts, as many as they like', async () => {
    const deviceDescription = '[{"\\'.repeat(30);
    const answer = await post('/device/createdevice', { deviceID: 'truck-1', deviceDescription });
    expect(answer.json()).toMatchObject({ deviceDescription });
  });

  it.each([
    ['/group/updategroup', 'devices', { groupID: 'north' }],
    ['/user/updateuser', 'groups', { userID: 'admin' }],
    ['/notification/updaterule', 'devices', { ruleID: 'all', statusCodes: 'alerts' }],
    ['/notification/updaterule', 'statusCodes', { ruleID: 'all' }],
    ['/route/routeupdate', 'deviceIDs', { routeID: 'run' }],
    ['/notificationqueue/setMessages', 'deviceIDs', { message: 'x' }],
  ])('because %s has 200,000 times the same in %s gets one fault', async (path, member, others) => {
    const answer = await post(path, { ...others, [member]: Array.from({ length: 200_000 }, () => 'a') });
    expect(answer.status).toBe(422);
    expect(errorOf(answer).errors).toEqual([
      { pointer: `/${member}`, message: expect.stringMatching(/^must not have more than \d+ items$/) },
    ]);
  });

  it('rejected for a nested list gets one fault', async () => {
    const addresses = Array.from({ length: 200_000 }, () => 'a');
    const answer = await post('/notification/updaterule', { ruleID: 'all', email: { addresses } });
    expect(errorOf(answer).errors).toEqual([
      { pointer: '/email/addresses', message: 'must not have more than 20 items' },
    ]);
  });

  it('rejected for too many members gets one fault, also without a token', async () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_unused, at) => [`m${at}`, 1]));
    for (const path of ['/api/v1/auth/login', v1('/device/createdevice')]) {
      const answer = await service.call({ method: 'POST', path, token: admin, body: { data: body } });
      expect(errorOf(answer).errors).toEqual([
        { pointer: '/data', message: 'must not have more than 2000 members' },
      ]);
    }
  });

  it('cannot have a list without a bound', () => {
    const unbounded: string[] = [];
    const look = (schema: unknown, where: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { type, maxItems } = schema as { type?: unknown; maxItems?: unknown };
      if ([type].flat().includes('array') && typeof maxItems !== 'number') unbounded.push(where);
      for (const [name, inner] of Object.entries(schema)) look(inner, `${where}/${name}`);
    };
    for (const { id, body } of operations) look(body, id);
    expect(unbounded).toEqual([]);
  });
});

describe('a source with many addresses', () => {
  it('is one where they are of one IPv6 network, and many where they are not', () => {
    expect(networkOf('2001:db8:1:2::1')).toBe(networkOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
    expect(networkOf('::ffff:192.0.2.7')).toBe(networkOf('192.0.2.7'));
    expect(networkOf('192.0.2.7')).not.toBe(networkOf('192.0.2.8'));
  });

  it('guesses no more passwords than one with a single address', () => {
    const throttle = createLoginThrottle();
    const guess = (at: number) =>
      throttle.begin({ accountID: 'acme', userID: `user-${at}`, address: `2001:db8::${at.toString(16)}` }, 0);
    const allowed = Array.from({ length: 100 }, (_unused, at) => guess(at).isAllowed).filter(Boolean);
    const single = createLoginThrottle();
    const others = Array.from(
      { length: 100 },
      (_unused, at) =>
        single.begin({ accountID: 'acme', userID: `user-${at}`, address: '192.0.2.7' }, 0).isAllowed,
    ).filter(Boolean);
    expect(allowed).toEqual(others);
    expect(allowed.length).toBeLessThan(50);
  });

  it('guesses no more tokens either', async () => {
    const rates = { token: { burst: 99, perS: 99 }, failures: { burst: 3, perS: 1 } };
    const service = await startForTest({ rates });
    holdClock(service);
    const statuses: number[] = [];
    for (let at = 1; at <= 6; at++) {
      const token = `acme%7Cguest%7C${String(at).padStart(64, '0')}`;
      const answer = await service.call({ path: v1('/auth/tokens'), token, from: `2001:db8::${at}` });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([401, 401, 401, 503, 503, 503]);
  });
});

describe('a caller with many long answers', () => {
  const never = new AbortController().signal;
  const owner = (accountID: string, userID = 'ann', tokenHash = userID) => ({ accountID, userID, tokenHash });

  it('has two pages built at a time, in order, without delaying other users and accounts', async () => {
    const pages = createPageLimit();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const take = (accountID: string, name: string, userID = 'ann') =>
      pages.run(owner(accountID, userID), never, () => {
        begun.push(name);
        return new Promise<void>((resolve) => void ends.push(resolve));
      });
    const mine = ['a', 'b', 'c', 'd'].map((name) => take('acme', name));
    const theirs = take('rival', 'other');
    const colleague = take('acme', 'colleague', 'bob');
    await waitUntil('the pages of the others', () => begun.includes('colleague'));
    expect(begun).toEqual(['a', 'b', 'other', 'colleague']);
    ends[0]?.();
    await mine[0];
    await waitUntil('the third page', () => begun.includes('c'));
    expect(begun).toEqual(['a', 'b', 'other', 'colleague', 'c']);
    const state = { isOver: false };
    const all = Promise.all(mine).then(() => void (state.isOver = true));
    while (!state.isOver) {
      for (const end of ends) end();
      await pause(1);
    }
    await Promise.all([all, theirs, colleague]);
    expect(begun.at(-1)).toBe('d');
  });

  it('waits behind itself: the others of the account come in turn', async () => {
    const pages = createPageLimit();
    const served: string[] = [];
    const ask = (userID: string, tokenHash: string, count: number) =>
      Array.from({ length: count }, () =>
        pages.run(owner('acme', userID, tokenHash), never, async () => void served.push(tokenHash)),
      );
    const all = [...ask('greedy', 'g1', 50), ...ask('greedy', 'g2', 2), ...ask('ann', 'a1', 3)];
    await Promise.all(all);
    expect(served.lastIndexOf('a1')).toBeLessThan(12);
    expect(served.lastIndexOf('g2')).toBeLessThan(12);
    expect(served).toHaveLength(55);
  });

  it('makes one view of a fleet at a time for all, in turns of the accounts', async () => {
    const pages = createPageLimit();
    const served: string[] = [];
    let running = 0;
    const ask = (accountID: string) =>
      pages.runBusy(owner(accountID), never, async () => {
        running += 1;
        expect(running).toBe(1);
        await pause(1);
        running -= 1;
        served.push(accountID);
      });
    await Promise.all([...Array.from({ length: 20 }, () => ask('acme')), ask('rival')]);
    expect(served.indexOf('rival')).toBeLessThan(3);
  });

  it('has a share of those open for each token and user, and gets each slot back once', () => {
    const pages = createPageLimit();
    const { token, user, account } = pageLimits.answers;
    const ends = Array.from({ length: token }, () => new AbortController());
    for (const { signal } of ends) pages.begin(owner('acme'), signal);
    expect(() => pages.begin(owner('acme'), never)).toThrow(
      `${token} long answers of this token are under way`,
    );
    for (let at = token; at < user; at++) pages.begin(owner('acme', 'ann', 'other'), never);
    expect(() => pages.begin(owner('acme', 'ann', 'third'), never)).toThrow(
      `${user} long answers of this user`,
    );
    for (let at = user; at < account; at++) pages.begin(owner('acme', `user-${at}`), never);
    expect(() => pages.begin(owner('acme', 'last'), never)).toThrow(
      `${account} long answers of this account`,
    );
    pages.begin(owner('rival'), never);
    ends[0]?.abort();
    ends[0]?.abort();
    pages.begin(owner('acme'), never);
    expect(() => pages.begin(owner('acme'), never)).toThrow('under way');
    expect(pages.count()).toBe(account + 1);
  });

  it('gets its slots back when an answer is never read', async () => {
    const service = await startForTest();
    await service.account('acme');
    await service.device('acme', 'chatty');
    await storeMany(service.db, {
      device: 'chatty',
      count: 5000,
      boot: 'b',
      of: (i) => ({ timestampMs: i * 1000 }),
    });
    const token = await service.login('acme', 'admin');
    for (const what of ['eventdata/devicedata', 'export/csv']) {
      const path = `/api/v1/${what}/chatty/0/5000/authorization`;
      for (let at = 0; at < 20; at++) {
        expect((await service.call({ method: 'HEAD', path, token })).status).toBe(200);
      }
      expect((await service.call({ path, token })).status).toBe(200);
    }
  });

  it('may have 128 pages waiting, and those whose client leaves free their slots', async () => {
    const pages = createPageLimit();
    const work = () => new Promise<void>(() => undefined);
    void pages.run(owner('acme'), never, work);
    void pages.run(owner('acme'), never, work);
    const leaving = new AbortController();
    const waiting = Array.from({ length: 128 }, () => pages.run(owner('acme'), leaving.signal, work));
    await expect(pages.run(owner('acme'), never, work)).rejects.toMatchObject({
      code: 'throttled',
      retryAfterS: 1,
    });
    leaving.abort();
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    const state = { isRefused: false };
    void pages.run(owner('acme'), never, work).catch(() => void (state.isRefused = true));
    await pause(10);
    expect(state.isRefused).toBe(false);
  });

  it('frees the slot of a page that failed', async () => {
    const pages = createPageLimit();
    const failing = Array.from({ length: 5 }, () =>
      pages.run(owner('acme'), never, () => Promise.reject(new Error('no such page'))),
    );
    const outcomes = await Promise.allSettled(failing);
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
    expect(await pages.run(owner('acme'), never, async () => 'read')).toBe('read');
  });
});

describe('a client that asks and never reads', () => {
  it('is disconnected, and frees its slot among the exports', async () => {
    const service = await startForTest({ stalledMs: 4000 });
    const sockets: Socket[] = [];
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await service.account('acme');
    await service.device('acme', 'truck-1');
    const nowS = Math.floor(Date.now() / 1000);
    await storeMany(service.db, {
      device: 'truck-1',
      count: 19_000,
      boot: 'b1',
      of: (i) => ({
        timestampMs: (nowS - 20_000 + i) * 1000,
        receivedMs: nowS * 1000,
        latitude: 43.6,
        longitude: -79.3 + i * 0.00001,
      }),
    });
    const token = await service.login('acme', 'admin');
    const port = await service.http.listen({ host: '127.0.0.1', port: 0 });
    const path = v1(`/export/geojson/truck-1/${nowS - 20_000}/${nowS}`);
    let closed = 0;
    const openOne = (): Promise<void> => {
      const socket = connect({ host: '127.0.0.1', port });
      sockets.push(socket.on('error', () => undefined));
      socket.on('close', () => (closed += 1));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\n\r\n`);
      // It takes the first bytes, so that the answer has begun, and then no more.
      return new Promise<void>((resolve) => {
        socket.once('data', () => resolve(void socket.pause()));
        socket.once('close', () => resolve());
      });
    };
    // A machine that stalls for longer than such a client may lets it be cut before a fifth one has asked: then once more.
    await waitUntil('a fifth export that is refused', async () => {
      while (service.api.exportLimit.count() < exportLimits.token) await openOne();
      const { status } = await service.call({ path, token });
      return status === 503;
    });
    await waitUntil('an export that is answered', async () => {
      const { status } = await service.call({ path, token });
      expect([200, 503]).toContain(status);
      return status === 200;
    });
    // None of them has left: a place was free because one was cut. A socket that does not read learns of it when it reads.
    for (const socket of sockets) socket.resume();
    await waitUntil('the end of a connection', () => closed > 0);
  });
});

describe('a client that leaves its side of the connection open', () => {
  it('is closed after the answer that its request took too long', async () => {
    const service = await startForTest({ requestMs: 200 });
    const port = await service.http.listen({ host: '127.0.0.1', port: 0 });
    const cut = (text: string) =>
      new Promise<string>((resolve) => {
        // It gets the end of the other side, and keeps its own side open.
        const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true }).resume();
        socket.write(text);
        const drip = setInterval(() => socket.write('x'), 50);
        onTestFinished(() => {
          clearInterval(drip);
          socket.destroy();
        });
        socket.on('error', (fault) => {
          clearInterval(drip);
          resolve('code' in fault ? String(fault.code) : '');
        });
        setTimeout(() => {
          clearInterval(drip);
          resolve('still open');
          socket.destroy();
        }, hangMs).unref();
      });
    const ends = await Promise.all(['x', 'GET /livez HTTP/1.1\r\nX: '].map(cut));
    for (const end of ends) expect(end).toMatch(/^(ECONNRESET|EPIPE)$/);
  });

  it('is closed without an answer where it asked nothing, as a browser that opens a connection ahead', async () => {
    const service = await startForTest({ requestMs: 200 });
    const port = await service.http.listen({ host: '127.0.0.1', port: 0 });
    let answer = '';
    await new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port })
        .setEncoding('utf8')
        .on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      socket.on('data', (part: string) => {
        answer += part;
      });
      socket.on('close', resolve);
    });
    expect(answer).toBe('');
  });

  it('is rejected when two headers contradict each other', async () => {
    const service = await startForTest();
    await service.account('acme');
    const token = await service.login('acme', 'admin');
    const port = await service.http.listen({ host: '127.0.0.1', port: 0 });
    const ask = (lines: string) =>
      new Promise<string>((resolve) => {
        let answer = '';
        const socket = connect({ host: '127.0.0.1', port }).setEncoding('utf8');
        socket.on('data', (part: string) => {
          answer += part;
        });
        socket.on('close', () => resolve(answer));
        socket.write(`GET ${v1('/auth/tokens')} HTTP/1.1\r\nConnection: close\r\n${lines}\r\n\r\n`);
      });
    expect(await ask(`Host: x\r\nAuthorization: ${token}`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask(`Host: x\r\nHost: y\r\nAuthorization: ${token}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(`Host: x\r\nAuthorization: ${token}\r\nAuthorization: x`)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('objects of other accounts', () => {
  let service: HttpService;
  const tokens: Record<string, string> = {};
  beforeAll(async () => {
    service = await startHttpService();
    await seedFleet(service);
    await service.device('acme', 'truck-81');
    await service.user('acme', 'north', 'operator');
    await service.sql(`UPDATE users SET sees_all = 0 WHERE user_id = 'north'`);
    tokens['admin'] = await service.login('acme', 'admin');
    tokens['rival'] = await service.login('rival', 'admin');
    await service.call({
      method: 'POST',
      path: v1('/group/updategroup'),
      token: tokens['admin'],
      body: { groupID: 'yard-81', devices: ['truck-81'] },
    });
    await service.call({
      method: 'POST',
      path: v1('/user/updateuser'),
      token: tokens['admin'],
      body: { userID: 'north', groups: ['yard-81'] },
    });
    // Sees truck-81 and not truck-17.
    tokens['north'] = await service.login('acme', 'north');
  });
  afterAll(() => service.close());
  const post = (who: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call({ method: 'POST', path: v1(path), token: tokens[who] ?? '', body, headers });
  const get = (who: string, path: string) => service.call({ path, token: tokens[who] ?? '' });

  it.each([
    ['rival', '/notificationqueue/setMessages', { deviceIDs: ['truck-17'], message: 'x' }],
    [
      'rival',
      '/route/routeupdate',
      {
        routeID: 'r',
        routePoint1lat: '1',
        routePoint1lng: '1',
        routePoint2lat: '2',
        routePoint2lng: '2',
        deviceIDs: ['truck-17'],
      },
    ],
    ['rival', '/group/updategroup', { groupID: 'mine', devices: ['truck-17'] }],
    [
      'rival',
      '/notification/updaterule',
      {
        ruleID: 'mine',
        statusCodes: 'alerts',
        devices: ['truck-17'],
        webhook: { url: 'https://example.com/' },
      },
    ],
    [
      'rival',
      '/notification/updaterule',
      {
        ruleID: 'mine',
        statusCodes: 'alerts',
        groups: ['yard-81'],
        webhook: { url: 'https://example.com/' },
      },
    ],
    [
      'rival',
      '/notification/updaterule',
      { ruleID: 'mine', statusCodes: 'alerts', push: { userIDs: ['dispatch'] } },
    ],
    ['rival', '/user/updateuser', { userID: 'admin', groups: ['yard-81'] }],
    ['north', '/notificationqueue/setMessages', { deviceIDs: ['truck-81', 'truck-17'], message: 'x' }],
    [
      'north',
      '/notificationqueue/setMessages',
      { deviceID: 'truck-81', deviceIDs: ['truck-17'], message: 'x' },
    ],
    [
      'north',
      '/route/routeupdate',
      {
        routeID: 'r',
        routePoint1lat: '1',
        routePoint1lng: '1',
        routePoint2lat: '2',
        routePoint2lng: '2',
        deviceIDs: ['truck-81', 'truck-17'],
      },
    ],
    ['north', '/device/createdevice', { deviceID: 'truck-17', deviceDriver: 'Mallory' }],
    ['north', '/device/updatedevice', { deviceid: 'truck-17', devicedriver: 'Mallory' }],
    ['north', '/device/settings', { deviceID: 'truck-17', deviceDisplayName: 'Mallory' }],
    ['north', '/device/updateaddress', { deviceID: 'truck-17', timestamp: 1, address: 'Mallory' }],
    ['north', '/device/import', { csv: 'deviceID,deviceDriver\ntruck-17,Mallory' }],
    [
      'north',
      '/command/feature',
      { deviceID: 'truck-17', feature: 'cargoaccess', state: '1', reason: 'x', confirm: true },
    ],
    ['north', '/device/updatedevice/cargoaccess', { deviceID: 'truck-17', state: '1' }],
    ['north', '/user/updateuser', { userID: 'north', groups: ['all'] }],
    [
      'north',
      '/user/createuser',
      { userID: 'mallory', password: 'seven lamps over the yard', roleID: 'admin' },
    ],
    ['north', '/group/updategroup', { groupID: 'yard-81', devices: ['truck-17', 'truck-81'] }],
    ['north', '/device/issuesecret', { deviceID: 'truck-81' }],
    ['north', '/command/resetbreaker', { reason: 'x' }],
  ])('is not reached by %s with %s, whatever else the body names', async (who, path, body) => {
    const tables = [
      'devices',
      'messages',
      'routes',
      'route_devices',
      'group_devices',
      'users',
      'notification_rules',
      'commands',
    ];
    const all = async () =>
      JSON.stringify(await Promise.all(tables.map((name) => service.rows(`SELECT * FROM ${name}`))));
    const before = await all();
    const answer = await post(who, path, body);
    expect([404, 422], answer.text).toContain(answer.status);
    expect(await all()).toBe(before);
  });

  it('is not found by its number or id, in any account', async () => {
    const idsOf = async (text: string) => (await service.rows(text)).map((row) => String(row['id']));
    const ofRival = `device_no IN (SELECT device_no FROM devices WHERE account_id = 'rival')`;
    const reads: readonly (readonly [string, string])[] = [
      [`SELECT command_id AS id FROM commands WHERE ${ofRival}`, '/command/get/*'],
      [`SELECT notification_no AS id FROM notifications WHERE ${ofRival}`, '/notification/setviewed/*'],
    ];
    const writes: readonly (readonly [string, string, string])[] = [
      [`SELECT command_id AS id FROM commands WHERE ${ofRival}`, '/command/cancel', 'commandID'],
      [`SELECT approval_id AS id FROM approvals WHERE ${ofRival}`, '/command/approve', 'approvalID'],
      [`SELECT approval_id AS id FROM approvals WHERE ${ofRival}`, '/command/refuse', 'approvalID'],
      [`SELECT approval_id AS id FROM approvals WHERE ${ofRival}`, '/command/withdraw', 'approvalID'],
      [`SELECT token_id AS id FROM sessions WHERE account_id = 'rival'`, '/auth/revoketoken', 'tokenID'],
    ];
    for (const [text, path] of reads) {
      const ids = await idsOf(text);
      expect(ids.length, path).toBeGreaterThan(0);
      for (const id of ids) expect((await get('admin', v1(path.replace('*', id)))).status, path).toBe(404);
    }
    for (const [text, path, member] of writes) {
      const ids = await idsOf(text);
      expect(ids.length, path).toBeGreaterThan(0);
      for (const id of ids) expect((await post('admin', path, { [member]: id })).status, path).toBe(404);
    }
  });

  it('is not reached by a cursor, a resume point or a number of another account', async () => {
    const path = v1('/eventdata/fleetdata/0/0');
    const theirs = (await get('rival', `${path}?limit=1`)).json() as { next: string | null };
    const ours = await get('admin', `${path}?cursor=${theirs.next ?? ''}&since=0`);
    expect(ours.text).not.toMatch(/CANARY|rival/);
    const limited = await get('north', `${path}?limit=100&since=0`);
    expect(limited.text).not.toContain('truck-17');
  });

  it('is not in the answer that another got under the same Idempotency-Key', async () => {
    const body = { deviceID: 'truck-key', deviceDriver: 'of acme' };
    const key = { 'idempotency-key': 'the-same' };
    expect((await post('admin', '/device/createdevice', body, key)).status).toBe(200);
    const answer = await post('rival', '/device/createdevice', body, key);
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    const rows = await service.rows(
      `SELECT account_id FROM devices WHERE device_id = 'truck-key' ORDER BY account_id`,
    );
    expect(rows.map((row) => row['account_id'])).toEqual(['acme', 'rival']);
    // A user who may see less by now gets what is visible now.
    expect((await post('north', '/device/createdevice', body, key)).status).toBe(422);
  });
});
