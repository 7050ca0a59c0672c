// The password once more for what restricts a vehicle, where the account wants it: on every path, never for a restore, and the
// password itself stays in no place that can be read later.
import { afterEach, describe, expect, it } from 'vitest';
import { holdClock } from '../support/http/held-clock.ts';
import { password, startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

const wrong = 'seven lamps over the harbour';

/** Two operators, two administrators and a truck, in an account that wants the password again. */
async function start({ isWanted = true } = {}) {
  const service = await startHttpService();
  open.push(service);
  await service.account('acme');
  await service.user('acme', 'berta', 'admin');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.device('acme', 'truck-1');
  if (isWanted) await service.sql('UPDATE accounts SET needs_password = 1');
  const tokens = new Map<string, string>();
  const tokenOf = async (who: string): Promise<string> => {
    const known = tokens.get(who) ?? (await service.login('acme', who));
    tokens.set(who, known);
    return known;
  };
  const post = async (who: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    service.call({
      method: 'POST',
      path: `/api/v1${path}/authorization`,
      token: await tokenOf(who),
      body,
      headers,
    });
  const get = async (who: string, path: string) =>
    service.call({ path: `/api/v1${path}/authorization`, token: await tokenOf(who) });
  const commands = async () => (await service.rows('SELECT state FROM commands')).length;
  return { service, post, get, commands, tokenOf };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const done = { status: 200, code: undefined };
const needed = { status: 422, code: 'password_needed' };
const wrongAnswer = { status: 422, code: 'password_wrong' };
const throttled = { status: 503, code: 'throttled' };

const cut = { deviceID: 'truck-1', feature: 'enginecutoff', state: '1' };

/** Every operation with a body that orders something restrictive. */
const orders: readonly (readonly [string, string, object])[] = [
  ['commandFeature, a cut', '/command/feature', cut],
  ['commandFeature, a cargo unlock', '/command/feature', { ...cut, feature: 'cargoaccess' }],
  ['commandFeatureEngineCutoff', '/command/feature/enginecutoff', { deviceID: 'truck-1', state: '1' }],
  ['updateDeviceEngineCutoff', '/device/updatedevice/enginecutoff', { deviceID: 'truck-1', state: '1' }],
  ['updateDeviceCargoAccess', '/device/updatedevice/cargoaccess', { deviceID: 'truck-1', state: '1' }],
];

describe('an account that wants the password again', () => {
  it.each(orders)('takes %s with the right password only', async (_what, path, body) => {
    const { post, commands } = await start();
    expect(seen(await post('olga', path, body))).toEqual(needed);
    expect(seen(await post('olga', path, { ...body, password: wrong }))).toEqual(wrongAnswer);
    expect(await commands()).toBe(0);
    expect(seen(await post('olga', path, { ...body, password }))).toEqual(done);
    expect(await commands()).toBe(1);
  });

  it.each(orders)(
    'accepts the safe state of %s without a password, and checks none',
    async (_what, path, body) => {
      const { post } = await start();
      expect(seen(await post('olga', path, { ...body, state: '0' }))).toEqual(done);
      expect(seen(await post('olga', path, { ...body, state: '0', password: wrong }))).toEqual(done);
    },
  );

  it('sends safe states only by status code, as such a call cannot carry a password', async () => {
    const { get, commands } = await start();
    for (const code of ['63680', '63638'])
      expect(seen(await get('olga', `/command/send/truck-1/${code}`)), code).toEqual(needed);
    expect(await commands()).toBe(0);
    for (const code of ['63681', '63637'])
      expect(seen(await get('olga', `/command/send/truck-1/${code}`)), code).toEqual(done);
  });

  it('requires it of the approver too; the request keeps waiting after a wrong one', async () => {
    const { service, post, commands } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    expect(seen(await post('olga', '/command/feature', cut))).toEqual(needed);
    const asked = await post('olga', '/command/feature', { ...cut, password });
    const { approvalID } = asked.json();
    expect(seen(await post('otto', '/command/approve', { approvalID }))).toEqual(needed);
    expect(seen(await post('otto', '/command/approve', { approvalID, password: wrong }))).toEqual(
      wrongAnswer,
    );
    expect(await commands()).toBe(0);
    expect(seen(await post('otto', '/command/approve', { approvalID, password }))).toEqual(done);
    expect(await commands()).toBe(1);
  });

  it('lets a waiting cut be refused, withdrawn and cancelled without a password', async () => {
    const { service, post } = await start();
    const { commandID } = (await post('olga', '/command/feature', { ...cut, password })).json();
    expect(seen(await post('otto', '/command/cancel', { commandID }))).toEqual(done);
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const ask = async () =>
      (await post('olga', '/command/feature', { ...cut, password })).json()['approvalID'];
    expect(seen(await post('otto', '/command/refuse', { approvalID: await ask() }))).toEqual(done);
    expect(seen(await post('olga', '/command/withdraw', { approvalID: await ask() }))).toEqual(done);
  });

  it('shows it where an operator reads the limits', async () => {
    const { get } = await start();
    expect((await get('olga', '/command/limits')).json()).toMatchObject({ needsPassword: true });
  });

  it('hides a device outside of the scope before it asks for a password', async () => {
    const { post } = await start();
    expect(seen(await post('olga', '/command/feature', { ...cut, deviceID: 'nope' }))).toEqual({
      status: 404,
      code: 'not_found',
    });
  });

  it.each([[''], ['x'.repeat(257)], [null], [17], [true], [['a']], [{ a: 1 }], ['\u0000abcdefgh']])(
    'refuses %j as a password without quoting it',
    async (bad) => {
      const { post, commands } = await start();
      const answer = await post('olga', '/command/feature', { ...cut, password: bad });
      expect(seen(answer)).toEqual({ status: 422, code: 'invalid_content' });
      expect(answer.text).not.toContain('abcdefgh');
      expect(await commands()).toBe(0);
    },
  );
});

describe('a command for many devices', () => {
  const many = { deviceIDs: ['truck-1', 'truck-2'], feature: 'enginecutoff', state: '1' };

  it('needs the password once for all of them, and none for a restore', async () => {
    const { service, post, commands } = await start();
    await service.device('acme', 'truck-2');
    expect(seen(await post('olga', '/command/devices', many))).toEqual(needed);
    expect(seen(await post('olga', '/command/devices', { ...many, password: wrong }))).toEqual(wrongAnswer);
    expect(await commands()).toBe(0);
    expect((await post('olga', '/command/devices', { ...many, password })).json()).toMatchObject({ done: 2 });
    expect((await post('olga', '/command/devices', { ...many, state: '0' })).json()).toMatchObject({
      done: 2,
    });
    await expect
      .poll(() => service.rows("SELECT 1 AS once FROM audit WHERE action = 'password.fail'"))
      .toHaveLength(1);
  });
});

describe('an account that does not', () => {
  it('accepts a cut without a password, and checks none that is sent', async () => {
    const { post } = await start({ isWanted: false });
    expect(seen(await post('olga', '/command/feature', { ...cut, password: wrong }))).toEqual(done);
  });
});

describe('guessing', () => {
  it('is slowed over all sessions and tokens of the user, while restores and logins go on', async () => {
    const { service, post, tokenOf } = await start();
    service.pin();
    holdClock(service);
    const guess = (token: string) =>
      service.call({
        method: 'POST',
        path: '/api/v1/command/feature/authorization',
        token,
        body: { ...cut, password: wrong },
      });
    let failures = 0;
    let last = done as { status: number; code: string | undefined };
    for (let session = 0; session < 6 && last.code !== 'throttled'; session++) {
      const token = await service.login('acme', 'olga');
      for (let count = 0; count < 5 && last.code !== 'throttled'; count++) {
        last = seen(await guess(token));
        failures += last.code === 'password_wrong' ? 1 : 0;
      }
    }
    expect(last).toEqual(throttled);
    expect(failures).toBeLessThanOrEqual(21);
    expect(seen(await post('olga', '/command/feature', { ...cut, password })), 'the right one').toEqual(
      throttled,
    );
    expect(seen(await post('olga', '/command/feature', { ...cut, state: '0' })), 'a restore').toEqual(done);
    expect(seen(await post('otto', '/command/feature', { ...cut, password })), 'another user').toEqual(done);
    expect(await service.login('acme', 'olga')).toContain('olga');
    service.advance(31_000);
    expect(await tokenOf('olga')).not.toBe('');
    expect(seen(await post('olga', '/command/feature', { ...cut, password }))).toEqual(done);
  });

  it('is slowed within one session after five', async () => {
    const { service, post } = await start();
    service.pin();
    holdClock(service);
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 7; count++)
      codes.push(seen(await post('olga', '/command/feature', { ...cut, password: wrong })).code);
    expect(codes.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'password_wrong'));
    expect(codes.at(-1)).toBe('throttled');
  });

  it('gains nothing from an Idempotency-Key: neither a hash nor an answer of right or wrong', async () => {
    const { service, post, commands } = await start();
    const key = { 'idempotency-key': 'a'.repeat(32) };
    expect(seen(await post('olga', '/command/feature', { ...cut, password: wrong }, key))).toEqual(
      wrongAnswer,
    );
    const first = await post('olga', '/command/feature', { ...cut, password }, key);
    expect(seen(first), 'the same key with the right password').toEqual(done);
    for (const guess of [wrong, password, undefined]) {
      const again = await post('olga', '/command/feature', { ...cut, password: guess }, key);
      expect([again.text, again.headers['idempotency-replayed']]).toEqual([first.text, 'true']);
    }
    expect(await commands()).toBe(1);
    const [row] = await service.rows('SELECT COUNT(DISTINCT request_hash) AS hashes FROM idempotency_keys');
    expect(row).toEqual({ hashes: 1 });
    expect(seen(await post('olga', '/command/feature', { ...cut, state: '0', password }, key))).toEqual({
      status: 422,
      code: 'conflict',
    });
  });

  it('stands in the audit log, and the password in no log and no table', async () => {
    const { service, post } = await start();
    await post('olga', '/command/feature', { ...cut, password: wrong });
    await post('olga', '/command/feature', { ...cut, password });
    await post('admin', '/auth/updateaccount', { accountID: 'acme', needsPassword: false, password: wrong });
    await post('admin', '/auth/updateaccount', { accountID: 'acme', needsPassword: false, password });
    await expect
      .poll(() =>
        service.rows("SELECT actor, object FROM audit WHERE action = 'password.fail' ORDER BY actor"),
      )
      .toEqual([
        { actor: 'admin', object: 'admin' },
        { actor: 'olga', object: 'olga' },
      ]);
    const kept = await Promise.all(
      ['audit', 'commands', 'idempotency_keys', 'notifications', 'sessions', 'accounts'].map((table) =>
        service.rows(`SELECT * FROM ${table}`),
      ),
    );
    const text = `${JSON.stringify(kept)}${service.logLines.join('\n')}`;
    expect(text).not.toContain(wrong);
    expect(text).not.toContain(password);
  });
});

describe('the setting', () => {
  const off = { accountID: 'acme', needsPassword: false };

  it('is switched on by any administrator and off by the password of one only', async () => {
    const { post, get } = await start({ isWanted: false });
    expect(seen(await post('olga', '/auth/updateaccount', { ...off, needsPassword: true })).code).toBe(
      'forbidden',
    );
    const on = await post('admin', '/auth/updateaccount', { ...off, needsPassword: true });
    expect(on.json()).toMatchObject({ needsPassword: true });
    expect(seen(await post('berta', '/auth/updateaccount', off))).toEqual(needed);
    expect(seen(await post('berta', '/auth/updateaccount', { ...off, password: wrong }))).toEqual(
      wrongAnswer,
    );
    expect((await get('admin', '/auth/account')).json()).toMatchObject({ needsPassword: true });
    const switched = await post('berta', '/auth/updateaccount', { ...off, password });
    expect(switched.json()).toMatchObject({ needsPassword: false });
    expect(seen(await post('olga', '/command/feature', cut))).toEqual(done);
  });

  it('is not changed by other changes of the account', async () => {
    const { post } = await start();
    const changed = await post('admin', '/auth/updateaccount', { accountID: 'acme', cutsPerHour: 7 });
    expect(changed.json()).toMatchObject({ needsPassword: true, cutsPerHour: 7 });
  });

  it('leaves an audit entry and a notice to every administrator when it is switched off', async () => {
    const { service, post, get } = await start();
    await post('berta', '/auth/updateaccount', { ...off, password });
    expect(
      await service.rows(
        "SELECT actor, object FROM audit WHERE action = 'account.passwordoff' ORDER BY audit_no",
      ),
    ).toEqual([{ actor: 'berta', object: 'acme' }]);
    for (const administrator of ['admin', 'berta']) {
      const inbox = (await get(administrator, '/notificationqueue/getnotifications')).json();
      expect(JSON.stringify(inbox), administrator).toContain('Password for commands switched off');
    }
    expect(JSON.stringify((await get('olga', '/notificationqueue/getnotifications')).json())).not.toContain(
      'switched off',
    );
    await post('berta', '/auth/updateaccount', off);
    expect(
      await service.rows("SELECT 1 AS once FROM audit WHERE action = 'account.passwordoff'"),
    ).toHaveLength(1);
  });
});
