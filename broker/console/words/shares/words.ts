// The words of share links: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ShareTexts } from './en.ts';

export const shareWords = wordSet<ShareTexts>({
  en: async () => (await import('./en.ts')).shareTexts,
  fr: async () => (await import('./fr.ts')).shareTexts,
  de: async () => (await import('./de.ts')).shareTexts,
  es: async () => (await import('./es.ts')).shareTexts,
  ar: async () => (await import('./ar.ts')).shareTexts,
});
