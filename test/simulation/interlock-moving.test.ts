// The modes that may meet a running engine, against a hostile world: never above 20 km/h while the receiver is honest, never
// with an unknown speed, never without thirty seconds of warning.
import { expect, it } from 'vitest';
import type { CutMode } from '../../agent/core/protection/interlock.ts';
import { replayHostile, runHostileCampaign } from '../support/hostile-campaign.ts';

/** Seeds that once failed, each with the fault that it found. */
const regressions: readonly (readonly [mode: CutMode, seed: number, found: string])[] = [
  ['below_speed', 16_025, 'a key turned off after the order: the warning ended and the order went on'],
];

it.each(regressions)('%s: seed %s no longer fails: %s', (mode, seed) => {
  expect(replayHostile(mode, seed).breaches).toEqual([]);
});

it('stops no vehicle above the ceiling, nor without a warning', () => {
  const { counts, failed } = runHostileCampaign(['at_standstill', 'below_speed'], 1500);
  expect(failed.join('\n')).toBe('');
  expect(counts.withIgnitionOn).toBeGreaterThan(20);
}, 86_400_000);
