// Makes NMEA lines for tests: the checksum is computed, everything else is as written.

/** `$body*hh\r\n` as text. */
export function nmeaLine(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i += 1) sum ^= body.charCodeAt(i);
  return `$${body}*${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`;
}

/** One byte a character, as on the wire. */
export function nmeaBytes(...bodies: readonly string[]): Uint8Array {
  return latin1(bodies.map(nmeaLine).join(''));
}

export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0) & 0xff);
}

/** A small generator with a seed (mulberry32): numbers from 0 up to 1. */
export function seededRandom(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
