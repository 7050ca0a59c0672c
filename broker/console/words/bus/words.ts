// The words of bus: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { BusTexts } from './en.ts';

export const busWords = wordSet<BusTexts>({
  en: async () => (await import('./en.ts')).busTexts,
  fr: async () => (await import('./fr.ts')).busTexts,
  de: async () => (await import('./de.ts')).busTexts,
  es: async () => (await import('./es.ts')).busTexts,
  ar: async () => (await import('./ar.ts')).busTexts,
});
