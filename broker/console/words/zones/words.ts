// The words of zones: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ZoneTexts } from './en.ts';

export const zoneWords = wordSet<ZoneTexts>({
  en: async () => (await import('./en.ts')).zoneTexts,
  fr: async () => (await import('./fr.ts')).zoneTexts,
  de: async () => (await import('./de.ts')).zoneTexts,
  es: async () => (await import('./es.ts')).zoneTexts,
  ar: async () => (await import('./ar.ts')).zoneTexts,
});
