// Statements on leases: which process does the work that only one may do. Optimistic lock: a change applies only to the row as
// it was read, so of two concurrent claims one succeeds.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import { numberOf, textOf } from './base/row.ts';

export interface LeaseRow {
  readonly name: string;
  /** '' when it is free. */
  readonly holder: string;
  readonly beat: number;
}

/** All leases that exist. */
export async function listLeases(db: Database): Promise<ReadonlyMap<string, LeaseRow>> {
  const rows = await db.read(sql`SELECT name, holder, beat FROM leases`);
  return new Map(
    rows.map((row) => {
      const name = textOf(row, 'name');
      return [name, { name, holder: textOf(row, 'holder'), beat: numberOf(row, 'beat') }];
    }),
  );
}

/** Creates a free lease. */
export function insertLease(name: string): Statement {
  return sql`INSERT INTO leases (name, holder, beat) VALUES (${name}, '', 0) ON CONFLICT (name) DO NOTHING`;
}

/** Takes or renews a lease; changes 0 rows unless it is as it was read. */
export function renewLease({ name, holder, beat }: LeaseRow, by: string): Statement {
  return sql`UPDATE leases SET holder = ${by}, beat = beat + 1
    WHERE name = ${name} AND holder = ${holder} AND beat = ${beat}`;
}

/** Releases every lease of a holder, so that others take them at once. */
export function releaseLeases(holder: string): Statement {
  return {
    ...sql`UPDATE leases SET holder = '', beat = beat + 1 WHERE holder = ${holder}`,
    topic: 'leases',
  };
}
