// All words of the console in one language, those of every screen included, as the screens load them.
import { readdirSync } from 'node:fs';
import type { Language } from '../../../src/core/words/languages.ts';

const folder = new URL('../../../build/words/', import.meta.url);
/** Sections that the console takes as parts of others, and those of other programs and pages. */
const others: readonly string[] = ['codes', 'records', 'tables', 'mail', 'operatorPage', 'sharePage'];

const sections = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !others.includes(entry.name))
  .map(({ name }) => name);

export async function allWords(language: Language): Promise<Readonly<Record<string, unknown>>> {
  const texts = await Promise.all(
    sections.map(async (section) => {
      const exported = (await import(new URL(`${section}/${language}.ts`, folder).href)) as Record<
        string,
        object
      >;
      return exported[`${section}Texts`];
    }),
  );
  return Object.assign({}, ...texts);
}

/** Arguments for any text: each is 7. */
export const sevens: unknown = new Proxy({}, { get: () => 7 });
