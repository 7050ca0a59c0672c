// Latencies counted in log-spaced buckets, of fixed size for any number. Counts add without loss, so those of several
// processes can be merged. No percentile exceeds the greatest recorded value.

/** Counts of one moment; plain data, so that it can be sent to another process. */
export interface LatencyCounts {
  /** The greatest value as it was, ms. */
  readonly maxMs: number;
  /** Bucket and count, one after the other, by rising bucket. */
  readonly counts: readonly number[];
}

const leastMs = 0.05;
const growth = 1.08;
const logGrowth = Math.log(growth);
/** From 50 microseconds to four days. */
const bucketsMost = 290;

/** The bucket of a latency. @param ms any number; below 50 microseconds is the first bucket. */
export function bucketOf(ms: number): number {
  if (!(ms > leastMs)) return 0;
  return Math.min(bucketsMost - 1, Math.floor(Math.log(ms / leastMs) / logGrowth));
}

/** The middle of a bucket, ms: within 4 % of all that is in it. */
const middleMs = (bucket: number): number => leastMs * growth ** (bucket + 0.5);

/** Both together. */
export function mergeLatencies(a: LatencyCounts, b: LatencyCounts): LatencyCounts {
  const sums = new Map<number, number>();
  for (const { counts } of [a, b]) {
    for (let at = 0; at + 1 < counts.length; at += 2) {
      const bucket = counts[at] ?? 0;
      sums.set(bucket, (sums.get(bucket) ?? 0) + (counts[at + 1] ?? 0));
    }
  }
  const counts = [...sums].sort(([left], [right]) => left - right).flat();
  return { maxMs: Math.max(a.maxMs, b.maxMs), counts };
}

/** Counts that grow; `plain` is a snapshot. */
export interface LatencyCell {
  record(ms: number): void;
  plain(): LatencyCounts;
}

/** An empty cell, or one that goes on from `from`. */
export function createLatencyCell(from: LatencyCounts = { maxMs: 0, counts: [] }): LatencyCell {
  const buckets = new Map<number, number>();
  let { maxMs } = from;
  for (let at = 0; at + 1 < from.counts.length; at += 2)
    buckets.set(from.counts[at] ?? 0, from.counts[at + 1] ?? 0);
  return {
    record(ms) {
      const value = Math.max(0, ms);
      const bucket = bucketOf(value);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
      maxMs = Math.max(maxMs, value);
    },
    plain: () => ({ maxMs, counts: [...buckets].sort(([left], [right]) => left - right).flat() }),
  };
}

/** How many were recorded. */
export function countOf({ counts }: LatencyCounts): number {
  return counts.reduce((sum, value, at) => (at % 2 === 1 ? sum + value : sum), 0);
}

/** The value that `fraction` (0 to 1) of them do not exceed, ms, within 4 %. */
export function percentileOf(cell: LatencyCounts, fraction: number): number {
  const wanted = Math.max(1, Math.ceil(fraction * countOf(cell)));
  let seen = 0;
  for (let at = 0; at + 1 < cell.counts.length; at += 2) {
    seen += cell.counts[at + 1] ?? 0;
    if (seen >= wanted) return Math.min(cell.maxMs, middleMs(cell.counts[at] ?? 0));
  }
  return cell.maxMs;
}
