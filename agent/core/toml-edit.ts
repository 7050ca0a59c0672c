// Changes single settings in a TOML file that a person wrote, and leaves every other character as it is. Pure text:
// it understands plain tables and one-line strings, and reports anything else. It does not check its result: the
// caller compares the meaning of both texts before the new one is written.

/** One setting: a text in a table at the root. */
export interface Setting {
  readonly table: string;
  readonly key: string;
  readonly value: string;
}

/** A line that changed; null where there was none before. */
export interface ChangedLine {
  readonly before: string | null;
  readonly after: string;
}

export type Edited =
  | { readonly ok: true; readonly text: string; readonly changes: readonly ChangedLine[] }
  | { readonly ok: false; readonly reason: string };

const headerPattern = /^\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(#.*)?$/;
const anyHeaderPattern = /^\s*\[/;
const keyPattern = /^(\s*)(?:([A-Za-z0-9_-]+)|"([A-Za-z0-9_-]+)")(\s*=\s*)(.*)$/;
/** A basic or literal string of one line, and what may follow it. */
const stringPattern = /^("(?:[^"\\]|\\.)*"|'[^']*')(\s*(?:#.*)?)$/;

/** A text as a basic string (TOML 1.0); what JSON escapes, TOML escapes the same way. */
export function formatTomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

interface Lines {
  readonly lines: readonly string[];
  readonly changes: readonly ChangedLine[];
}

/** Position of a table: its header, and the line behind its last setting. */
function placeOf(
  lines: readonly string[],
  table: string,
): { readonly from: number; readonly to: number } | null {
  const from = lines.findIndex((line) => headerPattern.exec(line)?.[1] === table);
  if (from === -1) return null;
  const next = lines.findIndex((line, at) => at > from && anyHeaderPattern.test(line));
  const section = lines.slice(from, next === -1 ? lines.length : next);
  const last = section.findLastIndex((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  return { from, to: from + last + 1 };
}

function append({ lines, changes }: Lines, { table, key, value }: Setting): Lines {
  const added = ['', `[${table}]`, `${key} = ${formatTomlString(value)}`];
  // A file ends with a line feed, so that its last line is empty.
  const kept = lines.at(-1) === '' ? lines.slice(0, -1) : lines;
  const body = kept.length === 0 ? added.slice(1) : added;
  return {
    lines: [...kept, ...body, ''],
    changes: [...changes, ...body.filter((line) => line !== '').map((after) => ({ before: null, after }))],
  };
}

/** @returns null when the setting is there in a form that is not understood. */
function setOne(state: Lines, setting: Setting): Lines | null {
  const { lines, changes } = state;
  const place = placeOf(lines, setting.table);
  if (place === null) return append(state, setting);
  const isKey = (line: string): boolean => {
    const match = keyPattern.exec(line);
    return (match?.[2] ?? match?.[3]) === setting.key;
  };
  const at = lines.findIndex((line, index) => index > place.from && index < place.to && isKey(line));
  const written = formatTomlString(setting.value);
  if (at === -1) {
    const indent = /^\s*/.exec(lines[place.to - 1] ?? '')?.[0] ?? '';
    const after = `${indent}${setting.key} = ${written}`;
    return {
      lines: [...lines.slice(0, place.to), after, ...lines.slice(place.to)],
      changes: [...changes, { before: null, after }],
    };
  }
  const before = lines[at] ?? '';
  const [, , , , equals = '', rest = ''] = keyPattern.exec(before) ?? [];
  const value = stringPattern.exec(rest);
  if (value === null) return null;
  const head = before.slice(0, before.length - rest.length - equals.length);
  const after = `${head}${equals}${written}${value[2] ?? ''}`;
  if (after === before) return state;
  return { lines: lines.with(at, after), changes: [...changes, { before, after }] };
}

/** Sets the settings one after the other. Line ends stay as they are. */
export function editToml(text: string, settings: readonly Setting[]): Edited {
  if (text.includes('"""') || text.includes("'''")) {
    return { ok: false, reason: 'it holds a text of several lines' };
  }
  const isDos = text.includes('\r\n');
  const lines = text.split(isDos ? '\r\n' : '\n');
  let state: Lines = { lines: text === '' ? [] : lines, changes: [] };
  for (const setting of settings) {
    const next = setOne(state, setting);
    if (next === null) {
      return { ok: false, reason: `${setting.table}.${setting.key} is no text on one line` };
    }
    state = next;
  }
  return { ok: true, text: state.lines.join(isDos ? '\r\n' : '\n'), changes: state.changes };
}
