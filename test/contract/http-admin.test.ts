// The listener of the service's operator: who may use it, what it does to accounts, and that a deleted account leaves
// nothing behind but the chain of its audit log.
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clearSome } from '../../broker/accounts/account-deletion.ts';
import { createHttpServer, type HttpServer } from '../../broker/adapters/http/fastify.ts';
import { createAdminToken, loadAdminTokenHash } from '../../broker/adapters/keys/admin-token-file.ts';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { createOperatorCheck } from '../../broker/api/operator/admin-caller.ts';
import { adminIntroduction, adminOperations } from '../../broker/api/operator/admin-operations.ts';
import { allFeatures, featureTables } from '../../broker/features.ts';
import { operations } from '../../broker/operations.ts';
import { accountTables } from '../../broker/store/accounts/account-deletion.ts';
import { userTables } from '../../broker/store/accounts/users.ts';
import { purgeSome } from '../../broker/upkeep/purge.ts';
import { createSystemEntropy } from '../../src/adapters/system.ts';
import { tablesOf } from '../support/database/test-database.ts';
import { type HttpService, seedFleet } from '../support/http/http-fixtures.ts';
import { password, startHttpService } from '../support/http/http-service.ts';
import { openOperatorHost, statusOf } from '../support/http/operator-host.ts';
import { temporaryFolder } from '../support/machine/temporary-folder.ts';

const folder = temporaryFolder('admin');
const file = join(folder, 'admin.token');
const acme = { accountID: 'acme' };

let service: HttpService;
let host: HttpServer;
let token = '';

const open = async (from: HttpService): Promise<HttpServer> =>
  (
    await openOperatorHost(from, {
      authenticate: createOperatorCheck(loadAdminTokenHash('admin.tokenFile', file)),
    })
  ).http;

beforeAll(async () => {
  createAdminToken(file, createSystemEntropy());
  token = readFileSync(file, 'utf8').trim();
  service = await startHttpService();
  await seedFleet(service);
  host = await open(service);
});

afterAll(async () => {
  await host.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

async function call(path: string, body?: object, used = token) {
  const answer = await host.inject({
    method: body === undefined ? 'GET' : 'POST',
    url: `/api/v1/admin${path}/authorization`,
    headers: { authorization: used, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: answer.body, json: () => answer.json<Record<string, unknown>>() };
}
const allOperations = () => adminOperations(statusOf(service).status);
const codeOf = (answer: Awaited<ReturnType<typeof call>>) =>
  (answer.json()['error'] as { code: string } | undefined)?.code ?? answer.status;
const read = (used: string) => service.call({ path: '/api/v1/group/groups/authorization', token: used });
const audit = async (accountID: string, object: string) => {
  const [found] = await service.sql(
    `SELECT action FROM audit WHERE account_id = '${accountID}' AND object = '${object}' AND actor = 'operator' ORDER BY audit_no`,
  );
  return (found?.rows ?? []).map((row) => row['action']);
};

describe('the token of the operator', () => {
  it('stands in a file for its owner alone, and is never overwritten', () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(token).toMatch(/^service%7Coperator%7C[0-9a-f]{64}$/);
    expect(() => createAdminToken(file, createSystemEntropy())).toThrow(/EEXIST/);
    const shared = join(folder, 'shared.token');
    writeFileSync(shared, `${token}\n`);
    chmodSync(shared, 0o644);
    expect(() => loadAdminTokenHash('admin.tokenFile', shared)).toThrow(/can be read by others/);
    const broken = join(folder, 'broken.token');
    writeFileSync(broken, 'secret\n', { mode: 0o600 });
    expect(() => loadAdminTokenHash('admin.tokenFile', broken)).toThrow(/holds no token/);
    const hint = expect.stringContaining('admin-token --file');
    expect(() => loadAdminTokenHash('admin.tokenFile', join(folder, 'none'))).toThrow(
      expect.objectContaining({ hint }),
    );
  });

  it('is the only one that is good here, and good nowhere else', async () => {
    const users = await Promise.all(
      ['admin', 'dispatch', 'guest'].map((user) => service.login('acme', user)),
    );
    for (const used of [...users, '', 'x', token.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]) {
      expect(codeOf(await call('/accounts', undefined, used))).toBe('unauthorized');
    }
    expect((await call('/accounts', undefined, `Bearer ${token}`)).status).toBe(200);
    expect((await read(token)).status).toBe(401);
  });

  it('reaches nothing in an account, and its listener serves no operation of users', async () => {
    const paths = allOperations().flatMap(servedPaths);
    expect(operations.flatMap(servedPaths).filter((path) => paths.includes(path))).toEqual([]);
    const answer = await host.inject({
      url: '/device/getalldevices/authorization',
      headers: { authorization: token },
    });
    expect(answer.statusCode).toBe(404);
    const document = (await host.inject({ url: '/openapi.json' })).json<{
      paths: object;
      info: { description: string };
    }>();
    expect(Object.keys(document.paths)).toEqual(paths);
    expect(document.info.description).toBe(adminIntroduction);
  });

  it('is checked again by each operation, should one ever be listed for users', async () => {
    const wrong = await createHttpServer({
      services: service.api,
      operations: allOperations(),
      version: '0.0.0',
      readiness: async () => [],
    });
    onTestFinished(() => wrong.close());
    const authorization = await service.login('acme', 'admin');
    for (const { method, examples, path } of allOperations()) {
      const answer = await wrong.inject({
        method,
        url: `/api/v1${path.replace('{accountID}', 'acme')}`,
        headers: { authorization, 'content-type': 'application/json' },
        ...(examples.body === null ? {} : { payload: JSON.stringify(examples.body) }),
      });
      expect(answer.statusCode).toBe(404);
    }
  });
});

describe('accounts', () => {
  it('are created with an administrator; a generated password is shown once', async () => {
    const made = await call('/createaccount', { accountID: 'newcomer', userID: 'ann', maximumDevices: 1 });
    expect(made.json()).toMatchObject({
      accountID: 'newcomer',
      userID: 'ann',
      maximumDevices: 1,
      isActive: true,
    });
    const shown = String(made.json()['password']);
    const login = (secret: string) =>
      service.call({
        method: 'POST',
        path: '/auth/login',
        body: { accountID: 'newcomer', userID: 'ann', password: secret },
      });
    expect((await login(shown)).status).toBe(200);
    expect(codeOf(await call('/createaccount', { accountID: 'newcomer', userID: 'eve' }))).toBe('conflict');
    const weak = await call('/createaccount', {
      accountID: 'weak',
      userID: 'ann',
      password: 'passwordpassword',
    });
    expect(codeOf(weak)).toBe('invalid_content');
    const given = await call('/createaccount', { accountID: 'given', userID: 'ann', password });
    expect(given.json()).toMatchObject({ password: '' });
    for (const text of [
      service.logLines.join('\n'),
      JSON.stringify(await service.sql('SELECT * FROM audit')),
    ]) {
      expect(text).not.toContain(shown);
    }
    expect(await audit('', 'newcomer')).toEqual(['account.create']);
  });

  it('that are asked for by many at once are made once, with one administrator', async () => {
    const answers = await Promise.all(
      ['a1', 'a2', 'a3', 'a4'].map((userID) => call('/createaccount', { accountID: 'race', userID })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [users] = await service.sql("SELECT user_id FROM users WHERE account_id = 'race'");
    expect(users?.rows).toHaveLength(1);
    expect(await audit('', 'race')).toEqual(['account.create']);
  });

  it('are listed whole and shown one by one in the shape of their schema', async () => {
    const { accounts } = (await call('/accounts')).json() as { accounts: { accountID: string }[] };
    expect(accounts.map(({ accountID }) => accountID)).toEqual(
      expect.arrayContaining(['acme', 'newcomer', 'rival']),
    );
    for (const operation of allOperations()) {
      expect(Compile(operation.result).Errors(operation.examples.result), operation.id).toEqual([]);
    }
    expect((await call('/getaccount/acme')).json()).toMatchObject({ accountID: 'acme', isActive: true });
    expect(codeOf(await call('/getaccount/none'))).toBe('not_found');
  });

  it('are suspended and resumed: tokens are refused and taken at once', async () => {
    const own = await service.login('acme', 'guest');
    expect((await read(own)).status).toBe(200);
    expect((await call('/updateaccount', { ...acme, isActive: false })).json()).toMatchObject({
      isActive: false,
    });
    expect((await read(own)).status).toBe(401);
    await call('/updateaccount', { ...acme, isActive: true });
    expect((await read(own)).status).toBe(200);
    await call('/updateaccount', { ...acme, expirationTime: Math.floor(Date.now() / 1000) - 1 });
    expect((await read(own)).status).toBe(401);
    await call('/updateaccount', { ...acme, expirationTime: 0 });
    expect((await read(own)).status).toBe(200);
    expect((await audit('acme', 'acme')).slice(-4)).toEqual(
      Array.from({ length: 4 }, () => 'account.update'),
    );
  });

  it('keep the retention that they chose, within their limit', async () => {
    const days = async (maximumRetainedDays: number) =>
      (await call('/updateaccount', { ...acme, maximumRetainedDays })).json()['retainedDays'];
    expect(await days(90)).toBe(90);
    expect(await days(365)).toBe(365);
    await service.sql("UPDATE accounts SET retained_days = 30 WHERE account_id = 'acme'");
    expect(await days(100)).toBe(30);
    expect(await days(7)).toBe(7);
    expect(await days(0)).toBe(0);
  });

  it('may send as many events as the operator says, or as the service allows', async () => {
    const rate = async (maximumEventsPerSecond: number) =>
      (await call('/updateaccount', { ...acme, maximumEventsPerSecond })).json()['maximumEventsPerSecond'];
    expect([await rate(5000), await rate(0)]).toEqual([5000, 0]);
    const [stored] = await service.sql("SELECT events_per_s FROM accounts WHERE account_id = 'acme'");
    expect(stored?.rows).toEqual([{ events_per_s: null }]);
    expect(codeOf(await call('/updateaccount', { ...acme, maximumEventsPerSecond: -1 }))).toBe(
      'invalid_content',
    );
  });

  it('have no more devices than their limit', async () => {
    const [user] = await service.sql("SELECT 1 AS there FROM users WHERE account_id = 'given'");
    expect(user?.rows).toHaveLength(1);
    await call('/updateaccount', { accountID: 'given', maximumDevices: 1 });
    await service.device('given', 'one');
    await expect(service.device('given', 'two')).rejects.toThrow('is at its limit of devices');
    await call('/updateaccount', { accountID: 'given', maximumDevices: 0 });
    await service.device('given', 'two');
  });
});

describe('deleting an account', () => {
  const remove = (accountID: string) => call('/deleteaccount', { accountID, confirm: accountID });
  const ports = () => service.api;

  async function clear(accountID: string): Promise<number> {
    for (let steps = 1; steps < 1000; steps += 1) {
      const progress = await clearSome({ ...ports(), featureTables }, accountID);
      if (progress === 'gone') return steps;
      if (progress === 'waiting' && (await purgeSome(ports())) === null) return -steps;
    }
    throw new Error('it does not end');
  }

  it('needs the id of the account as a confirmation', async () => {
    expect(codeOf(await call('/deleteaccount', { accountID: 'race', confirm: 'acme' }))).toBe(
      'invalid_content',
    );
    expect(codeOf(await remove('nobody'))).toBe('not_found');
  });

  it('is refused while an engine is cut off or a cut-off is under way', async () => {
    const cut = (state: string) =>
      service.sql(`UPDATE device_states SET state = '${state}' WHERE name = 'enginecutoff' AND device_no IN (
        SELECT device_no FROM devices WHERE account_id = 'acme' AND device_id = 'truck-17')`);
    await cut('1');
    const refused = await remove('acme');
    expect(codeOf(refused)).toBe('conflict');
    expect(refused.text).toContain('truck-17');
    await cut('0');
    const dispatch = await service.login('acme', 'dispatch');
    await service.call({
      method: 'POST',
      path: '/api/v1/command/feature/authorization',
      token: dispatch,
      body: { deviceID: 'truck-17', feature: 'enginecutoff', state: '1' },
    });
    expect(codeOf(await remove('acme'))).toBe('conflict');
    expect((await read(dispatch)).status).toBe(200);
    await service.sql("UPDATE commands SET is_final = 1, command_state = 'expired'");
  });

  it('closes it at once, clears everything away, and keeps the chain of its audit log', async () => {
    const own = await service.login('acme', 'guest');
    const others = async () => {
      const found: Record<string, unknown> = {};
      for (const { name, columns } of await tablesOf(service.db)) {
        if (!columns.includes('account_id') || ['audit', 'audit_heads'].includes(name)) continue;
        const [rows] = await service.sql(`SELECT * FROM ${name} WHERE account_id = 'rival' ORDER BY 1, 2`);
        found[name] = rows?.rows;
      }
      return found;
    };
    const before = await others();
    const hashes = async () =>
      (await service.sql("SELECT detail_hash FROM audit WHERE account_id = 'acme' ORDER BY audit_no"))[0]
        ?.rows ?? [];
    expect((await remove('acme')).status).toBe(200);
    expect((await remove('acme')).status).toBe(200);
    expect((await read(own)).status).toBe(401);
    const kept = await hashes();
    expect(kept.length).toBeGreaterThan(10);
    expect(codeOf(await call('/createaccount', { accountID: 'acme', userID: 'ann' }))).toBe('conflict');
    expect(await clear('acme')).toBeGreaterThan(3);
    expect(codeOf(await call('/getaccount/acme'))).toBe('not_found');
    expect(await others()).toEqual(before);
    expect(await hashes()).toEqual(kept);
    const [details] = await service.sql(
      "SELECT 1 AS there FROM audit WHERE account_id = 'acme' AND detail IS NOT NULL",
    );
    expect(details?.rows).toEqual([]);
    const [events] = await service.sql(
      'SELECT 1 AS there FROM events WHERE account_no NOT IN (SELECT account_no FROM accounts)',
    );
    expect(events?.rows).toEqual([]);
    expect(await audit('', 'acme')).toContain('account.delete');
    expect((await call('/createaccount', { accountID: 'acme', userID: 'ann' })).status).toBe(200);
    expect((await call('/getaccount/acme')).json()).toMatchObject({ deviceCount: 0, isDeleting: false });
  });

  it('waits for a device that is cut off after all, and can be taken back then', async () => {
    await service.account('late');
    await service.device('late', 'truck-1');
    await service.device('late', 'truck-2');
    // The report of the cut arrives between the refusal that it would have been and the work.
    await service.sql(`UPDATE device_states SET state = '1' WHERE name = 'enginecutoff' AND device_no IN (
      SELECT device_no FROM devices WHERE account_id = 'late' AND device_id = 'truck-2')`);
    await service.sql("UPDATE accounts SET is_active = 0, deleting_s = 1 WHERE account_id = 'late'");
    expect(await clear('late')).toBeLessThan(0);
    expect((await call('/getaccount/late')).json()).toMatchObject({ isDeleting: true, deviceCount: 1 });
    expect(codeOf(await call('/updateaccount', { accountID: 'late', maximumDevices: 3 }))).toBe('conflict');
    expect((await call('/updateaccount', { accountID: 'late', isActive: true })).json()).toMatchObject({
      isDeleting: false,
      isActive: true,
    });
    expect(await service.login('late', 'admin')).toMatch(/^late%7C/);
  });

  it('knows every table that holds rows of an account or of a user', async () => {
    const tables = await tablesOf(service.db);
    const withColumn = async (...wanted: string[]) =>
      tables
        .filter(({ columns }) => wanted.every((column) => columns.includes(column)))
        .map(({ name }) => name)
        .sort();
    // Cleared by statements of their own, or meant to stay; a login at a cluster until its connection was ended.
    const special = [
      'accounts',
      'audit',
      'audit_heads',
      'certificate_cutoffs',
      'cluster_logins',
      'deleted_devices',
      'devices',
    ];
    const cleared = [...accountTables.map(([table]) => table), ...special];
    const ddl = (needed: string) =>
      allFeatures
        .flatMap(({ tables = [] }) => tables.map(({ sql: text }) => text.replaceAll(/\s+/g, ' ')))
        .flatMap((text) => (text.includes(needed) ? (/^CREATE TABLE (\w+)/.exec(text)?.[1] ?? []) : []));
    // Of features also what goes with its device, user or account.
    const withUser = ddl('REFERENCES users (account_id, user_id) ON DELETE CASCADE');
    const withAccount = ddl('REFERENCES accounts (account_id) ON DELETE CASCADE');
    const [byNumber, listed] = [true, false].map((wanted) =>
      featureTables.flatMap(([table, key]) => (key.startsWith('account_no,') === wanted ? [table] : [])),
    );
    expect(await withColumn('account_id')).toEqual(
      [...cleared, ...withUser, ...withAccount, ...(listed ?? [])].sort(),
    );
    const withNumber = ddl('REFERENCES accounts (account_no) ON DELETE CASCADE');
    expect(await withColumn('account_no')).toEqual(
      ['accounts', 'devices', 'events', ...withNumber, ...(byNumber ?? [])].sort(),
    );
    expect(await withColumn('account_id', 'user_id')).toEqual([...userTables, 'users', ...withUser].sort());
  });
});
