// Words that are loaded with their screen: in the language of the page only, and never two languages on one page.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { WordSet } from '../../broker/console/words/word-set.ts';
import type { Language } from '../../src/core/words/languages.ts';

const all: readonly Language[] = ['en', 'fr', 'de', 'es', 'ar'];

/** A set that says its language, and counts what is asked of it. */
function setOf(name: string, asked: string[], broken: ReadonlySet<Language> = new Set()) {
  return Object.fromEntries(
    all.map((language) => [
      language,
      async () => {
        asked.push(`${name} ${language}`);
        if (broken.has(language)) throw new TypeError('Failed to fetch');
        return { [name]: language };
      },
    ]),
  ) as unknown as WordSet<object>;
}

/** An importing of a part whose load ends when it is released. */
function heldPart(): { readonly part: Promise<string>; release(): void } {
  let release = (): void => undefined;
  const part = new Promise<string>((resolve) => {
    release = () => resolve('part');
  });
  return { part, release: () => release() };
}

describe('words of a screen', () => {
  let page: typeof import('../../broker/console/words/word-set.ts');
  let asked: string[];

  beforeEach(async () => {
    vi.resetModules();
    page = await import('../../broker/console/words/word-set.ts');
    asked = [];
  });

  const shown = (): Readonly<Record<string, unknown>> => ({ ...page.words.get() });

  it('are there when the screen is, in the language of the page only', async () => {
    await page.setLanguage('de');
    const set = page.wordSet(setOf('zones', asked));
    expect(page.hasWords(set)).toBe(false);
    expect(await page.withWords(Promise.resolve('screen'))).toBe('screen');
    expect(page.hasWords(set)).toBe(true);
    expect(shown()['zones']).toBe('de');
    expect(asked).toEqual(['zones de']);
  });

  it('come with those of the sets that the screen itself has brought', async () => {
    const held = heldPart();
    const loading = page.withWords(
      held.part.then((part) => {
        page.wordSet(setOf('zones', asked));
        page.wordSet(setOf('routes', asked));
        return part;
      }),
    );
    held.release();
    await loading;
    expect(shown()).toMatchObject({ zones: 'en', routes: 'en' });
  });

  it('change their language all at once', async () => {
    page.wordSet(setOf('zones', asked));
    page.wordSet(setOf('routes', asked));
    await page.withWords(Promise.resolve());
    const seen: unknown[] = [];
    page.words.subscribe(() => seen.push([shown()['locale'], shown()['zones'], shown()['routes']]));
    await page.setLanguage('fr');
    expect(seen).toEqual([['fr', 'fr', 'fr']]);
    expect(page.language.get()).toBe('fr');
  });

  it('are those of the last of several choices', async () => {
    page.wordSet(setOf('zones', asked));
    await Promise.all([page.setLanguage('fr'), page.setLanguage('ar'), page.setLanguage('es')]);
    expect([page.language.get(), shown()['locale'], shown()['zones']]).toEqual(['es', 'es', 'es']);
  });

  it('are in the new language when it is chosen while the screen loads', async () => {
    const held = heldPart();
    const loading = page.withWords(held.part.then(() => page.wordSet(setOf('zones', asked))));
    const choosing = page.setLanguage('de');
    held.release();
    await Promise.all([loading, choosing]);
    expect([page.language.get(), shown()['locale'], shown()['zones']]).toEqual(['de', 'de', 'de']);
  });

  it('that cannot be loaded fail the load of their screen, and the next try loads them', async () => {
    const broken = new Set<Language>(['en']);
    page.wordSet(setOf('zones', asked, broken));
    await expect(page.withWords(Promise.resolve())).rejects.toThrow('Failed to fetch');
    expect(page.notLoaded.get()).toBe(null);
    broken.clear();
    await page.withWords(Promise.resolve());
    expect(shown()['zones']).toBe('en');
  });

  it('leave the page in its language when another one cannot be loaded, and say which', async () => {
    const broken = new Set<Language>(['ar']);
    page.wordSet(setOf('zones', asked, broken));
    await page.withWords(Promise.resolve());
    await page.setLanguage('ar');
    expect([page.language.get(), shown()['locale'], shown()['zones']]).toEqual(['en', 'en', 'en']);
    expect(page.notLoaded.get()).toBe('ar');
    broken.clear();
    await page.setLanguage('ar');
    expect([page.language.get(), shown()['zones'], page.notLoaded.get()]).toEqual(['ar', 'ar', null]);
  });

  it('load with a screen in the language before when the chosen one fails meanwhile', async () => {
    const broken = new Set<Language>(['ar']);
    page.wordSet(setOf('zones', asked, broken));
    const choosing = page.setLanguage('ar');
    const loading = page.withWords(Promise.resolve());
    await Promise.all([choosing, loading]);
    expect([page.language.get(), shown()['zones'], page.notLoaded.get()]).toEqual(['en', 'en', 'ar']);
  });
});
