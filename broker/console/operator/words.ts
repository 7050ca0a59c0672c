// The texts of the page of the operator.
import { createContext, use } from 'react';
import type { OperatorPageTexts } from '../../../build/words/operatorPage/en.ts';

/** Those of the page that is shown; it shows nothing before they are there. */
export const TextsContext = createContext<OperatorPageTexts | null>(null);

export function useTexts(): OperatorPageTexts {
  const texts = use(TextsContext);
  if (texts === null) throw new Error('The page has no texts yet');
  return texts;
}

/** The word for a name of the service; the name itself for one that a newer service has. */
export const wordOf = (words: Readonly<Record<string, string>>, key: string): string =>
  Object.hasOwn(words, key) ? (words[key] ?? key) : key;
