// The notifier and the deliveries over a store that fails, processes that end at any moment and two of them at once: nothing
// is lost, nothing is sent twice under the same id, and a target that hangs delays no other.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDelivery } from '../../broker/notify/delivery.ts';
import { createNotifier } from '../../broker/notify/notifier.ts';
import type { Senders, Sending, WebhookCall } from '../../broker/notify/senders.ts';
import { type Committed } from '../../broker/ports/committed.ts';
import { insertDelivery } from '../../broker/store/notifications/deliveries.ts';
import { putRule, type RuleDefinition } from '../../broker/store/notifications/rules.ts';
import { openSqlite } from '../../src/adapters/database/sqlite.ts';
import { createSystemClock, createSystemEntropy } from '../../src/adapters/system.ts';
import type { Clock, Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { advanceUntilSettled, createBenchClock } from '../support/broker/broker-bench.ts';
import { createFleet, type Fate, flakyStore, quietLog, webhookRule } from '../support/broker/rule-bench.ts';
import { createOfflineSenders } from '../support/broker/senders.ts';
import { storeEvents } from '../support/database/stored-events.ts';
import { waitUntil } from '../support/machine/wait-until.ts';

const log = quietLog;
const clock = createSystemClock();
const entropy = createSystemEntropy();
const panic = 63_553;

let db: Database;

const rule: RuleDefinition = { ...webhookRule, statusCodes: [panic] };

const run = (text: string) => db.write([{ sql: text, params: [] }]);
const count = async (text: string): Promise<number> => (await db.read({ sql: text, params: [] })).length;

async function open(): Promise<void> {
  db = openSqlite({ path: ':memory:', pageSize: 4096 });
  await createFleet(db, ['truck-17']);
  await db.write([putRule({ accountID: 'acme', ruleID: 'r1', definition: rule, secret: 's', nowMs: 1 })]);
}

let seq = 0;
/** Stores events with these codes. */
async function store(codes: readonly number[]): Promise<void> {
  const now = Date.now();
  for (const code of codes) {
    seq += 1;
    await storeEvents(db, [{ deviceNo: 1, boot: 'b1', seq, timestampMs: now, statusCode: code }]);
  }
}

const never = (_listener: (committed: Committed) => void) => () => undefined;
const notifierOf = (store: Database, time: Clock = clock) =>
  createNotifier({
    db: store,
    clock: time,
    log,
    onCommitted: never,
    onCommit: () => () => undefined,
    onDeliveries: () => undefined,
    onAlarms: () => undefined,
  });

const flaky = (fateOf: () => Fate): Database => flakyStore(db, fateOf);

/** Ends what a test has started, before its database closes. */
const stops: (() => unknown)[] = [];
beforeEach(open);
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await db.close();
});

describe('the notifier', () => {
  it('notifies of every alarm once over any failures and restarts', async () => {
    const step = fc.record({
      codes: fc.array(fc.constantFrom(panic, 61_472, 63_621, 62_465), { maxLength: 8 }),
      fates: fc.array(fc.constantFrom('before', 'after', 'no'), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        await db.close();
        await open();
        for (const { codes, fates } of steps) {
          await store(codes);
          for (const fate of fates) {
            const notifier = notifierOf(flaky(() => fate));
            await notifier.runAll();
            await notifier.close();
          }
        }
        const last = notifierOf(db);
        await last.runAll();
        await last.close();
        const alerts = await count(`SELECT 1 FROM events WHERE status_code IN (${panic}, 63621)`);
        const notified = await count(`SELECT 1 FROM events e JOIN notifications n ON n.event_no = e.event_no
          WHERE e.status_code IN (${panic}, 63621)`);
        const delivered = await count('SELECT 1 FROM deliveries');
        expect([notified, await count('SELECT 1 FROM notifications'), delivered]).toEqual([
          alerts,
          alerts,
          await count(`SELECT 1 FROM events WHERE status_code = ${panic}`),
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it('of two processes decides once, whichever comes first', async () => {
    const two = [notifierOf(db), notifierOf(db)];
    for (let round = 0; round < 20; round += 1) {
      await store([panic, 61_472, panic]);
      await Promise.all(two.map((one) => one.runAll()));
    }
    await Promise.all(two.map((one) => one.close()));
    expect([await count('SELECT 1 FROM notifications'), await count('SELECT 1 FROM deliveries')]).toEqual([
      40, 40,
    ]);
  });

  it('works through a backlog in batches, positions in between cost nothing', async () => {
    await storeEvents(
      db,
      Array.from({ length: 120_000 }, (_unused, at) => ({
        deviceNo: 1,
        boot: 'b2',
        seq: at + 1,
        timestampMs: 1,
        statusCode: (at + 1) % 100 === 0 ? panic : 61472,
      })),
    );
    const notifier = notifierOf(db);
    await notifier.runAll();
    await notifier.close();
    expect(await count('SELECT 1 FROM notifications')).toBe(1200);
    expect(await db.read({ sql: 'SELECT event_no FROM notifier_cursor', params: [] })).toEqual([
      { event_no: 120_000 },
    ]);
  });

  it('decides events of other devices beside a flood of one, and every one once', async () => {
    await run(
      "INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', 'truck-18', 1)",
    );
    const events = (deviceNo: number, count: number) =>
      Array.from({ length: count }, () => {
        seq += 1;
        return { deviceNo, boot: 'b1', seq, timestampMs: 1, statusCode: panic };
      });
    await storeEvents(db, [...events(1, 5000), ...events(2, 1), ...events(1, 1000)]);
    const counts: number[] = [];
    const counting: Database = {
      ...db,
      read: (statement) => db.read(statement),
      async write(batch) {
        const results = await db.write(batch);
        const [row] = await db.read({
          sql: `SELECT COUNT(*) AS all_of_them, SUM(CASE WHEN device_no = 2 THEN 1 ELSE 0 END) AS others
            FROM notifications`,
          params: [],
        });
        if (Number(row?.['others'] ?? 0) > 0) counts.push(Number(row?.['all_of_them']));
        return results;
      },
    };
    const notifier = notifierOf(counting);
    await notifier.runAll();
    expect(counts[0]).toBeLessThan(300);
    expect(await count('SELECT 1 FROM notifications')).toBe(6001);
    await storeEvents(db, [...events(1, 3), ...events(2, 1)]);
    await notifier.runAll();
    await notifier.close();
    expect(await count('SELECT 1 FROM notifications')).toBe(6005);
    expect(await count('SELECT 1 FROM notifier_cursor')).toBe(1);
  });

  it('takes a fifth of the time for the flood of a device, and none of it from other devices', async () => {
    await run(
      "INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', 'truck-18', 1)",
    );
    const events = (deviceNo: number, many: number) =>
      Array.from({ length: many }, () => {
        seq += 1;
        return { deviceNo, boot: 'b1', seq, timestampMs: 1, statusCode: panic };
      });
    const notified = (deviceNo: number) => count(`SELECT 1 FROM notifications WHERE device_no = ${deviceNo}`);
    const time = createBenchClock();
    const [commitMs, periodMs] = [10, 250];
    const slow: Database = {
      ...db,
      async write(batch) {
        time.advance(commitMs);
        return db.write(batch);
      },
    };
    await storeEvents(db, events(1, 3000));
    const notifier = notifierOf(slow, time);
    const later = (): Promise<void> => new Promise((resolve) => void time.after(periodMs, resolve));
    for (let period = 1; period <= 8; period++) {
      await storeEvents(db, events(2, 1));
      await advanceUntilSettled(time, later());
      expect(await notified(2)).toBe(period);
    }
    expect(await notified(1)).toBeLessThan(((8 * periodMs) / commitMs) * 25 * 0.4);
    await notifier.runAll();
    await notifier.close();
    expect([await notified(1), await notified(2)]).toEqual([3000, 8]);
  });

  it.each([1, 2, 3])(
    'notifies once of each event of floods over failures and two processes (%i)',
    async (run_) => {
      await run(
        "INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', 'truck-18', 1)",
      );
      let turn = run_;
      const fate = () => {
        turn = (turn * 7 + 3) % 11;
        return turn === 1 ? 'before' : turn === 5 ? 'after' : 'no';
      };
      const both = [notifierOf(flaky(fate)), notifierOf(flaky(fate))];
      for (let round = 0; round < 6; round++) {
        const batch = Array.from({ length: 400 }, (_unused, at) => {
          seq += 1;
          const deviceNo = at % (5 + round) === 0 ? 2 : 1;
          return { deviceNo, boot: 'b1', seq, timestampMs: 1, statusCode: panic };
        });
        await storeEvents(db, batch);
        await Promise.all(both.map((one) => one.runAll()));
      }
      for (let more = 0; more < 40; more++) await Promise.all(both.map((one) => one.runAll()));
      for (const one of both) await one.close();
      expect(await count('SELECT 1 FROM notifications')).toBe(2400);
      expect(await count('SELECT 1 FROM deliveries')).toBe(2400);
    },
  );

  it('of an account with too many waiting deliveries writes one row an event, for any number of recipients', async () => {
    const addresses = Array.from({ length: 20 }, (_, at) => `user${at}@example.com`);
    const many = { ...rule, email: { addresses } };
    for (let at = 0; at < 10; at += 1) {
      await db.write([
        putRule({ accountID: 'acme', ruleID: `m${at}`, definition: many, secret: 's', nowMs: 1 }),
      ]);
    }
    await run(`INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, lane, state, next_ms, created_ms,
        since_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      SELECT 'acme', -i, 0, 'webhook', '', 'x', 'pending', 1, 1, 1 FROM n`);
    await store([panic, panic, panic]);
    const notifier = notifierOf(db);
    await notifier.runAll();
    await notifier.close();
    expect(await count('SELECT 1 FROM notifications')).toBe(3);
    expect(await count("SELECT 1 FROM deliveries WHERE event_no > 0 AND state = 'dead'")).toBe(3);
    expect(await count('SELECT 1 FROM deliveries')).toBe(10_003);
  });

  it('reads only the episodes that its events are about, however many a vehicle has made', async () => {
    await run(`INSERT INTO notification_episodes (rule_no, device_no, status_code, subject, fired, ended, changed_ms)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT 1, 1, 61968, 'zone-' || i, '[1]', '[]', 1 FROM n`);
    await store([panic]);
    let rowsRead = 0;
    const counting: Database = {
      ...flaky(() => 'no'),
      async read(statement) {
        const rows = await db.read(statement);
        rowsRead += rows.length;
        return rows;
      },
    };
    const notifier = notifierOf(counting);
    await notifier.runAll();
    await notifier.close();
    expect(await count('SELECT 1 FROM deliveries')).toBe(1);
    expect(rowsRead).toBeLessThan(20);
  });
});

describe('deliveries', () => {
  /** Deliveries of the account's webhook to hosts, all due. */
  async function due(hosts: readonly string[], each: number): Promise<void> {
    for (const [at, host] of hosts.entries()) {
      const definition = { ...rule, webhook: { url: `https://${host}/` } };
      await db.write([putRule({ accountID: 'acme', ruleID: host, definition, secret: 's', nowMs: 1 })]);
      await run(`INSERT INTO deliveries (account_id, event_no, rule_no, channel, target, lane, state, next_ms, created_ms,
          since_ms)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${each})
        SELECT 'acme', 1, ${at + 2}, 'webhook', 'n' || i, '${host}', 'pending', 1, 1, ${Date.now()} FROM n`);
    }
  }

  const sendersOf = (webhook: (call: WebhookCall) => Promise<Sending>): Senders => ({
    ...createOfflineSenders(),
    webhook,
  });

  it('to a target that hangs take two slots, and the others are sent', async () => {
    await store([panic]);
    const notifier = notifierOf(db);
    await notifier.runAll();
    await notifier.close();
    await run('DELETE FROM deliveries');
    await due(['hangs', 'works', 'also-works'], 50);
    let release: (sending: Sending) => void = () => undefined;
    const stuck = new Promise<Sending>((resolve) => {
      release = resolve;
    });
    const calls = new Map<string, number>();
    const senders = sendersOf(async ({ url }) => {
      const host = new URL(url).hostname;
      calls.set(host, (calls.get(host) ?? 0) + 1);
      return host === 'hangs' ? stuck : { kind: 'sent' };
    });
    const delivery = createDelivery({ db, clock, entropy, log, consoleUrl: '', senders });
    stops.push(() => {
      release({ kind: 'failed', fault: 'gone' });
      return delivery.close();
    });
    await expect.poll(() => (calls.get('works') ?? 0) + (calls.get('also-works') ?? 0)).toBe(100);
    expect(calls.get('hangs')).toBe(2);
    release({ kind: 'failed', fault: 'no_answer 10' });
    await delivery.close();
    expect(await count("SELECT 1 FROM deliveries WHERE lane = 'hangs' AND state = 'pending'")).toBe(50);
    expect(await count("SELECT 1 FROM deliveries WHERE state = 'sent'")).toBe(100);
  });

  it('of accounts with slow targets and a long queue leave the next free slot to another account', async () => {
    await store([panic]);
    const notifier = notifierOf(db);
    await notifier.runAll();
    await run('DELETE FROM deliveries');
    const hosts = Array.from({ length: 60 }, (_, at) => `slow${at}`);
    await due(hosts, 20);
    // Ten hosts of each of six accounts: more than all places.
    await run(`UPDATE deliveries SET account_id = 'a' || (rule_no % 6)`);
    let calls = 0;
    let sentAtCall = -1;
    /** Ends one call that is under way. */
    const ends: (() => void)[] = [];
    let isOver = false;
    const senders = sendersOf(async ({ url }) => {
      if (new URL(url).hostname === 'hooks.example.com') sentAtCall = calls;
      calls += 1;
      if (!isOver) await new Promise<void>((resolve) => void ends.push(resolve));
      return { kind: 'sent' };
    });
    const delivery = createDelivery({ db, clock, entropy, log, consoleUrl: '', senders });
    stops.push(async () => {
      isOver = true;
      for (const end of ends.splice(0)) end();
      await delivery.close();
      await notifier.close();
    });
    await waitUntil('a call in every place', () => calls >= 32);
    await run(
      "UPDATE notification_rules SET definition = replace(definition, '[63553]', '[]') WHERE rule_id <> 'r1'",
    );
    await store([panic]);
    await notifier.runAll();
    delivery.wake();
    const callsBefore = calls;
    await waitUntil('the call of the other account', async () => {
      const begun = calls;
      ends.shift()?.();
      await waitUntil('the next call', () => calls > begun);
      return sentAtCall >= 0;
    });
    expect(sentAtCall - callsBefore).toBeLessThan(200);
  });

  it('are inserted at the same cost however many wait: a failure of their lane is looked up', async () => {
    const context = {
      accountID: 'acme',
      eventNo: 1,
      ruleNo: 1,
      escalation: 0,
      isUrgent: true,
      isLate: false,
    };
    const { sql: text, params } = insertDelivery(
      { ...context, nowMs: 1, isFull: false, onlyIf: sql`1 = 1` },
      { channel: 'webhook', target: '', lane: 'webhook:1' },
    );
    const plan = await db.read({ sql: `EXPLAIN QUERY PLAN ${text}`, params });
    expect(plan.map(({ detail }) => detail).filter((line) => String(line).includes(' w '))).toEqual([
      'SEARCH w USING INDEX deliveries_failing (lane=?)',
    ]);
  });

  it('of two processes are sent once', async () => {
    await store([panic]);
    const notifier = notifierOf(db);
    await notifier.runAll();
    await notifier.close();
    await run('DELETE FROM deliveries');
    await due(['one', 'two', 'three'], 20);
    let calls = 0;
    const senders = sendersOf(async () => {
      calls += 1;
      return { kind: 'sent' };
    });
    const two = [1, 2].map(() => createDelivery({ db, clock, entropy, log, consoleUrl: '', senders }));
    await Promise.all(two.map((one) => one.runAll()));
    await Promise.all(two.map((one) => one.close()));
    expect([calls, await count("SELECT 1 FROM deliveries WHERE state = 'sent'")]).toEqual([60, 60]);
  });
});
