// The form of a driver's key. Pure.

/**
 * The form in which a key is kept and found. The hex digits of an iButton (16) or an RFID tag (10) are upper-case and without
 * separators, however they were typed or sent; any other id stays as it is.
 */
export function keyForm(text: string): string {
  const bare = text.replace(/[\s:.-]/g, '').toUpperCase();
  return /^(?:[0-9A-F]{10}|[0-9A-F]{16})$/.test(bare) ? bare : text.trim();
}
