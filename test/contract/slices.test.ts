// Events lie in slices, and reads do not depend on it: whatever order they came in, however late or early their clocks, wherever one
// slice ended and the next began, every reader finds exactly what a single table would have given.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinSpans, spanOf, spanRules } from '../../broker/core/events/event-spans.ts';
import { isRoutine } from '../../broker/store/base/routine-codes.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { findOrphans, findStale, notifierAhead } from '../../broker/store/checking.ts';
import { endPurge, purgeRows } from '../../broker/store/devices/device-deletion.ts';
import { isPositionIn, setAddressIn } from '../../broker/store/events/addresses.ts';
import { countByCode } from '../../broker/store/events/event-counts.ts';
import { allocateEventNos } from '../../broker/store/events/event-insert.ts';
import {
  codesKeys,
  deviceKeys,
  fleetKeys,
  type KeyRange,
  type KeyStream,
} from '../../broker/store/events/event-keys.ts';
import { eventNoOf, eventRecords, isNewEvent } from '../../broker/store/events/event-records.ts';
import { latestEvents, latestPosition } from '../../broker/store/events/events.ts';
import { eventsByNumber, holdsMore, receivedMsOf } from '../../broker/store/events/events-by-number.ts';
import { firstEventMs, tripEvents } from '../../broker/store/events/trip-events.ts';
import { eventsAfter } from '../../broker/store/notifications/notifications.ts';
import { createSpanCache, openNext, openSlice } from '../../broker/store/slices/slice-writing.ts';
import { lastEventNo, tableOf } from '../../broker/store/slices/slices.ts';
import { isOver, sliceOnce, sliceRules } from '../../broker/upkeep/slicing.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  jsonBytes,
  migrateWithAccounts,
  openBenchIngest,
} from '../support/broker/broker-bench.ts';
import {
  openNextSlice,
  type StoredEvent,
  storedEvents,
  storeEvents,
} from '../support/database/stored-events.ts';
import { isOnPostgres, openTestDatabase } from '../support/database/test-database.ts';

const dayMs = 86_400_000;
const weekMs = sliceRules.widthMs;
const nowMs = 1_767_614_400_000;
const panic = 63553;
const scope = wholeAccount('acme');

let db: Database;
let deviceNos: number[];

async function open(): Promise<void> {
  db = await migrateWithAccounts(await openTestDatabase());
  deviceNos = [];
  for (const deviceID of ['truck-1', 'truck-2'])
    deviceNos.push((await addDevice(db, 'acme', deviceID)).deviceNo);
}

/** An event as a test knows it. */
interface Known extends StoredEvent {
  readonly receivedMs: number;
  readonly statusCode: number;
  readonly eventNo: number;
}

const inTime = (events: readonly Known[]): readonly Known[] =>
  [...events].sort((one, other) => one.timestampMs - other.timestampMs || one.eventNo - other.eventNo);
const numbersOf = (events: readonly { readonly eventNo: number }[]): number[] =>
  events.map(({ eventNo }) => eventNo);

async function keysOf(stream: KeyStream): Promise<number[]> {
  const found: number[] = [];
  for await (const keys of stream) found.push(...numbersOf(keys));
  return found;
}

async function listOf<T>(pages: AsyncGenerator<readonly T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

/** What happens to the store: events of one device come in, or a new slice begins. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      device: fc.nat({ max: 1 }),
      // Fresh, from the backlog, from a clock that runs ahead, from before there were vehicles.
      ages: fc.array(
        fc.oneof(
          fc.integer({ min: 0, max: 3 * dayMs }),
          fc.integer({ min: 0, max: 200 * dayMs }),
          fc.integer({ min: -900 * dayMs, max: 0 }),
          fc.constant(nowMs - 1000),
        ),
        { minLength: 1, maxLength: 6 },
      ),
      code: fc.constantFrom(61472, 61472, panic, 62465),
    }),
  },
  { weight: 1, arbitrary: fc.constant('next' as const) },
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function play(steps: readonly Step[]): Promise<readonly Known[]> {
  const known: Known[] = [];
  for (const [at, one] of steps.entries()) {
    const receivedMs = nowMs + at * dayMs;
    if (one === 'next') {
      await openNextSlice(db, receivedMs);
      continue;
    }
    const events = one.ages.map((ageMs, index) => ({
      deviceNo: deviceNos[one.device] ?? 0,
      boot: `b${at}`,
      seq: index + 1,
      timestampMs: Math.max(0, receivedMs - ageMs),
      receivedMs,
      statusCode: one.code,
      // Every other event has a position.
      latitude: index % 2 === 0 ? 1 : null,
      longitude: index % 2 === 0 ? 1 : null,
    }));
    const numbers = await storeEvents(db, events);
    for (const [index, event] of events.entries()) known.push({ ...event, eventNo: numbers[index] ?? 0 });
  }
  return known;
}

const everything: Omit<KeyRange, 'upToNo'> = {
  scope,
  fromMs: 0,
  toMs: Number.MAX_SAFE_INTEGER,
  plausibleMs: Number.MAX_SAFE_INTEGER,
  after: null,
  sinceNo: 0,
};

async function checkTimes(known: readonly Known[], cut: { readonly fromMs: number; readonly toMs: number }) {
  const range = { ...everything, ...cut, upToNo: await lastEventNo(db) };
  const inside = inTime(known.filter(({ timestampMs: ms }) => ms >= cut.fromMs && ms <= cut.toMs));
  const ofFirst = inside.filter(({ deviceNo }) => deviceNo === deviceNos[0]);
  const device = { ...range, deviceID: 'truck-1' };
  expect(await keysOf(deviceKeys(db, device, null))).toEqual(numbersOf(ofFirst));
  expect(await keysOf(fleetKeys(db, range, null))).toEqual(numbersOf(inside));
  const codes = [panic, 62465];
  const rare = inside.filter(({ statusCode }) => codes.includes(statusCode));
  expect(await keysOf(codesKeys(db, range, codes))).toEqual(numbersOf(rare));
  expect(await keysOf(fleetKeys(db, range, new Set(codes)))).toEqual(numbersOf(rare));
  const panics = inside.filter(({ statusCode }) => statusCode === panic);
  // What is counted are days, not ages.
  if (cut.toMs < nowMs * 2 && cut.fromMs > 0) {
    const counts = await countByCode(db, range, [...codes, 63559]);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(rare.length);
    expect(counts.get(panic) ?? 0).toBe(panics.length);
  }
  const track = await listOf(tripEvents(db, { scope, deviceID: 'truck-1', ...cut }));
  expect(track.map(({ timestampMs }) => timestampMs)).toEqual(ofFirst.map(({ timestampMs }) => timestampMs));
  // From the middle on, as a cursor does.
  const middle = ofFirst[Math.floor(ofFirst.length / 2)];
  if (middle === undefined) return;
  const rest = ofFirst.slice(ofFirst.indexOf(middle) + 1);
  expect(await keysOf(deviceKeys(db, { ...device, after: middle }, null))).toEqual(numbersOf(rest));
}

async function checkNewest(known: readonly Known[], toMs: number) {
  const of = { scope, deviceID: 'truck-1' };
  const own = inTime(known.filter(({ deviceNo }) => deviceNo === deviceNos[0])).toReversed();
  for (const count of [1, 3, 100])
    expect(numbersOf(await latestEvents(db, of, count))).toEqual(numbersOf(own.slice(0, count)));
  const until = own.find(({ timestampMs, latitude }) => timestampMs <= toMs && latitude !== null);
  const span = { fromMs: Number.MIN_SAFE_INTEGER, toMs };
  expect((await latestPosition(db, { ...of, ...span }))?.eventNo).toBe(until?.eventNo);
  expect(await firstEventMs(db, of)).toBe(own.at(-1)?.timestampMs ?? null);
}

async function checkNumbers(known: readonly Known[], after: number) {
  const upTo = await lastEventNo(db);
  const expected = known.filter(({ eventNo, statusCode }) => eventNo > after && !isRoutine(statusCode));
  const span = { after, upTo };
  expect(numbersOf(await listOf(eventsByNumber(db, { ...span, scope })))).toEqual(numbersOf(expected));
  const account = { ...span, accountID: 'acme' };
  expect(await holdsMore(db, { ...account, most: expected.length })).toBe(false);
  if (expected.length > 0) expect(await holdsMore(db, { ...account, most: expected.length - 1 })).toBe(true);
  const found: number[] = [];
  for (let from = after; from < upTo; ) {
    const page = await eventsAfter(db, { after: from, upTo, limit: 3 });
    found.push(...numbersOf(page.events));
    expect(page.upTo).toBeGreaterThan(from);
    from = page.upTo;
  }
  expect(found).toEqual(numbersOf(expected));
  const wanted = known.toReversed();
  const records = await eventRecords(db, scope, numbersOf(wanted));
  expect(records.map(({ eventNo, boot, seq }) => ({ eventNo, boot, seq }))).toEqual(
    wanted.map(({ eventNo, boot, seq }) => ({ eventNo, boot, seq })),
  );
  for (const { eventNo, receivedMs } of known.slice(0, 5))
    expect(await receivedMsOf(db, eventNo)).toBe(receivedMs);
}

describe('readers', () => {
  test('find in slices what a single table would have given them', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 14 }),
        fc.integer({ min: 0, max: 60 * dayMs }),
        fc.integer({ min: 0, max: 30 * dayMs }),
        async (steps, fromMs, widthMs) => {
          await open();
          try {
            const known = await play(steps);
            const cut = { fromMs: nowMs - 30 * dayMs + fromMs, toMs: nowMs - 30 * dayMs + fromMs + widthMs };
            await checkTimes(known, { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER });
            await checkTimes(known, cut);
            await checkNewest(known, cut.toMs);
            await checkNumbers(known, 0);
            await checkNumbers(known, Math.floor(known.length / 2));
          } finally {
            await db.close();
          }
        },
      ),
      // Each run has a store of its own, which a server makes slowly.
      { numRuns: Number(process.env['FLEETWARD_TEST_RUNS'] ?? (isOnPostgres ? 8 : 40)) },
    );
  });

  test('read a slice only when they reach it', async () => {
    await open();
    const at = (week: number): StoredEvent[] =>
      [0, 1, 2].map((seq) => ({
        deviceNo: deviceNos[0] ?? 0,
        boot: `w${week}`,
        seq,
        timestampMs: nowMs + week * weekMs + seq * dayMs,
      }));
    for (let week = 0; week < 10; week++) {
      await storeEvents(db, at(week));
      await openNextSlice(db, nowMs + week * weekMs + 3 * dayMs);
    }
    const asked = new Set<string>();
    const watched: Database = {
      ...db,
      read(statement) {
        for (const [name] of statement.sql.matchAll(/\bevents(_\d+)?(?= e\b)/g)) asked.add(name);
        return db.read(statement);
      },
    };
    const range = { ...everything, upToNo: await lastEventNo(db), deviceID: 'truck-1' };
    const page = await deviceKeys(watched, range, null).next();
    expect(page.value).toHaveLength(3);
    expect([...asked]).toEqual(['events']);
    asked.clear();
    await latestEvents(watched, { scope, deviceID: 'truck-1' }, 3);
    expect([...asked]).toEqual(['events_10']);
    asked.clear();
    const day = { ...range, fromMs: nowMs + 4 * weekMs, toMs: nowMs + 4 * weekMs + dayMs - 1 };
    expect(await keysOf(deviceKeys(watched, day, null))).toHaveLength(1);
    expect([...asked]).toEqual(['events_5']);
    await db.close();
  });
});

describe('the store', () => {
  beforeEach(open);
  afterEach(() => db.close());
  const event = (seq: number, timestampMs: number, more: Partial<StoredEvent> = {}): StoredEvent => ({
    deviceNo: deviceNos[0] ?? 0,
    boot: 'b',
    seq,
    timestampMs,
    receivedMs: nowMs,
    ...more,
  });

  test('sets addresses, finds bare events, purges and checks in every slice', async () => {
    await storeEvents(db, [
      event(1, nowMs, { latitude: 43, longitude: -79 }),
      event(panic, nowMs, { boot: '@9' }),
    ]);
    await openNextSlice(db, nowMs);
    await storeEvents(db, [event(2, nowMs, { latitude: 43, longitude: -79 })]);
    await openNextSlice(db, nowMs);
    const span = { scope, deviceID: 'truck-1', fromMs: nowMs, toMs: nowMs + 999 };
    const [, ...set] = await db.write(await setAddressIn(db, span, 'Queens Quay'));
    expect(set.map(({ changes }) => changes)).toEqual([1, 1]);
    const [there] = await db.read(
      sql`SELECT CASE WHEN ${await isPositionIn(db, span)} THEN 1 ELSE 0 END AS there`,
    );
    expect(there).toEqual({ there: 1 });
    const bare = { boot: '@9', seq: panic, timestampMs: nowMs };
    const device = { deviceNo: deviceNos[0] ?? 0 };
    expect(await eventNoOf(db, device, bare)).toBe(2);
    const isNew = await isNewEvent(db, device.deviceNo, bare);
    expect(await db.read(sql`SELECT 1 AS there WHERE ${isNew}`)).toEqual([]);
    // The present state was never updated with the position.
    expect(await findStale(db, device.deviceNo)).toMatchObject({ readings: ['position'] });
    expect(await notifierAhead(db)).toBe(0);
    expect(await findOrphans(db)).toEqual([]);
    await db.write([sql`DELETE FROM devices WHERE device_no = ${device.deviceNo}`]);
    expect(await findOrphans(db)).toEqual([
      { table: 'events', devices: 1 },
      { table: 'events_2', devices: 1 },
    ]);
    const [tooEarly] = await db.write([await endPurge(db, device.deviceNo)]);
    expect(tooEarly?.changes).toBe(0);
    for (let turn = 0; turn < 5; turn++) await db.write(await purgeRows(db, device.deviceNo, 1));
    expect(await storedEvents(db)).toEqual([]);
  });

  test('takes a new slice from one process only, and no event into a slice that is closed', async () => {
    await storeEvents(db, [event(1, nowMs)]);
    await db.write([sql`UPDATE event_counter SET next_no = 2`]);
    const both = await Promise.allSettled([db.write(openNext(1, nowMs)), db.write(openNext(1, nowMs))]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect((await openSlice(db)).sliceNo).toBe(2);
    await expect(db.write([allocateEventNos(5, 1)])).rejects.toMatchObject({ cause: { code: 'CONFLICT' } });
    const [inTimeToo] = await db.write([allocateEventNos(5, 2)]);
    expect(inTimeToo?.rows).toEqual([{ next_no: 7 }]);
    expect(await lastEventNo(db)).toBe(6);
  });

  test('takes what vehicles send over a slice that another process closed, once, and acknowledges it', async () => {
    const ingest = openBenchIngest({ db, clock: createBenchClock() });
    const device = { accountID: 'acme', deviceID: 'truck-1', deviceNo: deviceNos[0] ?? 0 };
    const send = async (seqs: readonly number[]) => {
      const events = seqs.map((one) => ({ seq: one, timestamp: nowMs + one, statusCode: 61472 }));
      return (await ingest.send(device, jsonBytes({ boot: 'b', events })))[0];
    };
    expect(await send([1, 2])).toMatchObject({ ack: { upTo: 2 } });
    await openNextSlice(db, nowMs);
    // It has cached the closed slice; its own commit refuses that.
    expect(await send([2, 3, 4])).toMatchObject({
      kind: 'stored',
      ack: { upTo: 4 },
      fresh: [{ seq: 3 }, { seq: 4 }],
    });
    await openNextSlice(db, nowMs);
    expect(await send([5])).toMatchObject({ ack: { upTo: 5 } });
    const tables = await Promise.all(
      [1, 2, 3].map((no) => db.read(sql`SELECT seq FROM ${tableOf(no)} ORDER BY seq`)),
    );
    expect(tables.map((rows) => rows.map((row) => row['seq']))).toEqual([[1, 2], [3, 4], [5]]);
    const range = { ...everything, upToNo: await lastEventNo(db), deviceID: 'truck-1' };
    expect(await keysOf(deviceKeys(db, range, null))).toHaveLength(5);
    await ingest.close();
  });

  test('opens a slice with each week of receipt, and when one is full; a clock that steps back costs nothing', async () => {
    expect(await sliceOnce(db, nowMs)).toBe(false);
    await openNextSlice(db, nowMs);
    await storeEvents(db, [event(1, nowMs)]);
    expect(await sliceOnce(db, nowMs + 1000)).toBe(false);
    expect(await sliceOnce(db, nowMs - 5 * weekMs)).toBe(false);
    expect(await sliceOnce(db, nowMs + weekMs)).toBe(true);
    // Nothing came in: nothing to close.
    expect(await sliceOnce(db, nowMs + 9 * weekMs)).toBe(false);
    const [numbers] = await storeEvents(db, [event(2, nowMs)]);
    expect(numbers).toBe(2);
    expect(isOver({ taken: sliceRules.eventsMost, openedMs: nowMs }, nowMs)).toBe(true);
  });

  test('shows what another process has stored for a time that no slice held before', async () => {
    const other = await openSame();
    await storeEvents(db, [event(1, nowMs)]);
    const range = { ...everything, upToNo: Number.MAX_SAFE_INTEGER, deviceID: 'truck-1' };
    const old = { ...range, toMs: nowMs - 300 * dayMs };
    expect(await keysOf(deviceKeys(db, old, null))).toEqual([]);
    for (const ageDays of [310, 400, 900]) {
      await storeEvents(other, [event(ageDays, nowMs - ageDays * dayMs)]);
      expect(await keysOf(deviceKeys(db, old, null))).toContain(await lastEventNo(db));
    }
    expect(await keysOf(deviceKeys(db, old, null))).toHaveLength(3);
  });

  /** A second view of the same store: another connection where there can be one. */
  function openSame(): Promise<Database> {
    return Promise.resolve({ ...db });
  }
});

describe('the notes of a slice', () => {
  test('cover every recorded event, in few spans', () => {
    // Farther away than this the whole block is far, so both of its ends are noted under it.
    const farMs = spanRules.behindMs + spanRules.blockMs;
    const { earliestMs, latestMs } = spanRules;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_200_000_000_000 }),
        fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }),
        (timestampMs, receivedMs) => {
          const span = spanOf(timestampMs, receivedMs);
          expect(timestampMs).toBeGreaterThanOrEqual(span.fromMs);
          expect(timestampMs).toBeLessThanOrEqual(span.toMs);
          if (timestampMs < earliestMs || timestampMs >= latestMs) return;
          for (const ms of [Math.max(span.fromMs, earliestMs), Math.min(span.toMs, latestMs - 1)])
            if (Math.abs(receivedMs - timestampMs) > farMs) expect(spanOf(ms, receivedMs)).toEqual(span);
        },
      ),
    );
    const far = Array.from({ length: 100_000 }, (_unused, at) => spanOf(at * 42_000_000, 0));
    expect(new Set(far.map(({ fromMs }) => fromMs)).size).toBeLessThan(600);
    expect(
      joinSpans([
        { fromMs: 5, toMs: 9 },
        { fromMs: 0, toMs: 4 },
        { fromMs: 6, toMs: 7 },
        { fromMs: 11, toMs: 12 },
      ]),
    ).toEqual([
      { fromMs: 0, toMs: 9 },
      { fromMs: 11, toMs: 12 },
    ]);
  });

  test('are made once a process, and again for the next slice', () => {
    const notes = createSpanCache();
    const arrival = { receivedMs: nowMs, timestamps: [nowMs, nowMs + 1, nowMs - dayMs] };
    const spans = notes.missing(2, arrival);
    expect(spans).toHaveLength(2);
    // Not committed: they are still to be noted.
    expect(notes.missing(2, arrival)).toHaveLength(2);
    notes.learn(2, spans);
    expect(notes.missing(2, arrival)).toEqual([]);
    expect(notes.missing(3, arrival)).toHaveLength(2);
    notes.learn(3, []);
    expect(notes.missing(3, arrival)).toHaveLength(2);
  });
});
