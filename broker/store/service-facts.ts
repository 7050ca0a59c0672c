// Facts that stay the same over starts and bridges: rows that each start compares.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { readNumber, textOf } from './base/row.ts';

/** The table that a backup has besides those of the database. */
export const noteTable = 'backup_notes';

/** Null: it was never recorded. */
export async function readFact(db: Database, name: string): Promise<string | null> {
  const [row] = await db.read(sql`SELECT value FROM service_facts WHERE name = ${name}`);
  return row === undefined ? null : textOf(row, 'value');
}

/** Records it, or replaces what was recorded. */
export const putFact = (name: string, value: string): Statement =>
  sql`INSERT INTO service_facts (name, value) VALUES (${name}, ${value})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/** Replaces it unless another process has done so. */
export const moveFact = (name: string, from: string, to: string): Statement =>
  sql`UPDATE service_facts SET value = ${to} WHERE name = ${name} AND value = ${from}`;

/** Records a fact unless one of that name exists; returns the recorded one. */
export async function shareFact(
  db: Database,
  { name, value }: { readonly name: string; readonly value: string },
): Promise<string> {
  await db.write([
    sql`INSERT INTO service_facts (name, value) VALUES (${name}, ${value}) ON CONFLICT (name) DO NOTHING`,
  ]);
  return (await readFact(db, name)) ?? '';
}

/** Devices of all accounts: vehicles that know one signing key. */
export async function countDevices(db: Database): Promise<number> {
  return (await readNumber(db)(sql`SELECT COUNT(*) AS devices FROM devices`)) ?? 0;
}
