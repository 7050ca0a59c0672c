// Finds the line of a key in a TOML file, for error texts. Pure. The text was parsed before; where the line is not found, the error has
// none.

/** A key as it may stand on a line: bare, or in quotes. */
const keyPattern = String.raw`(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`;
const keysPattern = String.raw`${keyPattern}(?:\s*\.\s*${keyPattern})*`;
const headPattern = new RegExp(String.raw`^\s*(\[\[?)\s*(${keysPattern})\s*\]`);
const pairPattern = new RegExp(String.raw`^\s*(${keysPattern})\s*=`);

const namesOf = (keys: string): readonly string[] =>
  (keys.match(new RegExp(keyPattern, 'g')) ?? []).map((key) => key.replaceAll(/^["']|["']$/g, ''));

/** What a line leaves open for the next one. */
interface Open {
  /** Brackets of a list or an inline table. */
  readonly depth: number;
  /** The quotes that end a text over several lines; '' outside of one. */
  readonly quotes: string;
}

/** A text, a comment, or a bracket, whichever comes first. */
const piece = /"""|'''|"(?:[^"\\]|\\.)*"|'[^']*'|#.*|[[\]{}]/g;

function after(line: string, before: Open): Open {
  let { depth, quotes } = before;
  let at = 0;
  while (at < line.length) {
    if (quotes !== '') {
      const end = line.indexOf(quotes, at);
      if (end < 0) return { depth, quotes };
      at = end + quotes.length;
      quotes = '';
    }
    piece.lastIndex = at;
    const found = piece.exec(line);
    if (found === null) return { depth, quotes };
    const [sign] = found;
    at = found.index + sign.length;
    if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    else if (sign === '"""' || sign === "'''") quotes = sign;
  }
  return { depth, quotes };
}

/** Path of the names, through the newest element of every list of tables. */
function pathOf(names: readonly string[], elements: ReadonlyMap<string, number>): string {
  return names.reduce((path, name) => {
    const next = `${path}/${name}`;
    const last = elements.get(next);
    return last === undefined ? next : `${next}/${last}`;
  }, '');
}

/** Gives the line, from 1, of a JSON pointer's place or of its parent; null where neither is in the text. */
export function createLineFinder(text: string): (pointer: string) => number | null {
  const lines = new Map<string, number>();
  const elements = new Map<string, number>();
  let table = '';
  let open: Open = { depth: 0, quotes: '' };
  for (const [at, line] of text.split('\n').entries()) {
    const isFresh = open.depth === 0 && open.quotes === '';
    const head = isFresh ? headPattern.exec(line) : null;
    const pair = isFresh ? pairPattern.exec(line) : null;
    if (head !== null) {
      const names = namesOf(head[2] ?? '');
      const own = `${pathOf(names.slice(0, -1), elements)}/${names.at(-1)}`;
      if (head[1] === '[[') elements.set(own, (elements.get(own) ?? -1) + 1);
      table = head[1] === '[[' ? `${own}/${elements.get(own)}` : own;
      if (!lines.has(table)) lines.set(table, at + 1);
    } else if (pair !== null) {
      const place = [table, ...namesOf(pair[1] ?? '')].join('/');
      if (!lines.has(place)) lines.set(place, at + 1);
    }
    // A head closes what it opens.
    if (head === null) open = after(line, open);
  }
  return (pointer) => {
    for (let place = pointer; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
      const line = lines.get(place);
      if (line !== undefined) return line;
    }
    return null;
  };
}
