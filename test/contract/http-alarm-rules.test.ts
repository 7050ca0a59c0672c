// Rules that raise alarms and escalate them, what then reaches people and open streams, and what goes with a deleted device.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OutgoingMail } from '../../broker/notify/senders.ts';
import { purgeSome } from '../../broker/upkeep/purge.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { createLoopbackSenders } from '../support/broker/senders.ts';
import { readStream, type StreamMessage, type StreamReader } from '../support/http/event-stream.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Json = Record<string, unknown>;

const panic = 63_553;
const doorOpen = 62_673;
const nowS = () => Math.floor(Date.now() / 1000);

let service: Awaited<ReturnType<typeof startHttpService>>;
let port = 0;
let laterMs = 0;
const mails: OutgoingMail[] = [];
const tokens = new Map<string, string>();
const open = new Set<StreamReader>();

beforeAll(async () => {
  const senders = createLoopbackSenders(async (mail) => {
    mails.push(mail);
    return { kind: 'sent' };
  });
  service = await startHttpService({ senders });
  port = await service.http.listen({ host: '127.0.0.1', port: 0 });
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    tokens.set(`${accountID}/admin`, await service.login(accountID, 'admin'));
  }
  for (const userID of ['dispatch', 'north']) await service.user('acme', userID, 'operator');
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'north'");
  await service.user('acme', 'watch', 'viewer');
  for (const userID of ['dispatch', 'north', 'watch'])
    tokens.set(`acme/${userID}`, await service.login('acme', userID));
  for (const device of ['truck-17', 'truck-18']) await service.device('acme', device);
  await service.device('rival', 'truck-17');
});

afterEach(async () => {
  for (const reader of open) reader.close();
  for (const reader of open) await reader.ended;
  open.clear();
  mails.length = 0;
  for (const ruleID of ['r1', 'r2']) await ask('acme/admin', 'notification/deleterule', { ruleID });
  await service.sql('DELETE FROM alarms');
});

afterAll(() => service.close());

async function ask(who: string, path: string, body?: unknown, query = '') {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/${path}/authorization${query}`,
    token: tokens.get(who) ?? '',
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, text: answer.text, json: answer.json() };
}

async function succeed(who: string, path: string, body?: unknown): Promise<Json> {
  const { status, text, json } = await ask(who, path, body);
  expect(status, text).toBe(200);
  return json;
}

const alarms = async (): Promise<Json[]> => (await succeed('acme/admin', 'alarm/alarms'))['alarms'] as Json[];

const putRule = (changes: object) =>
  succeed('acme/admin', 'notification/updaterule', { ruleID: 'r1', statusCodes: 'alarms', ...changes });

let seq = 0;
function happen(statusCode: number, device = 'acme/truck-17'): Promise<void> {
  const [accountID = '', deviceID = ''] = device.split('/');
  seq += 1;
  const timestamp = nowS() + Math.floor(laterMs / 1000);
  return service.events(accountID, deviceID, { boot: 'b1', events: [{ seq, timestamp, statusCode }] });
}

function advance(ms: number): Promise<void> {
  laterMs += ms;
  service.advance(ms);
  return service.notices.runAll();
}

describe('a rule', () => {
  it('with an alarm raises one for each of its events, without any channel', async () => {
    await happen(doorOpen);
    expect(await alarms()).toEqual([]);
    const rule = await putRule({
      statusCodes: [doorOpen],
      devices: ['truck-17'],
      alarm: { priority: 'low' },
    });
    expect(rule).toMatchObject({ alarm: { priority: 'low' }, escalatesAfterS: null, webhook: null });
    await happen(doorOpen);
    await happen(doorOpen, 'acme/truck-18');
    expect(await alarms()).toMatchObject([{ deviceID: 'truck-17', statusCode: doorOpen, priority: 'low' }]);
  });

  it('makes an alarm more urgent, never less', async () => {
    await putRule({ statusCodes: [63_601], alarm: { priority: 'critical' } });
    await putRule({ ruleID: 'r2', statusCodes: [panic], alarm: { priority: 'low' } });
    await happen(63_601);
    await happen(panic);
    expect((await alarms()).map(({ priority }) => priority)).toEqual(['critical', 'critical']);
  });

  it('that escalates notifies once of an alarm without an owner, and shows it on the alarm', async () => {
    await putRule({ email: { addresses: ['boss@example.com'] }, escalatesAfterS: 60 });
    await happen(panic);
    const [alarm] = await alarms();
    const alarmID = String(alarm?.['alarmID']);
    expect(mails).toEqual([]);
    expect((await succeed('acme/dispatch', `alarm/alarm/${alarmID}`))['deliveries']).toEqual([]);
    const ahead = await succeed('acme/north', `alarm/alarm/${alarmID}`).catch(() => null);
    expect(ahead).toBeNull();
    const detail = await succeed('acme/dispatch', `alarm/alarm/${alarmID}`);
    expect(detail['nextEscalation']).toEqual({
      at: Number(alarm?.['untakenSince']) + 60,
      ruleDisplayName: 'r1',
      userIDs: [],
    });
    await advance(61_000);
    await advance(61_000);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      ['boss@example.com', '[not taken] Panic: truck-17'],
    ]);
    const now = await succeed('acme/dispatch', `alarm/alarm/${alarmID}`);
    expect(now).toMatchObject({ escalations: 1, nextEscalation: null, alarmState: 'new', version: 1 });
    expect(now['activity']).toMatchObject([{ actor: 'service', action: 'escalate', other: 'r1' }]);
    expect(now['deliveries']).toMatchObject([
      { channel: 'email', target: 'boss@example.com', state: 'sent' },
    ]);
    expect((await succeed('acme/watch', `alarm/alarm/${alarmID}`))['deliveries']).toMatchObject([
      { channel: 'email', target: '', state: 'sent' },
    ]);
    await succeed('acme/dispatch', 'alarm/take', { alarmID });
    await succeed('acme/dispatch', 'alarm/release', { alarmID });
    await advance(61_000);
    expect(mails).toHaveLength(2);
    expect((await succeed('acme/dispatch', `alarm/alarm/${alarmID}`))['deliveries']).toHaveLength(2);
    expect(new Set(mails.map(({ id }) => id)).size).toBe(2);
  });

  it('that escalates is silent about what was taken or closed in time', async () => {
    await putRule({ email: { addresses: ['boss@example.com'] }, escalatesAfterS: 60 });
    await happen(panic);
    await happen(panic, 'acme/truck-18');
    const [first, second] = (await alarms()).map((one) => String(one['alarmID']));
    await succeed('acme/dispatch', 'alarm/take', { alarmID: first });
    await succeed('acme/dispatch', 'alarm/close', { alarmID: second, reason: 'test' });
    await advance(3_600_000);
    expect(mails).toEqual([]);
  });

  it.each([
    ['/alarm/priority', { alarm: { priority: 'urgent' } }],
    ['/alarm', { alarm: 'critical' }],
    ['/escalatesAfterS', { email: { addresses: ['a@b.example'] }, escalatesAfterS: 9 }],
    ['/escalatesAfterS', { email: { addresses: ['a@b.example'] }, escalatesAfterS: 86_401 }],
    ['/webhook', { alarm: { priority: 'low' }, escalatesAfterS: 60 }],
    ['/webhook', {}],
    ['/statusCodes', { alarm: { priority: 'low' }, statusCodes: 'alarm' }],
  ])('with a wrong %s is refused', async (pointer, changes) => {
    const { status, json } = await ask('acme/admin', 'notification/updaterule', {
      ruleID: 'r1',
      statusCodes: 'alarms',
      ...changes,
    });
    expect([status, json['error']]).toMatchObject([422, { errors: [{ pointer }] }]);
  });

  it('leads from the inbox to the alarm', async () => {
    await happen(panic);
    const [alarm] = await alarms();
    const inbox = await succeed('acme/dispatch', 'notification/getallpushnotifications');
    expect((inbox['notifications'] as Json[])[0]?.['alarmID']).toBe(alarm?.['alarmID']);
  });
});

describe('a live stream', () => {
  async function read(who: string, query = ''): Promise<StreamReader> {
    const reader = await readStream({ port, token: tokens.get(who) ?? '', query });
    open.add(reader);
    await reader.until(({ event }) => event === 'hello');
    return reader;
  }
  const isAlarm =
    (data: Json) =>
    (message: StreamMessage): boolean =>
      message.event === 'alarm' &&
      Object.entries(data).every(([name, value]) => message.data[name] === value);

  it('sends the whole record of an alarm on each change', async () => {
    const reader = await read('acme/dispatch', '?kinds=alarm');
    await happen(panic);
    const raised = await reader.until(isAlarm({ alarmState: 'new', count: 1 }));
    expect([raised.data]).toEqual(await alarms());
    const alarmID = String(raised.data['alarmID']);
    await succeed('acme/admin', 'alarm/take', { alarmID });
    await reader.until(isAlarm({ alarmID, alarmState: 'taken', owner: 'admin' }));
    await happen(panic);
    await reader.until(isAlarm({ alarmID, alarmState: 'taken', count: 2 }));
    await succeed('acme/admin', 'alarm/addnote', { alarmID, text: 'On it' });
    await reader.until(isAlarm({ alarmID, note: 'On it' }));
    await succeed('acme/admin', 'alarm/close', { alarmID, reason: 'resolved' });
    const closed = await reader.until(isAlarm({ alarmID, alarmState: 'closed' }));
    const [listed] = (await ask('acme/admin', 'alarm/alarms', undefined, '?state=closed')).json[
      'alarms'
    ] as Json[];
    expect(closed.data).toEqual(listed);
    expect(reader.messages().filter(({ event }) => event === 'alarm')).toHaveLength(5);
  });

  it('repeats after a break what changed since', async () => {
    const first = await read('acme/dispatch');
    const { id } = await first.until(({ event }) => event === 'hello');
    first.close();
    await happen(panic);
    const [alarm] = await alarms();
    await succeed('acme/admin', 'alarm/take', { alarmID: alarm?.['alarmID'] });
    const again = await readStream({ port, token: tokens.get('acme/dispatch') ?? '', lastEventID: id ?? '' });
    open.add(again);
    await again.until(isAlarm({ alarmID: alarm?.['alarmID'], alarmState: 'taken' }));
  });

  it('sends nothing to another account, nor of devices outside of the groups', async () => {
    const [rival, north, ours] = [
      await read('rival/admin'),
      await read('acme/north'),
      await read('acme/admin'),
    ];
    await happen(panic);
    await ours.until(isAlarm({ deviceID: 'truck-17' }));
    await happen(panic, 'rival/truck-17');
    await rival.until(isAlarm({ deviceID: 'truck-17', count: 1 }));
    const alarmsOf = (reader: StreamReader) => reader.messages().filter(({ event }) => event === 'alarm');
    expect([alarmsOf(rival), alarmsOf(ours), alarmsOf(north)].map(({ length }) => length)).toEqual([1, 1, 0]);
  });
});

describe('a deleted device', () => {
  it('takes its alarms along, at once for users and later from the store', async () => {
    await service.device('acme', 'gone');
    await happen(panic, 'acme/gone');
    const [alarm] = await alarms();
    await succeed('acme/admin', 'alarm/addnote', { alarmID: alarm?.['alarmID'], text: 'x' });
    await succeed('acme/admin', 'device/deletedevice', { deviceID: 'gone' });
    expect(await alarms()).toEqual([]);
    expect((await ask('acme/admin', `alarm/alarm/${String(alarm?.['alarmID'])}`)).status).toBe(404);
    expect((await succeed('acme/admin', 'alarm/summary'))['new']).toMatchObject({ total: 0 });
    const { db, log } = service;
    for (let left: number | null = 0; left !== null; )
      left = await purgeSome({ db, log, clock: createSystemClock() });
    for (const table of ['alarms', 'alarm_activity', 'alarm_events'])
      expect([table, await service.rows(`SELECT 1 FROM ${table}`)]).toEqual([table, []]);
  });
});
