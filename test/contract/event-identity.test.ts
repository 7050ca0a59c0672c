// Which events count as the same: a tracker may begin again at 1 under the same boot, send two things in one second, or repeat what
// is stored. Whatever says something new is stored and changes states; a repeat is stored once; what is not stored changes nothing.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import { deviceStates } from '../../broker/store/devices/devices.ts';
import { eventsInRange } from '../../broker/store/events/events.ts';
import { openNext } from '../../broker/store/slices/slice-writing.ts';
import { encodeProtobuf } from '../../src/core/events/event-protobuf.ts';
import type { Database } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  jsonBytes,
  migrateWithAccounts,
  openBenchIngest,
  startMs,
} from '../support/broker/broker-bench.ts';
import { openTestDatabase } from '../support/database/test-database.ts';
import { startHttpService } from '../support/http/http-service.ts';

const [position, panic, cut] = [61472, 63553, 63680] as const;
const at = (s: number): number => startMs - 3_600_000 + s * 1000;

interface Sent {
  readonly seq: number;
  readonly timestamp: number;
  readonly statusCode: number;
  readonly latitude?: number;
  readonly longitude?: number;
}
const event = (seq: number, s: number, more: Partial<Sent> = {}): Sent => ({
  seq,
  timestamp: at(s),
  statusCode: position,
  latitude: 43,
  longitude: -79,
  ...more,
});
const batch = (...events: readonly object[]): Uint8Array => jsonBytes({ boot: 'b1', events });
const numbers = (count: number): readonly number[] =>
  Array.from({ length: count }, (_unused, index) => index + 1);
/** What the tracker sent before it started again. */
const firstRun = batch(...numbers(10).map((seq) => event(seq, seq)));

let db: Database;
let device: DeviceRef;
let closers: (() => Promise<void>)[] = [];
const clock = createBenchClock();

beforeEach(async () => {
  db = await migrateWithAccounts(await openTestDatabase());
  device = await addDevice(db, 'acme', 'truck-1');
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await db.close();
});

/** A process that knows nothing but the store. */
function openBridge() {
  const { counts, send, close } = openBenchIngest({ db, clock });
  closers.push(close);
  return { counts, send: (...payloads: readonly Uint8Array[]) => send(device, ...payloads) };
}

const stored = () =>
  eventsInRange(db, {
    scope: wholeAccount('acme'),
    deviceID: null,
    fromMs: 0,
    toMs: Number.MAX_SAFE_INTEGER,
    statusCodes: null,
    after: null,
    limit: 10_000,
  });
const states = async () => {
  return Object.fromEntries(
    [...(await deviceStates(db, device.deviceNo))].map(([name, { state }]) => [name, state]),
  );
};

/** Payloads under numbers that are stored, each of which says something new. */
const others: readonly (readonly [string, Uint8Array, number])[] = [
  [
    'ten events with new times, one of them a panic',
    batch(...numbers(10).map((seq) => event(seq, 100 + seq, { statusCode: seq === 4 ? panic : position }))),
    10,
  ],
  ['another code at the same time', batch(event(4, 4, { statusCode: panic })), 1],
  ['another place at the same time', batch(event(4, 4, { latitude: 44 })), 1],
  ['a time between those that are stored', batch(event(4, 5.5, { statusCode: panic })), 1],
  ['the time of another number', batch(event(4, 5, { latitude: 44 })), 1],
  [
    'a time before all of them, of a clock that was never set',
    batch(event(1, 0, { timestamp: 946_684_800_000, statusCode: panic })),
    1,
  ],
  ['a number twice in one payload', batch(event(11, 11), event(11, 12, { statusCode: panic })), 2],
  ['an engine that is cut', batch(event(2, 200, { statusCode: cut })), 1],
  [
    'the compact form with a boot that is a constant',
    encodeProtobuf('b1', [{ ...event(3, 300), upMs: 1, timeQuality: 'rtc', statusCode: panic }]).payload,
    1,
  ],
];

describe('an event whose number is stored', () => {
  test.each(others)('is stored when it says something else: %s', async (_name, payload, fresh) => {
    const bridge = openBridge();
    await bridge.send(firstRun);
    const [outcome] = await bridge.send(payload);
    expect(outcome).toMatchObject({
      kind: 'stored',
      fresh: { length: fresh },
      ack: { boot: 'b1', upTo: expect.any(Number) },
    });
    expect(await stored()).toHaveLength(10 + fresh);
    const events = await stored();
    const ids = events.map(({ boot, seq }) => `${boot}:${seq}`);
    expect(new Set(ids).size, 'every record has an id of its own').toBe(ids.length);
    // A state comes from a record, and every record from the newest time on has its state.
    const { panic: isPanic = '0', enginecutoff = '0' } = await states();
    expect(isPanic).toBe(events.some(({ statusCode }) => statusCode === panic) ? '1' : '0');
    expect(enginecutoff).toBe(events.some(({ statusCode }) => statusCode === cut) ? '1' : '0');
    // Again, over another process, both runs: repeats.
    const other = openBridge();
    expect(await other.send(payload, firstRun)).toMatchObject([{ fresh: [] }, { fresh: [] }]);
    expect(await bridge.send(firstRun, payload, payload)).toMatchObject([
      { fresh: [] },
      { fresh: [] },
      { fresh: [] },
    ]);
    expect(await stored()).toHaveLength(10 + fresh);
    expect(bridge.counts()).toMatchObject({ quarantined: 0 });
  });

  test('is found in flight too: both runs at once, and each of them twice, over two processes', async () => {
    const [one, two] = [openBridge(), openBridge()];
    const [, restart = new Uint8Array()] = others[0] ?? [];
    const sent = [firstRun, restart, firstRun, restart];
    await Promise.all([one.send(...sent), two.send(...sent)]);
    expect(await stored()).toHaveLength(20);
    expect(one.counts().reused + two.counts().reused).toBe(10);
  });

  test('that was removed since is a repeat, in every slice, and says nothing any more', async () => {
    const bridge = openBridge();
    await bridge.send(
      batch(...numbers(10).map((seq) => event(seq, seq, seq === 3 ? { statusCode: panic } : {}))),
    );
    await db.write(openNext(1, startMs));
    await bridge.send(batch(event(11, 11)));
    await db.write([
      sql`DELETE FROM events WHERE seq <= 5`,
      sql`DELETE FROM device_states WHERE name = 'panic'`,
    ]);
    for (const process of [bridge, openBridge()])
      expect(
        await process.send(
          batch(...numbers(11).map((seq) => event(seq, seq, seq === 3 ? { statusCode: panic } : {}))),
        ),
      ).toMatchObject([{ fresh: [], ack: { upTo: 11, ranges: [[1, 11]] } }]);
    expect(await stored()).toHaveLength(6);
    expect(await states()).not.toHaveProperty('panic', '1');
    expect(await bridge.send(batch(event(9, 9, { statusCode: panic })))).toMatchObject([
      { fresh: [{ seq: 9 }] },
    ]);
  });

  test('of an agent, whose boot is random and whose times are computed when they are sent, is a repeat by its number', async () => {
    const of = (s: number) =>
      encodeProtobuf('00112233aabbccdd', [{ ...event(1, s), upMs: 1000, timeQuality: 'gnss' }]).payload;
    const bridge = openBridge();
    await bridge.send(of(1), of(2), of(3));
    expect(await stored()).toHaveLength(1);
  });
});

describe('a bare event', () => {
  const bare = (more: object) => jsonBytes({ timestamp: at(0) / 1000, statusCode: position, ...more });

  test('is the same only when all of it is: five positions of one second are five records, whatever is repeated', async () => {
    const five = numbers(5).map((one) => bare({ latitude: 43 + one / 1000, longitude: -79 }));
    const [bridge, other] = [openBridge(), openBridge()];
    await Promise.all([bridge.send(...five, ...five), other.send(...five)]);
    await openBridge().send(...five);
    expect(await stored()).toHaveLength(5);
    const ids = (await stored()).map(({ boot, seq }) => `${boot}:${seq}`);
    expect(new Set(ids).size).toBe(5);
    await bridge.send(bare({ latitude: 43.001, longitude: -79, inputs: { ignition: true, panic: false } }));
    await bridge.send(bare({ longitude: -79, inputs: { panic: false, ignition: true }, latitude: 43.001 }));
    expect(await stored()).toHaveLength(6);
  });
});

test('a panic of a tracker that began again raises an alarm', async () => {
  const service = await startHttpService();
  try {
    await service.account('acme');
    await service.device('acme', 'truck-1');
    const token = await service.login('acme', 'admin');
    const boot = 'b1';
    const nowS = Math.floor(startMs / 1000);
    const sent = (seq: number, s: number, statusCode: number) => ({ seq, timestamp: nowS + s, statusCode });
    await service.events('acme', 'truck-1', { boot, events: [sent(1, 1, position), sent(2, 2, position)] });
    await service.events('acme', 'truck-1', { boot, events: [sent(1, 11, position), sent(2, 12, panic)] });
    const alarms = (await service.call({ path: '/api/v1/alarm/alarms/authorization', token })).json();
    expect(alarms['alarms']).toMatchObject([{ deviceID: 'truck-1', statusCode: panic }]);
  } finally {
    await service.close();
  }
});
