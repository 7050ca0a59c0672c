// The language of a page that stands beside the console and has one small catalogue: the first of the browser's that there is, else English.
// Only that one is loaded.

/** Each language with its texts. */
export type PageCatalogues<Texts> = Readonly<Record<string, () => Promise<Texts>>>;

/** Written from right to left. */
export const isRightToLeft = (language: string): boolean => language === 'ar';

/** @param languages of the browser, the preferred one first. */
export function languageIn(catalogues: PageCatalogues<unknown>, languages: readonly string[]): string {
  return languages.map((one) => one.slice(0, 2)).find((one) => Object.hasOwn(catalogues, one)) ?? 'en';
}
