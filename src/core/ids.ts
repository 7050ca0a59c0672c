// Identifiers as they appear in topics, paths and keys. Only letters, digits, underscore and hyphen. No dot, because
// RabbitMQ and NATS map `/` to `.`; nothing that could become a file path or topic wildcard.

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;

/** The pattern's source, for JSON schemas. */
export const idPatternSource = idPattern.source;

/** Account, device, user, boot and command ids: 1 to 64 of `[A-Za-z0-9_-]`. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}

// Control characters, line and paragraph separators, direction marks, lone surrogates: they break lists, files and
// terminals, or disguise a text.
const unprintableBeside = (first: string) =>
  `${first}\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff`;
const unprintable = unprintableBeside('\\u0000-\\u001f');

/** Pattern (to be read as Unicode) of a text in any script that may have several lines, and tabs; may be empty. */
export const textPatternSource = `^[^${unprintableBeside('\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f')}]*$`;

/** Pattern (to be read as Unicode) of a text in one line, in any script; may be empty. */
export const linePatternSource = `^[^${unprintable}]*$`;

/**
 * Pattern (Unicode) of a user-chosen name that is an identifier: 1 to 64 characters of any script, no space at
 * either end. `.` and `..` are excluded: HTTP clients remove them from a path.
 */
export const namePatternSource = `^(?!\\.{1,2}$)[^\\s${unprintable}](?:[^${unprintable}]{0,62}[^\\s${unprintable}])?$`;

const namePattern = new RegExp(namePatternSource, 'u');

/** Ids of geozones: user-chosen names, see `namePatternSource`. */
export function isName(text: string): boolean {
  return namePattern.test(text);
}

const hexPairs: readonly string[] = Array.from({ length: 256 }, (_unused, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** Lower-case hexadecimal of random bytes, for boot ids (8 bytes) and command ids (16 bytes). */
export function hexId(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexPairs[byte] ?? '';
  return text;
}
