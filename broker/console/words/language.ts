// The language of this reader: the one chosen, else the browser's, else English.
import { isLanguage, type Language } from '../../../src/core/words/languages.ts';
import { language, setLanguage } from './word-set.ts';

const key = 'fleetward.language';

/** Written from right to left. */
const rightToLeft: ReadonlySet<Language> = new Set(['ar']);

language.subscribe(() => {
  document.documentElement.lang = language.get();
  document.documentElement.dir = rightToLeft.has(language.get()) ? 'rtl' : 'ltr';
});

export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(key, chosen);
  void setLanguage(chosen);
}

/** Loads the language of this reader. */
export function beginLanguage(): Promise<void> {
  const chosen = localStorage.getItem(key);
  const spoken = navigator.languages.map((one) => one.slice(0, 2)).find(isLanguage);
  return setLanguage(isLanguage(chosen) ? chosen : (spoken ?? 'en'));
}
