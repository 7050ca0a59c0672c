// How many events of one status code a scope has had in a span of time. The work grows with what is counted, never with the
// history before it.
import type { Database, Statement } from '../../src/ports.ts';
import { sql } from '../../src/sql.ts';
import type { KeyRange } from './event-keys.ts';
import { notRoutine } from './routine-codes.ts';
import { numberOf } from './row.ts';
import { visible } from './scope.ts';
import { readSlice, runsWithin } from './slices.ts';

const isNotRoutine: Statement = { sql: notRoutine, params: [] };

/** Span counted by one read: on a busy day a few thousand events. */
const pieceMs = 6 * 3_600_000;

/** @param code that is not routine. */
export async function countByCode(
  db: Database,
  range: Pick<KeyRange, 'scope' | 'fromMs' | 'toMs' | 'plausibleMs'>,
  code: number,
): Promise<number> {
  const { scope, fromMs, plausibleMs } = range;
  let count = 0;
  for (const run of await runsWithin(db, range)) {
    // What lies beyond the plausible is little, and counted with the last piece.
    const lastMs = Math.max(run.fromMs, Math.min(run.toMs, plausibleMs));
    for (let start = run.fromMs; start <= lastMs; start += pieceMs) {
      const end = start + pieceMs > plausibleMs ? run.toMs : Math.min(run.toMs, start + pieceMs - 1);
      const [row] = await readSlice(
        db,
        run.sliceNo,
        sql`SELECT COUNT(*) AS events FROM ${run.table} e JOIN devices d ON d.device_no = e.device_no
          WHERE e.account_no = (SELECT account_no FROM accounts WHERE account_id = ${scope.accountID})
            AND e.status_code = ${code} AND ${isNotRoutine} AND e.timestamp_ms >= ${start} AND e.timestamp_ms <= ${end}
            AND (e.timestamp_ms <= ${plausibleMs} OR e.received_ms >= ${fromMs}) AND ${visible(scope)}`,
      );
      count += row === undefined ? 0 : numberOf(row, 'events');
    }
  }
  return count;
}
