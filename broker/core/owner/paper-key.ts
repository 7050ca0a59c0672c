// The paper backup of an owner key: four lines of Crockford's base32, each with its own checksum, so that a typing error is found in its line.
// Base32 in place of a list of words: it is read the same in every language, and needs no list of 2,048 words. Pure.
import { base32Of, fromBase32, grouped, readTyped } from '../../../src/core/crockford.ts';

const lines = 4;
/** Bytes of the key and of the checksum in a line: 16 characters together. */
const lineBytes = 8;
const sumBytes = 2;

type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** The checksum belongs to the place too, so that swapped lines are found. */
const sumOf = (line: number, data: Uint8Array, sha256: Sha256): Uint8Array =>
  sha256(Uint8Array.of(line, ...data)).slice(0, sumBytes);

/** @param seed 32 bytes. */
export function paperLines(seed: Uint8Array, sha256: Sha256): readonly string[] {
  return Array.from({ length: lines }, (_, index) => {
    const data = seed.slice(index * lineBytes, (index + 1) * lineBytes);
    return `${index + 1}: ${grouped(base32Of(Uint8Array.of(...data, ...sumOf(index + 1, data, sha256))))}`;
  });
}

export type PaperResult =
  | { readonly ok: true; readonly seed: Uint8Array }
  | { readonly ok: false; readonly reason: string };

/** Reads the four lines as they were typed; other lines and comments (#) are skipped. */
export function parsePaper(text: string, sha256: Sha256): PaperResult {
  const typed = new Map<number, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, number, rest] = /^\s*([1-4])\s*[:.)]\s*(.*)$/.exec(line) ?? [];
    if (number !== undefined && rest !== undefined) typed.set(Number(number), rest);
  }
  const parts: Uint8Array[] = [];
  for (let line = 1; line <= lines; line += 1) {
    const characters = readTyped(typed.get(line) ?? '');
    const bytes = fromBase32(characters);
    const data = bytes?.slice(0, lineBytes);
    if (bytes === null || data === undefined)
      return { ok: false, reason: `line ${line} has a character that is in no backup` };
    if (characters.length !== 16)
      return { ok: false, reason: `line ${line} has ${characters.length} characters in place of 16` };
    const sum = sumOf(line, data, sha256);
    if (sum.some((byte, index) => byte !== bytes[lineBytes + index]))
      return {
        ok: false,
        reason: `the checksum of line ${line} does not fit: a character is wrong, or two lines are swapped`,
      };
    parts.push(data);
  }
  return { ok: true, seed: Uint8Array.from(parts.flatMap((part) => [...part])) };
}
