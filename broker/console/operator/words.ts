// The texts of the page of the operator.
import { createContext, use } from 'react';
import type { PageCatalogues } from '../words/base/page-words.ts';
import { type OperatorPageTexts, operatorPageTexts } from '../words/operator-page/en.ts';

export const operatorPageWords: PageCatalogues<OperatorPageTexts> = {
  en: async () => operatorPageTexts,
  de: async () => (await import('../words/operator-page/de.ts')).operatorPageTexts,
  fr: async () => (await import('../words/operator-page/fr.ts')).operatorPageTexts,
  es: async () => (await import('../words/operator-page/es.ts')).operatorPageTexts,
  ar: async () => (await import('../words/operator-page/ar.ts')).operatorPageTexts,
};

/** Those of the page that is shown. */
export const TextsContext = createContext<OperatorPageTexts>(operatorPageTexts);
export const useTexts = (): OperatorPageTexts => use(TextsContext);

/** The word for a name of the service; the name itself for one that a newer service has. */
export const wordOf = (words: Readonly<Record<string, string>>, key: string): string =>
  Object.hasOwn(words, key) ? (words[key] ?? key) : key;
