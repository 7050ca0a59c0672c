// The tank's watch on every recorded log of a real sender (slosh of up to 33 points within a second): no alarm on any of them,
// however they are cut, repeated, shifted and parked in between; and thefts and refills put into them are found.
import { describe, expect, it } from 'vitest';
import { readShared, sharedData, sharedTitle } from '../support/machine/shared-data.ts';
import {
  changesOf,
  type FuelLogName,
  fuelLogNames,
  isTold,
  lastLevel,
  parked,
  readFuelLog,
  runTank,
  type TankSecond,
  withChange,
} from '../support/vehicle/fuel-runs.ts';

const isMissing = sharedData('fuel') === null || sharedData('vehicle') === null;
const logs = new Map<FuelLogName, readonly TankSecond[]>(
  isMissing ? [] : fuelLogNames.map((name) => [name, readFuelLog(name)]),
);
const logOf = (name: FuelLogName): readonly TankSecond[] => logs.get(name) ?? [];
const told = (seconds: readonly TankSecond[], stepMs = 1000): readonly string[] =>
  runTank(seconds, { stepMs })
    .events.filter(isTold)
    .map((event) => JSON.stringify(event));

const level = (second: TankSecond | undefined): number =>
  typeof second?.level === 'number' ? second.level : 0;
const middle = (seconds: readonly TankSecond[]): number =>
  seconds.reduce((sum, second) => sum + level(second), 0) / Math.max(1, seconds.length);

/** The log moved so that its first minutes go on where another ended. */
function shifted(seconds: readonly TankSecond[], by: number): readonly TankSecond[] {
  return seconds.map((second) => ({ ...second, level: Math.min(1, Math.max(0, level(second) + by)) }));
}

/** The sender reads this with the ignition off. */
const asleep = (seconds: number, reading: number | null): readonly TankSecond[] =>
  Array.from({ length: seconds }, () => ({
    level: reading,
    ignition: 'off' as const,
    motion: 'standing' as const,
    supplyV: 12.3,
  }));

const noise = logOf('carobd-idle46.csv.gz').slice(0, 900);

describe.skipIf(isMissing)(sharedTitle('no alarm on any recorded log', 'fuel'), () => {
  it.each(fuelLogNames)('%s as it is: 0 of refill, theft, low, fault', (name) => {
    expect(told(logOf(name))).toEqual([]);
  });

  it.each(fuelLogNames)('%s without a speed, with a late one, and with every stop a creep', (name) => {
    const log = logOf(name);
    const unknown = log.map((second) => ({ ...second, motion: 'unknown' as const }));
    const late = log.map((second, at) => ({
      ...second,
      motion: log[Math.max(0, at - 10)]?.motion ?? 'unknown',
    }));
    const early = log.map((second, at) => ({
      ...second,
      motion: log[Math.min(log.length - 1, at + 10)]?.motion ?? 'unknown',
    }));
    const creeping = log.map(
      (second, at) => ({ ...second, motion: at % 97 < 4 ? 'moving' : second.motion }) as const,
    );
    const blind = log.map((second) => ({ ...second, ignition: 'unknown' as const }));
    for (const seconds of [unknown, late, early, creeping, blind]) expect(told(seconds)).toEqual([]);
  });

  it.each(fuelLogNames)('%s sampled every 5 s and every 30 s, and with a third of it lost', (name) => {
    const log = logOf(name);
    for (const every of [5, 30]) {
      expect(
        told(
          log.filter((_, at) => at % every === 0),
          every * 1000,
        ),
      ).toEqual([]);
    }
    const lossy = log.map((second, at) =>
      (at * 7919) % 100 < 33 ? { ...second, level: 'unknown' as const } : second,
    );
    expect(told(lossy)).toEqual([]);
  });

  it.each(fuelLogNames)('%s with the ignition off for minutes and hours at 12 places of it', (name) => {
    const log = logOf(name);
    for (let cut = 1; cut <= 12; cut += 1) {
      const at = Math.floor((log.length * cut) / 13);
      const head = log.slice(0, at);
      const seconds = cut % 6 === 0 ? 5400 : 120 * (cut % 4) + 60;
      // A live sender, and one that sleeps with the ignition: 0, nothing, full.
      const reading = [0, null, 1][cut % 3] ?? null;
      const rest =
        cut % 2 === 0 ? parked(noise, { level: lastLevel(head), seconds }) : asleep(seconds, reading);
      expect(told([...head, ...rest, ...log.slice(at)])).toEqual([]);
    }
  });

  it.each(fuelLogNames)('%s repeated three times, each time going on where it ended', (name) => {
    const log = logOf(name);
    const falls = middle(log.slice(-600)) - middle(log.slice(0, 600));
    const rounds = [0, 1, 2].flatMap((round) => [
      ...shifted(log, falls * round),
      ...asleep(900, round === 0 ? 0 : null),
    ]);
    expect(told(rounds)).toEqual([]);
  });

  it('all logs one after the other, each moved to go on where the one before ended, in both orders', () => {
    for (const names of [fuelLogNames, fuelLogNames.toReversed()]) {
      let day: readonly TankSecond[] = [];
      for (const name of names) {
        const log = logOf(name);
        const by = day.length === 0 ? 0 : middle(day.slice(-600)) - middle(log.slice(0, 600));
        const moved = shifted(log, by);
        day = [...day, ...moved, ...parked(noise, { level: lastLevel(moved), seconds: 1800 })];
      }
      expect(told(day)).toEqual([]);
    }
  });

  it.each(fuelLogNames)('%s at other levels of the tank: no theft, no refill, no fault', (name) => {
    for (const by of [-0.3, -0.15, 0.05]) {
      const events = runTank(shifted(logOf(name), by)).events;
      expect(events.filter(({ kind }) => kind !== 'level' && kind !== 'low')).toEqual([]);
    }
  });

  it.each(fuelLogNames)('%s with a restart at 5 places of it', (name) => {
    const log = logOf(name);
    for (let cut = 1; cut <= 5; cut += 1) {
      const at = Math.floor((log.length * cut) / 6);
      const { memory, events } = runTank(log.slice(0, at));
      const rest = runTank(log.slice(at), { memory, startMs: cut });
      expect([...events, ...rest.events].filter(isTold)).toEqual([]);
    }
  });

  it('the trace of the Ford: ignition from accessory to run and back, a damped sender', () => {
    const lines = new TextDecoder()
      .decode(readShared('vehicle/openxc-driving2.csv.gz'))
      .trim()
      .split('\n')
      .slice(1);
    let now: TankSecond = { level: 'unknown', ignition: 'unknown', motion: 'unknown', supplyV: null };
    const seconds = lines.flatMap((line) => {
      const [, signal, value] = line.split(',');
      if (signal === 'fuel_level') return [{ ...now, level: Number(value) }];
      if (signal === 'ignition_status') now = { ...now, ignition: value === 'off' ? 'off' : 'on' };
      if (signal === 'vehicle_speed') now = { ...now, motion: Number(value) > 3 ? 'moving' : 'standing' };
      return [now];
    });
    expect(seconds.filter((second) => typeof second.level === 'number')).toHaveLength(78);
    expect(told(seconds, 100)).toEqual([]);
    expect(told(seconds, 1000)).toEqual([]);
  });
});

interface Trial {
  readonly by: number;
  readonly durationS: number;
  readonly ignition: 'on' | 'off';
}

/** How many of six real stops show the change, and the part of it that was told. */
function detect(trial: Trial): { readonly found: number; readonly of: number; readonly share: number } {
  const { by, durationS, ignition } = trial;
  const drive = logOf('carobd-long2.csv.gz').slice(900, 1500);
  let found = 0;
  let of = 0;
  let sum = 0;
  for (const start of by > 0 ? [0.15, 0.25, 0.35] : [0.6, 0.75, 0.9]) {
    for (const from of [0, 500]) {
      const lead = shifted(drive, start - lastLevel(drive));
      const stop = parked(noise.slice(from), { level: start, seconds: 600 + durationS + 600, ignition });
      const changes = changesOf(runTank([...lead, ...withChange(stop, { atS: 600, durationS, by })]).events);
      of += 1;
      found += changes.length > 0 ? 1 : 0;
      sum += changes.reduce((all, change) => all + change.after - change.before, 0);
    }
  }
  return { found, of, share: sum / of / by };
}

describe.skipIf(isMissing)(sharedTitle('thefts and refills put into recorded noise', 'fuel'), () => {
  it.each([-0.06, -0.08, -0.1, -0.2, -0.5])(
    'a theft of %d while parked, from half a minute to four hours',
    (by) => {
      const longest = by === -0.06 || by === -0.2 ? [4 * 3600] : [];
      for (const durationS of [30, 120, 600, 3600, ...longest]) {
        const { found, of, share } = detect({ by, durationS, ignition: 'off' });
        expect([durationS, found]).toEqual([durationS, of]);
        expect(share).toBeLessThan(1.1);
        // What is told may end short of the last piece, which is below the threshold.
        expect(share).toBeGreaterThan(1 - 0.055 / -by);
      }
    },
  );

  it.each([-0.1, -0.2, -0.5])('a theft of %d while idling, up to ten minutes', (by) => {
    for (const durationS of [30, 120, 600]) {
      const { found, of } = detect({ by, durationS, ignition: 'on' });
      expect([durationS, found]).toEqual([durationS, of]);
    }
  });

  it.each([0.06, 0.1, 0.3, 0.6])(
    'a refill of %d with the ignition off, and of 0.09 and more with it on',
    (by) => {
      for (const durationS of [30, 120, 600]) {
        const { found, of } = detect({ by, durationS, ignition: 'off' });
        expect([durationS, found]).toEqual([durationS, of]);
        if (by < 0.09) continue;
        const idling = detect({ by, durationS, ignition: 'on' });
        expect([durationS, idling.found]).toEqual([durationS, idling.of]);
      }
    },
  );

  it('an unseen theft or refill of 0.25 between two recorded drives is reported on the second', () => {
    const log = logOf('carobd-long2.csv.gz');
    for (let at = 1200; at < 6000; at += 600) {
      for (const by of [-0.25, 0.25]) {
        const seconds = [...log.slice(0, at), ...asleep(1800, 0), ...shifted(log.slice(at), by)];
        const changes = changesOf(runTank(seconds).events);
        expect([at, by, changes.map(({ kind }) => kind)]).toEqual([at, by, [by < 0 ? 'theft' : 'refill']]);
      }
    }
  });
});
