// Occurrences in the service over a store that fails, processes that end at any moment and two of them at once: each is decided
// once, an absence is noted once and ends once, and what a batch did not change leaves none.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '../../broker/migrations.ts';
import { createOccurrenceNotifier } from '../../broker/notify/occurrence-notifier.ts';
import {
  dropOccurrencesBeyond,
  dropUnasked,
  recordClone,
} from '../../broker/store/notifications/occurrences.ts';
import { putRule, type RuleDefinition } from '../../broker/store/notifications/rules.ts';
import { createSystemClock } from '../../src/adapters/system.ts';
import { AppError } from '../../src/core/errors.ts';
import { migrate } from '../../src/migrate.ts';
import type { Clock, Database, Log } from '../../src/ports.ts';
import { isOnPostgres, openSecond, openTestDatabase } from '../support/database/test-database.ts';

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => log };
const minuteMs = 60_000;

let db: Database;
let laterMs = 0;
const system = createSystemClock();
const clock: Clock = {
  ...system,
  utcMs: () => system.utcMs() + laterMs,
  monoMs: () => system.monoMs() + laterMs,
};

const rule: RuleDefinition = {
  displayName: 'ops',
  isActive: true,
  statusCodes: [],
  kinds: [
    'device_offline',
    'device_online',
    'command_expired',
    'command_refused',
    'clone_suspected',
    'certificate_expiring',
  ],
  offlineAfterS: 300,
  devices: [],
  groups: [],
  silenceS: 0,
  quietHours: null,
  webhook: { url: 'https://hooks.example.com/' },
  email: null,
  push: null,
  alarm: null,
  escalatesAfterS: null,
};

const run = (text: string) => db.write([{ sql: text, params: [] }]);
const rows = (text: string) => db.read({ sql: text, params: [] });
const nowMs = () => Math.round(clock.utcMs());
const put = (changes: Partial<RuleDefinition> = {}, ruleID = 'ops') =>
  db.write([
    putRule({ accountID: 'acme', ruleID, definition: { ...rule, ...changes }, secret: 's', nowMs: nowMs() }),
  ]);
const kinds = async () =>
  (await rows('SELECT kind FROM notifications ORDER BY notification_no')).map(({ kind }) => kind);
const deliveries = async () => (await rows('SELECT 1 AS one FROM deliveries')).length;

let commands = 0;
/** A command of the device that ends so. */
async function command(state: 'expired' | 'refused', device = 1, feature = 'enginecutoff'): Promise<void> {
  commands += 1;
  await run(`INSERT INTO commands (command_id, device_no, feature, state, reason, issuer, issued_ms, expires_ms, command_state,
      state_rank, updated_ms)
    VALUES ('c${commands}', ${device}, '${feature}', '1', '', 'olga', ${nowMs()}, ${nowMs()}, 'sent', 1, ${nowMs()})`);
  await run(`UPDATE commands SET command_state = '${state}', state_rank = 6, is_final = 1, updated_ms = ${nowMs()}
    WHERE command_id = 'c${commands}'`);
}

const present = (isOnline: boolean, cause = isOnline ? 'hello' : 'closed', device = 1) =>
  run(`UPDATE devices SET is_online = ${isOnline ? 1 : 0}, presence_ms = ${nowMs()}, presence_cause = '${cause}',
    hello_ms = 1 WHERE device_no = ${device}`);

beforeEach(async () => {
  laterMs = 0;
  commands = 0;
  db = await openTestDatabase();
  await migrate(db, migrations);
  await run("INSERT INTO accounts (account_id, display_name, created_s) VALUES ('acme', 'acme', 1)");
  for (const device of ['truck-1', 'truck-2']) {
    await run(
      `INSERT INTO devices (account_no, account_id, device_id, created_s) VALUES (1, 'acme', '${device}', 1)`,
    );
  }
  await put();
});
afterEach(() => db.close());

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

const notifierOf = (on: Database) =>
  createOccurrenceNotifier({ db: on, clock, log, onDeliveries: () => undefined });

/** A process that has run for as long as devices need to connect. */
async function startedNotifier() {
  const notifier = notifierOf(db);
  laterMs += 6 * minuteMs;
  await notifier.runAll();
  return notifier;
}

/** A process that does this work once and ends. */
async function work(on: Database = db): Promise<void> {
  const notifier = notifierOf(on);
  await notifier.runAll();
  await notifier.close();
}

describe('an occurrence', () => {
  it('is decided once over any failures and restarts', async () => {
    const step = fc.record({
      ends: fc.array(fc.constantFrom('expired', 'refused'), { maxLength: 4 }),
      fates: fc.array(fc.constantFrom('before', 'after', 'no'), { minLength: 1, maxLength: 3 }),
    });
    let expected = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        for (const { ends, fates } of steps) {
          expected += ends.length;
          for (const end of ends) await command(end);
          for (const fate of fates) await work(flaky(fate));
        }
        await work();
        expect([(await kinds()).length, await deliveries()]).toEqual([expected, expected]);
        expect(await rows('SELECT 1 AS one FROM occurrences')).toEqual([]);
      }),
      { numRuns: 15 },
    );
  });

  it('is decided once by two processes at once', async () => {
    const other = isOnPostgres ? await openSecond(db) : db;
    const two = [notifierOf(db), notifierOf(other)];
    for (let round = 0; round < 10; round += 1) {
      await command('expired');
      await command('refused', 2);
      await Promise.all(two.map((one) => one.runAll()));
    }
    await Promise.all(two.map((one) => one.close()));
    if (other !== db) await other.close();
    await work();
    expect([(await kinds()).length, await deliveries()]).toEqual([20, 20]);
  });

  it('is recorded of a command that fails, not of one that was replaced or whose end is only confirmed', async () => {
    await command('expired');
    await run("UPDATE commands SET command_state = 'expired', updated_ms = 2 WHERE command_id = 'c1'");
    await command('refused', 1, 'firmware');
    await run("UPDATE commands SET command_state = 'superseded'");
    await run("UPDATE commands SET command_state = 'expired'");
    const recorded = await rows('SELECT kind FROM occurrences ORDER BY occurrence_no');
    expect(recorded.map(({ kind }) => kind)).toEqual(['command_expired', 'update_failed']);
  });

  it('is not recorded of a command whose withdrawal was requested, whatever the device reports', async () => {
    await run(`INSERT INTO commands (command_id, device_no, feature, state, reason, issuer, issued_ms, expires_ms,
        command_state, state_rank, updated_ms, cancel_by)
      VALUES ('c', 1, 'enginecutoff', '1', '', 'olga', 1, 1, 'armed', 3, 1, 'otto')`);
    await run("UPDATE commands SET command_state = 'refused' WHERE command_id = 'c'");
    expect(await rows('SELECT 1 AS one FROM occurrences')).toEqual([]);
  });

  it('is decided although the search for absences and certificates fails', async () => {
    await command('expired');
    const failing: Database = {
      ...db,
      read: (statement) =>
        statement.sql.includes('NOT EXISTS (SELECT 1 FROM absences')
          ? Promise.reject(new AppError('storage', 'the index is broken'))
          : db.read(statement),
      write: (batch) =>
        batch.some((statement) => statement.sql.includes('UPDATE device_certificates'))
          ? Promise.reject(new AppError('storage', 'the index is broken'))
          : db.write(batch),
    };
    const notifier = notifierOf(failing);
    laterMs += 6 * minuteMs;
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual(['command_expired']);
  });

  it('is one of a limited number that wait; the oldest are removed', async () => {
    for (let count = 0; count < 5; count += 1) await command('expired');
    const left = async () =>
      (await rows('SELECT command_id FROM occurrences')).map((row) => row['command_id']);
    await db.write([dropOccurrencesBeyond(2, 2)]);
    expect(await left()).toEqual(['c3', 'c4', 'c5']);
    for (let round = 0; round < 3; round += 1) await db.write([dropOccurrencesBeyond(2, 2)]);
    expect(await left()).toEqual(['c4', 'c5']);
  });

  it('leaves nothing when its batch fails', async () => {
    await run(`INSERT INTO commands (command_id, device_no, feature, state, reason, issuer, issued_ms, expires_ms, command_state,
        state_rank, updated_ms) VALUES ('c', 1, 'enginecutoff', '1', '', 'olga', 1, 1, 'sent', 1, 1)`);
    const failing = [
      { sql: "UPDATE commands SET command_state = 'expired' WHERE command_id = 'c'", params: [] },
      {
        sql: "INSERT INTO accounts (account_id, display_name, created_s) VALUES ('acme', 'twice', 1)",
        params: [],
      },
    ];
    await expect(db.write(failing)).rejects.toThrow();
    expect(await rows('SELECT 1 AS one FROM occurrences')).toEqual([]);
  });

  it('that no rule asks for is in no inbox, and is removed', async () => {
    await put({ kinds: ['device_enrolled'] });
    await command('expired');
    await work();
    expect(await kinds()).toEqual([]);
    expect(await rows('SELECT 1 AS one FROM occurrences')).toEqual([]);
  });

  it('in quiet hours is in the inbox and is not mailed', async () => {
    const quietHours = {
      timeZone: 'UTC',
      from: '00:00',
      to: '00:00',
      weekdays: [1, 2, 3, 4, 5, 6, 7],
      exceptUrgent: true,
    };
    await put({ webhook: null, email: { addresses: ['ops@example.com'] }, quietHours });
    await command('expired');
    await work();
    expect([await kinds(), await deliveries()]).toEqual([['command_expired'], 0]);
  });

  it('of the same kind is sent once within the silence of the rule, and is in the inbox each time', async () => {
    await put({ silenceS: 7200 });
    for (let round = 0; round < 3; round += 1) {
      await db.write([recordClone(1, nowMs())]);
      await work();
      laterMs += 61 * minuteMs;
    }
    expect([(await kinds()).length, await deliveries()]).toEqual([3, 2]);
  });

  it('is removed with its device', async () => {
    await command('expired');
    await run('DELETE FROM commands');
    await run('DELETE FROM devices WHERE device_no = 1');
    await work();
    expect(await rows('SELECT 1 AS one FROM occurrences')).toEqual([]);
    expect(await kinds()).toEqual([]);
  });
});

describe('an absence', () => {
  it('is recorded once when it lasts as long as the rule waits, by two processes too, and ends once', async () => {
    await present(true);
    const two = [notifierOf(db), notifierOf(db)];
    const both = () => Promise.all(two.map((one) => one.runAll()));
    await present(false);
    laterMs += 4 * minuteMs;
    await both();
    expect(await kinds()).toEqual([]);
    laterMs += 2 * minuteMs;
    for (let round = 0; round < 3; round += 1) await both();
    expect(await kinds()).toEqual(['device_offline']);
    await present(true);
    for (let round = 0; round < 3; round += 1) await both();
    expect(await kinds()).toEqual(['device_offline', 'device_online']);
    await Promise.all(two.map((one) => one.close()));
  });

  it('that is shorter is not recorded, neither its begin nor its end', async () => {
    const notifier = await startedNotifier();
    await present(true);
    await present(false);
    laterMs += 4 * minuteMs;
    await notifier.runAll();
    await present(true);
    laterMs += 9 * minuteMs;
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual([]);
  });

  it('is reported by each rule after its own time', async () => {
    await put({ offlineAfterS: 3600 }, 'late');
    const notifier = await startedNotifier();
    await present(true);
    await present(false);
    laterMs += 10 * minuteMs;
    await notifier.runAll();
    expect(await deliveries()).toBe(1);
    laterMs += 55 * minuteMs;
    await notifier.runAll();
    expect(await deliveries()).toBe(2);
    await present(true);
    await notifier.runAll();
    expect(await deliveries()).toBe(4);
    await notifier.close();
  });

  it('that was long before the rule is not reported by it, nor a device that never connected', async () => {
    const notifier = await startedNotifier();
    await present(true);
    await present(false);
    laterMs += 10 * minuteMs;
    await put({}, 'ops');
    laterMs += 10 * minuteMs;
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual([]);
  });

  it('that lasts over a restart of the service is reported 5 minutes after the start, however it began', async () => {
    await present(true);
    await present(true, 'hello', 2);
    await present(false);
    await present(false, 'service', 2);
    laterMs += 120 * minuteMs;
    const notifier = notifierOf(db);
    await notifier.runAll();
    laterMs += 4 * minuteMs;
    await notifier.runAll();
    expect(await kinds()).toEqual([]);
    await present(true, 'hello', 2);
    laterMs += 2 * minuteMs;
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual(['device_offline']);
  });

  it('is forgotten when no rule waits for as long, and is not reported anew', async () => {
    const notifier = await startedNotifier();
    await present(true);
    await present(false);
    laterMs += 6 * minuteMs;
    await notifier.runAll();
    await put({ offlineAfterS: 3600 });
    await db.write([dropUnasked(10)]);
    expect(await rows('SELECT 1 AS one FROM absences')).toEqual([]);
    await put();
    laterMs += 6 * minuteMs;
    await notifier.runAll();
    await present(true);
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual(['device_offline']);
  });

  it('that a rule waits for is not forgotten', async () => {
    const notifier = await startedNotifier();
    await present(true);
    await present(false);
    laterMs += 6 * minuteMs;
    await notifier.runAll();
    await db.write([dropUnasked(10)]);
    await present(true);
    await notifier.runAll();
    await notifier.close();
    expect(await kinds()).toEqual(['device_offline', 'device_online']);
  });
});

describe('a certificate', () => {
  const certificate = (serial: string, days: number) =>
    run(`INSERT INTO device_certificates (device_no, serial, issued_ms, until_ms)
      VALUES (1, '${serial}', 1, ${nowMs() + days * 86_400_000})`);

  it('is reported once within 30 days of its end, unless a later one is there or it was revoked', async () => {
    await certificate('aa', 31);
    await work();
    expect(await kinds()).toEqual([]);
    laterMs += 2 * 86_400_000;
    for (let round = 0; round < 3; round += 1) await work();
    expect(await kinds()).toEqual(['certificate_expiring']);
    await certificate('bb', 20);
    await certificate('cc', 400);
    await work();
    expect(await kinds()).toHaveLength(1);
  });

  it('is reported by a rule that is made after the 30 days began, and by none before', async () => {
    await put({ kinds: ['device_offline'] });
    await certificate('aa', 20);
    await work();
    expect(await kinds()).toEqual([]);
    await put({ kinds: ['certificate_expiring'], isActive: false });
    await work();
    await put({ kinds: ['certificate_expiring'] });
    await work();
    expect(await kinds()).toEqual(['certificate_expiring']);
  });
});

describe('a suspected clone', () => {
  it('is reported at most once an hour', async () => {
    for (let round = 0; round < 5; round += 1) await db.write([recordClone(1, nowMs())]);
    await work();
    expect(await kinds()).toEqual(['clone_suspected']);
    laterMs += 61 * minuteMs;
    await db.write([recordClone(1, nowMs())]);
    await work();
    expect(await kinds()).toHaveLength(2);
  });
});
