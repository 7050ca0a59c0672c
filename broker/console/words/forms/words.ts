// The words of forms: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { FormTexts } from './en.ts';

export const formWords = wordSet<FormTexts>({
  en: async () => (await import('./en.ts')).formTexts,
  fr: async () => (await import('./fr.ts')).formTexts,
  de: async () => (await import('./de.ts')).formTexts,
  es: async () => (await import('./es.ts')).formTexts,
  ar: async () => (await import('./ar.ts')).formTexts,
});
