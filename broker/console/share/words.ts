// The language of the page of a share link: the first of the browser's that there is, else English. Only that one is loaded.
import type { SharePageTexts } from '../words/share-page/en.ts';

/** Each language with its texts. */
const catalogues: Readonly<Record<string, () => Promise<{ readonly sharePageTexts: SharePageTexts }>>> = {
  en: () => import('../words/share-page/en.ts'),
  de: () => import('../words/share-page/de.ts'),
  fr: () => import('../words/share-page/fr.ts'),
  es: () => import('../words/share-page/es.ts'),
  ar: () => import('../words/share-page/ar.ts'),
};

/** Written from right to left. */
export const isRightToLeft = (language: string): boolean => language === 'ar';

/** @param languages of the browser, the preferred one first. */
export function languageOf(languages: readonly string[]): string {
  return languages.map((one) => one.slice(0, 2)).find((one) => Object.hasOwn(catalogues, one)) ?? 'en';
}

/** The texts of a language that `languageOf` gives. */
export async function loadTexts(language: string): Promise<SharePageTexts> {
  const load = catalogues[language];
  if (load === undefined) throw new Error(`There are no texts in ${language}`);
  return (await load()).sharePageTexts;
}
