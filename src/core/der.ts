// The part of DER (ITU-T X.690) for a certificate request: a writer of short values, so the agent needs no
// library. Pure. Write-only.

export const derTags = {
  integer: 0x02,
  bitString: 0x03,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A constructed, context-specific tag: `[number]`. */
export const derContext = (number: number): number => 0xa0 | number;

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function lengthBytes(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  if (length < 0x100) return Uint8Array.of(0x81, length);
  return Uint8Array.of(0x82, length >> 8, length & 0xff);
}

/** One value. @param contents its parts in order, less than 64 KiB in all. */
export function encodeDer(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = join(contents);
  return join([Uint8Array.of(tag), lengthBytes(content.length), content]);
}

/** An object identifier in dotted form. */
export function encodeOid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const digits = [arc & 0x7f];
    for (let left = arc >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  });
  return encodeDer(derTags.oid, Uint8Array.from(bytes));
}

/** A bit string of whole bytes. */
export function encodeBits(bytes: Uint8Array): Uint8Array {
  return encodeDer(derTags.bitString, Uint8Array.of(0), bytes);
}

/** A distinguished name of one common name (RFC 5280 section 4.1.2.4). */
export function encodeCommonName(name: string): Uint8Array {
  const value = encodeDer(derTags.utf8, new TextEncoder().encode(name));
  const attribute = encodeDer(derTags.sequence, encodeOid('2.5.4.3'), value);
  return encodeDer(derTags.sequence, encodeDer(derTags.set, attribute));
}
