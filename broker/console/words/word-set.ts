// The words of the page in one language: those that are always there, and the sets of the screens, each loaded with its screen.

import { mainTexts as en, type MainTexts } from '../../../build/words/main/en.ts';
import { mainWords } from '../../../build/words/main.ts';
import type { Language } from '../../../src/core/words/languages.ts';
import { createValue } from '../state/value.ts';
import { loadPart } from './parts.ts';

/** The words that are always there. */
export type Words = Omit<MainTexts, 'codes'> & { readonly codes: Readonly<Record<number, string>> };

/** The words of a screen, each language in a file of its own. */
export type WordSet<T extends object> = Readonly<Record<Language, () => Promise<T>>>;

/** The words that are always there, and those of the given sets. */
export type WordsWith<S extends readonly WordSet<object>[]> = S extends readonly [
  WordSet<infer T>,
  ...infer R extends readonly WordSet<object>[],
]
  ? T & WordsWith<R>
  : Words;

export const words = createValue<Words>({ ...en });
export const language = createValue<Language>('en');
/** The language that was chosen last, when its words could not be loaded. */
export const notLoaded = createValue<Language | null>(null);

const catalogues: WordSet<Words> = { ...mainWords, en: async () => en };

/** Sets of all that was loaded so far. */
const sets = new Set<WordSet<object>>([catalogues]);
/** Those whose words are in `words`. */
let shown = new Set<WordSet<object>>([catalogues]);
let wanted: Language = 'en';

/** Makes the words of a screen known: `withWords` waits for them from then on, and a change of language loads them too. */
export function wordSet<T extends object>(set: WordSet<T>): WordSet<T> {
  sets.add(set);
  return set;
}

export const hasWords = (set: WordSet<object>): boolean => shown.has(set);

function show(of: Language, all: ReadonlySet<WordSet<object>>, texts: readonly object[]): void {
  shown = new Set(all);
  if (of === language.get()) {
    // Words are only added: what is shown already need not be drawn again.
    Object.assign(words.get(), ...texts);
    return;
  }
  words.set(Object.assign({}, ...texts));
  language.set(of);
}

/** Loads all sets in the wanted language, then shows them at once. A language that cannot be loaded leaves the one that is shown. */
async function load(): Promise<void> {
  const of = wanted;
  const all = new Set(sets);
  try {
    const texts = await Promise.all([...all].map((set) => set[of]()));
    if (of === wanted && all.size === sets.size) return show(of, all, texts);
  } catch (thrown) {
    if (of === wanted && of === language.get()) throw thrown;
    if (of === wanted) {
      wanted = language.get();
      notLoaded.set(of);
    }
  }
  // Another language was wanted meanwhile, or a further set is there.
  return load();
}

/** Waits for a part of the console and the words of its sets. @throws PartNotLoaded */
export async function withWords<T>(part: Promise<T>, isAhead = false): Promise<T> {
  const loaded = await loadPart(part, isAhead);
  await loadPart(load(), isAhead);
  return loaded;
}

/** Loads a part by `withWords`, ahead or because it is shown. */
export type LoadPart<T> = (isAhead?: boolean) => Promise<T>;

/** Loads a part before it is needed. */
export const loadAhead = (part: LoadPart<unknown>): void => void part(true).catch(() => undefined);

export async function setLanguage(chosen: Language): Promise<void> {
  notLoaded.set(null);
  wanted = chosen;
  await load();
}
