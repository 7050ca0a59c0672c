// What a vehicle reports late, as after a dead zone, reaches each recipient as one message; what is not late waits for none of it, and a
// webhook gets each. Nothing is lost and nothing is sent twice under another id, whenever a process ends.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDelivery } from '../../broker/notify/delivery.ts';
import { createNotifier } from '../../broker/notify/notifier.ts';
import type {
  OutgoingMail,
  PushMessage,
  Senders,
  Sending,
  WebhookCall,
} from '../../broker/notify/senders.ts';
import { putRule, type RuleDefinition } from '../../broker/store/notifications/rules.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import type { Clock, Database } from '../../src/ports.ts';
import { createFleet, quietLog, webhookRule } from '../support/broker/rule-bench.ts';
import { createOfflineSenders } from '../support/broker/senders.ts';
import { storeEvents } from '../support/database/stored-events.ts';
import { openTestDatabase } from '../support/database/test-database.ts';

const log = quietLog;
const { PANIC_ON, TOWING_START } = statusCodes;
const hourMs = 3_600_000;

let db: Database;
let laterMs = 0;
const beganMs = Date.now();
const clock: Clock = { ...createSystemClock(), utcMs: () => beganMs + laterMs };

const rule: RuleDefinition = {
  ...webhookRule,
  statusCodes: 'alarms',
  email: { addresses: ['one@example.com', 'two@example.com'] },
  push: { userIDs: 'all' },
};

const run = (text: string) => db.write([{ sql: text, params: [] }]);
const put = (ruleID: string, changes: Partial<RuleDefinition> = {}) =>
  db.write([
    putRule({ accountID: 'acme', ruleID, definition: { ...rule, ...changes }, secret: 's', nowMs: 1 }),
  ]);

beforeEach(async () => {
  laterMs = 0;
  db = await openTestDatabase();
  await createFleet(db, ['truck-1', 'truck-2']);
  await run("UPDATE devices SET display_name = 'Rosie' WHERE device_id = 'truck-1'");
  await run(`INSERT INTO users (account_id, user_id, password_hash, role, display_name, created_s)
    VALUES ('acme', 'ann', '', 'admin', 'Ann', 1)`);
  await run(`INSERT INTO push_registrations (account_id, user_id, push_id, endpoint, p256dh, auth, is_registered,
    session_hash, created_s) VALUES ('acme', 'ann', 'p', 'https://push.example.com/1', 'k', 'a', 1, 's', 1)`);
  await put('r1');
});
afterEach(() => db.close());

let seq = 0;
/** Stores events that happened so long ago, a second apart, and decides about them. */
async function report(
  count: number,
  agoMs: number,
  statusCode: number = PANIC_ON.code,
  deviceNo = 1,
): Promise<void> {
  const receivedMs = Math.round(clock.utcMs());
  for (let at = 0; at < count; at++) {
    seq += 1;
    const timestampMs = receivedMs - agoMs + at * 1000;
    await storeEvents(db, [{ deviceNo, boot: 'b1', seq, timestampMs, receivedMs, statusCode }]);
  }
  const nothing = (): void => undefined;
  const notifier = createNotifier({
    db,
    clock,
    log,
    onCommitted: () => nothing,
    onCommit: () => nothing,
    onDeliveries: nothing,
    onAlarms: nothing,
  });
  await notifier.runAll();
  await notifier.close();
}

function createOutbox(outcome: () => Sending = () => ({ kind: 'sent' })) {
  const mails: OutgoingMail[] = [];
  const pushes: PushMessage[] = [];
  const calls: WebhookCall[] = [];
  const senders: Senders = {
    ...createOfflineSenders(),
    async webhook(call) {
      calls.push(call);
      return { kind: 'sent' };
    },
    async email(mail) {
      mails.push(mail);
      return outcome();
    },
    async push(message) {
      pushes.push(message);
      return outcome();
    },
  };
  return { mails, pushes, calls, senders };
}

/** A process that sends what is due and ends. */
async function deliver(senders: Senders, on: Database = db): Promise<void> {
  const consoleUrl = 'https://fleet.example.com/console/';
  const delivery = createDelivery({
    db: on,
    clock,
    entropy: createSystemEntropy(),
    log,
    senders,
    consoleUrl,
  });
  await delivery.runAll();
  await delivery.close();
}

const statesOf = async (): Promise<Readonly<Record<string, number>>> => {
  const rows = await db.read({
    sql: 'SELECT channel, state, COUNT(*) AS n FROM deliveries GROUP BY channel, state',
    params: [],
  });
  return Object.fromEntries(
    rows.map((row) => [`${String(row['channel'])} ${String(row['state'])}`, Number(row['n'])]),
  );
};

it('a mail is in the language of its rule and by the clock of the account, alone and as a digest', async () => {
  const { mails, senders } = createOutbox();
  await run("UPDATE accounts SET time_zone = 'Europe/Berlin' WHERE account_id = 'acme'");
  await put('r1', { language: 'de' });
  await report(1, 1000);
  await report(2, 5 * hourMs, TOWING_START.code);
  await deliver(senders);
  laterMs += 61_000;
  await deliver(senders);
  const texts = mails.filter(({ to }) => to === 'one@example.com').map(({ text }) => text);
  expect(texts).toHaveLength(2);
  expect(texts[0]).toMatch(/^Notruf bei Rosie\n[^]*Geschehen: [-0-9]{10} [:0-9]{8} Europe\/Berlin\n/);
  expect(texts[1]).toMatch(/^2 Ereignisse von Rosie, verspätet eingetroffen\n/);
});

describe('late alarms', () => {
  it('of a vehicle that comes back are one mail and one push for each recipient, and a call each for a webhook', async () => {
    const { mails, pushes, calls, senders } = createOutbox();
    for (let step = 0; step < 10; step++) {
      await report(9, 5 * hourMs);
      await report(1, 4 * hourMs, TOWING_START.code);
      await deliver(senders);
      laterMs += 3000;
    }
    expect([mails.length, pushes.length, calls.length]).toEqual([0, 0, 100]);
    laterMs += 31_000;
    await deliver(senders);
    expect(mails.map(({ to }) => to).toSorted()).toEqual(['one@example.com', 'two@example.com']);
    const [{ subject, text } = { subject: '', text: '' }] = mails;
    expect(subject).toBe('[late] 100 events of Rosie');
    for (const part of [
      `90  Panic (${PANIC_ON.code})`,
      `10  Towing (${TOWING_START.code})`,
      'https://fleet.example.com/console/inbox',
      'the rule r1 of the account acme',
    ])
      expect(text).toContain(part);
    expect(text.match(/UTC {2}/g)).toHaveLength(5);
    expect(text).toMatch(/Happened: .* UTC to .* UTC/);
    // Only what is urgent is pushed late.
    expect(pushes.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { count: 90, late: true, urgent: true, deviceDisplayName: 'Rosie', statusCode: PANIC_ON.code },
    ]);
    expect(await statesOf()).toEqual({ 'email sent': 200, 'push sent': 90, 'webhook sent': 100 });
    laterMs += hourMs;
    await deliver(senders);
    expect([mails.length, pushes.length]).toEqual([2, 1]);
  });

  it.each([
    ['one alone is the mail that it always was', async () => report(1, hourMs), /^\[late\] .*: Rosie$/, 1],
    [
      'of several vehicles are counted, not named',
      async () => {
        await report(2, hourMs);
        await report(3, 2 * hourMs, PANIC_ON.code, 2);
      },
      /^\[late\] 5 events of 2 vehicles$/,
      5,
    ],
    [
      'that two rules send to one mailbox are counted once',
      async () => {
        await put('r2', { webhook: null, push: null, email: { addresses: ['ONE@example.com'] } });
        await report(3, hourMs);
      },
      /^\[late\] 3 events of Rosie$/,
      3,
    ],
  ])('%s', async (_name, happen, subject, pushed) => {
    await happen();
    laterMs += 61_000;
    const { mails, pushes, senders } = createOutbox();
    await deliver(senders);
    expect(mails.map((mail) => mail.subject)).toEqual([
      expect.stringMatching(subject),
      expect.stringMatching(subject),
    ]);
    expect(pushes.map(({ body }) => (JSON.parse(body) as { count?: number }).count ?? 1)).toEqual([pushed]);
  });

  it('hold up no live alarm to the same recipient, nor one that arrives while they wait', async () => {
    const { mails, pushes, senders } = createOutbox();
    await report(50, hourMs);
    await report(1, 0);
    await deliver(senders);
    expect([mails.length, pushes.length]).toEqual([2, 1]);
    expect(mails[0]?.subject).not.toContain('[late]');
    laterMs += 30_000;
    await report(1, 14 * 60_000, TOWING_START.code);
    await deliver(senders);
    expect(mails.length).toBe(4);
    laterMs += 31_000;
    await deliver(senders);
    expect(mails.filter(({ subject }) => subject.startsWith('[late] 50 events')).length).toBe(2);
  });

  it('that wait in any number keep no live alarm out', async () => {
    await report(1, hourMs);
    await run(`INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, lane, state, next_ms, created_ms,
        since_ms, digest_no)
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10001)
      SELECT y.account_id, -n, y.rule_no, y.channel, y.target, y.lane, 'pending', y.next_ms, 1, y.since_ms, 0
      FROM numbers JOIN deliveries y ON y.target = 'one@example.com'`);
    await report(1, 0);
    const { mails, senders } = createOutbox();
    await deliver(senders);
    expect(mails.map(({ to }) => to)).toEqual(rule.email?.addresses);
    expect(await statesOf()).not.toHaveProperty('email dead');
  });

  it('are sent again after a failure or an end of the process, under the same id and with the same content', async () => {
    await report(20, hourMs);
    laterMs += 61_000;
    // The process ends before it can write that the digest was sent.
    const lost = createOutbox();
    let writes = 0;
    const ends: Database = {
      ...db,
      write: async (batch) => {
        writes += 1;
        if (writes > 1 && lost.mails.length > 0) throw new Error('the process ended');
        return db.write(batch);
      },
    };
    await deliver(lost.senders, ends).catch(() => undefined);
    expect((await statesOf())['email sent']).toBeUndefined();
    // What comes meanwhile is another digest.
    await report(5, hourMs);
    laterMs += 61_000;
    const failing = createOutbox(() => ({ kind: 'failed', fault: 'mail_unreachable x' }));
    await deliver(failing.senders);
    laterMs += 2 * hourMs;
    const { mails, senders } = createOutbox();
    await deliver(senders);
    const idsOf = (sent: readonly OutgoingMail[], count: number): readonly string[] =>
      sent
        .filter(({ subject }) => subject.includes(` ${count} events`))
        .map(({ id }) => id)
        .toSorted();
    expect(idsOf(mails, 20)).toEqual(idsOf(lost.mails, 20));
    expect([idsOf(mails, 20).length, idsOf(mails, 5).length, mails.length]).toEqual([2, 2, 4]);
    expect((await statesOf())['email sent']).toBe(50);
  });

  it('of two processes at once are sent once', async () => {
    await report(40, hourMs);
    laterMs += 61_000;
    const { mails, pushes, senders } = createOutbox();
    await Promise.all([deliver(senders), deliver(senders)]);
    expect([mails.length, pushes.length]).toEqual([2, 1]);
  });

  it('go on by themselves when what led them is gone, and end when their rule is', async () => {
    await report(10, hourMs);
    laterMs += 61_000;
    const failing = createOutbox(() => ({ kind: 'failed', fault: 'mail_unreachable x' }));
    await deliver(failing.senders);
    await run("UPDATE deliveries SET state = 'dead', ended_ms = 1 WHERE digest_no = delivery_no");
    laterMs += 2 * hourMs;
    const { mails, senders } = createOutbox();
    await deliver(senders);
    expect(mails.map(({ subject }) => subject)).toEqual(Array(2).fill('[late] 9 events of Rosie'));
    await report(10, hourMs);
    await run("DELETE FROM notification_rules WHERE rule_id = 'r1'");
    laterMs += 61_000;
    await deliver(senders);
    expect([mails.length, (await statesOf())['email pending']]).toEqual([2, undefined]);
  });
});
