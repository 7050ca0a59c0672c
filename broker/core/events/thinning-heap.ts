// A binary heap whose entries know their place in it, so that one whose cost changed moves, and one that is taken out leaves. Pure.

export interface HeapEntry {
  /** The least comes first; of equal ones the lower order. */
  readonly costM: number;
  readonly order: number;
  /** Index in the heap; -1 outside. Written by the heap. */
  heapAt: number;
}

export interface EntryHeap<T extends HeapEntry> {
  /** Adds an entry, or moves it to where its changed cost belongs. */
  put(entry: T): void;
  /** Does nothing for an entry that is not there. */
  remove(entry: T): void;
  /** Takes the cheapest entry out; null when there is none. */
  takeLeast(): T | null;
}

const isBefore = (one: HeapEntry, other: HeapEntry): boolean =>
  one.costM < other.costM || (one.costM === other.costM && one.order < other.order);

/** @returns an empty heap; each operation costs the logarithm of its length. */
export function createEntryHeap<T extends HeapEntry>(): EntryHeap<T> {
  const entries: T[] = [];
  const place = (entry: T, at: number): void => {
    entries[at] = entry;
    entry.heapAt = at;
  };
  const rise = (entry: T): void => {
    let at = entry.heapAt;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      place(parent, at);
      at = above;
    }
    place(entry, at);
  };
  const sink = (entry: T): void => {
    let at = entry.heapAt;
    for (;;) {
      const [left, right] = [entries[2 * at + 1], entries[2 * at + 2]];
      const least = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
      if (least === undefined || !isBefore(least, entry)) break;
      const below = least.heapAt;
      place(least, at);
      at = below;
    }
    place(entry, at);
  };
  const remove = (entry: T): void => {
    const at = entry.heapAt;
    if (at < 0) return;
    const last = entries.pop();
    entry.heapAt = -1;
    if (last === undefined || last === entry) return;
    place(last, at);
    rise(last);
    sink(last);
  };
  return {
    put(entry) {
      if (entry.heapAt < 0) {
        place(entry, entries.length);
        rise(entry);
        return;
      }
      rise(entry);
      sink(entry);
    },
    remove,
    takeLeast() {
      const [least] = entries;
      if (least === undefined) return null;
      remove(least);
      return least;
    },
  };
}
