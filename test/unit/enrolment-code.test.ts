// The code that an installer types: what people do to it with a telephone in one hand and a keyboard in the other.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codeIDPattern,
  createEnrolmentCode,
  enrolmentCodeBytes,
  formatEnrolmentCode,
  parseEnrolmentCode,
} from '../../src/core/wire/enrolment-code.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const characters = Array.from(alphabet);
const codes = fc
  .uint8Array({ minLength: enrolmentCodeBytes, maxLength: enrolmentCodeBytes })
  .map(createEnrolmentCode);

/** Another character in one place. */
const put = (text: string, at: number, character: string): string =>
  `${text.slice(0, at)}${character}${text.slice(at + 1)}`;

describe('an enrolment code', () => {
  it('is six groups of four, of which six characters name it and sixteen are secret', () => {
    fc.assert(
      fc.property(codes, (code) => {
        expect(formatEnrolmentCode(code)).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){5}[0-9A-HJKMNP-TV-Z]{4}$/);
        expect(code.codeID).toMatch(new RegExp(codeIDPattern));
        expect(code.secret).toHaveLength(16);
      }),
    );
  });

  it('takes every secret bit from the randomness', () => {
    const zero = new Uint8Array(enrolmentCodeBytes);
    const seen = new Set([formatEnrolmentCode(createEnrolmentCode(zero))]);
    for (let bit = 0; bit < enrolmentCodeBytes * 5; bit += 1) {
      const random = zero.slice();
      random[Math.floor(bit / 5)] = 1 << (bit % 5);
      seen.add(formatEnrolmentCode(createEnrolmentCode(random)));
    }
    expect(seen.size).toBe(1 + enrolmentCodeBytes * 5);
  });

  it('is read however it is typed', () => {
    const spellings: ((text: string) => string)[] = [
      (text) => text,
      (text) => text.toLowerCase(),
      (text) => text.replaceAll('-', ''),
      (text) => ` ${text.replaceAll('-', ' – ')}\n`,
      (text) => text.replaceAll('0', 'O').replaceAll('1', 'l'),
      (text) => text.replaceAll('0', 'o').replaceAll('1', 'I'),
    ];
    fc.assert(
      fc.property(codes, fc.constantFrom(...spellings), (code, spell) => {
        expect(parseEnrolmentCode(spell(formatEnrolmentCode(code)))).toEqual({ ok: true, ...code });
      }),
    );
  });

  it('with any single wrong character is refused, each place and each character', () => {
    fc.assert(
      fc.property(codes, (code) => {
        const text = formatEnrolmentCode(code).replaceAll('-', '');
        const wrong = Array.from(text).flatMap((right, at) =>
          characters.filter((other) => other !== right).map((other) => put(text, at, other)),
        );
        expect(wrong).toHaveLength(24 * 31);
        expect(wrong.filter((other) => parseEnrolmentCode(other).ok)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('with any two characters swapped or wrong is refused', () => {
    const places = fc.tuple(fc.nat({ max: 23 }), fc.nat({ max: 31 }));
    fc.assert(
      fc.property(codes, places, places, (code, [one, a], [two, b]) => {
        const text = formatEnrolmentCode(code).replaceAll('-', '');
        const swapped = put(put(text, one, text[two] ?? ''), two, text[one] ?? '');
        const wrong = put(put(text, one, alphabet.charAt(a)), two, alphabet.charAt(b));
        for (const other of [swapped, wrong]) {
          if (other !== text) expect(parseEnrolmentCode(other).ok).toBe(false);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('says what is wrong, and quotes nothing of the secret', () => {
    const good = formatEnrolmentCode(createEnrolmentCode(Uint8Array.from({ length: 22 }, (_, at) => at * 7)));
    const reason = (text: string) => {
      const parsed = parseEnrolmentCode(text);
      return parsed.ok ? 'it was taken' : parsed.reason;
    };
    expect(reason(good.slice(0, -1))).toBe('it has 23 characters in place of 24');
    expect(reason('')).toBe('it has 0 characters in place of 24');
    expect(reason(put(good, 6, 'U'))).toBe('"U" (in group 2) is in no code');
    expect(reason(put(good, 0, good.startsWith('Z') ? 'Y' : 'Z'))).toMatch(/check characters/);
  });

  it('is not what anything else is', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(...characters, 'o', 'i', 'u', '-', '\u2013', ' ', '\u0661', '\ud83d\ude00'),
          maxLength: 40,
        }),
        (text) => {
          const parsed = parseEnrolmentCode(text);
          if (parsed.ok) expect(parseEnrolmentCode(formatEnrolmentCode(parsed))).toEqual(parsed);
        },
      ),
    );
  });
});
