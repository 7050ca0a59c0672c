// Text that is written as UTF-8 at once. Joined strings cost several times as much: the engine links their parts, and follows
// the links of a whole answer when it encodes them.

const encoder = new TextEncoder();

/** Shorter texts are copied byte by byte, which is faster than a call. */
const shortBytes = 24;
const firstMultibyte = 0x80;
const [zero, minus, point] = [0x30, 0x2d, 0x2e];
/** Digits of a number of 32 bits. */
const digitsMost = 10;
/** Decimals of a coordinate: that is a centimetre. */
const decimals = 7;
const units = 10 ** decimals;
/** From here on JavaScript writes an exponent. */
const unitsLeast = 10;
/** Up to here no shorter decimal is the same double. */
const unitsMost = 10 ** 15;

/** A text that grows. */
export class ByteText {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;

  /** With memory for `count` more bytes. */
  #grown(count: number): Uint8Array {
    const size = this.#length + count;
    if (size <= this.#bytes.length) return this.#bytes;
    const grown = new Uint8Array(2 * size);
    grown.set(this.#bytes);
    this.#bytes = grown;
    return grown;
  }

  bytes(given: Uint8Array): void {
    const { length } = given;
    const bytes = this.#grown(length);
    if (length > shortBytes) bytes.set(given, this.#length);
    else for (let at = 0; at < length; at++) bytes[this.#length + at] = given[at] ?? 0;
    this.#length += length;
  }

  text(given: string): void {
    const { length } = given;
    const bytes = this.#grown(3 * length);
    for (let at = 0; at < length; at++) {
      const code = given.charCodeAt(at);
      if (code >= firstMultibyte) {
        this.#length += encoder.encodeInto(given, bytes.subarray(this.#length)).written;
        return;
      }
      bytes[this.#length + at] = code;
    }
    this.#length += length;
  }

  /** The last `count` digits of a whole number of 32 bits. */
  #digits(whole: number, count: number): void {
    const bytes = this.#grown(count);
    this.#length += count;
    let left = whole;
    for (let at = this.#length - 1; at >= this.#length - count; at--) {
      const tenth = (left / 10) >>> 0;
      bytes[at] = zero + left - 10 * tenth;
      left = tenth;
    }
  }

  #whole(whole: number): void {
    let count = 1;
    for (let bound = 10; count < digitsMost && whole >= bound; bound *= 10) count += 1;
    this.#digits(whole, count);
  }

  #byte(byte: number): void {
    this.#grown(1)[this.#length] = byte;
    this.#length += 1;
  }

  /** A number as JavaScript writes it. */
  number(given: number): void {
    if (given >>> 0 === given) return this.#whole(given);
    const scaled = Math.round(given * units);
    const size = Math.abs(scaled);
    if (scaled / units !== given || size < unitsLeast || size >= unitsMost) return this.text(String(given));
    if (scaled < 0) this.#byte(minus);
    const whole = Math.floor(size / units);
    this.#whole(whole);
    let left = size - whole * units;
    if (left === 0) return;
    let count = decimals;
    for (; left % 10 === 0; left /= 10) count -= 1;
    this.#byte(point);
    this.#digits(left, count);
  }

  /** The text, in memory of its own. */
  copy(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Begins the next text. */
  clear(): void {
    this.#length = 0;
  }
}
