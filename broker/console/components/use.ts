// Hooks that join the stores to components.
import { useEffect, useSyncExternalStore } from 'react';
import { createValue, type Value } from '../state/value.ts';
import type { Words } from '../words/en.ts';
import { hasWords, type WordSet, type WordsWith, words } from '../words/word-set.ts';

export function useValue<T>(value: Value<T>): T {
  return useSyncExternalStore(value.subscribe, value.get);
}

/**
 * The words of this language, and those of the sets.
 * @throws Error when a set is not loaded: what uses it was imported without `withWords`.
 */
export function useWords<const S extends readonly WordSet<object>[]>(...sets: S): WordsWith<S> {
  const present: Words = useValue(words);
  if (!sets.every(hasWords)) throw new Error('Words are not loaded');
  return present as WordsWith<S>;
}

const now = createValue(Math.floor(Date.now() / 1000));
setInterval(() => now.set(Math.floor(Date.now() / 1000)), 1000);

/** The time of this computer in epoch seconds, anew each second. */
export const useNow = (): number => useValue(now);

/** Names the page in the title of the browser, before the name of the product. */
export function useTitle(title: string): void {
  const { brand } = useWords().common;
  useEffect(() => {
    document.title = `${title} · ${brand}`;
  }, [title, brand]);
}
