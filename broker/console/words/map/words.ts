// The words of map: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { MapTexts } from './en.ts';

export const mapWords = wordSet<MapTexts>({
  en: async () => (await import('./en.ts')).mapTexts,
  fr: async () => (await import('./fr.ts')).mapTexts,
  de: async () => (await import('./de.ts')).mapTexts,
  es: async () => (await import('./es.ts')).mapTexts,
  ar: async () => (await import('./ar.ts')).mapTexts,
});
