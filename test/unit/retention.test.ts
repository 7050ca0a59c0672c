// Retention removes what is older than the account's limit by event time and by arrival, and nothing else; and whatever a
// vehicle sends again afterwards, however late and in whatever order, is never taken for new, while what is really late is.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { acceptClock, createAgingClock, leapMostMs } from '../../broker/upkeep/aging-clock.ts';
import { createRetention, runRetention } from '../../broker/upkeep/retention.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  type BenchClock,
  createBenchClock,
  createBenchLog,
  jsonBytes,
  openBenchDatabase,
  openBenchIngest,
} from '../support/broker/broker-bench.ts';
import { storeEvents, storeMany } from '../support/database/stored-events.ts';

const dayMs = 86_400_000;

let db: Database;
let clock: BenchClock;
let device: DeviceRef;
let fresh: string[];

beforeEach(async () => {
  db = await openBenchDatabase();
  clock = createBenchClock();
  device = await addDevice(db, 'acme', 'truck-1');
  fresh = [];
});
afterEach(() => db.close());

function openIngest() {
  const ingest = openBenchIngest({
    db,
    clock,
    onCommitted: (committed) => {
      for (const { seq } of committed.fresh) fresh.push(`${committed.boot}:${seq}`);
    },
  });
  return {
    close: ingest.close,
    async send(boot: string, seqs: readonly number[], timeOf: (seq: number) => number | null) {
      const events = seqs.map((seq) => ({ seq, timestamp: timeOf(seq), statusCode: 61472 }));
      return (await ingest.send(device, jsonBytes({ boot, events })))[0];
    },
  };
}

const keep = (days: number | null) =>
  db.write([sql`UPDATE accounts SET retained_days = ${days} WHERE account_id = 'acme'`]);
const run = async (isDry = false) =>
  (await runRetention({ db, clock, nowMs: clock.utcMs(), rest: () => Promise.resolve(), isDry })).accounts;
const stored = async () =>
  (await db.read(sql`SELECT boot, seq FROM events ORDER BY boot, seq`)).map(
    (row) => `${String(row['boot'])}:${String(row['seq'])}`,
  );
const upTo = async () => (await db.read(sql`SELECT up_to FROM boots`)).map((row) => row['up_to']);

describe('a run', () => {
  test('removes nothing of an account without a limit', async () => {
    const ingest = openIngest();
    await ingest.send('b', [1, 2], () => 1000);
    clock.advance(400 * dayMs);
    expect(await run()).toEqual([]);
    expect(await stored()).toHaveLength(2);
    await ingest.close();
  });

  test('removes what is old by event time and by arrival, and keeps what came in late for as long', async () => {
    await keep(30);
    const ingest = openIngest();
    const nowMs = clock.utcMs();
    await ingest.send('b', [1, 2], () => nowMs);
    clock.advance(20 * dayMs);
    // Old by event time, but it came in only now.
    await ingest.send('b', [3], () => nowMs - 100 * dayMs);
    clock.advance(11 * dayMs);
    expect(await run(true)).toMatchObject([{ accountID: 'acme', days: 30, devices: 1, events: 2 }]);
    expect(await stored()).toEqual(['b:1', 'b:2', 'b:3']);
    expect(await run()).toMatchObject([{ events: 2 }]);
    expect(await stored()).toEqual(['b:3']);
    expect(await upTo()).toEqual([3]);
    clock.advance(20 * dayMs);
    await run();
    expect(await stored()).toEqual([]);
    expect(await upTo()).toEqual([3]);
    await ingest.close();
  });

  test('goes by the arrival alone where the clock of the vehicle ran ahead', async () => {
    await keep(7);
    const ingest = openIngest();
    await ingest.send('b', [1], () => 4_000_000_000_000);
    clock.advance(8 * dayMs);
    await run();
    expect(await stored()).toEqual([]);
    await ingest.close();
  });

  test('goes by the less of the limits of account and operator, and never by less than a day', async () => {
    await db.write([
      sql`UPDATE accounts SET retained_days = 0, retained_most_days = 5 WHERE account_id = 'acme'`,
    ]);
    const ingest = openIngest();
    await ingest.send('b', [1], () => clock.utcMs());
    clock.advance(dayMs - 60_000);
    await run();
    expect(await stored()).toHaveLength(1);
    await keep(90);
    clock.advance(4.5 * dayMs);
    expect(await run()).toMatchObject([{ days: 5, events: 1 }]);
    await ingest.close();
  });

  test('leaves other accounts and their devices alone', async () => {
    const other = await addDevice(db, 'rival', 'truck-1');
    await storeEvents(db, [{ accountNo: 2, deviceNo: other.deviceNo, boot: 'r', seq: 1, timestampMs: 1 }]);
    await keep(1);
    await run();
    expect(await stored()).toEqual(['r:1']);
  });

  test('removes unreadable payloads of that age too', async () => {
    await db.write([
      sql`INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
        VALUES (${device.deviceNo}, 't', ${clock.utcMs() - 40 * dayMs}, 'r', 0, '')`,
      sql`INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
        VALUES (${device.deviceNo}, 't', ${clock.utcMs() - 20 * dayMs}, 'r', 0, '')`,
    ]);
    await keep(30);
    expect(await run()).toMatchObject([{ payloads: 1 }]);
    expect(await db.read(sql`SELECT 1 FROM quarantine`)).toHaveLength(1);
  });

  test('of thousands of events goes in batches, and one that was broken off is taken up by the next', async () => {
    const { deviceNo } = device;
    await storeMany(db, {
      device: deviceNo,
      count: 3000,
      boot: 'b',
      of: (i) => ({ seq: i * 2, timestampMs: i }),
    });
    await keep(1);
    let batches = 0;
    const rest = () => {
      batches += 1;
      return batches === 3 ? Promise.reject(new Error('stopped')) : Promise.resolve();
    };
    await expect(runRetention({ db, clock, nowMs: clock.utcMs(), rest, isDry: false })).rejects.toThrow(
      'stopped',
    );
    expect(await stored()).toHaveLength(2700);
    expect(await run()).toMatchObject([{ events: 2700 }]);
    expect(await stored()).toEqual([]);
  });
});

describe('what a vehicle sends again', () => {
  test('after it was removed is acknowledged and not new, and what was never there is stored', async () => {
    await keep(10);
    const ingest = openIngest();
    const nowMs = clock.utcMs();
    const timeOf = () => nowMs;
    // An alarm overtook the backlog: 5 to 7 lie beyond a gap.
    await ingest.send('b', [1, 2], timeOf);
    await ingest.send('b', [5, 6, 7], timeOf);
    clock.advance(11 * dayMs);
    await run();
    expect(await stored()).toEqual([]);
    fresh = [];
    const again = await ingest.send('b', [1, 2, 5, 6], timeOf);
    expect(again).toMatchObject({
      kind: 'stored',
      fresh: [],
      ack: {
        boot: 'b',
        upTo: 2,
        ranges: [
          [1, 2],
          [5, 6],
        ],
      },
    });
    const late = await ingest.send('b', [2, 3, 4, 5, 6, 7, 8], timeOf);
    expect(late).toMatchObject({ kind: 'stored', ack: { ranges: [[2, 8]] } });
    expect(fresh).toEqual(['b:3', 'b:4', 'b:8']);
    expect(await stored()).toEqual(['b:3', 'b:4', 'b:8']);
    await ingest.close();
  });

  test('in any order, with runs in between: every event is new exactly once, and up_to never claims what was not stored', async () => {
    const batch = fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 8 });
    const step = fc.oneof(
      { weight: 5, arbitrary: batch.map((seqs) => ({ kind: 'send', seqs }) as const) },
      { weight: 2, arbitrary: fc.constant({ kind: 'run' } as const) },
      {
        weight: 2,
        arbitrary: fc.integer({ min: 1, max: 9 }).map((days) => ({ kind: 'wait', days }) as const),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat({ max: 2 }), async (steps, spread) => {
        db = await openBenchDatabase();
        clock = createBenchClock();
        device = await addDevice(db, 'acme', 'truck-1');
        fresh = [];
        await keep(5);
        const ingest = openIngest();
        const nowMs = clock.utcMs();
        const sent = new Set<number>();
        for (const one of steps) {
          if (one.kind === 'run') await run();
          else if (one.kind === 'wait') clock.advance(one.days * dayMs);
          else {
            const seqs = [...new Set(one.seqs)].sort((a, b) => a - b);
            const outcome = await ingest.send('b', seqs, (seq) =>
              spread === 0 ? nowMs : nowMs + (seq % 4) * spread * dayMs,
            );
            for (const seq of seqs) sent.add(seq);
            const claimed = outcome?.kind === 'stored' ? (outcome.ack?.upTo ?? 0) : 0;
            for (let seq = 1; seq <= claimed; seq += 1)
              expect(sent.has(seq), `${seq} of ${claimed}`).toBe(true);
          }
        }
        expect([...fresh].sort()).toEqual([...sent].map((seq) => `b:${seq}`).sort());
        await ingest.close();
        await db.close();
      }),
      { numRuns: 150 },
    );
    db = await openBenchDatabase();
  });
});

describe('the background work', () => {
  test('waits while vehicles wait for the disk, reports what it did, and ends at once when asked', async () => {
    const { deviceNo } = device;
    const log = createBenchLog();
    const aging = createAgingClock({ db, clock, log });
    await aging.read();
    await storeMany(db, { device: deviceNo, count: 1200, boot: 'b', of: (i) => ({ timestampMs: i }) });
    await keep(1);
    let lag = 5000;
    const retention = createRetention({ db, clock, log, aging, lagMs: () => lag });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100)
        await advanceUntilSettled(
          clock,
          Promise.resolve().then(() => clock.advance(99)),
        );
    };
    await pass(70_000);
    expect(await stored()).toHaveLength(1100);
    lag = 0;
    await pass(5000);
    expect(await stored()).toEqual([]);
    expect(retention.counts()).toMatchObject({ events: 1200, devices: 1, runs: 1 });
    expect(log.lines.filter(({ event }) => event === 'retention_run')).toMatchObject([
      { fields: { accountID: 'acme', days: 1, events: 1200 } },
    ]);
    await retention.close();
  });
});

describe('a clock that is ahead', () => {
  const hourMs = 3_600_000;
  /** A start of the service with its clock, as it stands: gives the time that removals go by, and what the log says. */
  const start = () => {
    const log = createBenchLog();
    const aging = createAgingClock({ db, clock, log });
    const leaps = (): number => log.lines.filter(({ event }) => event === 'clock_leap').length;
    return { aging, leaps };
  };
  const removeBy = async (nowMs: number) =>
    void (await runRetention({ db, clock, nowMs, rest: () => Promise.resolve(), isDry: false }));
  const trueMs = Date.UTC(2026, 0, 10);
  const storeRecent = async (): Promise<void> => {
    await storeEvents(
      db,
      Array.from({ length: 30 }, (_unused, at) => ({
        deviceNo: device.deviceNo,
        boot: 'b',
        seq: at + 1,
        timestampMs: trueMs - (29 - at) * hourMs,
        receivedMs: trueMs - (29 - at) * hourMs,
      })),
    );
    await keep(30);
  };

  test.each([400, 90, 31, 2])(
    'by %i days removes nothing, at a start or while running, and says so',
    async (days) => {
      clock.setUtc(trueMs);
      await start().aging.read();
      await storeRecent();
      const running = start();
      for (const { aging, leaps } of [running, start()]) {
        clock.setUtc(trueMs + days * dayMs);
        for (let hour = 1; hour <= 3; hour += 1) {
          clock.advance(hourMs);
          const { nowMs, leapMs } = await aging.read();
          expect(leapMs).toBeGreaterThan(leapMostMs);
          expect(nowMs).toBeLessThan(trueMs + dayMs);
          await removeBy(nowMs);
        }
        expect(leaps()).toBe(3);
        expect(await stored()).toHaveLength(30);
      }
      // Events that arrive meanwhile bear the wrong time, and make it no truer.
      await storeEvents(db, [
        { deviceNo: device.deviceNo, boot: 'c', seq: 1, timestampMs: trueMs, receivedMs: clock.utcMs() },
      ]);
      expect((await start().aging.read()).leapMs).toBeGreaterThan(0);
      // Set right, it is believed at once.
      clock.setUtc(trueMs + hourMs * 8);
      expect((await running.aging.read()).leapMs).toBe(0);
      expect((await start().aging.read()).leapMs).toBe(0);
    },
  );

  test('is believed when a person confirms it, or a vehicle’s GNSS time', async () => {
    clock.setUtc(trueMs);
    await start().aging.read();
    await storeRecent();
    clock.setUtc(trueMs + 60 * dayMs);
    const { aging } = start();
    expect((await aging.read()).leapMs).toBeGreaterThan(0);
    await acceptClock(db, clock);
    expect(await aging.read()).toEqual({ nowMs: clock.utcMs(), leapMs: 0 });
    clock.setUtc(trueMs + 120 * dayMs);
    expect((await aging.read()).leapMs).toBeGreaterThan(0);
    const live = {
      deviceNo: device.deviceNo,
      boot: 'c',
      receivedMs: clock.utcMs(),
      timestampMs: clock.utcMs(),
    };
    await storeEvents(db, [{ ...live, seq: 1, timeQuality: 'system' }]);
    expect((await aging.read()).leapMs).toBeGreaterThan(0);
    await storeEvents(db, [{ ...live, seq: 2 }]);
    expect((await aging.read()).leapMs).toBe(0);
  });

  test('is measured from the newest receipt where nothing was recorded, and a day without a start is none', async () => {
    await storeRecent();
    clock.setUtc(trueMs + 40 * dayMs);
    expect((await start().aging.read()).leapMs).toBeGreaterThan(leapMostMs);
    clock.setUtc(trueMs + dayMs - hourMs);
    expect((await start().aging.read()).leapMs).toBe(0);
    // Without a clock of its own a machine begins in 1970 and is set right later: no leap.
    clock.setUtc(0);
    const { aging, leaps } = start();
    expect(await aging.read()).toEqual({ nowMs: clock.utcMs(), leapMs: 0 });
    clock.setUtc(trueMs + dayMs);
    expect((await aging.read()).leapMs).toBe(0);
    expect(leaps()).toBe(0);
  });
});
