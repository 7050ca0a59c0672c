// Pages of listings that are kept: which blocks each has, and whether events that were stored since belong to it.
import type { Database } from '../../../src/ports.ts';
import { sql } from '../../../src/sql.ts';
import { isNotRoutine } from '../base/routine-codes.ts';
import { numberOf } from '../base/row.ts';
import { type NumberSpan, readSlice, slicesOfNumbers } from '../slices/slices.ts';
import type { Block } from './event-blocks.ts';

/** A block of which only the first `take` records are in the answer. */
export interface Part extends Block {
  readonly take: number;
}

export interface KeptPage {
  readonly parts: readonly Part[];
  readonly more: boolean;
  /** Cursor of the next page; null at the end. */
  readonly next: string | null;
  /** Number of the newest event that was looked at. */
  readonly upToNo: number;
}

/** Bytes of a part in memory, about. */
const partBytes = 250;

/** Bytes of a page, about. */
export const bytesOfPage = ({ parts }: KeptPage): number => parts.length * partBytes;

/** Events of an account, with one code that is not routine, within a span of event time. */
export interface CodedSpan {
  readonly accountID: string;
  readonly code: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Events that are read one by one; after more of them a page is found again. */
const arrivalsMost = 500;
/**
 * True when one of the events of those numbers belongs to the span, or when there are too many to read. It reads the index of
 * the numbers without routine events.
 */
export async function mayHaveArrivals(
  db: Database,
  { accountID, code, fromMs, toMs }: CodedSpan,
  { after, upTo }: NumberSpan,
): Promise<boolean> {
  for (const { sliceNo, table } of await slicesOfNumbers(db, { after, upTo })) {
    const statement = sql`SELECT COUNT(*) AS seen,
        COUNT(CASE WHEN n.status_code = ${code} AND n.timestamp_ms >= ${fromMs} AND n.timestamp_ms <= ${toMs} THEN 1 END) AS found
      FROM (SELECT e.status_code, e.timestamp_ms FROM ${table} e
        WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${accountID}) AND ${isNotRoutine}
          AND e.event_no > ${after} AND e.event_no <= ${upTo}
        ORDER BY e.event_no LIMIT ${arrivalsMost + 1}) n`;
    const [row] = await readSlice(db, sliceNo, statement);
    if (row === undefined || numberOf(row, 'found') > 0 || numberOf(row, 'seen') > arrivalsMost) return true;
  }
  return false;
}
