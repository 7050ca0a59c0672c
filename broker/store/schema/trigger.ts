// The one form of triggers that both databases take; `src/core/postgres-ddl.ts` translates it.
import { ddl } from '../../../src/migrate.ts';
import type { Statement } from '../../../src/ports.ts';

interface Trigger {
  readonly name: string;
  /** `INSERT ON devices` */
  readonly after: string;
  readonly when?: string;
  readonly run: readonly string[];
}

/** Runs the statements for each row, in the batch of the change. */
export const trigger = ({ name, after, when, run }: Trigger): Statement =>
  ddl(`CREATE TRIGGER ${name} AFTER ${after} FOR EACH ROW${when === undefined ? '' : ` WHEN (${when})`} BEGIN
      ${run.join('\n      ')}
    END`);
