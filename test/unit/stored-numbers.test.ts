// What of a boot is stored, against a plain set of numbers: whatever comes in which order and how often.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addRange,
  changesOf,
  isStored,
  type Range,
  type StoredNumbers,
  storedNumbers,
} from '../../broker/core/events/stored-numbers.ts';

const most = 60;
const range = fc
  .tuple(fc.integer({ min: 1, max: most }), fc.integer({ min: 0, max: 8 }))
  .map(([first, more]): Range => [first, first + more]);
const none: StoredNumbers = { upTo: 0, ranges: [] };
const numbersOf = (ranges: readonly Range[]): Set<number> =>
  new Set(
    ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_unused, at) => first + at)),
  );

describe('stored numbers', () => {
  test('are those that were added, and no others, in a form of which there is one', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 25 }), (ranges) => {
        const stored = ranges.reduce(addRange, none);
        const truth = numbersOf(ranges);
        const all = Array.from({ length: most + 10 }, (_unused, at) => at + 1);
        expect(all.filter((seq) => isStored(stored, seq))).toEqual(all.filter((seq) => truth.has(seq)));
        // A gap before each range, also before the first.
        const ends = [stored.upTo, ...stored.ranges.map(([, last]) => last)];
        expect(stored.ranges.every(([first, last], at) => first > (ends[at] ?? 0) + 1 && last >= first)).toBe(
          true,
        );
      }),
      { numRuns: 1000 },
    );
  });

  test('come out the same from a table that others have left in any order', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), (ranges) => {
        expect(storedNumbers(0, ranges.toReversed())).toEqual(ranges.reduce(addRange, none));
      }),
    );
  });

  test('the changes bring a table from one state to the next', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), fc.array(range, { maxLength: 6 }), (before, more) => {
        const old = before.reduce(addRange, none);
        const now = more.reduce(addRange, old);
        const table = new Map(old.ranges);
        const { gone, put } = changesOf(old.ranges, now.ranges);
        for (const first of gone) expect(table.delete(first)).toBe(true);
        for (const [first, last] of put) table.set(first, last);
        expect([...table].sort(([one], [other]) => one - other)).toEqual(now.ranges);
      }),
      { numRuns: 500 },
    );
  });
});
