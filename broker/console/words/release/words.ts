// The words of a new release of the console: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ReleaseTexts } from './en.ts';

export const newReleaseWords = wordSet<ReleaseTexts>({
  en: async () => (await import('./en.ts')).releaseTexts,
  fr: async () => (await import('./fr.ts')).releaseTexts,
  de: async () => (await import('./de.ts')).releaseTexts,
  es: async () => (await import('./es.ts')).releaseTexts,
  ar: async () => (await import('./ar.ts')).releaseTexts,
});
