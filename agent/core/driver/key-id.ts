// Ids of drivers' keys: an iButton's ROM or an RFID tag as upper-case hex digits, the list of allowed ones, and the masked form.
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

/** Bytes as an id, in the given order. */
export function keyOf(bytes: readonly number[]): string {
  return bytes
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}
