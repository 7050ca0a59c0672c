// Applies an ordered list of migrations, each once and whole. A database written by a newer program is refused
// cleanly: nothing is changed, and the message says what to do.
import { AppError } from './core/errors.ts';
import type { Database, Statement } from './ports.ts';
import { sql } from './sql.ts';

export interface Migration {
  /** Never changes once released; the order of the list is the order of application. */
  readonly name: string;
  readonly statements: readonly Statement[];
}

/** A statement without parameters, for DDL. */
export function ddl(text: string): Statement {
  return { sql: text, params: [] };
}

const createMigrations = ddl(
  'CREATE TABLE IF NOT EXISTS migrations (name TEXT NOT NULL PRIMARY KEY, applied_order INTEGER NOT NULL)',
);

/** Names of what was applied. @throws AppError `storage` when this program does not know one of them. */
async function appliedOn(database: Database, migrations: readonly Migration[]): Promise<readonly string[]> {
  const rows = await database.read(ddl('SELECT name FROM migrations ORDER BY applied_order'));
  const applied = rows.map((row) => String(row['name']));
  const known = migrations.map((migration) => migration.name);
  const foreign = applied.find((name) => !known.includes(name));
  if (foreign !== undefined) {
    throw new AppError('storage', `the database was written by a newer version (migration ${foreign})`, {
      hint: 'Install that version again, or restore a backup from before the upgrade.',
    });
  }
  return applied;
}

/**
 * Migrates `database` to the newest version. Several programs may do so at once: each migration begins with a
 * unique mark, so the second program fails with nothing written, reads the mark and continues.
 * @throws AppError `storage` when the database holds migrations that this program does not know.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  await database.write([createMigrations]);
  let applied = await appliedOn(database, migrations);
  for (const [index, migration] of migrations.entries()) {
    if (applied.includes(migration.name)) continue;
    const mark = sql`INSERT INTO migrations (name, applied_order) VALUES (${migration.name}, ${index})`;
    try {
      await database.write([mark, ...migration.statements]);
    } catch (thrown) {
      applied = await appliedOn(database, migrations);
      if (!applied.includes(migration.name)) throw thrown;
    }
  }
}
