// Statements that keep inbox and deliveries bounded by age and by number. Each deletes a bounded batch of the oldest rows, so that
// no commit delays a vehicle.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { readNumber, readTexts } from '../base/row.ts';

/** Rows of one batch. */
export const batchRows = 500;

/** Deletes the oldest notifications and views that came in before `beforeMs`. */
export function dropOldNotifications(beforeMs: number): readonly Statement[] {
  return [
    sql`DELETE FROM notifications WHERE notification_no IN (
      SELECT notification_no FROM (SELECT notification_no, received_ms FROM notifications
        ORDER BY notification_no LIMIT ${batchRows}) o WHERE o.received_ms < ${beforeMs})`,
    sql`DELETE FROM notification_views WHERE notification_no < (
      SELECT COALESCE(MIN(notification_no), 0) FROM notifications)`,
  ];
}

/** Deletes the oldest deliveries that ended before `beforeMs`; what waits is ended long before. */
export function dropOldDeliveries(beforeMs: number): Statement {
  return sql`DELETE FROM deliveries WHERE delivery_no IN (
    SELECT delivery_no FROM (SELECT delivery_no, created_ms, state FROM deliveries
      ORDER BY delivery_no LIMIT ${batchRows}) o WHERE o.created_ms < ${beforeMs} AND o.state <> 'pending')`;
}

/** Deletes the episodes of rules without a notification since `beforeMs`. */
export function dropOldEpisodes(beforeMs: number): Statement {
  return sql`DELETE FROM notification_episodes WHERE (device_no, subject, rule_no, status_code) IN (
    SELECT device_no, subject, rule_no, status_code FROM notification_episodes
    WHERE changed_ms < ${beforeMs} ORDER BY changed_ms LIMIT ${batchRows})`;
}

/** Ids of accounts after `after`, in pages. */
export function accountPage(db: Database, after: string): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT account_id FROM accounts WHERE account_id > ${after}
    ORDER BY account_id LIMIT 200`);
}

type Kept = 'notifications' | 'deliveries';

const numberColumns = { notifications: 'notification_no', deliveries: 'delivery_no' } as const;

/** The number of the newest row beyond the account's limit; null when the limit is not exceeded. */
export function firstBeyond(
  db: Database,
  of: { readonly table: Kept; readonly accountID: string; readonly most: number },
): Promise<number | null> {
  const column = numberColumns[of.table];
  return readNumber(db)({
    sql: `SELECT ${column} AS no FROM ${of.table} WHERE account_id = $1 ORDER BY ${column} DESC LIMIT 1 OFFSET ${of.most}`,
    params: [of.accountID],
  });
}

/** Deletes an account's oldest rows up to that number. */
export function dropUpTo(of: {
  readonly table: Kept;
  readonly accountID: string;
  readonly upTo: number;
}): Statement {
  const column = numberColumns[of.table];
  return {
    sql: `DELETE FROM ${of.table} WHERE ${column} IN (SELECT ${column} FROM ${of.table}
      WHERE account_id = $1 AND ${column} <= $2 ORDER BY ${column} LIMIT ${batchRows})`,
    params: [of.accountID, of.upTo],
  };
}
