// Translates the tables' DDL from SQLite to PostgreSQL. All other statements are the same text on both; the
// differences are here and nowhere else. The guarantees of a table must never change.

const triggerForm =
  /^\s*CREATE TRIGGER (\w+) (AFTER .+? ON \w+ FOR EACH ROW)( WHEN \(.+?\))? BEGIN\s(.+)\sEND\s*$/s;

/** A trigger of PostgreSQL calls a function; one statement makes both. */
function toPostgresTrigger(text: string): string {
  const parts = triggerForm.exec(text);
  if (parts === null) throw new Error(`a trigger that is not of the form of the others: ${text}`);
  const [, name, event, when = '', body] = parts;
  return `DO $do$ BEGIN
    CREATE FUNCTION ${name}() RETURNS TRIGGER LANGUAGE plpgsql AS $body$ BEGIN ${body} RETURN NULL; END $body$;
    CREATE TRIGGER ${name} ${event}${when} EXECUTE FUNCTION ${name}();
  END $do$`;
}

/**
 * One statement that creates a table, an index or a trigger, for PostgreSQL; any other statement is returned unchanged.
 * Integers have 64 bits, as in SQLite, and so have parameters beside them. Texts are ordered by bytes, as in SQLite: ids have
 * the same order on both. Types are written in capitals, names are not: there are columns called `text`.
 */
export function toPostgresDdl(text: string): string {
  if (/^\s*CREATE\s+TRIGGER\b/i.test(text)) return toPostgresTrigger(text);
  if (!/^\s*CREATE\s+TABLE\b/i.test(text)) return text;
  return text
    .replace(
      /\bINTEGER(\s+NOT\s+NULL)?\s+PRIMARY\s+KEY\s+AUTOINCREMENT\b/g,
      'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    )
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bBLOB\b/g, 'BYTEA')
    .replace(/\bTEXT\b/g, 'TEXT COLLATE "C"');
}
