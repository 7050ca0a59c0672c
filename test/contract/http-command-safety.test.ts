// What no limit may hold up and no detour may get around: a restore comes through whatever else the service is asked for,
// and no setting beside the commands cuts an engine for one person alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { keyLimits } from '../../broker/store/accounts/idempotency.ts';
import { mayApprove } from '../../broker/store/commands/approvals.ts';
import { sql } from '../../src/sql.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { type HttpServiceLimits, startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;

const open: Service[] = [];
afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
});

async function start(limits: HttpServiceLimits = {}) {
  const service = await startHttpService(limits);
  open.push(service);
  await service.account('acme');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.device('acme', 'truck-1');
  const tokens = { admin: await service.login('acme', 'admin'), olga: await service.login('acme', 'olga') };
  const post = (
    path: string,
    body: unknown,
    { token = tokens.olga, from = '127.0.0.1', headers = {} } = {},
  ) => service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body, from, headers });
  const restore = { deviceID: 'truck-1', feature: 'enginecutoff', state: '0' };
  return { service, tokens, post, restore };
}

const seen = (answer: Awaited<ReturnType<Service['call']>>) => ({
  status: answer.status,
  code: (answer.json()['error'] as { code?: string } | undefined)?.code,
});
const ordered = { status: 200, code: undefined };
const conflict = { status: 422, code: 'conflict' };

describe('a restore', () => {
  const rates = { token: { burst: 4, perS: 1 }, failures: { burst: 3, perS: 1 } };
  const reading = '/api/v1/device/getalldevices/authorization';

  it('comes through although the same token asks for other things too often', async () => {
    const { service, tokens, post, restore } = await start({ rates });
    holdClock(service);
    let last = 200;
    for (let at = 0; at < 8; at++) last = (await service.call({ path: reading, token: tokens.olga })).status;
    expect(last).toBe(503);
    expect(seen(await post('/command/feature', restore))).toEqual(ordered);
    const update = { deviceID: 'truck-1', state: '0' };
    expect(seen(await post('/device/updatedevice/enginecutoff', update))).toEqual(ordered);
    const send = { path: '/api/v1/command/send/truck-1/63681/authorization', token: tokens.olga };
    const answer = await service.call(send);
    expect(seen(answer)).toEqual(ordered);
    expect(answer.headers['ratelimit-policy']).toBe('"orders";q=4;w=4');
  });

  it('comes through from an address that sends wrong tokens, with a token that was not used before', async () => {
    const { service, post, restore } = await start({ rates });
    holdClock(service);
    const from = '10.0.0.1';
    const guess = (at: number) => `acme%7Colga%7C${String(at).padStart(64, '0')}`;
    const send = '/api/v1/command/send/truck-1/63681/authorization';
    for (const path of [reading, send]) {
      let last = 401;
      for (let at = 0; at < 5; at++) last = (await service.call({ path, token: guess(at), from })).status;
      expect(last).toBe(503);
    }
    expect(seen(await post('/command/feature', restore, { from }))).toEqual(ordered);
  });

  it('comes through with a key of its own although account and other users have used up theirs', async () => {
    const { service, post, restore } = await start();
    for (const [userID, isOrder] of [
      ['olga', 0],
      ['otto', 1],
    ])
      await service.sql(`INSERT INTO idempotency_keys (key_hash, account_id, user_id, is_order, request_hash, claimed_ms)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${keyLimits.account})
        SELECT '${userID}' || i, 'acme', '${userID}', ${isOrder}, 'r', ${Date.now()} FROM n`);
    const headers = { 'idempotency-key': 'restore-1' };
    const zone = await post('/geozone/creategeozone', { geozoneID: 'depot' }, { headers });
    expect(zone.status).toBe(503);
    expect(seen(await post('/command/feature', restore, { headers }))).toEqual(ordered);
    const again = await post('/command/feature', restore, { headers });
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('is open to users who see the device, without a second user or a closed breaker', async () => {
    const { service, post, restore } = await start();
    await service.sql(
      "UPDATE accounts SET needs_approval = 1, cuts_per_hour = 0, breaker_s = 1, breaker_by = 'olga'",
    );
    expect(seen(await post('/command/feature', restore))).toEqual(ordered);
    await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'olga'");
    expect(seen(await post('/command/feature', restore))).toEqual({ status: 404, code: 'not_found' });
  });
});

describe('a geozone that asks for an engine cut', () => {
  const settings = (needsApproval: boolean) => ({ accountID: 'acme', needsApproval });

  it.each(['geozoneArrivalEngineOff', 'geozoneDepartureEngineOff'])(
    'cannot be made by %s, nor be made of another, where a cut needs a second user',
    async (member) => {
      const { service, tokens, post } = await start();
      await post('/geozone/creategeozone', { geozoneID: 'depot' });
      expect((await post('/auth/updateaccount', settings(true), { token: tokens.admin })).status).toBe(200);
      for (const token of Object.values(tokens)) {
        const body = { geozoneID: 'yard', [member]: true };
        expect(seen(await post('/geozone/creategeozone', body, { token }))).toEqual(conflict);
        const refused = await post('/geozone/updategeozone', { ...body, geozoneID: 'depot' }, { token });
        expect(seen(refused)).toEqual(conflict);
        expect(refused.json()['error']).toMatchObject({ errors: [{ pointer: `/${member}` }] });
      }
      const kept = { geozoneID: 'depot', geozoneArrivalEngineOn: true, [member]: false };
      expect((await post('/geozone/updategeozone', kept)).status).toBe(200);
      const zones = await service.rows('SELECT geozone_id, switches FROM geozones');
      expect(zones).toEqual([{ geozone_id: 'depot', switches: '["arrivalEngineOn"]' }]);
      const audit = await service.rows(
        "SELECT action FROM audit WHERE action LIKE 'geozone.%' ORDER BY audit_no",
      );
      expect(audit).toEqual([{ action: 'geozone.create' }, { action: 'geozone.update' }]);
    },
  );

  it('stands against switching the rule on, by the account or by the operator of the service', async () => {
    const { service, tokens, post } = await start();
    const zone = { geozoneID: 'depot', geozoneDepartureEngineOff: true };
    expect((await post('/geozone/creategeozone', zone)).status).toBe(200);
    const refused = await post('/auth/updateaccount', settings(true), { token: tokens.admin });
    expect(seen(refused)).toEqual(conflict);
    expect(refused.text).toContain('depot');
    expect(await service.rows("SELECT needs_approval FROM accounts WHERE account_id = 'acme'")).toEqual([
      { needs_approval: 0 },
    ]);
    await post('/geozone/updategeozone', { ...zone, geozoneDepartureEngineOff: false });
    expect((await post('/auth/updateaccount', settings(true), { token: tokens.admin })).status).toBe(200);
  });

  it('and the rule never stand together when both are asked for at once', async () => {
    const { service, tokens, post } = await start();
    const zone = { geozoneID: 'depot', geozoneArrivalEngineOff: true };
    const answers = await Promise.all([
      post('/geozone/creategeozone', zone),
      post('/auth/updateaccount', settings(true), { token: tokens.admin }),
    ]);
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([200, 422]);
    const both = await service.rows(`SELECT 1 AS both FROM accounts a JOIN geozones g USING (account_id)
      WHERE a.needs_approval = 1 AND g.switches LIKE '%EngineOff%'`);
    expect(both).toEqual([]);
  });
});

describe('an approval', () => {
  const cut = { deviceID: 'truck-1', feature: 'enginecutoff', state: '1' };

  it('counts for nothing while the clock stands before the request', async () => {
    const { service, post } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const { approvalID } = (await post('/command/feature', cut)).json();
    const otto = await service.login('acme', 'otto');
    service.advance(-3_600_000);
    expect(seen(await post('/command/approve', { approvalID }, { token: otto }))).toEqual(conflict);
    service.advance(3_600_000);
    expect((await post('/command/approve', { approvalID }, { token: otto })).status).toBe(200);
  });

  it('is rejected from a requester who does not count as a second person, as it could never be approved', async () => {
    const { service, tokens, post } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    await service.sql(
      `UPDATE users SET granted_s = ${Math.floor(Date.now() / 1000) - 60} WHERE user_id = 'olga'`,
    );
    const early = await post('/command/feature', cut);
    expect(seen(early)).toEqual(conflict);
    expect(early.json()['error']).toMatchObject({ message: expect.stringContaining('nothing was asked') });
    expect((await post('/command/feature', cut, { token: tokens.admin })).json()).toMatchObject({
      commandState: 'approval',
    });
    // Now one waits that others can approve: the request returns it.
    expect((await post('/command/feature', cut)).json()).toMatchObject({ commandState: 'approval' });
  });

  it('still counts as a second person after an administrator saved the user unchanged', async () => {
    const { service, tokens, post } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const { approvalID } = (await post('/command/feature', cut)).json();
    const as = { token: tokens.admin };
    for (const change of [{ isActive: true }, { roleID: 'operator' }]) {
      expect((await post('/user/updateuser', { userID: 'otto', ...change }, as)).status).toBe(200);
    }
    const otto = await service.login('acme', 'otto');
    await post('/user/updateuser', { userID: 'olga', roleID: 'admin' }, as);
    const promoted = await post('/command/approve', { approvalID }, { token: otto });
    expect(seen(promoted), 'olga was promoted a moment ago').toEqual(conflict);
    expect(promoted.text).toContain('nothing was sent');
    await service.sql("UPDATE users SET granted_s = 1, granted_by = NULL WHERE user_id = 'olga'");
    expect((await post('/command/approve', { approvalID }, { token: otto })).status).toBe(200);
  });

  it('is lost with the device, also when a new one has its name', async () => {
    const { service, tokens, post } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const { approvalID } = (await post('/command/feature', cut)).json();
    const token = tokens.admin;
    const removed = await post('/device/deletedevice', { deviceID: 'truck-1' }, { token });
    expect(removed.status).toBe(200);
    await post('/device/createdevice', { deviceID: 'truck-1' }, { token });
    const late = await post('/command/approve', { approvalID }, { token });
    expect(seen(late)).toEqual({ status: 404, code: 'not_found' });
    expect(await service.rows('SELECT command_id FROM commands')).toEqual([]);
  });

  it.each([
    ['suspended', ["UPDATE users SET is_active = 0 WHERE user_id = 'otto'"]],
    ['demoted', ["UPDATE users SET role = 'viewer' WHERE user_id = 'otto'"]],
    [
      'deleted',
      ['sessions', 'group_users', 'users'].map((table) => `DELETE FROM ${table} WHERE user_id = 'otto'`),
    ],
    ['limited to other devices', ["UPDATE users SET sees_all = 0 WHERE user_id = 'otto'"]],
  ])('is rejected from a user who was %s after the token was checked', async (_how, changes) => {
    const { service, post } = await start();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const approvalID = String((await post('/command/feature', cut)).json()['approvalID']);
    const scope = { accountID: 'acme', limitedTo: 'otto' };
    const decider = { accountID: 'acme', userID: 'otto', isAdmin: false, atMs: Date.now() + 1000, scope };
    const question = sql`SELECT 1 AS may WHERE ${mayApprove({ approvalID, decider })}`;
    await service.sql("INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'all')");
    await service.sql(
      'INSERT INTO group_devices SELECT d.device_no, g.group_no FROM devices d, device_groups g',
    );
    await service.sql("INSERT INTO group_users SELECT 'acme', 'otto', group_no FROM device_groups");
    expect(await service.db.read(question)).toHaveLength(1);
    if (changes[0]?.includes('sees_all')) await service.sql("DELETE FROM group_users WHERE user_id = 'otto'");
    for (const change of changes) await service.sql(change);
    expect(await service.db.read(question)).toEqual([]);
  });
});

describe('over a file with a writing and a reading thread', () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  const startOnFile = () => {
    const folder = mkdtempSync(join(tmpdir(), 'fleetward-safety-'));
    folders.push(folder);
    return start({ databasePath: join(folder, 'broker.db') });
  };

  it('leaves at most one order after concurrent approvals, a restore and a withdrawal', async () => {
    const { service, tokens, post, restore } = await startOnFile();
    await service.sql('UPDATE accounts SET needs_approval = 1');
    const otto = await service.login('acme', 'otto');
    const cut = { ...restore, state: '1' };
    for (let round = 0; round < 8; round++) {
      const { approvalID } = (await post('/command/feature', cut)).json();
      const approve = (token: string) => post('/command/approve', { approvalID }, { token });
      const answers = await Promise.all([
        approve(otto),
        approve(tokens.admin),
        approve(otto),
        post('/command/feature', restore),
        post('/command/withdraw', { approvalID }),
      ]);
      expect(answers.slice(0, 3).filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      const made = await service.rows(
        `SELECT COUNT(*) AS made FROM commands WHERE approval_id = '${String(approvalID)}'`,
      );
      expect(Number(made[0]?.['made'])).toBeLessThanOrEqual(1);
      const unfinished = await service.rows('SELECT state FROM commands WHERE is_final = 0');
      expect(unfinished.length).toBeLessThanOrEqual(1);
      await post('/command/feature', restore, { token: otto });
      expect(await service.rows('SELECT state FROM commands WHERE is_final = 0')).toEqual([{ state: '0' }]);
      // Otherwise the rounds together would be too many cuts within a minute.
      service.advance(61_000);
    }
  });

  it('of many cuts at once no more are recorded than a user may have', async () => {
    const { service, post } = await startOnFile();
    await service.sql('UPDATE accounts SET cuts_per_hour = 3');
    for (let at = 2; at <= 9; at++) await service.device('acme', `truck-${at}`);
    const ids = Array.from({ length: 9 }, (_none, at) => `truck-${at + 1}`);
    const answers = await Promise.all(
      ids.map((deviceID) => post('/command/feature', { deviceID, feature: 'enginecutoff', state: '1' })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await service.rows('SELECT COUNT(*) AS cuts FROM commands')).toEqual([{ cuts: 3 }]);
    expect(
      await service.rows("SELECT COUNT(*) AS trips FROM audit WHERE action = 'command.tripbreaker'"),
    ).toEqual([{ trips: 1 }]);
  });
});
