// Statements that remove a slice of the events: it is hidden from all readers, emptied in pieces that do not delay other
// writers, then dropped. Until the first piece is removed it can be restored whole.
import type { Database, Statement } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import type { TimeSpan } from '../../core/events/event-spans.ts';
import { findsRow, numberOf, readTexts } from '../base/row.ts';
import { indexesOf } from './slice-writing.ts';
import { type Slice, tableOf } from './slices.ts';

/** The spans of event time that a slice can hold. */
export async function spansOf(db: Database, sliceNo: number): Promise<readonly TimeSpan[]> {
  const rows = await db.read(sql`SELECT from_ms, to_ms FROM event_spans WHERE slice_no = ${sliceNo}`);
  return rows.map((row) => ({ fromMs: numberOf(row, 'from_ms'), toMs: numberOf(row, 'to_ms') }));
}

/** Accounts without a limit of their own or of the operator: they keep their events for ever. */
export function accountsWithoutLimit(db: Database): Promise<readonly string[]> {
  return readTexts(db)(sql`SELECT account_id FROM accounts
    WHERE retained_days IS NULL AND retained_most_days IS NULL ORDER BY account_id`);
}

/** True while a device of the account has an event in the slice: at most one look-up per device. */
export async function hasEventsOf(db: Database, sliceNo: number, accountID: string): Promise<boolean> {
  return findsRow(db)(sql`SELECT 1 AS there FROM devices d WHERE d.account_id = ${accountID}
    AND EXISTS (SELECT 1 FROM ${tableOf(sliceNo)} e WHERE e.device_no = d.device_no) LIMIT 1`);
}

/** Hides a closed slice from readers; changes 0 rows when it is not closed. */
export function retireSlice(sliceNo: number, atMs: number): Statement {
  return sql`UPDATE event_slices SET state = 'retired', retired_ms = ${atMs}
    WHERE slice_no = ${sliceNo} AND state = 'closed'`;
}

/** Shows it again. */
export function restoreSlice(sliceNo: number): Statement {
  return sql`UPDATE event_slices SET state = 'closed', retired_ms = NULL
    WHERE slice_no = ${sliceNo} AND state = 'retired'`;
}

/** From here on it does not come back. */
export function beginDrop(sliceNo: number): Statement {
  return sql`UPDATE event_slices SET state = 'dropping' WHERE slice_no = ${sliceNo} AND state = 'retired'`;
}

/**
 * True where dropping a full table delays writers: SQLite visits every page of it, PostgreSQL only removes its files. The
 * database is identified by its LIKE (SQLite, "The LIKE operator"; PostgreSQL 15, 9.7.1).
 */
export async function isDroppedInPieces(db: Database): Promise<boolean> {
  const [row] = await db.read(sql`SELECT CASE WHEN 'a' LIKE 'A' THEN 1 ELSE 0 END AS is_sqlite`);
  return row !== undefined && numberOf(row, 'is_sqlite') === 1;
}

/** Its indexes, each in a batch of its own: a row is then cheap to remove. */
export function dropIndexes(sliceNo: number): readonly Statement[] {
  return indexesOf(sliceNo).map((name) => ({ sql: `DROP INDEX IF EXISTS ${name}`, params: [] }));
}

/** Removes the last `rows` rows of a slice; changes 0 rows when it is empty. */
export function dropPiece(sliceNo: number, rows: number): Statement {
  const table = tableOf(sliceNo);
  return sql`DELETE FROM ${table} WHERE event_no > COALESCE((SELECT event_no FROM ${table}
    ORDER BY event_no DESC LIMIT 1 OFFSET ${rows}), -1)`;
}

/** True while its table exists. */
export async function hasTable(db: Database, sliceNo: number): Promise<boolean> {
  const table = tableOf(sliceNo);
  return db.read(sql`SELECT 1 AS there FROM ${table} LIMIT 1`).then(
    () => true,
    () => false,
  );
}

/** The table itself, alone in its batch. */
export function dropTable(sliceNo: number): Statement {
  return { sql: `DROP TABLE IF EXISTS ${tableOf(sliceNo).sql}`, params: [] };
}

/** Deletes the record of a dropped slice. */
export function forgetSlice(sliceNo: number): Statement {
  return sql`DELETE FROM event_slices WHERE slice_no = ${sliceNo} AND state = 'dropping'`;
}

/** Number of event numbers in a closed slice, including removed events. */
export const numbersOf = ({ firstNo, endNo }: Slice): number => (endNo === null ? 0 : endNo - firstNo);
