// The words of practice: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { PracticeTexts } from './en.ts';

export const practiceWords = wordSet<PracticeTexts>({
  en: async () => (await import('./en.ts')).practiceTexts,
  fr: async () => (await import('./fr.ts')).practiceTexts,
  de: async () => (await import('./de.ts')).practiceTexts,
  es: async () => (await import('./es.ts')).practiceTexts,
  ar: async () => (await import('./ar.ts')).practiceTexts,
});
