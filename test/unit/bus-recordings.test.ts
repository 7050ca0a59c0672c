// Recorded J1939 buses decode exactly as cantools decodes them, and nothing is invented of them, nor of the buses of cars, which speak otherwise.
import { describe, expect, test } from 'vitest';
import { chooseValues } from '../../agent/core/bus/bus-choice.ts';
import { createBusValues } from '../../agent/core/bus/bus-values.ts';
import { parseJ1939Id } from '../../agent/core/bus/j1939-frame.ts';
import { busSignals, readSignal } from '../../agent/core/bus/j1939-signals.ts';
import { createSlcanState, decodeSlcan } from '../../agent/core/bus/slcan-line.ts';
import { slcanLine } from '../../simulator/hardware/j1939-frames.ts';
import { candumpFrames, tableFrames, traceFrames } from '../support/bus/candump.ts';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import { latin1 } from '../support/serial/nmea-lines.ts';

const recording = 'can/j1939-truck-a.log.gz';
const names = { EngineSpeed: 190, WheelBasedVehicleSpeed: 84 } as const;

interface Expected {
  readonly file: string;
  readonly framesInFile: number;
  readonly signals: Readonly<
    Record<
      string,
      Readonly<Record<'frames' | 'min' | 'max' | 'first' | 'last' | 'zero' | 'sumOfValues', number>>
    >
  >;
}

const truck = () => candumpFrames(Buffer.from(readShared(recording)).toString('latin1'));

describe.skipIf(sharedData(recording) === null)(sharedTitle('a recorded truck', recording), () => {
  test('gives the values of cantools', () => {
    const all = JSON.parse(
      Buffer.from(readShared('can/expected-cantools.json')).toString(),
    ) as readonly Expected[];
    const expected = all.find(({ file }) => recording.endsWith(file));
    const frames = truck();
    expect(frames).toHaveLength(expected?.framesInFile ?? -1);
    for (const [name, spn] of Object.entries(names)) {
      const signal = busSignals.find((one) => one.spn === spn);
      if (signal === undefined) throw new Error(`no signal ${spn}`);
      const values = frames
        .filter(({ frame }) => parseJ1939Id(frame.id).pgn === signal.pgn)
        .map(({ frame }) => readSignal(signal, frame.data))
        .filter((value) => typeof value === 'number');
      const wanted = expected?.signals[name];
      expect(values).toHaveLength(wanted?.frames ?? -1);
      expect(values.filter((value) => value === 0)).toHaveLength(wanted?.zero ?? -1);
      expect(Math.min(...values)).toBeCloseTo(wanted?.min ?? -1, 6);
      expect(Math.max(...values)).toBeCloseTo(wanted?.max ?? -1, 6);
      expect(values[0]).toBeCloseTo(wanted?.first ?? -1, 6);
      expect(values.at(-1)).toBeCloseTo(wanted?.last ?? -1, 6);
      expect(values.reduce((sum, value) => sum + value, 0)).toBeCloseTo(wanted?.sumOfValues ?? -1, 6);
    }
  });

  test('gives the same frames as lines of an adapter', () => {
    const frames = truck().map(({ frame }) => frame);
    expect(decodeSlcan(createSlcanState(), latin1(frames.map(slcanLine).join(''))).frames).toEqual(frames);
  });

  test('shows no default of its restart, and its odometer jumps once', () => {
    const bus = createBusValues();
    const seen = { parkingBrake: new Set<number | null>(), odometer: new Set<number>() };
    let lastMs = 0;
    for (const { frame, atS } of truck()) {
      bus.take(frame, atS * 1000);
      if (atS * 1000 - lastMs < 100) continue;
      lastMs = atS * 1000;
      const view = bus.view(lastMs);
      const values = chooseValues(view.values, lastMs);
      const brake = values.get('parkingBrake');
      if (brake !== undefined) seen.parkingBrake.add(brake.value);
      const odometer = values.get('odometer');
      if (odometer !== undefined) seen.odometer.add(Math.round((odometer.value ?? 0) * 10) / 10);
      expect(view.movement).toBeNull();
      expect(view.engine).toBeNull();
      expect(view.vin).toBeNull();
    }
    expect([...seen.parkingBrake]).toEqual([1]);
    expect([...seen.odometer]).toEqual([37.5, 158_910.6]);
    expect(bus.view(lastMs).odometerJumps).toBe(1);
  });
});

/** Recordings of cars, with the frames that they have by other tools where those counted them. A J1939 reader reads nothing of them. */
const cars = [
  { file: 'can/honda-civic8-on-stands-71kmh.trc.gz', framesOf: traceFrames },
  { file: 'can/gt350-key-off-bus-sleeps.trc.gz', framesOf: traceFrames },
  { file: 'can/kona-ev-2019-off-on-ready-off.csv.gz', framesOf: tableFrames },
  { file: 'can/kona-ev-2021-elm327-on-dcan.csv.gz', framesOf: tableFrames },
  { file: 'can/ev-uds-isotp.log', framesOf: candumpFrames },
] as const;

for (const { file, framesOf } of cars)
  describe.skipIf(sharedData(file) === null)(sharedTitle('a recorded car', file), () => {
    const frames = () => framesOf(Buffer.from(readShared(file)).toString('latin1'));

    test('gives the same frames as lines of an adapter, and no value of them', () => {
      const recorded = frames();
      expect(recorded.length).toBeGreaterThan(100);
      const all = JSON.parse(
        Buffer.from(readShared('can/expected-cantools.json')).toString(),
      ) as readonly Expected[];
      const counted = all.find((one) => file.endsWith(one.file))?.framesInFile ?? recorded.length;
      expect(recorded).toHaveLength(counted);
      const lines = recorded.map(({ frame }) => slcanLine(frame)).join('');
      const read = decodeSlcan(createSlcanState(), latin1(lines)).frames;
      expect(read.map(slcanLine).join('') === lines).toBe(true);
      const bus = createBusValues();
      for (const { frame, atS } of recorded) {
        bus.take(frame, atS * 1000);
        const { movement, engine } = bus.activity(atS * 1000);
        if (movement !== null || engine !== null) expect.fail(`activity at ${atS} s`);
      }
      const endMs = (recorded.at(-1)?.atS ?? 0) * 1000;
      expect(bus.view(endMs)).toMatchObject({
        frames: recorded.length,
        foreign: recorded.length,
        values: [],
        vin: null,
        driverCards: null,
        troubleCodes: [],
        odometerJumps: 0,
      });
    });
  });
