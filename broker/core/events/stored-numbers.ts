// The stored sequence numbers of one boot: all up to one, and ranges beyond it. They decide whether an event is new, and
// what an acknowledgement may cover. A number must never count as stored unless it was added.

export type Range = readonly [first: number, last: number];

export interface StoredNumbers {
  /** All from 1 to here are stored; 0: none. */
  readonly upTo: number;
  /** Ascending, with a gap before each of them. */
  readonly ranges: readonly Range[];
}

/** Place of the first range that ends at `seq` or later. */
function placeOf(ranges: readonly Range[], seq: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.[1] ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function isStored({ upTo, ranges }: StoredNumbers, seq: number): boolean {
  if (seq <= upTo) return true;
  if (ranges.length === 0) return false;
  const range = ranges[placeOf(ranges, seq)];
  return range !== undefined && range[0] <= seq;
}

/** The numbers with `first` to `last` (1 <= first <= last) added. */
export function addRange(stored: StoredNumbers, [first, last]: Range): StoredNumbers {
  const { upTo, ranges } = stored;
  if (last <= upTo) return stored;
  if (ranges.length === 0) {
    return first <= upTo + 1 ? { upTo: last, ranges } : { upTo, ranges: [[first, last]] };
  }
  // Everything that touches or overlaps the new range becomes one with it.
  const from = placeOf(ranges, first - 1);
  let to = from;
  let low = first;
  let high = last;
  for (let next = ranges[to]; next !== undefined && next[0] <= last + 1; next = ranges[++to]) {
    low = Math.min(low, next[0]);
    high = Math.max(high, next[1]);
  }
  if (low <= upTo + 1) return { upTo: high, ranges: ranges.slice(to) };
  return { upTo, ranges: [...ranges.slice(0, from), [low, high], ...ranges.slice(to)] };
}

/** Ranges in any order, also overlapping ones, as they stand in `StoredNumbers`. */
export function storedNumbers(upTo: number, ranges: readonly Range[]): StoredNumbers {
  return ranges.reduce<StoredNumbers>(addRange, { upTo, ranges: [] });
}

/** What has to be written to come from one list of ranges to another. */
export interface RangeChanges {
  /** First numbers of those that are no longer there. */
  readonly gone: readonly number[];
  /** Those that are new, or end elsewhere. */
  readonly put: readonly Range[];
}

export function changesOf(before: readonly Range[], after: readonly Range[]): RangeChanges {
  if (before === after) return { gone: [], put: [] };
  const old = new Map(before);
  const now = new Map(after);
  return {
    gone: before.flatMap(([first]) => (now.has(first) ? [] : [first])),
    put: after.filter(([first, last]) => old.get(first) !== last),
  };
}
