// The default mode against a hostile world: the cut-off contact never closes on a vehicle that drives, never late, never twice,
// never before the disk knows. `npm run test:interlock` lives a million lives; FLEETWARD_RUNS and FLEETWARD_FIRST_RUN choose.
import { expect, it } from 'vitest';
import { replayHostile, runHostileCampaign } from '../support/hostile-campaign.ts';

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [seed: number, found: string])[] = [
  [1357, 'a key turned off on a rolling vehicle, then a restart: the record must know that it was driven'],
  [1_029_488, 'the world forgot an ignition that the disk had yet to take, in a restart with a loose wire'],
  [1_126_067, 'the same'],
  [1_162_390, 'the same'],
  [2_299_994, 'the same'],
];

it.each(regressions)('seed %s no longer fails: %s', (seed) => {
  expect(replayHostile('ignition_off', seed).breaches).toEqual([]);
});

it('prevents starts, and never stops a moving vehicle', () => {
  const { counts, failed } = runHostileCampaign(['ignition_off'], 4000);
  expect(failed.join('\n')).toBe('');
  // A world in which nothing happens would prove nothing.
  expect(counts.closings).toBeGreaterThan(100);
  expect(counts.reboots).toBeGreaterThan(100);
}, 86_400_000);
