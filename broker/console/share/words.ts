// The texts of the page of a share link.
import type { PageCatalogues } from '../words/base/page-words.ts';
import type { SharePageTexts } from '../words/share-page/en.ts';

export const sharePageWords: PageCatalogues<SharePageTexts> = {
  en: async () => (await import('../words/share-page/en.ts')).sharePageTexts,
  de: async () => (await import('../words/share-page/de.ts')).sharePageTexts,
  fr: async () => (await import('../words/share-page/fr.ts')).sharePageTexts,
  es: async () => (await import('../words/share-page/es.ts')).sharePageTexts,
  ar: async () => (await import('../words/share-page/ar.ts')).sharePageTexts,
};
