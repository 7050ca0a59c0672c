// A part of a file is exactly what RFC 9110 section 14 says, and never outside of the file.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRangeFresh, rangeOf } from '../../broker/core/byte-range.ts';

describe('a range of bytes', () => {
  it.each([
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=0-99', 10, { start: 0, end: 9 }],
    ['bytes=3-', 10, { start: 3, end: 9 }],
    ['bytes=-3', 10, { start: 7, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    ['BYTES=1-2', 10, { start: 1, end: 2 }],
    ['bytes=10-', 10, 'none'],
    ['bytes=-0', 10, 'none'],
    ['bytes=0-0', 0, 'none'],
    ['bytes=5-4', 10, 'whole'],
    ['bytes=0-1,3-4', 10, 'whole'],
    ['bytes=-', 10, 'whole'],
    ['bytes=x-1', 10, 'whole'],
    ['lines=0-1', 10, 'whole'],
    ['bytes=99999999999999999999-', 10, 'whole'],
    [undefined, 10, 'whole'],
  ] as const)('%s of %d bytes is %j', (header, size, expected) => {
    expect(rangeOf(header, size)).toEqual(expected);
  });

  it('lies within the file whatever the header asks for', () => {
    const header = fc.oneof(fc.string(), fc.stringMatching(/^bytes=\d{0,17}-\d{0,17}$/));
    fc.assert(
      fc.property(header, fc.nat(), (text, size) => {
        const range = rangeOf(text, size);
        if (typeof range === 'string') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.start).toBeLessThanOrEqual(range.end);
        expect(range.end).toBeLessThan(size);
      }),
    );
  });

  it('is served for the same content only', () => {
    const now = { etag: '"a"', lastModified: 'Fri, 21 Nov 2025 00:00:00 GMT' };
    expect(isRangeFresh(undefined, now)).toBe(true);
    expect(isRangeFresh('"a"', now)).toBe(true);
    expect(isRangeFresh(now.lastModified, now)).toBe(true);
    for (const other of ['"b"', 'W/"a"', '', 'Fri, 21 Nov 2025 00:00:01 GMT']) {
      expect(isRangeFresh(other, now)).toBe(false);
    }
  });
});
