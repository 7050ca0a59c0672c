// The words of toasts: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { ToastTexts } from './en.ts';

export const toastWords = wordSet<ToastTexts>({
  en: async () => (await import('./en.ts')).toastTexts,
  fr: async () => (await import('./fr.ts')).toastTexts,
  de: async () => (await import('./de.ts')).toastTexts,
  es: async () => (await import('./es.ts')).toastTexts,
  ar: async () => (await import('./ar.ts')).toastTexts,
});
