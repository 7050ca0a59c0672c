// The words of the page without network: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { OfflineTexts } from './en.ts';

export const offlineWords = wordSet<OfflineTexts>({
  en: async () => (await import('./en.ts')).offlineTexts,
  fr: async () => (await import('./fr.ts')).offlineTexts,
  de: async () => (await import('./de.ts')).offlineTexts,
  es: async () => (await import('./es.ts')).offlineTexts,
  ar: async () => (await import('./ar.ts')).offlineTexts,
});
