// How many rows one piece of work in the background takes away, from what the last pieces took: whoever commits at the same
// moment waits for a whole piece. Pure, and good for any disk: what a row costs differs a hundredfold from one to the other.

export interface PieceRules {
  /** Of one piece with its commit, in ms. */
  readonly targetMs: number;
  readonly first: number;
  readonly least: number;
  readonly most: number;
}

/** A single quick piece, which found its pages in memory, must not make the next one long. */
const growMost = 1.5;
/** One that waited for somebody else's commit says little of its own size. */
const shrinkMost = 0.5;

/** The size of the next piece. @param took rows that the last one took away, and its time. */
export function nextSize(
  rules: PieceRules,
  size: number,
  took: { readonly rows: number; readonly ms: number },
): number {
  // The last piece of something: what is left of the time says nothing.
  if (took.rows < size && took.ms <= rules.targetMs) return size;
  const change = Math.min(growMost, Math.max(shrinkMost, rules.targetMs / Math.max(took.ms, 0.1)));
  return Math.min(rules.most, Math.max(rules.least, Math.round(size * change)));
}
