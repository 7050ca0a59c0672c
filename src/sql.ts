// The `sql` template: text with holes becomes a Statement with `$n` parameters, so that no value is ever glued into
// SQL text. Fragments made by `sql` nest; anything else in a hole is a parameter.
import type { Database, SqlValue, Statement } from './ports.ts';

function isStatement(value: SqlValue | Statement): value is Statement {
  return typeof value === 'object' && value !== null && 'sql' in value;
}

/** Builds a statement; holes are parameters or nested fragments. */
export function sql(texts: TemplateStringsArray, ...holes: readonly (SqlValue | Statement)[]): Statement {
  const params: SqlValue[] = [];
  let text = texts[0] ?? '';
  for (const [index, hole] of holes.entries()) {
    if (isStatement(hole)) {
      const shift = params.length;
      text += hole.sql.replace(/\$(\d+)/g, (_whole, digits: string) => `$${Number(digits) + shift}`);
      params.push(...hole.params);
    } else {
      params.push(hole);
      text += `$${params.length}`;
    }
    text += texts[index + 1] ?? '';
  }
  return { sql: text, params };
}

/** Fragments with commas between them, for SET and VALUES; at least one. */
export function commaList(parts: readonly Statement[]): Statement {
  return parts.reduce((list, part) => sql`${list}, ${part}`);
}

/** Values with commas between them, for IN; at least one. */
export function valueList(values: readonly SqlValue[]): Statement {
  return { sql: values.map((_, at) => `$${at + 1}`).join(', '), params: values };
}

/** The same database, whose reads let those of everybody else go first. */
export function patiently(db: Database): Database {
  return {
    read: (statement) => db.read({ ...statement, isPatient: true }),
    write: (batch) => db.write(batch),
    close: () => db.close(),
  };
}
