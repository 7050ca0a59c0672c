// The words of tabs: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { TabTexts } from './en.ts';

export const tabWords = wordSet<TabTexts>({
  en: async () => (await import('./en.ts')).tabTexts,
  fr: async () => (await import('./fr.ts')).tabTexts,
  de: async () => (await import('./de.ts')).tabTexts,
  es: async () => (await import('./es.ts')).tabTexts,
  ar: async () => (await import('./ar.ts')).tabTexts,
});
