// The texts of the page of the operator.
import { createContext, use } from 'react';
import type { PageCatalogues } from '../words/base/page-words.ts';
import type { OperatorPageTexts } from '../words/operator-page/en.ts';

export const operatorPageWords: PageCatalogues<OperatorPageTexts> = {
  en: async () => (await import('../words/operator-page/en.ts')).operatorPageTexts,
  de: async () => (await import('../words/operator-page/de.ts')).operatorPageTexts,
  fr: async () => (await import('../words/operator-page/fr.ts')).operatorPageTexts,
  es: async () => (await import('../words/operator-page/es.ts')).operatorPageTexts,
  ar: async () => (await import('../words/operator-page/ar.ts')).operatorPageTexts,
};

/** Those of the page that is shown; it shows nothing before they are there. */
export const TextsContext = createContext<OperatorPageTexts | null>(null);

export function useTexts(): OperatorPageTexts {
  const texts = use(TextsContext);
  if (texts === null) throw new Error('The page has no texts yet');
  return texts;
}

/** The word for a name of the service; the name itself for one that a newer service has. */
export const wordOf = (words: Readonly<Record<string, string>>, key: string): string =>
  Object.hasOwn(words, key) ? (words[key] ?? key) : key;
