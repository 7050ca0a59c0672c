// Ids of drivers' keys: an iButton's ROM or an RFID tag as upper-case hex digits, the list of allowed ones, and what may be shown of one.
// Ids are personal data: logs, `status` and `doctor` show the masked form only. Pure.

/** An RFID tag has 10 digits, an iButton 16. */
const keyPattern = /^(?:[0-9A-F]{10}|[0-9A-F]{16})$/;

export function isKeyID(value: unknown): value is string {
  return typeof value === 'string' && keyPattern.test(value);
}

/** The ids of a list; empty for one that was not given. */
export function parseKeyList(text: string | undefined): ReadonlySet<string> {
  const words = (text ?? '').toUpperCase().split(/[\s,]+/);
  return new Set(words.filter(isKeyID));
}

/** Four digits of the serial number: the family code and the CRC of an iButton identify no key. */
export function maskKey(id: string): string {
  return `…${id.length === 16 ? id.slice(10, 14) : id.slice(-4)}`;
}

/** CRC-8 of 1-Wire (Maxim application note 27): x^8 + x^5 + x^4 + 1, lowest bit first. 0 over a ROM with its CRC. */
export function crc8(bytes: Iterable<number>): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >> 1) ^ 0x8c : crc >> 1;
  }
  return crc;
}

/** Bytes as an id, in the given order. */
export function keyOf(bytes: readonly number[]): string {
  return bytes
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
