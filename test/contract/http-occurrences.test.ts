// Rules about what happens in the service, as a client sees it: what they may name, who is notified of which device, and what inbox,
// mail and webhook say.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OutgoingMail } from '../../broker/notify/senders.ts';
import { findDevice, setOnline } from '../../broker/store/devices/devices.ts';
import { createLoopbackSenders } from '../support/broker/senders.ts';
import { startHttpService } from '../support/http/http-service.ts';

type Json = Record<string, unknown>;

let service: Awaited<ReturnType<typeof startHttpService>>;
const mails: OutgoingMail[] = [];
const tokens = new Map<string, string>();

beforeAll(async () => {
  const senders = createLoopbackSenders(async (mail) => {
    mails.push(mail);
    return { kind: 'sent' };
  });
  service = await startHttpService({ senders });
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    tokens.set(`${accountID}/admin`, await service.login(accountID, 'admin'));
    await service.device(accountID, 'truck-17');
  }
  await service.device('acme', 'truck-18');
  for (const userID of ['olga', 'otto']) await service.user('acme', userID, 'operator');
  await service.user('acme', 'guest', 'viewer');
  await service.sql("UPDATE users SET sees_all = 0 WHERE user_id = 'guest'");
  await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
  for (const userID of ['olga', 'otto', 'guest'])
    tokens.set(`acme/${userID}`, await service.login('acme', userID));
});

afterEach(async () => {
  mails.length = 0;
  await ask('acme/admin', 'notification/deleterule', { ruleID: 'r1' });
  await service.sql('DELETE FROM notifications');
});

afterAll(() => service.close());

async function ask(who: string, path: string, body?: unknown) {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/${path}/authorization`,
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

const inbox = async (who: string): Promise<Json[]> => {
  await service.notices.runAll();
  return (await succeed(who, 'notification/getallpushnotifications'))['notifications'] as Json[];
};
const email = { addresses: ['ops@example.com'] };
const putRule = (changes: object) =>
  succeed('acme/admin', 'notification/updaterule', { ruleID: 'r1', email, ...changes });
/** A certificate of the device that ends in a week. */
const expiring = (serial: string, accountID = 'acme', deviceID = 'truck-17') =>
  service.sql(`INSERT INTO device_certificates (device_no, serial, issued_ms, until_ms)
    SELECT device_no, '${serial}', 1, ${Date.now() + 7 * 86_400_000} FROM devices
    WHERE account_id = '${accountID}' AND device_id = '${deviceID}'`);
const forget = () => service.sql('DELETE FROM device_certificates');

describe('a rule with kinds', () => {
  it('needs no status codes, and shows what it was given', async () => {
    const rule = await putRule({ kinds: ['device_offline', 'update_failed'], offlineAfterS: 120 });
    const shown = { statusCodes: [], kinds: ['device_offline', 'update_failed'], offlineAfterS: 120 };
    expect(rule).toMatchObject(shown);
    expect((await succeed('acme/admin', 'notification/rules'))['rules']).toMatchObject([shown]);
  });

  it.each([
    ['/statusCodes', {}],
    ['/statusCodes', { statusCodes: [], kinds: [] }],
    ['/kinds/0', { kinds: ['offline'] }],
    ['/kinds/0', { kinds: ['toString'] }],
    ['/kinds', { kinds: 'device_offline' }],
    ['/kinds', { kinds: ['device_offline', 'device_offline'] }],
    ['/kinds', { kinds: ['device_offline'], alarm: { priority: 'low' } }],
    ['/kinds', { kinds: ['device_offline'], statusCodes: 'alarms', escalatesAfterS: 60 }],
    ['/offlineAfterS', { kinds: ['device_offline'], offlineAfterS: 59 }],
    ['/offlineAfterS', { kinds: ['device_offline'], offlineAfterS: 2_592_001 }],
    ['/offlineAfterS', { kinds: ['device_offline'], offlineAfterS: null }],
    ['/webhook', { kinds: ['device_offline'], email: null }],
  ])('is refused at %s for %j', async (pointer, changes) => {
    const body = { ruleID: 'r1', email, ...changes };
    const { status, json, text } = await ask('acme/admin', 'notification/updaterule', body);
    expect(status, text).toBe(422);
    expect((json['error'] as { errors: Json[] }).errors[0]?.['pointer']).toBe(pointer);
  });
});

describe('an approval', () => {
  it('that is waited for and granted is mailed with what it is about', async () => {
    await putRule({ kinds: ['approval_requested', 'approval_granted'] });
    const cut = { deviceID: 'truck-17', feature: 'enginecutoff', state: '1' };
    const { approvalID } = await succeed('acme/olga', 'command/feature', cut);
    const [asked] = await inbox('acme/admin');
    expect(asked).toMatchObject({
      kind: 'approval_requested',
      statusCode: 0,
      statusDescription: 'Cut waits for approval',
      deviceID: 'truck-17',
      userID: 'olga',
      objectID: approvalID,
      commandID: null,
      alarmID: '',
      late: false,
    });
    expect(Number(asked?.['ends'])).toBeGreaterThan(Number(asked?.['timestamp']));
    const { commandID } = await succeed('acme/otto', 'command/approve', { approvalID });
    expect((await inbox('acme/admin'))[0]).toMatchObject({
      kind: 'approval_granted',
      userID: 'otto',
      objectID: approvalID,
      commandID,
    });
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Cut waits for approval: truck-17',
      'Cut approved: truck-17',
    ]);
    expect(mails[0]?.text).toContain(`Approval: ${String(approvalID)}\n`);
    expect(mails[0]?.text).toContain('User:     olga\n');
  });
});

describe('a restore', () => {
  const restore = { deviceID: 'truck-17', feature: 'enginecutoff', state: '0' };
  const report = (commandID: unknown, seq: number) =>
    service.events('acme', 'truck-17', {
      boot: 'b1',
      events: [{ seq, timestamp: Date.now(), statusCode: 64_835, commandID, commandState: 'refused' }],
    });

  it('that the vehicle refused is reported with who requested it, once', async () => {
    await putRule({ kinds: ['command_refused', 'command_expired'] });
    const { commandID } = await succeed('acme/olga', 'command/feature', restore);
    await report(commandID, 1);
    await report(commandID, 2);
    expect(await inbox('acme/otto')).toMatchObject([
      { kind: 'command_refused', commandID, commandState: 'refused', userID: 'olga', objectID: '' },
    ]);
    expect(mails.map(({ subject }) => subject)).toEqual(['Command refused: truck-17']);
  });

  it('that another one replaced is not reported', async () => {
    await putRule({ kinds: ['command_refused', 'command_expired'] });
    await service.sql('UPDATE accounts SET needs_approval = 0');
    const { commandID } = await succeed('acme/olga', 'command/feature', { ...restore, state: '1' });
    await service.sql("UPDATE accounts SET needs_approval = 1 WHERE account_id = 'acme'");
    await succeed('acme/olga', 'command/feature', restore);
    await report(commandID, 3);
    expect(await inbox('acme/otto')).toEqual([]);
  });
});

describe('a unit', () => {
  it('that stays offline and comes back is reported, with the time since when', async () => {
    await putRule({ kinds: ['device_offline', 'device_online'], offlineAfterS: 600, devices: ['truck-18'] });
    const { deviceNo } = (await findDevice(service.db, { accountID: 'acme', deviceID: 'truck-18' })) ?? {
      deviceNo: 0,
    };
    const sinceMs = Date.now();
    await service.sql('UPDATE devices SET hello_ms = 1, is_online = 1 WHERE device_no = $1', [deviceNo]);
    await service.write([setOnline(deviceNo, false, { atMs: sinceMs, cause: 'closed' })]);
    service.advance(9 * 60_000);
    expect(await inbox('acme/admin')).toEqual([]);
    service.advance(2 * 60_000);
    const since = Math.floor(sinceMs / 1000);
    const [offline] = await inbox('acme/admin');
    expect(offline).toMatchObject({ kind: 'device_offline', deviceID: 'truck-18', timestamp: since });
    expect(Number(offline?.['creationTime'])).toBeGreaterThanOrEqual(since + 600);
    await service.write([setOnline(deviceNo, true, { atMs: Date.now() + 11 * 60_000, cause: 'hello' })]);
    expect((await inbox('acme/admin')).map(({ kind }) => kind)).toEqual(['device_online', 'device_offline']);
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Device offline: truck-18',
      'Device online again: truck-18',
    ]);
    expect(await inbox('rival/admin')).toEqual([]);
  });

  it('that used its code is reported', async () => {
    await putRule({ kinds: ['device_enrolled'] });
    await service.sql(`INSERT INTO enrolment_codes (code_id, device_no, verifier, created_ms, created_by, expires_ms)
      SELECT 'code-1', device_no, 'v', 1, 'admin', 9000000000000 FROM devices
      WHERE account_id = 'acme' AND device_id = 'truck-18'`);
    expect(await inbox('acme/admin')).toEqual([]);
    await service.sql(`UPDATE enrolment_codes SET used_ms = ${Date.now()} WHERE code_id = 'code-1'`);
    expect(await inbox('acme/admin')).toMatchObject([
      { kind: 'device_enrolled', deviceID: 'truck-18', userID: 'admin', objectID: 'code-1' },
    ]);
  });
});

describe('an occurrence', () => {
  it('is in the inbox of those who may see the device, and of no other account', async () => {
    await putRule({ kinds: ['certificate_expiring'] });
    await expiring('aa');
    await expiring('bb', 'rival');
    expect(await inbox('acme/otto')).toMatchObject([
      { kind: 'certificate_expiring', objectID: 'aa', deviceID: 'truck-17', isPositionValid: false },
    ]);
    expect(await inbox('acme/guest')).toEqual([]);
    expect(await inbox('rival/admin')).toEqual([]);
    await forget();
  });

  it('of a device outside of the groups and devices of the rule is not reported', async () => {
    await succeed('acme/admin', 'group/updategroup', { groupID: 'north', devices: ['truck-18'] });
    await putRule({ kinds: ['certificate_expiring'], groups: ['north'] });
    await expiring('cc');
    await expiring('dd', 'acme', 'truck-18');
    expect((await inbox('acme/admin')).map(({ objectID }) => objectID)).toEqual(['dd']);
    await forget();
  });

  it('is delivered by webhook with its kind', async () => {
    await putRule({ kinds: ['certificate_expiring'], email: null, webhook: { url: 'http://127.0.0.1:9/' } });
    await expiring('ee');
    await inbox('acme/admin');
    const { deliveries } = await succeed('acme/admin', 'notification/deliveries');
    expect((deliveries as Json[])[0]).toMatchObject({ ruleID: 'r1', channel: 'webhook', state: 'pending' });
    await forget();
  });
});
