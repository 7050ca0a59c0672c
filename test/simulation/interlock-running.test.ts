// The mode that may meet a running engine, against a hostile world: only at standstill shown by two proven witnesses of the vehicle
// itself, and only after thirty seconds of warning.
import { expect, it } from 'vitest';
import { extent } from '../support/extent.ts';
import { replayHostile, runHostileCampaign } from '../support/hostile/hostile-campaign.ts';

const running = { mode: 'at_standstill', isPositive: false } as const;

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [seed: number, found: string])[] = [
  [5_242_726, 'the judge counted a lie of the receiver from a fault that took over from an earlier one'],
  [5_284_740, 'a motion input that was contradicted on the road and works again did not speak against a cut'],
];

it.each(regressions)('keeps seed %s safe: %s', (seed) => {
  expect(replayHostile(running, seed).breaches).toEqual([]);
});

it.each([
  ['plain', running, extent({ gate: 800, nightly: 2000 })],
  ['positive', { ...running, isPositive: true }, extent({ gate: 400, nightly: 1000 })],
  ['plain (with a vehicle bus)', { ...running, hasBus: true }, 700],
] as const)(
  'cuts no moving vehicle and none without a warning, on %s wiring',
  (_name, setup, runs) => {
    const { counts, failed } = runHostileCampaign(setup, runs);
    expect(failed.join('\n')).toBe('');
    expect(counts.closings).toBeGreaterThan(30);
  },
  86_400_000,
);
