// Hooks that join the stores to components, and components that are loaded when they are first shown.
import { type ComponentType, lazy, useEffect, useState, useSyncExternalStore } from 'react';
import { skewS } from '../service/session.ts';
import { createValue, type Value } from '../state/value.ts';
import { PartNotLoaded } from '../words/parts.ts';
import type { Words } from '../words/word-set.ts';
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

/** The time at the service, by which alarms and records are dated, in epoch seconds. */
export const useServiceNow = (): number => useValue(now) + useValue(skewS);

/** Names the page in the title of the browser, before the name of the product. */
export function useTitle(title: string): void {
  const { brand } = useWords().common;
  useEffect(() => {
    document.title = `${title} · ${brand}`;
  }, [title, brand]);
}

/** So long the screen that was opened has the line for itself, ms. */
const firstMs = 5000;

/** True once the first screen has stood for a moment: what is needed later is loaded from then on. */
export function useHasStood(): boolean {
  const [hasStood, setHasStood] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setHasStood(true), firstMs);
    return () => clearTimeout(timer);
  }, []);
  return hasStood;
}

const Nothing = (): null => null;

/**
 * A component that is loaded when it is first shown. Where it cannot be loaded nothing stands in its place, and the notice of the shell says so.
 * @param load by `withWords`.
 */
export const lazyPart = <P extends object>(load: () => Promise<ComponentType<P>>) =>
  lazy(async (): Promise<{ readonly default: ComponentType<P> }> => {
    try {
      return { default: await load() };
    } catch (thrown) {
      if (thrown instanceof PartNotLoaded) return { default: Nothing };
      throw thrown;
    }
  });
