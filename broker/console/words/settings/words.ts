// The words of settings: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { SettingTexts } from './en.ts';

export const settingWords = wordSet<SettingTexts>({
  en: async () => (await import('./en.ts')).settingTexts,
  fr: async () => (await import('./fr.ts')).settingTexts,
  de: async () => (await import('./de.ts')).settingTexts,
  es: async () => (await import('./es.ts')).settingTexts,
  ar: async () => (await import('./ar.ts')).settingTexts,
});
