// Makes modules of the catalogues: `build/words/<section>/<language>.ts` has texts as strings, and those with arguments as
// functions; `build/words/<section>.ts` loads them by language. Argument types come from English, so `tsc` checks every use.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';

const root = join(import.meta.dirname, '../..');
const languages = ['en', 'fr', 'de', 'es', 'ar'];

/** Sections that Node programs read: all languages at once. */
const joined = ['codes', 'kinds', 'records', 'tables', 'mail'];
/** Sections that are loaded by language and are no set of a screen. */
const withoutSet = ['main', 'operatorPage', 'sharePage'];

/** Texts of one section that another one has too: path there -> section and path of the text. */
const borrowed = {
  'main.codes': 'codes',
  'main.units': 'records.units',
  'main.alarms.priorities': 'records.alarmPriorities',
  'main.alarms.states': 'records.alarmStates',
  'main.alarms.reasons': 'records.closeReasons',
  'rule.rules.kinds': 'kinds',
  'cut.orders.enginecutoff.reasons': 'tables.cutReasons',
  'sharePage.at': 'nearest.nearest.at',
  'sharePage.near': 'nearest.nearest.near',
  'report.reports.kinds': 'tables.reportKinds',
  'report.reports.columns': 'tables.reportColumns',
  'report.reports.decisions': 'tables.decisions',
};

/** Units that stand in texts and in no catalogue. */
const furtherUnits = ['ms', 'MiB', 'Mio', 'MB', 'Mo'];

/** A number and its unit never stand on two lines: a no-break space is between them. Mails are plain text and stay as they are written. */
function readCatalogue(language) {
  const text = readFileSync(join(import.meta.dirname, `${language}.json`), 'utf8');
  const { records, mail } = JSON.parse(text);
  const units = [...Object.values(records.units), ...furtherUnits].join('|');
  const unit = new RegExp(`(?<=[}\\d]) (?=(?:${units})(?![\\p{L}’']))`, 'gu');
  const whole = (_key, value) => (typeof value === 'string' ? value.replaceAll(unit, '\u00a0') : value);
  return { ...JSON.parse(text, whole), mail };
}

/** @throws Error for a text that is no ICU message, with its path. */
function parseText(text, path) {
  try {
    return parse(text, { ignoreTag: true });
  } catch (thrown) {
    throw new Error(`${path} is no ICU message (${thrown.message}): ${text}`, { cause: thrown });
  }
}

/** Every text of a catalogue: its path and its parts. */
function* textsOf(value, path) {
  if (typeof value === 'string') yield [path, parseText(value, path)];
  else for (const [key, one] of Object.entries(value)) yield* textsOf(one, `${path}.${key}`);
}

/** Adds the arguments of a text: name -> `number`, `boolean`, or `string | number` where a text only shows it. */
function addArguments(parts, found = new Map()) {
  for (const part of parts) {
    if (part.type === TYPE.literal || part.type === TYPE.pound) continue;
    const isCount = part.type === TYPE.number || part.type === TYPE.plural;
    const isChoice = part.type === TYPE.select;
    const type = isCount ? 'number' : isChoice ? ('true' in part.options ? 'boolean' : 'string') : undefined;
    found.set(part.value, type ?? found.get(part.value) ?? 'string | number');
    for (const { value } of Object.values(part.options ?? {})) addArguments(value, found);
  }
  return found;
}

const quoted = (text) => text.replaceAll(/[`\\]|\$\{/g, '\\$&');
const member = (name) => `a.${name}`;

/** The parts as what stands in a template literal. @param counted argument that `#` stands for. */
function template(parts, counted, path) {
  const choice = (part, test) => {
    const { other, ...options } = part.options;
    const rest = `\`${template(other.value, part.type === TYPE.plural ? part.value : counted, path)}\``;
    return Object.entries(options).reduceRight((before, [key, { value }]) => {
      const text = `\`${template(value, part.type === TYPE.plural ? part.value : counted, path)}\``;
      return text === rest && before === rest ? rest : `${test(key)} ? ${text} : ${before}`;
    }, rest);
  };
  return parts
    .map((part) => {
      switch (part.type) {
        case TYPE.literal:
          return quoted(part.value);
        case TYPE.argument:
          return `\${${member(part.value)}}`;
        case TYPE.pound:
          return `\${n(${member(counted)})}`;
        case TYPE.number:
          if (!part.style) return `\${n(${member(part.value)})}`;
          break;
        case TYPE.select:
          return `\${${choice(part, (key) => (key === 'true' ? member(part.value) : `${member(part.value)} === '${key}'`))}}`;
        case TYPE.plural: {
          const of = member(part.value);
          return `\${${choice(part, (key) => (key.startsWith('=') ? `${of} === ${key.slice(1)}` : `form(${of}) === '${key}'`))}}`;
        }
      }
      throw new Error(`${path} has a form of argument that is not known here: ${JSON.stringify(part)}`);
    })
    .join('');
}

/** A value of a catalogue as source text. */
function sourceOf(value, path, types) {
  if (typeof value === 'string') {
    const parts = parseText(value, path);
    const given = types.get(path);
    if (parts.every(({ type }) => type === TYPE.literal))
      return JSON.stringify(parts.map((part) => part.value).join(''));
    const shape = [...given].map(([name, type]) => `readonly ${name}: ${type}`).join('; ');
    return `(a: { ${shape} }): string => \`${template(parts, '', path)}\``;
  }
  const own = Object.entries(value).map(([key, one]) => [key, sourceOf(one, `${path}.${key}`, types)]);
  const lent = Object.entries(borrowed).filter(([to]) => to.slice(0, to.lastIndexOf('.')) === path);
  const others = lent.map(([to, from]) => [
    to.slice(to.lastIndexOf('.') + 1),
    from.replace(/^\w+/, (section) => `${section}Texts`),
  ]);
  return `{\n${[...own, ...others].map(([key, text]) => `${JSON.stringify(key)}: ${text},`).join('\n')}\n}`;
}

const pascal = (section) => section[0].toUpperCase() + section.slice(1);

function moduleOf(section, language, catalogue, types) {
  const text = sourceOf(catalogue[section], section, types);
  const sections = Object.entries(borrowed).flatMap(([to, from]) =>
    to.startsWith(`${section}.`) ? [from.split('.')[0]] : [],
  );
  const locale = JSON.stringify(catalogue.main.locale);
  const type = `${pascal(section)}Texts`;
  const helpers = [
    ['formatNumber', 'n'],
    ['formOf', 'form'],
  ].filter(([, name]) => text.includes(`${name}(a.`));
  const names = helpers.map(([name]) => name).join(', ');
  return [
    `// Made of src/words/${language}.json.`,
    ...(names === '' ? [] : [`import { ${names} } from '../../../src/core/words/format.ts';`]),
    ...[...new Set(sections)].map((one) => `import { ${one}Texts } from '../${one}/${language}.ts';`),
    ...(language === 'en' ? [] : [`import type { ${type} } from './en.ts';`]),
    ...helpers.map(
      ([helper, name]) => `const ${name} = (value: number): string => ${helper}(value, ${locale});`,
    ),
    `export const ${section}Texts${language === 'en' ? '' : `: ${type}`} = ${text};`,
    ...(language === 'en' ? [`export type ${type} = typeof ${section}Texts;`] : []),
  ].join('\n');
}

function loaderOf(section) {
  if (joined.includes(section)) {
    const imports = languages.map(
      (one) => `import { ${section}Texts as ${one} } from './${section}/${one}.ts';`,
    );
    return [...imports, `export const ${section}Words = { ${languages.join(', ')} };`].join('\n');
  }
  // English is part of the first load; it is there whatever the language is.
  const loads = languages
    .filter((one) => section !== 'main' || one !== 'en')
    .map((one) => `${one}: async () => (await import('./${section}/${one}.ts')).${section}Texts,`);
  const object = `{\n${loads.join('\n')}\n}`;
  if (withoutSet.includes(section)) return `export const ${section}Words = ${object};`;
  return [
    `import { wordSet } from '../../broker/console/words/word-set.ts';`,
    `import type { ${pascal(section)}Texts } from './${section}/en.ts';`,
    `export const ${section}Words = wordSet<${pascal(section)}Texts>(${object});`,
  ].join('\n');
}

/** Several processes may do this at once, so that a file is either as before or whole. */
function write(path, text) {
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch {
    mkdirSync(dirname(path), { recursive: true });
  }
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/** Also before the tests, by the name that vitest asks for. */
export { compileWords as setup };

export function compileWords() {
  const catalogues = Object.fromEntries(languages.map((one) => [one, readCatalogue(one)]));
  const types = new Map();
  for (const language of languages)
    for (const section of Object.keys(catalogues.en))
      for (const [path, parts] of textsOf(catalogues[language][section], section))
        types.set(path, addArguments(parts, types.get(path)));
  const made = new Map();
  for (const section of Object.keys(catalogues.en)) {
    made.set(`${section}.ts`, loaderOf(section));
    for (const language of languages)
      made.set(`${section}/${language}.ts`, moduleOf(section, language, catalogues[language], types));
  }
  const folder = join(root, 'build/words');
  for (const [name, text] of made) write(join(folder, name), `${text}\n`);
  for (const name of readdirSync(folder, { recursive: true }).map(String))
    if (name.endsWith('.ts') && !made.has(name)) rmSync(join(folder, name), { force: true });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) compileWords();
