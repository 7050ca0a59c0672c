// The health of units and fleet, and the audit log, as an integrator asks for them; each for what its caller may see.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { insertAudit } from '../../broker/store/accounts/audit.ts';
import { canary } from '../support/http/canary.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
let token = '';
let admin = '';
let guest = '';

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2', 'truck-3']) await service.device('acme', deviceID);
  await service.device('rival', 'truck-9');
  await service.user('acme', 'dispatch', 'operator');
  // Limited to a group that holds truck-2 alone.
  await service.user('acme', 'guest', 'viewer');
  await service.sql(`UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'guest'`);
  await service.sql(`INSERT INTO device_groups (account_id, group_id) VALUES ('acme', 'north')`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
    SELECT 'acme', 'guest', group_no FROM device_groups WHERE group_id = 'north'`);
  await service.sql(`INSERT INTO group_devices (device_no, group_no)
    SELECT device_no, group_no FROM devices, device_groups WHERE device_id = 'truck-2' AND group_id = 'north'`);
  [token, admin, guest] = await Promise.all([
    service.login('acme', 'dispatch'),
    service.login('acme', 'admin'),
    service.login('acme', 'guest'),
  ]);
});

afterAll(() => service.close());

const get = async (path: string, by = token) => {
  const answer = await service.call({ path: `/api/v1${path}/authorization`, token: by });
  return { status: answer.status, text: answer.text, ...answer.json() } as Record<string, unknown> & {
    status: number;
  };
};

describe('diagnostics', () => {
  it('of a unit that never sent anything are empty', async () => {
    expect(await get('/diagnostic/diagnostic/truck-1')).toMatchObject({
      deviceID: 'truck-1',
      online: false,
      lastHeartbeat: 0,
      lastHello: 0,
      agentVersion: '',
      boot: null,
      features: [],
      sensors: [],
      timeQuality: 'none',
      lastFix: 0,
      diagnosticTime: 0,
      queueDepth: null,
      voltage: null,
      gps: null,
      disk: null,
      diagnostic: {},
    });
  });

  it('say which device went over its limit within the hour, of the own account only', async () => {
    service.pin();
    const metrics = service.api.metrics();
    const over = { lastHour: 7, lastMs: 1_763_683_200_000 };
    const overLimit = ['acme/truck-2', 'rival/truck-1'].map((name) => ({ name, ...over }));
    const spy = vi.spyOn(service.api, 'metrics').mockReturnValue({ ...metrics, overLimit });
    onTestFinished(() => spy.mockRestore());
    expect(await get('/diagnostic/diagnostic/truck-2')).toMatchObject({ overLimit: 7 });
    expect(await get('/diagnostic/diagnostic/truck-1')).toMatchObject({ overLimit: null });
    const { diagnostics } = await get('/diagnostic/diagnosticall');
    expect((diagnostics as { overLimit: unknown }[]).map((one) => one.overLimit)).toEqual([null, 7, null]);
  });

  it('are the last diagnostic report of the unit', async () => {
    const said = JSON.stringify({ voltage: 12.4, queueDepth: 3, gps: 'no-fix', disk: true, modem: 'LTE' });
    await service.sql(`UPDATE devices SET diagnostic = '${said}', diagnostic_ms = 1763683100999, is_online = 1,
      heartbeat_ms = 1763683200500, agent_version = '0.9.0' WHERE device_id = 'truck-2'`);
    const expected = {
      deviceID: 'truck-2',
      online: true,
      lastHeartbeat: 1763683200,
      agentVersion: '0.9.0',
      diagnosticTime: 1763683100,
      voltage: 12.4,
      queueDepth: 3,
      gps: 'no-fix',
      disk: null,
      diagnostic: { voltage: 12.4, queueDepth: 3, gps: 'no-fix', disk: true, modem: 'LTE' },
    };
    expect(await get('/diagnostic/diagnostic/truck-2')).toMatchObject(expected);
    expect(((await get('/diagnostic/diagnosticall'))['diagnostics'] as object[])[1]).toMatchObject(expected);
  });

  it('list every device in the order of ids, and for a limited user those of its groups', async () => {
    const ids = async (by: string) =>
      ((await get('/diagnostic/diagnosticall', by))['diagnostics'] as { deviceID: string }[]).map(
        ({ deviceID }) => deviceID,
      );
    expect(await ids(token)).toEqual(['truck-1', 'truck-2', 'truck-3']);
    expect(await ids(guest)).toEqual(['truck-2']);
    for (const deviceID of ['truck-1', 'truck-9', 'nothing']) {
      expect((await get(`/diagnostic/diagnostic/${deviceID}`, guest)).status).toBe(404);
    }
  });
});

describe('lost vehicles', () => {
  const ids = async (path: string, by = token) =>
    ((await get(path, by))['devices'] as { deviceID: string }[]).map(({ deviceID }) => deviceID);
  const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000;

  it('are those silent for longer, longest first; one that never reported counts from its creation', async () => {
    const set = (deviceID: string, heartbeatMs: number, createdMs: number) =>
      service.sql(`UPDATE devices SET heartbeat_ms = ${heartbeatMs}, created_s = ${Math.floor(createdMs / 1000)}
        WHERE device_id = '${deviceID}'`);
    await set('truck-1', minutesAgo(90), minutesAgo(9000));
    await set('truck-2', minutesAgo(2000), minutesAgo(9000));
    await set('truck-3', 0, minutesAgo(3000));
    expect(await ids('/device/lostvehicles')).toEqual(['truck-3', 'truck-2']);
    expect(await ids('/device/lostvehicles/60')).toEqual(['truck-3', 'truck-2', 'truck-1']);
    expect(await ids('/device/lostvehicles/2500')).toEqual(['truck-3']);
    expect(await ids('/device/lostvehicles/60', guest)).toEqual(['truck-2']);
    expect(await ids('/device/lostvehicles/9999999')).toEqual([]);
  });

  it.each(['0', '-1', 'x', '1.5', '10000000'])('are not looked for with %j minutes', async (minutes) => {
    expect((await get(`/device/lostvehicles/${minutes}`)).status).toBe(422);
  });

  it('come complete over many pages', async () => {
    await service.sql(`INSERT INTO devices (account_no, account_id, device_id, created_s, heartbeat_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 230)
      SELECT account_no, account_id, 'lost-' || i, 1, 1000 * (i % 7) + 1 FROM accounts, n WHERE account_id = 'acme'`);
    const lost = await ids('/device/lostvehicles/60');
    expect(lost).toHaveLength(233);
    expect(new Set(lost).size).toBe(233);
    await service.sql(`DELETE FROM devices WHERE device_id LIKE 'lost-%'`);
  });
});

describe('the monitor', () => {
  it('counts what its caller may see', async () => {
    const now = Date.now();
    const panic = (seq: number, timestamp: number) => ({
      seq,
      timestamp,
      statusCode: 63553,
      inputs: { panic: true },
    });
    await service.events('acme', 'truck-1', {
      boot: 'm',
      events: [panic(1, now), panic(2, now - 90_000_000)],
    });
    await service.events('acme', 'truck-2', {
      boot: 'm',
      events: [panic(1, now), { ...panic(2, now), statusCode: 61472 }],
    });
    await service.events('rival', 'truck-9', { boot: 'm', events: [panic(1, now)] });
    await service.sql(`UPDATE devices SET is_online = CASE WHEN device_id = 'truck-1' THEN 0 ELSE 1 END`);
    const body = { deviceID: 'truck-1', feature: 'cargoaccess', state: '1' };
    await service.call({ method: 'POST', path: '/api/v1/command/feature/authorization', token, body });
    expect(await get('/metrics/getMonitorMetaData')).toMatchObject({
      totalDevices: 3,
      onlineDevices: 2,
      offlineDevices: 1,
      alarms: 2,
      pendingCommands: 1,
      ingestLagMs: expect.any(Number),
      timestamp: expect.any(Number),
    });
    expect(await get('/metrics/getMonitorMetaData', guest)).toMatchObject({
      totalDevices: 1,
      onlineDevices: 1,
      offlineDevices: 0,
      alarms: 1,
      pendingCommands: 0,
    });
  });
});

describe('the audit log', () => {
  type Entry = Readonly<Record<string, unknown>>;
  const page = async (query: string, by = admin) => {
    const answer = await service.call({ path: `/api/v1/audit/entries/authorization${query}`, token: by });
    return answer.json() as { entries: Entry[]; more: boolean; next: string | null };
  };

  it('is given newest first, page by page, complete, and only to administrators', async () => {
    const entry = { atMs: 1_763_683_200_999, actor: 'admin', source: '192.0.2.7', action: 'user.create' };
    for (let index = 0; index < 25; index++) {
      const object = `user-${index % 2}`;
      await service.write([
        insertAudit({ ...entry, accountID: 'acme', object, detail: { index } }),
        insertAudit({ ...entry, accountID: 'rival', object, detail: { text: canary } }),
      ]);
    }
    const all = await page('?limit=500');
    expect([all.more, all.next]).toEqual([false, null]);
    expect(all.entries.slice(0, 25).map(({ detail }) => (detail as { index: number }).index)).toEqual(
      Array.from({ length: 25 }, (_, index) => 24 - index),
    );
    expect(all.entries[0]).toMatchObject({
      timestamp: 1763683200,
      userID: 'admin',
      source: '192.0.2.7',
      action: 'user.create',
      object: 'user-0',
    });
    expect(JSON.stringify(all)).not.toContain('CANARY');
    const paged: Entry[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const one = await page(`?limit=4${next === '' ? '' : `&cursor=${next}`}`);
      paged.push(...one.entries);
      expect(one.more).toBe(one.next !== null);
      next = one.next;
    }
    expect(paged.map(({ entryID }) => entryID)).toEqual(all.entries.map(({ entryID }) => entryID));
    expect((await page('?object=user-1&limit=500')).entries).toHaveLength(12);
    const refused = await service.call({ path: '/api/v1/audit/entries/authorization', token });
    expect(refused.status).toBe(422);
  });

  it('seals an entry soon, and shows an erased detail as null', async () => {
    await expect.poll(async () => (await page('?limit=1')).entries[0]?.['hash']).toMatch(/^[0-9a-f]{64}$/);
    await service.sql(`UPDATE audit SET detail = NULL WHERE account_id = 'acme'`);
    expect((await page('?limit=1')).entries[0]).toMatchObject({
      detail: null,
      chainNumber: expect.any(Number),
    });
  });

  it.each(['?limit=0', '?limit=501', '?limit=x', '?cursor=x', '?object=', '?nonsense=1'])(
    'refuses %s',
    async (query) => {
      const answer = await service.call({
        path: `/api/v1/audit/entries/authorization${query}`,
        token: admin,
      });
      expect(answer.status).toBe(422);
    },
  );
});
