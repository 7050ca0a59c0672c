// Alarms and their escalation over a store that fails, processes that end at any moment and two of them at once: every event
// is counted once, and a rule notifies once of each time that an alarm was left without an owner.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../broker/migrations.ts';
import { createAlarmUpkeep } from '../../broker/notify/alarm-upkeep.ts';
import { createEscalation } from '../../broker/notify/escalation.ts';
import { createNotifier } from '../../broker/notify/notifier.ts';
import { putRule, type RuleDefinition } from '../../broker/store/notifications/rules.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import { migrate } from '../../src/migrate.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { storeEvents } from '../support/database/stored-events.ts';
import { openTestDatabase } from '../support/database/test-database.ts';

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const panic = 63_553;
const tow = 63_601;
const suspect = 4370;
const trusted = 4371;

let db: Database;
let laterMs = 0;
const beganMs = Date.now();
/** Only the tests move it, so that no stall of the machine makes an escalation due. */
const clock: Clock = { ...createSystemClock(), utcMs: () => beganMs + laterMs };

const rule: RuleDefinition = {
  displayName: 'supervisor',
  isActive: true,
  statusCodes: 'alarms',
  kinds: [],
  offlineAfterS: 900,
  devices: [],
  groups: [],
  silenceS: 300,
  quietHours: null,
  webhook: { url: 'https://hooks.example.com/' },
  email: { addresses: ['one@example.com', 'two@example.com'] },
  push: null,
  alarm: null,
  escalatesAfterS: 60,
};

const run = (text: string) => db.write([{ sql: text, params: [] }]);
const rows = (text: string) => db.read({ sql: text, params: [] });
const numberIn = async (text: string): Promise<number> =>
  Number(Object.values((await rows(text))[0] ?? {})[0] ?? 0);
const put = (changes: Partial<RuleDefinition> = {}, ruleID = 'supervisor') =>
  db.write([
    putRule({ accountID: 'acme', ruleID, definition: { ...rule, ...changes }, secret: 's', nowMs: 1 }),
  ]);

beforeEach(async () => {
  laterMs = 0;
  db = await openTestDatabase();
  await migrate(db, migrations);
  await run("INSERT INTO accounts (account_id, display_name, created_s) VALUES ('acme', 'acme', 1)");
  for (const device of ['truck-1', 'truck-2']) {
    await run(
      `INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', '${device}', 1)`,
    );
  }
});
afterEach(() => db.close());

let seq = 0;
async function store(codes: readonly number[], deviceNo = 1): Promise<void> {
  for (const statusCode of codes) {
    seq += 1;
    await storeEvents(db, [
      { deviceNo, boot: 'b1', seq, timestampMs: Math.round(clock.utcMs()), statusCode },
    ]);
  }
}

/** Fails before a write, or after it as a connection does that breaks before the answer. */
function flaky(fate: 'before' | 'after' | 'no'): Database {
  const broken = () => new AppError('storage', 'the disk is gone');
  return {
    read: (statement) => db.read(statement),
    async write(batch) {
      if (fate === 'before') throw broken();
      const results = await db.write(batch);
      if (fate === 'after') throw broken();
      return results;
    },
    close: () => db.close(),
  };
}

const nothing = (): void => undefined;
const notifierOf = (on: Database) =>
  createNotifier({
    db: on,
    clock,
    log,
    onCommitted: () => nothing,
    onCommit: () => nothing,
    onDeliveries: nothing,
    onAlarms: nothing,
  });
const escalationOf = (on: Database) => createEscalation({ db: on, clock, log, onDeliveries: nothing });
const upkeepOf = (on: Database) => createAlarmUpkeep({ db: on, clock, log });

type Worker = (on: Database) => { runAll(): Promise<void>; close(): Promise<void> };

/** A process that does this work once and ends. */
async function work(make: Worker, on: Database = db): Promise<void> {
  const worker = make(on);
  await worker.runAll();
  await worker.close();
}

describe('alarms', () => {
  it('count every event once over any failures and restarts', async () => {
    const step = fc.record({
      codes: fc.array(fc.constantFrom(panic, 61_472, tow, 62_465), { maxLength: 6 }),
      fates: fc.array(fc.constantFrom('before', 'after', 'no'), { minLength: 1, maxLength: 3 }),
      closes: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        await run('DELETE FROM alarms');
        let expected = 0;
        for (const { codes, fates, closes } of steps) {
          expected += codes.filter((code) => code === panic || code === tow).length;
          await store(codes);
          for (const fate of fates) await work(notifierOf, flaky(fate));
          if (closes) await run("UPDATE alarms SET state = 'closed', closed_ms = 1");
        }
        await work(notifierOf);
        expect(await numberIn('SELECT SUM(count) FROM alarms')).toBe(expected);
        expect(await numberIn('SELECT COUNT(*) FROM alarm_events')).toBe(expected);
        expect(await numberIn("SELECT COUNT(*) FROM alarms WHERE state <> 'closed'")).toBeLessThanOrEqual(2);
      }),
      { numRuns: 25 },
    );
  });

  it('are raised once by two processes at once', async () => {
    const two = [notifierOf(db), notifierOf(db)];
    for (let round = 0; round < 10; round += 1) {
      await store([panic, tow]);
      await Promise.all(two.map((one) => one.runAll()));
    }
    await Promise.all(two.map((one) => one.close()));
    expect(await numberIn('SELECT COUNT(*) FROM alarms')).toBe(2);
    expect(await numberIn('SELECT SUM(count) FROM alarms')).toBe(20);
  });

  it('of an account at its limit are only repeated, unless they are critical', async () => {
    await run(`INSERT INTO alarms (account_id, device_no, status_code, subject, priority, closes_itself, state,
        changed_ms, opened_ms, untaken_ms, first_event_no, first_event_id, first_ms, last_event_no, last_event_id,
        last_ms, received_ms, geozone_id, is_late)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT 'acme', 1000 + i, 1, '', 2, 0, 'new', 1, 1, 1, 0, '', 1, 0, '', 1, 1, '', 0 FROM n`);
    await store([tow, panic]);
    await work(notifierOf);
    expect(await numberIn('SELECT COUNT(*) FROM alarms WHERE device_no = 1')).toBe(1);
    expect(await numberIn(`SELECT COUNT(*) FROM notifications WHERE status_code = ${tow}`)).toBe(1);
  });

  it('close, come back and change their owner once, whatever fails', async () => {
    await store([suspect, tow]);
    await work(notifierOf);
    await run(`UPDATE alarms SET state = 'shelved', shelved_until_ms = 1 WHERE status_code = ${tow}`);
    await store([trusted]);
    await work(notifierOf);
    for (const fate of ['before', 'after', 'before', 'after', 'after', 'no'] as const)
      await work(upkeepOf, flaky(fate));
    const two = [upkeepOf(db), upkeepOf(db)];
    await Promise.all(two.map((one) => one.runAll()));
    await Promise.all(two.map((one) => one.close()));
    expect(await rows('SELECT state, close_reason FROM alarms ORDER BY status_code')).toEqual([
      { state: 'closed', close_reason: 'ended' },
      { state: 'new', close_reason: '' },
    ]);
    expect(await rows('SELECT action FROM audit ORDER BY audit_no')).toEqual([
      { action: 'alarm.close' },
      { action: 'alarm.unshelve' },
    ]);
    expect(await numberIn('SELECT COUNT(*) FROM alarm_activity')).toBe(2);
  });
});

describe('an escalation', () => {
  const deliveries = () => numberIn('SELECT COUNT(*) FROM deliveries');

  it("comes once, after the rule's time without an owner, whatever fails and however many processes decide", async () => {
    await put();
    await store([panic, tow]);
    await work(notifierOf);
    laterMs = 59_000;
    await work(escalationOf);
    expect(await deliveries()).toBe(0);
    laterMs = 61_000;
    for (const fate of ['before', 'before', 'after', 'after', 'no'] as const)
      await work(escalationOf, flaky(fate));
    const two = [escalationOf(db), escalationOf(db)];
    await Promise.all(two.map((one) => one.runAll()));
    await Promise.all(two.map((one) => one.close()));
    expect(await deliveries()).toBe(6);
    expect(await numberIn('SELECT SUM(escalations) FROM alarms')).toBe(2);
    expect(await numberIn("SELECT COUNT(*) FROM audit WHERE action = 'alarm.escalate'")).toBe(2);
    // Each delivery finds what it is about.
    const found = 'SELECT COUNT(*) FROM deliveries y JOIN notifications n ON n.event_no = y.event_no';
    expect(await numberIn(found)).toBe(6);
  });

  it('happens exactly once at any order of failures, also while events repeat the alarm', async () => {
    const step = fc.record({
      fate: fc.constantFrom('before', 'after', 'no'),
      repeats: fc.boolean(),
      waitS: fc.constantFrom(10, 40, 70),
    });
    await put();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        await run('DELETE FROM alarms');
        await run('DELETE FROM deliveries');
        await store([panic]);
        await work(notifierOf);
        for (const { fate, repeats, waitS } of steps) {
          laterMs += waitS * 1000;
          if (repeats) await store([panic]);
          await work(notifierOf, flaky(fate));
          await work(escalationOf, flaky(fate));
        }
        laterMs += 60_000;
        await work(notifierOf);
        await work(escalationOf);
        expect(await deliveries()).toBe(3);
        const found = 'SELECT COUNT(*) FROM deliveries y JOIN notifications n ON n.event_no = y.event_no';
        expect(await numberIn(found)).toBe(3);
      }),
      { numRuns: 20 },
    );
  });

  it('comes again when the alarm becomes new again, and not while it has an owner', async () => {
    await put();
    await store([panic]);
    await work(notifierOf);
    laterMs = 61_000;
    await work(escalationOf);
    await run("UPDATE alarms SET state = 'taken', owner = 'olga'");
    laterMs = 200_000;
    await work(escalationOf);
    expect(await deliveries()).toBe(3);
    // The owner is no user of the account: the alarm goes back to the queue, and its time begins anew.
    await work(upkeepOf);
    await work(escalationOf);
    expect(await deliveries()).toBe(3);
    laterMs = 261_000;
    await work(escalationOf);
    await work(escalationOf);
    expect(await deliveries()).toBe(6);
    const rounds = await rows('SELECT DISTINCT escalation FROM deliveries ORDER BY 1');
    expect(rounds.map(({ escalation }) => Number(escalation))).toEqual([1, 2]);
  });

  it('goes up in steps, each rule by its own time, codes, devices and groups', async () => {
    await put({ escalatesAfterS: 30, email: null }, 'first');
    await put({ escalatesAfterS: 120, email: null }, 'second');
    await put({ escalatesAfterS: 30, email: null, statusCodes: [tow] }, 'tows');
    await put({ escalatesAfterS: 30, email: null, devices: ['truck-2'] }, 'other-truck');
    await put({ escalatesAfterS: 30, email: null, groups: ['north'] }, 'north');
    await put({ escalatesAfterS: 30, email: null, isActive: false }, 'off');
    await store([panic]);
    await work(notifierOf);
    const notified = async () =>
      (
        await rows(`SELECT r.rule_id FROM deliveries y JOIN notification_rules r ON r.rule_no = y.rule_no
          ORDER BY y.delivery_no`)
      ).map((row) => row['rule_id']);
    laterMs = 31_000;
    await work(escalationOf);
    expect(await notified()).toEqual(['first']);
    laterMs = 121_000;
    await work(escalationOf);
    expect(await notified()).toEqual(['first', 'second']);
    await put({ escalatesAfterS: 30, email: null }, 'off');
    await work(escalationOf);
    expect(await notified()).toEqual(['first', 'second', 'off']);
  });

  it('keeps quiet hours for people, unless the alarm is urgent', async () => {
    const quietHours = {
      timeZone: 'UTC',
      from: '00:00',
      to: '00:00',
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      exceptUrgent: true,
    };
    await put({ quietHours, webhook: null });
    await store([tow, panic]);
    await work(notifierOf);
    laterMs = 61_000;
    await work(escalationOf);
    expect(
      await rows(
        'SELECT DISTINCT n.status_code FROM deliveries y JOIN notifications n ON n.event_no = y.event_no',
      ),
    ).toEqual([{ status_code: panic }]);
    expect(await deliveries()).toBe(2);
  });
});
