// The words of routes: what imports this is loaded with them, in the language of the page.
import { wordSet } from '../word-set.ts';
import type { RouteTexts } from './en.ts';

export const routeWords = wordSet<RouteTexts>({
  en: async () => (await import('./en.ts')).routeTexts,
  fr: async () => (await import('./fr.ts')).routeTexts,
  de: async () => (await import('./de.ts')).routeTexts,
  es: async () => (await import('./es.ts')).routeTexts,
  ar: async () => (await import('./ar.ts')).routeTexts,
});
