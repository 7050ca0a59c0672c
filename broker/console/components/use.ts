// Hooks that join the stores to components.
import { useEffect, useSyncExternalStore } from 'react';
import { createValue, type Value } from '../state/value.ts';
import type { Words } from '../words/en.ts';
import { words } from '../words/language.ts';

export function useValue<T>(value: Value<T>): T {
  return useSyncExternalStore(value.subscribe, value.get);
}

export const useWords = (): Words => useValue(words);

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
