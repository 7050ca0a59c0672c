// Crockford's base32, for what people type and compare: no I, L, O (read as 1 and 0) and no U. Pure.

/** The index of a character is its value. */
export const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** As it was typed: any case, with or without hyphens and spaces. */
export const readTyped = (text: string): string =>
  text
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase()
    .replace(/[IL]/g, '1')
    .replace(/O/g, '0');

/** @param bytes their number is a multiple of 5. */
export function base32Of(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += crockford.charAt((value >> bits) & 31);
      value &= (1 << bits) - 1;
    }
  }
  return text;
}

/** Null: a character that is none of the alphabet's. */
export function fromBase32(text: string): Uint8Array | null {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    const digit = crockford.indexOf(character);
    if (digit < 0) return null;
    value = (value << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes.push((value >> bits) & 255);
      value &= (1 << bits) - 1;
    }
  }
  return Uint8Array.from(bytes);
}

/** In groups of four, for reading aloud. */
export const grouped = (text: string): string => text.match(/.{1,4}/g)?.join(' ') ?? '';
