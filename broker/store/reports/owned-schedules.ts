// Stops the report schedules of a user, in the batch that takes the user away.
import type { Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { StopReason } from '../../core/reports/report-schedule.ts';

/** Stops all schedules of a user; what of them waits to be delivered ends when it is tried, as the user is not there. */
export function stopOwnedBy(
  of: { readonly accountID: string; readonly userID: string },
  onlyIf: Statement,
): Statement {
  return sql`UPDATE report_schedules SET stopped = ${'owner_gone' satisfies StopReason}, next_ms = NULL, asked_ms = NULL,
      attempt_ms = NULL
    WHERE account_id = ${of.accountID} AND owner = ${of.userID} AND ${onlyIf}`;
}
