// The words of inbox: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { InboxTexts } from './en.ts';

export const inboxWords = wordSet<InboxTexts>({
  en: async () => (await import('./en.ts')).inboxTexts,
  fr: async () => (await import('./fr.ts')).inboxTexts,
  de: async () => (await import('./de.ts')).inboxTexts,
  es: async () => (await import('./es.ts')).inboxTexts,
  ar: async () => (await import('./ar.ts')).inboxTexts,
});
