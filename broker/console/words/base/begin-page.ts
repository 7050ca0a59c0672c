// Loads the texts of a page that stands beside the console, and declares their language to the page.
import { isRightToLeft, languageIn, type PageCatalogues } from './page-words.ts';

/** In the language of the browser. */
export async function beginPageWords<Texts>(catalogues: PageCatalogues<Texts>): Promise<Texts> {
  const language = languageIn(catalogues, navigator.languages);
  const load = catalogues[language];
  if (load === undefined) throw new Error(`There are no texts in ${language}`);
  const texts = await load();
  document.documentElement.lang = language;
  document.documentElement.dir = isRightToLeft(language) ? 'rtl' : 'ltr';
  return texts;
}
