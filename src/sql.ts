// The `sql` template: interpolated values become a Statement with `$n` parameters, so that no value is ever
// concatenated into SQL text. Fragments made by `sql` nest; any other value is a parameter.
import type { Database, SqlValue, Statement } from './ports.ts';

function isStatement(value: SqlValue | Statement): value is Statement {
  return typeof value === 'object' && value !== null && 'sql' in value;
}

/** Texts of templates without fragments, by template: the same text, so that a database need not hash it again. */
const plainTexts = new WeakMap<TemplateStringsArray, string>();

function plainText(texts: TemplateStringsArray): string {
  const known = plainTexts.get(texts);
  if (known !== undefined) return known;
  const text = texts.reduce((before, part, at) => `${before}$${at}${part}`);
  plainTexts.set(texts, text);
  return text;
}

/** A fragment's text with its parameters numbered from `shift` on. */
const shifted = (text: string, shift: number): string =>
  shift === 0 ? text : text.replace(/\$(\d+)/g, (_whole, digits: string) => `$${Number(digits) + shift}`);

/** Builds a statement; holes are parameters or nested fragments. */
export function sql(texts: TemplateStringsArray, ...holes: readonly (SqlValue | Statement)[]): Statement {
  if (!holes.some(isStatement)) return { sql: plainText(texts), params: holes as readonly SqlValue[] };
  const params: SqlValue[] = [];
  let text = texts[0] ?? '';
  for (const [index, hole] of holes.entries()) {
    if (isStatement(hole)) {
      text += shifted(hole.sql, params.length);
      params.push(...hole.params);
    } else {
      params.push(hole);
      text += `$${params.length}`;
    }
    text += texts[index + 1] ?? '';
  }
  return { sql: text, params };
}

/** Fragments with commas between them, for SET and VALUES; at least one. Takes time in proportion to their number. */
export function commaList(parts: readonly Statement[]): Statement {
  const params: SqlValue[] = [];
  const texts: string[] = [];
  for (const part of parts) {
    texts.push(shifted(part.sql, params.length));
    params.push(...part.params);
  }
  return { sql: texts.join(', '), params };
}

/** Values with commas between them, for IN; at least one. */
export function valueList(values: readonly SqlValue[]): Statement {
  return { sql: values.map((_, at) => `$${at + 1}`).join(', '), params: values };
}

/**
 * The same read, declared to find a few rows by their keys. SQLite answers it at once in the calling thread, because a message to
 * another thread would cost more than the read. It must never be used for a range, a list or a count.
 */
export function pointRead({ sql: text, params }: Pick<Statement, 'sql' | 'params'>): Statement {
  // Not spread: that takes as long as the read itself.
  return { sql: text, params, isPointRead: true };
}

/** The same database with reads of low priority. */
export function lowPriorityReads(db: Database): Database {
  return {
    read: (statement) => db.read({ ...statement, isPatient: true }),
    write: (batch) => db.write(batch),
    close: () => db.close(),
  };
}
