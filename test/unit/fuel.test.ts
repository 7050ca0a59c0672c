// What the tank's watch tells and what it must not: thefts and refills while parked, idling and unseen; senders that sleep with
// the ignition, break, stick or jump; restarts; bounded memory. Tanks are made here; recorded ones are in fuel-logs.test.ts.
import fc from 'fast-check';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { stepFuel } from '../../agent/core/fuel/fuel.ts';
import { fuelEventDraft } from '../../agent/core/fuel/fuel-events.ts';
import { fuelLimits } from '../../agent/core/fuel/fuel-limits.ts';
import {
  createFuel,
  emptyFuelMemory,
  fuelMemoryOf,
  parseFuelMemory,
} from '../../agent/core/fuel/fuel-memory.ts';
import { fuelSettingsSchema } from '../../src/core/settings/fuel.ts';
import { standardSettings } from '../../src/core/settings/settings.ts';

const standardFuelSettings = standardSettings.fuel;

import {
  changesOf,
  driving,
  isTold,
  kinds,
  made,
  off,
  runTank,
  type TankSecond,
  told,
  withChange,
} from '../support/vehicle/fuel-runs.ts';

describe('theft and refill as they happen', () => {
  it('a drain while parked is reported within two minutes of its threshold, with both levels and its time', () => {
    const seconds = withChange([...made(0.6, 300, driving), ...made(0.6, 1500, off)], {
      atS: 900,
      durationS: 60,
      by: -0.2,
    });
    const events = changesOf(runTank(seconds).events);
    expect(events).toHaveLength(1);
    const [theft] = events;
    expect(theft).toMatchObject({ kind: 'theft', situation: 'parked' });
    expect(theft?.before).toBeCloseTo(0.6, 2);
    expect(theft?.after).toBeCloseTo(0.4, 2);
    // The run starts at 10 s.
    expect(theft?.beganAtMs).toBeGreaterThan(890_000);
    expect(theft?.beganAtMs).toBeLessThan(935_000);
    expect(theft?.atMs).toBeGreaterThan(950_000);
    expect(theft?.atMs).toBeLessThan(1_000_000);
  });

  it('a pump that takes the whole tank in five minutes is reported while it runs, and adds up', () => {
    const parked = made(0.9, 2400, off);
    const seconds = withChange(parked, { atS: 600, durationS: 300, by: -0.8 });
    const events = changesOf(runTank(seconds).events);
    const first = runTank(seconds.slice(0, 760));
    expect(changesOf(first.events)).toHaveLength(1);
    expect(events.length).toBeLessThanOrEqual(3);
    expect(events.reduce((sum, { before, after }) => sum + before - after, 0)).toBeCloseTo(0.8, 1);
  });

  it('a slow siphon over hours is reported, and what is reported adds up to what is gone', () => {
    const seconds = withChange(made(0.8, 5 * 3600, off), { atS: 900, durationS: 4 * 3600, by: -0.4 });
    const events = changesOf(runTank(seconds).events);
    const sum = events.reduce((all, { before, after }) => all + before - after, 0);
    expect(sum).toBeGreaterThan(0.35);
    expect(sum).toBeLessThan(0.42);
    expect(events.length).toBeLessThanOrEqual(9);
  });

  it('a theft while the engine idles is reported', () => {
    const seconds = withChange(made(0.7, 1800), { atS: 600, durationS: 120, by: -0.12 });
    expect(changesOf(runTank(seconds).events)).toMatchObject([{ kind: 'theft', situation: 'idling' }]);
  });

  it.each(['on', 'off'] as const)(
    'a refill with the ignition %s is reported once, with all of it',
    (ignition) => {
      const seconds = withChange(made(0.2, 1800, { ignition }), { atS: 600, durationS: 240, by: 0.6 });
      const events = changesOf(runTank(seconds).events);
      expect(events).toMatchObject([{ kind: 'refill' }]);
      expect((events[0]?.after ?? 0) - (events[0]?.before ?? 0)).toBeCloseTo(0.6, 1);
    },
  );

  it('a refill is reported even if the driver leaves before it has settled', () => {
    const tanking = withChange(made(0.2, 600, off), { atS: 300, durationS: 290, by: 0.6 });
    const events = changesOf(runTank([...tanking, ...made(0.8, 60, driving)]).events);
    expect(events).toMatchObject([{ kind: 'refill' }]);
  });

  it('a theft and a refill of the same stop are both reported', () => {
    const drained = withChange(made(0.6, 3600, off), { atS: 600, durationS: 60, by: -0.3 });
    const filled = withChange(drained, { atS: 2400, durationS: 120, by: 0.5 });
    expect(changesOf(runTank(filled).events).map(({ kind }) => kind)).toEqual(['theft', 'refill']);
  });
});

describe('what is no theft', () => {
  it('consumption of a day: driving at a quarter of the tank an hour, and idling at 0.04', () => {
    const drive = withChange(made(0.9, 7200, driving), { atS: 0, durationS: 7200, by: -0.5 });
    const rest = made(0.4, 900, off);
    const idle = withChange(made(0.4, 4 * 3600), { atS: 0, durationS: 4 * 3600, by: -0.16 });
    expect(changesOf(runTank([...drive, ...rest, ...idle]).events)).toEqual([]);
  });

  it('a slope: a level that is 0.1 away at each stop', () => {
    const stop = (level: number) => [...made(0.6, 400, driving), ...made(level, 900, off)];
    const seconds = [0.6, 0.5, 0.7, 0.5].flatMap(stop);
    expect(told(seconds)).toEqual([]);
  });

  it('the cold of a night: 0.04 in ten hours', () => {
    const night = withChange(made(0.8, 10 * 3600, off), { atS: 0, durationS: 36_000, by: -0.04 });
    expect(told(night)).toEqual([]);
  });

  it('a supply that sags: the sender reads less with it', () => {
    const sag = (level: number, supplyV: number) => made(level, 900, { ...off, supplyV });
    const seconds = [...sag(0.9, 25.4), ...sag(0.85, 24), ...sag(0.82, 23.2)];
    expect(told(seconds)).toEqual([]);
    const known = withChange(made(0.9, 1800, { ...off, supplyV: 25.4 }), {
      atS: 600,
      durationS: 60,
      by: -0.08,
    });
    expect(kinds(known)).toEqual(['theft']);
  });

  it.each([
    ['0', 0],
    ['nothing', null],
    ['full', 1],
    ['a third', 0.33],
  ] as const)('a sender fed by the ignition that reads %s without it', (_, asleep) => {
    const day = [
      ...made(0.65, 400, driving),
      ...made(0.65, 120),
      ...made(asleep, 1800, off),
      ...made(0.65, 200),
    ];
    expect(told([...day, ...day, ...day, ...made(0.65, 600, driving)])).toEqual([]);
  });

  it('a sender that falls asleep ten minutes after the ignition', () => {
    const day = [...made(0.65, 400, driving), ...made(0.65, 600, off), ...made(0, 1800, off)];
    expect(told([...day, ...day, ...made(0.65, 600, driving)])).toEqual([]);
  });

  it('a sender that floats down for an hour without current', () => {
    const floating = withChange(made(0.3, 3600, off), { atS: 0, durationS: 3600, by: -0.3 });
    expect(told([...made(0.65, 400, driving), ...made(0.65, 120), ...floating, ...made(0.65, 300)])).toEqual(
      [],
    );
  });

  it('spikes to both ends, one sample in seven', () => {
    const spiky = made(0.5, 3600, off).map((second, at) =>
      at % 7 === 0 ? { ...second, level: at % 14 === 0 ? 0 : 1 } : second,
    );
    expect(told(spiky)).toEqual([]);
  });

  it('fixes that wander while parked do not hide a theft', () => {
    const wander = made(0.6, 3600, off).map((second, at) =>
      at % 120 < 8 ? { ...second, motion: 'moving' as const } : second,
    );
    expect(told(wander)).toEqual([]);
    expect(kinds(withChange(wander, { atS: 1200, durationS: 600, by: -0.2 }))).toContain('theft');
  });
});

describe('what happened unseen', () => {
  const drive = (level: number) => made(level, 900, driving);

  it('a theft at night from a tank whose sender sleeps with the ignition is reported on the next drive', () => {
    const seconds = [...drive(0.7), ...made(0, 3600, off), ...drive(0.4)];
    const events = changesOf(runTank(seconds).events);
    expect(events).toMatchObject([{ kind: 'theft', situation: 'unseen' }]);
    expect(events[0]?.before).toBeCloseTo(0.7, 1);
    expect(events[0]?.after).toBeCloseTo(0.4, 1);
  });

  it('... at once, when the engine idles before and after', () => {
    const seconds = [...drive(0.7), ...made(0.7, 150), ...made(0, 3600, off), ...made(0.6, 200)];
    expect(changesOf(runTank(seconds).events)).toMatchObject([{ kind: 'theft', situation: 'unseen' }]);
  });

  it('a refill is found the same way', () => {
    const seconds = [...drive(0.2), ...made(0, 600, off), ...drive(0.9)];
    expect(changesOf(runTank(seconds).events)).toMatchObject([{ kind: 'refill', situation: 'unseen' }]);
  });

  it('what was reported at the stop is not reported again on the next drive', () => {
    const stop = withChange(made(0.7, 1800, off), { atS: 600, durationS: 300, by: -0.3 });
    const events = changesOf(runTank([...drive(0.7), ...stop, ...drive(0.4)]).events);
    expect(events.map(({ situation }) => situation)).toEqual(['parked', 'parked']);
    expect(events.reduce((sum, { before, after }) => sum + before - after, 0)).toBeCloseTo(0.3, 1);
  });

  it('a theft while the unit was off is reported after the start, also on the next drive', () => {
    const before = runTank([...drive(0.7), ...made(0.7, 600, off)]);
    const memory = parseFuelMemory(JSON.parse(JSON.stringify(before.memory)));
    const parked = changesOf(runTank(made(0.4, 300, off), { memory, startMs: 5 }).events);
    expect(parked).toMatchObject([{ kind: 'theft', situation: 'unseen' }]);
    expect(changesOf(runTank(drive(0.4), { memory }).events)).toMatchObject([{ kind: 'theft' }]);
    expect(told([...made(0.7, 600, off), ...drive(0.69)], { memory })).toEqual([]);
    // Restarts over and over change nothing.
    let again = memory;
    for (let round = 0; round < 5; round += 1) {
      const run = runTank(made(0.7, 200, off), { memory: again });
      expect(run.events.filter(isTold)).toEqual([]);
      again = run.memory;
    }
  });

  it('silence of the board hides no theft', () => {
    const seconds = [...made(0.7, 600, off), ...made('unknown', 1800, off), ...made(0.5, 300, off)];
    expect(kinds(seconds)).toEqual(['theft']);
  });
});

describe('the sender', () => {
  it('out of range with the ignition on is a fault, once; good for a minute is its end', () => {
    const broken = [
      ...made(0.5, 300),
      ...made(null, 600),
      ...made(0.5, 30),
      ...made(null, 60),
      ...made(0.5, 300),
    ];
    expect(told(broken)).toMatchObject([
      { kind: 'fault', reason: 'out of range', atMs: 310_000 },
      { kind: 'faultOver', reason: 'out of range' },
    ]);
    expect(runTank(broken.slice(0, 800)).state.level).toBeNull();
  });

  it('short losses and a silent board are none', () => {
    const blips = Array.from({ length: 20 }, () => [...made(0.5, 40), ...made(null, 20)]).flat();
    expect(told([...blips, ...made('unknown', 3600), ...blips])).toEqual([]);
  });

  it('a wire that breaks to 0 is a fault and no theft, standing and driving', () => {
    expect(told([...made(0.5, 600), ...made(0, 600)])).toMatchObject([
      { kind: 'fault', reason: 'at the end of its scale' },
    ]);
    const slosh = made(0.5, 900, driving);
    expect(told([...slosh, ...made(0, 900, driving), ...made(0.5, 900, driving)])).toMatchObject([
      { kind: 'fault', reason: 'at the end of its scale' },
      { kind: 'faultOver' },
    ]);
  });

  it('a sender that is stuck for four hours of driving is reported', () => {
    const stuck = Array.from({ length: 15_000 }, () => ({ ...made(0.5, 1, driving)[0] }) as TankSecond).map(
      (second) => ({ ...second, level: 0.437 }),
    );
    expect(told(stuck)).toMatchObject([{ kind: 'fault', reason: 'stuck' }]);
    expect(kinds([...stuck, ...made(0.6, 900, driving)])).toEqual(['fault', 'faultOver']);
  });

  it('a fault is not reported again after a restart, its end is', () => {
    const { memory } = runTank([...made(0.5, 300), ...made(null, 100)]);
    expect(memory.fault).toBe('out of range');
    expect(kinds([...made(null, 300), ...made(0.5, 100)], { memory })).toEqual(['faultOver']);
  });
});

describe('low fuel and level', () => {
  it('low is reported once, also over restarts, until the tank is well above', () => {
    const drive = (level: number) => made(level, 700, driving);
    const first = runTank([...drive(0.2), ...drive(0.09), ...drive(0.11), ...drive(0.09)]);
    expect(first.events.filter(({ kind }) => kind === 'low')).toHaveLength(1);
    expect(kinds(drive(0.08), { memory: first.memory })).toEqual([]);
    const next = runTank([...drive(0.2), ...drive(0.09)], { memory: first.memory });
    expect(next.events.filter(({ kind }) => kind === 'low')).toHaveLength(1);
  });

  it('the level is reported after a change of a setting, at most once in ten minutes', () => {
    const seconds = withChange(made(0.9, 3 * 3600, driving), { atS: 0, durationS: 3 * 3600, by: -0.5 });
    const levels = runTank(seconds).events.filter(({ kind }) => kind === 'level');
    expect(levels.length).toBeGreaterThan(7);
    expect(levels.length).toBeLessThan(12);
    for (const [at, event] of levels.entries()) {
      if (at > 0) expect(event.atMs - (levels[at - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(600_000);
    }
  });
});

describe('events, settings and memory', () => {
  it('travel with the codes of OpenGTS and litres', () => {
    const change = { before: 0.7, after: 0.4, beganAtMs: 1000, atMs: 91_400, situation: 'parked' } as const;
    expect(fuelEventDraft({ kind: 'theft', ...change }, 400)).toEqual({
      statusCode: 63826,
      fuelLevel: 0.4,
      attributes: { before: 0.7, after: 0.4, litres: 120, durationS: 90, seen: 'parked' },
    });
    expect(fuelEventDraft({ kind: 'refill', ...change }).attributes).not.toHaveProperty('litres');
    expect(fuelEventDraft({ kind: 'fault', atMs: 1, reason: 'stuck' })).toMatchObject({ statusCode: 63838 });
  });

  it('the defaults of the schema are the standard settings', () => {
    expect(Value.Default(fuelSettingsSchema, {})).toEqual(standardFuelSettings);
    expect(Value.Check(fuelSettingsSchema, standardFuelSettings)).toBe(true);
  });

  it('switched off it says nothing and keeps nothing', () => {
    const run = runTank(withChange(made(0.9, 1200, off), { atS: 600, durationS: 60, by: -0.5 }), {
      settings: { enabled: false },
    });
    expect(run.events).toEqual([]);
    expect(run.memory).toEqual(emptyFuelMemory);
  });

  it('a memory of anything never throws and is whole or empty by member', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.anything()), (stored) => {
        expect(() => createFuel(parseFuelMemory(stored), 0)).not.toThrow();
      }),
    );
    expect(parseFuelMemory({ v: 1, trend: 7, on: 0.5, off: 'x', low: 1, fault: 'odd', told: null })).toEqual({
      ...emptyFuelMemory,
      on: 0.5,
    });
    expect(parseFuelMemory({ v: 2, on: 0.5 })).toEqual(emptyFuelMemory);
  });
});

const contexts = fc.record({
  ignition: fc.constantFrom('on' as const, 'off' as const, 'unknown' as const),
  motion: fc.constantFrom('moving' as const, 'standing' as const, 'unknown' as const),
  supplyV: fc.oneof(fc.constant(null), fc.double({ min: 0, max: 30, noNaN: true })),
});
const stretches = fc.array(
  fc.record({
    context: contexts,
    seconds: fc.integer({ min: 1, max: 400 }),
    stepMs: fc.constantFrom(0, 200, 1000, 5000, 60_000, 400_000),
    level: fc.oneof(
      fc.double({ min: -1, max: 2 }),
      fc.constant(null),
      fc.constant('unknown' as const),
      fc.constant(Number.NaN),
    ),
  }),
  { maxLength: 12 },
);

describe('whatever comes in', () => {
  it('state and memory stay bounded, levels stay fractions, times never go back or ahead', () => {
    fc.assert(
      fc.property(stretches, (parts) => {
        let state = createFuel(emptyFuelMemory, 0);
        let atMs = 0;
        for (const { context, seconds, stepMs, level } of parts) {
          for (let at = 0; at < seconds; at += 1) {
            atMs += stepMs;
            const step = stepFuel(state, { atMs, level, context }, standardFuelSettings);
            state = step.state;
            const isFraction = step.level === null || (step.level >= 0 && step.level <= 1);
            expect(isFraction).toBe(true);
            for (const event of step.events) {
              expect(event.atMs).toBeLessThanOrEqual(atMs);
              if (event.kind !== 'refill' && event.kind !== 'theft') continue;
              expect(event.beganAtMs).toBeLessThanOrEqual(event.atMs);
              expect(event.kind === 'theft').toBe(event.after < event.before);
            }
          }
        }
        expect(JSON.stringify(state).length).toBeLessThan(6000);
        expect(JSON.stringify(fuelMemoryOf(state)).length).toBeLessThanOrEqual(300);
        expect(parseFuelMemory(JSON.parse(JSON.stringify(fuelMemoryOf(state))))).toEqual(fuelMemoryOf(state));
      }),
      { numRuns: 80 },
    );
  });

  it('no history of one unchanging level is ever a change of it, whatever the vehicle does', () => {
    fc.assert(
      fc.property(stretches, fc.double({ min: 0.02, max: 0.98, noNaN: true }), (parts, level) => {
        const seconds = parts.flatMap(({ context, seconds: length, level: given }) =>
          made(given === null || given === 'unknown' ? given : level, length, context),
        );
        expect(changesOf(runTank(seconds).events)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('a drain of 0.08 to 0.5 over a minute to an hour while parked is always found, and adds up', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.55, max: 1, noNaN: true }),
        fc.double({ min: 0.08, max: 0.5, noNaN: true }),
        fc.integer({ min: 30, max: 3600 }),
        (level, by, durationS) => {
          const parked = made(level, 600 + durationS + 900, off);
          const events = changesOf(runTank(withChange(parked, { atS: 600, durationS, by: -by })).events);
          expect(events.length).toBeGreaterThan(0);
          expect(events.every(({ kind }) => kind === 'theft')).toBe(true);
          const sum = events.reduce((all, { before, after }) => all + before - after, 0);
          expect(Math.abs(sum - by)).toBeLessThan(standardFuelSettings.theftFraction + fuelLimits.restSpread);
        },
      ),
      { numRuns: 40 },
    );
  });
});
