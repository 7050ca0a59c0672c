// The tank's watch with senders of few steps, and on hills: what rounding and slopes must not raise, and what is found in spite of
// them. Tanks and roads are simulated; recorded ones are in fuel-logs.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shownLevel } from '../../simulator/hardware/tank.ts';
import { extent } from '../support/extent.ts';
import { seededRandom } from '../support/serial/nmea-lines.ts';
import { hillLegs, type Leg, roadDay, type Sender } from '../support/vehicle/fuel-road.ts';
import {
  changesOf,
  driving,
  kinds,
  made,
  off,
  runTank,
  type TankSecond,
  told,
  withChange,
} from '../support/vehicle/fuel-runs.ts';

/** A parked tank that falls by `by` over an hour, as a sender with so many steps shows it. */
const stepped = (sender: Sender, level: number, by: number, context: Partial<TankSecond> = off) =>
  withChange(made(level, 2 * 3600, context), { atS: 900, durationS: 3600, by }).map((second, at) => ({
    ...second,
    level: shownLevel(sender, Number(second.level), seededRandom(at + 1)),
  }));

const coarse: readonly (readonly [string, Sender])[] = [
  ['10 steps', { steps: 10 }],
  ['10 steps, rounded down', { steps: 10, rounding: 'floor' }],
  ['10 steps, with noise of the converter', { steps: 10, noise: 0.006 }],
  ['8 steps', { steps: 8 }],
  ['5 steps', { steps: 5 }],
  ['steps of a sixteenth', { steps: 16 }],
  ['steps of a twentieth', { steps: 20 }],
  ['10 steps, flipping between two', { steps: 10, flip: 0.5 }],
  ['whole per cent', { steps: 100, rounding: 'floor' }],
];

describe('a coarse sender', () => {
  it.each(coarse)(
    'of %s: one step is neither theft nor refill, wherever it lies, parked or idling',
    (_, sender) => {
      const step = Math.min(1 / (sender.steps ?? 10), 0.2);
      if (step < 0.05) return;
      for (const context of [off, {}]) {
        for (let level = 0.25; level < 0.95; level += extent({ gate: 0.2151, nightly: 0.0717 })) {
          expect(told(stepped(sender, level, -0.7 * step, context))).toEqual([]);
          expect(told(stepped(sender, level, 0.7 * step, context))).toEqual([]);
        }
      }
    },
  );

  it.each(coarse)('of %s: a theft of 0.45 and a refill of 0.45 are found', (_, sender) => {
    for (const level of [0.95, 0.88, 0.83]) {
      expect(kinds(stepped(sender, level, -0.45))).toContain('theft');
      expect(kinds(stepped(sender, level - 0.5, 0.45))).toContain('refill');
      expect(kinds(stepped(sender, level, -0.45))).not.toContain('refill');
    }
  });

  it.each([
    [0.6, 0.5],
    [0.7, 0.6],
    [0.8, 0.7],
    [0.3, 0.2],
    [0.9, 0.8],
    [0.5, 0.55],
    [0.55, 0.6],
    [0.25, 0.5],
  ])('that goes from %d to %d once says nothing, and after it two more steps are a theft', (from, to) => {
    const held = (level: number) => made(0, 900, off).map((second) => ({ ...second, level }));
    expect(told([...held(from), ...held(to)])).toEqual([]);
    const step = Math.abs(from - to);
    const down = [from, from - step, from - 2 * step].filter((level) => level > 0.01);
    if (down.length === 3) expect(kinds(down.flatMap(held))).toEqual(['theft']);
  });

  it('of whole per cent is as good as a fine one: 0.06 less or 0.05 more is found, whatever the level', () => {
    for (let percent = 20; percent < 90; percent += extent({ gate: 7, nightly: 1 })) {
      const held = (points: number) =>
        made(0, 200, off).map((second) => ({ ...second, level: (percent + points) / 100 }));
      expect(kinds([0, -1, -2, -3, -4, -5, -6, -6].flatMap(held))).toEqual(['theft']);
      expect(kinds([0, 1, 2, 3, 4, 5, 5].flatMap(held))).toEqual(['refill']);
      expect(kinds([0, 1, 2, 3, 4, 4].flatMap(held))).toEqual([]);
    }
  });

  it('keeps its step over a restart, and learns that it is finer than it seemed', () => {
    const held = (level: number) => made(0, 300, off).map((second) => ({ ...second, level }));
    const { memory } = runTank([0.75, 0.625, 0.75, 0.625].flatMap(held));
    expect(memory.step).toBeCloseTo(0.125, 3);
    // One step while the unit was off, and two: 0.25 may be a slope and one border.
    expect(told(held(0.5), { memory })).toEqual([]);
    expect(kinds(held(0.25), { memory })).toEqual(['theft']);
    const early = runTank([0.75, 0.5, 0.75, 0.5].flatMap(held));
    expect(early.memory.step).toBeCloseTo(0.25, 3);
    const finer = [0.5, 0.45, 0.4, 0.45, 0.4].flatMap(held);
    expect(runTank(finer, { memory: early.memory }).memory.step).toBeCloseTo(0.05, 3);
    expect(kinds([...finer, ...held(0.35), ...held(0.3)], { memory: early.memory })).toEqual([
      'theft',
      'theft',
    ]);
  });

  it('that reaches an end of its scale is not broken, and one that stands still for five hours of driving is not stuck', () => {
    const drive = (level: number, seconds: number) =>
      made(0, seconds, driving).map((second, at) => ({ ...second, level: level + (at % 97 < 10 ? 0.2 : 0) }));
    const still = made(0, 5 * 3600, driving).map((second) => ({ ...second, level: 0.4 }));
    expect(kinds([...drive(0.4, 1800), ...still])).toEqual([]);
    const emptied = [0.375, 0.25, 0.125, 0].flatMap((level) =>
      made(0, 1800, driving).map((second, at) => ({
        ...second,
        level: level + (at % 97 < 10 && level > 0 ? 0.125 : 0),
      })),
    );
    expect(kinds(emptied)).toEqual(['low']);
  });
});

describe('slow siphoning, as the guide says', () => {
  it.each([
    [0.06, 0],
    [0.08, 1],
  ])('of %d of the tank in 12 h is %i thefts', (by, thefts) => {
    const night = withChange(made(0.8, 12.5 * 3600, off), { atS: 600, durationS: 12 * 3600, by: -by });
    expect(told(night)).toHaveLength(thefts);
  });
});

describe('hills', () => {
  const senders: readonly (readonly [string, Sender | undefined])[] = [
    ['a fine sender', undefined],
    ['one that reads 0 without the ignition', { noise: 0.002, asleep: 0 }],
    ['one that reads nothing without it', { noise: 0.002, asleep: null }],
    ['10 steps', { steps: 10 }],
    ['8 steps', { steps: 8, noise: 0.004 }],
    ['5 steps, asleep without the ignition', { steps: 5, asleep: null }],
    ['whole per cent', { steps: 100, rounding: 'floor' }],
  ];
  const day = (legs: readonly Leg[], sender?: Sender, level = 0.6, seed = 1) =>
    roadDay(legs, { level, seed, ...(sender === undefined ? {} : { sender }) });
  const summit: readonly Leg[] = [
    { kind: 'drive', minutes: 20, tilt: 0.08 },
    { kind: 'stand', minutes: 10 },
    { kind: 'drive', minutes: 20, tilt: -0.08 },
  ];

  it.each(senders)(
    'of 8 points, over a summit, through a valley and in a queue raise nothing: %s',
    (_, sender) => {
      const [up, stop, down] = summit as readonly [Leg, Leg, Leg];
      for (const ignition of ['on', 'off'] as const) {
        expect(told(day([up, { ...stop, ignition }, down], sender))).toEqual([]);
        expect(told(day([down, { ...stop, ignition }, up], sender))).toEqual([]);
      }
      const queue = [1, -1].flatMap((way): Leg[] => [
        { kind: 'queue', minutes: 20, tilt: 0.08 * way },
        { kind: 'queue', minutes: 20, tilt: -0.08 * way },
      ]);
      expect(told(day([up, ...queue, down], sender))).toEqual([]);
    },
  );

  it.each(senders)('on random days of drives, stops and queues raise nothing: %s', (_, sender) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
        const level = 0.35 + (seed % 11) * 0.05;
        expect(changesOf(runTank(day(hillLegs(seed), sender, level, seed)).events)).toEqual([]);
      }),
      { numRuns: extent({ gate: 8, nightly: 20 }) },
    );
  });

  it.each([
    ['a theft while parked on a slope', -0.08, 0.08],
    ['a theft while parked level after a hill', -0.08, 0],
    ['a refill at a station on a slope', 0.1, -0.05],
    ['a refill at a level station', 0.1, 0],
  ])('%s is found', (_, by, tilt) => {
    for (const way of [1, -1]) {
      const legs: readonly Leg[] = [
        { kind: 'drive', minutes: 20, tilt: 0.08 * way },
        { kind: 'drive', minutes: 2, tilt: tilt * way },
        { kind: 'stand', minutes: 20, ignition: 'off', by },
        { kind: 'drive', minutes: 20, tilt: -0.08 * way },
      ];
      expect(changesOf(runTank(day(legs)).events).map(({ kind }) => kind)).toEqual([
        by < 0 ? 'theft' : 'refill',
      ]);
    }
  });
});
