// The default mode against a hostile world, on plain and on positive wiring: no restrictive contact closes on a vehicle that moves, unless
// two independent causes mislead proven witnesses at the same time; never late, never twice, never before the disk knows. And a parked
// vehicle with good sensors is cut. `npm run test:interlock` lives a million lives; FLEETWARD_TEST_RUNS and FLEETWARD_TEST_FIRST_RUN choose.
import { expect, it } from 'vitest';
import { extent } from '../support/extent.ts';
import { busFaults } from '../support/hostile/hostile-bus.ts';
import {
  replayHostile,
  runDayCampaign,
  runHostileCampaign,
  runParkedCampaign,
} from '../support/hostile/hostile-campaign.ts';
import { noCounts } from '../support/hostile/hostile-life.ts';
import { type Circumstance, liveParked } from '../support/hostile/hostile-plots.ts';

const plain = { mode: 'ignition_off', isPositive: false } as const;
const positive = { mode: 'ignition_off', isPositive: true } as const;
const withBus = { ...plain, hasBus: true } as const;

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [seed: number, found: string])[] = [
  [
    5_477_245,
    'the first fix after a restart of the unit counted as one that varies, from a receiver that hung',
  ],
];

it.each(regressions)('keeps seed %s safe: %s', (seed) => {
  expect(replayHostile(plain, seed).breaches).toEqual([]);
});

it.each([
  ['plain', plain, extent({ gate: 1200, nightly: 3000 })],
  ['positive', positive, extent({ gate: 800, nightly: 2000 })],
  ['plain', withBus, extent({ gate: 600, nightly: 1500 })],
] as const)(
  'closes no restrictive contact on a vehicle that moves, on %s wiring, %o',
  (_name, setup, runs) => {
    const { counts, failed } = runHostileCampaign(setup, runs);
    expect(failed.join('\n')).toBe('');
    // A world in which nothing happens would prove nothing.
    expect(counts.closings).toBeGreaterThan(30);
    expect(counts.reboots).toBeGreaterThan(100);
  },
  86_400_000,
);

it('closes none in hours of trips and parking either, with a fault that waits for its day', () => {
  const { counts, failed } = runDayCampaign(plain, 2, 12);
  expect(failed.join('\n')).toBe('');
  expect(counts.closings).toBeGreaterThan(10);
}, 86_400_000);

const bySky: readonly Circumstance[] = [
  'sky',
  'charger',
  'restart',
  'power',
  'missing fixes',
  'missing sentences',
  'slow receiver',
  'town',
  'hasty key',
  'shunting',
];

it.each([plain, positive, withBus].flatMap((setup) => bySky.map((where) => [where, setup] as const)))(
  'cuts a parked vehicle with good sensors within 30 s: %s, %o',
  (where, setup) => {
    const { share, late, breaches } = runParkedCampaign({ ...setup, where, withinMs: 30_000 }, 60);
    expect(breaches).toEqual([]);
    expect(share, late.join('\n')).toBeGreaterThanOrEqual(0.98);
  },
);

it('cuts a vehicle in a garage within 60 s on positive wiring, and never on plain wiring', () => {
  const garage = { where: 'garage', withinMs: 60_000 } as const;
  expect(runParkedCampaign({ ...positive, ...garage }, 60).share).toBeGreaterThanOrEqual(0.98);
  expect(runParkedCampaign({ ...plain, ...garage }, 20).share).toBe(0);
});

it.each([undefined, ...busFaults])(
  'cuts a parked vehicle as soon with a bus of any make as without one, where the bus is wrong: %s',
  (busFault) => {
    const isWorse: string[] = [];
    // A gateway that repeats the frames of a drive shows one: as long as it does, nothing is cut. A cut seconds after a movement waits for the
    // end of that movement on the bus too.
    const unlike: readonly Circumstance[] =
      busFault === 'repeats' ? ['shunting', 'charger', 'hasty key'] : ['shunting'];
    for (const where of bySky.filter((one) => !unlike.includes(one)))
      for (let seed = 0; seed < extent({ gate: 10, nightly: 25 }); seed += 1) {
        const given = { ...plain, where };
        const without = liveParked(seed, given, noCounts());
        const life = liveParked(seed, { ...given, hasBus: true, busFault }, noCounts());
        // Its luck is another one: the receiver may show a rise, which decides nothing, a few times more.
        const mostMs = (without.confirmedMs ?? Number.POSITIVE_INFINITY) + 5000;
        if (life.breaches.length > 0 || (life.confirmedMs ?? Number.POSITIVE_INFINITY) > mostMs)
          isWorse.push(`${where}, seed ${seed}: ${life.confirmedMs} for ${without.confirmedMs}`);
      }
    expect(isWorse).toEqual([]);
  },
);
