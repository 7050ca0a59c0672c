// What the manual pages that are made from the programs share: text and lists with the man macros of troff.

/** Text for troff: a backslash and a hyphen have meanings, and so does a dot or a quote at the start of a line. */
export function escaped(text: string): string {
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
  /** As it is written: in bold. */
  readonly term: string;
  readonly words: string;
}

/** One paragraph with its term in front. */
export const formatEntry = ({ term, words }: Entry): string =>
  `.TP\n.B ${escaped(term)}\n${escaped(words)}.\n`;

/** Settings by the table that they stand in. */
export function formatSettings(
  settings: readonly { readonly key: string; readonly words: string }[],
): string {
  const tables = new Map<string, string[]>();
  for (const { key, words } of settings) {
    const [table = ''] = key.includes('.') ? key.split('.', 1) : ['(no table)'];
    tables.set(table, [...(tables.get(table) ?? []), formatEntry({ term: key, words })]);
  }
  const sections = [...tables].map(([table, entries]) => `.SS [${escaped(table)}]\n${entries.join('')}`);
  return `.SH SETTINGS\n${sections.join('')}`;
}
