// Identifiers as they appear in topics, paths and keys. Letters, digits, underscore and hyphen only: no dot, because
// RabbitMQ and NATS map `/` to `.`, and nothing that could become a file path or a topic wildcard.

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The pattern's source, for JSON schemas. */
export const idPatternSource = idPattern.source;

/** Account, device, user, boot and command ids: 1 to 64 of `[A-Za-z0-9_-]`. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}

/** Lower-case hexadecimal of random bytes, for boot ids (8 bytes) and command ids (16 bytes). */
export function hexId(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}
