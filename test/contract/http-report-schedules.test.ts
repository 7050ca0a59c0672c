// Reports by mail over both stores: who may have which, that each due time has one mail with what its owner may see, the same file as the
// console saves, and that a schedule says why it stopped.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { reportWords } from '../../broker/features/reports/core/report-words.ts';
import { createReportMailer } from '../../broker/features/reports/report-mailer.ts';
import { createReportReader } from '../../broker/features/reports/report-reading.ts';
import type { OutgoingMail, Sending } from '../../broker/notify/senders.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { tripRow } from '../../src/core/reports/rows.ts';
import { csvOfReport } from '../../src/core/reports/table.ts';
import { createLoopbackSenders } from '../support/broker/senders.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Json = Readonly<Record<string, unknown>>;

const minuteMs = 60_000;
const dayMs = 86_400_000;
let service: Awaited<ReturnType<typeof startHttpService>>;
let laterMs = 0;
let answer: Sending = { kind: 'sent' };
const mails: OutgoingMail[] = [];
const tokens = new Map<string, string>();

const nowMs = () => Date.now() + laterMs;

async function ask(who: string, path: string, body?: unknown) {
  const { status, text, json } = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/report/${path}/authorization`,
    token: tokens.get(who) ?? '',
    ...(body === undefined ? {} : { body }),
  });
  return { status, text, json: json() };
}

const errorOf = ({ json }: { readonly json: Json }) =>
  json['error'] as { readonly code: string; readonly errors: readonly Json[] } | undefined;
const codeOf = (given: { readonly json: Json }): string => errorOf(given)?.code ?? '';

async function succeed(who: string, path: string, body?: unknown): Promise<Json> {
  const { status, text, json } = await ask(who, path, body);
  expect(status, text).toBe(200);
  return json;
}

/** A minute of the day, UTC, so far from now. */
const timeIn = (minutes: number): string =>
  new Date(nowMs() + minutes * minuteMs).toISOString().slice(11, 16);

const put = (changes: object = {}, who = 'admin') =>
  succeed(who, 'updateschedule', {
    scheduleID: 's1',
    scheduleDisplayName: 'Trips of the day',
    kind: 'trips',
    period: 'yesterday',
    every: 'day',
    time: timeIn(10),
    timeZone: 'UTC',
    recipients: ['ops@example.com', 'boss@example.com'],
    ...changes,
  });

const schedules = async (who = 'admin') => (await succeed(who, 'schedules'))['schedules'] as readonly Json[];
const one = async (who = 'admin'): Promise<Json> => (await schedules(who))[0] ?? {};

async function advance(minutes: number): Promise<void> {
  laterMs += minutes * minuteMs;
  service.advance(minutes * minuteMs);
  await service.notices.runAll();
}

/** Leaps to the due time of the schedule. */
const reachDue = () => advance(11);

/** Two drives on the day before this moment, UTC. */
async function drive(deviceID: string): Promise<void> {
  const startS = Math.floor((Math.floor(nowMs() / dayMs) * dayMs - dayMs) / 1000);
  const events: object[] = [];
  for (let minute = 0; minute < 240; minute += 1) {
    const isDriving = (minute > 30 && minute < 60) || (minute > 150 && minute < 190);
    const driven = Math.min(29, Math.max(0, minute - 30)) + Math.min(39, Math.max(0, minute - 150));
    events.push({
      seq: minute + 1,
      timestamp: startS + minute * 60,
      statusCode: isDriving ? 61_714 : 61_472,
      latitude: Number((43 + driven * 0.008).toFixed(6)),
      longitude: -79.3,
      speed: isDriving ? 54 : 0,
      inputs: { ignition: isDriving },
    });
  }
  await service.events('acme', deviceID, { boot: 'b1', events });
}

beforeAll(async () => {
  const senders = createLoopbackSenders(async (mail) => {
    mails.push(mail);
    return answer;
  });
  service = await startHttpService({ senders });
  // 06:00 UTC: the tests advance the clock by hours and must not cross midnight, after which "yesterday" is another day.
  laterMs = dayMs - (nowMs() % dayMs) + 6 * 60 * minuteMs;
  service.advance(laterMs);
  for (const accountID of ['acme', 'rival']) await service.account(accountID);
  for (const userID of ['olga', 'north']) await service.user('acme', userID, 'operator');
  await service.user('acme', 'watch', 'viewer');
  for (const deviceID of ['truck-17', 'truck-18']) await service.device('acme', deviceID);
  await service.sql("UPDATE devices SET display_name = 'Truck 17' WHERE device_id = 'truck-17'");
  await service.sql(
    "UPDATE users SET notify_email = 'Olga@example.com' WHERE account_id = 'acme' AND user_id = 'olga'",
  );
  await service.sql("UPDATE users SET sees_all = 0 WHERE account_id = 'acme' AND user_id = 'north'");
  await service.sql(
    "INSERT INTO device_groups (account_id, group_id, display_name) VALUES ('acme', 'vans', 'Vans')",
  );
  const ofGroup = "SELECT group_no FROM device_groups WHERE group_id = 'vans'";
  await service.sql(
    `INSERT INTO group_users (account_id, user_id, group_no) VALUES ('acme', 'north', (${ofGroup}))`,
  );
  await service.sql(`INSERT INTO group_devices (group_no, device_no)
    SELECT (${ofGroup}), device_no FROM devices WHERE device_id = 'truck-17' AND account_id = 'acme'`);
  for (const user of ['admin', 'olga', 'north', 'watch']) tokens.set(user, await service.login('acme', user));
  tokens.set('rival', await service.login('rival', 'admin'));
  for (const deviceID of ['truck-17', 'truck-18']) await drive(deviceID);
});

afterEach(async () => {
  answer = { kind: 'sent' };
  await service.sql('DELETE FROM deliveries WHERE mail_no IS NOT NULL');
  await service.sql('DELETE FROM report_mails');
  await service.sql('DELETE FROM report_schedules');
  mails.length = 0;
});

afterAll(() => service.close());

describe('a report schedule', () => {
  it('is created, listed with its next due time, replaced as a whole and deleted, each in the audit log', async () => {
    const time = timeIn(10);
    const made = await put({ time, devices: ['truck-17'] });
    const nextDue = Number(made['nextDue']);
    expect(new Date(nextDue * 1000).toISOString().slice(11, 16)).toBe(time);
    expect(await one()).toMatchObject({
      scheduleID: 's1',
      owner: 'admin',
      nextDue,
      lastResult: null,
      stopped: '',
    });
    await put({ kind: 'stops', isActive: false });
    expect(await one()).toMatchObject({ kind: 'stops', devices: [], isActive: false, nextDue: 0 });
    await succeed('admin', 'deleteschedule', { scheduleID: 's1' });
    expect(await schedules()).toEqual([]);
    expect((await ask('admin', 'deleteschedule', { scheduleID: 's1' })).status).toBe(404);
    const entries = await service.rows(
      "SELECT action, actor FROM audit WHERE object = 's1' ORDER BY audit_no DESC LIMIT 3",
    );
    expect(entries).toMatchObject([
      { action: 'reportschedule.delete', actor: 'admin' },
      { action: 'reportschedule.update' },
      { action: 'reportschedule.update' },
    ]);
  });

  it('belongs to its maker: other users do not see it, administrators see, send and delete it, and only its owner changes it', async () => {
    await put({ recipients: ['olga@example.com'] }, 'olga');
    expect(await one('admin')).toMatchObject({ owner: 'olga' });
    expect(await schedules('north')).toEqual([]);
    expect(await schedules('rival')).toEqual([]);
    expect(codeOf(await ask('watch', 'schedules'))).toBe('forbidden');
    const refused = await ask('admin', 'updateschedule', {
      scheduleID: 's1',
      kind: 'trips',
      period: 'yesterday',
      every: 'day',
      time: '06:00',
      timeZone: 'UTC',
      recipients: ['ops@example.com'],
    });
    expect(codeOf(refused)).toBe('conflict');
    for (const path of ['deleteschedule', 'sendschedule']) {
      expect((await ask('north', path, { scheduleID: 's1' })).status).toBe(404);
      expect((await ask('rival', path, { scheduleID: 's1' })).status).toBe(404);
    }
    await succeed('admin', 'sendschedule', { scheduleID: 's1' });
    await service.notices.runAll();
    expect(mails.map(({ to }) => to)).toEqual(['olga@example.com']);
    expect(mails[0]?.text).toContain('all that olga sees (2)');
    await succeed('admin', 'deleteschedule', { scheduleID: 's1' });
  });

  it('of an operator names only what the operator sees, and mailboxes of users of the account', async () => {
    const refused = async (who: string, changes: object): Promise<unknown> => {
      const given = await ask(who, 'updateschedule', {
        scheduleID: 's1',
        kind: 'trips',
        period: 'yesterday',
        every: 'day',
        time: '06:00',
        timeZone: 'UTC',
        recipients: ['olga@example.com'],
        ...changes,
      });
      expect(given.status).toBe(422);
      return errorOf(given)?.errors[0]?.['pointer'];
    };
    expect(await refused('olga', { recipients: ['olga@example.com', 'x@example.org'] })).toBe(
      '/recipients/1',
    );
    expect(await refused('north', { devices: ['truck-17', 'truck-18'] })).toBe('/devices/1');
    expect(await refused('olga', { groups: ['none'] })).toBe('/groups/0');
    expect(await refused('admin', { timeZone: 'Mars/Base' })).toBe('/timeZone');
    expect(await refused('admin', { scheduleDisplayName: 'x\r\nBcc: a@example.com' })).toBe(
      '/scheduleDisplayName',
    );
    expect(await refused('admin', { recipients: ['a@example.com, b@example.com'] })).toBe('/recipients/0');
    const many = Array.from({ length: 11 }, (_, at) => `a${at}@example.com`);
    expect(await refused('admin', { recipients: many })).toBe('/recipients');
    await put({ recipients: ['olga@example.com'], groups: ['vans'] }, 'north');
  });

  it('is one of at most 50 of an account, also when they are made at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 55 }, (_, at) =>
        ask('admin', 'updateschedule', {
          scheduleID: `many-${at}`,
          kind: 'trips',
          period: 'yesterday',
          every: 'day',
          time: '06:00',
          timeZone: 'UTC',
          isActive: false,
          recipients: ['ops@example.com'],
        }),
      ),
    );
    expect(made.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(made.filter((one) => codeOf(one) === 'conflict')).toHaveLength(5);
    expect(await schedules()).toHaveLength(50);
  });
});

describe('a report that is due', () => {
  it('is mailed once to each recipient, with a table, totals, and the file that the console saves', async () => {
    await put();
    await reachDue();
    await service.notices.runAll();
    expect(mails.map(({ to }) => to).toSorted()).toEqual(['boss@example.com', 'ops@example.com']);
    const [mail] = mails;
    expect(new Set(mails.map(({ id }) => id)).size).toBe(1);
    const day = new Date(nowMs() - dayMs).toISOString().slice(0, 10);
    expect(mail?.subject).toBe(`Trips: Trips of the day, ${day}`);
    expect(mail?.text).toContain('Truck 17');
    expect(mail?.text).toMatch(/Total:\n {2}Driving \(h:min\): \d+:\d\d\n {2}Distance \(km\): \d/);
    expect(mail?.text).toContain('all that admin sees (2)');
    expect(mail?.file?.name).toBe(`trips_${day}_${day}.csv`);
    const startS = Math.floor(Date.parse(day) / 1000);
    const rows = [];
    for (const deviceID of ['truck-17', 'truck-18']) {
      const { trips } = await succeed('admin', `trips/${deviceID}/${startS}/${startS + 86_399}`);
      rows.push(...(trips as Parameters<typeof tripRow>[0][]).map(tripRow));
    }
    expect(rows).toHaveLength(4);
    const sorted = rows.toSorted(
      (first, other) =>
        Number(other.values.start) - Number(first.values.start) || (first.id < other.id ? -1 : 1),
    );
    const nameOf = (id: string): string => (id === 'truck-17' ? 'Truck 17' : id);
    const csv = csvOfReport({ kind: 'trips', rows: sorted, nameOf }, reportWords.en.table);
    expect(Buffer.from(mail?.file?.content ?? []).toString()).toBe(csv);
    expect(await one()).toMatchObject({
      lastResult: {
        reason: '',
        rows: 4,
        withoutFile: '',
        mails: [
          { target: 'ops@example.com', state: 'sent', lastErrorCode: '' },
          { target: 'boss@example.com', state: 'sent' },
        ],
      },
    });
    expect(Number((await one())['nextDue']) * 1000).toBeGreaterThan(nowMs() + 23 * 60 * minuteMs);
    const [entry] = await service.rows(
      "SELECT actor, detail FROM audit WHERE action = 'reportschedule.mail' ORDER BY audit_no",
    );
    expect(entry).toMatchObject({ actor: 'service' });
    expect(String(entry?.['detail'])).not.toContain('@');
  });

  it.each([
    ['summary', 'Summary: x'],
    ['stops', 'Stops: x'],
    ['alarms', 'Alarms: x'],
    ['decisions', 'Two-person decisions: x'],
  ])('is of the kind %s', async (kind, subject) => {
    await put({ kind, scheduleDisplayName: 'x' });
    await reachDue();
    expect(mails[0]?.subject).toContain(subject);
    expect(Buffer.from(mails[0]?.file?.content ?? []).toString()).toMatch(/^\ufeffdeviceID,/);
  });

  it('comes to no more than what its owner sees', async () => {
    await put({ recipients: ['olga@example.com'] }, 'north');
    await reachDue();
    const csv = Buffer.from(mails[0]?.file?.content ?? []).toString();
    expect(csv).toContain('truck-17');
    expect(csv).not.toContain('truck-18');
    expect(mails[0]?.text).toContain('(1)');
  });

  it('is made up for once after an outage, for the latest due time', async () => {
    await put();
    await service.sql(
      `UPDATE report_schedules SET next_ms = next_ms - ${5 * dayMs}, attempt_ms = attempt_ms - ${5 * dayMs}`,
    );
    await service.notices.runAll();
    expect(mails).toHaveLength(2);
    // Yesterday's due time was the last one: it is about the day before that.
    expect(mails[0]?.subject).toContain(
      new Date(nowMs() + 10 * minuteMs - 2 * dayMs).toISOString().slice(0, 10),
    );
    expect(Number((await one())['nextDue']) * 1000).toBeGreaterThan(nowMs());
  });

  it('is mailed once by two processes that do it at the same time', async () => {
    await put();
    laterMs += 11 * minuteMs;
    service.advance(11 * minuteMs);
    const clock = { ...createSystemClock(), utcMs: nowMs };
    const { api, db, log } = service;
    const mailer = () =>
      createReportMailer({
        db,
        clock,
        entropy: createSystemEntropy(),
        log,
        senders: { email: async () => ({ kind: 'sent' }) },
        reader: createReportReader(api),
        consoleUrl: '',
        onDeliveries: () => undefined,
      });
    const count = async (text: string) => Number((await service.rows(text))[0]?.['count']);
    const entries = "SELECT COUNT(*) AS count FROM audit WHERE action = 'reportschedule.mail'";
    const before = await count(entries);
    const [first, second] = [mailer(), mailer()];
    await Promise.all([first.runAll(), second.runAll()]);
    await Promise.all([first.close(), second.close()]);
    expect(await count('SELECT COUNT(*) AS count FROM report_mails')).toBe(1);
    expect((await count(entries)) - before).toBe(1);
    expect(await count('SELECT COUNT(*) AS count FROM deliveries WHERE mail_no IS NOT NULL')).toBe(2);
  });

  it('is tried again with the same id when the mail server fails, and its result says so', async () => {
    answer = { kind: 'failed', fault: 'mail_answered 450' };
    await put({ recipients: ['ops@example.com'] });
    await reachDue();
    expect(await one()).toMatchObject({
      lastResult: { mails: [{ state: 'pending', lastErrorCode: 'mail_answered', lastErrorDetail: '450' }] },
    });
    answer = { kind: 'sent' };
    await advance(5);
    expect(mails.length).toBeGreaterThan(1);
    expect(new Set(mails.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
    expect(await one()).toMatchObject({ lastResult: { mails: [{ state: 'sent' }] } });
  });

  it('of a deleted schedule is not delivered', async () => {
    answer = { kind: 'failed', fault: 'mail_answered 450' };
    await put({ recipients: ['ops@example.com'] });
    await reachDue();
    await succeed('admin', 'deleteschedule', { scheduleID: 's1' });
    mails.length = 0;
    await advance(10);
    expect(mails).toEqual([]);
    expect(await service.rows('SELECT state, fault FROM deliveries WHERE mail_no IS NOT NULL')).toEqual([
      { state: 'dead', fault: 'report_deleted' },
    ]);
  });

  it('is not delivered when its owner sees other vehicles than when it was made', async () => {
    answer = { kind: 'failed', fault: 'mail_answered 450' };
    await put({ recipients: ['olga@example.com'] }, 'north');
    await reachDue();
    answer = { kind: 'sent' };
    mails.length = 0;
    const member = "SELECT device_no FROM devices WHERE device_id = 'truck-17' AND account_id = 'acme'";
    await service.sql(`DELETE FROM group_devices WHERE device_no = (${member})`);
    await advance(5);
    expect(mails).toEqual([]);
    expect(await one('north')).toMatchObject({
      lastResult: { mails: [{ state: 'dead', lastErrorCode: 'report_changed' }] },
    });
    await service.sql(`INSERT INTO group_devices (group_no, device_no)
      SELECT group_no, (${member}) FROM device_groups WHERE group_id = 'vans'`);
  });
});

describe('a report schedule stops and says why', () => {
  const stopped = async (reason: string): Promise<void> => {
    await reachDue();
    expect(mails).toEqual([]);
    expect(await one('admin')).toMatchObject({ stopped: reason, nextDue: 0, lastResult: { reason } });
    const [entry] = await service.rows(
      "SELECT detail FROM audit WHERE action = 'reportschedule.stop' ORDER BY audit_no DESC LIMIT 1",
    );
    expect(String(entry?.['detail'])).toContain(reason);
    await advance(2 * 24 * 60);
    for (const user of ['admin', 'olga', 'north', 'watch'])
      tokens.set(user, await service.login('acme', user));
    expect(mails).toEqual([]);
  };

  it('when a vehicle that it names has left what its owner sees, until it is saved again', async () => {
    await put({ recipients: ['olga@example.com'], devices: ['truck-17'] }, 'north');
    const member = "SELECT device_no FROM devices WHERE device_id = 'truck-17' AND account_id = 'acme'";
    await service.sql(`DELETE FROM group_devices WHERE device_no = (${member})`);
    await stopped('vehicles_gone');
    await service.sql(`INSERT INTO group_devices (group_no, device_no)
      SELECT group_no, (${member}) FROM device_groups WHERE group_id = 'vans'`);
    const again = await put({ recipients: ['olga@example.com'], devices: ['truck-17'] }, 'north');
    expect(again).toMatchObject({ stopped: '' });
    await reachDue();
    expect(mails).toHaveLength(1);
  });

  it('when its owner becomes a viewer', async () => {
    await put({ recipients: ['olga@example.com'] }, 'olga');
    await service.sql("UPDATE users SET role = 'viewer' WHERE account_id = 'acme' AND user_id = 'olga'");
    await stopped('owner_role');
    await service.sql("UPDATE users SET role = 'operator' WHERE account_id = 'acme' AND user_id = 'olga'");
  });

  it('when an administrator who named any mailbox becomes an operator', async () => {
    await service.user('acme', 'second', 'admin');
    tokens.set('second', await service.login('acme', 'second'));
    await put({ recipients: ['partner@example.org'] }, 'second');
    await service.sql("UPDATE users SET role = 'operator' WHERE account_id = 'acme' AND user_id = 'second'");
    await stopped('recipients_gone');
  });

  it('when its owner is deleted, also for a later user of that name', async () => {
    await service.user('acme', 'gone', 'operator');
    tokens.set('gone', await service.login('acme', 'gone'));
    await put({ recipients: ['olga@example.com'] }, 'gone');
    const { status } = await service.call({
      method: 'POST',
      path: '/api/v1/user/deleteuser/authorization',
      token: tokens.get('admin') ?? '',
      body: { userID: 'gone' },
    });
    expect(status).toBe(200);
    await service.user('acme', 'gone', 'operator');
    await reachDue();
    expect(mails).toEqual([]);
    expect(await one('admin')).toMatchObject({ stopped: 'owner_gone', nextDue: 0 });
  });
});

describe('a report that is asked for', () => {
  it('is mailed at once as a test, also of a schedule that is off, and leaves its due times', async () => {
    const { nextDue } = await put({ isActive: false });
    await succeed('admin', 'sendschedule', { scheduleID: 's1' });
    await service.notices.runAll();
    expect(mails[0]?.subject).toMatch(/^\[Test\] Trips: /);
    expect(await one()).toMatchObject({ nextDue, isAsked: false, lastResult: { reason: '' } });
  });

  it('is refused when the account asks too often', async () => {
    await put({ recipients: ['ops@example.com'] });
    service.pin();
    const answers: Awaited<ReturnType<typeof ask>>[] = [];
    for (let asked = 0; asked < 8; asked += 1)
      answers.push(await ask('admin', 'sendschedule', { scheduleID: 's1' }));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(6);
    expect(codeOf(answers.at(-1) ?? { json: {} })).toBe('throttled');
  });
});
