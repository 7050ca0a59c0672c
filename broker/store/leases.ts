// Statements on leases: who does the work of which there is one. Every change is made only to a row as it was read, so that of
// two who want the same one gets it.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, textOf } from './row.ts';

export interface LeaseRow {
  readonly name: string;
  /** '' when nobody holds it. */
  readonly holder: string;
  readonly beat: number;
}

/** Every lease that anybody ever held. */
export async function listLeases(db: Database): Promise<ReadonlyMap<string, LeaseRow>> {
  const rows = await db.read(sql`SELECT name, holder, beat FROM leases`);
  return new Map(
    rows.map((row) => {
      const name = textOf(row, 'name');
      return [name, { name, holder: textOf(row, 'holder'), beat: numberOf(row, 'beat') }];
    }),
  );
}

/** Makes a lease known, held by nobody. */
export function insertLease(name: string): Statement {
  return sql`INSERT INTO leases (name, holder, beat) VALUES (${name}, '', 0) ON CONFLICT (name) DO NOTHING`;
}

/** Takes or keeps a lease; changes 0 rows unless it is as it was read. */
export function beatLease({ name, holder, beat }: LeaseRow, by: string): Statement {
  return sql`UPDATE leases SET holder = ${by}, beat = beat + 1
    WHERE name = ${name} AND holder = ${holder} AND beat = ${beat}`;
}

/** Gives every lease of a holder back, for others to take at once. */
export function releaseLeases(holder: string): Statement {
  return {
    ...sql`UPDATE leases SET holder = '', beat = beat + 1 WHERE holder = ${holder}`,
    news: 'leases',
  };
}
