// Exactly once over the seam: whatever is committed, notified to the hub late, read, broken off and resumed in whichever
// order, a reader gets every event of its account that is not routine, once and in order. Real store, hub and streams. The same
// where two processes commit, whose hubs are notified late, or never, of what the other one did.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callerOf } from '../../broker/api/base/caller.ts';
import type { DeviceRef } from '../../broker/core/device-key.ts';
import { projectBatch } from '../../broker/core/events/projection.ts';
import { liveKinds } from '../../broker/core/live/live-kinds.ts';
import { createEventPlanner } from '../../broker/ingest/event-plan.ts';
import { createLiveHub, type LiveHubOptions } from '../../broker/live/hub.ts';
import { type Committed } from '../../broker/ports/committed.ts';
import { wholeAccount } from '../../broker/store/base/scope.ts';
import type { FleetEvent } from '../../src/core/events/event.ts';
import { toRanges } from '../../src/core/wire/wire.ts';
import type { CommitNotice } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import {
  addDevice,
  createBenchClock,
  createBenchLog,
  openBenchDatabase,
  startMs,
} from '../support/broker/broker-bench.ts';
import { insertUser } from '../support/database/store-rows.ts';
import { extent } from '../support/extent.ts';
import { parseMessages } from '../support/http/event-stream.ts';

const caller = {
  accountID: 'acme',
  userID: 'ann',
  role: 'viewer',
  tokenHash: 'hash',
  scope: wholeAccount('acme'),
} as const;

/** A hub, as that of one process, and its undelivered notifications. */
function createProcess(ports: Pick<LiveHubOptions, 'db' | 'clock'>, isShared: boolean) {
  let onCommitted: (committed: Committed) => void = () => undefined;
  const listeners = new Set<(commit: CommitNotice) => void>();
  const hub = createLiveHub({
    ...ports,
    log: createBenchLog(),
    isShared,
    callerOf: (tokenHash) => callerOf(tokenHash, { ...ports, log: createBenchLog() }),
    onCommit(listener) {
      listeners.add(listener);
      return () => undefined;
    },
    onCommitted(listener) {
      onCommitted = listener;
      return () => undefined;
    },
  });
  return {
    hub,
    commit: (committed: Committed) => onCommitted(committed),
    notify: () => {
      for (const listener of listeners) listener({ topics: ['events'], isOwn: false });
    },
  };
}

/** @param count processes on one database. */
async function createBench(count = 1) {
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
  const planner = createEventPlanner(db);
  const processes = Array.from({ length: count }, () => createProcess({ db, clock }, count > 1));
  const [first] = processes;
  if (first === undefined) throw new Error('no process');
  let seq = 0;
  /** Committed, and not delivered to the hub yet. */
  const undelivered: { readonly committed: Committed; readonly by: number }[] = [];
  return {
    hub: first.hub,
    hubs: processes.map(({ hub }) => hub),
    clock,
    db,
    devices,
    /** Stores a payload; gives its events as `<device>:<seq>`. */
    async commit(device: DeviceRef, codes: readonly number[], by = 0): Promise<string[]> {
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
        {
          deviceNo: device.deviceNo,
          boot: 'b',
          events,
          ranges,
          projection,
          receivedMs,
          lastContactMs: receivedMs,
          also: [],
        },
      ]);
      const [outcome] = plan.finish(await db.write(plan.batch));
      const eventNos = outcome?.kind === 'stored' ? outcome.eventNos : expect.fail('not stored');
      const committed = { device, boot: 'b', fresh: events, eventNos, receivedMs, projection };
      undelivered.push({ committed, by: by % count });
      return events.filter(({ statusCode }) => statusCode !== 61472).map((event) => `b:${event.seq}`);
    },
    /** Delivers the oldest undelivered commit to its hub. */
    deliverOne: () => {
      const next = undelivered.shift();
      if (next !== undefined) processes[next.by]?.commit(next.committed);
    },
    /** Notifies one process that another has committed. */
    notifyOne: (by: number) => processes[by % count]?.notify(),
    isDelivered: () => undelivered.length === 0,
  };
}

type Bench = Awaited<ReturnType<typeof createBench>>;

const selection = { kinds: new Set(liveKinds), deviceIDs: null, codes: null, fields: null };

/** A client that remembers what it saw and where it stands. */
function createClient({ hubs }: Bench) {
  const seen: string[] = [];
  let lastId: number | null = null;
  let text = '';
  let iterator: AsyncIterator<Uint8Array> | null = null;
  let reading: Promise<void> | null = null;
  const take = (part: string) => {
    text += part;
    for (const { event, data } of parseMessages(part))
      if (event === 'event') seen.push(String(data['eventID']));
    for (const match of part.matchAll(/^id: (\d+)$/gm)) lastId = Number(match[1]);
  };
  const read = async (from: AsyncIterator<Uint8Array>): Promise<void> => {
    const result = await from.next();
    reading = null;
    if (result.done !== true) take(new TextDecoder().decode(result.value));
  };
  return {
    seen,
    text: () => text,
    /** @param at the process that the client reaches. */
    async open(at = 0): Promise<void> {
      const hub = hubs[at % hubs.length];
      if (iterator !== null || hub === undefined) return;
      iterator = (
        await hub.open({ caller, until: new AbortController().signal, after: lastId, ...selection })
      )[Symbol.asyncIterator]();
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
  | { readonly do: 'commit'; readonly device: number; readonly codes: readonly number[]; readonly by: number }
  | { readonly do: 'open' | 'notify'; readonly by: number }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'deliver' | 'pull' | 'close' | 'turn' };

const simple = (name: 'deliver' | 'pull' | 'close' | 'turn'): fc.Arbitrary<Step> => fc.constant({ do: name });
const at = (name: 'open' | 'notify'): fc.Arbitrary<Step> =>
  fc.record({ do: fc.constant(name), by: fc.nat(1) });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      device: fc.nat(2),
      codes: fc.array(fc.constantFrom(61472, 63553, 62465), { minLength: 1, maxLength: 3 }),
      by: fc.nat(1),
    }),
  },
  { weight: 4, arbitrary: simple('deliver') },
  { weight: 2, arbitrary: at('open') },
  { weight: 2, arbitrary: at('notify') },
  { weight: 5, arbitrary: simple('pull') },
  { weight: 1, arbitrary: simple('close') },
  { weight: 3, arbitrary: simple('turn') },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(5, 1000) }) },
);

describe('a live stream', () => {
  it.each([1, 2])(
    'of %i processes sends every event once, over any order of commits, reads, breaks and resumptions',
    async (count) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          const bench = await createBench(count);
          const client = createClient(bench);
          await client.open();
          client.pull();
          // The first hello fixes where the reader begins.
          while (client.isReading()) await turn();
          const expected: string[] = [];
          for (const one of steps) {
            if (one.do === 'commit') {
              const device = bench.devices[one.device] ?? bench.devices[0];
              const events = await bench.commit(device, one.codes, one.by);
              if (device.accountID === 'acme') expected.push(...events);
            } else if (one.do === 'deliver') bench.deliverOne();
            else if (one.do === 'notify') bench.notifyOne(one.by);
            else if (one.do === 'open') await client.open(one.by);
            else if (one.do === 'pull') client.pull();
            else if (one.do === 'close') await client.close();
            else if (one.do === 'turn') await turn();
            else if (one.do === 'pass') bench.clock.advance(one.ms);
          }
          while (!bench.isDelivered()) bench.deliverOne();
          await client.open();
          // Without any notification: within a second of quiet it polls by itself.
          for (let pulls = 0, idle = 0; pulls < 1000 && idle < 20; pulls++) {
            client.pull();
            bench.clock.advance(100);
            for (let turns = 0; turns < count; turns++) await turn();
            idle = client.isReading() ? idle + 1 : 0;
          }
          expect(client.seen).toEqual(expected);
          await client.close();
          for (const hub of bench.hubs) {
            expect(hub.count()).toBe(0);
            hub.close();
          }
          await bench.db.close();
        }),
        { numRuns: extent({ gate: 40, nightly: 150 }) },
      );
    },
  );

  it('wakes a waiting reader when it ends, and frees its slot', async () => {
    const bench = await createBench();
    const iterator = (
      await bench.hub.open({ caller, until: new AbortController().signal, after: null, ...selection })
    )[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    await turn();
    bench.hub.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(bench.hub.count()).toBe(0);
    await expect(
      bench.hub.open({ caller, until: new AbortController().signal, after: null, ...selection }),
    ).rejects.toMatchObject({
      code: 'unavailable',
    });
    await bench.db.close();
  });

  it('sends a sign of life each second in which it could read the changes, and never a resume point that is behind', async () => {
    const bench = await createBench();
    const client = createClient(bench);
    await client.open();
    await bench.commit(bench.devices[0], [63553]);
    bench.deliverOne();
    const run = async (seconds: number): Promise<number> => {
      const signs = (): number => client.text().split(': keep-alive\nid: 1\n\n').length - 1;
      const before = signs();
      for (let second = 0; second < seconds; second++) {
        client.pull();
        bench.clock.advance(1000);
        for (let times = 0; times < 10; times++) await turn();
      }
      client.pull();
      await turn();
      return signs() - before;
    };
    // The presence of the device is a sign of life too.
    await run(2);
    expect(await run(10)).toBeGreaterThanOrEqual(9);
    // A client cannot see that the changes of its picture are missing, unless the stream is silent.
    const { read } = bench.db;
    Object.assign(bench.db, { read: () => Promise.reject(new Error('unreadable')) });
    await run(4);
    expect(await run(10)).toBe(0);
    Object.assign(bench.db, { read });
    await run(2);
    expect(await run(5)).toBeGreaterThanOrEqual(4);
    await client.close();
    bench.hub.close();
    await bench.db.close();
  });
});
