// Whatever text comes in, XML 1.0 can hold what comes out, nothing of it is markup, and what XML can hold comes back as it was.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeXml, escapeXmlAttribute } from '../../src/core/xml-text.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    ']]>',
    '<!--',
    '&amp;',
    '&#0;',
    '\ud800',
    '\udc00\ud800',
    '\u0000',
    '\u001b[31m',
    '\u007f',
    '\ufffe',
    '\uffff',
    '\u{10ffff}',
    '\r\n\t',
  ),
);

const names: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#9': '\t',
  '#10': '\n',
  '#13': '\r',
};

/** What a parser makes of it. */
const read = (escaped: string): string =>
  escaped.replaceAll(/&(\w+|#\d+);/g, (whole, name: string) => names[name] ?? whole);

/** XML 1.0 (2.2) `Char`, said by code point and not by the pattern of the code. */
const isChar = (code: number): boolean =>
  [9, 10, 13].includes(code) ||
  (code >= 0x20 && code <= 0xd7ff) ||
  (code >= 0xe000 && code <= 0xfffd) ||
  (code >= 0x10000 && code <= 0x10ffff);
const codesOf = (text: string): readonly number[] => Array.from(text, (one) => one.codePointAt(0) ?? 0);

describe('text for XML', () => {
  it.each([
    ['an element', escapeXml, /[<>"'\r]|&(?!(amp|lt|gt|quot|apos|#13);)/],
    ['an attribute', escapeXmlAttribute, /[<>"'\r\n\t]|&(?!(amp|lt|gt|quot|apos|#9|#10|#13);)/],
  ])(
    'of %s holds no markup and no character that XML cannot hold, and gives back the rest',
    (_, escape, wrong) => {
      fc.assert(
        fc.property(anyText, (text) => {
          const escaped = escape(text);
          expect(escaped).not.toMatch(wrong);
          expect(codesOf(escaped).filter((code) => !isChar(code))).toEqual([]);
          expect(escaped.isWellFormed()).toBe(true);
          const kept = codesOf(text).map((code) => (isChar(code) ? code : 0xfffd));
          expect(codesOf(read(escaped))).toEqual(kept);
        }),
        { numRuns: 2000 },
      );
    },
  );
});
