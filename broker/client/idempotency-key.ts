// A key for one intent. `crypto.randomUUID` needs HTTPS; closed networks have plain HTTP.
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
