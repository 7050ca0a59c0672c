// The default mode against a hostile world: no restrictive contact closes on a vehicle that moves, unless two proven, independent
// witnesses mislead at the same time; never late, never twice, never before the disk knows. `npm run test:interlock` lives a million
// lives; FLEETWARD_RUNS and FLEETWARD_FIRST_RUN choose.
import { expect, it } from 'vitest';
import { replayHostile, runHostileCampaign, runParkedCampaign } from '../support/hostile/hostile-campaign.ts';

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [seed: number, found: string])[] = [];

it.each(regressions)('keeps seed %s safe: %s', (seed) => {
  expect(replayHostile('ignition_off', seed).breaches).toEqual([]);
});

it('closes no restrictive contact on a vehicle that moves', () => {
  const { counts, failed } = runHostileCampaign('ignition_off', 1000);
  expect(failed.join('\n')).toBe('');
  // A world in which nothing happens would prove nothing.
  expect(counts.closings).toBeGreaterThan(30);
  expect(counts.reboots).toBeGreaterThan(100);
}, 86_400_000);

it('cuts parked vehicles with good sensors within 30 s', () => {
  const { share, late, breaches } = runParkedCampaign('ignition_off', 150);
  expect(breaches).toEqual([]);
  expect(share, late.join('\n')).toBeGreaterThanOrEqual(0.99);
});
