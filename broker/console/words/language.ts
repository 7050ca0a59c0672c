// The language of the page: the reader's choice, else the browser's, else English. A catalogue is loaded when it is wanted.
import { createValue } from '../state/value.ts';
import { en, type Words } from './en.ts';

export const languages = {
  en: 'English',
  fr: 'Français',
  de: 'Deutsch',
  es: 'Español',
  ar: 'العربية',
} as const;
export type Language = keyof typeof languages;

export const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(languages, text);

const key = 'fleetward.language';

export const words = createValue<Words>(en);
export const language = createValue<Language>('en');

const catalogues: Readonly<Record<Language, () => Promise<Words>>> = {
  en: async () => en,
  fr: async () => (await import('./fr.ts')).fr,
  de: async () => (await import('./de.ts')).de,
  es: async () => (await import('./es.ts')).es,
  ar: async () => (await import('./ar.ts')).ar,
};

/** Written from right to left. */
const rightToLeft: ReadonlySet<Language> = new Set(['ar']);

export async function setLanguage(wanted: Language): Promise<void> {
  words.set(await catalogues[wanted]());
  language.set(wanted);
  document.documentElement.lang = wanted;
  document.documentElement.dir = rightToLeft.has(wanted) ? 'rtl' : 'ltr';
}

export function chooseLanguage(wanted: Language): void {
  localStorage.setItem(key, wanted);
  void setLanguage(wanted);
}

/** Loads the language of this reader. */
export function beginLanguage(): Promise<void> {
  const chosen = localStorage.getItem(key);
  const spoken = navigator.languages.map((one) => one.slice(0, 2)).find(isLanguage);
  return setLanguage(isLanguage(chosen) ? chosen : (spoken ?? 'en'));
}
