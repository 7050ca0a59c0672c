// Every operation, two tenants, three roles, and a user whose groups hold no device: who gets an answer, and that no one
// ever sees or changes what is another's. Made from the list of operations: a new one is in the matrix by being there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operation, servedPaths } from '../../broker/api/base/operation.ts';
import { type Role, roleCovers } from '../../broker/core/accounts/session.ts';
import { operations } from '../../broker/operations.ts';
import { purgeSome } from '../../broker/upkeep/purge.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { tablesOf } from '../support/database/test-database.ts';
import { canary } from '../support/http/canary.ts';
import { type HttpService, prepareCall, seedFleet } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
const tokens = new Map<string, string>();
const users = { admin: 'admin', operator: 'dispatch', viewer: 'guest' } as const satisfies Record<
  Role,
  string
>;
const roles: readonly Role[] = ['viewer', 'operator', 'admin'];

/** In every text of the tenant `acme` that others could see. */
const ours = 'MARK-of-acme';

beforeAll(async () => {
  service = await startHttpService();
  await seedFleet(service);
  await service.user('rival', 'dispatch', 'operator');
  await service.user('rival', 'guest', 'viewer');
  await service.user('acme', 'nobody', 'operator');
  await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'nobody'");
  await service.sql(`UPDATE devices SET driver = '${ours}' WHERE account_id = 'acme'`);
  for (const tenant of ['acme', 'rival']) {
    for (const user of Object.values(users)) {
      tokens.set(`${tenant}/${user}`, await service.login(tenant, user));
    }
  }
  tokens.set('acme/nobody', await service.login('acme', 'nobody'));
});

afterAll(() => service.close());

/** Endless answers have tests of their own; login and logout name their user themselves. */
const targets = operations.filter(
  ({ access, produces, id }) => access !== 'public' && produces !== 'text/event-stream' && id !== 'logout',
);

async function call(operation: Operation, who: string) {
  const prepared = await prepareCall(service, operation);
  const params = { ...(operation.examples.params as Record<string, string>), ...prepared.params };
  const path = (servedPaths(operation)[0] ?? '').replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const body = prepared.body ?? operation.examples.body ?? undefined;
  const token = prepared.token !== undefined && who.startsWith('acme/') ? prepared.token : tokens.get(who);
  return service.call({
    method: operation.method,
    path,
    token: token ?? '',
    ...(body === undefined ? {} : { body }),
  });
}

const byAccount = "account_id = 'acme'";
const byDevice = `device_no IN (SELECT device_no FROM devices WHERE ${byAccount})`;

/** Everything that belongs to `acme`, as text by table; what a mere look leaves behind is left out. */
async function belongings(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, columns } of await tablesOf(service.db)) {
    const owner = columns.includes('account_id')
      ? byAccount
      : columns.includes('device_no')
        ? byDevice
        : null;
    // The sealer moves the heads of chains by itself.
    if (owner === null || ['sessions', 'idempotency', 'audit_heads'].includes(name)) continue;
    const [rows] = await service.sql(`SELECT * FROM ${name} WHERE ${owner} ORDER BY 1, 2`);
    // The sealer gives audit entries their place in the chain by itself.
    const plain = (rows?.rows ?? []).map((row) => ({ ...row, chain_no: 0, prev_hash: '', hash: '' }));
    found[name] = JSON.stringify(plain);
  }
  return found;
}

describe.each(targets.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const access = operation.access as Role;

  it.each(roles)('is for the own tenant as the role %s allows', async (role) => {
    const answer = await call(operation, `acme/${users[role]}`);
    const isOwn = (await prepareCall(service, operation)).token !== undefined;
    if (roleCovers(role, access) || isOwn) expect(answer.status, answer.text).toBe(200);
    else
      expect([answer.status, answer.json()['error']], answer.text).toMatchObject([
        422,
        { code: 'forbidden' },
      ]);
    expect(answer.text).not.toContain(canary);
    expect(answer.text).not.toContain('CANARY');
  });

  it.each(roles)('shows nothing of it to the role %s of another tenant', async (role) => {
    const answer = await call(operation, `rival/${users[role]}`);
    if (!roleCovers(role, access)) expect(answer.status, answer.text).toBe(422);
    else expect([200, 404, 422], answer.text).toContain(answer.status);
    expect(answer.text).not.toContain(ours);
  });

  it('shows nothing to a user of the own tenant whose groups hold no device', async () => {
    const answer = await call(operation, 'acme/nobody');
    const names = JSON.stringify([operation.examples.params, operation.examples.body]);
    if (!names.includes('truck-17')) expect(answer.text).not.toContain('truck-17');
    else if (operation.access !== 'admin' && operation.id !== 'createDevice') {
      expect([404, 422], `${answer.status} ${answer.text}`).toContain(answer.status);
    }
    expect(answer.text).not.toContain(ours);
    if (operation.tag !== 'Geozones' && operation.tag !== 'Routes') return;
    // Each concerns every device, or devices that this user does not see: the user sees none and changes none.
    expect(answer.text).not.toMatch(/"geozoneID"|"routeID":/);
    if (operation.effects) expect([404, 422], answer.text).toContain(answer.status);
  });
});

it('no call of another tenant changes anything', async () => {
  for (const operation of targets) await prepareCall(service, operation);
  // What the calls before have deleted is cleared away in the background; that must not happen while we compare.
  const { db, log } = service;
  for (let rows: number | null = 0; rows !== null; )
    rows = await purgeSome({ db, log, clock: createSystemClock() });
  const before = await belongings();
  for (const operation of targets) {
    const params = operation.examples.params as Record<string, string>;
    const path = (servedPaths(operation)[0] ?? '').replace(/\{(\w+)\}/g, (_whole, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const body = operation.examples.body ?? undefined;
    const token = tokens.get('rival/admin') ?? '';
    await service.call({ method: operation.method, path, token, ...(body === undefined ? {} : { body }) });
  }
  expect(await belongings()).toEqual(before);
});
