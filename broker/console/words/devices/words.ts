// The words of devices: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { DeviceTexts } from './en.ts';

export const deviceWords = wordSet<DeviceTexts>({
  en: async () => (await import('./en.ts')).deviceTexts,
  fr: async () => (await import('./fr.ts')).deviceTexts,
  de: async () => (await import('./de.ts')).deviceTexts,
  es: async () => (await import('./es.ts')).deviceTexts,
  ar: async () => (await import('./ar.ts')).deviceTexts,
});
