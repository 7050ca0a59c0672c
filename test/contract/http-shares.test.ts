// Share links: what their holder sees and nothing else, and every way in which a share ends.
import { once } from 'node:events';
import { type IncomingMessage, get as openRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { servedPaths } from '../../broker/api/base/operation.ts';
import { operations } from '../../broker/operations.ts';
import { prepareCall } from '../support/http/http-fixtures.ts';
import { bodyOf, fill, startSeededService } from '../support/http/operation-calls.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

type Started = Awaited<ReturnType<typeof startSeededService>>;
type Service = Started['service'];

let service: Service;
let started: Started;
let operator: string;
let admin: string;
let nowS: number;
let port = 0;
const host = '127.0.0.1';

/** In every text of the vehicle and its account, apart from the title of a share. */
const mark = 'MARK-not-shared';

beforeAll(async () => {
  started = await startSeededService();
  ({ service, token: operator, admin, nowS } = started);
  port = await service.http.listen({ host, port: 0 });
  await service.sql(`UPDATE devices SET driver = '${mark}', description = '${mark}', display_name = '${mark}',
    sms = '${mark}', notify_email = '${mark}', address = '${mark}' WHERE account_id = 'acme'`);
  await service.sql(`UPDATE accounts SET display_name = '${mark}' WHERE account_id = 'acme'`);
});
afterAll(() => service.close());

const post = (path: string, body: unknown, token: string) =>
  service.call({ method: 'POST', path: `/api/v1${path}/authorization`, token, body });
const get = (path: string, token: string) => service.call({ path: `/api/v1${path}/authorization`, token });
const codeOf = (answer: Awaited<ReturnType<Service['call']>>) =>
  (answer.json()['error'] as { code?: string } | undefined)?.code;
const laterS = (hours: number): number => Math.floor(Date.now() / 1000) + hours * 3600;

interface Made {
  readonly token: string;
  readonly shareID: string;
}

async function share(body: object = {}, as = operator): Promise<Made> {
  const answer = await post('/share/create', { deviceID: 'log-1', expires: laterS(2), ...body }, as);
  expect(answer.status, answer.text).toBe(200);
  return answer.json() as unknown as Made;
}

const trip = () => ({ startTime: nowS - 3600, endTime: nowS - 1 });

describe('the holder of a share', () => {
  it('sees the last position of the vehicle, and no name, id or state', async () => {
    const { token } = await share({ title: 'Your delivery' });
    expect(token).toMatch(/^share-[0-9a-f]{64}$/);
    const answer = await get('/share/view', token);
    expect(answer.json()).toEqual({
      status_code: '200',
      success: '1',
      kind: 'live',
      title: 'Your delivery',
      startTime: 0,
      endTime: 0,
      expires: expect.any(Number) as number,
      position: { timestamp: nowS - 60, latitude: 43.65107, longitude: -79.34702, speed: 54, heading: null },
    });
    for (const secret of [mark, 'acme', 'log-1', 'dispatch']) expect(answer.text).not.toContain(secret);
  });

  it('sees the track of a shared trip within its time, and no position after it', async () => {
    const { token } = await share(trip());
    expect((await get('/share/view', token)).json()).toMatchObject({ kind: 'trip', position: null });
    const track = await get('/share/track', token);
    expect(track.json()['points']).toEqual([
      { timestamp: nowS - 60, latitude: 43.65107, longitude: -79.34702, speed: 54, heading: null },
    ]);
    for (const secret of [mark, 'acme', 'log-1']) expect(track.text).not.toContain(secret);
    expect(codeOf(await get('/share/stream', token))).toBe('conflict');
    const early = await share({ startTime: nowS - 7200, endTime: nowS - 3600 });
    expect((await get('/share/track', early.token)).json()['points']).toEqual([]);
  });

  it('reads no track of a live share', async () => {
    expect(codeOf(await get('/share/track', (await share()).token))).toBe('conflict');
  });

  it.each(operations.filter(({ access }) => access !== 'public').map((one) => [one.id, one] as const))(
    'reaches %s only if it is made for shares',
    async (id, operation) => {
      const { token } = await share();
      const prepared = await prepareCall(service, operation);
      if (operation.produces === 'text/event-stream' && operation.access === 'share') return;
      const before = await service.rows('SELECT COUNT(*) AS count FROM audit');
      const answer = await service.call({
        method: operation.method,
        path: fill(operation, servedPaths(operation)[0] ?? '', prepared.params),
        token,
        body: prepared.body ?? bodyOf(operation),
      });
      if (operation.access === 'share') return expect([200, 422], id).toContain(answer.status);
      expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'forbidden']);
      // The path of the request stands in the answer to it.
      const text = answer.text.replace(/"instance":"[^"]*"/, '');
      for (const secret of [mark, 'CANARY', 'truck-17', 'dispatch']) expect(text).not.toContain(secret);
      expect(await service.rows('SELECT COUNT(*) AS count FROM audit')).toEqual(before);
      await post('/share/revoke', { shareID: (await share()).shareID }, admin);
      await service.sql("DELETE FROM shares WHERE account_id = 'acme'");
    },
  );

  it('is no logged-in user: users cannot call what is made for shares', async () => {
    for (const path of ['/share/view', '/share/track', '/share/stream'])
      expect(codeOf(await get(path, admin)), path).toBe('forbidden');
  });
});

describe('a share', () => {
  it.each([
    ['in the past', { expires: 1 }],
    ['for more than a week', { expires: 9_999_999_999 }],
    ['without an end', { expires: undefined }],
    ['of a trip without an end', { startTime: 1_700_000_000 }],
    ['of a trip without a beginning', { endTime: 1_700_000_000 }],
    ['of a trip backwards', { startTime: 1_700_000_000, endTime: 1_600_000_000 }],
    ['of a trip of a month', { startTime: 1_600_000_000, endTime: 1_603_000_000 }],
    ['of a trip that lies ahead', { startTime: 9_000_000_000, endTime: 9_000_000_001 }],
    ['with a title of two lines', { title: 'one\ntwo' }],
    ['with a title of 65 characters', { title: 'x'.repeat(65) }],
  ])('is not made %s', async (_what, body) => {
    const answer = await post('/share/create', { deviceID: 'log-1', expires: laterS(1), ...body }, operator);
    expect([answer.status, codeOf(answer)], answer.text).toEqual([422, 'invalid_content']);
  });

  it('is not made by a viewer, nor of a device that its maker does not see', async () => {
    const viewer = await service.login('acme', 'guest');
    const body = { deviceID: 'log-1', expires: laterS(1) };
    expect(codeOf(await post('/share/create', body, viewer))).toBe('forbidden');
    const rival = await service.login('rival', 'admin');
    for (const [token, deviceID] of [
      [operator, 'rival-1'],
      [operator, 'nope'],
      [rival, 'log-1'],
    ] as const)
      expect((await post('/share/create', { ...body, deviceID }, token)).status).toBe(404);
  });

  it('is listed and revoked within the scope, with its uses and never with its token', async () => {
    await service.sql("DELETE FROM shares WHERE account_id = 'acme'");
    const { token, shareID } = await share({ title: 'counted' });
    await get('/share/view', token);
    const listed = (await get('/share/shares', operator)).json()['shares'] as Record<string, unknown>[];
    expect(listed).toMatchObject([
      { shareID, deviceID: 'log-1', createdBy: 'dispatch', uses: 1, revokedOn: 0 },
    ]);
    expect(listed[0]?.['lastUsedOn']).toBeGreaterThan(nowS - 1);
    expect(JSON.stringify(listed)).not.toContain(token.slice(6));
    const rival = await service.login('rival', 'admin');
    expect((await get('/share/shares', rival)).text).not.toContain(shareID);
    expect((await post('/share/revoke', { shareID }, rival)).status).toBe(404);
    expect((await get('/share/view', token)).status).toBe(200);
    expect((await post('/share/revoke', { shareID }, admin)).status).toBe(200);
    expect((await post('/share/revoke', { shareID }, admin)).status, 'again').toBe(200);
    const logged = await service.rows(
      `SELECT action, actor, detail FROM audit WHERE action LIKE 'share.%' AND (object = '${shareID}' OR detail LIKE '%${shareID}%') ORDER BY audit_no`,
    );
    expect(logged.map(({ action, actor }) => [action, actor])).toEqual([
      ['share.create', 'dispatch'],
      ['share.revoke', 'admin'],
    ]);
    const kept = JSON.stringify(await service.rows('SELECT * FROM shares')) + service.logLines.join('');
    expect(kept).not.toContain(token.slice(6));
  });

  it('is one of a hundred open ones of its account', async () => {
    await service.sql("DELETE FROM shares WHERE account_id = 'acme'");
    await service.sql(`INSERT INTO shares (share_id, token_hash, account_id, user_id, device_no, kind, title, created_s, expires_s)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
      SELECT 'many-' || i, 'many-' || i, 'acme', 'admin', d.device_no, 'live', '', 1, ${laterS(1)} FROM n, devices d
      WHERE d.account_id = 'acme' AND d.device_id = 'log-1'`);
    const body = { deviceID: 'log-1', expires: laterS(1) };
    const answers = await Promise.all(Array.from({ length: 4 }, () => post('/share/create', body, operator)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => codeOf(answer) === 'conflict')).toHaveLength(3);
    await service.sql("DELETE FROM shares WHERE account_id = 'acme'");
  });
});

type Ending = readonly [when: string, end: (made: Made) => Promise<unknown>, restore: () => Promise<unknown>];
const nothing = async (): Promise<unknown> => undefined;

/** Opens the stream of a share over a socket; resolves once it has begun. */
async function openStream(token: string) {
  const path = '/api/v1/share/stream/authorization';
  const request = openRequest({ host, port, path, agent: false, headers: { authorization: token } });
  onTestFinished(() => void request.destroy());
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const ended = once(response, 'close');
  let text = '';
  response.setEncoding('utf8').on('data', (part: string) => void (text += part));
  await waitUntil('the beginning of the stream', () => text.startsWith('retry: '));
  return { status: response.statusCode, ended, text: (): string => text };
}

describe('a share ends', () => {
  const endings: readonly Ending[] = [
    ['when it is revoked', ({ shareID }) => post('/share/revoke', { shareID }, operator), nothing],
    [
      'when its time is over',
      ({ shareID }) => service.sql(`UPDATE shares SET expires_s = 1 WHERE share_id = '${shareID}'`),
      nothing,
    ],
    [
      'when its maker is suspended',
      () => service.sql("UPDATE users SET is_active = 0 WHERE user_id = 'sharer'"),
      nothing,
    ],
    [
      'when its maker becomes a viewer',
      () => service.sql("UPDATE users SET role = 'viewer' WHERE user_id = 'sharer'"),
      nothing,
    ],
    [
      'when the device leaves the groups of its maker',
      () => service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'sharer'"),
      nothing,
    ],
    ['when its maker is deleted', () => post('/user/deleteuser', { userID: 'sharer' }, admin), nothing],
    [
      'when the account is suspended',
      () => service.sql("UPDATE accounts SET is_active = 0 WHERE account_id = 'acme'"),
      () => service.sql("UPDATE accounts SET is_active = 1 WHERE account_id = 'acme'"),
    ],
    [
      'when the account expires',
      () => service.sql("UPDATE accounts SET expires_s = 1 WHERE account_id = 'acme'"),
      () => service.sql("UPDATE accounts SET expires_s = NULL WHERE account_id = 'acme'"),
    ],
    [
      'when the device is deleted',
      () => post('/device/deletedevice', { deviceID: 'shared-1' }, admin),
      nothing,
    ],
  ];

  it.each(endings)(
    '%s, with the same error as a wrong token, and so does its stream',
    async (_when, end, restore) => {
      await service.sql("DELETE FROM shares WHERE user_id = 'sharer'");
      await service.sql("DELETE FROM sessions WHERE user_id = 'sharer'");
      await service.sql("DELETE FROM users WHERE user_id = 'sharer'");
      await service.user('acme', 'sharer', 'operator');
      await service.sql("DELETE FROM devices WHERE device_id = 'shared-1'");
      await service.device('acme', 'shared-1');
      const made = await share({ deviceID: 'shared-1' }, await service.login('acme', 'sharer'));
      expect((await get('/share/view', made.token)).status).toBe(200);
      onTestFinished(async () => void (await restore()));
      const stream = await openStream(made.token);
      expect(stream.status).toBe(200);
      await end(made);
      await stream.ended;
      expect(stream.text()).toContain('event: end');
      const strip = (text: string): string => text.replace(/"requestId":"\w+"/, '');
      const after = await get('/share/view', made.token);
      const unknown = await get('/share/view', `share-${'0'.repeat(64)}`);
      expect([after.status, strip(after.text)]).toEqual([401, strip(unknown.text)]);
    },
  );

  it('with the API token that made it', async () => {
    const made = await post('/auth/token', { description: 'links', scopes: ['write'] }, operator);
    const { token, tokenID } = made.json() as { token: string; tokenID: string };
    const link = await share({}, token);
    expect((await get('/share/view', link.token)).status).toBe(200);
    await post('/auth/revoketoken', { tokenID }, operator);
    expect((await get('/share/view', link.token)).status).toBe(401);
  });
});

describe('the stream of a share', () => {
  it('gives signs of life while the service reads the position, and none while it cannot', async () => {
    const { token, shareID } = await share();
    const stream = await openStream(token);
    const signs = (): number => stream.text().split(': keep-alive').length - 1;
    const failures = (): number =>
      service.logLines.filter((line) => line.includes('shares_unreadable')).length;
    await waitUntil('the first sign of life', () => signs() > 0);
    await service.sql('ALTER TABLE shares RENAME TO shares_away');
    const first = failures();
    await waitUntil('a failed read', () => failures() > first);
    const silentAt = signs();
    await waitUntil('another failed read', () => failures() > first + 1);
    expect(signs()).toBe(silentAt);
    await service.sql('ALTER TABLE shares_away RENAME TO shares');
    await waitUntil('the next sign of life', () => signs() > silentAt);
    await post('/share/revoke', { shareID }, operator);
    await stream.ended;
  });

  it('gives the last position and each new one of its vehicle, and nothing of others', async () => {
    const { token, shareID } = await share();
    const stream = await openStream(token);
    await service.events('acme', 'truck-17', {
      boot: 'b9',
      events: [{ seq: 1, timestamp: nowS, statusCode: 61472, latitude: 10, longitude: 10, speed: 1 }],
    });
    await service.events('acme', 'log-1', {
      boot: 'b9',
      events: [
        {
          seq: 1,
          timestamp: nowS,
          statusCode: 61472,
          latitude: 44.5,
          longitude: -80.25,
          speed: 80,
          heading: 359.6,
        },
        { seq: 2, timestamp: nowS, statusCode: 63553, inputs: { panic: true } },
      ],
    });
    await waitUntil('the new position', () => stream.text().includes('44.5'));
    await post('/share/revoke', { shareID }, operator);
    await stream.ended;
    const seen = stream.text();
    const positions = [...seen.matchAll(/^data: (\{"timestamp".*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? '') as Record<string, number>,
    );
    expect(positions.map(({ latitude }) => latitude)).toEqual([43.65107, 44.5]);
    expect(positions[1]).toEqual({
      timestamp: nowS,
      latitude: 44.5,
      longitude: -80.25,
      speed: 80,
      heading: 0,
    });
    expect([...seen.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'position',
      'position',
      'end',
    ]);
    expect(seen).not.toContain('log-1');
  });
});
