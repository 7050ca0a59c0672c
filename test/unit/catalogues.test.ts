// The catalogues of all languages: the same keys and arguments, whole phrases in every plural form, and no text that no program shows.
import { readdirSync, readFileSync } from 'node:fs';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { describe, expect, it } from 'vitest';
import { type Language, languages } from '../../src/core/words/languages.ts';

const root = new URL('../../', import.meta.url).pathname;
type Group = { readonly [key: string]: string | Group };

const catalogueOf = (language: Language): Group =>
  JSON.parse(readFileSync(`${root}src/words/${language}.json`, 'utf8')) as Group;

const textsOf = (group: Group, path = ''): readonly (readonly [path: string, text: string])[] =>
  Object.entries(group).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}${key}`, value] as const] : textsOf(value, `${path}${key}.`),
  );

const partsOf = (text: string): readonly MessageFormatElement[] => parse(text, { ignoreTag: true });

type Choice = Extract<MessageFormatElement, { type: TYPE.plural | TYPE.select }>;
const isChoice = (part: MessageFormatElement): part is Choice =>
  part.type === TYPE.plural || part.type === TYPE.select;

/** All parts, those within plurals and choices too. */
const allParts = (parts: readonly MessageFormatElement[]): readonly MessageFormatElement[] =>
  parts.flatMap((part) =>
    isChoice(part) ? [part, ...Object.values(part.options).flatMap(({ value }) => allParts(value))] : [part],
  );

const argumentsOf = (text: string): string =>
  [
    ...new Set(
      allParts(partsOf(text)).flatMap((part) =>
        part.type === TYPE.literal || part.type === TYPE.pound || part.type === TYPE.tag ? [] : [part.value],
      ),
    ),
  ]
    .toSorted()
    .join(' ');

const all = Object.keys(languages) as readonly Language[];
const english = new Map(textsOf(catalogueOf('en')));
/** They stand before another text. */
const withBlank = ['main.stream.name', 'mail.colon'];

describe.each(all)('the catalogue %s', (language) => {
  const texts = textsOf(catalogueOf(language));

  it('has the keys of the English one', () => {
    expect(texts.map(([path]) => path).toSorted()).toEqual([...english.keys()].toSorted());
  });

  it('has the arguments of the English texts', () => {
    const bad = texts.filter(([path, text]) => argumentsOf(text) !== argumentsOf(english.get(path) ?? ''));
    expect(bad).toEqual([]);
  });

  it('has every plural form of its language, or exact numbers alone', () => {
    const rules = new Intl.PluralRules(language);
    const needed = [...new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)))];
    const bad = texts.filter(([, text]) =>
      allParts(partsOf(text)).some((part) => {
        if (part.type !== TYPE.plural) return false;
        const forms = Object.keys(part.options).filter((form) => !form.startsWith('='));
        return forms.join() !== 'other' && !needed.every((form) => forms.includes(form));
      }),
    );
    expect(bad).toEqual([]);
  });

  it('has whole phrases: no form is empty, and none begins or ends with a blank', () => {
    const isPiece = (value: readonly MessageFormatElement[]): boolean => {
      const [first, last] = [value[0], value.at(-1)];
      return (
        value.length === 0 ||
        (first?.type === TYPE.literal && first.value.trimStart() !== first.value) ||
        (last?.type === TYPE.literal && last.value.trimEnd() !== last.value)
      );
    };
    const bad = texts.filter(([path, text]) => {
      const parts = partsOf(text);
      const forms = allParts(parts).flatMap((part) => (isChoice(part) ? Object.values(part.options) : []));
      return (isPiece(parts) && !withBlank.includes(path)) || forms.some(({ value }) => isPiece(value));
    });
    expect(bad).toEqual([]);
  });
});

describe('the texts', () => {
  const sources = ['broker/console', 'broker/core/reports', 'src/core/reports']
    .flatMap((folder) =>
      readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${root}${folder}/${String(name)}`),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => readFileSync(path, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, ''))
    .join('\n');
  const named = new Set(sources.match(/[A-Za-z_$][\w$]*/g));
  /** Groups of which a text is chosen by a code, or which are given on as they are. */
  const isTakenWhole = (group: string): boolean =>
    new RegExp(`\\b${group}\\b(\\[|\\)|,|;|\\s*[}\\])]|\\s*=>)`).test(sources);

  it('are all shown: each is named in a source, or chosen by a code', () => {
    const unused = [...english.keys()].filter((path) => {
      const [, ...keys] = path.split('.');
      return keys.some((key, at) => {
        const [above = '', parent = ''] = [keys[at - 2], keys[at - 1]];
        return !named.has(key) && at > 0 && !isTakenWhole(parent) && !sources.includes(`${above}[`);
      });
    });
    expect(unused).toEqual([]);
  });
});
