// From an event to a person: rules, inbox, deliveries and push registrations through the service as a client sees it, with
// receivers on loopback. What must not happen: an event notified twice, or to a user who may not see the device.
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingMail, Senders, Sending } from '../../broker/notify/senders.ts';
import { createLoopbackSenders, createOfflineSenders } from '../support/broker/senders.ts';
import { holdClock } from '../support/http/held-clock.ts';
import { password, startHttpService } from '../support/http/http-service.ts';

const nowS = () => Math.floor(Date.now() / 1000);
const panic = 63_553;
const subscription = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};

interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Takes posts on loopback; `status` by path, 200 otherwise. */
async function startReceiver() {
  const posts: Posted[] = [];
  const status = new Map<string, number>();
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const path = request.url ?? '';
      posts.push({ path, headers: request.headers, text });
      response.writeHead(status.get(path) ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    posts,
    status,
    url: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    of: (path: string) => posts.filter((post) => post.path === path),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

let receiver: Awaited<ReturnType<typeof startReceiver>>;
let service: Awaited<ReturnType<typeof startHttpService>>;
let mails: OutgoingMail[];
const tokens = new Map<string, string>();

async function begin(senders: Senders): Promise<void> {
  service = await startHttpService({ senders });
  // Delays before another attempt begin at some seconds.
  holdClock(service);
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    await service.user(accountID, 'guest', 'viewer');
    for (const user of ['admin', 'guest']) {
      tokens.set(`${accountID}/${user}`, await service.login(accountID, user));
    }
  }
  await service.device('acme', 'truck-17');
  await service.device('acme', 'truck-18');
  await service.device('rival', 'truck-17');
}

beforeEach(async () => {
  receiver = await startReceiver();
  mails = [];
  const email = async (mail: OutgoingMail): Promise<Sending> => {
    mails.push(mail);
    return { kind: 'sent' };
  };
  await begin(createLoopbackSenders(email));
});

afterEach(async () => {
  await service.close();
  await receiver.close();
});

async function ask(who: string, path: string, body?: unknown) {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: path.startsWith('/api') ? path : `/api/v1${path}/authorization`,
    token: tokens.get(who) ?? '',
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: answer.text, json: answer.json() };
}

async function list(who: string, path: string, member = 'notifications') {
  const { json, text } = await ask(who, path);
  expect(json[member], text).toBeInstanceOf(Array);
  return json[member] as Record<string, unknown>[];
}

async function putRule(changes: object, who = 'acme/admin'): Promise<Record<string, unknown>> {
  const { json, text, status } = await ask(who, '/notification/updaterule', {
    ruleID: 'r1',
    statusCodes: 'alerts',
    ...changes,
  });
  expect(status, text).toBe(200);
  return json;
}

let seq = 0;
function happen(statusCode: number, changes: object = {}, device = 'acme/truck-17'): Promise<void> {
  const [accountID = '', deviceID = ''] = device.split('/');
  seq += 1;
  return service.events(accountID, deviceID, {
    boot: 'b1',
    events: [{ seq, timestamp: nowS(), statusCode, ...changes }],
  });
}

const inbox = '/notification/getallpushnotifications';

describe('the inbox', () => {
  it('holds every alert without any rule, newest first, and nothing else', async () => {
    await happen(61_472);
    await happen(panic, { latitude: 43.65107, longitude: -79.34702 });
    await happen(62_465);
    await happen(62_673);
    await happen(63_625);
    const found = await list('acme/guest', inbox);
    expect(found.map(({ statusCode }) => statusCode)).toEqual([63_625, panic]);
    expect(found[1]).toMatchObject({
      deviceID: 'truck-17',
      statusDescription: 'Panic',
      isPositionValid: true,
      latitude: 43.65107,
      late: false,
      viewed: false,
    });
    expect(await list('rival/admin', inbox)).toEqual([]);
  });

  it('has a crossing only if its zone asks for an alert; a rule with that code notifies in any case', async () => {
    await putRule({ ruleID: 'named', statusCodes: [62_000], webhook: { url: receiver.url('/named') } });
    await happen(61_968, { geozoneID: 'yard', attributes: { alert: false } });
    await happen(61_971, { geozoneID: 'road', attributes: { alert: false } });
    await happen(61_968, { geozoneID: 'depot', attributes: { alert: true } });
    // Nothing but a crossing can be silenced so.
    await happen(panic, { attributes: { alert: false } });
    const shown = async () =>
      (await list('acme/guest', inbox)).map((one) => [one['statusCode'], one['geozoneID']]);
    expect(await shown()).toEqual([
      [panic, ''],
      [61_968, 'depot'],
    ]);
    await happen(62_000, { geozoneID: 'yard', attributes: { alert: false } });
    expect((await shown())[0]).toEqual([62_000, 'yard']);
  });

  it('is viewed by each user alone, one by one or all at once, and again changes nothing', async () => {
    for (const code of [panic, 63_625, 63_621]) await happen(code);
    const queue = '/notificationqueue/getnotifications';
    const [first] = await list('acme/guest', queue);
    const view = (id: string, who = 'acme/guest') => ask(who, `/notification/setviewed/${id}`);
    for (const _time of [1, 2]) expect((await view(String(first?.['notificationID']))).status).toBe(200);
    expect((await list('acme/guest', queue)).map(({ statusCode }) => statusCode)).toEqual([63_625, panic]);
    expect(await list('acme/admin', queue)).toHaveLength(3);
    for (const _time of [1, 2]) expect((await view('*')).status).toBe(200);
    expect(await list('acme/guest', queue)).toEqual([]);
    expect((await list('acme/guest', inbox)).map(({ viewed }) => viewed)).toEqual([true, true, true]);
    await happen(63_601);
    expect(await list('acme/guest', queue)).toHaveLength(1);
    expect((await view('999999')).status).toBe(404);
    expect((await view(String(first?.['notificationID']), 'rival/admin')).status).toBe(404);
    expect((await view('x')).status).toBe(422);
    const entries = await service.rows(
      "SELECT object FROM audit WHERE action = 'notification.view' ORDER BY audit_no",
    );
    expect(entries.map(({ object }) => object)).toEqual([String(first?.['notificationID']), '*']);
  });

  it('of one device, in parts, and only of devices that the user may see', async () => {
    for (const device of ['acme/truck-17', 'acme/truck-18', 'acme/truck-17']) await happen(panic, {}, device);
    expect(await list('acme/guest', '/notificationqueue/getdevicenotifications/truck-17')).toHaveLength(2);
    expect((await ask('rival/admin', '/notificationqueue/getdevicenotifications/truck-18')).status).toBe(404);
    const [newest, next] = await list('acme/admin', inbox);
    const first = await ask('acme/admin', `/api/v1${inbox}/authorization?limit=1`);
    expect(first.json).toMatchObject({ notifications: [newest], more: true });
    const cursor = String(first.json['next']);
    const second = await ask('acme/admin', `/api/v1${inbox}/authorization?limit=1&cursor=${cursor}`);
    expect(second.json['notifications']).toEqual([next]);
    await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'guest'");
    expect(await list('acme/guest', inbox)).toEqual([]);
    expect(
      (await ask('acme/guest', `/notification/setviewed/${String(newest?.['notificationID'])}`)).status,
    ).toBe(404);
    expect((await ask('acme/guest', '/notificationqueue/getdevicenotifications/truck-17')).status).toBe(404);
  });

  it('keeps 90 days and forgets older ones; a late event is there and marked', async () => {
    await happen(panic, { timestamp: nowS() - 3600 });
    expect((await list('acme/admin', inbox)).map(({ late }) => late)).toEqual([true]);
    service.advance(89 * 86_400_000);
    await service.notices.clear();
    expect(await service.rows('SELECT 1 FROM notifications')).toHaveLength(1);
    service.advance(2 * 86_400_000);
    await service.notices.clear();
    expect(await service.rows('SELECT 1 FROM notifications')).toHaveLength(0);
  });

  it('keeps 100,000 of an account', async () => {
    await service.sql(`INSERT INTO notifications (account_id, device_no, event_no, status_code, timestamp_ms, received_ms,
        geozone_id, is_late)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100700)
      SELECT 'acme', 1, i, 63553, 1, ${Date.now()}, '', 0 FROM n`);
    await service.notices.clear();
    const [row] = await service.rows(
      'SELECT COUNT(*) AS n, MIN(notification_no) AS first FROM notifications',
    );
    expect(row).toEqual({ n: 100_000, first: 701 });
  });
});

describe('a rule', () => {
  it('notifies a webhook, signed with the secret that was shown once', async () => {
    const made = await putRule({ webhook: { url: receiver.url('/hook') }, devices: ['truck-17'] });
    await happen(panic);
    await happen(panic, {}, 'acme/truck-18');
    const [post, ...others] = receiver.of('/hook');
    expect(others).toEqual([]);
    const timestamp = String(post?.headers['fleetward-timestamp']);
    const mac = createHmac('sha256', String(made['webhookSecret']))
      .update(`${timestamp}.${post?.text}`)
      .digest('hex');
    expect(post?.headers['fleetward-signature']).toBe(`v1=${mac}`);
    expect(JSON.parse(post?.text ?? '')).toMatchObject({
      deviceID: 'truck-17',
      accountID: 'acme',
      ruleID: 'r1',
      statusCode: panic,
      late: false,
    });
    const again = await putRule({ webhook: { url: receiver.url('/hook') } });
    expect(again).not.toHaveProperty('webhookSecret');
    expect((await ask('acme/admin', '/notification/rules')).text).not.toContain(made['webhookSecret']);
    const rotated = await putRule({ webhook: { url: receiver.url('/hook') }, rotateSecret: true });
    expect(rotated['webhookSecret']).not.toBe(made['webhookSecret']);
  });

  it('notifies mailboxes, the device’s own included', async () => {
    await service.sql(
      "UPDATE devices SET notify_email = 'driver@example.com, nonsense' WHERE device_id = 'truck-17'",
    );
    await putRule({ email: { addresses: ['ops@example.com', 'device'] } });
    await happen(panic);
    // Two lanes, sent side by side: in which order they end is not specified.
    expect(new Set(mails.map(({ to, subject }) => `${to}: ${subject}`))).toEqual(
      new Set(['ops@example.com: Panic: truck-17', 'driver@example.com: Panic: truck-17']),
    );
    expect(mails).toHaveLength(2);
    await happen(panic, {}, 'acme/truck-18');
    expect(mails.slice(2).map(({ to }) => to)).toEqual(['ops@example.com']);
  });

  it('notifies once per episode, and of a code that is no alert only if a rule names it', async () => {
    await putRule({ webhook: { url: receiver.url('/hook') }, statusCodes: [panic, 62_465] });
    for (const code of [panic, panic, 63_554, panic, 62_465, 62_467]) await happen(code);
    expect(
      receiver.of('/hook').map(({ text }) => (JSON.parse(text) as { statusCode: number }).statusCode),
    ).toEqual([panic, panic, 62_465]);
    expect((await list('acme/admin', inbox)).map(({ statusCode }) => statusCode)).toEqual([
      62_465,
      panic,
      panic,
      panic,
    ]);
  });

  it('of a group follows the group', async () => {
    const group = { groupID: 'north', devices: ['truck-17'] };
    expect((await ask('acme/admin', '/group/updategroup', group)).status).toBe(200);
    await putRule({ webhook: { url: receiver.url('/hook') }, groups: ['north'] });
    await happen(panic);
    await happen(panic, {}, 'acme/truck-18');
    expect(receiver.of('/hook')).toHaveLength(1);
  });

  it('that is deleted sends no more, and cancels waiting deliveries', async () => {
    receiver.status.set('/hook', 500);
    await putRule({ webhook: { url: receiver.url('/hook') } });
    await happen(panic);
    expect((await ask('acme/admin', '/notification/deleterule', { ruleID: 'r1' })).status).toBe(200);
    await happen(63_621);
    expect(receiver.of('/hook')).toHaveLength(1);
    expect(await list('acme/admin', '/notification/deliveries', 'deliveries')).toMatchObject([
      { state: 'dead', lastError: 'the rule was deleted', lastErrorCode: 'rule_deleted', ruleID: '' },
    ]);
    expect((await ask('acme/admin', '/notification/deleterule', { ruleID: 'r1' })).status).toBe(404);
  });

  it.each([
    ['/webhook', {}],
    ['/webhook/url', { webhook: { url: 'ftp://127.0.0.1' } }],
    ['/webhook/url', { webhook: { url: 'https://u:p@127.0.0.1' } }],
    ['/email/addresses/0', { email: { addresses: ['a@b.c\r\nBcc: x@y.z'] } }],
    ['/quietHours/timeZone', { push: {}, quietHours: { timeZone: 'Mars', from: '22:00', to: '06:00' } }],
    ['/quietHours/from', { push: {}, quietHours: { timeZone: 'UTC', from: '24:00', to: '06:00' } }],
    ['/devices/1', { push: {}, devices: ['truck-17', 'truck-99'] }],
    ['/groups/0', { push: {}, groups: ['nobody'] }],
    ['/push/userIDs/0', { push: { userIDs: ['nobody'] } }],
    ['/silenceS', { push: {}, silenceS: 86_401 }],
    ['/statusCodes/0', { push: {}, statusCodes: [65_536] }],
    ['/statusCodes', { push: {}, statusCodes: 'all' }],
  ])('with a wrong %s is refused', async (pointer, changes) => {
    const body = { ruleID: 'r1', statusCodes: 'alerts', ...changes };
    const { status, json } = await ask('acme/admin', '/notification/updaterule', body);
    expect([status, json['error']]).toMatchObject([422, { errors: [{ pointer }] }]);
  });

  it('may be one of a hundred', async () => {
    for (let at = 0; at < 100; at += 1) await putRule({ ruleID: `r${at}`, push: {} });
    const body = { ruleID: 'r100', statusCodes: 'alerts', push: {} };
    expect((await ask('acme/admin', '/notification/updaterule', body)).json['error']).toMatchObject({
      code: 'conflict',
    });
    await putRule({ ruleID: 'r99', push: {} });
    await putRule({ ruleID: 'r1', push: {} }, 'rival/admin');
  });
});

describe('a delivery', () => {
  const deliveries = (who = 'acme/admin') => list(who, '/notification/deliveries', 'deliveries');

  it('that fails is tried again later and later, then given up, and can be begun again', async () => {
    receiver.status.set('/hook', 503);
    await putRule({ webhook: { url: receiver.url('/hook') } });
    await happen(panic);
    expect(await deliveries()).toMatchObject([
      { state: 'pending', attempts: 1, lastError: 'answered 503', channel: 'webhook' },
    ]);
    const waits: number[] = [];
    for (let hour = 1; hour < 24; hour += 1) {
      const [row] = await deliveries();
      expect(row).toMatchObject({ state: 'pending', attempts: hour });
      waits.push(Number(row?.['nextAttempt']) - Math.floor(service.api.clock.utcMs() / 1000));
      service.advance(3_601_000);
      await service.notices.runAll();
      // A session that is not used for half a day ends.
      expect(await deliveries('rival/admin')).toEqual([]);
    }
    service.advance(3_601_000);
    await service.notices.runAll();
    const tries = receiver.of('/hook').length;
    expect(tries).toBeGreaterThanOrEqual(24);
    expect(await deliveries()).toMatchObject([{ state: 'dead', attempts: tries, nextAttempt: 0 }]);
    expect(waits.every((waitS) => waitS >= 4 && waitS <= 3600)).toBe(true);
    const ids = new Set(receiver.of('/hook').map(({ headers }) => headers['fleetward-id']));
    expect(ids.size).toBe(1);
    receiver.status.delete('/hook');
    const deliveryID = (await deliveries())[0]?.['deliveryID'];
    expect((await ask('rival/admin', '/notification/retrydelivery', { deliveryID })).status).toBe(404);
    expect((await ask('acme/admin', '/notification/retrydelivery', { deliveryID })).status).toBe(200);
    await service.notices.runAll();
    expect(await deliveries()).toMatchObject([{ state: 'sent', attempts: 1, lastError: '' }]);
    expect((await ask('acme/admin', '/notification/retrydelivery', { deliveryID })).status).toBe(422);
    expect((await ask('acme/admin', '/notification/retrydelivery', { deliveryID: '999' })).status).toBe(404);
  });

  it('is given up after a day, however few the attempts', async () => {
    receiver.status.set('/hook', 503);
    await putRule({ webhook: { url: receiver.url('/hook') } });
    await happen(panic);
    service.advance(24 * 3_600_000 + 1000);
    await service.notices.runAll();
    expect(await service.rows('SELECT state, attempts, fault FROM deliveries')).toEqual([
      { state: 'dead', attempts: 1, fault: 'answered 503' },
    ]);
  });

  it('to a dead target holds up no other target, not even of its own rule', async () => {
    receiver.status.set('/dead', 500);
    await putRule({ webhook: { url: receiver.url('/dead').replace('127.0.0.1', 'localhost') }, silenceS: 0 });
    await putRule({ ruleID: 'r2', webhook: { url: receiver.url('/alive') }, silenceS: 0 });
    for (let at = 0; at < 20; at += 1) await happen(panic);
    expect(receiver.of('/alive')).toHaveLength(20);
    expect(receiver.of('/dead')).toHaveLength(1);
    receiver.status.delete('/dead');
    service.advance(3_601_000);
    await service.notices.runAll();
    expect(await service.rows("SELECT 1 FROM deliveries WHERE state <> 'sent'")).toEqual([]);
  });

  it('that a path of a host refuses holds up no other path of it', async () => {
    receiver.status.set('/gone', 404);
    await putRule({ webhook: { url: receiver.url('/gone') }, silenceS: 0 });
    await putRule({ ruleID: 'r2', webhook: { url: receiver.url('/alive') }, silenceS: 0 });
    for (let at = 0; at < 5; at += 1) await happen(panic);
    expect([receiver.of('/alive').length, receiver.of('/gone').length]).toEqual([5, 1]);
  });

  it('of a panic waits half a minute at most for a target that failed for hours', async () => {
    receiver.status.set('/hook', 503);
    await putRule({ statusCodes: [panic, 62_465], webhook: { url: receiver.url('/hook') }, silenceS: 0 });
    await happen(62_465);
    for (let attempt = 1; attempt < 8; attempt += 1) {
      service.advance(3_601_000);
      await service.notices.runAll();
    }
    // As far away as it can be.
    await service.sql(`UPDATE deliveries SET next_ms = ${service.api.clock.utcMs() + 3_600_000}`);
    receiver.status.delete('/hook');
    const failed = receiver.of('/hook').length;
    await happen(62_465);
    await happen(panic);
    expect(receiver.of('/hook')).toHaveLength(failed);
    service.advance(31_000);
    await service.notices.runAll();
    expect(receiver.posts.slice(failed).map(({ text }) => JSON.parse(text).statusCode)).toEqual([panic]);
    service.advance(3_600_000);
    await service.notices.runAll();
    expect(await service.rows("SELECT 1 FROM deliveries WHERE state <> 'sent'")).toEqual([]);
  });

  it('shows the host of a webhook and not its path, also in the log', async () => {
    receiver.status.set('/secret-path', 500);
    await putRule({ webhook: { url: receiver.url('/secret-path') } });
    await happen(panic);
    const { text } = await ask('acme/admin', '/notification/deliveries');
    expect(text).toContain('127.0.0.1:');
    expect([text, ...service.logLines].join('\n')).not.toContain('secret-path');
    expect((await ask('acme/guest', '/notification/deliveries')).json['error']).toMatchObject({
      code: 'forbidden',
    });
  });

  it('that was being sent when the process ended is sent again; one that was decided is not decided twice', async () => {
    await putRule({ webhook: { url: receiver.url('/hook') }, silenceS: 0 });
    await happen(panic);
    expect(receiver.of('/hook')).toHaveLength(1);
    // As after a crash: leased, and the cursor not yet moved on from before the event.
    await service.sql(
      `UPDATE deliveries SET state = 'pending', ended_ms = NULL, next_ms = ${service.api.clock.utcMs() + 60_000}`,
    );
    await service.sql('UPDATE notifier_cursor SET event_no = 0');
    await service.notices.runAll();
    expect(receiver.of('/hook')).toHaveLength(1);
    service.advance(61_000);
    await service.notices.runAll();
    expect(receiver.of('/hook')).toHaveLength(2);
    expect(await service.rows('SELECT 1 FROM deliveries')).toHaveLength(1);
    expect(await service.rows('SELECT 1 FROM notifications')).toHaveLength(1);
  });

  it('is dead at once when too many of the account wait', async () => {
    receiver.status.set('/hook', 500);
    await putRule({ webhook: { url: receiver.url('/hook') }, silenceS: 0 });
    await service.sql(`INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, lane, state, next_ms,
        created_ms, since_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      SELECT 'acme', -i, 0, 'webhook', '', 'x', 'pending', ${Date.now() + 1e9}, ${Date.now()}, ${Date.now()} FROM n`);
    await happen(panic);
    const [newest] = await deliveries();
    expect(newest).toMatchObject({
      state: 'dead',
      attempts: 0,
      lastError: 'too many deliveries of the account wait',
    });
  });
});

describe('a push registration', () => {
  const subscribe = (who: string, path = '/push/1') =>
    ask(who, '/notification/subscribe', { endpoint: receiver.url(path), keys: subscription });
  const register = (who: string, id: string) => ask(who, `/notification/register-push/${id}`);
  const unregister = (who: string, id: string) =>
    ask(who, `/api/v1notification/unregister-push/${id}/authorization`);

  it('is stored, enabled, used and removed; a repeat of each step changes nothing', async () => {
    await putRule({ push: {}, silenceS: 0 });
    const id = String((await subscribe('acme/guest')).json['pushID']);
    expect((await subscribe('acme/guest')).json['pushID']).toBe(id);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(0);
    for (const _time of [1, 2]) expect((await register('acme/guest', id)).json['isDeliverable']).toBe(true);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(1);
    expect(receiver.of('/push/1')[0]?.headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      urgency: 'high',
    });
    for (const who of ['acme/admin', 'rival/guest']) expect((await unregister(who, id)).status).toBe(200);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(2);
    for (const _time of [1, 2]) expect((await unregister('acme/guest', id)).status).toBe(200);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(2);
    expect(await service.rows("SELECT 1 FROM audit WHERE action LIKE 'push.%'")).toHaveLength(4);
  });

  it('under an opaque token is kept and nothing is sent to it', async () => {
    await putRule({ push: {} });
    const answer = await ask('acme/guest', '/api/v1notification/register-push/apns:0123/authorization');
    expect([answer.status, answer.json['isDeliverable']]).toEqual([200, false]);
    await happen(panic);
    expect(await service.rows('SELECT 1 FROM deliveries')).toEqual([]);
  });

  it('gets notifications only of devices that its user may see, while the user is active and named', async () => {
    await putRule({ push: {}, silenceS: 0 });
    for (const who of ['guest', 'admin']) {
      await register(`acme/${who}`, String((await subscribe(`acme/${who}`, `/push/${who}`)).json['pushID']));
    }
    await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'guest'");
    await happen(panic);
    const counts = () => [receiver.of('/push/guest').length, receiver.of('/push/admin').length];
    expect(counts()).toEqual([0, 1]);
    await ask('acme/admin', '/group/updategroup', { groupID: 'north', devices: ['truck-17'] });
    await service.sql(`INSERT INTO group_users (account_id, user_id, group_no)
      SELECT 'acme', 'guest', group_no FROM device_groups`);
    await happen(panic);
    await happen(panic, {}, 'acme/truck-18');
    expect(counts()).toEqual([1, 3]);
    await putRule({ push: { userIDs: ['guest'] }, silenceS: 0 });
    await happen(panic);
    expect(counts()).toEqual([2, 3]);
    await service.sql("UPDATE users SET is_active = 0 WHERE account_id = 'acme' AND user_id = 'guest'");
    await happen(panic);
    expect(counts()).toEqual([2, 3]);
  });

  it('that its push service has ended is removed', async () => {
    receiver.status.set('/push/1', 410);
    await putRule({ push: {}, silenceS: 0 });
    await register('acme/guest', String((await subscribe('acme/guest')).json['pushID']));
    await happen(panic);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(1);
    expect(await service.rows('SELECT 1 FROM push_registrations')).toEqual([]);
  });

  it('moves to the user who logs in with the same browser', async () => {
    await subscribe('acme/guest');
    await subscribe('acme/admin');
    expect(await service.rows('SELECT user_id FROM push_registrations')).toEqual([{ user_id: 'admin' }]);
  });

  it.each([
    ['a logout', async () => ask('acme/guest', '/api/v1/auth/logout/acme/guest')],
    ['the end of its session', async () => ask('acme/admin', '/auth/revoketokens', { userID: 'guest' })],
    [
      'a new password by an administrator',
      async () =>
        ask('acme/admin', '/user/updateuser', { userID: 'guest', password: 'seven lamps over the yard' }),
    ],
    [
      'a new password from another session',
      async () => {
        tokens.set('acme/other', await service.login('acme', 'guest'));
        const body = { currentPassword: password, newPassword: 'seven lamps over the yard' };
        return ask('acme/other', '/user/changepassword', body);
      },
    ],
  ])('is listed with its session, and ends with %s', async (_name, end) => {
    await putRule({ push: {}, silenceS: 0 });
    const pushID = String((await subscribe('acme/guest')).json['pushID']);
    await register('acme/guest', pushID);
    const [session] = await list('acme/guest', '/auth/tokens', 'tokens');
    const listed = { pushID, service: '127.0.0.1', isRegistered: true, tokenID: session?.['tokenID'] };
    expect(await list('acme/guest', '/auth/tokens', 'pushes')).toMatchObject([listed]);
    const seen = await list('acme/admin', '/api/v1/auth/tokens/authorization?userID=guest', 'pushes');
    expect(seen, 'its id is for its user alone').toMatchObject([{ ...listed, pushID: '' }]);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(1);
    expect((await end()).status).toBe(200);
    await happen(panic);
    expect(receiver.of('/push/1')).toHaveLength(1);
    expect(await service.rows('SELECT 1 FROM push_registrations')).toEqual([]);
  });

  it('goes on when its session runs out, and ends with the one that showed it again', async () => {
    const pushID = String((await subscribe('acme/guest')).json['pushID']);
    await register('acme/guest', pushID);
    await service.sql("DELETE FROM sessions WHERE user_id = 'guest'");
    tokens.set('acme/guest', await service.login('acme', 'guest'));
    expect(await list('acme/guest', '/auth/tokens', 'pushes')).toMatchObject([{ pushID, tokenID: '' }]);
    await register('acme/guest', pushID);
    await ask('acme/guest', '/api/v1/auth/logout/acme/guest');
    expect(await service.rows('SELECT 1 FROM push_registrations')).toEqual([]);
  });

  it('is one of at most twenty; the oldest are removed', async () => {
    for (let at = 0; at < 25; at += 1) await register('acme/guest', `token-${at}`);
    const rows = await service.rows('SELECT push_id FROM push_registrations ORDER BY registration_no');
    expect([rows.length, rows[0]]).toEqual([20, { push_id: 'token-5' }]);
  });

  it('is refused for a host that is not a known push service', async () => {
    const body = { endpoint: 'https://evil.example.com/x', keys: subscription };
    expect((await ask('acme/guest', '/notification/subscribe', body)).json['error']).toMatchObject({
      errors: [{ pointer: '/endpoint' }],
    });
  });
});

it('without a mail server a rule cannot ask for mail', async () => {
  await service.close();
  await begin(createLoopbackSenders());
  const body = { ruleID: 'r1', statusCodes: 'alerts', email: { addresses: ['a@example.com'] } };
  const { json } = await ask('acme/admin', '/notification/updaterule', body);
  expect(json['error']).toMatchObject({ status: 422, errors: [{ pointer: '/email' }] });
});

describe('a test of a webhook', () => {
  const path = '/notification/testrule';

  it('posts one marked and signed message and answers with its outcome; nothing else remembers it', async () => {
    const url = receiver.url('/hook');
    const made = await ask('acme/admin', '/notification/updaterule', {
      ruleID: 'ops',
      statusCodes: [panic],
      isActive: false,
      webhook: { url },
    });
    const secret = String(made.json['webhookSecret']);
    const { status, json } = await ask('acme/admin', path, { ruleID: 'ops' });
    expect([status, json['isDelivered'], json['reason']]).toEqual([200, true, '']);
    const [post, ...others] = receiver.of('/hook');
    expect(others).toEqual([]);
    const body = JSON.parse(post?.text ?? '{}') as Record<string, unknown>;
    expect(body).toMatchObject({ test: true, deviceID: '', statusCode: 0, ruleID: 'ops', accountID: 'acme' });
    expect(post?.headers['fleetward-id']).toBe(json['messageID']);
    expect(String(json['messageID'])).toMatch(/^test-/);
    const signed = createHmac('sha256', secret)
      .update(`${String(post?.headers['fleetward-timestamp'])}.${post?.text ?? ''}`)
      .digest('hex');
    expect(post?.headers['fleetward-signature']).toBe(`v1=${signed}`);
    expect(JSON.stringify(json)).not.toContain('/hook');
    expect(await service.rows('SELECT * FROM deliveries')).toEqual([]);
    expect(await service.rows('SELECT * FROM notifications')).toEqual([]);
    const audited = await service.rows(
      "SELECT object FROM audit WHERE action = 'rule.test' ORDER BY audit_no",
    );
    expect(audited).toEqual([{ object: 'ops' }]);
  });

  it('reports why a receiver did not accept it, and repeats nothing', async () => {
    receiver.status.set('/down', 503);
    await ask('acme/admin', '/notification/updaterule', {
      ruleID: 'ops',
      statusCodes: 'alerts',
      webhook: { url: receiver.url('/down') },
    });
    const { json } = await ask('acme/admin', path, { ruleID: 'ops' });
    expect(json).toMatchObject({
      isDelivered: false,
      reason: 'answered 503',
      reasonCode: 'answered',
      reasonDetail: '503',
    });
    await service.notices.runAll();
    expect(receiver.of('/down')).toHaveLength(1);
  });

  it('is limited, and for administrators of the account with a webhook', async () => {
    const rule = { ruleID: 'ops', statusCodes: 'alerts' };
    await ask('acme/admin', '/notification/updaterule', { ...rule, push: {} });
    expect((await ask('acme/admin', path, { ruleID: 'ops' })).json['error']).toMatchObject({
      code: 'conflict',
    });
    await ask('acme/admin', '/notification/updaterule', { ...rule, webhook: { url: receiver.url('/hook') } });
    expect((await ask('acme/guest', path, { ruleID: 'ops' })).json['error']).toMatchObject({
      code: 'forbidden',
    });
    expect((await ask('rival/admin', path, { ruleID: 'ops' })).status).toBe(404);
    expect((await ask('acme/admin', path, { ruleID: 'nope' })).status).toBe(404);
    service.pin();
    const statuses: number[] = [];
    for (let turn = 0; turn < 11; turn += 1)
      statuses.push((await ask('acme/admin', path, { ruleID: 'ops' })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 503]);
    expect(receiver.of('/hook')).toHaveLength(10);
    service.advance(7000);
    expect((await ask('acme/admin', path, { ruleID: 'ops' })).status).toBe(200);
  });

  it('is sent to no target that the operator of the service does not allow, also if the rule is older', async () => {
    await service.close();
    await begin(createOfflineSenders());
    const definition = {
      displayName: 'x',
      isActive: true,
      statusCodes: 'alerts',
      devices: [],
      groups: [],
      silenceS: 0,
      quietHours: null,
      webhook: { url: receiver.url('/hook') },
      email: null,
      push: null,
    };
    await service.sql(
      `INSERT INTO notification_rules (account_id, rule_id, definition, webhook_secret, changed_ms) VALUES ('acme', 'old', $1, 's', 1)`,
      [JSON.stringify(definition)],
    );
    expect((await ask('acme/admin', path, { ruleID: 'old' })).json['error']).toMatchObject({
      code: 'conflict',
    });
    expect(receiver.posts).toEqual([]);
  });
});
