// The state of the service for its operator: who reads it, by which name it may be asked, what it says of a real store, and that it still
// comes while the store does not answer.
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOperatorCheck } from '../../broker/api/operator/admin-caller.ts';
import type { StatusView } from '../../broker/api/operator/status.ts';
import { statusAnswer } from '../../broker/api/operator/status-shapes.ts';
import { createLeases, leaseLimits } from '../../broker/cluster/leases.ts';
import { insertAudit } from '../../broker/store/accounts/audit.ts';
import { hashSecret } from '../../broker/store/devices/device-secret.ts';
import { findDevice } from '../../broker/store/devices/devices.ts';
import { backupEntry } from '../../broker/store/operating.ts';
import { createSeededEntropy } from '../../simulator/core/random.ts';
import { AppError } from '../../src/core/errors.ts';
import type { Database } from '../../src/ports.ts';
import { createBenchClock, createBenchLog, openBenchDatabase } from '../support/broker/broker-bench.ts';
import { isOnPostgres } from '../support/database/test-database.ts';
import { startHttpService } from '../support/http/http-service.ts';
import { backupLateS, type OperatorHost, openOperatorHost } from '../support/http/operator-host.ts';

const tokenOf = (digit: string): string => `service%7Coperator%7C${digit.repeat(64)}`;
const full = tokenOf('a');
const view = tokenOf('b');
const authenticate = createOperatorCheck(hashSecret(full), hashSecret(view));
const path = '/api/v1/admin/status/authorization';

let service: Awaited<ReturnType<typeof startHttpService>>;
let host: OperatorHost;

const get = (
  url: string,
  headers: Readonly<Record<string, string>> = { authorization: view },
  { http }: OperatorHost = host,
) => http.inject({ url, headers });
const status = async (of: OperatorHost = host): Promise<StatusView> =>
  (await get(path, undefined, of)).json<StatusView>();
/** Figures are held for some seconds: later ones are read anew. */
const later = (): void => service.advance(31_000);
const nowS = (): number => Math.floor(service.api.clock.utcMs() / 1000);

async function submit(deviceID: string, text: string): Promise<void> {
  const device = await findDevice(service.db, { accountID: 'acme', deviceID });
  if (device === null) throw new Error(`no device ${deviceID}`);
  await service.ingest.submit(device, new TextEncoder().encode(text));
}

beforeAll(async () => {
  service = await startHttpService();
  for (const accountID of ['acme', 'rival', 'small']) await service.account(accountID);
  for (const deviceID of ['truck-1', 'truck-2']) await service.device('acme', deviceID);
  await service.device('small', 'van-1');
  await service.user('acme', 'olga', 'operator');
  await service.sql("UPDATE accounts SET device_limit = 1 WHERE account_id = 'small'");
  await service.sql("UPDATE accounts SET device_limit = 100, retained_days = 30 WHERE account_id = 'acme'");
  await service.sql("UPDATE devices SET is_online = 1 WHERE device_id = 'truck-2'");
  host = await openOperatorHost(service, { authenticate, names: ['ops.example.com'] });
});

afterAll(async () => {
  await host.http.close();
  await service.close();
});

describe('the state of the service', () => {
  it('is read with either token of the operator, and with nothing else', async () => {
    for (const authorization of [full, view, `Bearer ${view}`])
      expect((await get(path, { authorization })).statusCode).toBe(200);
    const user = await service.login('acme', 'admin');
    for (const authorization of [user, tokenOf('c'), '', 'x', view.slice(0, -1)])
      expect((await get(path, { authorization })).statusCode).toBe(401);
    expect((await get(path, {})).statusCode).toBe(401);
    // Not at the listener of the users, with whichever token.
    for (const token of [full, view, user])
      expect([401, 404]).toContain((await service.call({ path, token })).status);
  });

  it('is all that the token for reading reaches', async () => {
    const codes = await Promise.all(
      ['accounts', 'getaccount/acme'].map(async (of) => {
        const answer = await get(`/api/v1/admin/${of}/authorization`);
        return answer.json<{ error?: { code: string } }>().error?.code;
      }),
    );
    expect(codes).toEqual(['forbidden', 'forbidden']);
    const made = await host.http.inject({
      method: 'POST',
      url: '/api/v1/admin/createaccount/authorization',
      headers: { authorization: view, 'content-type': 'application/json' },
      payload: JSON.stringify({ accountID: 'mine', userID: 'ann' }),
    });
    expect(made.json<{ error?: { code: string } }>().error?.code).toBe('forbidden');
    expect((await get('/api/v1/admin/accounts/authorization', { authorization: full })).statusCode).toBe(200);
  });

  it('can be the only thing that the listener has: then no token changes anything', async () => {
    const readOnly = await openOperatorHost(service, {
      authenticate: createOperatorCheck(null, hashSecret(view)),
    });
    onTestFinished(() => readOnly.http.close());
    expect((await get(path, { authorization: view }, readOnly)).statusCode).toBe(200);
    expect((await get(path, { authorization: full }, readOnly)).statusCode).toBe(401);
    // A listener without any token would take none either.
    const none = await openOperatorHost(service, { authenticate: createOperatorCheck(null, null) });
    onTestFinished(() => none.http.close());
    expect((await get(path, { authorization: view }, none)).statusCode).toBe(401);
  });

  it('is asked by an address, localhost or a listed name; a page of another host that points its name here gets nothing', async () => {
    const asked = async (name: string) => (await get(path, { authorization: view, host: name })).statusCode;
    for (const name of [
      '127.0.0.1:8081',
      '10.1.2.3',
      '[::1]:8081',
      'localhost:8081',
      'LOCALHOST',
      'localhost.',
      'ops.example.com',
    ])
      expect([name, await asked(name)]).toEqual([name, 200]);
    for (const name of [
      'evil.example',
      'evil.example:8081',
      'localhost.evil.example',
      'ops.example.com.evil.example',
      '127.0.0.1.evil.example',
      '127.0.0.1@evil.example',
      'evil.example/127.0.0.1',
      '::1',
      ' ',
    ])
      expect([name, await asked(name)]).toEqual([name, 400]);
    for (const url of ['/', '/console/', '/openapi.json', '/docs/', '/nothing'])
      expect([url, (await get(url, { host: 'evil.example' })).statusCode]).toEqual([url, 400]);
    // The token of a refused request is not in the log.
    expect(service.logLines.join('\n')).not.toContain(view.slice(-64));
  });

  it('has the shape of its schema, and the groups of a real store', async () => {
    later();
    const found = await status();
    expect(Compile(statusAnswer).Errors(found)).toEqual([]);
    expect(found).toMatchObject({
      service: { version: '0.0.0', database: isOnPostgres ? 'postgres' : 'sqlite', ingress: 'own' },
      accounts: { total: 3, devices: 3, devicesOnline: 1 },
      backup: { lateAfterS: backupLateS, good: null, failed: null },
    });
    expect(found.storage?.databaseBytes).toBeGreaterThan(1000);
    expect(found.storage?.slices.open).toBe(1);
  });

  it('shows accounts against their limits, the fullest first', async () => {
    later();
    const { accounts, findings } = await status();
    expect(accounts?.listed.map(({ accountID }) => accountID)).toEqual(['small', 'acme', 'rival']);
    expect(accounts?.listed[1]).toMatchObject({
      devices: 2,
      devicesOnline: 1,
      maximumDevices: 100,
      users: 2,
      retainedDays: 30,
      state: 'active',
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'account_near_limit', subject: 'small', value: 100 }),
    );
    await service.sql("UPDATE accounts SET is_active = 0 WHERE account_id = 'small'");
    later();
    const states = (await status()).accounts?.listed.map(({ state }) => state);
    await service.sql("UPDATE accounts SET is_active = 1 WHERE account_id = 'small'");
    expect(states).toEqual(['suspended', 'active', 'active']);
  });

  it('groups unreadable payloads by reason, with the newest device of each, and shows no payload', async () => {
    await submit('truck-1', '{"half');
    await submit('truck-2', '{"half');
    await submit('truck-2', 'secret-payload-4711');
    later();
    const { quarantine } = await status();
    expect(quarantine).toMatchObject({ payloads: 3, examined: 3, lastHour: 3 });
    expect(quarantine?.reasons.reduce((sum, { payloads }) => sum + payloads, 0)).toBe(3);
    for (const { accountID, deviceID, devices } of quarantine?.reasons ?? []) {
      expect([accountID, deviceID]).toEqual(['acme', 'truck-2']);
      expect(devices).toBeGreaterThan(0);
    }
    expect(JSON.stringify(await status())).not.toContain('4711');
  });

  it('names the last good backup and the last that failed', async () => {
    const record = (action: string, detail: object, atS: number) =>
      service.write([
        insertAudit({
          accountID: '',
          atMs: atS * 1000,
          actor: 'operator',
          source: '',
          action,
          object: backupEntry.object,
          detail: { ...detail },
        }),
      ]);
    const made = { file: 'b.db', bytes: 4096, durationS: 2.5, hasSigningKey: true };
    // Within one second: their order says which was the last.
    const atS = nowS();
    await record(backupEntry.good, made, atS);
    await record(backupEntry.failed, { reason: 'the disk is full' }, atS);
    later();
    const { backup } = await status();
    expect(backup?.good).toEqual({ ...made, atS });
    expect(backup?.failed).toEqual({ reason: 'the disk is full', atS, isLast: true });
    await record(backupEntry.good, made, atS);
    later();
    expect((await status()).backup?.failed).toMatchObject({ isLast: false });
  });

  it('counts what waits, with the age of the oldest', async () => {
    const sinceMs = (nowS() - 1000) * 1000;
    await service.sql(`INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, lane, state, next_ms, created_ms,
      since_ms) VALUES ('acme', -77, 0, 'email', 'a@example.com', 'a', 'pending', ${sinceMs + 9e9}, ${sinceMs}, ${sinceMs})`);
    onTestFinished(async () => void (await service.sql('DELETE FROM deliveries WHERE event_no = -77')));
    later();
    const { queues, findings } = await status();
    const deliveries = queues?.listed.find(({ name }) => name === 'deliveries');
    expect(deliveries?.waiting).toBe(1);
    expect(deliveries?.oldestS).toBeGreaterThanOrEqual(1000);
    expect(findings).toContainEqual(expect.objectContaining({ code: 'queue_old', subject: 'deliveries' }));
  });

  it('counts errors, warnings and refused vehicles of the last hour by their names', async () => {
    const log = host.meter.watchLog(createBenchLog()).with({ part: 'a' });
    log.error('disk_failed', { reason: 'x' });
    log.error('disk_failed');
    log.warn('slow');
    log.info('fine');
    host.meter.recent.mqtt.add('refused_full');
    host.meter.recent.mqtt.add('accepted');
    const { errors, connections, findings } = await status();
    expect(errors.listed.map(({ name, level, lastHour }) => [name, level, lastHour])).toEqual([
      ['disk_failed', 'error', 2],
      ['slow', 'warn', 1],
    ]);
    expect(connections.refused).toMatchObject([{ name: 'refused_full', lastHour: 1 }]);
    expect(findings.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['errors_logged', 'devices_refused']),
    );
  });

  it('still comes while the store fails or hangs: what is known stays, as old as it is', async () => {
    let mode: 'works' | 'fails' | 'hangs' = 'works';
    let reads = 0;
    const db: Database = {
      ...service.api.db,
      read(statement) {
        reads += 1;
        if (mode === 'fails') return Promise.reject(new AppError('storage', 'gone'));
        return mode === 'hangs' ? new Promise(() => undefined) : service.api.db.read(statement);
      },
    };
    const readiness = async () => [
      { name: 'database', fault: mode === 'works' ? null : 'cannot be written' },
    ];
    const changes = { db, readiness, server: null };
    const own = await openOperatorHost(service, { authenticate, changes });
    onTestFinished(() => own.http.close());
    const before = await status(own);
    expect(before.accounts?.total).toBe(3);
    mode = 'fails';
    service.advance(700_000);
    const after = await status(own);
    expect(after.accounts).toEqual(before.accounts);
    expect(after.timestamp - (after.accounts?.atS ?? 0)).toBeGreaterThanOrEqual(700);
    expect(
      after.findings.filter(({ level }) => level === 'act').map(({ code, subject }) => [code, subject]),
    ).toEqual(
      expect.arrayContaining([
        ['not_ready', 'database'],
        ['figures_old', 'accounts'],
      ]),
    );
    expect(after.level).toBe('act');
    mode = 'hangs';
    await Promise.all([status(own), status(own)]);
    const once = reads;
    await status(own);
    // No further read joins those that hang.
    expect(reads).toBe(once);
  });

  it('asks the store once for many pages', async () => {
    let reads = 0;
    const db: Database = {
      ...service.api.db,
      read: (statement) => ((reads += 1), service.api.db.read(statement)),
    };
    const own = await openOperatorHost(service, { authenticate, changes: { db, server: null } });
    onTestFinished(() => own.http.close());
    await status(own);
    const first = reads;
    await Promise.all(Array.from({ length: 20 }, () => status(own)));
    expect(reads).toBe(first);
  });

  it.skipIf(!isOnPostgres)(
    'has size and archiving of a database server, and the bridges that hold it',
    async () => {
      later();
      const own = await openOperatorHost(service, { authenticate, changes: { ingress: 'cluster' } });
      onTestFinished(() => own.http.close());
      const { backup, bridges, storage } = await status(own);
      expect(storage?.databaseBytes).toBeGreaterThan(1e6);
      expect(storage?.freeBytes).toBeNull();
      expect(backup?.archive).toBeNull();
      expect(bridges?.listed).toEqual([]);
    },
  );
});

describe('leases', () => {
  it('are shown with their holder and how long it has been silent, by the clock of the bridge that looks', async () => {
    const db = await openBenchDatabase();
    const clock = createBenchClock();
    const entropy = createSeededEntropy('leases');
    const settle = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const create = (on: Database) =>
      createLeases({ db: on, clock, entropy, log: createBenchLog(), onCommit: () => () => undefined });
    let isCut = false;
    const lost: Database = {
      ...db,
      read: (statement) => (isCut ? Promise.reject(new Error('gone')) : db.read(statement)),
    };
    const first = create(lost);
    await settle(1000);
    const second = create(db);
    await settle(leaseLimits.beatMs * 2);
    expect(first.list().map(({ name, isOwn }) => [name, isOwn])).toEqual([
      ['notifications', true],
      ['upkeep', true],
    ]);
    const [seen] = second.list();
    expect(seen).toMatchObject({ isOwn: false, holder: first.list()[0]?.holder });
    expect(seen?.holder).toHaveLength(8);
    expect(seen?.silentS).toBeLessThanOrEqual(leaseLimits.beatMs / 1000);
    isCut = true;
    await settle(9000);
    expect(second.list()[0]?.silentS).toBeGreaterThan(5);
    await Promise.all([first.close(), second.close()]);
    await db.close();
  });
});
