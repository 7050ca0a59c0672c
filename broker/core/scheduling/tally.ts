// A histogram for the hot path: fixed bounds, whole numbers, no allocation per observation. Readers format it.

/** What was counted up to now. */
export interface TallyView {
  /** Upper bounds, ascending, in the unit of what is observed. */
  readonly bounds: readonly number[];
  /** Observations up to and including each bound, cumulative; then all of them. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface Tally {
  /** @param value >= 0; what is below counts as 0 (a wall clock may have been set back), what is no number not at all. */
  observe(value: number): void;
  view(): TallyView;
}

/** @param bounds upper bounds, ascending; one more bucket takes what is above all of them. */
export function createTally(bounds: readonly number[]): Tally {
  const buckets = new Float64Array(bounds.length + 1);
  let sum = 0;
  let count = 0;
  return {
    observe(value) {
      if (Number.isNaN(value)) return;
      const counted = value > 0 ? value : 0;
      let at = 0;
      while (at < bounds.length && counted > (bounds[at] ?? 0)) at += 1;
      buckets[at] = (buckets[at] ?? 0) + 1;
      sum += counted;
      count += 1;
    },
    view() {
      let total = 0;
      const counts = Array.from(buckets, (inBucket) => (total += inBucket));
      return { bounds, counts, sum, count };
    },
  };
}
