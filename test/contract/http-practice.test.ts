// The world of a practice fleet over HTTP: no service for vehicles has it, one account reaches it, and all that is done there is recorded.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPracticeWorld } from '../../broker/adapters/practice-channel.ts';
import { loadBrokerConfig } from '../../broker/config/broker-config.ts';
import { practiceOperations } from '../../broker/features/practice/practice.ts';
import type { PracticeWorld } from '../../broker/ports/practice-world.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const vehicleAt = (deviceID: string) => ({
  deviceID,
  speedKmh: 12.5,
  engine: 'running' as const,
  isIgnitionOn: true,
  isCargoDoorOpen: false,
  isPanicPressed: false,
  isPowered: true,
  isTowed: false,
  isJammed: false,
  isConnected: true,
  hasOwner: false,
  actedS: null,
});

const done: string[] = [];
let failure: AppError | null = null;
const record = async (text: string): Promise<void> => {
  if (failure !== null) throw failure;
  done.push(text);
};
const world: PracticeWorld = {
  accountID: 'demo',
  look: async () => ({ startedS: 1763683200, vehicles: ['van-01', 'van-02'].map(vehicleAt) }),
  act: (deviceID, action) => record(`${action} ${deviceID}`),
  askForCut: (deviceID) => record(`cut ${deviceID}`),
};

const fleetPath = '/api/v1/practice/fleet/authorization';
const actPath = '/api/v1/practice/act/authorization';
const cutPath = '/api/v1/practice/askforcut/authorization';
const act = { deviceID: 'van-01', action: 'panic' };

let service: Service;
const tokens = new Map<string, string>();
const tokenOf = (userID: string): string => tokens.get(userID) ?? '';
const post = (path: string, userID: string, body: unknown) =>
  service.call({ method: 'POST', path, token: tokenOf(userID), body });
const look = (userID: string) => service.call({ path: fleetPath, token: tokenOf(userID) });

beforeAll(async () => {
  service = await startHttpService({ practice: world });
  for (const account of ['demo', 'acme']) {
    await service.account(account);
    for (const device of ['van-01', 'van-02']) await service.device(account, device);
  }
  await service.user('demo', 'vera', 'viewer');
  await service.user('demo', 'olga', 'operator');
  await service.user('demo', 'lena', 'operator');
  await service.sql(`UPDATE users SET sees_all = 0 WHERE user_id = 'lena'`);
  for (const userID of ['admin', 'vera', 'olga', 'lena'])
    tokens.set(userID, await service.login('demo', userID));
  tokens.set('other', await service.login('acme', 'admin'));
});
afterAll(() => service.close());
beforeEach(() => {
  done.length = 0;
  failure = null;
});

describe('a service for vehicles', () => {
  it('has no path of a practice fleet, names none, and offers no such operation', async () => {
    const plain = await startHttpService();
    try {
      await plain.account('demo');
      await plain.device('demo', 'van-01');
      const token = await plain.login('demo', 'admin');
      for (const { method, path } of practiceOperations) {
        const answer = await plain.call({ method, path: `/api/v1${path}`, token, body: act });
        expect([path, answer.status]).toEqual([path, 404]);
        expect(answer.headers).not.toHaveProperty('fleetward-practice');
        expect(answer.text).not.toContain('practice fleet');
      }
      expect((await plain.call({ path: '/openapi.json' })).text).not.toMatch(/practice/i);
    } finally {
      await plain.close();
    }
  });

  const faultOf = (text: string): string => {
    try {
      loadBrokerConfig({ file: { path: 'broker.toml', text }, env: {}, flags: {} });
    } catch (thrown) {
      if (thrown instanceof AppError) return `${thrown.code}: ${thrown.message}`;
    }
    return '';
  };
  const account = '[practice]\naccount = "demo"\n';

  it.each([
    '[http]\nhost = "192.0.2.7"\nallowPlain = true\n',
    '[mqtt]\nhost = "0.0.0.0"\nallowPlain = true\n',
    '[ws]\nport = 9001\nhost = "::"\nallowPlain = true\n',
    '[admin]\nhost = "192.0.2.7"\nallowPlain = true\n',
    '[http]\ntrustedProxies = ["127.0.0.1"]\n',
    '[http]\norigins = ["https://console.example.com"]\n',
  ])('takes no practice fleet with %j', (text) => {
    expect(faultOf(text)).toBe('');
    expect(faultOf(`${text}${account}`)).toMatch(/^config: practice.account is set, but /);
  });

  it('takes none over PostgreSQL, and no account whose id is none', () => {
    expect(faultOf(`database = "postgres://fleet@db/fleet"\n${account}`)).toMatch(
      /^config: practice.account/,
    );
    expect(faultOf('[practice]\naccount = "a b"\n')).toMatch(/^config: /);
  });

  it('does not start with one unless a demonstration started it', () => {
    const clock = createSystemClock();
    const { send } = process;
    delete process.send;
    try {
      expect(openPracticeWorld('', clock)).toBe(null);
      expect(() => openPracticeWorld('demo', clock)).toThrow('no demonstration started this broker');
    } finally {
      if (send !== undefined) process.send = send;
    }
  });
});

describe('the world of a practice fleet', () => {
  it('is shown to users of its account, who find its mark on every answer', async () => {
    const { status, json, headers } = await look('vera');
    expect([status, headers['fleetward-practice']]).toEqual([200, 'demo']);
    expect(json()).toMatchObject({
      startedS: 1763683200,
      vehicles: [vehicleAt('van-01'), vehicleAt('van-02')],
    });
  });

  it('shows a user of groups the vehicles of these alone', async () => {
    expect((await look('lena')).json()).toMatchObject({ vehicles: [] });
    expect((await post(actPath, 'lena', act)).status).toBe(404);
    expect(done).toEqual([]);
  });

  it('does what an operator asks for, and records it first', async () => {
    expect((await post(actPath, 'olga', act)).status).toBe(200);
    expect((await post(cutPath, 'admin', { deviceID: 'van-02' })).status).toBe(200);
    expect(done).toEqual(['panic van-01', 'cut van-02']);
    failure = new AppError('unavailable', 'The practice fleet does not answer: it has ended');
    expect((await post(actPath, 'olga', { ...act, action: 'jam' })).status).toBe(503);
    const rows = await service.rows(
      `SELECT actor, action, object, detail FROM audit WHERE account_id = 'demo' AND action LIKE 'practice.%' ORDER BY audit_no`,
    );
    expect(rows).toEqual([
      { actor: 'olga', action: 'practice.act', object: 'van-01', detail: '{"action":"panic"}' },
      { actor: 'admin', action: 'practice.askforcut', object: 'van-02', detail: '{}' },
      { actor: 'olga', action: 'practice.act', object: 'van-01', detail: '{"action":"jam"}' },
    ]);
  });

  it('is not there for another account, whose vehicle of the same name nothing reaches', async () => {
    expect((await look('other')).status).toBe(404);
    expect((await post(actPath, 'other', act)).status).toBe(404);
    expect((await post(cutPath, 'other', { deviceID: 'van-01' })).status).toBe(404);
    expect(done).toEqual([]);
  });

  it('refuses a role that may not, a token of a program, and no token', async () => {
    expect((await post(actPath, 'vera', act)).json()['error']).toMatchObject({ code: 'forbidden' });
    expect((await post(cutPath, 'olga', { deviceID: 'van-01' })).json()['error']).toMatchObject({
      code: 'forbidden',
    });
    const made = await post('/api/v1/auth/token/authorization', 'admin', {
      description: 'a program',
      scopes: ['read', 'command'],
    });
    const token = String(made.json()['token']);
    for (const { method, path, examples } of practiceOperations) {
      const sent = { method, path: `/api/v1${path}`, ...(method === 'POST' ? { body: examples.body } : {}) };
      expect((await service.call({ ...sent, token })).json()['error']).toMatchObject({ code: 'forbidden' });
      expect((await service.call(sent)).status).toBe(401);
    }
    expect(done).toEqual([]);
  });

  it.each([
    {},
    { deviceID: 'van-01' },
    { deviceID: 'van-01', action: 'cutEngine' },
    { deviceID: 'van-01', action: 'constructor' },
    { deviceID: 'van-01', action: ['panic'] },
    { deviceID: '', action: 'panic' },
    { deviceID: 'x'.repeat(65), action: 'panic' },
    { deviceID: 7, action: 'panic' },
    { ...act, ms: 1e9 },
    [act],
    'null',
    'drive van-01',
  ])('takes no %j', async (body) => {
    const { status } = await post(actPath, 'olga', body);
    expect([400, 422]).toContain(status);
    expect(done).toEqual([]);
  });

  it('knows no vehicle that the service does not have', async () => {
    expect((await post(actPath, 'olga', { ...act, deviceID: 'van-99' })).status).toBe(404);
    expect(done).toEqual([]);
  });
});
