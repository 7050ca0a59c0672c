// Validates strings in MQTT packets (MQTT 3.1.1, 1.5.3). Pure, and fast for plain ASCII, because every PUBLISH passes here. A decoder that repairs
// bad bytes would accept two different names as the same.

/** Continuation bytes, smallest code point and first bits, by the number of leading ones of the first byte. */
const shapes = [
  { more: 1, least: 0x80, mask: 0x1f },
  { more: 2, least: 0x800, mask: 0x0f },
  { more: 3, least: 0x1_0000, mask: 0x07 },
] as const;

function shapeOf(first: number): (typeof shapes)[number] | null {
  if (first >= 0xc2 && first <= 0xdf) return shapes[0];
  if (first >= 0xe0 && first <= 0xef) return shapes[1];
  if (first >= 0xf0 && first <= 0xf4) return shapes[2];
  return null;
}

/** Control characters U+0080 to U+009F, surrogates, non-characters, and values that are no code point. */
function isUnwanted(point: number): boolean {
  if (point <= 0x9f || point > 0x10_ffff) return true;
  if (point >= 0xd800 && point <= 0xdfff) return true;
  return (point >= 0xfdd0 && point <= 0xfdef) || (point & 0xfffe) === 0xfffe;
}

/** Size of the non-ASCII character at `at`, bytes; 0: it is not allowed there. */
function lengthOfCharacter(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at] ?? 0;
  const shape = shapeOf(first);
  if (shape === null || at + shape.more >= end) return 0;
  let point = first & shape.mask;
  for (let index = at + 1; index <= at + shape.more; index++) {
    const byte = bytes[index] ?? 0;
    if ((byte & 0xc0) !== 0x80) return 0;
    point = (point << 6) | (byte & 0x3f);
  }
  return point < shape.least || isUnwanted(point) ? 0 : shape.more + 1;
}

/**
 * True when `bytes[start..end)` is well-formed UTF-8 (MQTT-1.5.3-1) without U+0000 (MQTT-1.5.3-2) and without the control characters and
 * non-characters that 1.5.3 lets a server refuse.
 */
export function isText(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte === 0x7f) return false;
    if (byte < 0x80) {
      at += 1;
      continue;
    }
    const length = lengthOfCharacter(bytes, at, end);
    if (length === 0) return false;
    at += length;
  }
  return true;
}
