// Numbers and texts that are written as bytes.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteText } from '../../src/core/events/byte-text.ts';

const into = new ByteText();
const written = (write: (into: ByteText) => void): string => {
  into.clear();
  write(into);
  return new TextDecoder().decode(into.copy());
};

it('writes every number as JavaScript does, coordinates and their edges too', () => {
  const edges = [
    0,
    -0,
    9,
    10,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53,
    -1,
    1e-6,
    9e-7,
    1e-7,
    0.1,
    -0.5,
    1e8,
    1e21,
    Number.NaN,
  ];
  const coordinate = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }).map((units) => units / 1e7);
  const numbers = fc.oneof(fc.constantFrom(...edges), coordinate, fc.double(), fc.maxSafeInteger());
  fc.assert(
    fc.property(numbers, (number) => {
      expect(written((text) => text.number(number))).toBe(String(number));
    }),
    { numRuns: 5000 },
  );
});

it('writes texts in any letters one after the other, however long they become', () => {
  const parts = fc.array(fc.string({ unit: 'grapheme', maxLength: 100 }), { maxLength: 2000 });
  fc.assert(
    fc.property(parts, (texts) => {
      const all = written((text) => {
        for (const [at, one] of texts.entries()) {
          if (at % 2 === 0) text.text(one);
          else text.bytes(new TextEncoder().encode(one));
        }
      });
      expect(all).toBe(texts.join(''));
    }),
    { numRuns: 50 },
  );
});
