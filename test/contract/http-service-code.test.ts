// The one-time code that restores an engine with no network, from the button of an operator to the vehicle: what the broker
// shows is what the vehicle takes, each once, and it can be read nowhere else.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ServiceRecord } from '../../agent/core/protection/command-record.ts';
import { serviceRecordFor, tryServiceCode } from '../../agent/core/protection/service-code.ts';
import { serviceCodesOfSecret } from '../../src/service-codes.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: Awaited<ReturnType<typeof startHttpService>>;
let admin: string;
let operator: string;
let viewer: string;

beforeAll(async () => {
  service = await startHttpService();
  await service.account('acme');
  await service.user('acme', 'op', 'operator');
  await service.user('acme', 'view', 'viewer');
  admin = await service.login('acme', 'admin');
  operator = await service.login('acme', 'op');
  viewer = await service.login('acme', 'view');
});
afterAll(() => service.close());

const ask = (deviceID: string, token = operator) =>
  service.call({
    method: 'POST',
    path: '/api/v1/device/servicecode/authorization',
    token,
    body: { deviceID },
  });

const codeOf = (answer: Awaited<ReturnType<typeof ask>>): unknown =>
  (answer.json()['error'] as { readonly code?: string } | undefined)?.code;

it('is taken by the vehicle that holds the secret, once, and void after a newer one', async () => {
  const secret = await service.device('acme', 'truck-1');
  const codes = serviceCodesOfSecret(secret, { accountID: 'acme', deviceID: 'truck-1' });
  let record: ServiceRecord = serviceRecordFor(undefined, codes);
  const enter = (code: string): boolean => {
    const tried = tryServiceCode(record, codes, { code, way: 'socket' });
    record = tried.record;
    return tried.isRight;
  };
  const [first, second, third] = [await ask('truck-1'), await ask('truck-1'), await ask('truck-1')].map(
    (answer) => answer.json(),
  );
  expect([first, second, third].map((answer) => answer?.['number'])).toEqual([0, 1, 2]);
  expect(enter(String(second?.['code']))).toBe(true);
  expect(enter(String(second?.['code']))).toBe(false);
  expect(enter(String(first?.['code']))).toBe(false);
  expect(enter(String(third?.['code']))).toBe(true);
});

it('starts again at the first number with a new secret', async () => {
  await service.device('acme', 'truck-2');
  const before = (await ask('truck-2')).json();
  const issued = await service.call({
    method: 'POST',
    path: '/api/v1/device/issuesecret/authorization',
    token: admin,
    body: { deviceID: 'truck-2' },
  });
  const after = (await ask('truck-2')).json();
  const codes = serviceCodesOfSecret(String(issued.json()['secret']), {
    accountID: 'acme',
    deviceID: 'truck-2',
  });
  expect(after).toMatchObject({ number: 0, code: codes.codeAt(0) });
  expect(after['code']).not.toBe(before['code']);
});

it('is for operators, of this account, and stands in no log and no audit entry', async () => {
  await service.device('acme', 'truck-3');
  await service.account('other');
  const outsider = await service.login('other', 'admin');
  expect(codeOf(await ask('truck-3', viewer))).toBe('forbidden');
  expect(codeOf(await ask('truck-3', outsider))).toBe('not_found');
  expect(codeOf(await ask('nobody'))).toBe('not_found');
  const answer = await ask('truck-3');
  const code = String(answer.json()['code']);
  expect(code).toMatch(/^\d{8}$/);
  expect(answer.headers['cache-control']).toContain('no-store');
  expect(service.logLines.join('\n')).not.toContain(code);
  const entries = await service.rows(
    "SELECT * FROM audit WHERE action = 'device.servicecode' ORDER BY audit_no",
  );
  expect(entries.some((entry) => entry['object'] === 'truck-3')).toBe(true);
  expect(JSON.stringify(entries)).not.toContain(code);
});
