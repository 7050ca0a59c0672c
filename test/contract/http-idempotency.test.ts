// The header Idempotency-Key: a POST that is sent again is carried out once, and its answer given again; and what happens
// when the first one failed, still runs, or died.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyLimits } from '../../broker/store/accounts/idempotency.ts';
import type { HttpService } from '../support/http/http-fixtures.ts';
import { startHttpService } from '../support/http/http-service.ts';

let service: HttpService;
let token = '';
let other = '';
let nextKey = 0;
const newKey = () => `key-${++nextKey}`;

beforeAll(async () => {
  service = await startHttpService();
  await service.account('acme');
  await service.user('acme', 'dispatch', 'operator');
  token = await service.login('acme', 'admin');
  other = await service.login('acme', 'dispatch');
});

afterAll(() => service.close());

interface Keyed {
  readonly key: string;
  readonly body: unknown;
  readonly path?: string;
  readonly token?: string;
}

const send = ({ key, body, path = 'device/createdevice', token: own = token }: Keyed) =>
  service.call({
    method: 'POST',
    path: `/api/v1/${path}/authorization`,
    token: own,
    body,
    headers: { 'idempotency-key': key },
  });
const codeOf = (answer: Awaited<ReturnType<typeof send>>) =>
  (answer.json()['error'] as { code: string }).code;
const created = async (deviceID: string) =>
  (await service.sql(`SELECT 1 FROM audit WHERE object = '${deviceID}'`))[0]?.rows.length;

describe('a request with an Idempotency-Key', () => {
  it('is carried out once and answered the same each time, marked as such', async () => {
    const key = newKey();
    const first = await send({ key, body: { deviceID: 'k-1' } });
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined]);
    await service.sql("UPDATE devices SET driver = 'changed meanwhile' WHERE device_id = 'k-1'");
    for (const text of [key, `"${key}"`]) {
      const again = await send({ key: text, body: { deviceID: 'k-1' } });
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
      expect(again.text).toBe(first.text);
    }
    expect(await created('k-1')).toBe(1);
  });

  it('may spell the same thing otherwise', async () => {
    const key = newKey();
    await send({ key, body: { deviceID: 'k-2', uniqueid: 5 } });
    const again = await send({ key, body: { data: [{ uniqueID: 5, deviceid: 'k-2' }] } });
    expect(again.headers['idempotency-replayed']).toBe('true');
  });

  it('must ask for the same: another body under the key is refused', async () => {
    const key = newKey();
    await send({ key, body: { deviceID: 'k-3' } });
    const answer = await send({ key, body: { deviceID: 'k-4' } });
    expect([answer.status, codeOf(answer)]).toEqual([422, 'conflict']);
    expect(await created('k-4')).toBe(0);
  });

  it('has a key of its own: that of another user or operation is another key', async () => {
    const key = newKey();
    const body = { deviceID: 'k-5' };
    await send({ key, body });
    const answers = [
      await send({ key, body, token: other }),
      await send({ key, body, path: 'device/settings' }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([200, undefined]);
    }
  });

  it('sent many times at once is executed once; the others get a Retry-After', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => send({ key, body: { deviceID: 'k-6' } })),
    );
    const fresh = answers.filter(
      (one) => one.status === 200 && one.headers['idempotency-replayed'] === undefined,
    );
    expect(fresh).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect([answer.status, codeOf(answer), answer.headers['retry-after']]).toEqual([
        503,
        'unavailable',
        '1',
      ]);
    }
    expect(await created('k-6')).toBe(1);
  });

  it('that failed and changed nothing may be sent again with its key', async () => {
    const key = newKey();
    const body = { deviceid: 'k-7' };
    const failed = await send({ key, body, path: 'device/updatedevice' });
    expect([failed.status, codeOf(failed)]).toEqual([404, 'not_found']);
    await service.device('acme', 'k-7');
    expect((await send({ key, body, path: 'device/updatedevice' })).status).toBe(200);
  });

  it('whose process died is not executed a second time automatically', async () => {
    const key = newKey();
    const body = { deviceID: 'k-8' };
    await send({ key, body });
    await service.sql('UPDATE idempotency_keys SET answer = NULL');
    expect(codeOf(await send({ key, body }))).toBe('unavailable');
    service.advance(61_000);
    const answer = await send({ key, body });
    expect([answer.status, codeOf(answer)]).toEqual([422, 'conflict']);
    expect(answer.text).toContain('may have been carried out');
    expect(await created('k-8')).toBe(1);
  });

  it('is remembered for 24 hours, and cleared away after that', async () => {
    const key = newKey();
    await send({ key, body: { deviceID: 'k-9' } });
    service.advance(24 * 3_600_000);
    token = await service.login('acme', 'admin');
    other = await service.login('acme', 'dispatch');
    const answer = await send({ key, body: { deviceID: 'k-10' } });
    expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([200, undefined]);
    expect((await service.sql('SELECT 1 FROM idempotency_keys'))[0]?.rows).toHaveLength(1);
  });

  it.each(['', '""', 'a b', 'x'.repeat(256), 'k\u00e9y'])('must carry a key that is one: %j', async (key) => {
    const answer = await send({ key, body: { deviceID: 'k-11' } });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'malformed_request']);
  });

  it.each([
    ['a user', 'admin', keyLimits.user, 503],
    ['a user, and leaves the others theirs', 'dispatch', keyLimits.user, 200],
    ['an account', 'dispatch', keyLimits.account, 503],
  ])('meets a bound of %s', async (_name, userID, count, status) => {
    await service.sql(`INSERT INTO idempotency_keys (key_hash, account_id, user_id, is_order, request_hash, claimed_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      SELECT 'filler-' || i, 'acme', '${userID}', 0, '', 9000000000000000 FROM n`);
    const answer = await send({ key: newKey(), body: { deviceID: 'k-12' } });
    expect(answer.status).toBe(status);
    if (status === 503) expect(codeOf(answer)).toBe('throttled');
    await service.sql("DELETE FROM idempotency_keys WHERE key_hash LIKE 'filler-%'");
  });

  it('leaves neither key nor body in the database, and no secret that is shown once', async () => {
    const key = 'a-key-that-must-not-be-kept';
    const secret = await send({ key, body: { deviceID: 'k-1' }, path: 'device/issuesecret' });
    const again = await send({ key, body: { deviceID: 'k-1' }, path: 'device/issuesecret' });
    expect(again.json()['secret']).not.toBe(secret.json()['secret']);
    await send({ key, body: { deviceID: 'k-1', sms: '+15550100' } });
    const kept = JSON.stringify(await service.sql('SELECT * FROM idempotency_keys'));
    expect(kept).not.toContain(key);
    expect(kept).not.toContain('+15550100');
    expect(kept).not.toContain(String(secret.json()['secret']));
  });
});
