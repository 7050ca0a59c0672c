// The words of people: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { PeopleTexts } from './en.ts';

export const peopleWords = wordSet<PeopleTexts>({
  en: async () => (await import('./en.ts')).peopleTexts,
  fr: async () => (await import('./fr.ts')).peopleTexts,
  de: async () => (await import('./de.ts')).peopleTexts,
  es: async () => (await import('./es.ts')).peopleTexts,
  ar: async () => (await import('./ar.ts')).peopleTexts,
});
