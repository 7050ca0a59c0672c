// The words of reports: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ReportTexts } from './en.ts';

export const reportWords = wordSet<ReportTexts>({
  en: async () => (await import('./en.ts')).reportTexts,
  fr: async () => (await import('./fr.ts')).reportTexts,
  de: async () => (await import('./de.ts')).reportTexts,
  es: async () => (await import('./es.ts')).reportTexts,
  ar: async () => (await import('./ar.ts')).reportTexts,
});
