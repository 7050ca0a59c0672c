// Seeded random numbers: same seed and same stream name, same values, on every machine. Never use them for secrets: the seed reveals all
// values.

/** An `Entropy` of `src/ports.ts` with more kinds of numbers. */
export interface SeededEntropy {
  bytes(count: number): Uint8Array;
  /** 0 or more, below 1. */
  fraction(): number;
  /** Whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** True with the given probability, 0 to 1. */
  chance(probability: number): boolean;
  /** Normal distribution with mean 0 and standard deviation 1. */
  normal(): number;
  /** An independent stream: its draws never depend on this one's. */
  stream(name: string): SeededEntropy;
}

/** FNV-1a over UTF-16 units with a final mix of MurmurHash3, one 32-bit word per `salt`. */
function hash(text: string, salt: number): number {
  let h = 0x811c9dc5 ^ salt;
  for (let at = 0; at < text.length; at += 1) h = Math.imul(h ^ text.charCodeAt(at), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** Chris Doty-Humphrey's sfc32 (PractRand): 128 bits of state, passes its own test suite, four adds a number. */
function createSfc32(seed: string): () => number {
  let a = hash(seed, 1);
  let b = hash(seed, 2);
  let c = hash(seed, 3);
  let counter = 1;
  const next = (): number => {
    const result = (a + b + counter) >>> 0;
    counter = (counter + 1) >>> 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) >>> 0;
    c = (((c << 21) | (c >>> 11)) + result) >>> 0;
    return result;
  };
  for (let warmUp = 0; warmUp < 15; warmUp += 1) next();
  return next;
}

/**
 * A generator that depends on nothing but `seed`. Give each vehicle (and each of its devices) its own
 * `stream`, so that one more number drawn by one changes nothing for another.
 */
export function createSeededEntropy(seed: string | number): SeededEntropy {
  const seedText = String(seed);
  const next = createSfc32(seedText);
  const fraction = (): number => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 2 ** 53;
  return {
    fraction,
    bytes(count) {
      const bytes = new Uint8Array(count);
      for (let at = 0; at < count; at += 1) bytes[at] = next() >>> 24;
      return bytes;
    },
    integer: (low, high) => low + Math.floor(fraction() * (high - low + 1)),
    chance: (probability) => fraction() < probability,
    normal: () => Math.sqrt(-2 * Math.log(1 - fraction())) * Math.cos(2 * Math.PI * fraction()), // Box-Muller
    stream: (name) => createSeededEntropy(`${seedText}/${name}`),
  };
}
