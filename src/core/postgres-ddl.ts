// The tables' one text, in SQLite's words, said in PostgreSQL's. Everything else that the product says to a database is the
// same text on both; what differs is here and nowhere else. It must never change what a table promises.

/**
 * One statement that creates a table or an index, for PostgreSQL; any other statement comes back as it is.
 * Whole numbers are 64 bits wide, as SQLite's are, so that a parameter beside them is too. Texts compare by their bytes
 * whatever the language of the database, as SQLite's do: ids in an answer stand in the same order on both.
 * Types are written in capitals, names are not: there are columns that are called `text`.
 */
export function toPostgresDdl(text: string): string {
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
