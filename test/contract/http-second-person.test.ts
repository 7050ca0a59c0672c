// One person cannot invent the second one: a user that was created, promoted, re-enabled, or given a password or more devices counts as a
// second person only after another administrator has confirmed the user, however long the first one waits.
import { afterEach, describe, expect, it } from 'vitest';
import { confirmUser } from '../../broker/accounts/administration.ts';
import { createPasswords } from '../../broker/adapters/passwords.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { createLoopbackSenders } from '../support/broker/senders.ts';
import { password, startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

const dayMs = 24 * 3600 * 1000;

/** An account with two administrators that are there since long, and an operator who asks for cuts. */
async function start() {
  const service = await startHttpService();
  open.push(service);
  await service.account('acme');
  await service.user('acme', 'berta', 'admin');
  await service.user('acme', 'olga', 'operator');
  await service.device('acme', 'truck-1');
  await service.sql('UPDATE accounts SET needs_approval = 1');
  const post = async (who: string, path: string, body: unknown) =>
    service.call({
      method: 'POST',
      path: `/api/v1${path}/authorization`,
      token: await service.login('acme', who),
      body,
    });
  const ask = async () => {
    const body = { deviceID: 'truck-1', feature: 'enginecutoff', state: '1' };
    return String((await post('olga', '/command/feature', body)).json()['approvalID']);
  };
  const approve = async (who: string) =>
    seen(await post(who, '/command/approve', { approvalID: await ask() }));
  const confirm = (who: string, userID: string) => post(who, '/user/confirmuser', { userID });
  const make = (who: string, userID: string, changes: object = {}) =>
    post(who, '/user/createuser', { userID, password, roleID: 'operator', ...changes });
  const change = (who: string, userID: string, changes: object) =>
    post(who, '/user/updateuser', { userID, ...changes });
  return { service, post, ask, approve, confirm, make, change };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const done = { status: 200, code: undefined };
const conflict = { status: 422, code: 'conflict' };

describe('a new approver', () => {
  it('does not count until another administrator has confirmed the user, however long that takes', async () => {
    const { service, approve, confirm, make } = await start();
    expect((await make('admin', 'puppet')).json()).toMatchObject({ isConfirmed: false, grantedBy: 'admin' });
    service.advance(40 * dayMs);
    expect(await approve('puppet')).toEqual(conflict);
    expect(seen(await confirm('admin', 'puppet')), 'who made him').toEqual(conflict);
    expect(seen(await confirm('puppet', 'puppet'))).toEqual({ status: 422, code: 'forbidden' });
    const confirmed = await confirm('berta', 'puppet');
    expect(confirmed.json()).toMatchObject({ userID: 'puppet', isConfirmed: true, grantedBy: '' });
    expect(await approve('puppet')).toEqual(done);
    expect(
      await service.rows("SELECT actor, object FROM audit WHERE action = 'user.confirm' ORDER BY audit_no"),
    ).toEqual([{ actor: 'berta', object: 'puppet' }]);
    expect(seen(await confirm('berta', 'puppet')), 'again').toEqual(done);
    expect(seen(await confirm('berta', 'nobody'))).toEqual({ status: 404, code: 'not_found' });
    expect(await service.rows("SELECT 1 AS once FROM audit WHERE action = 'user.confirm'")).toHaveLength(1);
  });

  it('still waits for its day after the confirmation', async () => {
    const { service, approve, confirm, make } = await start();
    await make('admin', 'otto');
    expect(seen(await confirm('berta', 'otto'))).toEqual(done);
    expect(await approve('otto')).toEqual(conflict);
    service.advance(dayMs + 1000);
    expect(await approve('otto')).toEqual(done);
  });

  it('is not confirmed by an administrator who waits for confirmation too', async () => {
    const { service, approve, confirm, make, change } = await start();
    await make('admin', 'puppet');
    await make('admin', 'helper', { roleID: 'admin' });
    await change('admin', 'berta', { password: `${password}!` });
    service.advance(3 * dayMs);
    expect(seen(await confirm('helper', 'puppet'))).toEqual(conflict);
    const berta = await service.call({
      method: 'POST',
      path: '/api/v1/auth/login',
      body: { accountID: 'acme', userID: 'berta', password: `${password}!` },
    });
    const stolen = await service.call({
      method: 'POST',
      path: '/api/v1/user/confirmuser/authorization',
      token: String(berta.json()['token']),
      body: { userID: 'puppet' },
    });
    expect(seen(stolen)).toEqual(conflict);
    expect(await approve('puppet')).toEqual(conflict);
  });

  it.each([
    ['a password', { password: `${password}?` }],
    ['a role', { roleID: 'admin' }],
    ['more devices', { groups: ['all'] }],
    ['more groups', { groups: ['south', 'north'] }],
  ])('is unconfirmed again after being given %s', async (_what, changes) => {
    const { service, change } = await start();
    await service.user('acme', 'otto', 'operator');
    await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'south')");
    await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')");
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'otto'");
    await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
      SELECT 'acme', 'otto', group_no FROM device_groups WHERE group_id = 'south'`);
    expect(
      (await change('admin', 'otto', { userDisplayName: 'Otto', groups: ['south'] })).json(),
    ).toMatchObject({
      isConfirmed: true,
    });
    const changed = await change('admin', 'otto', changes);
    expect(changed.json()).toMatchObject({ isConfirmed: false, grantedBy: 'admin' });
  });

  it('waits again after a suspension was lifted, but not after rights were reduced', async () => {
    const { service, change } = await start();
    await service.user('acme', 'otto', 'operator');
    expect((await change('admin', 'otto', { isActive: false })).json()).toMatchObject({ isConfirmed: true });
    expect((await change('admin', 'otto', { isActive: true })).json()).toMatchObject({ isConfirmed: false });
    await service.user('acme', 'olaf', 'operator');
    expect((await change('admin', 'olaf', { groups: [] })).json()).toMatchObject({ isConfirmed: true });
  });

  it('keeps its first grantor when another administrator grants more', async () => {
    const { service, approve, confirm, make, change } = await start();
    await make('admin', 'puppet', { roleID: 'viewer' });
    await change('berta', 'puppet', { roleID: 'operator' });
    service.advance(3 * dayMs);
    expect(seen(await confirm('admin', 'puppet'))).toEqual(conflict);
    expect(await approve('puppet')).toEqual(conflict);
    expect(seen(await confirm('berta', 'puppet'))).toEqual(done);
  });

  it('does not help to switch the rule off, nor to reset the breaker', async () => {
    const { service, post, make } = await start();
    await make('admin', 'puppet', { roleID: 'admin' });
    service.advance(2 * dayMs);
    const off = { accountID: 'acme', needsApproval: false };
    await post('admin', '/auth/updateaccount', off);
    expect((await post('puppet', '/auth/updateaccount', off)).json()).toMatchObject({ needsApproval: true });
    await service.sql("UPDATE accounts SET breaker_s = 1, breaker_by = 'admin'");
    expect(seen(await post('puppet', '/command/resetbreaker', { reason: 'x' }))).toEqual(conflict);
  });

  it('does not switch the rule off by waiting', async () => {
    const { service, post, make } = await start();
    await make('admin', 'puppet', { roleID: 'admin' });
    await service.sql("UPDATE users SET role = 'viewer' WHERE user_id IN ('admin', 'berta')");
    const off = { accountID: 'acme', needsApproval: false };
    await post('puppet', '/auth/updateaccount', off);
    service.advance(2 * dayMs);
    expect((await post('puppet', '/auth/updateaccount', off)).json()).toMatchObject({ needsApproval: true });
  });

  it('of an account with one administrator is confirmed by the operator of the service, in both logs', async () => {
    const { service, approve, confirm, make } = await start();
    await service.sql("UPDATE users SET role = 'viewer' WHERE user_id = 'berta'");
    await make('admin', 'otto');
    service.advance(dayMs + 1000);
    expect(seen(await confirm('admin', 'otto'))).toEqual(conflict);
    const ports = {
      db: service.db,
      clock: createSystemClock(),
      entropy: createSystemEntropy(),
      passwords: createPasswords(),
    };
    await confirmUser(ports, { accountID: 'acme', userID: 'otto' });
    expect(await approve('otto')).toEqual(done);
    const logged = await service.rows(
      "SELECT account_id, actor FROM audit WHERE action = 'user.confirm' ORDER BY account_id",
    );
    expect(logged).toEqual([
      { account_id: '', actor: 'operator' },
      { account_id: 'acme', actor: 'operator' },
    ]);
    await expect(confirmUser(ports, { accountID: 'acme', userID: 'nobody' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('switching the rule off', () => {
  const off = { accountID: 'acme', needsApproval: false };

  it('needs the second of two administrators, however long the first one waits', async () => {
    const { service, post } = await start();
    await post('admin', '/auth/updateaccount', off);
    service.advance(2 * dayMs);
    expect((await post('admin', '/auth/updateaccount', off)).json()).toMatchObject({ needsApproval: true });
    expect((await post('berta', '/auth/updateaccount', off)).json()).toMatchObject({ needsApproval: false });
  });

  it.each([
    ['deleted', "DELETE FROM users WHERE user_id = 'berta'"],
    ['suspended', "UPDATE users SET is_active = 0 WHERE user_id = 'berta'"],
    ['no longer an administrator', "UPDATE users SET role = 'operator' WHERE user_id = 'berta'"],
  ])('needs a day where the other one is %s', async (_what, change) => {
    const { service, post } = await start();
    await service.sql(change);
    const ask = async () => (await post('admin', '/auth/updateaccount', off)).json();
    expect(await ask()).toMatchObject({ needsApproval: true });
    expect(await ask()).toMatchObject({ needsApproval: true });
    service.advance(dayMs + 1000);
    expect(await ask()).toMatchObject({ needsApproval: false });
  });

  it('is in the inbox of every administrator when it is asked for, once, and when it is done', async () => {
    const { service, post } = await start();
    const inbox = async () => {
      const token = await service.login('acme', 'berta');
      const path = '/api/v1/notification/getallpushnotifications/authorization';
      const { notifications } = (await service.call({ path, token })).json();
      return (notifications as { userID: string; statusDescription: string }[]).map(
        ({ userID, statusDescription }) => `${userID}: ${statusDescription}`,
      );
    };
    await post('admin', '/auth/updateaccount', off);
    await post('admin', '/auth/updateaccount', off);
    const asked = 'admin: User asks to switch off the second person for engine cuts';
    expect(await inbox()).toEqual([asked]);
    await post('berta', '/auth/updateaccount', off);
    expect(await inbox()).toEqual(['berta: Second person for engine cuts switched off', asked]);
  });
});

describe('administrators are notified', () => {
  type Entry = { readonly statusDescription: string; readonly userID: string; readonly deviceID: string };
  const inbox = async (service: Service, who: string) => {
    const token = await service.login('acme', who);
    const path = '/api/v1/notification/getallpushnotifications/authorization';
    return (await service.call({ path, token })).json()['notifications'] as Entry[];
  };

  it('of each new approver and each confirmation, in the inbox and by mail, and no other user is', async () => {
    const mails: { to: string; subject: string; text: string }[] = [];
    const senders = createLoopbackSenders(async (mail) => {
      mails.push(mail);
      return { kind: 'sent' };
    });
    const service = await startHttpService({ senders });
    open.push(service);
    await service.account('acme');
    await service.account('rival');
    await service.user('acme', 'berta', 'admin');
    await service.user('acme', 'olga', 'operator');
    await service.sql("UPDATE users SET notify_email = user_id || '@example.com'");
    const post = async (who: string, path: string, body: unknown) => {
      const token = await service.login('acme', who);
      return service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
    };
    await post('admin', '/user/createuser', { userID: 'otto', password, roleID: 'operator' });
    await post('admin', '/user/createuser', { userID: 'vera', password, roleID: 'viewer' });
    expect(await inbox(service, 'berta')).toMatchObject([
      {
        userID: 'otto',
        deviceID: '',
        statusDescription: 'User waits for confirmation',
        statusCode: 0,
        viewed: false,
      },
    ]);
    await post('admin', '/user/updateuser', { userID: 'vera', roleID: 'operator' });
    await post('admin', '/user/updateuser', { userID: 'vera', userDisplayName: 'Vera' });
    await post('berta', '/user/confirmuser', { userID: 'otto' });
    const notices = [
      { userID: 'otto', statusDescription: 'User confirmed as second person' },
      { userID: 'vera', statusDescription: 'User waits for confirmation' },
      { userID: 'otto', statusDescription: 'User waits for confirmation' },
    ];
    expect(await inbox(service, 'admin')).toMatchObject(notices);
    expect(await inbox(service, 'berta')).toMatchObject(notices);
    expect(await inbox(service, 'olga')).toEqual([]);
    const rival = await service.login('rival', 'admin');
    const foreign = await service.call({
      path: '/api/v1/notification/getallpushnotifications/authorization',
      token: rival,
    });
    expect(foreign.json()['notifications']).toEqual([]);
    await service.notices.runAll();
    expect(mails.map(({ to, subject }) => `${to}: ${subject}`).sort()).toEqual([
      'admin@example.com: User confirmed as second person: otto',
      'admin@example.com: User waits for confirmation: otto',
      'admin@example.com: User waits for confirmation: vera',
      'berta@example.com: User confirmed as second person: otto',
      'berta@example.com: User waits for confirmation: otto',
      'berta@example.com: User waits for confirmation: vera',
    ]);
    expect(mails[0]?.text).toContain('acme');
    const id = String(
      ((await inbox(service, 'berta')) as unknown as { notificationID: string }[])[0]?.notificationID,
    );
    const view = async (who: string) =>
      service.call({
        path: `/api/v1/notification/setviewed/${id}/authorization`,
        token: await service.login('acme', who),
      });
    expect((await view('olga')).status).toBe(404);
    expect((await view('berta')).status).toBe(200);
    expect(await inbox(service, 'berta')).toMatchObject([
      { viewed: true },
      { viewed: false },
      { viewed: false },
    ]);
  });
});
