// The one-time code that an installer types to enrol a vehicle: six groups of Crockford's base32. A public part names the code, 80 bits are secret,
// and two characters detect typing errors before anything is sent. Pure. A code with one or two wrong characters must never be accepted or corrected.

import { crockford as alphabet, readTyped } from '../crockford.ts';

/** Characters of each part: 30 bits that name the code, 80 secret bits, 10 check bits. */
const lengths = { codeID: 6, secret: 16, check: 2, group: 4 } as const;
const dataLength = lengths.codeID + lengths.secret;
const totalLength = dataLength + lengths.check;

/** Number of random bytes for `createEnrolmentCode`. */
export const enrolmentCodeBytes = dataLength;

/** The public part of a code, for JSON schemas. */
export const codeIDPattern = `^[${alphabet}]{${lengths.codeID}}$`;

export interface EnrolmentCode {
  /** Names the code; not secret. */
  readonly codeID: string;
  /** 16 characters of 5 random bits each. */
  readonly secret: string;
}

/** Powers of the generator 2 of the field of 32 elements, modulo x^5 + x^2 + 1. */
const powers: readonly number[] = Array.from({ length: 31 }).reduce<readonly number[]>((so) => {
  const next = (so.at(-1) ?? 0) << 1;
  return so.length === 0 ? [1] : [...so, next >= 32 ? next ^ 0b100101 : next];
}, []);

function multiply(left: number, right: number): number {
  if (left === 0 || right === 0) return 0;
  return powers[(powers.indexOf(left) + powers.indexOf(right)) % 31] ?? 0;
}

/** Coefficients of (x - 2)(x - 4) below x^2, highest first: a Reed-Solomon code of distance 3 for up to 31 characters. */
const generator = [2 ^ 4, multiply(2, 4)] as const;

/** The two check characters: the remainder of the data after division by the generator. */
function checkOf(data: string): string {
  const rest = Array.from(data).reduce<readonly [number, number]>(
    ([high, low], character) => {
      const factor = high ^ alphabet.indexOf(character);
      return [low ^ multiply(factor, generator[0]), multiply(factor, generator[1])];
    },
    [0, 0],
  );
  return rest.map((value) => alphabet.charAt(value)).join('');
}

/** @param random at least `enrolmentCodeBytes` bytes suitable for keys; five bits of each are used. */
export function createEnrolmentCode(random: Uint8Array): EnrolmentCode {
  const data = Array.from(random.slice(0, dataLength), (byte) => alphabet.charAt(byte & 31)).join('');
  return { codeID: data.slice(0, lengths.codeID), secret: data.slice(lengths.codeID) };
}

/** The code for display: `7K3M-9QPX-…`, six groups of four. */
export function formatEnrolmentCode({ codeID, secret }: EnrolmentCode): string {
  const data = `${codeID}${secret}`;
  const groups = `${data}${checkOf(data)}`.match(new RegExp(`.{${lengths.group}}`, 'g')) ?? [];
  return groups.join('-');
}

export type ParsedCode =
  | ({ readonly ok: true } & EnrolmentCode)
  | { readonly ok: false; readonly reason: string };

/**
 * Parses a typed code: any case, with or without hyphens and spaces, I and L for 1, O for 0. It detects one or two wrong characters and two swapped
 * ones always; it misses one in 1024 of the other errors.
 */
export function parseEnrolmentCode(text: string): ParsedCode {
  const plain = readTyped(text);
  const characters = Array.from(plain);
  const wrongAt = characters.findIndex((character) => !alphabet.includes(character));
  if (wrongAt !== -1) {
    const group = Math.floor(wrongAt / lengths.group) + 1;
    return { ok: false, reason: `${JSON.stringify(characters[wrongAt])} (in group ${group}) is in no code` };
  }
  if (characters.length !== totalLength) {
    return { ok: false, reason: `it has ${characters.length} characters in place of ${totalLength}` };
  }
  const data = plain.slice(0, dataLength);
  if (checkOf(data) !== plain.slice(dataLength)) {
    return {
      ok: false,
      reason: 'its check characters do not fit: one of the others is wrong, or two are swapped',
    };
  }
  return { ok: true, codeID: data.slice(0, lengths.codeID), secret: data.slice(lengths.codeID) };
}
