// The words of account: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { AccountTexts } from './en.ts';

export const accountWords = wordSet<AccountTexts>({
  en: async () => (await import('./en.ts')).accountTexts,
  fr: async () => (await import('./fr.ts')).accountTexts,
  de: async () => (await import('./de.ts')).accountTexts,
  es: async () => (await import('./es.ts')).accountTexts,
  ar: async () => (await import('./ar.ts')).accountTexts,
});
