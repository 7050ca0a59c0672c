// Batch size of background work, from the duration of the last batches: a concurrent commit waits for a whole batch. Pure,
// and for any disk: the cost of a row differs a hundredfold between disks.

export interface AdaptiveBatchRules {
  /** Of one piece with its commit, in ms. */
  readonly targetMs: number;
  readonly first: number;
  readonly least: number;
  readonly most: number;
}

/** A single quick piece, which found its pages in memory, must not make the next one long. */
const growMost = 1.5;
/** A batch that waited for another commit says little about its own size. */
const shrinkMost = 0.5;

/** The size of the next piece. @param took rows that the last one took away, and its time. */
export function nextSize(
  rules: AdaptiveBatchRules,
  size: number,
  took: { readonly rows: number; readonly ms: number },
): number {
  // The last piece of something: what is left of the time says nothing.
  if (took.rows < size && took.ms <= rules.targetMs) return size;
  const change = Math.min(growMost, Math.max(shrinkMost, rules.targetMs / Math.max(took.ms, 0.1)));
  return Math.min(rules.most, Math.max(rules.least, Math.round(size * change)));
}
