// Decides if a screen's data may be shown as complete. Pure.

/** `waiting`: a fresh answer is on its way; `unknown`: none comes now. */
export type Knowledge = 'known' | 'waiting' | 'unknown';

export interface Reading {
  /** Time of the answer, ms since 1970; null or 0: none yet. */
  readonly readMs: number | null;
  /** The last try to read it failed. */
  readonly hasFailed: boolean;
}

/** @param link state of the live connection, and when it was lost last, ms since 1970; 0: never. */
export function knowledgeOf(
  link: { readonly state: 'opening' | 'live' | 'down'; readonly lostMs: number },
  { readMs, hasFailed }: Reading,
): Knowledge {
  if (link.state === 'down' || hasFailed) return 'unknown';
  return (readMs ?? 0) > link.lostMs ? 'known' : 'waiting';
}
