// The words of many: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ManyTexts } from './en.ts';

export const manyWords = wordSet<ManyTexts>({
  en: async () => (await import('./en.ts')).manyTexts,
  fr: async () => (await import('./fr.ts')).manyTexts,
  de: async () => (await import('./de.ts')).manyTexts,
  es: async () => (await import('./es.ts')).manyTexts,
  ar: async () => (await import('./ar.ts')).manyTexts,
});
