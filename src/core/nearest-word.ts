// The closest match of a misspelt name among the known ones. Pure; only for hints, never for decisions.

/** Edit distance (Levenshtein). */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= right.length; to += 1) {
      const swap = (row[to - 1] ?? 0) + (left[at - 1] === right[to - 1] ? 0 : 1);
      next.push(Math.min((row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1, swap));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

/** A longer text is no misspelling, and would only cost time. */
const wordMost = 100;

/**
 * Null: no close match.
 * @param word compared without regard to case.
 */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const wanted = word.slice(0, wordMost).toLowerCase();
  const ranked = known.map((name) => ({ name, far: distance(wanted, name.toLowerCase()) }));
  ranked.sort((one, two) => one.far - two.far);
  return ranked[0]?.name ?? null;
}
