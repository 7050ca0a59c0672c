// What the palette finds: which texts fit best, and an order of a vehicle that is typed in the reader's words. Pure.

/** Without case, and without marks on letters: `retablir` finds `rétablir`. */
const folded = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim();

/** 0: the whole text; 1: its beginning; 2: the beginning of a word; 3: a part; null: it does not hold it. */
function fitOf(text: string, wanted: string): number | null {
  const at = text.indexOf(wanted);
  if (at < 0) return null;
  if (at === 0) return text.length === wanted.length ? 0 : 1;
  return /[\s\-_.,/]/.test(text.charAt(at - 1)) ? 2 : 3;
}

const fits = [0, 1, 2, 3];

/**
 * Those that hold the text, the best fit first; of equal fit in the order in which they came. All fit an empty text.
 * @param textsOf the name first.
 */
export function bestOf<T>(
  items: Iterable<T>,
  wanted: string,
  textsOf: (item: T) => readonly string[],
  most: number,
): readonly T[] {
  const text = folded(wanted);
  const byFit = fits.map((): T[] => []);
  for (const item of items) {
    const found = textsOf(item).map((one) => fitOf(folded(one), text) ?? fits.length);
    byFit[text === '' ? 0 : Math.min(...found)]?.push(item);
    // Nothing fits better than the whole name.
    if ((byFit[0]?.length ?? 0) === most) break;
  }
  return byFit.flat().slice(0, most);
}

export const isSameName = (one: string, other: string): boolean => folded(one) === folded(other);

const verbs = {
  cut: { relay: 'enginecutoff', isSafe: false },
  restore: { relay: 'enginecutoff', isSafe: true },
  unlock: { relay: 'cargoaccess', isSafe: false },
  lock: { relay: 'cargoaccess', isSafe: true },
} as const;
export type Verb = keyof typeof verbs;
export type TypedOrder = (typeof verbs)[Verb] & {
  /** What was typed beside the verb; not empty. */
  readonly name: string;
};

/**
 * An order that is typed as `cut van-03`, or `van-03 sperren`; null: none is.
 * @param words of each verb, with commas between them.
 */
export function typedOrder(text: string, words: Readonly<Record<Verb, string>>): TypedOrder | null {
  const typed = folded(text).replaceAll(/\s+/g, ' ');
  for (const verb of Object.keys(verbs) as readonly Verb[]) {
    // The longest first: `cut off` is no cut of a vehicle with the name `off`.
    const forms = words[verb]
      .split(',')
      .map(folded)
      .toSorted((one, other) => other.length - one.length);
    for (const form of forms) {
      if (typed.startsWith(`${form} `)) return { ...verbs[verb], name: typed.slice(form.length + 1) };
      if (typed.endsWith(` ${form}`)) return { ...verbs[verb], name: typed.slice(0, -form.length - 1) };
    }
  }
  return null;
}
