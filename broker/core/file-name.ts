// The header that names a file for saving (RFC 6266). Pure.

/** Most characters of a name; file systems take 255 bytes. */
const lengthMost = 120;

/** Not allowed in names of files somewhere: control and format characters, separators, and what Windows reserves. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}/\\:*?"<>|]/gu;

/** RFC 8187 `ext-value`: what `encodeURIComponent` leaves but the grammar does not. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/['()*!]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * `Content-Disposition` that makes browsers save the answer: the name in ASCII for old programs and in UTF-8 (`filename*`). A name never
 * contains a path, a control character or a quote, and never begins with a full stop.
 */
export function attachment(name: string): string {
  const safe = name.toWellFormed().replace(unsafe, '_').replace(/^\.+/, '_');
  const whole = safe.length <= lengthMost ? safe : safe.slice(0, lengthMost).toWellFormed();
  const ascii = whole.replace(/[^\x20-\x7e]/g, '_').replace(/[%;']/g, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encode(whole)}`;
}
