// What the broker does with payloads of events, over a real SQLite: nothing acknowledged before it is stored, nothing
// lost that cannot be read, and the same tables whatever the order of arrival.
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { createIngest } from '../../broker/ingest/ingest.ts';
import type { Committed } from '../../broker/ports/committed.ts';
import { createGroupCommit } from '../../broker/scheduling/group-commit.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { deviceStates, findDevice } from '../../broker/store/devices/devices.ts';
import { eventsInRange, latestEvents } from '../../broker/store/events/events.ts';
import { listQuarantine, quarantineMost } from '../../broker/store/events/quarantine.ts';
import { AppError } from '../../src/core/errors.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import { ddl } from '../../src/migrate.ts';
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  advanceUntilSettled,
  createBenchClock,
  createBenchLog,
  jsonBytes,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';
import { countQuarantine } from '../support/database/store-rows.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A database whose writes can be made to fail. */
function faulty(db: Database) {
  const faults = { next: null as ((batch: readonly Statement[]) => Error | null) | null };
  const wrapped: Database = {
    ...db,
    write: async (batch) => {
      const error = faults.next?.(batch) ?? null;
      if (error !== null) throw error;
      return db.write(batch);
    },
  };
  return { db: wrapped, faults };
}

async function bench() {
  const real = await openBenchDatabase();
  const { db, faults } = faulty(real);
  const clock = createBenchClock();
  const log = createBenchLog();
  const commits = createGroupCommit({ db, clock, log });
  const committed: Committed[] = [];
  const ingest = createIngest({ db, commits, clock, log, onCommitted: (item) => void committed.push(item) });
  const device = await addDevice(real, 'acme', 'truck-1');
  closers.push(async () => {
    await advanceUntilSettled(clock, ingest.close());
    await advanceUntilSettled(clock, commits.close());
    await real.close();
  });
  const submit = (payload: Uint8Array, of: DeviceRef = device) =>
    advanceUntilSettled(clock, ingest.submit(of, payload));
  const events = () =>
    eventsInRange(db, {
      scope: wholeAccount('acme'),
      deviceID: null,
      fromMs: 0,
      toMs: Number.MAX_SAFE_INTEGER,
      statusCodes: null,
      after: null,
      limit: 10_000,
    });
  const row = async () => (await findDevice(db, device)) ?? expect.fail('no device');
  const states = async () =>
    Object.fromEntries(
      [...(await deviceStates(db, device.deviceNo))].map(([name, { state }]) => [name, state]),
    );
  return { db, real, faults, clock, log, commits, committed, ingest, device, submit, events, row, states };
}

const event = (seq: number, changes: Partial<FleetEvent> = {}) => ({
  seq,
  timestamp: startMs - 1_000_000 + seq * 1000,
  statusCode: 61472,
  latitude: 43 + seq / 1000,
  longitude: -79,
  speed: seq,
  ...changes,
});
const batch = (boot: string, ...events: readonly object[]) => jsonBytes({ boot, events });

describe('a payload of events', () => {
  test('is stored and acknowledged by exact ranges and by the contiguous prefix', async () => {
    const { submit, events } = await bench();
    const first = await submit(batch('b1', event(1), event(2), event(4)));
    expect(first).toMatchObject({
      kind: 'stored',
      ack: {
        boot: 'b1',
        upTo: 2,
        ranges: [
          [1, 2],
          [4, 4],
        ],
      },
    }); // prettier-ignore
    const second = await submit(batch('b1', event(6), event(3)));
    expect(second).toMatchObject({
      ack: {
        upTo: 4,
        ranges: [
          [3, 3],
          [6, 6],
        ],
      },
    }); // prettier-ignore
    const third = await submit(batch('b1', event(5)));
    expect(third).toMatchObject({ ack: { upTo: 6 } });
    expect((await events()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('may come again: it changes nothing and is acknowledged again', async () => {
    const { submit, events, committed, ingest } = await bench();
    await submit(batch('b1', event(1), event(2)));
    const again = await submit(batch('b1', event(1), event(2)));
    expect(again).toMatchObject({ kind: 'stored', fresh: [], ack: { upTo: 2, ranges: [[1, 2]] } });
    expect(await events()).toHaveLength(2);
    expect(committed.map(({ fresh }) => fresh.length)).toEqual([2, 0]);
    expect(ingest.counts()).toMatchObject({
      payloads: 2,
      events: 2,
      duplicates: 2,
      quarantined: 0,
      failures: 0,
    });
  });

  test('in protobuf is the same as in JSON', async () => {
    const { submit, events } = await bench();
    const one: FleetEvent = { ...event(1), upMs: 5000, timeQuality: 'gnss', inputs: { ignition: true } };
    const { payload } = encodeProtobuf('b1', [one]);
    expect(await submit(payload)).toMatchObject({ kind: 'stored', ack: { upTo: 1 } });
    const [stored] = await events();
    expect(stored).toMatchObject({
      boot: 'b1',
      seq: 1,
      timestampMs: one.timestamp,
      latitude: 43.001,
      upMs: 5000,
    });
    expect(stored?.inputs).toEqual({ ignition: true });
  });

  test('as a bare event is de-duplicated by device, timestamp and status code', async () => {
    const { submit, events, device, real } = await bench();
    const bare = { timestamp: startMs / 1000, statusCode: 62465 };
    expect(await submit(jsonBytes(bare))).toMatchObject({ kind: 'stored', ack: null });
    await submit(jsonBytes(bare));
    await submit(jsonBytes({ ...bare, statusCode: 62467 }));
    const other = await addDevice(real, 'acme', 'truck-2');
    await submit(jsonBytes(bare), other);
    const stored = await events();
    expect(stored.filter(({ deviceNo }) => deviceNo === device.deviceNo)).toHaveLength(2);
    expect(stored).toHaveLength(3);
  });

  test('without a known time is stored at the time of receipt and moves neither position nor known states', async () => {
    const { submit, events, row, states } = await bench();
    await submit(batch('b1', event(1, { inputs: { ignition: true } })));
    const unknown: FleetEvent = {
      ...event(2, { latitude: 10, inputs: { ignition: false, tamper: true } }),
      timestamp: null,
      upMs: 7,
      timeQuality: 'none',
    };
    await submit(encodeProtobuf('b1', [unknown]).payload);
    const stored = (await events()).find(({ seq }) => seq === 2);
    expect(stored?.timestampMs).toBeGreaterThanOrEqual(startMs);
    expect(stored?.timeQuality).toBe('none');
    expect((await row()).latitude).toBe(43.001);
    expect(await states()).toMatchObject({ ignition: '1', tamper: '1' });
  });
});

describe('the present of a device', () => {
  test('only moves forward: backlog behind newer events changes nothing', async () => {
    const { submit, row, states } = await bench();
    await submit(batch('b1', event(9, { inputs: { panic: true }, fuelLevel: 0.5, odometer: 100 })));
    await submit(
      batch('b1', event(3, { inputs: { panic: false, ignition: true }, fuelLevel: 0.9, odometer: 90 })),
    );
    expect(await row()).toMatchObject({ latitude: 43.009, speed: 9, fuelLevel: 0.5, odometer: 100 });
    expect(await states()).toMatchObject({ panic: '1', ignition: '1', fuel: '0.5' });
  });

  test('takes relays as read back, and what a status code alone implies', async () => {
    const { submit, states } = await bench();
    await submit(batch('b1', event(1, { outputs: { enginecutoff: true, cargoaccess: false } })));
    expect(await states()).toMatchObject({ enginecutoff: '1', cargoaccess: '0' });
    await submit(jsonBytes({ timestamp: startMs / 1000, statusCode: 63681 }));
    await submit(jsonBytes({ timestamp: startMs / 1000, statusCode: 62465 }));
    expect(await states()).toMatchObject({ enginecutoff: '0', ignition: '1' });
  });

  test('a time more than a day ahead is stored as it is and moves nothing', async () => {
    const { submit, row, events, log } = await bench();
    await submit(batch('b1', event(1)));
    await submit(batch('b1', event(2, { timestamp: startMs + 2 * 86_400_000, latitude: 1 })));
    expect((await row()).latitude).toBe(43.001);
    expect((await events()).at(-1)?.timestampMs).toBe(startMs + 2 * 86_400_000);
    expect(log.lines.some(({ event }) => event === 'event_time_ahead')).toBe(true);
  });

  test('what a clock some hours ahead left behind yields to the next right time, not hours later', async () => {
    const { submit, row, states } = await bench();
    const ahead = {
      timestamp: startMs + 23 * 3_600_000,
      latitude: 1,
      inputs: { panic: true },
      fuelLevel: 0.1,
    };
    await submit(batch('b1', event(1, ahead)));
    expect(await row()).toMatchObject({ latitude: 1, fuelLevel: 0.1 });
    expect(await states()).toMatchObject({ panic: '1' });
    const right = { timestamp: startMs + 1000, latitude: 2, inputs: { panic: false }, fuelLevel: 0.9 };
    await submit(batch('b1', event(2, right)));
    expect(await row()).toMatchObject({ latitude: 2, fuelLevel: 0.9, fixMs: startMs + 1000 });
    expect(await states()).toMatchObject({ panic: '0' });
    await submit(batch('b1', event(3, { ...right, timestamp: startMs, latitude: 3 })));
    expect((await row()).latitude).toBe(2);
  });

  test('people aboard and the last diagnosis are the newest that the vehicle said, and only what it said', async () => {
    const { submit, real } = await bench();
    const read = async () =>
      (await real.read(ddl('SELECT passengers, passengers_ms, diagnostic, diagnostic_ms FROM devices')))[0];
    const nothing = { passengers: null, passengers_ms: 0, diagnostic: null, diagnostic_ms: 0 };
    const of = (seq: number, statusCode: number, attributes?: FleetEvent['attributes']) =>
      event(seq, { statusCode, ...(attributes === undefined ? {} : { attributes }) });
    const wrong = [-1, 1.5, 10_001, '3', null, true].map((passengers, index) =>
      of(index + 1, 63532, { passengers }),
    );
    await submit(batch('b1', ...wrong, of(20, 63533), of(21, 61472, { passengers: 4 }), of(22, 64816)));
    expect(await read()).toEqual(nothing);
    await submit(batch('b1', of(40, 63533, { passengers: 2 }), of(41, 64816, { queueDepth: 7, gps: 'ok' })));
    await submit(batch('b1', of(30, 63532, { passengers: 3 }), of(31, 64816, { queueDepth: 9 })));
    expect(await read()).toEqual({
      passengers: 2,
      passengers_ms: startMs - 1_000_000 + 40_000,
      diagnostic: '{"queueDepth":7,"gps":"ok"}',
      diagnostic_ms: startMs - 1_000_000 + 41_000,
    });
  });

  test('the heartbeat is the time of receipt', async () => {
    const { submit, row, clock } = await bench();
    clock.setUtc(startMs + 5000);
    await submit(batch('b1', event(1)));
    expect((await row()).heartbeatMs).toBeGreaterThanOrEqual(startMs + 5000);
  });
});

describe('what cannot be read', () => {
  test('is kept, counted and shown; the device is not refused', async () => {
    const { submit, db, device, ingest } = await bench();
    const payload = new TextEncoder().encode('{"nonsense":');
    expect(await submit(payload)).toEqual({ kind: 'quarantined', reason: 'not JSON in UTF-8' });
    expect(await countQuarantine(db, device)).toBe(1);
    const [kept] = await listQuarantine(db, { ...device, limit: 10 });
    expect(kept).toMatchObject({ topic: 'fleet/v1/acme/truck-1/events', reason: 'not JSON in UTF-8' });
    expect(kept?.payload).toEqual(payload);
    expect(ingest.counts().quarantined).toBe(1);
    expect(await countQuarantine(db, { accountID: 'rival', deviceID: 'truck-1' })).toBe(0);
  });

  test('costs its own event: a batch is stored without it, and it alone is kept', async () => {
    const { submit, events, states, db, device, ingest } = await bench();
    const panic = event(2, { statusCode: 63_553 });
    const sent = batch(
      'b1',
      event(1),
      panic,
      { ...event(3), statusCode: 0 },
      { seq: 4 },
      { ...event(5), speed: null, battery: 7 },
    );
    expect(await submit(sent)).toMatchObject({
      kind: 'stored',
      ack: {
        boot: 'b1',
        upTo: 2,
        ranges: [
          [1, 2],
          [5, 5],
        ],
      },
    }); // prettier-ignore
    expect((await events()).map(({ seq, speed }) => [seq, speed])).toEqual([
      [1, 1],
      [2, 2],
      [5, null],
    ]); // prettier-ignore
    expect(await states()).toMatchObject({ panic: '1' });
    const kept = await listQuarantine(db, { ...device, limit: 10 });
    expect(kept).toMatchObject([
      { reason: expect.stringContaining('events[2]: statusCode must be an integer from') },
    ]);
    const payload = JSON.parse(new TextDecoder().decode(kept[0]?.payload)) as { events: { seq: number }[] };
    expect(payload.events.map(({ seq }) => seq)).toEqual([3, 4]);
    // Sent again, as it is after a lost acknowledgement: nothing is kept twice.
    expect(await submit(sent)).toMatchObject({ kind: 'stored', fresh: [] });
    expect(await countQuarantine(db, device)).toBe(1);
    expect(ingest.counts()).toMatchObject({ events: 3, quarantined: 2, failures: 0 });
  });

  test('is not acknowledged when the quarantine is full, and nothing falls out of it; what can be read is stored', async () => {
    const { submit, db, real, device, events, ingest, log } = await bench();
    await real.write([
      sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${quarantineMost})
        INSERT INTO quarantine (device_no, topic, received_ms, reason, bytes, payload)
        SELECT ${device.deviceNo}, 't', i, 'r', 8, CAST(printf('%08d', i) AS BLOB) FROM n`,
    ]);
    const full = { code: 'conflict', message: expect.stringContaining('quarantine of acme/truck-1 is full') };
    await expect(submit(jsonBytes('bad'))).rejects.toMatchObject(full);
    await expect(submit(batch('b1', event(1), { seq: 2 }))).rejects.toMatchObject(full);
    expect((await events()).map(({ seq }) => seq)).toEqual([1]);
    expect(await submit(batch('b1', event(3)))).toMatchObject({ kind: 'stored' });
    // What is in it already is on disk.
    expect(await submit(new TextEncoder().encode('00000007'))).toMatchObject({ kind: 'quarantined' });
    expect(await countQuarantine(db, device)).toBe(quarantineMost);
    expect(ingest.counts()).toMatchObject({ failures: 2 });
    expect(log.lines.map(({ event: name }) => name)).toContain('quarantine_full');
    await real.write([sql`DELETE FROM quarantine WHERE received_ms = 1`]);
    expect(await submit(jsonBytes('bad'))).toMatchObject({ kind: 'quarantined' });
  });

  test('of a deleted device is neither stored nor called stored', async () => {
    const { submit, device } = await bench();
    const gone = { ...device, deviceNo: 4711 };
    expect(await submit(batch('b1', event(1)), gone)).toEqual({ kind: 'gone' });
    expect(await submit(new TextEncoder().encode('bad'), gone)).toEqual({ kind: 'gone' });
  });
});

describe('when the database fails', () => {
  const broken = (): AppError =>
    new AppError('storage', 'disk', {
      cause: Object.assign(new Error('disk'), { code: 'SQLITE_IOERR_WRITE' }),
    });

  test('nothing is called stored; the same payload is stored when it comes again', async () => {
    const { submit, faults, events, committed, ingest } = await bench();
    faults.next = () => broken();
    await expect(submit(batch('b1', event(1)))).rejects.toMatchObject({ code: 'storage' });
    expect(committed).toHaveLength(0);
    expect(ingest.counts().failures).toBe(1);
    faults.next = null;
    expect(await submit(batch('b1', event(1)))).toMatchObject({ kind: 'stored', ack: { upTo: 1 } });
    expect(await events()).toHaveLength(1);
  });

  test('one payload that it finds fault with fails alone and is quarantined', async () => {
    const { ingest, clock, device, faults, events, db } = await bench();
    faults.next = (statements) => {
      const isPoison = statements.some(({ rows }) =>
        rows?.columns.some(
          (column) => column.name === 'status_code' && 'numbers' in column && column.numbers.includes(66),
        ),
      );
      const cause = Object.assign(new Error('CHECK failed'), { code: 'SQLITE_CONSTRAINT_CHECK' });
      return isPoison ? new AppError('storage', 'CHECK failed', { cause }) : null;
    };
    const outcomes = await advanceUntilSettled(
      clock,
      Promise.all(
        [1, 2, 3].map((seq) => ingest.submit(device, batch('b1', event(seq, { statusCode: 64 + seq })))),
      ),
    );
    expect(outcomes.map(({ kind }) => kind)).toEqual(['stored', 'quarantined', 'stored']);
    expect((await events()).map(({ seq }) => seq)).toEqual([1, 3]);
    expect(await countQuarantine(db, device)).toBe(1);
  });

  test('a dead store is not tried once for every payload that waits', async () => {
    const { ingest, clock, device, faults } = await bench();
    let tries = 0;
    faults.next = () => {
      tries += 1;
      return broken();
    };
    const all = Array.from({ length: 50 }, (_unused, index) =>
      ingest.submit(device, batch('b1', event(index + 1))),
    );
    const outcomes = await advanceUntilSettled(clock, Promise.allSettled(all));
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
    expect(tries).toBeLessThan(10);
  });
});

test('payloads that come together share a commit and are answered in order of arrival', async () => {
  const { ingest, clock, device, faults } = await bench();
  let commits = 0;
  faults.next = () => {
    commits += 1;
    return null;
  };
  const order: number[] = [];
  const all = Array.from({ length: 40 }, (_unused, index) =>
    ingest
      .submit(device, index % 5 === 0 ? jsonBytes('bad') : batch('b1', event(index + 1)))
      .then(() => order.push(index)),
  );
  await advanceUntilSettled(clock, Promise.all(all));
  expect(order).toEqual([...order].sort((a, b) => a - b));
  expect(commits).toBe(1);
});

test('a listener that throws does not hold up the acknowledgement', async () => {
  const { db, commits, clock, device } = await bench();
  const log = createBenchLog();
  const ingest = createIngest({
    db,
    commits,
    clock,
    log,
    onCommitted: () => {
      throw new Error('listener');
    },
  });
  expect(await advanceUntilSettled(clock, ingest.submit(device, batch('b1', event(1))))).toMatchObject({
    kind: 'stored',
  });
  expect(log.lines.at(-1)?.event).toBe('commit_listener_failed');
});

test('reads of events stay within the account and the limit', async () => {
  const { submit, real, db } = await bench();
  const rival = await addDevice(real, 'rival', 'truck-1');
  await submit(batch('b1', event(1), event(2), event(3)));
  await submit(batch('canary', event(1)), rival);
  const scope = wholeAccount('acme');
  const range = { fromMs: 0, toMs: startMs, statusCodes: [61472], after: null, limit: 2 } as const;
  const first = await eventsInRange(db, { ...range, scope, deviceID: 'truck-1' });
  expect(first.map(({ boot, seq }) => [boot, seq])).toEqual([
    ['b1', 1],
    ['b1', 2],
  ]); // prettier-ignore
  const last = first.at(-1) ?? expect.fail('empty');
  const next = await eventsInRange(db, { ...range, scope, deviceID: null, after: last });
  expect(next.map(({ seq }) => seq)).toEqual([3]);
  expect(await eventsInRange(db, { ...range, statusCodes: [], scope, deviceID: null })).toEqual([]);
  expect((await latestEvents(db, { scope, deviceID: 'truck-1' }, 2)).map(({ seq }) => seq)).toEqual([3, 2]);
  expect(await latestEvents(db, { scope: wholeAccount('nobody'), deviceID: 'truck-1' }, 2)).toEqual([]);
});

describe('any order and duplication of the same batches', () => {
  const eventArbitrary = fc.record(
    {
      timestamp: fc.integer({ min: 0, max: 5 }).map((step) => startMs - 100_000 + step * 1000),
      statusCode: fc.constantFrom(61472, 62465, 62467, 63532, 63533, 63534, 63553, 63554, 64816),
      attributes: fc.record({ passengers: fc.integer({ min: 0, max: 9 }) }),
      fuelLevel: fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10),
      odometer: fc.integer({ min: 0, max: 1000 }),
      speed: fc.integer({ min: 0, max: 90 }),
      latitude: fc.integer({ min: -90, max: 90 }),
      inputs: fc.record({ ignition: fc.boolean(), panic: fc.boolean() }, { requiredKeys: [] }),
      commandState: fc.constantFrom('received', 'armed', 'executing', 'unknown', 'confirmed', 'refused'),
      future: fc.boolean(),
    },
    { requiredKeys: ['timestamp', 'statusCode'] },
  );
  const scenario = fc
    .array(fc.tuple(fc.constantFrom('b1', 'b2'), fc.array(eventArbitrary, { minLength: 1, maxLength: 6 })), {
      minLength: 1,
      maxLength: 6,
    })
    .chain((batches) => {
      const next: Record<string, number> = {};
      const payloads = batches.map(([boot, events]) =>
        batch(
          boot,
          ...events.map(({ latitude, commandState, future, ...rest }) => {
            const seq = (next[boot] ?? 0) + 1;
            next[boot] = seq;
            const position = latitude === undefined ? {} : { latitude, longitude: 7 };
            const command = commandState === undefined ? {} : { commandID: 'c1', commandState };
            const time = future === true ? { timestamp: startMs + 3 * 86_400_000 } : {};
            return { seq, ...rest, ...time, ...position, ...command };
          }),
        ),
      );
      const indices = payloads.map((_payload, index) => index);
      const orders = fc.tuple(
        fc.shuffledSubarray(indices, { minLength: indices.length }),
        fc.array(fc.constantFrom(...indices), { maxLength: 5 }),
      );
      return orders.map(([order, repeats]) => ({ payloads, order: [...order, ...repeats] }));
    });

  async function tablesAfter(payloads: readonly Uint8Array[], order: readonly number[]) {
    const { real, submit, device } = await bench();
    await real.write([
      sql`INSERT INTO commands (command_id, device_no, feature, state, reason, issuer, issued_ms, expires_ms,
        command_state, state_rank, updated_ms)
        VALUES ('c1', ${device.deviceNo}, 'enginecutoff', '1', '', '', 0, ${startMs * 2}, 'sent', 1, 0)`,
    ]);
    for (const index of order) await submit(payloads[index] ?? expect.fail('no payload'));
    const read = (text: string) => real.read(ddl(text));
    return {
      device: await read(
        `SELECT fix_ms, fix_tie, latitude, longitude, speed, odometer, fuel_level, fuel_ms, passengers, passengers_ms,
          diagnostic, diagnostic_ms FROM devices`,
      ),
      // How far the clock was ahead goes by the time of receipt, as that of the record is wrong.
      states: await read(
        "SELECT name, state, changed_ms FROM device_states WHERE name <> 'clock.ahead' ORDER BY name",
      ),
      boots: await read('SELECT boot, up_to FROM boots ORDER BY boot'),
      commands: await read('SELECT command_state, state_rank, is_final, reported_ms FROM commands'),
      events:
        await read(`SELECT boot, seq, timestamp_ms, status_code, latitude, fuel_level, inputs, command_state
        FROM events ORDER BY boot, seq`),
    };
  }

  test('ends in the same tables', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ payloads, order }) => {
        const straight = await tablesAfter(
          payloads,
          payloads.map((_payload, index) => index),
        );
        expect(await tablesAfter(payloads, order)).toEqual(straight);
        for (const close of closers.splice(0)) await close();
      }),
      { numRuns: 60 },
    );
  });
});
