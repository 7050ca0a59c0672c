// Exactly once over the seam: whatever is committed, told to the hub late, read, broken off and resumed in whichever
// order, a reader gets every event of his account that is not routine, once and in order. Real store, hub and streams.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { projectBatch } from '../../broker/core/projection.ts';
import { createEventPlanner } from '../../broker/event-plan.ts';
import type { Committed } from '../../broker/ingest.ts';
import { createLiveHub } from '../../broker/live/hub.ts';
import { insertUser } from '../../broker/store/accounts.ts';
import type { DeviceRef } from '../../broker/store/devices.ts';
import { wholeAccount } from '../../broker/store/scope.ts';
import type { FleetEvent } from '../../src/core/event.ts';
import { toRanges } from '../../src/core/wire.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  createBenchLog,
  openBenchDatabase,
  startMs,
} from '../support/broker-bench.ts';
import { parseMessages } from '../support/event-stream.ts';

const caller = {
  accountID: 'acme',
  userID: 'ann',
  role: 'viewer',
  tokenHash: 'hash',
  scope: wholeAccount('acme'),
} as const;

async function createBench() {
  const db = await openBenchDatabase();
  const clock = createBenchClock();
  const devices = [
    await addDevice(db, 'acme', 'truck-1'),
    await addDevice(db, 'acme', 'truck-2'),
    await addDevice(db, 'rival', 'truck-1'),
  ] as const;
  const atS = Math.floor(startMs / 1000);
  await db.write([
    insertUser({ accountID: 'acme', userID: 'ann', passwordHash: 'x', role: 'viewer', createdS: 1 }),
    sql`INSERT INTO sessions (token_hash, token_id, account_id, user_id, created_s, last_used_s)
      VALUES ('hash', 'id', 'acme', 'ann', ${atS}, ${atS})`,
  ]);
  let tell: (committed: Committed) => void = () => undefined;
  const hub = createLiveHub({
    db,
    clock,
    log: createBenchLog(),
    onCommitted: (listener) => {
      tell = listener;
      return () => undefined;
    },
  });
  const planner = createEventPlanner(db);
  let seq = 0;
  /** Committed, and not told yet. */
  const untold: Committed[] = [];
  return {
    hub,
    clock,
    db,
    devices,
    /** Stores a payload; gives its events as `<device>:<seq>`. */
    async commit(device: DeviceRef, codes: readonly number[]): Promise<string[]> {
      const events: FleetEvent[] = codes.map((statusCode) => ({
        seq: ++seq,
        timestamp: clock.utcMs(),
        upMs: null,
        timeQuality: 'gnss',
        statusCode,
        latitude: seq,
        longitude: 1,
      }));
      const receivedMs = clock.utcMs();
      const projection = projectBatch({ boot: 'b', events }, receivedMs);
      const ranges = toRanges(events.map((event) => event.seq));
      const plan = await planner.plan([
        { deviceNo: device.deviceNo, boot: 'b', events, ranges, projection, receivedMs, also: [] },
      ]);
      const [outcome] = plan.settle(await db.write(plan.batch));
      const eventNos = outcome?.kind === 'stored' ? outcome.eventNos : expect.fail('not stored');
      untold.push({ device, boot: 'b', fresh: events, eventNos, receivedMs, projection });
      return events.filter(({ statusCode }) => statusCode !== 61472).map((event) => `b:${event.seq}`);
    },
    /** The hub hears of the oldest commit that it has not heard of. */
    tellOne: () => {
      const next = untold.shift();
      if (next !== undefined) tell(next);
    },
    isTold: () => untold.length === 0,
  };
}

type Bench = Awaited<ReturnType<typeof createBench>>;

/** A client that remembers what it saw and where it stands. */
function createClient({ hub }: Bench) {
  const seen: string[] = [];
  let lastId: number | null = null;
  let text = '';
  let iterator: AsyncIterator<string> | null = null;
  let reading: Promise<void> | null = null;
  const take = (part: string) => {
    text += part;
    for (const { event, data } of parseMessages(part))
      if (event === 'event') seen.push(String(data['eventID']));
    for (const match of part.matchAll(/^id: (\d+)$/gm)) lastId = Number(match[1]);
  };
  const read = async (from: AsyncIterator<string>): Promise<void> => {
    const result = await from.next();
    reading = null;
    if (result.done !== true) take(result.value);
  };
  return {
    seen,
    text: () => text,
    async open(): Promise<void> {
      if (iterator !== null) return;
      const wishes = { deviceIDs: null, codes: null, hasDevices: true };
      iterator = (await hub.open({ caller, after: lastId, ...wishes }))[Symbol.asyncIterator]();
    },
    /** Asks for one more piece; it may come much later. */
    pull(): void {
      if (iterator === null || reading !== null) return;
      reading = read(iterator);
    },
    isReading: () => reading !== null,
    async close(): Promise<void> {
      const closing = iterator;
      iterator = null;
      await closing?.return?.();
      await reading;
    },
  };
}

type Step =
  | { readonly do: 'commit'; readonly device: number; readonly codes: readonly number[] }
  | { readonly do: 'tell' | 'open' | 'pull' | 'close' | 'turn' | 'beat' };

const simple = (name: 'tell' | 'open' | 'pull' | 'close' | 'turn' | 'beat'): fc.Arbitrary<Step> =>
  fc.constant({ do: name });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      device: fc.nat(2),
      codes: fc.array(fc.constantFrom(61472, 63553, 62465), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: simple('tell') },
  { weight: 2, arbitrary: simple('open') },
  { weight: 5, arbitrary: simple('pull') },
  { weight: 1, arbitrary: simple('close') },
  { weight: 3, arbitrary: simple('turn') },
  { weight: 1, arbitrary: simple('beat') },
);

describe('a live stream', () => {
  it('tells every event once, over any order of commits, reads, breaks and resumptions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const bench = await createBench();
        const client = createClient(bench);
        await client.open();
        client.pull();
        // The first hello fixes where the reader begins.
        while (client.isReading()) await turn();
        const expected: string[] = [];
        for (const one of steps) {
          if (one.do === 'commit') {
            const device = bench.devices[one.device] ?? bench.devices[0];
            const events = await bench.commit(device, one.codes);
            if (device.accountID === 'acme') expected.push(...events);
          } else if (one.do === 'tell') bench.tellOne();
          else if (one.do === 'open') await client.open();
          else if (one.do === 'pull') client.pull();
          else if (one.do === 'close') await client.close();
          else if (one.do === 'turn') await turn();
          else bench.clock.advance(1000);
        }
        while (!bench.isTold()) bench.tellOne();
        await client.open();
        for (let pulls = 0, idle = 0; pulls < 1000 && idle < 10; pulls++) {
          client.pull();
          await turn();
          idle = client.isReading() ? idle + 1 : 0;
        }
        expect(client.seen).toEqual(expected);
        await client.close();
        expect(bench.hub.count()).toBe(0);
        bench.hub.close();
        await bench.db.close();
      }),
      { numRuns: 150 },
    );
  });

  it('wakes a reader that waits when it ends, and gives its place back', async () => {
    const bench = await createBench();
    const wishes = { deviceIDs: null, codes: null, hasDevices: true };
    const iterator = (await bench.hub.open({ caller, after: null, ...wishes }))[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    await turn();
    bench.hub.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(bench.hub.count()).toBe(0);
    await expect(bench.hub.open({ caller, after: null, ...wishes })).rejects.toMatchObject({
      code: 'unavailable',
    });
    await bench.db.close();
  });

  it('says something every 15 seconds, with a resume point that is never behind', async () => {
    const bench = await createBench();
    const client = createClient(bench);
    await client.open();
    await bench.commit(bench.devices[0], [63553]);
    bench.tellOne();
    for (let second = 0; second < 16; second++) {
      client.pull();
      bench.clock.advance(1000);
      for (let times = 0; times < 10; times++) await turn();
    }
    expect(client.text()).toContain(': keep-alive\nid: 1\n\n');
    await client.close();
    bench.hub.close();
    await bench.db.close();
  });
});
