// Numbers as answers and exports write them.
import { expect, test } from 'vitest';
import { epochSeconds } from '../../src/core/epoch-seconds.ts';
import { degreesText } from '../../src/core/geo/geo.ts';

test.each([
  [43.651_07, '43.65107'],
  [43.651_074_9, '43.65107'],
  [-79.347_015_1, '-79.34702'],
  [-0.000_001, '0.00000'],
  [0, '0.00000'],
  [-180, '-180.00000'],
])('writes %d degrees with five decimals and without a negative zero', (degrees, text) => {
  expect(degreesText(degrees)).toBe(text);
});

test.each([
  [null, 0],
  [0, 0],
  [-1, 0],
  [999, 0],
  [1000, 1],
  [1_763_680_000_999, 1_763_680_000],
])('gives whole epoch seconds of %s ms, at least 0', (ms, seconds) => {
  expect(epochSeconds(ms)).toBe(seconds);
});
