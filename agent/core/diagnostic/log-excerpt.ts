// Cuts the newest lines of a log into texts that each fit into one event. Pure. The oldest lines are left out whole;
// no character is cut in two, and no text exceeds its limit when it is written as JSON.
import { requestLimits } from '../../../src/core/wire/device-request.ts';

/** Bytes of a character inside a JSON string in UTF-8 (RFC 8259 section 7; lone surrogates as JSON.stringify). */
function costOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x22 || code === 0x5c || (code >= 8 && code <= 13 && code !== 11)) return 2;
  if (code < 0x20 || (code >= 0xd800 && code <= 0xdfff)) return 6;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

const mostCost = 6;

function costOfText(text: string): number {
  let cost = 0;
  for (const character of text) cost += costOf(character);
  return cost;
}

/** The newest whole lines that cost no more than `budget`; of a single longer line its end. */
function newestLines(text: string, budget: number): string {
  const lines = text.split(/(?<=\n)/);
  let left = budget;
  let from = lines.length;
  while (from > 0) {
    const cost = costOfText(lines[from - 1] ?? '');
    if (cost > left) break;
    left -= cost;
    from -= 1;
  }
  if (from < lines.length || from === 0) return lines.slice(from).join('');
  const tail: string[] = [];
  for (const character of Array.from(lines.at(-1) ?? '').toReversed()) {
    left -= costOf(character);
    if (left < 0) break;
    tail.push(character);
  }
  return tail.toReversed().join('');
}

/** The parts of an excerpt, in order, at least one (it may be empty) and at most `requestLimits.parts`. */
export function cutExcerpt(log: string): readonly string[] {
  const { chunkBytes, parts } = requestLimits;
  // A part may end up to one character short of its limit.
  const text = newestLines(log, parts * (chunkBytes - mostCost));
  const chunks: string[] = [];
  let chunk: string[] = [];
  let cost = 0;
  for (const character of text) {
    const more = costOf(character);
    if (cost + more > chunkBytes) {
      chunks.push(chunk.join(''));
      chunk = [];
      cost = 0;
    }
    chunk.push(character);
    cost += more;
  }
  return [...chunks, chunk.join('')];
}
