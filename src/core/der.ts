// The little of DER (ITU-T X.690) that certificates and requests for them need: a writer, and a strict reader of definite
// lengths. Pure. The reader never throws and never reads beyond the bytes it was given.

export const derTags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
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

export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With its tag and length. */
  readonly whole: Uint8Array;
}

function readLength(
  bytes: Uint8Array,
  at: number,
): { readonly length: number; readonly next: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  if (first < 0x80) return { length: first, next: at + 1 };
  const count = first & 0x7f;
  // No indefinite lengths, nothing of 64 KiB or more, and the shortest form only.
  if (count < 1 || count > 2 || at + count >= bytes.length) return null;
  const length = count === 1 ? (bytes[at + 1] ?? 0) : ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return length < (count === 1 ? 0x80 : 0x100) ? null : { length, next: at + 1 + count };
}

/** The values that stand one after the other; null when the bytes are anything else. Tags have one byte. */
export function decodeDer(bytes: Uint8Array): readonly DerValue[] | null {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0;
    const found = readLength(bytes, at + 1);
    if (found === null || (tag & 0x1f) === 0x1f) return null;
    const end = found.next + found.length;
    if (end > bytes.length) return null;
    values.push({ tag, content: bytes.slice(found.next, end), whole: bytes.slice(at, end) });
    at = end;
  }
  return values;
}

/** The members of the one value in the bytes when it has this tag; null otherwise. */
export function decodeDerMembers(bytes: Uint8Array, tag: number): readonly DerValue[] | null {
  const [value, ...rest] = decodeDer(bytes) ?? [];
  return value === undefined || rest.length > 0 || value.tag !== tag ? null : decodeDer(value.content);
}

/** The whole bytes of a bit string; null when it is none. */
export function decodeBits({ tag, content }: DerValue): Uint8Array | null {
  return tag === derTags.bitString && content[0] === 0 ? content.slice(1) : null;
}
