// The words of rules: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { RuleTexts } from './en.ts';

export const ruleWords = wordSet<RuleTexts>({
  en: async () => (await import('./en.ts')).ruleTexts,
  fr: async () => (await import('./fr.ts')).ruleTexts,
  de: async () => (await import('./de.ts')).ruleTexts,
  es: async () => (await import('./es.ts')).ruleTexts,
  ar: async () => (await import('./ar.ts')).ruleTexts,
});
