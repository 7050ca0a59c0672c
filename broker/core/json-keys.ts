// Finds duplicate names in an object of a JSON text. A parser silently keeps the last one, while a proxy or signature check
// may have used the first. Pure.

/** An object or list that is open. */
interface Open {
  /** Names so far; null for a list. */
  readonly names: Set<string> | null;
  /** The member or item that is being read. */
  at: string | number;
}

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The index of the quotation mark that ends the text which begins at `start`. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  // 0x22 ", 0x5c \
  for (let sign = text.charCodeAt(at); sign !== 0x22 && at < text.length; sign = text.charCodeAt(at)) {
    at += sign === 0x5c ? 2 : 1;
  }
  return at;
}

/** The name between two quotation marks, without its escapes. */
function nameOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw;
}

/**
 * The JSON pointer to the first name that stands a second time in its object; null when there is none. One pass, and memory for
 * the names of the objects that are open.
 * @param text that `JSON.parse` takes.
 */
export function findRepeatedKey(text: string): string | null {
  const open: Open[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const top = open.at(-1);
    switch (text.charAt(at)) {
      case '{':
      case '[':
        isName = text[at] === '{';
        open.push({ names: isName ? new Set() : null, at: 0 });
        break;
      case '}':
      case ']':
        open.pop();
        isName = false;
        break;
      case ',':
        isName = top?.names != null;
        if (top !== undefined && typeof top.at === 'number') top.at += 1;
        break;
      case '"': {
        const end = endOfText(text, at);
        if (isName && top?.names != null) {
          top.at = nameOf(text, at, end);
          if (top.names.has(top.at)) return open.map((one) => `/${escapePointer(String(one.at))}`).join('');
          top.names.add(top.at);
          isName = false;
        }
        at = end;
        break;
      }
    }
  }
  return null;
}
