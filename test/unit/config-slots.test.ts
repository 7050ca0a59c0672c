// The two slots of a vehicle's configuration: what is tried, kept and taken back, and that no power cut at any moment leaves
// the vehicle with a configuration that nobody confirmed for longer than one further start.
import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { standardSettings } from '../../agent/config.ts';
import {
  decodeSlot,
  encodeSlot,
  noSlots,
  type SlotFiles,
  type SlotName,
  type SlotRecord,
} from '../../agent/core/config/config-record.ts';
import { activeRecord, stepConfig } from '../../agent/core/config/config-slots.ts';
import { startConfig } from '../../agent/core/config/config-start.ts';
import {
  type ConfigEffect,
  type ConfigGiven,
  type ConfigInput,
  type ConfigState,
  trialLimits,
} from '../../agent/core/config/config-types.ts';
import { statusCodes } from '../../src/core/events/status-codes.ts';
import { decodeZones } from '../../src/core/geo/zone-config.ts';
import type { Settings } from '../../src/core/settings/settings.ts';

const given = (nowMs: number): ConfigGiven => ({
  nowMs,
  base: standardSettings,
  decodeZones,
});

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const textOf = (movingS: number, zones: readonly unknown[] = []): string =>
  JSON.stringify({ settings: { reporting: { movingS } }, zones });
const received = (version: number, text: string): ConfigInput => ({
  kind: 'received',
  version,
  sha256: hashOf(text),
  text,
});
const complete = statusCodes.CONFIG_COMPLETE.code;
const failed = statusCodes.CONFIG_FAILED.code;
const reset = statusCodes.CONFIG_RESET.code;

interface Told {
  readonly code: number;
  readonly version: unknown;
  readonly reason: unknown;
  readonly retry: unknown;
}

/** A vehicle with a disk of two slots; it may lose power between any two effects. */
function createBench(files: SlotFiles = noSlots) {
  let disk: Record<SlotName, SlotFiles[SlotName]> = { ...files };
  let nowMs = 0;
  let state: ConfigState;
  let settings: Settings = standardSettings;
  let zones: readonly unknown[] = [];
  let seq = 0;
  const told: Told[] = [];
  const bench = {
    told,
    writes: 0,
    /** What the disk says of a write; null: it takes it. */
    diskFault: null as string | null,
    /** Effects that are still carried out before the power goes. */
    powerFor: Number.POSITIVE_INFINITY,
    state: () => state,
    settings: () => settings,
    zones: () => zones,
    disk: () => disk,
    record: (slot: SlotName): SlotRecord | null => {
      const file = disk[slot];
      return file.kind === 'sound' ? decodeSlot(file.bytes) : null;
    },
    put: (slot: SlotName, file: SlotFiles[SlotName]) => void (disk = { ...disk, [slot]: file }),
    step(input: ConfigInput): void {
      if (bench.powerFor <= 0) return;
      const step = stepConfig(state, input, given(nowMs));
      state = step.state;
      for (const effect of step.effects) perform(effect);
    },
    start(): void {
      const started = startConfig(disk, given(nowMs));
      ({ state, settings } = started);
      zones = [];
      bench.step({ kind: 'start' });
    },
    /** Time goes by, link up or down, with or without acknowledgements. */
    pass(ms: number, link: { isUp: boolean; acknowledged?: number } = { isUp: true }): void {
      for (let left = ms; left > 0; left -= 1000) {
        nowMs += 1000;
        bench.step({ kind: 'time', isUp: link.isUp, acknowledged: link.acknowledged ?? 0 });
      }
    },
    ack: () => bench.step({ kind: 'acked', ranges: [[1, seq]] }),
  };
  function perform(effect: ConfigEffect): void {
    if (bench.powerFor <= 0) return;
    bench.powerFor -= 1;
    switch (effect.kind) {
      case 'write':
        bench.writes += 1;
        if (bench.diskFault === null) bench.put(effect.slot, { kind: 'sound', bytes: effect.bytes });
        bench.step({ kind: 'written', slot: effect.slot, fault: bench.diskFault });
        break;
      case 'apply':
        ({ settings, zones } = effect);
        break;
      case 'event': {
        const { statusCode: code, attributes = {} } = effect.draft;
        const { configVersion: version, reason, retry } = attributes;
        told.push({ code, version, reason, retry });
        seq += 1;
        if (effect.isAwaited) bench.step({ kind: 'stored', seq });
        break;
      }
      case 'log':
        break;
    }
  }
  bench.start();
  return bench;
}

const codes = (bench: { told: readonly Told[] }) =>
  bench.told.map(({ code, version }) => `${code} ${String(version)}`);

describe('a new configuration', () => {
  it('holds from the moment when it is durable, and is kept once the broker has acknowledged that', () => {
    const bench = createBench();
    bench.step(received(1, textOf(5, [['depot', 0, 100, 0, 4365000, -7934000]])));
    expect(bench.settings().reporting.movingS).toBe(5);
    expect(bench.zones()).toMatchObject([{ id: 'depot' }]);
    expect(bench.record('a')).toMatchObject({ state: 'trial', version: 1, starts: 0 });
    expect(codes(bench)).toEqual([`${complete} 1`]);
    bench.pass(60_000);
    bench.ack();
    expect(bench.record('a')).toMatchObject({ state: 'good', version: 1 });
    bench.pass(3_600_000);
    expect(codes(bench)).toEqual([`${complete} 1`]);
    bench.step(received(2, textOf(6)));
    bench.ack();
    expect([bench.record('a'), bench.record('b')]).toMatchObject([
      { state: 'good', version: 1 },
      { state: 'good', version: 2 },
    ]);
    expect(bench.zones()).toEqual([]);
  });

  it('that is not acknowledged within two minutes of link time is rolled back, with the reason', () => {
    const bench = createBench();
    bench.step(received(1, textOf(5)));
    bench.ack();
    bench.step(received(2, textOf(6)));
    bench.pass(86_400_000, { isUp: false });
    expect(bench.settings().reporting.movingS).toBe(6);
    bench.pass(trialLimits.quietMs - 1000);
    expect(bench.settings().reporting.movingS).toBe(6);
    bench.pass(2000);
    expect(bench.settings().reporting.movingS).toBe(5);
    expect(activeRecord(bench.state())).toMatchObject({ version: 1 });
    expect(bench.record('b')).toMatchObject({ state: 'failed', version: 2, content: '' });
    expect(bench.told.at(-1)).toMatchObject({
      code: failed,
      version: 2,
      retry: true,
      reason: expect.stringContaining('in time') as string,
    });
  });

  it('has more time while a backlog drains, but not for ever', () => {
    const bench = createBench();
    bench.step(received(1, textOf(5)));
    let acknowledged = 0;
    for (let minutes = 0; minutes < 29; minutes++)
      bench.pass(60_000, { isUp: true, acknowledged: ++acknowledged });
    expect(bench.settings().reporting.movingS).toBe(5);
    for (let minutes = 0; minutes < 2; minutes++)
      bench.pass(60_000, { isUp: true, acknowledged: ++acknowledged });
    expect(bench.settings()).toEqual(standardSettings);
    expect(bench.told.at(-1)).toMatchObject({ code: failed, version: 1 });
  });

  it('that is the same to the letter only changes its number: nothing is tried, nothing is rebuilt', () => {
    const bench = createBench();
    const text = textOf(5);
    bench.step(received(1, text));
    bench.ack();
    const before = bench.record('a');
    bench.step(received(7, text));
    expect(bench.record('a')).toMatchObject({ ...before, version: 7, serial: expect.any(Number) as number });
    expect(bench.record('b')).toBeNull();
    expect(bench.state().trial).toBeNull();
    const writes = bench.writes;
    bench.step(received(7, text));
    expect(bench.writes).toBe(writes);
    expect(codes(bench)).toEqual([`${complete} 1`, `${complete} 7`, `${complete} 7`]);
  });

  it.each([
    ['a value out of its limits', textOf(0)],
    ['a member that is not known', JSON.stringify({ settings: { reporting: { x: 1 } }, zones: [] })],
    ['a zone that cannot be read', textOf(5, [7])],
    ['no JSON', '{'],
  ])('with %s is refused whole, and nothing is written', (_what, text) => {
    const bench = createBench();
    bench.step(received(1, text));
    expect(bench.writes).toBe(0);
    expect(bench.settings()).toEqual(standardSettings);
    expect(bench.told).toMatchObject([{ code: failed, version: 1, retry: false }]);
  });

  it('that is older than the active one is ignored, and a trial is not disturbed', () => {
    const bench = createBench();
    bench.step(received(5, textOf(5)));
    bench.step(received(6, textOf(6)));
    bench.ack();
    bench.step(received(4, textOf(4)));
    expect(activeRecord(bench.state())).toMatchObject({ version: 5, state: 'good' });
    bench.step(received(5, textOf(9)));
    expect(bench.told.at(-1)).toMatchObject({ code: failed, retry: false });
    expect(bench.settings().reporting.movingS).toBe(5);
  });

  it('that failed three times is refused until its content changes', () => {
    const bench = createBench();
    for (let times = 1; times <= 3; times++) {
      bench.step(received(times, textOf(5)));
      bench.pass(trialLimits.quietMs + 1000);
      expect(bench.told.at(-1)).toMatchObject({ code: failed, version: times, retry: times < 3 });
    }
    const writes = bench.writes;
    bench.start();
    bench.step(received(4, textOf(5)));
    expect(bench.told.at(-1)).toMatchObject({
      code: failed,
      version: 4,
      retry: false,
      reason: expect.stringContaining('3 times') as string,
    });
    expect(bench.writes).toBe(writes);
    bench.step(received(5, textOf(6)));
    expect(bench.settings().reporting.movingS).toBe(6);
  });

  it('that the disk refuses is dropped; a rollback is retried until it is written', () => {
    const bench = createBench();
    bench.diskFault = 'ENOSPC';
    bench.step(received(1, textOf(5)));
    expect(bench.settings()).toEqual(standardSettings);
    expect(bench.told).toMatchObject([{ code: failed, retry: true }]);
    bench.diskFault = null;
    bench.step(received(1, textOf(5)));
    bench.diskFault = 'EIO';
    bench.pass(trialLimits.quietMs + 1000);
    expect(bench.settings()).toEqual(standardSettings);
    expect(bench.record('a')).toMatchObject({ state: 'trial' });
    bench.diskFault = null;
    bench.pass(trialLimits.retryMs + 1000);
    expect(bench.record('a')).toMatchObject({ state: 'failed' });
    expect(bench.told.filter(({ code }) => code === failed)).toHaveLength(2);
  });
});

describe('a start', () => {
  it('in the middle of a trial gives it one further start, counted before it is tried', () => {
    const bench = createBench();
    bench.step(received(1, textOf(5)));
    bench.diskFault = 'EIO';
    bench.start();
    expect(bench.settings()).toEqual(standardSettings);
    bench.diskFault = null;
    bench.pass(trialLimits.retryMs + 1000);
    expect(bench.settings().reporting.movingS).toBe(5);
    expect(bench.record('a')).toMatchObject({ state: 'trial', starts: 1 });
    bench.start();
    expect(bench.settings()).toEqual(standardSettings);
    expect(bench.record('a')).toMatchObject({ state: 'failed' });
    expect(bench.told.at(-1)).toMatchObject({ code: failed, version: 1, retry: true });
  });

  it.each([
    ['a flipped bit', { kind: 'damaged', reason: 'its checksum does not fit' }],
    ['a slot of another program', { kind: 'sound', bytes: new TextEncoder().encode('{"format":2}') }],
    [
      'a content that this agent does not know',
      {
        kind: 'sound',
        bytes: encodeSlot({
          serial: 9,
          state: 'good',
          version: 9,
          sha256: '0'.repeat(64),
          starts: 0,
          failures: [],
          content: '{"settings":{"new":{}}}',
        }),
      },
    ],
  ] as const)(
    'with %s takes the other slot, then the file of the installer, and reports it',
    (_what, file) => {
      const bench = createBench();
      bench.step(received(1, textOf(5)));
      bench.ack();
      bench.step(received(2, textOf(6)));
      bench.ack();
      bench.put('b', file);
      bench.start();
      expect(bench.settings().reporting.movingS).toBe(5);
      expect(bench.told.at(-1)).toMatchObject({ code: reset, version: 1 });
      bench.put('a', file);
      bench.start();
      expect(bench.settings()).toEqual(standardSettings);
      expect(bench.told.slice(-2)).toMatchObject([
        { code: reset, version: 0 },
        { code: reset, version: 0 },
      ]);
      bench.step(received(3, textOf(7)));
      bench.ack();
      expect(bench.settings().reporting.movingS).toBe(7);
    },
  );

  it('never fails, whatever the slots hold', () => {
    const slot = fc.oneof(
      fc.constant({ kind: 'absent' } as const),
      fc.string().map((reason) => ({ kind: 'damaged', reason }) as const),
      fc.uint8Array({ maxLength: 100 }).map((bytes) => ({ kind: 'sound', bytes }) as const),
      fc
        .record({
          format: fc.constantFrom(1, 1, 1, 2),
          serial: fc.nat({ max: 5 }),
          state: fc.constantFrom('trial', 'good', 'failed'),
          version: fc.nat({ max: 5 }),
          sha256: fc.constantFrom('a'.repeat(64), 'b'.repeat(64), 'x'),
          starts: fc.nat({ max: 3 }),
          failures: fc.constantFrom([], [{ sha256: 'a'.repeat(64), count: 2 }], [1], 'x'),
          content: fc.constantFrom(textOf(5), textOf(0), '', '{'),
        })
        .map((value) => ({ kind: 'sound', bytes: new TextEncoder().encode(JSON.stringify(value)) }) as const),
    );
    fc.assert(
      fc.property(slot, slot, (a, b) => {
        const bench = createBench({ a, b });
        bench.pass(trialLimits.quietMs + 2000);
        expect(bench.settings().reporting.movingS).toBeGreaterThanOrEqual(1);
        bench.step(received(100, textOf(8)));
        bench.ack();
        expect(bench.settings().reporting.movingS).toBe(8);
      }),
      { numRuns: 300 },
    );
  });
});

type Deed =
  | { readonly kind: 'send'; readonly movingS: number }
  | { readonly kind: 'ack' }
  | { readonly kind: 'pass'; readonly ms: number; readonly isUp: boolean }
  | { readonly kind: 'crash'; readonly after: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ kind: fc.constant('send' as const), movingS: fc.integer({ min: 0, max: 6 }) }),
  fc.record({ kind: fc.constant('ack' as const) }),
  fc.record({
    kind: fc.constant('pass' as const),
    ms: fc.constantFrom(1000, 60_000, 130_000),
    isUp: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('crash' as const), after: fc.nat({ max: 6 }) }),
);

it('over every crash point: the last confirmed one is never lost, and an unconfirmed one outlives one start at most', () => {
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 25 }), (deeds) => {
      const bench = createBench();
      let version = 0;
      let confirmed: { readonly sha256: string } | null = null;
      const starts = new Map<number, number>();
      const look = (): void => {
        const records = [bench.record('a'), bench.record('b')];
        const good = records.filter((record) => record?.state === 'good');
        const newest = good.toSorted((one, other) => (other?.serial ?? 0) - (one?.serial ?? 0))[0];
        // What was once durable as good is there until another one is.
        if (confirmed !== null) expect(newest).toBeDefined();
        if (newest !== undefined && newest !== null) confirmed = newest;
        const holds = bench.settings().reporting.movingS;
        const ofRecords = records.map((record) =>
          record?.content
            ? (JSON.parse(record.content) as { settings: { reporting: { movingS: number } } }).settings
                .reporting.movingS
            : null,
        );
        expect([standardSettings.reporting.movingS, ...ofRecords]).toContain(holds);
      };
      for (const one of deeds) {
        switch (one.kind) {
          case 'send':
            bench.step(received(++version, textOf(one.movingS)));
            break;
          case 'ack':
            bench.ack();
            break;
          case 'pass':
            bench.pass(one.ms, { isUp: one.isUp });
            break;
          case 'crash':
            // The power goes some effects later, then comes back.
            bench.powerFor = one.after;
            bench.step(received(++version, textOf((version % 5) + 1)));
            bench.ack();
            bench.pass(130_000);
            bench.powerFor = Number.POSITIVE_INFINITY;
            bench.start();
            {
              const { trial, active, slots } = bench.state();
              const tried = trial !== null && active !== null ? slots[active] : null;
              if (tried !== null) {
                const count = (starts.get(tried.version) ?? 0) + 1;
                starts.set(tried.version, count);
                expect(count).toBeLessThanOrEqual(trialLimits.startsMost);
              }
            }
            break;
        }
        look();
      }
    }),
    { numRuns: Number(process.env['FLEETWARD_TEST_CONFIG_RUNS'] ?? 1000) },
  );
}, 300_000);
