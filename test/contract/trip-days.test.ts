// Trips and stops of days that were found before: reports are byte for byte what they are without them, whatever arrives late, is removed or
// forgotten, and however the period is cut; and nothing of them outlives its device or its events.
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tripsAndStops } from '../../broker/api/events/trip-report.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import type { NumberedDevice } from '../../broker/store/events/trip-days.ts';
import { tableOf, wholeSlices } from '../../broker/store/slices/slices.ts';
import { storeTripDays } from '../../broker/upkeep/trip-days.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { addDevice, migrateWithAccounts } from '../support/broker/broker-bench.ts';
import { openNextSlice, type StoredEvent, storeEvents } from '../support/database/stored-events.ts';
import { openTestDatabase } from '../support/database/test-database.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const metre = 1 / 111_195;
/** A midnight; some of the days before it hold events. */
const nowMs = 20_500 * dayMs + 9 * hourMs;
const todayMs = 20_500 * dayMs;

let db: Database;
let truck: NumberedDevice;
let rival: NumberedDevice;
let seq = 0;

beforeEach(async () => {
  db = await migrateWithAccounts(await openTestDatabase());
  seq = 0;
  const named = async (accountID: string): Promise<NumberedDevice> => ({
    deviceNo: (await addDevice(db, accountID, 'truck-1')).deviceNo,
    accountID,
    deviceID: 'truck-1',
  });
  truck = await named('acme');
  rival = await named('rival');
});
afterEach(() => db.close());

/** What a vehicle does, one after the other. */
interface Leg {
  readonly kind: 'park' | 'drive' | 'silent' | 'jump';
  readonly minutes: number;
  readonly everyMinutes: number;
}

/** The events of legs, from `fromMs` on; each place follows from the legs alone. */
function eventsOf(device: NumberedDevice, legs: readonly Leg[], fromMs: number): StoredEvent[] {
  const events: StoredEvent[] = [];
  let [atMs, metres] = [fromMs, 0];
  for (const { kind, minutes, everyMinutes } of legs) {
    const speed = kind === 'drive' ? 15 : 0;
    if (kind === 'jump') metres += 300_000;
    const endMs = atMs + minutes * minuteMs;
    if (kind === 'silent') atMs = endMs;
    for (; atMs < endMs; atMs += everyMinutes * minuteMs) {
      const wobble = Math.sin(atMs / 7919) * 4;
      seq += 1;
      events.push({
        deviceNo: device.deviceNo,
        accountNo: device.accountID === 'acme' ? 1 : 2,
        boot: 'b',
        seq,
        timestampMs: atMs,
        statusCode: seq % 17 === 0 ? (speed > 0 ? 61_713 : 61_714) : 61_472,
        latitude: 43.6 + (metres + wobble) * metre,
        longitude: -79.3 + wobble * metre,
        ...(seq % 3 === 0 ? {} : { speed: speed * 3.6 }),
        ...(seq % 5 === 0 ? { odometer: 1000 + metres / 1000 } : {}),
        ...(seq % 7 === 0
          ? { attributes: JSON.stringify({ driverUniqueId: `K${seq % 2}`, fuelUsed: seq }) }
          : {}),
      });
      metres += speed * everyMinutes * 60;
    }
  }
  return events;
}

/** Of some days up to today, the same each day: a drive, a pause, a drive, and the night. */
const workdays = (device: NumberedDevice, days: number): StoredEvent[] =>
  eventsOf(
    device,
    Array.from({ length: days }, (): readonly Leg[] => [
      { kind: 'park', minutes: 6 * 60, everyMinutes: 30 },
      { kind: 'drive', minutes: 60, everyMinutes: 1 },
      { kind: 'park', minutes: 9 * 60, everyMinutes: 30 },
      { kind: 'drive', minutes: 60, everyMinutes: 1 },
      { kind: 'park', minutes: 7 * 60, everyMinutes: 30 },
    ]).flat(),
    todayMs - days * dayMs,
  );

interface Cut {
  readonly fromMs: number;
  readonly toMs: number;
}

async function report(store: Database, { accountID, deviceID }: NumberedDevice, cut: Cut): Promise<string> {
  const found: unknown[] = [];
  const period = { scope: wholeAccount(accountID), deviceID, plausibleMs: nowMs + dayMs, ...cut };
  for await (const some of tripsAndStops(store, period)) found.push(...some);
  return JSON.stringify(found);
}
const isOfDays = ({ sql: text }: Statement): boolean => text.includes('trip_days');
/** The same store without what was found before. */
const without = (): Database => ({
  ...db,
  read: async (statement) => (isOfDays(statement) ? [] : db.read(statement)),
});
async function storeAll(device: NumberedDevice): Promise<void> {
  while (await storeTripDays({ db, archive: db }, device, nowMs));
}
const rowsOf = (device: NumberedDevice) =>
  db.read(sql`SELECT * FROM trip_days WHERE device_no = ${device.deviceNo} ORDER BY day, from_key`);
/** Removes events of the truck. */
async function remove(condition: Statement): Promise<void> {
  const slices = await wholeSlices(db);
  await db.write(
    slices.map(
      ({ sliceNo }) =>
        sql`DELETE FROM ${tableOf(sliceNo)} WHERE device_no = ${truck.deviceNo} AND ${condition}`,
    ),
  );
}
const month: Cut = { fromMs: todayMs - 31 * dayMs, toMs: todayMs - 1 };

const leg = fc.record({
  kind: fc.constantFrom('park', 'park', 'drive', 'drive', 'silent', 'jump'),
  minutes: fc.integer({ min: 2, max: 900 }),
  everyMinutes: fc.constantFrom(1, 5, 20, 59),
});
/** What happens between two reports. */
const happening = fc.oneof(
  fc.record({ kind: fc.constant('stored' as const), portions: fc.integer({ min: 1, max: 12 }) }),
  fc.record({
    kind: fc.constant('late' as const),
    agoHours: fc.integer({ min: 0, max: 300 }),
    legs: fc.array(leg, { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('removed' as const), share: fc.integer({ min: 2, max: 40 }) }),
  fc.record({ kind: fc.constant('retention' as const), agoHours: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ kind: fc.constant('forgotten' as const), share: fc.integer({ min: 2, max: 5 }) }),
  fc.record({ kind: fc.constant('slice' as const) }),
);
const cuts = fc.array(
  fc.record({
    agoHours: fc.integer({ min: 1, max: 320 }),
    hours: fc.integer({ min: 1, max: 320 }),
    isWhole: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);
const cutOf = ({ agoHours, hours, isWhole }: { agoHours: number; hours: number; isWhole: boolean }): Cut => {
  const unitMs = isWhole ? dayMs : 1;
  const fromMs = Math.floor((nowMs - agoHours * hourMs) / unitMs) * unitMs;
  return { fromMs, toMs: Math.max(fromMs, Math.floor((fromMs + hours * hourMs) / unitMs) * unitMs - 1) };
};

describe('stored days', () => {
  it('change no report, whatever arrives late, is removed or is forgotten, and however the period is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(leg, { minLength: 4, maxLength: 40 }),
        fc.array(happening, { minLength: 1, maxLength: 8 }),
        cuts,
        async (legs, happenings, asked) => {
          await remove(sql`1 = 1`);
          await db.write([sql`DELETE FROM trip_days`]);
          await storeEvents(db, eventsOf(truck, legs, todayMs - 12 * dayMs));
          await storeAll(truck);
          for (const one of happenings) {
            if (one.kind === 'stored') {
              for (let portion = 0; portion < one.portions; portion++)
                await storeTripDays({ db, archive: db }, truck, nowMs);
            } else if (one.kind === 'late')
              await storeEvents(db, eventsOf(truck, one.legs, nowMs - one.agoHours * hourMs));
            else if (one.kind === 'removed') await remove(sql`event_no % ${one.share} = 0`);
            else if (one.kind === 'retention')
              await remove(sql`timestamp_ms < ${nowMs - one.agoHours * hourMs}`);
            else if (one.kind === 'forgotten')
              await db.write([sql`DELETE FROM trip_days WHERE (day + LENGTH(items)) % ${one.share} = 0`]);
            else await openNextSlice(db, nowMs);
            for (const cut of [...asked.map(cutOf), month])
              expect(await report(db, truck, cut)).toBe(await report(without(), truck, cut));
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it('spare a report the events of these days, wherever it begins and ends', async () => {
    await storeEvents(db, workdays(truck, 20));
    await storeAll(truck);
    for (const days of [1, 2, 5, 9, 16]) {
      let events = 0;
      const counted: Database = {
        ...db,
        async read(statement) {
          const rows = await db.read(statement);
          if (statement.sql.includes('e.time_quality')) events += rows.length;
          return rows;
        },
      };
      const cut = { fromMs: todayMs - days * dayMs, toMs: todayMs - dayMs - 1 };
      const found = await report(counted, truck, cut);
      expect(found).toBe(await report(without(), truck, cut));
      expect(JSON.parse(found)).toHaveLength(Math.max(0, days - 1) * 4);
      expect(events, `${days} days`).toBe(0);
    }
  });

  it('show an event that arrives late in the next report, and are found again', async () => {
    const drive = { fromMs: todayMs - 5 * dayMs + 5 * hourMs, toMs: todayMs - 5 * dayMs + 8 * hourMs };
    const isLate = ({ timestampMs }: StoredEvent) => timestampMs > drive.fromMs && timestampMs < drive.toMs;
    const events = workdays(truck, 8);
    await storeEvents(
      db,
      events.filter((one) => !isLate(one)),
    );
    await storeAll(truck);
    const before = await report(db, truck, month);
    await storeEvents(db, events.filter(isLate));
    const after = await report(db, truck, month);
    expect(after).not.toBe(before);
    expect(after).toBe(await report(without(), truck, month));
    await storeAll(truck);
    expect(await report(db, truck, month)).toBe(after);
  });

  it('are found in portions, and no portion reads more than four days', async () => {
    await storeEvents(db, workdays(truck, 30));
    let portions = 0;
    let rows = 0;
    for (let isMore = true; isMore; portions++) {
      isMore = await storeTripDays({ db, archive: db }, truck, nowMs);
      const stored = (await rowsOf(truck)).length;
      expect(stored - rows).toBeLessThanOrEqual(4);
      if (isMore) expect(stored).toBeGreaterThan(rows);
      rows = stored;
      expect(await report(db, truck, month)).toBe(await report(without(), truck, month));
    }
    expect(portions).toBeGreaterThan(7);
    // Today is none of them.
    expect((await rowsOf(truck)).map((row) => Number(row['day'])).at(-1)).toBe(todayMs / dayMs - 1);
  });

  it('are stored once by two bridges that find them at the same time', async () => {
    await storeEvents(db, workdays(truck, 8));
    await storeAll(truck);
    const alone = await rowsOf(truck);
    await db.write([sql`DELETE FROM trip_days`]);
    await Promise.all([storeAll(truck), storeAll(truck)]);
    expect(await rowsOf(truck)).toEqual(alone);
  });

  it('are removed with their events, and when they are too old for any report', async () => {
    await storeEvents(db, workdays(truck, 20));
    await storeAll(truck);
    await remove(sql`timestamp_ms < ${todayMs - 6 * dayMs}`);
    const part: Cut = { fromMs: todayMs - 20 * dayMs, toMs: todayMs - 8 * dayMs };
    expect(await report(db, truck, part)).toBe('[]');
    await storeAll(truck);
    expect(Math.min(...(await rowsOf(truck)).map((row) => Number(row['day'])))).toBe(todayMs / dayMs - 6);
    while (await storeTripDays({ db, archive: db }, truck, nowMs + 60 * dayMs));
    expect(await rowsOf(truck)).toEqual([]);
  });

  it('go with their device, and none of it is stored afterwards', async () => {
    await storeEvents(db, workdays(truck, 8));
    await storeAll(truck);
    await db.write([sql`DELETE FROM devices WHERE device_no = ${truck.deviceNo}`]);
    expect(await rowsOf(truck)).toEqual([]);
    await storeAll(truck);
    expect(await rowsOf(truck)).toEqual([]);
  });

  it('are read within the scope of the caller alone', async () => {
    await storeEvents(db, workdays(truck, 8));
    await storeAll(truck);
    await storeAll(rival);
    expect(await report(db, rival, month)).toBe('[]');
    const none = { accountID: 'acme', limitedTo: 'ann' };
    const period = { scope: none, deviceID: 'truck-1', plausibleMs: nowMs, ...month };
    for await (const some of tripsAndStops(db, period)) expect(some).toEqual([]);
  });

  it('of a vehicle that stands for weeks are few, though its state differs by where a report begins', async () => {
    await storeEvents(
      db,
      eventsOf(truck, [{ kind: 'park', minutes: 40 * 1440, everyMinutes: 59 }], todayMs - 40 * dayMs),
    );
    await storeAll(truck);
    expect((await rowsOf(truck)).length).toBeLessThan(40 * 6);
    expect(await report(db, truck, month)).toBe(await report(without(), truck, month));
  });
});
