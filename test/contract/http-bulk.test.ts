// Requests about many devices keep every rule of a request about one, say of each device how it ended, and are carried out once. A bulk
// cut never opens the breaker by its size, and a bulk restore is never limited.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpService } from '../support/http/http-service.ts';

type Service = Awaited<ReturnType<typeof startHttpService>>;
interface Item {
  readonly deviceID: string;
  readonly status: number;
  readonly error: { readonly code: string; readonly detail: string } | null;
  readonly isChanged?: boolean;
  readonly command?: {
    readonly commandID: string;
    readonly commandState: string;
    readonly approvalID: string;
  } | null;
}

let service: Service;
const tokens = new Map<string, string>();
const trucks = Array.from({ length: 30 }, (_unused, at) => `truck-${at + 1}`);

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const deviceID of trucks) await service.device('acme', deviceID);
  await service.device('rival', 'theirs');
  await service.user('acme', 'olga', 'operator');
  await service.user('acme', 'otto', 'operator');
  await service.user('acme', 'north', 'operator');
  await service.user('acme', 'guest', 'viewer');
  await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'north'");
  await service.sql(
    "INSERT INTO device_groups (account_id, group_id, display_name, description) VALUES ('acme', 'yard', 'Yard', ''), ('rival', 'yard', 'Yard', '')",
  );
  await service.sql(`INSERT INTO group_devices (device_no, group_no) SELECT d.device_no, g.group_no FROM devices d
    JOIN device_groups g ON g.account_id = d.account_id WHERE d.device_id = 'truck-1'`);
  await service.sql(`INSERT INTO group_users (account_id, user_id, group_no) SELECT 'acme', 'north', group_no
    FROM device_groups WHERE account_id = 'acme'`);
  for (const name of ['acme/admin', 'acme/olga', 'acme/otto', 'acme/north', 'acme/guest', 'rival/admin']) {
    const [accountID = '', userID = ''] = name.split('/');
    tokens.set(name, await service.login(accountID, userID));
  }
});
afterAll(() => service.close());

beforeEach(async () => {
  await service.sql('DELETE FROM commands');
  await service.sql('DELETE FROM approvals');
  await service.sql('UPDATE users SET breaker_s = NULL');
  await service.sql(
    "UPDATE accounts SET breaker_s = NULL, breaker_by = NULL, needs_approval = 0, cuts_per_hour = 20 WHERE account_id = 'acme'",
  );
});

async function post(path: string, body: object, { as = 'acme/olga', key = '' } = {}) {
  const answer = await service.call({
    method: 'POST',
    path: `/api/v1${path}/authorization`,
    token: tokens.get(as) ?? '',
    body,
    ...(key === '' ? {} : { headers: { 'idempotency-key': key } }),
  });
  const json = answer.json();
  return {
    status: answer.status,
    headers: answer.headers,
    json,
    items: (json['items'] ?? []) as readonly Item[],
    error: json['error'] as { code: string; detail: string; errors: { pointer: string }[] } | undefined,
  };
}

const command = (deviceIDs: readonly string[], state: '0' | '1', options = {}) =>
  post('/command/devices', { deviceIDs, feature: 'enginecutoff', state }, options);
const countOf = async (text: string): Promise<number> =>
  Number((await service.rows(`SELECT COUNT(*) AS n FROM ${text}`))[0]?.['n']);

describe('one command for many devices', () => {
  it('reports the outcome of each, in the order of the request, with an audit entry each', async () => {
    const before = await countOf("audit WHERE action = 'command.request'");
    const { status, json, items } = await command(['truck-3', 'nope', 'theirs', 'truck-1'], '1');
    expect(status).toBe(200);
    expect(json).toMatchObject({ done: 2, failed: 2, status_code: '200', success: '1' });
    expect(items.map(({ deviceID, status: one }) => [deviceID, one])).toEqual([
      ['truck-3', 200],
      ['nope', 404],
      ['theirs', 404],
      ['truck-1', 200],
    ]);
    expect(items[1]).toMatchObject({ error: { code: 'not_found' }, command: null });
    expect(items[0]?.command).toMatchObject({ commandState: 'requested' });
    expect(await countOf("audit WHERE action = 'command.request'")).toBe(before + 2);
    expect(await countOf('commands')).toBe(2);
  });

  it('is carried out once for an idempotency key, whatever is sent between', async () => {
    const first = await command(['truck-1', 'truck-2', 'nope'], '1', { key: 'convoy-1' });
    const again = await command(['truck-1', 'truck-2', 'nope'], '1', { key: 'convoy-1' });
    expect(again.json).toEqual(first.json);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await countOf('commands')).toBe(2);
    expect((await command(['truck-1'], '1', { key: 'convoy-1' })).error?.code).toBe('conflict');
  });

  it('shows and reaches only what the caller sees; of none of them the answer is 404', async () => {
    const { items } = await command(['truck-1', 'truck-2'], '0', { as: 'acme/north' });
    expect(items.map(({ status }) => status)).toEqual([200, 404]);
    expect((await command(['truck-2', 'truck-3'], '0', { as: 'acme/north' })).status).toBe(404);
    expect((await command(['truck-1', 'truck-2'], '0', { as: 'rival/admin' })).status).toBe(404);
    expect((await command(['truck-1'], '0', { as: 'acme/guest' })).error?.code).toBe('forbidden');
    expect(await countOf('commands')).toBe(1);
  });

  it('restores a hundred at once with the breaker open and every limit spent', async () => {
    await service.sql(
      "UPDATE accounts SET breaker_s = 1, breaker_by = 'olga', cuts_per_hour = 1 WHERE account_id = 'acme'",
    );
    const { status, json, items } = await command(trucks, '0');
    expect([status, json['done'], json['failed']]).toEqual([200, 30, 0]);
    expect(items.map(({ deviceID }) => deviceID)).toEqual(trucks);
  });

  it('of cuts is refused as a whole when the hourly limit does not admit all, and does not open the breaker', async () => {
    await service.sql("UPDATE accounts SET cuts_per_hour = 3 WHERE account_id = 'acme'");
    const { status, error } = await command(trucks.slice(0, 4), '1');
    expect([status, error?.code]).toEqual([422, 'conflict']);
    expect(error?.detail).toContain('3 are left');
    expect(await countOf('commands')).toBe(0);
    expect(await countOf("accounts WHERE account_id = 'acme' AND breaker_s IS NOT NULL")).toBe(0);
    expect((await command(trucks.slice(0, 3), '1')).json['done']).toBe(3);
    expect((await command(['truck-9'], '1')).error?.code).toBe('conflict');
    expect(await countOf("accounts WHERE account_id = 'acme' AND breaker_s IS NOT NULL")).toBe(0);
  });

  it('with state 1 takes ten devices, and what the minute still allows', async () => {
    const { status, error } = await command(trucks.slice(0, 11), '1');
    expect([status, error?.code, error?.errors[0]?.pointer]).toEqual([422, 'invalid_content', '/deviceIDs']);
    expect((await command(trucks.slice(0, 6), '1')).json['done']).toBe(6);
    const spent = await command(trucks.slice(6, 11), '1');
    expect([spent.status, spent.error?.code]).toEqual([503, 'throttled']);
    expect(Number(spent.headers['retry-after'])).toBeGreaterThan(0);
    expect(await countOf('commands')).toBe(6);
    const cargo = { deviceIDs: trucks.slice(6, 11), feature: 'cargoaccess', state: '1' };
    expect((await post('/command/devices', cargo)).error?.code).toBe('throttled');
    expect((await post('/command/devices', { ...cargo, state: '0' })).json['done']).toBe(5);
  });

  it('is refused while the breaker is open, and where the account allows no cuts', async () => {
    await service.sql("UPDATE accounts SET breaker_s = 1, breaker_by = 'olga' WHERE account_id = 'acme'");
    expect((await command(['truck-1'], '1')).error?.detail).toContain('breaker is open');
    await service.sql(
      "UPDATE accounts SET breaker_s = NULL, breaker_by = NULL, cuts_per_hour = 0 WHERE account_id = 'acme'",
    );
    expect((await command(['truck-1'], '1')).error?.detail).toContain('allows no engine cuts');
    expect(await countOf('commands')).toBe(0);
  });

  it('of cuts waits for a second user for each device by itself', async () => {
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    const { items } = await command(['truck-1', 'truck-2'], '1');
    expect(items.map((item) => item.command?.commandState)).toEqual(['approval', 'approval']);
    expect(new Set(items.map((item) => item.command?.approvalID)).size).toBe(2);
    expect(await countOf("commands WHERE command_state <> 'cancelled'")).toBe(0);
    const approved = await post(
      '/command/approve',
      { approvalID: items[0]?.command?.approvalID },
      { as: 'acme/otto' },
    );
    expect(approved.status).toBe(200);
    expect(await countOf('commands')).toBe(1);
  });

  it('two at once do not exceed the limit together', async () => {
    await service.sql("UPDATE accounts SET cuts_per_hour = 5 WHERE account_id = 'acme'");
    await Promise.all([command(trucks.slice(0, 5), '1'), command(trucks.slice(5, 10), '1')]);
    expect(await countOf('commands')).toBeLessThanOrEqual(5);
  });

  it.each([
    [{}],
    [{ deviceIDs: [] }],
    [{ deviceIDs: ['truck-1', 'truck-1'] }],
    [{ deviceIDs: ['truck-1'], state: 0 }],
    [{ deviceIDs: ['truck-1'], feature: 'firmware' }],
    [{ deviceIDs: [''] }],
    [{ deviceIDs: 'truck-1' }],
    [{ deviceIDs: Array.from({ length: 101 }, (_unused, at) => `t-${at}`) }],
    [{ deviceIDs: ['truck-1'], confirm: 'no' }],
    [{ deviceIDs: ['truck-1'], deviceID: 'truck-1' }],
    [{ deviceIDs: ['truck-1'], ttl: 5 }],
  ])('refuses the whole of what is no such request: %j', async (change) => {
    const { status, error } = await post('/command/devices', {
      feature: 'enginecutoff',
      state: '0',
      ...change,
    });
    expect([status, error?.code]).toEqual([422, 'invalid_content']);
    expect(await countOf('commands')).toBe(0);
  });

  it('does nothing when the user did not confirm', async () => {
    const body = { deviceIDs: ['truck-1'], feature: 'enginecutoff', state: '1', confirm: false };
    expect((await post('/command/devices', body)).items[0]).toMatchObject({ status: 422, command: null });
    expect(await countOf('commands')).toBe(0);
  });
});

describe('devices that join and leave a group', () => {
  const change = (body: object, options = {}) =>
    post('/group/changedevices', { groupID: 'yard', ...body }, { as: 'acme/admin', ...options });
  const members = async (): Promise<readonly string[]> =>
    (
      await service.rows(`SELECT d.device_id FROM group_devices m JOIN devices d ON d.device_no = m.device_no
        JOIN device_groups g ON g.group_no = m.group_no WHERE g.account_id = 'acme' AND g.group_id = 'yard' ORDER BY d.device_id`)
    ).map((row) => String(row['device_id']));

  beforeEach(async () => {
    await service.sql(
      "DELETE FROM group_devices WHERE device_no NOT IN (SELECT device_no FROM devices WHERE device_id = 'truck-1')",
    );
    await change({ add: ['truck-1'] });
  });

  it('change alone, each with its result and its audit entry', async () => {
    const before = await countOf("audit WHERE action LIKE 'group.%device'");
    const { json, items } = await change({
      add: ['truck-2', 'truck-1', 'nope', 'theirs'],
      remove: ['truck-5'],
    });
    expect(json).toMatchObject({ done: 3, failed: 2 });
    expect(items.map(({ deviceID, status, isChanged }) => [deviceID, status, isChanged])).toEqual([
      ['truck-2', 200, true],
      ['truck-1', 200, false],
      ['nope', 404, false],
      ['theirs', 404, false],
      ['truck-5', 200, false],
    ]);
    expect(await members()).toEqual(['truck-1', 'truck-2']);
    expect(await countOf("audit WHERE action LIKE 'group.%device'")).toBe(before + 1);
    expect((await change({ remove: ['truck-2'] })).items[0]).toMatchObject({ isChanged: true });
    expect(await members()).toEqual(['truck-1']);
  });

  it('of two administrators at once are all there', async () => {
    await Promise.all([change({ add: trucks.slice(1, 12) }), change({ add: trucks.slice(12, 25) })]);
    expect(await members()).toHaveLength(25);
  });

  it('are shown to the members of the group at once, and no more once they left', async () => {
    await change({ add: ['truck-7'] });
    expect((await command(['truck-7'], '0', { as: 'acme/north' })).status).toBe(200);
    await change({ remove: ['truck-7'] });
    expect((await command(['truck-7'], '0', { as: 'acme/north' })).status).toBe(404);
  });

  it('need a group of the account, and a sensible request', async () => {
    expect((await change({ groupID: 'nope', add: ['truck-2'] })).status).toBe(404);
    expect((await change({ add: ['truck-2'] }, { as: 'rival/admin' })).status).toBe(404);
    expect((await change({ add: ['truck-2'] }, { as: 'acme/olga' })).error?.code).toBe('forbidden');
    for (const body of [
      {},
      { add: [], remove: [] },
      { add: ['truck-2'], remove: ['truck-2'] },
      { add: ['a', 'a'] },
      { add: 'truck-2' },
    ])
      expect((await change(body)).error?.code).toBe('invalid_content');
    expect(await members()).toEqual(['truck-1']);
  });
});

describe('the deletion of many devices', () => {
  const remove = (deviceIDs: readonly string[], options = {}) =>
    post('/device/deletedevices', { deviceIDs }, { as: 'acme/admin', ...options });

  it('deletes each that may go, keeps a vehicle that is cut off, and is done once for a key', async () => {
    for (const deviceID of ['old-1', 'old-2', 'cut']) await service.device('acme', deviceID);
    await service.sql(`INSERT INTO device_states (device_no, name, state, changed_ms)
      SELECT device_no, 'enginecutoff', '1', 1 FROM devices WHERE account_id = 'acme' AND device_id = 'cut'
      ON CONFLICT (device_no, name) DO UPDATE SET state = '1'`);
    const asked = ['old-1', 'cut', 'nope', 'theirs', 'old-2'];
    const first = await remove(asked, { key: 'spring-cleaning' });
    expect(first.items.map(({ status }) => status)).toEqual([200, 422, 404, 404, 200]);
    expect(first.items[1]?.error).toMatchObject({ code: 'conflict' });
    expect((await remove(asked, { key: 'spring-cleaning' })).json).toEqual(first.json);
    expect(await countOf("audit WHERE action = 'device.delete' AND account_id = 'acme'")).toBe(2);
    expect(await countOf("devices WHERE device_id IN ('old-1', 'old-2')")).toBe(0);
    expect(await countOf("devices WHERE device_id IN ('cut', 'theirs')")).toBe(2);
  });

  it('is for administrators of the own account', async () => {
    expect((await remove(['truck-30'], { as: 'acme/olga' })).error?.code).toBe('forbidden');
    expect((await remove(['truck-30'], { as: 'rival/admin' })).status).toBe(404);
    expect(await countOf("devices WHERE device_id = 'truck-30'")).toBe(1);
  });
});
