// All words of the console in one language, those of every screen included, as the screens load them.
import { readdirSync } from 'node:fs';
import type { WordSet } from '../../../broker/console/words/word-set.ts';
import type { Language } from '../../../src/core/words/languages.ts';

const folder = new URL('../../../broker/console/words/', import.meta.url);

/** Folders of the words of screens. */
export const wordFolders: readonly string[] = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((path) => path.endsWith('/words.ts'))
  .map((path) => path.slice(0, -'/words.ts'.length))
  .toSorted();

export async function allWords(language: Language): Promise<Readonly<Record<string, unknown>>> {
  const always = (await import(new URL(`${language}.ts`, folder).href)) as Record<Language, object>;
  const sets = await Promise.all(
    wordFolders.map(async (name) => {
      const exported = (await import(new URL(`${name}/words.ts`, folder).href)) as Record<
        string,
        WordSet<object>
      >;
      return Promise.all(Object.values(exported).map((set) => set[language]()));
    }),
  );
  return Object.assign({}, always[language], ...sets.flat());
}
