// How many vehicles a low limit on open files leaves room for, and that it is read.
import { expect, it } from 'vitest';
import { connectionsWithin, descriptorLimit } from '../../broker/adapters/descriptor-limit.ts';

it.each([
  [20_000, 65_536, 20_000],
  [20_000, 16_384, 11_184],
  [20_000, 4096, 2048],
  [20_000, 1024, 512],
  [20_000, null, 20_000],
  [100, 1024, 100],
])('of %i connections, with a limit of %s open files, %i are taken', (wanted, limit, taken) => {
  expect(connectionsWithin(wanted, limit)).toBe(taken);
});

it('is read of this process', () => {
  expect(descriptorLimit()).toBeGreaterThan(0);
});
