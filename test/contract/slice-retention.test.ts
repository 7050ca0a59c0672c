// A slice is dropped whole once no account keeps anything of it, and only then: whatever is stopped half way, whoever reads
// meanwhile, and whatever the clock says for less than an hour.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import {
  codesKeys,
  deviceKeys,
  type KeyRange,
  type KeyStream,
} from '../../broker/store/events/event-keys.ts';
import { eventRecords } from '../../broker/store/events/event-records.ts';
import { tripEvents } from '../../broker/store/events/trip-events.ts';
import { sqliteTableSizes } from '../../broker/store/sampling.ts';
import { allSlices, lastEventNo } from '../../broker/store/slices/slices.ts';
import { runRetention } from '../../broker/upkeep/retention.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { addDevice, migrateWithAccounts, startMs } from '../support/broker/broker-bench.ts';
import { openNextSlice, storedEvents, storeEvents } from '../support/database/stored-events.ts';
import { isOnPostgres, openTestDatabase, tablesOf } from '../support/database/test-database.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const panic = 63553;
const scope = wholeAccount('acme');

let db: Database;
let truck: number;
let rival: number;

beforeEach(async () => {
  db = await migrateWithAccounts(await openTestDatabase());
  truck = (await addDevice(db, 'acme', 'truck-1')).deviceNo;
  rival = (await addDevice(db, 'rival', 'truck-1')).deviceNo;
});
afterEach(() => db.close());

const clock = { monoMs: () => 0 };
const keep = (accountID: string, days: number | null) =>
  db.write([sql`UPDATE accounts SET retained_days = ${days} WHERE account_id = ${accountID}`]);
const run = (
  atMs: number,
  { rest = () => Promise.resolve(), isDry = false }: { rest?: () => Promise<void>; isDry?: boolean } = {},
) => runRetention({ db, clock, nowMs: atMs, rest, isDry });
const sliceNos = async () => (await allSlices(db)).map(({ sliceNo, state }) => `${sliceNo} ${state}`);
const stored = async () =>
  (await storedEvents(db)).map((row) => `${String(row['boot'])}:${String(row['seq'])}`);
const sliceTables = async () =>
  (await tablesOf(db)).map(({ name }) => name).filter((name) => /^events(_\d+)?$/.test(name));

/** Three weeks with an event of each account a day; each in a slice of its own, and the fourth is open. */
async function fill(ofRival = true): Promise<void> {
  for (let week = 0; week < 3; week++) {
    for (let day = 0; day < 7; day++) {
      const timestampMs = startMs + (week * 7 + day) * dayMs;
      const one = { boot: `w${week}`, seq: day, timestampMs, statusCode: panic };
      await storeEvents(db, [
        { ...one, deviceNo: truck },
        ...(ofRival ? [{ ...one, deviceNo: rival, accountNo: 2, boot: `r${week}` }] : []),
      ]);
    }
    await openNextSlice(db, startMs + (week + 1) * 7 * dayMs);
  }
}
/** Some time after the first week is past a limit of thirty days. */
const laterMs = startMs + 38 * dayMs;

describe('a slice', () => {
  test('of which everything is past every limit is hidden, and its table is dropped an hour later', async () => {
    await keep('acme', 30);
    await keep('rival', 20);
    await fill();
    expect(await run(laterMs, { isDry: true })).toMatchObject({
      slices: [{ sliceNo: 1, events: 14, became: 'retired' }],
    });
    expect(await sliceNos()).toEqual(['1 closed', '2 closed', '3 closed', '4 open']);
    const first = await run(laterMs);
    expect(first.slices).toMatchObject([{ sliceNo: 1, became: 'retired' }]);
    expect((await run(laterMs + 60_000)).slices).toEqual([]);
    const second = await run(laterMs + hourMs);
    expect(second.slices).toMatchObject([{ sliceNo: 1, events: 14, became: 'dropped' }]);
    expect(await sliceNos()).toEqual(['2 closed', '3 closed', '4 open']);
    expect(await sliceTables()).toEqual(['events_2', 'events_3', 'events_4']);
    expect((await stored()).filter((key) => key.startsWith('w'))).toHaveLength(14);
    expect(await lastEventNo(db)).toBe(42);
  });

  test('stays while an account keeps something of it, and the others lose their rows one by one', async () => {
    await keep('acme', 30);
    await fill();
    const { slices, accounts } = await run(laterMs);
    expect(slices).toEqual([]);
    expect(accounts).toMatchObject([{ accountID: 'acme', events: 8, devices: 1 }]);
    expect((await stored()).filter((key) => key.startsWith('r'))).toHaveLength(21);
    // Who keeps for ever, but has nothing in it, keeps nothing of it.
    await db.write([sql`DELETE FROM events WHERE device_no = ${rival}`]);
    expect((await run(laterMs)).slices).toMatchObject([{ sliceNo: 1, became: 'retired' }]);
  });

  test('that will go in time keeps its rows until then; one that would go too late loses them one by one', async () => {
    await keep('acme', 30);
    await keep('rival', 30);
    await fill();
    // A week after the first event is past the limit the whole slice is.
    expect((await run(startMs + 33 * dayMs)).accounts).toMatchObject([{ events: 0 }, { events: 0 }]);
    await keep('rival', 60);
    expect((await run(startMs + 33 * dayMs)).accounts).toMatchObject([{ events: 3 }, { events: 0 }]);
    // A limit of two days is never exceeded by a week.
    await keep('acme', 2);
    await keep('rival', 2);
    expect((await run(startMs + 5.5 * dayMs)).accounts).toMatchObject([{ events: 1 }, { events: 4 }]);
  });

  test('with an event that belongs to later, or came in late, stays until that is past too', async () => {
    await keep('acme', 30);
    await keep('rival', 30);
    await storeEvents(db, [
      { deviceNo: truck, boot: 'b', seq: 1, timestampMs: startMs + 20 * dayMs, receivedMs: startMs },
    ]);
    await openNextSlice(db, startMs + 7 * dayMs);
    expect((await run(startMs + 45 * dayMs)).slices).toEqual([]);
    expect((await run(startMs + 130 * dayMs)).slices).toMatchObject([{ sliceNo: 1 }]);
  });

  test('that a wrong clock hid comes back whole when the clock is right again', async () => {
    await keep('acme', 30);
    await keep('rival', 30);
    await fill();
    await run(startMs + 900 * dayMs);
    expect(await sliceNos()).toEqual(['1 retired', '2 retired', '3 retired', '4 open']);
    await run(startMs + 25 * dayMs);
    expect(await sliceNos()).toEqual(['1 closed', '2 closed', '3 closed', '4 open']);
    expect(await stored()).toHaveLength(42);
  });

  test('is dropped in the end wherever the work was stopped, and nothing else is', async () => {
    await keep('acme', 30);
    await keep('rival', 30);
    await fill();
    await run(laterMs);
    for (let stopAt = 1; ; stopAt++) {
      let rests = 0;
      const rest = () => {
        rests += 1;
        return rests >= stopAt ? Promise.reject(new Error('stopped')) : Promise.resolve();
      };
      const isStopped = await run(laterMs + hourMs, { rest }).then(
        () => false,
        () => true,
      );
      if (!isStopped) break;
      expect(stopAt).toBeLessThan(20);
      expect((await stored()).filter((key) => !/^[wr]0/.test(key))).toHaveLength(28);
    }
    expect(await sliceNos()).toEqual(['2 closed', '3 closed', '4 open']);
    expect(await sliceTables()).toEqual(['events_2', 'events_3', 'events_4']);
  });
});

describe('a reader', () => {
  const everything = {
    scope,
    fromMs: 0,
    toMs: startMs + 999 * dayMs,
    plausibleMs: Number.MAX_SAFE_INTEGER,
  } as const;
  const rangeOf = async (): Promise<KeyRange> => ({
    ...everything,
    after: null,
    sinceNo: 0,
    upToNo: await lastEventNo(db),
  });
  const dropFirst = async () => {
    await run(laterMs);
    await run(laterMs + hourMs);
    expect(await sliceTables()).not.toContain('events');
  };
  const restOf = async <T>(stream: AsyncGenerator<readonly T[]>): Promise<readonly T[]> => {
    const found: T[] = [];
    for await (const page of stream) found.push(...page);
    return found;
  };

  beforeEach(async () => {
    await keep('acme', 30);
    await keep('rival', 30);
    await fill();
  });

  test.each([
    {
      name: 'keys of a device',
      open: (range: KeyRange): KeyStream => deviceKeys(db, { ...range, deviceID: 'truck-1' }, null),
    },
    { name: 'keys by code', open: (range: KeyRange): KeyStream => codesKeys(db, range, [panic]) },
  ])(
    'of $name continues when a slice is dropped meanwhile: its rows are missing, and there is no error',
    async ({ open }) => {
      const early = open(await rangeOf());
      const late = open(await rangeOf());
      // The one has read of the slice before it went, the other knows of it and comes too late.
      expect((await early.next()).value?.[0]).toMatchObject({ timestampMs: startMs });
      const looked = watchOnce(late);
      await dropFirst();
      expect(await restOf(early)).toHaveLength(14);
      expect(await looked()).toBeLessThanOrEqual(21);
    },
  );

  /** Starts a stream without waiting for it; gives how much it found. */
  function watchOnce(stream: KeyStream): () => Promise<number> {
    const first = stream.next();
    return async () => {
      const { value } = await first;
      return (value?.length ?? 0) + (await restOf(stream)).length;
    };
  }

  test('of an export and of records continues when a slice is dropped meanwhile', async () => {
    const track = tripEvents(db, { scope, deviceID: 'truck-1', fromMs: 0, toMs: startMs + 99 * dayMs });
    await track.next();
    const numbers = Array.from({ length: 42 }, (_unused, at) => at + 1);
    const before = await eventRecords(db, scope, numbers);
    await dropFirst();
    expect(before).toHaveLength(21);
    expect((await restOf(track)).length).toBeGreaterThanOrEqual(14);
    expect(await eventRecords(db, scope, numbers)).toHaveLength(14);
  });

  test('whose list of slices is from before the drop gets nothing of it, but learns of every other fault', async () => {
    const { readSlice } = await import('../../broker/store/slices/slices.ts');
    await dropFirst();
    expect(await readSlice(db, 1, sql`SELECT * FROM events`)).toEqual([]);
    await expect(readSlice(db, 2, sql`SELECT * FROM events`)).rejects.toMatchObject({ code: 'storage' });
  });
});

test.skipIf(isOnPostgres)('the figures show all slices as one table', async () => {
  await fill();
  const sizes = await sqliteTableSizes(db);
  expect(sizes.filter(({ table }) => table.startsWith('events'))).toMatchObject([
    { table: 'events', rows: 42 },
  ]);
});
