// The words of reports by mail: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ScheduleTexts } from './en.ts';

export const scheduleWords = wordSet<ScheduleTexts>({
  en: async () => (await import('./en.ts')).scheduleTexts,
  fr: async () => (await import('./fr.ts')).scheduleTexts,
  de: async () => (await import('./de.ts')).scheduleTexts,
  es: async () => (await import('./es.ts')).scheduleTexts,
  ar: async () => (await import('./ar.ts')).scheduleTexts,
});
