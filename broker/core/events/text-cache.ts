// Texts that were made of stored events, kept in memory while they are asked for. Each is kept with a proof of what it was made
// of, and found only by one that is equal: a caller reads the proof from the store first, so no change is ever missed.

/** How much a cache holds. */
export interface TextCacheLimits {
  /** Bytes of all texts. */
  readonly bytes: number;
  /** Bytes that one listing may add: a long one must not drive out what others ask for. */
  readonly listingBytes: number;
}

export interface TextCache<T> {
  /** Null when there is none, or its proof is another one. */
  find(key: string, proof: string): T | null;
  /** Keeps a text; the least recently used are evicted. One that is larger than the cache is not kept. */
  keep(key: string, proof: string, text: T): void;
  /** Forgets everything: the store may have lost what proofs rest on. */
  clear(): void;
  /** Bytes that are kept. */
  size(): number;
}

interface Kept<T> {
  readonly proof: string;
  readonly text: T;
  readonly bytes: number;
}

/** Bytes of an entry besides its text. */
const entryBytes = 500;

/** @param bytesOf of a text. */
export function createTextCache<T>(mostBytes: number, bytesOf: (text: T) => number): TextCache<T> {
  // In the order of use, the longest unused first.
  const kept = new Map<string, Kept<T>>();
  let size = 0;
  const drop = (key: string): void => {
    size -= kept.get(key)?.bytes ?? 0;
    kept.delete(key);
  };
  return {
    find(key, proof) {
      const found = kept.get(key);
      if (found === undefined || found.proof !== proof) return null;
      kept.delete(key);
      kept.set(key, found);
      return found.text;
    },
    keep(key, proof, text) {
      drop(key);
      const bytes = bytesOf(text) + entryBytes;
      if (bytes > mostBytes) return;
      for (const oldest of kept.keys()) {
        if (size + bytes <= mostBytes) break;
        drop(oldest);
      }
      kept.set(key, { proof, text, bytes });
      size += bytes;
    },
    clear() {
      kept.clear();
      size = 0;
    },
    size: () => size,
  };
}
