// The trial of a rule over stored events through the service: it must say what the notifier did with the same events, of this account
// only, and leave nothing behind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOfflineSenders } from '../support/broker/senders.ts';
import { startHttpService } from '../support/http/http-service.ts';

const [panic, panicEnd, tow] = [63_553, 63_554, 63_601];
const rule = {
  ruleID: 'watch',
  statusCodes: [panic, tow],
  silenceS: 600,
  webhook: { url: 'https://hooks.invalid/a' },
};

let service: Awaited<ReturnType<typeof startHttpService>>;
const tokens = new Map<string, string>();

async function ask(who: string, path: string, body?: object) {
  const answer = await service.call({
    method: body === undefined ? 'GET' : 'POST',
    path: `/api/v1/notification/${path}/authorization`,
    token: tokens.get(who) ?? '',
    ...(body === undefined ? {} : { body }),
  });
  return { status: answer.status, json: answer.json() };
}

beforeAll(async () => {
  service = await startHttpService({ senders: createOfflineSenders() });
  for (const accountID of ['acme', 'rival']) {
    await service.account(accountID);
    await service.device(accountID, 'truck-17');
    tokens.set(accountID, await service.login(accountID, 'admin'));
  }
  await service.device('acme', 'truck-18');
  await service.user('acme', 'guest', 'viewer');
  tokens.set('guest', await service.login('acme', 'guest'));
  expect((await ask('acme', 'updaterule', rule)).status).toBe(200);
  const nowS = Math.floor(Date.now() / 1000);
  const happenings: readonly (readonly [string, string, number, number])[] = [
    ['acme', 'truck-17', panic, 900],
    // Within the silence of the first.
    ['acme', 'truck-17', panic, 800],
    ['acme', 'truck-17', panicEnd, 700],
    // Another episode.
    ['acme', 'truck-17', panic, 600],
    ['acme', 'truck-18', tow, 500],
    ['acme', 'truck-18', 62_465, 400],
    ['rival', 'truck-17', panic, 300],
    // Before the seven days.
    ['acme', 'truck-18', panic, 8 * 86_400],
  ];
  for (const [index, [accountID, deviceID, statusCode, agoS]] of happenings.entries()) {
    await service.events(accountID, deviceID, {
      boot: 'b1',
      events: [{ seq: index + 1, timestamp: nowS - agoS, statusCode }],
    });
  }
  await service.notices.runAll();
});

afterAll(() => service.close());

describe('the trial of a rule', () => {
  it('notifies of the events that the saved rule notified of, newest first', async () => {
    const made = await service.rows(
      `SELECT n.timestamp_ms FROM deliveries d JOIN notifications n ON n.event_no = d.event_no
       WHERE d.account_id = 'acme' AND n.timestamp_ms > ${Date.now() - 7 * 86_400_000} ORDER BY n.timestamp_ms DESC`,
    );
    expect(made).toHaveLength(3);
    const { status, json } = await ask('acme', 'tryrule', rule);
    expect(status).toBe(200);
    expect(json).toMatchObject({ events: 5, notifications: 3, alarms: 0, isComplete: true, hasKinds: false });
    const firings = json['firings'] as readonly { readonly timestamp: number }[];
    expect(firings.map(({ timestamp }) => timestamp * 1000)).toEqual(
      made.map((row) => Number(row['timestamp_ms'])),
    );
    expect(firings[0]).toMatchObject({ deviceID: 'truck-18', statusCode: tow, channels: ['webhook'] });
  });

  it('follows devices, silence, alarm and what it does not judge, of a rule that is not saved', async () => {
    const of = (changes: object) => ask('acme', 'tryrule', { ...rule, ruleID: 'new', ...changes });
    expect((await of({ devices: ['truck-18'] })).json).toMatchObject({ notifications: 1 });
    expect((await of({ silenceS: 0 })).json).toMatchObject({ notifications: 4 });
    expect((await of({ webhook: null, alarm: { priority: 'high' } })).json).toMatchObject({
      notifications: 0,
      alarms: 4,
    });
    expect((await of({ escalatesAfterS: 60 })).json).toMatchObject({ notifications: 0, isEscalation: true });
    expect((await of({ kinds: ['device_offline'] })).json).toMatchObject({ hasKinds: true });
  });

  it('sees no event of another account, and is for administrators', async () => {
    expect((await ask('rival', 'tryrule', rule)).json).toMatchObject({ events: 1, notifications: 1 });
    expect((await ask('guest', 'tryrule', rule)).json['error']).toMatchObject({ code: 'forbidden' });
  });

  it('leaves no rule, episode, delivery or audit entry behind', async () => {
    const tables = ['notification_rules', 'notification_episodes', 'deliveries', 'notifications', 'audit'];
    const counts = () =>
      Promise.all(tables.map(async (table) => (await service.rows(`SELECT COUNT(*) AS n FROM ${table}`))[0]));
    const before = await counts();
    await ask('acme', 'tryrule', { ...rule, ruleID: 'another' });
    expect(await counts()).toEqual(before);
  });
});
