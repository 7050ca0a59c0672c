// The words of the wallboard: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { WallboardTexts } from './en.ts';

export const wallboardWords = wordSet<WallboardTexts>({
  en: async () => (await import('./en.ts')).wallboardTexts,
  fr: async () => (await import('./fr.ts')).wallboardTexts,
  de: async () => (await import('./de.ts')).wallboardTexts,
  es: async () => (await import('./es.ts')).wallboardTexts,
  ar: async () => (await import('./ar.ts')).wallboardTexts,
});
