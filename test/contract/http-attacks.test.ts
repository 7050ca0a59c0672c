// Attacks with the source at hand: bodies that are costly to refuse, networks full of addresses, clients that ask and never
// read, ids and cursors of others. What is costly is counted in work that is refused, never measured in time.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../broker/api/operations.ts';
import { createLoginThrottle } from '../../broker/core/login-throttle.ts';
import { networkOf } from '../../broker/core/source-network.ts';
import { type HttpService, seedFleet } from '../support/http-fixtures.ts';
import { startHttpService } from '../support/http-service.ts';

type Answer = Awaited<ReturnType<HttpService['call']>>;
const errorOf = (answer: Answer) =>
  answer.json()['error'] as { code: string; detail: string; errors?: readonly object[] };
const v1 = (path: string) => `/api/v1${path}/authorization`;

describe('a body that is costly to look through', () => {
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
  ])('because %s has 200,000 times the same in %s is told one fault', async (path, member, others) => {
    const answer = await post(path, { ...others, [member]: Array.from({ length: 200_000 }, () => 'a') });
    expect(answer.status).toBe(422);
    expect(errorOf(answer).errors).toEqual([
      { pointer: `/${member}`, message: expect.stringMatching(/^must not have more than \d+ items$/) },
    ]);
  });

  it('because of a list one level down is told one fault', async () => {
    const addresses = Array.from({ length: 200_000 }, () => 'a');
    const answer = await post('/notification/updaterule', { ruleID: 'all', email: { addresses } });
    expect(errorOf(answer).errors).toEqual([
      { pointer: '/email/addresses', message: 'must not have more than 20 items' },
    ]);
  });

  it('because of members without end is told one fault, also where everybody may ask', async () => {
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
    expect(allowed).toHaveLength(31);
  });

  it('guesses no more tokens either', async () => {
    const rates = { token: { burst: 99, perS: 99 }, failures: { burst: 3, perS: 1 } };
    const service = await startHttpService({ rates });
    const statuses: number[] = [];
    for (let at = 1; at <= 6; at++) {
      const token = `acme%7Cguest%7C${String(at).padStart(64, '0')}`;
      const answer = await service.call({ path: v1('/auth/tokens'), token, from: `2001:db8::${at}` });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([401, 401, 401, 503, 503, 503]);
    await service.close();
  });
});
