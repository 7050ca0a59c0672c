// CRC-32 of two texts in a row from the CRC-32 of each (RFC 1952 section 8, polynomial 0xEDB88320), so that parts which are packed
// once make one gzip answer. The method is that of zlib's crc32_combine: a multiplication modulo the polynomial.

const polynomial = 0xedb88320;

/** a * b modulo the polynomial, bits reversed. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** x to the power of 2 to the power of n, for n from 0. */
const powers: readonly number[] = Array.from({ length: 32 }).reduce<number[]>(
  (known) => [...known, multiply(known.at(-1) ?? 0, known.at(-1) ?? 0)],
  [0x40000000],
);

/** @param length bytes of the second text. */
export function combineCrc32(first: number, second: number, length: number): number {
  let shift = 0x80000000;
  let rest = length;
  // A byte is eight bits: x^8 is the third power.
  for (let n = 3; rest > 0; n++, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(powers[n % 32] ?? 0, shift);
  }
  return (multiply(shift, first) ^ second) >>> 0;
}
