// The vehicle bus in the whole vehicle: what it refuses, that an order on its way is withdrawn, that silence changes nothing, and which values
// go with its events.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BusReading } from '../../agent/core/bus/bus-reading.ts';
import {
  busAttributes,
  busTexts,
  createBusReport,
  reportLimits,
  stepBusReport,
} from '../../agent/core/bus/bus-report.ts';
import { busStatus } from '../../agent/core/bus/bus-status.ts';
import { busText, sourceText } from '../../agent/core/bus/bus-text.ts';
import { createBusValues } from '../../agent/core/bus/bus-values.ts';
import { absentMostS, parseCounterSenders } from '../../agent/core/bus/counter-senders.ts';
import type { CanFrame } from '../../agent/core/bus/slcan-line.ts';
import { statusOfVehicle } from '../../agent/core/status/status.ts';
import { bamFrames, ccvs1, eec1, j1939Frame, vdhr } from '../../simulator/hardware/j1939-frames.ts';
import { createTruckBus, openAdapter } from '../support/bus/truck-bus.ts';
import { createVehicleRig, type VehicleRig } from '../support/vehicle/vehicle-rig.ts';

/** The reading of a bus that sent these frames every 100 ms for some seconds, up to `nowMs`. */
function readingAt(nowMs: number, frames: readonly CanFrame[], forMs = 12_000): BusReading {
  const bus = createBusValues();
  for (let atMs = nowMs - forMs; atMs <= nowMs; atMs += 100) for (const one of frames) bus.take(one, atMs);
  return { atMs: nowMs, adapter: openAdapter, view: bus.view(nowMs) };
}

/** Lets time pass; the bus sends the same frames every 200 ms. */
function runWithBus(rig: VehicleRig, seconds: number, frames: readonly CanFrame[]): void {
  for (let passedS = 0; passedS < seconds; passedS += 0.2) {
    rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), frames, 300) });
    rig.run(0.2);
  }
}

const isCut = (rig: VehicleRig): boolean => rig.said().includes('confirmed');

describe('a cut on a vehicle with a bus', () => {
  it.each([
    ['a fresh speed above 3 km/h', 'no_movement', [ccvs1(3.5)]],
    ['a running engine', 'engine_at_rest', [ccvs1(0), eec1(650)]],
  ])('waits while the bus shows %s, and names it', async (_, rule, frames) => {
    const rig = await createVehicleRig();
    rig.run(20);
    runWithBus(rig, 1, frames);
    rig.command('enginecutoff', '1');
    runWithBus(rig, 60, frames);
    expect(isCut(rig)).toBe(false);
    expect(rig.changes).toEqual([]);
    expect(rig.reasons()).toContain(rule);
    // The bus falls silent, as one of a vehicle that sleeps.
    rig.run(30);
    expect(isCut(rig)).toBe(true);
  });

  it.each([
    ['has no bus', []],
    ['has a bus that sends zeros', [ccvs1(0, 1), eec1(0)]],
    ['has a bus with the noise of a standing truck', [ccvs1(0.34), eec1(0)]],
    ['has a bus without any value', [ccvs1(null)]],
  ])('is carried out as before on one that %s', async (_, frames) => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.command('enginecutoff', '1');
    if (frames.length === 0) rig.run(30);
    else runWithBus(rig, 30, frames);
    expect(isCut(rig)).toBe(true);
  });

  it('is not carried out by what the bus shows: beside a motion input and a key that is off it proves no rest', async () => {
    const rig = await createVehicleRig();
    const truck = createTruckBus(rig).run(25).trip();
    rig.sky(false);
    truck.run(120);
    rig.command('enginecutoff', '1');
    truck.run(60);
    expect(isCut(rig)).toBe(false);
    expect(rig.reasons()).toContain('common_cause');
  });

  it('waits in a tunnel where the ignition wire is broken, and names the movement on the bus', async () => {
    const rig = await createVehicleRig({ overrides: { inputs: { motion: false } } });
    const truck = createTruckBus(rig).run(25).trip().key(true).run(5);
    rig.drive(60);
    truck.run(20);
    rig.sky(false);
    rig.board.setSignal('ignition', false);
    rig.command('enginecutoff', '1');
    truck.run(150);
    expect(isCut(rig)).toBe(false);
    expect(rig.changes).toEqual([]);
    expect(rig.reasons()).toContain('no_movement');
  });

  it('is withdrawn while its order is on the way when the bus shows movement', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.line.lateMs = 400;
    rig.command('enginecutoff', '1');
    while (!rig.said().includes('executing')) rig.run(0.05);
    rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), [ccvs1(12)], 300) });
    rig.line.lateMs = 0;
    runWithBus(rig, 20, [ccvs1(12)]);
    expect(isCut(rig)).toBe(false);
    expect(rig.changes.at(-1)?.energised ?? false).toBe(false);
  });

  it('is restored whatever the bus shows', async () => {
    const rig = await createVehicleRig();
    rig.run(20);
    rig.command('enginecutoff', '1');
    rig.run(30);
    expect(isCut(rig)).toBe(true);
    runWithBus(rig, 1, [ccvs1(90), eec1(2000)]);
    rig.command('enginecutoff', '0');
    runWithBus(rig, 5, [ccvs1(90), eec1(2000)]);
    expect(rig.changes.at(-1)?.energised).toBe(false);
  });
});

describe('attributes of the bus', () => {
  const fuel = (percent: number): CanFrame =>
    j1939Frame(65_276, 0, [0xff, Math.round(percent / 0.4), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  const all = [ccvs1(80, 0), eec1(1400), vdhr(123_456.7), fuel(40)];

  it('are sent when they change beyond their dead band, and again after an hour', () => {
    const first = stepBusReport(createBusReport(), readingAt(20_000, all), 20_000);
    expect(first?.attributes).toEqual({
      busSpeed: 80,
      rpm: 1400,
      parkingBrake: false,
      busOdometer: 123_456.7,
      busFuelLevel: 40,
    });
    if (first === null) throw new Error('no attributes');
    const at = (nowMs: number, frames: readonly CanFrame[]) =>
      stepBusReport(first.state, readingAt(nowMs, frames), nowMs)?.attributes;
    expect(at(75_000, [ccvs1(20, 1), eec1(700)])).toBeUndefined();
    expect(at(81_000, [ccvs1(84, 0), eec1(1500), vdhr(123_457.2), fuel(41.2)])).toBeUndefined();
    expect(at(81_000, [ccvs1(86, 0), eec1(1500), vdhr(123_458), fuel(40)])).toEqual({
      busSpeed: 86,
      busOdometer: 123_458,
    });
    expect(Object.keys(at(20_000 + reportLimits.againMs, all) ?? {})).toHaveLength(5);
  });

  const at4 = (pgn: number, source: number, start: 1 | 5, raw: number): CanFrame => {
    const data = Array.from({ length: 8 }, () => 0xff);
    for (let n = 0; n < 4; n += 1) data[start - 1 + n] = Math.floor(raw / 256 ** n) % 256;
    return j1939Frame(pgn, source, data);
  };
  const distance = (km: number, source: number): CanFrame => at4(65_248, source, 5, km / 0.125);
  const hours = (h: number, source: number): CanFrame => at4(65_253, source, 1, h / 0.05);
  const litres = (l: number, source: number): CanFrame => at4(65_257, source, 5, l / 0.5);

  it.each([
    [
      'odometer',
      { name: 'busOdometer', own: distance(438_978, 0x17), other: distance(537_152, 0x31), value: 438_978 },
    ],
    [
      'odometer of two signals',
      { name: 'busOdometer', own: vdhr(438_978, 0xee), other: distance(537_152, 0xee), value: 438_978 },
    ],
    ['engine hours', { name: 'engineHours', own: hours(9000, 0), other: hours(12_345, 0x17), value: 9000 }],
    ['fuel used', { name: 'fuelUsed', own: litres(70_000, 0), other: litres(2, 0x17), value: 70_000 }],
  ] as const)(
    'of the %s stick to their sender, over a restart too, or are left out',
    (_, { name, own, other, value }) => {
      const minute = 60_000;
      const both = stepBusReport(createBusReport(), readingAt(20_000, [own, other, eec1(900)]), 20_000);
      expect(both?.attributes[name]).toBe(value);
      let state = both?.state ?? createBusReport();
      // A drive of 90 hours in which the sender is silent, and the agent is started again each hour.
      for (let n = 1; n <= 90 * 60; n += 1) {
        if (n % 60 === 0)
          state = createBusReport(parseCounterSenders(JSON.parse(JSON.stringify(state.senders))));
        const nowMs = 20_000 + n * minute;
        const step = stepBusReport(
          state,
          readingAt(nowMs, [other, eec1(n % 2 === 0 ? 900 : 1900)], 11_000),
          nowMs,
        );
        expect(step?.attributes).not.toHaveProperty(name);
        state = step?.state ?? state;
      }
      const nowMs = 20_000 + 91 * 60 * minute;
      const back = stepBusReport({ ...state, sent: {} }, readingAt(nowMs, [own, other, eec1(900)]), nowMs);
      expect(back?.attributes[name]).toBe(value);
      expect(back?.state.senders).toEqual(both?.state.senders);
    },
  );

  it('name no odometer of another sender after a restart of the agent', async () => {
    const rig = await createVehicleRig();
    const [own, other] = [distance(438_978, 0x17), distance(537_152, 0x31)];
    const run = (seconds: number, frames: readonly CanFrame[]): readonly unknown[] => {
      const from = rig.told.length;
      for (let passedS = 0; passedS < seconds; passedS += 2) {
        rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), [...frames, eec1(900 + passedS * 10)]) });
        rig.run(2);
      }
      return rig.told.slice(from).flatMap(({ attributes }) => attributes?.['busOdometer'] ?? []);
    };
    rig.drive(50);
    expect(run(130, [own, other])).toEqual([438_978]);
    rig.kill();
    rig.start();
    expect(run(300, [other])).toEqual([]);
    expect(run(130, [own, other])).toEqual([438_978]);
  });

  it('take another sender of a counter after the first one was away for 100 hours in which the other counted', () => {
    let state = createBusReport({ odometer: { by: '245@23', absentS: absentMostS - 90 } });
    const other = [distance(537_152, 0x31), eec1(900)];
    const told = [1, 2, 3].map((n) => {
      const step = stepBusReport({ ...state, sent: {} }, readingAt(n * 60_000, other), n * 60_000);
      state = step?.state ?? state;
      return step?.attributes['busOdometer'];
    });
    expect(told).toEqual([537_152, 537_152, 537_152]);
    expect(state.senders).toEqual({ odometer: { by: '245@49', absentS: 0 } });
    for (const broken of [null, 7, 'x', {}, { odometer: null }, { odometer: { by: 1, absentS: 0 } }])
      expect(parseCounterSenders(broken)).toEqual({});
  });

  it.each([
    ['FFFFFFFA on the wire', vdhr(0xfaff_ffff * 0.005)],
    ['FA000000', at4(65_217, 0, 1, 0xfa00_0000)],
    ['a parameter specific indicator', at4(65_248, 0, 5, 0xfb12_3456)],
    ['an error', at4(65_248, 0, 5, 0xfe00_0000)],
    ['not available', at4(65_248, 0, 5, 0xffff_ffff)],
    ['hours at the top', at4(65_253, 0, 1, 0xfaff_ffff)],
    ['fuel at the top', at4(65_257, 0, 5, 0xfaff_ffff)],
    ['coolant at the top', j1939Frame(65_262, 0, [0xfa, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ['volts at the top', j1939Frame(65_271, 0, [0xff, 0xff, 0xff, 0xff, 0xff, 0xfa, 0xff, 0xfa])],
    ['a rate at the top', j1939Frame(65_266, 0, [0xff, 0xfa, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ['a level that is an error', j1939Frame(65_276, 0, [0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ])('hold nothing of a value at the top of its range: %s', (_, frame) => {
    expect(stepBusReport(createBusReport(), readingAt(20_000, [frame]), 20_000)).toBeNull();
    const { values } = readingAt(20_000, [frame]).view;
    for (const { value, fault } of values) expect([value, fault]).toEqual([null, expect.any(String)]);
  });

  it('hold a full tank, and no speed at the top of its range, which still speaks for movement', () => {
    const reading = readingAt(20_000, [fuel(100), ccvs1(0xfaff / 256), eec1(0xfaff / 8)]);
    expect(stepBusReport(createBusReport(), reading, 20_000)?.attributes).toEqual({ busFuelLevel: 100 });
    expect(reading.view.movement?.value).toBeGreaterThan(250);
    expect(reading.view.engine).not.toBeNull();
  });

  it('hold no default of a start, no value that is not known, and texts only when they are sound', () => {
    expect(stepBusReport(createBusReport(), readingAt(20_000, all, 5000), 20_000)).toBeNull();
    expect(stepBusReport(createBusReport(), readingAt(20_000, [ccvs1(null)]), 20_000)).toBeNull();
    const texts = [
      ...bamFrames(65_260, 0, [...Buffer.from('WDB9634031L738256*')]),
      ...bamFrames(65_226, 0, [0x04, 0xff, 0xb2, 0x0c, 0x44, 0x03, 0x6e, 0x00, 0x0f, 0x81]),
      ...bamFrames(65_131, 0xee, [...Buffer.from('D  DF000123456780**')]),
    ];
    expect(stepBusReport(createBusReport(), readingAt(20_000, texts), 20_000)?.attributes).toEqual({
      vin: 'WDB9634031L738256',
      dtcs: '110/15 134322/4',
      driverCard1: 'D  DF000123456780',
      driverCard2: '',
    });
  });

  it('are each described in the guide', () => {
    const guide = readFileSync(new URL('../../agent/README.md', import.meta.url), 'utf8');
    for (const name of [...busAttributes.map(({ attribute }) => attribute), ...busTexts])
      expect(guide).toContain(`\`${name}\``);
    for (const { attribute, deadBand, decimals } of busAttributes)
      if (decimals !== null && deadBand !== 1)
        expect(guide).toMatch(new RegExp(`\`${attribute}\` \\|[^|]*\\| ${deadBand} \\|`));
  });

  it('go with position events, and stay well below the limit of an event', async () => {
    const rig = await createVehicleRig();
    rig.board.setSignal('ignition', true);
    rig.drive(50);
    for (let n = 0; n < 60; n += 1) {
      rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), all) });
      rig.run(1);
    }
    const sets = rig.told.flatMap(({ attributes }) =>
      attributes?.['busSpeed'] === undefined ? [] : [attributes],
    );
    expect(sets).toHaveLength(1);
    expect(sets[0]).toMatchObject({ busSpeed: 80, busFuelLevel: 40 });
    const names = [...busAttributes.map(({ attribute }) => attribute), ...busTexts];
    const longest = Object.fromEntries(
      names.map((name) => [name, 'x'.repeat(name === 'dtcs' ? 12 * 10 : 40)]),
    );
    expect(JSON.stringify(longest).length).toBeLessThan(1200);
  });
});

describe('the status of the bus', () => {
  it('is null where none is read, and shows each sender with its age and whether it counts', async () => {
    const rig = await createVehicleRig();
    rig.run(5);
    const status = () =>
      statusOfVehicle(rig.state(), {
        nowMs: rig.nowMs(),
        paths: { board: '/b', gnss: '/g' },
        config: rig.config(),
      }).bus;
    expect(status()).toBeNull();
    rig.dispatch({ kind: 'bus', reading: readingAt(rig.nowMs(), [ccvs1(42, 3, 0), ccvs1(null, 1, 0x31)]) });
    const bus = status();
    if (bus === null) throw new Error('no bus');
    expect(bus).toMatchObject({ state: 'live', isMoving: true, isEngineRunning: false, writtenBytes: 17 });
    expect(bus.values.map(sourceText)).toEqual([
      'speed (SPN 84) from 0x00: 42 km/h, 0 s old, every 100 ms, reported',
      'speed (SPN 84) from 0x31: not available, 0 s old, every 100 ms, does not count',
      'parkingBrake (SPN 70) from 0x00: not available, 0 s old, every 100 ms, does not count',
      'parkingBrake (SPN 70) from 0x31: 1, 0 s old, every 100 ms, reported',
      'brake (SPN 597) from 0x00: not available, 0 s old, every 100 ms, does not count',
      'brake (SPN 597) from 0x31: not available, 0 s old, every 100 ms, does not count',
    ]);
    expect(busText(bus).words).toBe('CANable at 250000 bit/s, 20 frames/s; speed 42 km/h, parkingBrake 1');
    rig.run(10);
    expect(status()).toMatchObject({ state: 'silent', isMoving: false, framesPerS: 0 });
  });

  it('says why an adapter is not used, and what to do', () => {
    const refused = {
      ...readingAt(0, []),
      adapter: { ...openAdapter, phase: 'waiting', refusal: 'not_silent' },
    } as const;
    const { level, words, todo } = busText(busStatus(refused, 0));
    expect(level).toBe('fault');
    expect(words).toContain('cannot listen');
    expect(todo).not.toBe('');
  });
});
