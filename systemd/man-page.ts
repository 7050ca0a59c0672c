// `npm run man`: writes the made sections of the manual pages: every setting of the agent and of the broker from the schema that checks
// them, every command of the broker from its command line. The rest of a page is written by hand. A test fails while page and program differ.
import { readFileSync, writeFileSync } from 'node:fs';
import { agentFileSchema } from '../agent/config.ts';
import { createCommandLine, type Handlers } from '../broker/cli/command-line.ts';
import { brokerSchema } from '../broker/config/broker-config.ts';
import { settingsOf } from '../src/config.ts';

const program = 'fleetward-broker';
const columns = 400;
const overrides = `What differs from the profile, in the tables inputs, analogs, relays, outputs, polls, units, serial; false takes a signal or
relay away. In the file only.`;

/** Text for troff: a backslash and a hyphen have meanings, and so does a dot or a quote at the start of a line. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll('^', '\\(ha')
    .replaceAll('~', '\\(ti')
    .replaceAll('`', '')
    .replace(/^([.'])/gm, '\\&$1');
}

interface Entry {
  /** Written in bold. */
  readonly term: string;
  readonly words: string;
}

/** One paragraph with its term in front. */
const formatEntry = ({ term, words }: Entry): string => `.TP\n.B ${escaped(term)}\n${escaped(words)}.\n`;

/** Settings by the table that they stand in. */
function formatSettings(schema: Parameters<typeof settingsOf>[0]): string {
  const tables = new Map<string, string[]>();
  for (const { key, words } of settingsOf(schema)) {
    const [table = ''] = key.includes('.') ? key.split('.', 1) : ['(no table)'];
    const entry = formatEntry({ term: key, words: key === 'board.overrides' ? overrides : words });
    tables.set(table, [...(tables.get(table) ?? []), entry]);
  }
  return [...tables].map(([table, entries]) => `.SS [${escaped(table)}]\n${entries.join('')}`).join('');
}

/** Any command may be there; none is ever run by asking for help. */
const handlers = new Proxy({}, { get: () => () => undefined }) as Handlers;

/** The help after these words. */
function helpOf(words: readonly string[]): Promise<string> {
  const parser = createCommandLine(handlers, '0', columns);
  return new Promise((resolve) => {
    void parser.parse([...words, '--help'], {}, (_fault: unknown, _flags: unknown, text: string) =>
      resolve(text),
    );
  });
}

/** Commands with their arguments, such as `account create <accountID>`. */
const commandsIn = (help: string): readonly Entry[] =>
  [...(help.split('Options:')[0] ?? '').matchAll(new RegExp(`^ {2}${program} (\\S.*?) {2,}(\\S.*)$`, 'gm'))]
    .map((match) => ({ term: (match[1] ?? '').trim(), words: (match[2] ?? '').trim() }))
    .filter(({ term }) => /^[a-z]/.test(term));

const shared = ['--help', '--version', '--json', '--config'];

/** Flags of a command that are no settings and not of every command. */
function flagsIn(help: string): readonly Entry[] {
  const left = new Set([...shared, ...settingsOf(brokerSchema).map(({ flag }) => `--${flag}`)]);
  return [...help.matchAll(/^ +(--[a-z-]+) {2,}(\S.*?)(?: {2,}\[.*)?$/gm)]
    .map((match) => ({ term: match[1] ?? '', words: (match[2] ?? '').trim() }))
    .filter(({ term }) => !left.has(term));
}

/** The commands after these words, each that has parts replaced by them. */
async function formatCommands(words: readonly string[], own = ''): Promise<string> {
  const help = await helpOf(words);
  const parts: string[] = [];
  for (const part of commandsIn(help))
    parts.push(
      await formatCommands(
        part.term.split(' ').filter((word) => /^[a-z]/.test(word)),
        formatEntry(part),
      ),
    );
  if (parts.length > 0) return parts.join('');
  const flags = flagsIn(help).map(formatEntry).join('');
  return `${own}${flags === '' ? '' : `.RS\n${flags}.RE\n`}`;
}

/** Pages with a made section, which stands between two comments. */
export const madeSections: Readonly<Record<string, () => string | Promise<string>>> = {
  'fleetward-agent.toml.5': () => formatSettings(agentFileSchema),
  'fleetward-broker.toml.5': () => formatSettings(brokerSchema),
  'fleetward-broker.8': () => formatCommands([]),
};

/** @returns the page with its made section replaced. */
export async function remakePage(name: string, page: string): Promise<string> {
  const [head, , tail, ...rest] = page.split(/^(?=\.\\" (?:Made by `npm run man`|End of what is made))/m);
  if (head === undefined || tail === undefined || rest.length > 0)
    throw new Error(`${name} has no made section`);
  const made = await madeSections[name]?.();
  return `${head}.\\" Made by \`npm run man\`: do not edit.\n${made}${tail}`;
}

if (process.argv[1]?.endsWith('man-page.js') === true) {
  for (const name of Object.keys(madeSections)) {
    const path = new URL(`../../systemd/man/${name}`, import.meta.url);
    writeFileSync(path, await remakePage(name, readFileSync(path, 'utf8')));
  }
}
